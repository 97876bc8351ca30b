// OpenAI's chat completions: chat.completion, and chat.completion.chunk. Begin reading at ChatCompletion::take.
#include <deque>
#include <utility>

#include "apis/form.h"
#include "reply/scan/json_scanner.h"

namespace parlance::apis {
namespace {

/// A stream of deltas and the whole message are made side by side from the same events, so that they cannot disagree:
/// ids are made once, when the delta first says them.
class ChatCompletion final : public Form {
 public:
  ChatCompletion(ReplyApiOptions options, std::string default_id)
      : Form(ReplyApi::openai, std::move(options), std::move(default_id), "call_"),
        deltas_([this] { return ids_.back() = make_call_id(); }),
        chunk_head_(head("chat.completion.chunk")) {
    plain_head_ = chunk_json({}, {}, false, {});
    const std::size_t place = plain_head_.rfind(kDelta) + kDelta.size();
    plain_end_ = plain_head_.substr(place);
    plain_head_.resize(place);
    is_first_ = !this->options().prompt_token_ids.empty();
  }

  void begin_stream() override { say_chunk(R"({"role": "assistant", "content": ""})", false); }

  void add_logprobs(std::span<const ReplyLogprob> tokens) override {
    waiting_.add(tokens);
    has_logprobs_ = true;
  }

  void add_tokens(std::span<const std::int32_t> ids) override {
    tokens_ += static_cast<std::int64_t>(ids.size());
    if (!options().token_ids) return;
    for (const std::int32_t id : ids)
      if (id >= 0) pending_ids_.push_back(id);
  }

  std::string choice_json() const override { return choice(true).take(); }

  std::string with_choices(std::string_view choices, const std::optional<ReplyUsage>& usage) const override {
    Json json = head("chat.completion");
    json.raw("choices", choices);
    if (usage) json.raw("usage", usage_json(*usage));
    append_prompt_ids(json);
    return json.take();
  }

 private:
  /// Some clients read a chunk's text from its logprobs, so those of markup before a text have a chunk of their own.
  void take_logprobs_of(const ReplyEvent& event) override {
    const std::size_t waited = waiting_.size();
    const std::string own = waiting_.take(event);
    const bool is_shown = event.kind == ReplyEvent::Kind::content && !event.text.empty();
    if (is_shown && !own.empty() && !pending_logprobs_.empty()) say_chunk("{}", false);
    append_items(pending_logprobs_, own);
    due_ids_ += waited - waiting_.size();
  }
  void skip_logprobs_of(const ReplyEvent& event) override {
    const std::size_t waited = waiting_.size();
    waiting_.skip(event);
    due_ids_ += waited - waiting_.size();
  }

  // A call that ends incomplete is told by a last delta with "complete": false, which OpenAI's clients ignore: the API
  // itself has no way to say it.
  void take(const ReplyEvent& event) override {
    message_.add(event);
    if (event.kind == ReplyEvent::Kind::call_begin) ids_.emplace_back();
    delta_.clear();
    if (deltas_.append(delta_, event)) {  // its ids count, whoever listens
      if (event.kind == ReplyEvent::Kind::reasoning) name_reasoning(delta_);
      if (options().old_functions && is_of_call(event)) return say_function_call(event);
      say_chunk(delta_, false);
    }
    if (event.kind != ReplyEvent::Kind::call_end || event.complete || message_.calls.empty()) return;
    if (options().old_functions) return say_function_call(event);
    say_chunk("{\"tool_calls\": [{\"index\": " + std::to_string(message_.calls.size() - 1) +
                  ", \"function\": {\"arguments\": \"\"}, \"complete\": false}]}",
              false);
  }

  static bool is_of_call(const ReplyEvent& event) {
    using Kinds = ReplyEvent::Kind;
    return event.kind == Kinds::call_begin || event.kind == Kinds::arguments || event.kind == Kinds::broken;
  }

  /// The delta of an event of the first call, in the form before tools.
  void say_function_call(const ReplyEvent& event) {
    if (message_.calls.size() != 1) return;
    Json call('{');
    if (event.kind == ReplyEvent::Kind::call_begin) call.text("name", event.text);
    call.text("arguments", is_of_call(event) && event.kind != ReplyEvent::Kind::call_begin ? event.text : "");
    if (event.kind == ReplyEvent::Kind::call_end) call.raw("complete", "false");
    say_chunk(Json('{').raw("function_call", call.take()).take(), false);
  }

  std::string_view own_finish_reason() const {
    const std::string_view reason = finish_reason();
    return options().old_functions && reason == "tool_calls" ? "function_call" : reason;
  }

  /// Tokens that no event had are of a stop text, or of what stands behind it, which are none of the reply.
  void end() override {
    if (!outcome().stop_sequence) append_items(pending_logprobs_, waiting_.rest());
    say_chunk("{}", true);
    if (!options().stream_usage || !outcome().usage || !listens()) return;
    Json json = chunk_head_;
    say({}, json.raw("choices", "[]").raw("usage", usage_json(*outcome().usage)).take());
  }

  std::string whole_json() const override {
    Json json = head("chat.completion");
    json.raw("choices", "[" + choice(false).take() + "]");
    if (outcome().usage) json.raw("usage", usage_json(*outcome().usage));
    append_prompt_ids(json);
    append_additions(json);
    return json.take();
  }

  /// What the API itself has no member for.
  void append_additions(Json& json) const {
    append_diagnostics(json);
    if (options().old_functions && message_.calls.size() > 1)
      json.number("calls_left_out", static_cast<std::int64_t>(message_.calls.size() - 1));
  }

  void append_prompt_ids(Json& json) const {
    if (!options().prompt_token_ids.empty()) json.raw("prompt_token_ids", options().prompt_token_ids);
  }

  void append_ids_of(Json& choice, std::string_view ids) const {
    if (options().token_ids) choice.key("token_ids").append("[").append(ids).append("]");
  }

  Json choice(bool with_additions) const {
    Json json('{');
    json.number("index", options().choice).raw("message", message_json());
    append_logprobs_of(json, logprobs_);
    json.text("finish_reason", own_finish_reason());
    append_ids_of(json, ids_said_);
    if (with_additions) append_additions(json);
    return json;
  }

  static void append_logprobs_of(Json& choice, std::string_view items) {
    if (items.empty()) return void(choice.null("logprobs"));
    choice.key("logprobs").append("{\"content\": [").append(items).append("], \"refusal\": null}");
  }

  /// `delta` has reasoning as its only member, under its first name.
  void name_reasoning(std::string& delta) const {
    if (options().reasoning_names == ReasoningNames::reasoning_content) return;
    constexpr std::string_view kFirst = "{\"reasoning_content\": ";
    const std::string_view value = std::string_view(delta).substr(kFirst.size(), delta.size() - kFirst.size() - 1);
    delta = "{" + reasoning_members(value) + "}";
  }

  std::string reasoning_members(std::string_view value) const {
    return reasoning_members(value, options().reasoning_names);
  }

  static std::string reasoning_members(std::string_view value, ReasoningNames names) {
    std::string members;
    if (names != ReasoningNames::reasoning) members.append("\"reasoning_content\": ").append(value);
    if (names == ReasoningNames::both) members += ", ";
    if (names != ReasoningNames::reasoning_content) members.append("\"reasoning\": ").append(value);
    return members;
  }

  /// A call that had no id when it began was given one; the message has that, unless the wire told one later.
  std::string message_json() const {
    if (options().old_functions && !message_.calls.empty()) return message_with_function_call();
    ReplyMessage message = message_;
    for (std::size_t i = 0; i < message.calls.size(); ++i) {
      if (message.calls[i].id.empty()) message.calls[i].id = ids_[i];
    }
    const std::string reasoning = std::exchange(message.reasoning, {});
    std::string json = message.message_json();
    const bool is_none = reply::is_blank(reasoning);
    if (is_none && !options().null_reasoning) return json;
    constexpr std::string_view kRole = "{\"role\": \"assistant\", ";
    return json.insert(kRole.size(), (is_none ? null_reasoning() : reasoning_members(json_string(reasoning))) + ", ");
  }

  /// Clients that take both names for one member refuse a message that has both, as deserializers do.
  std::string null_reasoning() const {
    const ReasoningNames names = options().reasoning_names;
    return reasoning_members("null", names == ReasoningNames::both ? ReasoningNames::reasoning : names);
  }

  std::string message_with_function_call() const {
    Json json('{'), call('{');
    json.text("role", "assistant");
    if (!reply::is_blank(message_.reasoning)) json.next() += reasoning_members(json_string(message_.reasoning));
    message_.content.empty() ? json.null("content") : json.text("content", message_.content);
    const ReplyCall& first = message_.calls.front();
    call.text("name", first.name).text("arguments", first.arguments);
    if (!first.complete) call.raw("complete", "false");
    return json.raw("function_call", call.take()).take();
  }

  Json head(std::string_view object) const {
    Json json('{');
    json.text("id", options().id)
        .text("object", object)
        .number("created", options().created)
        .text("model", options().model);
    return json;
  }

  static std::string usage_json(const ReplyUsage& usage) {
    Json json('{'), input('{'), output('{');
    json.number("prompt_tokens", usage.input_tokens).number("completion_tokens", usage.output_tokens);
    json.number("total_tokens", usage.input_tokens + usage.output_tokens);
    json.raw("prompt_tokens_details", input.number("cached_tokens", usage.cached_tokens).take());
    json.raw("completion_tokens_details", output.number("reasoning_tokens", usage.reasoning_tokens).take());
    return json.take();
  }

  void say_chunk(std::string_view delta, bool last) {
    const std::string logprobs = take_logprobs();
    const std::string ids = take_ids(last);
    append_items(ids_said_, ids);
    if (!listens()) return;
    const bool is_plain = !options().token_ids && !options().usage_in_chunks && !is_first_;
    if (!last && logprobs.empty() && is_plain) {  // as nearly all are: what they share is written once
      chunk_.assign(plain_head_).append(delta).append(plain_end_);
      return say({}, chunk_);
    }
    say({}, chunk_json(delta, logprobs, last, ids));
    is_first_ = false;
  }

  ReplyUsage usage_so_far() const {
    ReplyUsage usage = options().usage_at_start.value_or(ReplyUsage());
    usage.output_tokens = tokens_;
    return usage;
  }

  std::string chunk_json(std::string_view delta, std::string_view logprobs, bool last, std::string_view ids) const {
    Json choice('{');
    choice.number("index", options().choice).raw("delta", delta);
    append_logprobs_of(choice, logprobs);
    last ? choice.text("finish_reason", own_finish_reason()) : choice.null("finish_reason");
    append_ids_of(choice, ids);
    Json json = chunk_head_;
    json.raw("choices", "[" + choice.take() + "]");
    if (is_first_) append_prompt_ids(json);
    if (options().usage_in_chunks)
      json.raw("usage", usage_json(usage_so_far()));
    else if (options().stream_usage)
      json.null("usage");
    if (last) append_additions(json);
    return json.take();
  }

  /// Those of the next chunk; the whole answer has all of them.
  std::string take_logprobs() {
    append_items(logprobs_, pending_logprobs_);
    return std::exchange(pending_logprobs_, {});
  }

  /// Those of the next chunk: of the same tokens as its logprobs, and of all tokens so far where there are none.
  std::string take_ids(bool last) {
    const bool all = last || !has_logprobs_;
    const std::size_t count = all ? pending_ids_.size() : std::min(due_ids_, pending_ids_.size());
    const auto end = pending_ids_.begin() + static_cast<std::ptrdiff_t>(count);
    std::string items;
    for (auto id = pending_ids_.begin(); id != end; ++id) append_items(items, std::to_string(*id));
    pending_ids_.erase(pending_ids_.begin(), end);
    due_ids_ = 0;
    return items;
  }

  ReplyMessage message_;
  std::vector<std::string> ids_;  ///< of each call the one that was made for it, or ""
  ReplyDeltas deltas_;
  std::string delta_;
  WaitingLogprobs waiting_;
  std::int64_t tokens_ = 0;
  std::string ids_said_;  ///< items of a list, as of logprobs
  std::deque<std::int32_t> pending_ids_;
  std::size_t due_ids_ = 0;  ///< of pending_ids_, those whose logprobs the next chunk has
  bool has_logprobs_ = false;
  bool is_first_ = false;                    ///< the next chunk has the prompt's ids
  std::string logprobs_, pending_logprobs_;  ///< items of lists: those that chunks had, and those of the next
  Json chunk_head_;
  static constexpr std::string_view kDelta = "\"delta\": ";
  std::string plain_head_, plain_end_;  ///< of a chunk that has a delta and no more
  std::string chunk_;
};

}  // namespace

std::unique_ptr<Form> make_chat_completion(ReplyApiOptions options, std::string default_id) {
  return std::make_unique<ChatCompletion>(std::move(options), std::move(default_id));
}

}  // namespace parlance::apis
