// From events to one message. Begin reading at ReplyMessage::add.
#include "parlance/reply.h"
#include "reply/json_scanner.h"
#include "value/json.h"

namespace parlance {
namespace {

bool is_blank(std::string_view text) {
  for (const char c : text) {
    if (!reply::is_json_space(c)) return false;
  }
  return true;
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
  append_json_string(out, key);
  out += ": ";
  append_json_string(out, text);
}

void append_calls(std::string& out, const std::vector<ReplyCall>& calls) {
  out += ", \"tool_calls\": [";
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const ReplyCall& call = calls[i];
    out += i == 0 ? "{" : ", {";
    append_member(out, "id", call.id.empty() ? "call_" + std::to_string(i + 1) : call.id);
    out += ", \"type\": \"function\", \"function\": {";
    append_member(out, "name", call.name);
    append_member(out += ", ", "arguments", call.arguments);
    out += call.complete ? "}, \"complete\": true}" : "}, \"complete\": false}";
  }
  out += "]";
}

}  // namespace

std::string_view name_of(ReplyEvent::Kind kind) {
  constexpr std::string_view kNames[] = {"content", "reasoning",  "arguments", "broken",    "marker", "trailing",
                                         "turn",    "call_begin", "call_end",  "malformed", "end"};
  return kNames[static_cast<std::size_t>(kind)];
}

void ReplyMessage::add(const ReplyEvent& event) {
  using Kinds = ReplyEvent::Kind;
  cut_ = event.kind == Kinds::reasoning || (event.kind == Kinds::call_end && !event.complete);
  switch (event.kind) {
    case Kinds::content:
      if (turned_ && !content.empty()) content += '\n';  // turns of one reply
      turned_ = false;
      content += event.text;
      break;
    case Kinds::reasoning: reasoning += event.text; break;
    case Kinds::arguments:
      if (!calls.empty()) calls.back().arguments += event.text;
      break;
    case Kinds::turn: turned_ = true; break;
    case Kinds::call_begin: calls.push_back({std::string(event.detail), std::string(event.text), {}, false}); break;
    case Kinds::call_end:
      if (calls.empty()) break;
      calls.back().complete = event.complete;
      calls.back().id = event.detail;
      break;
    case Kinds::malformed: diagnostics.push_back({event.position, std::string(event.text)}); break;
    default: break;
  }
}

std::string_view ReplyMessage::finish_reason() const {
  if (cut_) return "length";
  for (const ReplyCall& call : calls) {
    if (call.complete) return "tool_calls";
  }
  return "stop";
}

std::string ReplyMessage::to_json() const {
  std::string out = "{\"message\": {\"role\": \"assistant\"";
  if (!is_blank(reasoning)) append_member(out += ", ", "reasoning_content", reasoning);
  if (content.empty() && !calls.empty()) {
    out += ", \"content\": null";
  } else {
    append_member(out += ", ", "content", content);
  }
  if (!calls.empty()) append_calls(out, calls);
  append_member(out += "}, ", "finish_reason", finish_reason());
  out += ", \"diagnostics\": [";
  for (const ReplyDiagnostic& diagnostic : diagnostics) {
    out += out.back() == '[' ? "{\"position\": " : ", {\"position\": ";
    append_member(out.append(std::to_string(diagnostic.position)) += ", ", "expected", diagnostic.expected);
    out += "}";
  }
  return out += "]}";
}

}  // namespace parlance
