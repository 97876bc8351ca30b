// /v1/completions: text that goes on from a text. No chat template takes part, and the text's control tokens count.
//
// Begin reading at completions.
#include <ctime>

#include "parlance/json_writer.h"
#include "serve/fronts/apart.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/routes.h"
#include "serve/models/engine.h"
#include "serve/random_id.h"
#include "serve/turn/characters.h"

namespace parlance::serve {

namespace {

struct Completion {
  std::shared_ptr<const ServedModel> model;
  std::string model_name;
  std::string id;
  std::vector<std::vector<TokenId>> prompts;
  SamplingSettings sampling;
  std::optional<unsigned> logprobs;
  unsigned choices = 1;
  bool stream = false;
  bool include_usage = false;
};

/// What is answered to one prompt, once.
struct CompletionText {
  std::string text;
  bool length = false;
  std::size_t sampled = 0;
};

Result<std::vector<TokenId>> ids_of(Value prompt, const ServedModel& model) {
  std::vector<TokenId> ids;
  if (prompt.is_string()) {
    std::vector<EncodedToken> tokens;
    if (Result<void> encoded = model.tokenizer->encode(prompt.text(), nullptr, tokens); !encoded)
      return encoded.error();
    for (const EncodedToken& token : tokens) ids.push_back(token.id);
    return ids;
  }
  const auto size = static_cast<std::int64_t>(model.tokenizer->facts().vocabulary_size);
  for (const Value& id : prompt.items()) {
    const bool fits = id.is_small_int() && id.integer >= 0 && (size == 0 || id.integer < size);
    if (!fits) return Error(ErrorCode::conversation, "an id of the prompt is not one of the tokenizer").input("prompt");
    ids.push_back(static_cast<TokenId>(id.integer));
  }
  return ids;
}

/// A text, a list of texts, ids, or a list of lists of ids.
Result<std::vector<std::vector<TokenId>>> prompts_of(Value prompt, const ServedModel& model) {
  std::vector<std::vector<TokenId>> made;
  const std::span<const Value> items = prompt.items();
  const bool several = !items.empty() && (items.front().is_string() || items.front().is_sequence());
  if (!prompt.is_string() && items.empty())
    return Error(ErrorCode::conversation, "prompt must be a text, ids, or a list of these").input("prompt");
  for (const Value& one : several ? items : std::span(&prompt, 1)) {
    Result<std::vector<TokenId>> ids = ids_of(one, model);
    if (!ids) return ids.error();
    made.push_back(std::move(*ids));
  }
  return made;
}

Result<Completion> read_completion(const Call& call) {
  const Result<Document> document = parsed_body(call.exchange.request().body);
  if (!document) return document.error();
  const Value body = document->root();
  const Result<std::shared_ptr<const ServedModel>> model = model_with_engine(*call.offer, body);
  if (!model) return model.error();
  Completion made{.model = *model, .model_name = std::string(body["model"].text()), .id = random_id("cmpl-")};
  if (made.model_name.empty()) made.model_name = (*model)->name;
  Result<std::vector<std::vector<TokenId>>> prompts = prompts_of(body["prompt"], **model);
  if (!prompts) return prompts.error();
  made.prompts = std::move(*prompts);
  Result<SamplingSettings> sampling = read_sampling(body);
  if (!sampling) return sampling.error();
  if (Result<void> fits = limit_reply((*model)->limits, *sampling); !fits) return fits.error();
  made.sampling = std::move(*sampling);
  made.logprobs = logprobs_of(body);
  made.stream = flag_of(body["stream"], false);
  made.include_usage = flag_of(body["stream_options"]["include_usage"], false);
  const Value n = body["n"];
  constexpr std::int64_t kMostChoices = 16;
  if (n.is_small_int() && (n.integer < 1 || n.integer > kMostChoices))
    return Error(ErrorCode::conversation, "n must be 1 to 16").input("n");
  if (n.is_small_int()) made.choices = static_cast<unsigned>(n.integer);
  return made;
}

std::string text_choice_json(std::size_t index, std::string_view text, std::string_view reason) {
  JsonWriter choice('{');
  choice.number("index", static_cast<std::int64_t>(index)).text("text", text).null("logprobs");
  reason.empty() ? choice.null("finish_reason") : choice.text("finish_reason", reason);
  return choice.take();
}

std::string text_usage_json(const Completion& asked, std::size_t sampled) {
  std::size_t prompt = 0;
  for (const std::vector<TokenId>& ids : asked.prompts) prompt += ids.size();
  return JsonWriter('{')
      .number("prompt_tokens", static_cast<std::int64_t>(prompt))
      .number("completion_tokens", static_cast<std::int64_t>(sampled))
      .number("total_tokens", static_cast<std::int64_t>(prompt + sampled))
      .take();
}

std::string object_json(const Completion& asked, std::string choices, const std::string& usage) {
  JsonWriter answer('{');
  answer.text("id", asked.id).text("object", "text_completion").number("created", std::time(nullptr));
  answer.text("model", asked.model_name).raw("choices", choices);
  if (!usage.empty()) answer.raw("usage", usage);
  return answer.take();
}

using TakeText = std::function<Task<>(std::string_view)>;

/// Asks the engine once; `take` gets each piece of text.
Task<CompletionText> complete_once(const Completion& asked, const std::vector<TokenId>& prompt, unsigned choice,
                                   const TakeText& take) {
  CompletionText made;
  Characters characters;
  StopTexts stops(asked.sampling.stop);
  const TokenSink sink = [&](std::span<const SampledToken> tokens, bool) -> Task<bool> {
    std::string piece;
    for (const SampledToken& token : tokens) {
      ++made.sampled;
      if (asked.model->is_stop(token.id)) continue;
      piece += stops.add(characters.add(token.id >= 0 ? asked.model->tokenizer->token_text(token.id) : token.text));
    }
    made.text += piece;
    if (!piece.empty()) co_await take(piece);
    co_return !stops.found();
  };
  std::string text;
  for (const TokenId id : prompt) text += asked.model->tokenizer->token_text(id);
  const Generation generation{.ids = prompt,
                              .text = text,
                              .sampling = asked.sampling,
                              .stops = asked.model->stop_ids,
                              .stop_texts = asked.model->stop_texts,
                              .choice = choice,
                              .logprobs = asked.logprobs};
  const GenerationEnd end = co_await generate(*asked.model, generation, sink);
  made.length = end.length;
  std::string rest(stops.add(characters.rest()));
  rest += stops.rest();
  made.text += rest;
  if (!rest.empty()) co_await take(rest);
  co_return made;
}

Task<> complete_whole(Call& call, const Completion& asked) {
  JsonWriter choices('[');
  std::size_t sampled = 0, index = 0;
  const TakeText take = [](std::string_view) -> Task<> { co_return; };
  for (const std::vector<TokenId>& prompt : asked.prompts) {
    for (unsigned choice = 0; choice < asked.choices; ++choice) {
      const CompletionText made = co_await complete_once(asked, prompt, choice, take);
      choices.item(text_choice_json(index++, made.text, made.length ? "length" : "stop"));
      sampled += made.sampled;
    }
  }
  co_await call.exchange.answer(200, "application/json",
                                object_json(asked, choices.take(), text_usage_json(asked, sampled)));
}

Task<> complete_stream(Call& call, const Completion& asked) {
  std::size_t sampled = 0, index = 0;
  std::string out;
  const auto send = [&call, &out](const std::string& json) -> Task<> {
    if (!call.exchange.begun()) co_await call.exchange.begin(200, "text/event-stream; charset=utf-8");
    out.assign("data: ").append(json).append("\n\n");
    co_await call.exchange.write(out);
  };
  for (const std::vector<TokenId>& prompt : asked.prompts) {
    for (unsigned choice = 0; choice < asked.choices; ++choice, ++index) {
      const TakeText take = [&](std::string_view text) -> Task<> {
        co_await send(object_json(asked, "[" + text_choice_json(index, text, "") + "]", ""));
      };
      const CompletionText made = co_await complete_once(asked, prompt, choice, take);
      sampled += made.sampled;
      co_await send(object_json(asked, "[" + text_choice_json(index, "", made.length ? "length" : "stop") + "]", ""));
    }
  }
  if (asked.include_usage) co_await send(object_json(asked, "[]", text_usage_json(asked, sampled)));
  co_await send("[DONE]");
  co_await call.exchange.end();
}

}  // namespace

Task<> completions(Call& call) {
  const auto make = [&call] { return read_completion(call); };
  const Result<Completion> asked = co_await apart(call, make);
  if (!asked) {
    co_await refuse(call.exchange, ReplyApi::openai, error_of(asked.error()));
    co_return;
  }
  std::optional<ReplyApiError> failed;
  try {
    if (asked->stream)
      co_await complete_stream(call, *asked);
    else
      co_await complete_whole(call, *asked);
  } catch (const EngineFailure& failure) {
    failed = error_of(failure);
    call.gateway.count(failure, "");
  }
  if (failed) co_await refuse(call.exchange, ReplyApi::openai, *failed);
}

}  // namespace parlance::serve
