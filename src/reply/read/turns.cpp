// A whole prompt as messages: the way back of rendering, for formats that have turns.
//
// Begin reading at read_conversation; Turns puts events together.
#include <algorithm>
#include <optional>

#include "json/json.h"
#include "parlance/reply.h"

namespace parlance {
namespace {

using EventKind = ReplyEvent::Kind;

struct TurnMessage {
  std::string role;
  std::string metadata;
  std::string content;
  std::vector<std::pair<ReplyCall, std::size_t>> calls;  ///< with their forms
  std::string tool_call_id;
};

class Turns {
 public:
  explicit Turns(const ReplyFormat& format) : format_(format) {}

  void add(const ReplyEvent& event) {
    if (raw_ && event.kind != EventKind::turn && event.kind != EventKind::call_begin) *raw_ += event.source;
    switch (event.kind) {
      case EventKind::turn: begin(event); break;
      case EventKind::content: add_text(event.text); break;
      case EventKind::call_begin: begin_call(event); break;
      case EventKind::arguments: last_call().arguments += event.text; break;
      case EventKind::call_end: end_call(event); break;
      default: break;
    }
  }

  Result<std::string> take() {
    settle();
    if (lead_.empty() || lead_ == format_.prefix) return json();
    return Error(ErrorCode::value, "the text does not begin with a turn")
        .hint("a turn begins with '" + format_.turns.front().open.texts.front() + "'");
  }

 private:
  ReplyCall& last_call() { return messages_.back().calls.back().first; }
  const ReplyTurn* turn_of(std::string_view role) const {
    for (const ReplyTurn& turn : format_.turns) {
      if (turn.role == role) return &turn;
    }
    return nullptr;
  }

  void add_text(std::string_view text) {
    if (raw_) {
      raw_whole_ = false;  // more than a call stands in its turn
    } else {
      (messages_.empty() ? lead_ : messages_.back().content) += text;
    }
  }

  void begin(const ReplyEvent& event) {
    settle();
    messages_.push_back({std::string(event.text), std::string(event.detail), {}, {}, {}});
  }

  /// Calls of one message follow its text; an empty text would not be written with them.
  void begin_call(const ReplyEvent& event) {
    settle();
    const bool follows = !messages_.empty() && messages_.back().role == "assistant" &&
                         messages_.back().metadata.empty() &&
                         !(messages_.back().content.empty() && messages_.back().calls.empty());
    if (!follows) messages_.push_back({"assistant", {}, {}, {}, {}});
    ReplyCall call;
    call.id = "call_" + std::to_string(++count_);
    call.name = event.text;
    messages_.back().calls.push_back({std::move(call), event.form});
    const std::string head = std::string(event.text) + turn_of("assistant")->header_close;
    raw_ = event.source.substr(std::min(event.source.find(head), event.source.size() - head.size()) + head.size());
    if (turn_of("assistant")->dummy_prefix && raw_->starts_with(' ')) raw_->erase(0, 1);
    raw_whole_ = false;
  }

  void end_call(const ReplyEvent& event) {
    raw_whole_ = event.complete;
    last_call().complete = event.complete;
  }

  /// What a turn was is known at its end: a call that is none becomes a turn with metadata, a result loses its frame.
  void settle() {
    if (raw_ && !raw_whole_) unmake_call();
    raw_.reset();
    if (messages_.empty() || messages_.back().role != "tool" || !messages_.back().tool_call_id.empty()) return;
    settle_result(messages_.back());
  }

  void unmake_call() {
    std::string name = last_call().name;
    messages_.back().calls.pop_back();
    --count_;
    if (messages_.back().content.empty() && messages_.back().calls.empty()) messages_.pop_back();
    messages_.push_back({"assistant", std::move(name), std::move(*raw_), {}, {}});
  }

  /// The call that the last message answers, or null.
  const std::pair<ReplyCall, std::size_t>* answered() const {
    std::size_t results = 0, i = messages_.size() - 1;
    while (i > 0 && messages_[i - 1].role != "assistant") {
      --i;
      ++results;
    }
    std::size_t first = i;  // the assistant's messages in a row
    while (first > 0 && messages_[first - 1].role == "assistant") --first;
    for (; first < i; ++first) {
      if (!messages_[first].metadata.empty() && results-- == 0) return nullptr;
      if (results < messages_[first].calls.size()) return &messages_[first].calls[results];
      results -= messages_[first].calls.size();
    }
    return nullptr;
  }

  void settle_result(TurnMessage& message) {
    const auto* call = answered();
    const CallForm* form = call == nullptr ? nullptr : &format_.calls[call->second];
    const std::string& text = message.content;
    const bool framed = form != nullptr && text.size() >= form->result_open.size() + form->result_close.size() &&
                        text.starts_with(form->result_open) && text.ends_with(form->result_close);
    if (!framed) {
      const std::string& raw = turn_of("tool")->raw_role;
      if (!raw.empty()) message.role = raw;
      return;
    }
    message.tool_call_id = call->first.id;
    message.content =
        text.substr(form->result_open.size(), text.size() - form->result_open.size() - form->result_close.size());
  }

  static void member(std::string& out, std::string_view key, std::string_view text) {
    append_json_string(out += ", ", key);
    append_json_string(out += ": ", text);
  }

  static void append_message(std::string& out, const TurnMessage& message) {
    append_json_string(out += "{\"role\": ", message.role);
    if (!message.metadata.empty()) member(out, "metadata", message.metadata);
    if (!message.tool_call_id.empty()) member(out, "tool_call_id", message.tool_call_id);
    if (message.calls.empty() || !message.content.empty()) {
      member(out, "content", message.content);
    } else {
      out += ", \"content\": null";
    }
    for (std::size_t i = 0; i < message.calls.size(); ++i) {
      const ReplyCall& call = message.calls[i].first;
      append_json_string(out += i == 0 ? ", \"tool_calls\": [{\"id\": " : ", {\"id\": ", call.id);
      append_json_string(out += ", \"type\": \"function\", \"function\": {\"name\": ", call.name);
      member(out, "arguments", call.arguments);
      out += "}}";
    }
    out += message.calls.empty() ? "}" : "]}";
  }

  std::string json() const {
    std::string out = "{\"messages\": [";
    for (const TurnMessage& message : messages_) {
      out += out.back() == '[' ? "" : ", ";
      append_message(out, message);
    }
    return out += "]}";
  }

  const ReplyFormat& format_;
  std::vector<TurnMessage> messages_;
  std::string lead_;                ///< text before the first turn
  std::optional<std::string> raw_;  ///< all of the last call's turn behind its header
  bool raw_whole_ = false;          ///< that call is complete
  std::size_t count_ = 0;
};

}  // namespace

Result<std::string> read_conversation(const ReplyFormat& format, std::string_view text) {
  const Result<CompiledReplyFormat> compiled = CompiledReplyFormat::make(format);
  if (!compiled) return compiled.error();
  Result<ReplyParser> parser = ReplyParser::of_conversation(*compiled);
  if (!parser) return parser.error();
  Turns turns(format);
  const auto sink = [&](const ReplyEvent& event) { turns.add(event); };
  parser->feed(text, sink);
  parser->finish(sink);
  return turns.take();
}

}  // namespace parlance
