// Ollama's /api/chat and /api/generate: one object, or one a line. Begin reading at Ollama::say_line.
//
// A call is said when it has ended, since its arguments are an object. As in Anthropic's form, those of a call that is
// not complete are {"INVALID_JSON": TEXT}, which no tool that checks its input takes, and the reply ends by `length`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "apis/form.h"

namespace parlance::apis {
namespace {

/// RFC 3339, in UTC; only years with four digits have a form there.
std::string date_text(std::int64_t seconds) {
  using namespace std::chrono;
  constexpr std::int64_t kLast = 253402300799;  // of the year 9999
  const std::int64_t since = std::clamp<std::int64_t>(seconds, 0, kLast);
  const year_month_day date(sys_days(days(static_cast<int>(since / 86400))));
  const int rest = static_cast<int>(since % 86400);
  char text[32];
  const int size = std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), rest / 3600,
                                 rest / 60 % 60, rest % 60);
  return std::string(text, static_cast<std::size_t>(size));
}

/// What a line says of the message: members that are JSON, or "".
struct Said {
  std::string content, thinking, calls;
};

class Ollama final : public BlockForm {
 public:
  Ollama(ReplyApiOptions options, std::string default_id)
      : BlockForm(ReplyApi::ollama, std::move(options), std::move(default_id), "call_"), head_('{') {
    head_.text("model", this->options().model).text("created_at", date_text(this->options().created));
  }

  void begin_stream() override {}
  void add_logprobs(std::span<const ReplyLogprob> tokens) override { waiting_.add(tokens); }

 private:
  void take_logprobs_of(const ReplyEvent& event) override { append_items(pending_, waiting_.take(event)); }
  void skip_logprobs_of(const ReplyEvent& event) override { waiting_.skip(event); }

  std::string whole_json() const override {
    std::string content, thinking;
    Json calls('[');
    std::int64_t number = 0;
    for (const Block& block : blocks()) {
      if (block.kind == Block::Kind::call) calls.item(call_json(block, number++));
      if (block.kind == Block::Kind::reasoning) thinking += block.text;
      if (block.kind == Block::Kind::text)
        content.append(block.turned && !content.empty() ? "\n" : "").append(block.text);
    }
    Said said{json_string(content), thinking.empty() ? "" : json_string(thinking), ""};
    if (number != 0) said.calls = calls.take();
    return line(said, logprobs_, true).take();
  }

  void opened(const Block& block) override {
    if (block.kind == Block::Kind::text) parted_ = std::exchange(has_text_, true) && block.turned;
  }

  void grown(const Block& block, const Growth& growth) override {
    if (!listens() || block.kind == Block::Kind::call) return;
    if (block.kind == Block::Kind::reasoning) return say_line({"", json_string(growth.text), ""});
    const bool parted = std::exchange(parted_, false);
    say_line({json_string(parted ? "\n" + std::string(growth.text) : std::string(growth.text)), "", ""});
  }

  void closed(const Block& block) override {
    if (block.kind != Block::Kind::call) return;
    const std::int64_t number = calls_++;
    if (listens()) say_line({"", "", "[" + call_json(block, number) + "]"});
  }

  void ended() override {
    if (!outcome().stop_sequence) append_items(pending_, waiting_.rest());  // else they are of the stop text
    const std::string logprobs = take_logprobs();
    if (listens()) say({}, line({}, logprobs, true).take());
  }

  void broken_off() override { say({}, failed_json()); }

  void say_line(const Said& said) { say({}, line(said, take_logprobs(), false).take()); }

  /// Those of the next line; the whole has all of them.
  std::string take_logprobs() {
    append_items(logprobs_, pending_);
    return std::exchange(pending_, {});
  }

  static std::string call_json(const Block& block, std::int64_t number) {
    Json function('{'), json('{');
    function.number("index", number).text("name", block.name);
    function.raw("arguments", !block.complete ? invalid_input(block) : block.text.empty() ? "{}" : block.text);
    json.text("id", block.best_id()).raw("function", function.take());
    if (!block.complete) json.raw("complete", "false");
    return json.take();
  }

  Json line(const Said& said, std::string_view logprobs, bool last) const {
    Json json = head_, message('{');
    Json& members = options().generate ? json : message;
    if (!options().generate) message.text("role", "assistant");
    members.raw(options().generate ? "response" : "content", said.content.empty() ? "\"\"" : said.content);
    if (!said.thinking.empty()) members.raw("thinking", said.thinking);
    if (!said.calls.empty()) members.raw("tool_calls", said.calls);
    if (!options().generate) json.raw("message", message.take());
    if (!logprobs.empty()) json.key("logprobs").append(1, '[').append(logprobs).append(1, ']');
    json.raw("done", last ? "true" : "false");
    if (last) append_end(json);
    return json;
  }

  void append_end(Json& json) const {
    const bool is_cut = finish_reason() == "length" || has_cut_call(blocks());
    json.text("done_reason", !outcome().done_reason.empty() ? outcome().done_reason : is_cut ? "length" : "stop");
    if (!outcome().context.empty()) json.raw("context", outcome().context);
    const ReplyTimes times = outcome().times.value_or(ReplyTimes());
    const ReplyUsage usage = outcome().usage.value_or(ReplyUsage());
    if (outcome().times) json.number("total_duration", times.total).number("load_duration", times.load);
    if (outcome().usage) json.number("prompt_eval_count", usage.input_tokens);
    if (outcome().times) json.number("prompt_eval_duration", times.prompt);
    if (outcome().usage) json.number("eval_count", usage.output_tokens);
    if (outcome().times) json.number("eval_duration", times.eval);
    append_diagnostics(json);
  }

  Json head_;
  WaitingLogprobs waiting_;
  std::string logprobs_, pending_;  ///< items of lists: those that lines had, and those of the next
  std::int64_t calls_ = 0;
  bool has_text_ = false;
  bool parted_ = false;  ///< a newline stands before the next text, which is another turn's
};

}  // namespace

std::unique_ptr<Form> make_ollama(ReplyApiOptions options, std::string default_id) {
  return std::make_unique<Ollama>(std::move(options), std::move(default_id));
}

}  // namespace parlance::apis
