// Reads the choices of an engine's answer, and the state of a stream. Begin reading at read_choice.
#include "serve/fronts/derender/derender_parts.h"

#include <ctime>

#include "parlance/json_writer.h"
#include "serve/backends/ids_json.h"
#include "serve/fronts/request_parts.h"

namespace parlance::serve {

Error wrong_member(std::string path, std::string_view wanted) {
  return Error(ErrorCode::conversation, path + " must be " + std::string(wanted)).input(path);
}

std::string json_or_null(Value value) { return is_given(value) ? json_text(value) : "null"; }

std::int64_t number_or(Value value, std::int64_t other) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  return value.is_small_int() && value.integer >= -kMost && value.integer <= kMost ? value.integer : other;
}

std::string usage_json(std::int64_t prompt, std::int64_t sampled) {
  JsonWriter out('{');
  out.number("prompt_tokens", prompt).number("total_tokens", prompt + sampled);
  return out.number("completion_tokens", sampled).take();
}

namespace {

constexpr std::size_t kMostTokens = std::size_t{1} << 22;
Result<std::vector<TokenId>> ids_in(Value list, const std::string& path) {
  std::vector<TokenId> ids;
  if (is_given(list) && !list.is_sequence()) return wrong_member(path, "a list of ids");
  if (list.items().size() > kMostTokens) return wrong_member(path, "shorter");
  for (const Value& id : list.items()) {
    if (!id.is_small_int() || id.integer < 0 || id.integer > INT32_MAX) return wrong_member(path, "a list of ids");
    ids.push_back(static_cast<TokenId>(id.integer));
  }
  return ids;
}

bool names(Value list, TokenId id) {
  for (const Value& one : list.items()) {
    if (one.is_small_int() && one.integer == id) return true;
  }
  return false;
}

/// The usage of a chunk, where the engine told one.
std::string usage_of_chunk(Value body) {
  const Value usage = body["generate_chunk"]["usage"];
  if (!is_given(usage)) return "null";
  const std::int64_t prompt = number_or(body["prompt_tokens"], number_or(usage["prompt_tokens"], 0));
  return usage_json(prompt, number_or(usage["completion_tokens"], 0));
}

}  // namespace

Result<Choice> read_choice(const ServedModel& model, Value value, Value asked, bool drops_stop) {
  Result<std::vector<TokenId>> ids = ids_in(value["token_ids"], "token_ids");
  if (!ids) return ids.error();
  Choice choice{value, std::move(*ids)};
  choice.read = choice.ids.size();
  const Value reason = value["stop_reason"];
  choice.stop_reason = json_or_null(reason);
  choice.stopped = value["finish_reason"].text() == "stop";
  if (!choice.stopped || choice.ids.empty() || reason.is_string()) return choice;
  const TokenId last = choice.ids.back();
  const bool own = !flag_of(asked["ignore_eos"], false) && model.is_stop(last);
  const bool is_stop = reason.is_small_int() ? reason.integer == last : own || names(asked["stop_token_ids"], last);
  const bool is_primary = model.tokenizer->facts().eos == last;
  if (is_stop && !is_given(reason) && !is_primary) choice.stop_reason = std::to_string(last);
  if (is_stop && drops_stop && !flag_of(asked["include_stop_str_in_output"], false)) --choice.read;
  return choice;
}

std::vector<std::string> stops_of(const Choice& choice, Value asked) {
  const Value reason = choice.value["stop_reason"];
  if (!choice.stopped || reason.is_small_int()) return {};
  if (reason.is_string()) return {std::string(reason.text())};
  std::vector<std::string> stops;
  const Value given = asked["stop"];
  if (given.is_string()) stops.emplace_back(given.text());
  for (const Value& one : given.items()) stops.emplace_back(one.text());
  std::erase(stops, std::string());
  return stops;
}

bool has_stops(Value asked) { return !stops_of({.value = {}, .ids = {}, .stopped = true}, asked).empty(); }

std::optional<std::size_t> alternatives_of(Value asked, bool is_chat) {
  if (is_given(asked["logprob_token_ids"])) return std::nullopt;
  const Value wanted = asked["logprobs"];
  if (is_chat && !flag_of(wanted, false)) return std::nullopt;
  if (!is_chat && !wanted.is_small_int()) return std::nullopt;
  const std::int64_t most = is_chat ? number_or(asked["top_logprobs"], 0) : number_or(wanted, 0);
  if (most == -1) return std::nullopt;
  return static_cast<std::size_t>(std::max<std::int64_t>(most + (is_chat ? 0 : 1), 0));
}

void end_choice(JsonWriter& out, const Choice& choice, Value asked, bool hides) {
  out.raw("stop_reason", choice.stop_reason);
  const bool wants_ids = flag_of(asked["return_token_ids"], false) && !hides;
  out.raw("token_ids", wants_ids ? json_text(choice.value["token_ids"]) : "null");
}

Result<StreamState> StreamState::read(Value given) {
  StreamState state;
  Result<std::vector<TokenId>> ids = ids_in(given["output_token_ids"], "stream_state.output_token_ids");
  if (!ids) return ids.error();
  Result<std::vector<TokenId>> before =
      ids_in(given["logprob_context_token_ids"], "stream_state.logprob_context_token_ids");
  if (!before) return before.error();
  state.ids = std::move(*ids);
  state.before = std::move(*before);
  const std::span<const Value> sizes = given["output_chunk_lens"].items();
  state.sizes.assign(sizes.begin(), sizes.end());
  for (const Value& id : given["last_tool_call_ids"].items()) state.call_ids.emplace_back(id.text());
  state.offset = number_or(given["logprob_text_offset"], 0);
  state.role_sent = flag_of(given["role_sent"], false);
  state.called = flag_of(given["tools_streamed"], false);
  return state;
}

void StreamState::note_sampled(std::span<const TokenId> sampled) {
  constexpr std::size_t kContext = 4;
  before.insert(before.end(), sampled.begin(), sampled.end());
  if (before.size() > kContext) before.erase(before.begin(), before.end() - kContext);
}

std::string StreamState::to_json(std::size_t last) const {
  JsonWriter lens('['), calls('[');
  for (const Value& size : sizes) lens.item(json_text(size));
  if (last > 0) lens.item(std::to_string(last));
  for (const std::string& id : call_ids) calls.item_text(id);
  JsonWriter out('{');
  out.raw("prev_tokens", "[]").number("prefix_offset", 0).number("read_offset", 0).flag("role_sent", role_sent);
  out.raw("logprob_context_token_ids", ids_json(before)).number("logprob_text_offset", offset);
  out.raw("output_token_ids", ids_json(ids)).raw("output_chunk_lens", lens.take());
  return out.flag("tools_streamed", called).raw("last_tool_call_ids", calls.take()).take();
}

std::string chunk_json(std::string_view object, Value body, const std::string& name, const std::string& choices) {
  const Value chunk = body["generate_chunk"];
  JsonWriter out('{');
  out.text("id", chunk["request_id"].text()).text("object", object).number("created", std::time(nullptr));
  out.text("model", name).raw("choices", choices).raw("usage", usage_of_chunk(body));
  return out.raw("metrics", json_or_null(chunk["metrics"])).take();
}

std::string stream_json(const std::string& chunk, const std::string& state) {
  return JsonWriter('{').raw("chunk", chunk).raw("stream_state", state).take();
}

Result<std::optional<Value>> choice_of(Value body) {
  const std::span<const Value> choices = body["generate_chunk"]["choices"].items();
  if (choices.size() > 1) return wrong_member("generate_chunk.choices", "at most one choice for each stream_state");
  return choices.empty() ? std::optional<Value>() : std::optional<Value>(choices[0]);
}

}  // namespace parlance::serve
