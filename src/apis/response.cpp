// OpenAI's Responses: a response of items, and response.created … response.completed. Begin reading at
// Response::opened.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "apis/client_calls.h"
#include "apis/form.h"

namespace parlance::apis {
namespace {

/// What the events of a kind of item are called.
struct ItemNames {
  std::string_view prefix;  ///< of ids
  std::string_view delta, done;
  std::string_view member;  ///< of `done`, and of an item of a call
  bool has_parts;           ///< its text is in a part
  bool has_logprobs;
  std::string_view part_added = "response.content_part.added", part_done = "response.content_part.done";
  std::string_view index = "content_index";  ///< of the part
};
constexpr ItemNames kReasoning{"rs_", "response.reasoning_text.delta", "response.reasoning_text.done", "text", true,
                               false};
constexpr ItemNames kSummary{
    "rs_", "response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "text",         true,
    false, "response.reasoning_summary_part.added", "response.reasoning_summary_part.done", "summary_index"};
constexpr ItemNames kText{"msg_", "response.output_text.delta", "response.output_text.done", "text", true, true};
constexpr ItemNames kFunction{
    "fc_", "response.function_call_arguments.delta", "response.function_call_arguments.done", "arguments", false,
    false};
constexpr ItemNames kCustom{
    "ctc_", "response.custom_tool_call_input.delta", "response.custom_tool_call_input.done", "input", false, false};

/// A member of the request that the answer repeats, and what it is where the request has none.
struct Repeated {
  std::string_view name, json;
};
constexpr Repeated kRepeated[] = {{"background", "false"},
                                  {"frequency_penalty", "0.0"},
                                  {"instructions", "null"},
                                  {"max_output_tokens", "null"},
                                  {"max_tool_calls", "null"},
                                  {"metadata", "{}"},
                                  {"parallel_tool_calls", "true"},
                                  {"presence_penalty", "0.0"},
                                  {"previous_response_id", "null"},
                                  {"prompt_cache_key", "null"},
                                  {"reasoning", R"({"effort": null, "summary": null})"},
                                  {"safety_identifier", "null"},
                                  {"service_tier", R"("default")"},
                                  {"store", "true"},
                                  {"temperature", "1.0"},
                                  {"text", R"({"format": {"type": "text"}})"},
                                  {"tool_choice", R"("auto")"},
                                  {"tools", "[]"},
                                  {"top_logprobs", "0"},
                                  {"top_p", "1.0"},
                                  {"truncation", R"("disabled")"},
                                  {"user", "null"}};

/// The members as they stand in an object, without its braces. A null in the request says the default.
std::string repeated_members(const ReplyApiOptions& options) {
  Json json('{');
  for (const Repeated& one : kRepeated) {
    std::string_view value = one.json;
    for (const auto& [name, given] : options.request_members) {
      if (name == one.name && given != "null") value = given;
    }
    json.raw(one.name, value);
  }
  for (const auto& [name, given] : options.request_members)
    if (name == "conversation") json.raw(name, given);
  const std::string whole = json.take();
  return whole.substr(1, whole.size() - 2);
}

/// `code` of a response that failed, of which the API has a list.
std::string_view failure_code(const ReplyApiError& error) {
  if (error.status == 429) return "rate_limit_exceeded";
  return error.status >= 400 && error.status < 500 ? "invalid_prompt" : "server_error";
}

std::string listed(std::string_view items) { return std::string(1, '[').append(items).append(1, ']'); }

class Response final : public BlockForm {
 public:
  Response(ReplyApiOptions options, std::string default_id)
      : BlockForm(ReplyApi::responses, std::move(options), std::move(default_id), "call_"),
        repeated_(repeated_members(this->options())) {
    for (const NamespacedTool& tool : this->options().namespaces) namespaced_.try_emplace(tool.shown, &tool);
  }

  void begin_stream() override {
    if (!listens()) return;
    const std::string response = response_json("in_progress", "[]", {});
    say_event(Json('{').text("type", "response.created").raw("response", response));
    say_event(Json('{').text("type", "response.in_progress").raw("response", response));
  }

  void add_logprobs(std::span<const ReplyLogprob> tokens) override { waiting_.add(tokens); }

 private:
  /// Those of reasoning, of calls and of markup are nowhere.
  void take_logprobs_of(const ReplyEvent& event) override {
    if (event.kind == ReplyEvent::Kind::content && !event.text.empty())
      append_items(pending_, waiting_.take(event));
    else
      waiting_.skip(event);
  }

  std::string whole_json() const override { return response_json(status(), items_json(true), {}); }

  void opened(const Block& block) override {
    logprobs_.emplace_back();
    if (!listens() || client_call(block) != nullptr) return;
    say_opened(block);
  }

  void say_opened(const Block& block) {
    delta_head_ = event_of(names_of(block).delta, block).take();
    delta_head_.replace(delta_head_.size() - 1, 1, ", \"delta\": ");
    say_item("response.output_item.added", item_json(block, last(), "in_progress", "", block.id));
    if (names_of(block).has_parts) say_part(names_of(block).part_added, block, "", "");
  }

  void grown(const Block& block, const Growth& growth) override {
    const std::string_view piece = block.custom ? growth.input : growth.text;
    const std::string logprobs = std::exchange(pending_, {});
    if (names_of(block).has_logprobs) append_items(logprobs_.back(), logprobs);
    if (listens() && !piece.empty() && client_call(block) == nullptr) say_delta(names_of(block), piece, logprobs);
  }

  /// There is one for each token, so what is the same in all of a block is written once.
  void say_delta(const ItemNames& names, std::string_view piece, std::string_view logprobs) {
    delta_ = delta_head_;
    append_json_string(delta_, piece);
    if (names.has_logprobs) delta_.append(", \"logprobs\": [").append(logprobs).append("]");
    delta_.append(", \"sequence_number\": ").append(std::to_string(sequence_++)).append("}");
    say(names.delta, delta_);
  }

  void closed(const Block& block) override {
    if (!listens()) return;
    if (const ClientCall* call = client_call(block)) {
      const std::string done = client_call_json(*call, block, last(), block.id, "completed");
      if (!done.empty()) {
        say_item("response.output_item.added", client_call_json(*call, block, last(), block.id, "in_progress"));
        return say_item("response.output_item.done", done);
      }
      say_opened(block);
    }
    const std::string_view text = text_of(block);
    say_text(names_of(block).done, block, names_of(block).member, text, logprobs_.back());
    if (names_of(block).has_parts) say_part(names_of(block).part_done, block, text, logprobs_.back());
    say_item("response.output_item.done", done_json(block, last(), block.id));
  }

  void ended() override {
    if (!listens()) return;
    const std::string type = "response." + std::string(status());
    say_event(Json('{').text("type", type).raw("response", response_json(status(), items_json(false), {})));
  }

  /// The members of the event `error` as an object: the API's reference has them in the event, and its streams in this
  /// object, where some clients read them.
  std::string error_json(std::string_view code) const {
    Json made('{');
    made.text("type", error().status < 500 ? "invalid_request_error" : "server_error").text("code", code);
    made.text("message", error().message);
    error().param.empty() ? made.null("param") : made.text("param", error().param);
    return made.take();
  }

  /// Both events, since some clients know only one: `error` has the message, and response.failed what there is.
  void broken_off() override {
    if (!listens()) return;
    Json event('{');
    event.text("type", "error");
    const std::string_view code = error().code.empty() ? failure_code(error()) : std::string_view(error().code);
    event.text("code", code).text("message", error().message);
    error().param.empty() ? event.null("param") : event.text("param", error().param);
    event.raw("error", error_json(code));
    say_event(event);
    say_event(Json('{').text("type", "response.failed").raw("response", failed_json()));
  }

  std::string failed_json() const override {
    const std::string message = Json('{').text("code", failure_code(error())).text("message", error().message).take();
    return response_json("failed", items_json(false), message);
  }

  // ---- items

  /// What the call is to the client, where its tool is of a type that the client runs.
  const ClientCall* client_call(const Block& block) const {
    if (block.kind != Block::Kind::call || block.custom) return nullptr;
    const ClientCall* const known = find_client_call(block.name);
    const std::vector<std::string>& types = options().tool_types;
    return known != nullptr && std::ranges::find(types, block.name) != types.end() ? known : nullptr;
  }

  /// The item of such a call; "" where it is not whole, or its arguments are not the tool's: then it is a function's.
  std::string client_call_json(const ClientCall& call, const Block& block, std::size_t number, std::string_view id,
                               std::string_view status) const {
    const std::string action = block.complete ? client_call_action(call, block.text) : std::string();
    if (action.empty()) return {};
    Json json('{');
    json.text("id", std::string(call.id_prefix) + options().id + "_" + std::to_string(number));
    json.text("type", call.item).text("call_id", id);
    json.next() += action;
    return json.text("status", status).take();
  }

  const NamespacedTool* namespaced(const Block& block) const {
    const auto found = namespaced_.find(block.name);
    return found == namespaced_.end() ? nullptr : found->second;
  }

  const ItemNames& names_of(const Block& block) const {
    if (block.kind == Block::Kind::call) return block.custom ? kCustom : kFunction;
    if (block.kind == Block::Kind::text) return kText;
    return options().reasoning_summary ? kSummary : kReasoning;
  }

  /// `logprobs`: items of a list.
  std::string part_json(const Block& block, std::string_view text, std::string_view logprobs) const {
    Json json('{');
    if (block.kind == Block::Kind::reasoning)
      return json.text("type", options().reasoning_summary ? "summary_text" : "reasoning_text")
          .text("text", text)
          .take();
    return json.text("type", "output_text")
        .text("text", text)
        .raw("annotations", "[]")
        .raw("logprobs", listed(logprobs))
        .take();
  }

  static std::string_view text_of(const Block& block) {
    return block.custom ? std::string_view(block.input) : std::string_view(block.text);
  }

  std::string item_id(const Block& block, std::size_t number) const {
    return std::string(names_of(block).prefix) + options().id + "_" + std::to_string(number);
  }

  /// `status` "in_progress": as the item is when it begins.
  std::string item_json(const Block& block, std::size_t number, std::string_view status, std::string_view text,
                        std::string_view id) const {
    const bool begins = status == "in_progress";
    Json json('{');
    json.text("id", item_id(block, number));
    if (block.kind == Block::Kind::call) {
      json.text("type", block.custom ? "custom_tool_call" : "function_call").text("call_id", id);
      if (const NamespacedTool* tool = namespaced(block))
        json.text("name", tool->name).text("namespace", tool->space);
      else
        json.text("name", block.name);
      json.text(names_of(block).member, text).text("status", status);
      if (block.custom && !begins && (!block.reader.exact() || !block.complete)) json.text("arguments", block.text);
      return json.take();
    }
    const std::string parts = begins ? "[]" : "[" + part_json(block, text, logprobs_[number]) + "]";
    if (block.kind == Block::Kind::text)
      return json.text("type", "message").text("role", "assistant").raw("content", parts).text("status", status).take();
    json.text("type", "reasoning");
    if (options().reasoning_summary)
      json.raw("summary", parts);
    else
      json.raw("summary", "[]").raw("content", parts);
    if (options().encrypt_reasoning && !begins) json.text("encrypted_content", options().encrypt_reasoning(text));
    return json.text("status", status).take();
  }

  std::string done_json(const Block& block, std::size_t number, std::string_view id) const {
    if (const ClientCall* call = client_call(block)) {
      if (std::string item = client_call_json(*call, block, number, id, "completed"); !item.empty()) return item;
    }
    return item_json(block, number, block.complete ? "completed" : "incomplete", text_of(block), id);
  }

  /// `late`: with ids of calls that came late, which is not what a stream has said.
  std::string items_json(bool late) const {
    Json items('[');
    for (std::size_t i = 0; i < blocks().size(); ++i) {
      const Block& block = blocks()[i];
      items.item(done_json(block, i, late ? block.best_id() : std::string_view(block.id)));
    }
    return items.take();
  }

  // ---- the response

  /// The API has no reason for tool calls: a response with calls is completed.
  std::string_view status() const { return finish_reason() == "length" ? "incomplete" : "completed"; }

  /// `error`: as JSON, or "".
  std::string response_json(std::string_view status, std::string_view items, std::string_view error) const {
    Json json('{');
    json.text("id", options().id).text("object", "response").number("created_at", options().created);
    status == "completed" ? json.number("completed_at", completed_at()) : json.null("completed_at");
    json.text("status", status).raw("error", error.empty() ? "null" : error);
    status == "incomplete" ? json.raw("incomplete_details", R"({"reason": "max_output_tokens"})")
                           : json.null("incomplete_details");
    json.text("model", options().model).raw("output", items);
    json.next() += repeated_;
    append_usage(json);
    if (status != "in_progress") append_diagnostics(json);
    return json.take();
  }

  /// By the durations that are known: the library has no clock.
  std::int64_t completed_at() const {
    constexpr std::int64_t kSecond = 1000000000;
    return options().created + (outcome().times ? outcome().times->total / kSecond : 0);
  }

  void append_usage(Json& json) const {
    if (!outcome().usage) return void(json.null("usage"));
    const ReplyUsage& usage = *outcome().usage;
    Json made('{'), input('{'), output('{');
    input.number("cached_tokens", usage.cached_tokens).number("cache_write_tokens", 0);
    output.number("reasoning_tokens", usage.reasoning_tokens);
    made.number("input_tokens", usage.input_tokens).raw("input_tokens_details", input.take());
    made.number("output_tokens", usage.output_tokens).raw("output_tokens_details", output.take());
    json.raw("usage", made.number("total_tokens", usage.input_tokens + usage.output_tokens).take());
  }

  // ---- events

  // The event's name is its type, which is always its first member: it is read from there rather than passed twice.
  void say_event(Json& event) {
    const std::string data = event.number("sequence_number", sequence_++).take();
    constexpr std::string_view kType = "{\"type\": \"";
    say(std::string_view(data).substr(kType.size(), data.find('"', kType.size()) - kType.size()), data);
  }

  void say_item(std::string_view type, const std::string& item) {
    say_event(Json('{').text("type", type).number("output_index", static_cast<std::int64_t>(last())).raw("item", item));
  }

  Json event_of(std::string_view type, const Block& block) const {
    Json event('{');
    event.text("type", type)
        .text("item_id", item_id(block, last()))
        .number("output_index", static_cast<std::int64_t>(last()));
    if (names_of(block).has_parts) event.number(names_of(block).index, 0);
    return event;
  }

  void say_part(std::string_view type, const Block& block, std::string_view text, std::string_view logprobs) {
    Json event = event_of(type, block);
    say_event(event.raw("part", part_json(block, text, logprobs)));
  }

  void say_text(std::string_view type, const Block& block, std::string_view member, std::string_view text,
                std::string_view logprobs) {
    Json event = event_of(type, block);
    event.text(member, text);
    if (names_of(block).has_logprobs) event.raw("logprobs", listed(logprobs));
    say_event(event);
  }

  std::int64_t sequence_ = 0;
  std::string delta_head_, delta_;
  std::string repeated_;                                                    ///< members of the request
  std::unordered_map<std::string_view, const NamespacedTool*> namespaced_;  ///< by what the model calls them
  WaitingLogprobs waiting_;
  std::string pending_;                ///< logprobs of the next delta, as items of a list
  std::vector<std::string> logprobs_;  ///< of each block
};

}  // namespace

std::unique_ptr<Form> make_response(ReplyApiOptions options, std::string default_id) {
  return std::make_unique<Response>(std::move(options), std::move(default_id));
}

}  // namespace parlance::apis
