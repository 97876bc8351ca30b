// The answer of /v1/completions from sampled ids. Begin reading at derender_whole_completion.
#include <ctime>

#include "parlance/json_writer.h"
#include "serve/fronts/derender/derender.h"
#include "serve/fronts/derender/derender_parts.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/token_texts.h"

namespace parlance::serve {

namespace {

bool skips_special(Value asked) {
  const Value given = asked["skip_special_tokens"];
  return !given.is(Kind::boolean) || given.integer != 0;
}

/// The text of a whole reply up to a stop text, which `include_stop_str_in_output` keeps.
std::string text_of_whole(const ServedModel& model, Choice& choice, Value asked) {
  TokenTexts texts(*model.tokenizer, model, skips_special(asked));
  std::string text;
  for (std::size_t at = 0; at < choice.read; ++at) text += texts.add(choice.ids[at]);
  text += texts.finish();
  std::size_t cut = text.size(), first = text.npos;
  for (const std::string& stop : stops_of(choice, asked)) {
    const std::size_t at = text.find(stop);
    if (at >= first) continue;
    first = at;
    cut = flag_of(asked["include_stop_str_in_output"], false) ? at + stop.size() : at;
    choice.stop_reason.clear();
    append_json_string(choice.stop_reason, stop);
  }
  return text.substr(0, cut);
}

std::string completion_choice(const Choice& choice, Value asked, std::int64_t index, std::string_view text,
                              const std::string& logprobs, Value prompt_ids) {
  JsonWriter out('{');
  out.number("index", index).text("text", text).raw("logprobs", logprobs);
  out.raw("finish_reason", json_or_null(choice.value["finish_reason"]));
  end_choice(out, choice, asked, false);
  return out.raw("prompt_token_ids", flag_of(asked["return_token_ids"], false) ? json_or_null(prompt_ids) : "null")
      .take();
}

}  // namespace

Result<std::string> derender_whole_completion(const ServedModel& model, Value body, const std::string& name) {
  const Value asked = body["completion_request"], counts = body["prompt_tokens"];
  const std::span<const Value> answers = body["generate_responses"].items();
  if (answers.empty()) return wrong_member("generate_responses", "a list that is not empty");
  if (is_given(counts) && counts.items().size() != answers.size())
    return wrong_member("prompt_tokens", "a list with a count for each of generate_responses");
  JsonWriter choices('[');
  std::int64_t prompt = 0, sampled = 0, index = 0;
  for (const Value& count : counts.items()) prompt += number_or(count, 0);
  for (const Value& answer : answers) {
    for (const Value& value : answer["choices"].items()) {
      Result<Choice> choice = read_choice(model, value, asked, true);
      if (!choice) return choice.error();
      if (choice->ids.empty())
        return wrong_member("generate_responses[].choices[].token_ids", "a list that is not empty");
      std::size_t offset = 0;
      const LogprobTexts from{
          .model = model, .logprobs = value["logprobs"], .alternatives = alternatives_of(asked, false)};
      const std::string logprobs = is_given(value["logprobs"]) ? completion_logprobs(from, offset) : "null";
      const std::string text = text_of_whole(model, *choice, asked);
      choices.item(completion_choice(*choice, asked, index++, text, logprobs, answer["prompt_token_ids"]));
      sampled += static_cast<std::int64_t>(choice->ids.size());
    }
  }
  JsonWriter out('{');
  out.text("id", answers[0]["request_id"].text()).text("object", "text_completion");
  out.number("created", std::time(nullptr)).text("model", name).raw("choices", choices.take());
  out.raw("usage", usage_json(prompt, sampled));
  const bool one = answers.size() == 1;
  out.raw("kv_transfer_params", one ? json_or_null(answers[0]["kv_transfer_params"]) : "null");
  return out.raw("metrics", one ? json_or_null(answers[0]["metrics"]) : "null").take();
}

Result<std::string> derender_completion_chunk(const ServedModel& model, Value body, const std::string& name) {
  const Value asked = body["completion_request"];
  if (has_stops(asked)) return Error(ErrorCode::conversation, std::string(kNoStops)).input("completion_request.stop");
  Result<StreamState> state = StreamState::read(body["stream_state"]);
  if (!state) return state.error();
  const Result<std::optional<Value>> value = choice_of(body);
  if (!value) return value.error();
  JsonWriter choices('[');
  TokenTexts texts(*model.tokenizer, model, skips_special(asked));
  for (const TokenId id : state->ids) texts.add(id);
  if (*value) {
    const Result<Choice> choice = read_choice(model, **value, asked, true);
    if (!choice) return choice.error();
    std::string text;
    for (std::size_t at = 0; at < choice->read; ++at) text += texts.add(choice->ids[at]);
    if (is_given((**value)["finish_reason"])) text += texts.finish();
    std::size_t offset = static_cast<std::size_t>(state->offset);
    const LogprobTexts from{.model = model,
                            .logprobs = (**value)["logprobs"],
                            .before = state->before,
                            .alternatives = alternatives_of(asked, false)};
    const std::string logprobs = is_given(from.logprobs) ? completion_logprobs(from, offset) : "null";
    choices.item(completion_choice(*choice, asked, number_or((**value)["index"], 0), text, logprobs,
                                   body["generate_chunk"]["prompt_token_ids"]));
    state->offset = static_cast<std::int64_t>(offset);
    state->note_sampled(choice->ids);
  }
  state->ids = texts.waiting();
  state->sizes.clear();
  state->role_sent = true;
  return stream_json(chunk_json("text_completion", body, name, choices.take()), state->to_json(state->ids.size()));
}

}  // namespace parlance::serve
