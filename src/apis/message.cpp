// Anthropic's Messages: a message of blocks, and message_start … message_stop. Begin reading at Message::opened.
//
// An object cannot say that it is not whole, as a text can. So the input of a call that is not complete is
// {"INVALID_JSON": TEXT}, which is how the API is told of such arguments, and no tool that checks its input takes it. A
// stream has said the beginning by then: the event that ends the block says what the whole has. And the stop reason is
// max_tokens wherever a call is not complete.
#include <utility>

#include "apis/form.h"
#include "reply/scan/json_scanner.h"

namespace parlance::apis {
namespace {

/// How much of a call's input a stream says: clients read it while it arrives, and give up where it is no object of
/// JSON. What a broken call has behind that place, the event that ends the block says.
class SpokenInput {
 public:
  /// The beginning of `piece` that may be said now.
  std::string_view take(std::string_view piece) {
    const char* at = piece.data();
    const char* const end = at + piece.size();
    if (held_.empty()) {
      if (place_ == Place::before) skip_blanks(at, end);
      if (place_ == Place::before && at != end && *at == '{') place_ = Place::inside;
      if (place_ == Place::inside && scanner_.run(at, end) == reply::Scan::done) place_ = Place::behind;
      if (place_ == Place::behind) skip_blanks(at, end);
    }
    held_.append(at, end);
    return piece.substr(0, static_cast<std::size_t>(at - piece.data()));
  }
  /// What was not said.
  std::string_view held() const { return held_; }

 private:
  /// Of the object.
  enum class Place : std::uint8_t {
    before,
    inside,
    behind,
  };
  static void skip_blanks(const char*& at, const char* end) {
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  }

  reply::JsonScanner scanner_;
  Place place_ = Place::before;
  std::string held_;
};

/// A block, with the members that say what it holds so far.
std::string block_json(const Block& block, std::string_view text, std::string_view id, std::string_view signature) {
  Json json('{');
  if (block.kind == Block::Kind::reasoning)
    return json.text("type", "thinking").text("thinking", text).text("signature", signature).take();
  if (block.kind == Block::Kind::text) return json.text("type", "text").text("text", text).take();
  return json.text("type", "tool_use")
      .text("id", id)
      .text("name", block.name)
      .raw("input", text.empty() ? "{}" : text)
      .take();
}

std::string block_as_said(const Block& block, bool without_text) {
  if (block.kind != Block::Kind::call || block.complete)
    return block_json(block, without_text ? "" : std::string_view(block.text), block.best_id(), block.signature);
  Json json('{');
  json.text("type", "tool_use").text("id", block.best_id()).text("name", block.name).raw("input", invalid_input(block));
  return json.raw("complete", "false").take();
}

class Message final : public BlockForm {
 public:
  Message(ReplyApiOptions options, std::string default_id)
      : BlockForm(ReplyApi::anthropic, std::move(options), std::move(default_id), "toolu_") {}

  void begin_stream() override {
    if (!listens()) return;
    Json event('{');
    event.text("type", "message_start").raw("message", message_json("[]", false));
    say("message_start", event.take());
  }

  std::string whole_json() const override {
    Json content('[');
    for (const Block& block : blocks()) content.item(block_as_said(block, !shows_text(block)));
    return message_json(content.take(), true);
  }

 private:
  void opened(const Block& block) override {
    input_ = SpokenInput();
    delta_head_ = R"({"type": "content_block_delta", "index": )" + std::to_string(last()) + R"(, "delta": {"type": )";
    Json event = event_of("content_block_start");
    if (listens()) say("content_block_start", event.raw("content_block", block_json(block, "", block.id, "")).take());
  }

  void grown(const Block& block, const Growth& growth) override {
    if (!listens() || growth.broken || !shows_text(block)) return;
    if (block.kind == Block::Kind::call) return say_input(input_.take(growth.text));
    const bool reasons = block.kind == Block::Kind::reasoning;
    say_delta(reasons ? R"("thinking_delta", "thinking": )" : R"("text_delta", "text": )", growth.text);
  }

  bool shows_text(const Block& block) const {
    return block.kind != Block::Kind::reasoning || options().reasoning == ShownReasoning::whole;
  }

  void say_input(std::string_view json) {
    if (!json.empty()) say_delta(R"("input_json_delta", "partial_json": )", json);
  }

  /// `kind`: its type, and the name of its text, as they stand in JSON. There is one for each token, so what is the
  /// same in all of a block is written once.
  void say_delta(std::string_view kind, std::string_view text) {
    delta_.assign(delta_head_).append(kind);
    append_json_string(delta_, text);
    say("content_block_delta", delta_.append("}}"));
  }

  void closed(const Block& block) override {
    if (!listens()) return;
    if (block.kind == Block::Kind::call && block.complete) say_input(input_.held());
    if (!block.signature.empty()) say_delta(R"("signature_delta", "signature": )", block.signature);
    Json event = event_of("content_block_stop");
    if (block.kind == Block::Kind::call && !block.complete) event.raw("content_block", block_as_said(block, false));
    say("content_block_stop", event.take());
  }

  void ended() override {
    if (!listens()) return;
    Json delta('{'), event('{');
    append_stop(delta);
    event.text("type", "message_delta").raw("delta", delta.take()).raw("usage", usage_json());
    append_diagnostics(event);
    say("message_delta", event.take());
    say("message_stop", R"({"type": "message_stop"})");
  }

  void broken_off() override { say("error", failed_json()); }

  Json event_of(std::string_view type) const {
    Json event('{');
    event.text("type", type).number("index", static_cast<std::int64_t>(last()));
    return event;
  }

  /// max_tokens where a call is not whole, whatever ended the reply: a client must not run such a call.
  std::string_view stop_reason() const {
    const std::string_view reason = finish_reason();
    if (reason == "length" || has_cut_call(blocks())) return "max_tokens";
    if (reason == "tool_calls") return "tool_use";
    return outcome().stop_sequence ? "stop_sequence" : "end_turn";
  }

  void append_stop(Json& json) const {
    const std::string_view reason = stop_reason();
    json.text("stop_reason", reason);
    reason == "stop_sequence" ? json.text("stop_sequence", *outcome().stop_sequence) : json.null("stop_sequence");
  }

  /// The API's input_tokens are those that no cache had.
  std::string usage_json() const {
    ReplyUsage usage = options().usage_at_start.value_or(ReplyUsage());
    if (outcome().usage) usage = *outcome().usage;
    Json json('{');
    json.number("input_tokens", usage.input_tokens - usage.cached_tokens).number("cache_creation_input_tokens", 0);
    json.number("cache_read_input_tokens", usage.cached_tokens);
    json.number("output_tokens", usage.output_tokens);
    if (outcome().usage)
      json.raw("output_tokens_details", Json('{').number("thinking_tokens", usage.reasoning_tokens).take());
    return json.take();
  }

  std::string message_json(std::string_view content, bool whole) const {
    Json json('{');
    json.text("id", options().id).text("type", "message").text("role", "assistant").text("model", options().model);
    json.raw("content", content);
    whole ? append_stop(json) : void(json.null("stop_reason").null("stop_sequence"));
    json.raw("usage", usage_json());
    if (whole) append_diagnostics(json);
    return json.take();
  }

  std::string delta_head_, delta_;
  SpokenInput input_;  ///< of the call that is open
};

}  // namespace

std::unique_ptr<Form> make_message(ReplyApiOptions options, std::string default_id) {
  return std::make_unique<Message>(std::move(options), std::move(default_id));
}

}  // namespace parlance::apis
