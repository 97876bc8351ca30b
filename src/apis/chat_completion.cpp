// OpenAI's chat completions: chat.completion, and chat.completion.chunk. Begin reading at ChatCompletion::take.
#include <utility>

#include "apis/form.h"

namespace parlance::apis {
namespace {

/// A stream of deltas and the whole message are made side by side from the same events, so that they cannot disagree:
/// ids are made once, when the delta first says them.
class ChatCompletion final : public Form {
 public:
  ChatCompletion(ReplyApiOptions options, std::string default_id)
      : Form(std::move(options), std::move(default_id), "call_"),
        deltas_([this] { return ids_.back() = make_call_id(); }) {}

  void begin() override { say_chunk(R"({"role": "assistant"})", false); }

  std::string to_json() const override {
    Json choice('{');
    choice.number("index", 0).raw("message", message_json()).null("logprobs").text("finish_reason", finish_reason());
    Json json = head("chat.completion");
    json.raw("choices", "[" + choice.take() + "]");
    append_usage(json);
    append_diagnostics(json);
    return json.take();
  }

 private:
  // A call that ends incomplete is told by a last delta with "complete": false, which OpenAI's clients ignore: the API
  // itself has no way to say it.
  void take(const ReplyEvent& event) override {
    message_.add(event);
    if (event.kind == ReplyEvent::Kind::call_begin) ids_.emplace_back();
    delta_.clear();
    if (deltas_.append(delta_, event)) say_chunk(delta_, false);  // its ids count, whoever listens
    if (event.kind != ReplyEvent::Kind::call_end || event.complete || message_.calls.empty()) return;
    say_chunk("{\"tool_calls\": [{\"index\": " + std::to_string(message_.calls.size() - 1) +
                  ", \"function\": {\"arguments\": \"\"}, \"complete\": false}]}",
              false);
  }

  void end() override { say_chunk("{}", true); }

  /// A call that had no id when it began was given one; the message has that, unless the wire told one later.
  std::string message_json() const {
    ReplyMessage message = message_;
    for (std::size_t i = 0; i < message.calls.size(); ++i) {
      if (message.calls[i].id.empty()) message.calls[i].id = ids_[i];
    }
    return message.message_json();
  }

  Json head(std::string_view object) const {
    Json json('{');
    json.text("id", options().id)
        .text("object", object)
        .number("created", options().created)
        .text("model", options().model);
    return json;
  }

  void append_usage(Json& json) const {
    if (!outcome().usage) return;
    const ReplyUsage& usage = *outcome().usage;
    Json made('{');
    made.number("prompt_tokens", usage.input_tokens).number("completion_tokens", usage.output_tokens);
    json.raw("usage", made.number("total_tokens", usage.input_tokens + usage.output_tokens).take());
  }

  void say_chunk(std::string_view delta, bool last) {
    if (!listens()) return;
    Json choice('{');
    choice.number("index", 0).raw("delta", delta).null("logprobs");
    last ? choice.text("finish_reason", finish_reason()) : choice.null("finish_reason");
    Json json = head("chat.completion.chunk");
    json.raw("choices", "[" + choice.take() + "]");
    if (last) append_usage(json);
    if (last) append_diagnostics(json);
    say({}, json.take());
  }

  ReplyMessage message_;
  std::vector<std::string> ids_;  ///< of each call the one that was made for it, or ""
  ReplyDeltas deltas_;
  std::string delta_;
};

}  // namespace

std::unique_ptr<Form> make_chat_completion(ReplyApiOptions options, std::string default_id) {
  return std::make_unique<ChatCompletion>(std::move(options), std::move(default_id));
}

}  // namespace parlance::apis
