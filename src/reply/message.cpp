// From events to one message. Begin reading at ReplyMessage::add.
#include <utility>

#include "parlance/partial_json.h"
#include "parlance/reply.h"
#include "reply/custom_input.h"
#include "reply/json_scanner.h"
#include "value/json.h"

namespace parlance {
namespace {

void append_member(std::string& out, std::string_view key, std::string_view text) {
  append_json_string(out, key);
  out += ": ";
  append_json_string(out, text);
}

using MakeId = std::function<std::string()>;

std::string id_of(std::string_view id, std::size_t number, const MakeId& make_id) {
  if (!id.empty()) return std::string(id);
  return make_id ? make_id() : "call_" + std::to_string(number + 1);
}

void append_function(std::string& out, const ReplyCall& call) {
  out += ", \"type\": \"function\", \"function\": {";
  append_member(out, "name", call.name);
  append_member(out += ", ", "arguments", call.arguments);
  out += '}';
}

void append_custom(std::string& out, const ReplyCall& call) {
  const reply::CustomText text = reply::custom_text(call.arguments);
  out += ", \"type\": \"custom\", \"custom\": {";
  append_member(out, "name", call.name);
  append_member(out += ", ", "input", text.input);
  out += '}';
  if (!text.exact || !call.complete) append_member(out += ", ", "arguments", call.arguments);
}

void append_calls(std::string& out, const std::vector<ReplyCall>& calls, const MakeId& make_id, bool partial) {
  out += ", \"tool_calls\": [";
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const ReplyCall& call = calls[i];
    out += i == 0 ? "{" : ", {";
    append_member(out, "id", id_of(call.id, i, make_id));
    call.custom ? append_custom(out, call) : append_function(out, call);
    out += call.complete ? ", \"complete\": true" : ", \"complete\": false";
    if (partial && !call.complete) out.append(", \"partial\": ").append(complete_json(call.arguments));
    out += '}';
  }
  out += "]";
}

}  // namespace

std::string_view name_of(ReplyEvent::Kind kind) {
  constexpr std::string_view kNames[] = {"content", "reasoning",  "arguments", "broken",    "marker", "trailing",
                                         "turn",    "call_begin", "call_end",  "malformed", "end"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(ReplyEvent::Fault fault) {
  constexpr std::string_view kNames[] = {"syntax", "mended", "type", "cut", "unknown_tool", "missing", "misfit"};
  return kNames[static_cast<std::size_t>(fault)];
}

void ReplyFinish::add(const ReplyEvent& event) {
  using Kinds = ReplyEvent::Kind;
  const bool ends_call = event.kind == Kinds::call_end;
  cut_ = event.kind == Kinds::reasoning || (ends_call && !event.complete);
  cut_off_ = cut_off_ || (event.kind == Kinds::malformed && event.fault == ReplyEvent::Fault::cut);
  calls_ = calls_ || event.kind == Kinds::call_begin;
  called_ = called_ || (ends_call && event.complete);
}

std::string_view ReplyFinish::reason() const { return cut_ || cut_off_ ? "length" : called_ ? "tool_calls" : calls_ ? "length" : "stop"; }

void ReplyMessage::add(const ReplyEvent& event) {
  using Kinds = ReplyEvent::Kind;
  finish_.add(event);
  switch (event.kind) {
    case Kinds::content:
      if (turned_ && !content.empty()) content += '\n';  // turns of one reply
      turned_ = false;
      content += event.text;
      break;
    case Kinds::reasoning: reasoning += event.text; break;
    case Kinds::arguments:
    case Kinds::broken:  // the call has ended, and is not complete
      if (!calls.empty()) calls.back().arguments += event.text;
      break;
    case Kinds::turn: turned_ = true; break;
    case Kinds::call_begin: calls.push_back({std::string(event.detail), std::string(event.text), {}, false, event.custom}); break;
    case Kinds::call_end:
      if (calls.empty()) break;
      calls.back().complete = event.complete;
      calls.back().id = event.detail;
      break;
    case Kinds::malformed:
      diagnostics.push_back({event.position, std::string(event.text), event.fault});
      break;
    default: break;
  }
}

std::string ReplyMessage::message_json(const MakeId& make_id, bool partial) const {
  std::string out = "{\"role\": \"assistant\"";
  if (!reply::is_blank(reasoning)) append_member(out += ", ", "reasoning_content", reasoning);
  if (content.empty() && !calls.empty()) {
    out += ", \"content\": null";
  } else {
    append_member(out += ", ", "content", content);
  }
  if (!calls.empty()) append_calls(out, calls, make_id, partial);
  return out += '}';
}

std::string ReplyMessage::to_json(const MakeId& make_id, bool partial) const {
  std::string out = "{\"message\": " + message_json(make_id, partial);
  append_member(out += ", ", "finish_reason", finish_reason());
  out += ", \"diagnostics\": [";
  for (const ReplyDiagnostic& diagnostic : diagnostics) {
    out += out.back() == '[' ? "{\"position\": " : ", {\"position\": ";
    append_member(out.append(std::to_string(diagnostic.position)) += ", ", "kind", name_of(diagnostic.fault));
    append_member(out += ", ", "expected", diagnostic.expected);
    out += "}";
  }
  return out += "]}";
}

// ---- deltas

std::string ReplyDeltas::text_delta(std::string_view member, std::string_view text) {
  std::string out = "{";
  append_member(out, member, text);
  return out += "}";
}

std::string ReplyDeltas::take(const ReplyEvent& event) {
  using Kinds = ReplyEvent::Kind;
  finish_.add(event);
  switch (event.kind) {
    case Kinds::turn: turned_ = true; return {};
    case Kinds::reasoning: {
      blanks_ += event.text;
      if (!reasons_ && reply::is_blank(blanks_)) return {};
      reasons_ = true;
      return text_delta("reasoning_content", std::exchange(blanks_, {}));
    }
    case Kinds::content: {
      const bool parted = std::exchange(turned_, false) && has_content_;
      has_content_ = true;
      return text_delta("content", (parted ? "\n" : "") + std::string(event.text));
    }
    case Kinds::call_begin: {
      std::string out = "{\"tool_calls\": [{\"index\": " + std::to_string(calls_) + ", ";
      append_member(out, "id", id_of(event.detail, calls_, make_id_));
      append_member(out += ", \"type\": \"function\", \"function\": {", "name", event.text);
      ++calls_;
      return out += ", \"arguments\": \"\"}}]}";
    }
    case Kinds::arguments:
    case Kinds::broken: {
      if (event.text.empty() || calls_ == 0) return {};
      std::string out = "{\"tool_calls\": [{\"index\": " + std::to_string(calls_ - 1) + ", \"function\": {";
      append_member(out, "arguments", event.text);
      return out += "}}]}";
    }
    default: return {};
  }
}

}  // namespace parlance
