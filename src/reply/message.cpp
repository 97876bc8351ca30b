// From events to one message. Begin reading at ReplyMessage::add.
#include <charconv>
#include <iterator>
#include <utility>

#include "json/json.h"
#include "json/writer.h"
#include "parlance/partial_json.h"
#include "parlance/reply.h"
#include "reply/custom_input.h"
#include "reply/scan/json_scanner.h"

namespace parlance {
namespace {

using MakeId = std::function<std::string()>;

/// Most formats write no ids, but clients need one to answer a call. The caller's maker comes before a counted one,
/// since counted ids repeat from reply to reply.
std::string id_of(std::string_view id, std::size_t number, const MakeId& make_id) {
  if (!id.empty()) return std::string(id);
  return make_id ? make_id() : "call_" + std::to_string(number + 1);
}

void add_function(Json& json, const ReplyCall& call) {
  json.text("type", "function")
      .raw("function", Json('{').text("name", call.name).text("arguments", call.arguments).take());
}

/// Arguments that are not exactly {"input": TEXT} are added as they were written, or the client would lose them.
void add_custom(Json& json, const ReplyCall& call) {
  const reply::CustomText text = reply::custom_text(call.arguments);
  json.text("type", "custom").raw("custom", Json('{').text("name", call.name).text("input", text.input).take());
  if (!text.exact || !call.complete) json.text("arguments", call.arguments);
}

std::string list_of(const std::vector<ReplyCall>& calls, const MakeId& make_id, bool partial) {
  Json list('[');
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const ReplyCall& call = calls[i];
    Json json('{');
    json.text("id", id_of(call.id, i, make_id));
    call.custom ? add_custom(json, call) : add_function(json, call);
    json.flag("complete", call.complete);
    if (partial && !call.complete) json.raw("partial", complete_json(call.arguments));
    list.item(json.take());
  }
  return list.take();
}

/// A delta that has one text, after a newline where it is parted from what came before.
/// The newline is put into the escaped text, in front: the text itself is a view that nobody may change.
void append_text_delta(std::string& out, std::string_view member, bool parted, std::string_view text) {
  out.append("{\"").append(member).append("\": ");
  const std::size_t begin = out.size();
  append_json_string(out, text);
  if (parted) out.insert(begin + 1, "\\n");
  out += '}';
}

/// The beginning of a delta of one call.
std::string& append_call(std::string& out, std::uint32_t index) {
  char digits[10];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), index).ptr;
  return out.append("{\"tool_calls\": [{\"index\": ").append(digits, end);
}

constexpr std::string_view kEventNames[] = {"content", "reasoning",  "arguments", "broken",    "marker", "trailing",
                                            "turn",    "call_begin", "call_end",  "malformed", "end"};
constexpr std::string_view kFaultNames[] = {"syntax", "mended", "type", "cut", "unknown_tool", "missing", "misfit"};

}  // namespace

std::span<const std::string_view> reply_event_names() { return kEventNames; }
std::string_view name_of(ReplyEvent::Kind kind) { return kEventNames[static_cast<std::size_t>(kind)]; }

std::span<const std::string_view> reply_fault_names() { return kFaultNames; }
std::string_view name_of(ReplyEvent::Fault fault) { return kFaultNames[static_cast<std::size_t>(fault)]; }

/// The reason is "length" if the reply broke off inside of something: inside reasoning, or inside a call. `cut_`
/// follows the last event alone, so content behind reasoning clears it; cut_off_ and called_ stay.
void ReplyFinish::add(const ReplyEvent& event) {
  using Kinds = ReplyEvent::Kind;
  const bool ends_call = event.kind == Kinds::call_end;
  cut_ = event.kind == Kinds::reasoning || (ends_call && !event.complete);
  cut_off_ = cut_off_ || (event.kind == Kinds::malformed && event.fault == ReplyEvent::Fault::cut);
  calls_ = calls_ || event.kind == Kinds::call_begin;
  called_ = called_ || (ends_call && event.complete);
}

std::string_view ReplyFinish::reason() const {
  return cut_ || cut_off_ ? "length" : called_ ? "tool_calls" : calls_ ? "length" : "stop";
}

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
    case Kinds::call_begin:
      calls.push_back({std::string(event.detail), std::string(event.text), {}, false, event.custom});
      break;
    // Some notations write the id behind the arguments, so it is known for certain only here.
    case Kinds::call_end:
      if (calls.empty()) break;
      calls.back().complete = event.complete;
      calls.back().id = event.detail;
      break;
    case Kinds::malformed: diagnostics.push_back({event.position, std::string(event.text), event.fault}); break;
    default: break;
  }
}

std::string ReplyMessage::message_json(const MakeId& make_id, bool partial) const {
  Json json('{');
  json.text("role", "assistant");
  if (!reply::is_blank(reasoning)) json.text("reasoning_content", reasoning);
  // OpenAI's form: content is null beside calls, and "" in a message without any.
  content.empty() && !calls.empty() ? json.null("content") : json.text("content", content);
  if (!calls.empty()) json.raw("tool_calls", list_of(calls, make_id, partial));
  return json.take();
}

std::string ReplyMessage::to_json(const MakeId& make_id, bool partial) const {
  Json all('[');
  for (const ReplyDiagnostic& diagnostic : diagnostics) {
    Json one('{');
    one.number("position", static_cast<std::int64_t>(diagnostic.position)).text("kind", name_of(diagnostic.fault));
    all.item(one.text("expected", diagnostic.expected).take());
  }
  Json json('{');
  json.raw("message", message_json(make_id, partial)).text("finish_reason", finish_reason());
  return json.raw("diagnostics", all.take()).take();
}

// ---- deltas

// It writes into the caller's buffer at once: a delta for each token must allocate nothing.

bool ReplyDeltas::append(std::string& out, const ReplyEvent& event) {
  using Kinds = ReplyEvent::Kind;
  finish_.add(event);
  switch (event.kind) {
    case Kinds::turn: turned_ = true; return false;
    case Kinds::reasoning: return append_reasoning(out, event.text);
    case Kinds::content: {
      const bool parted = std::exchange(turned_, false) && has_content_;
      has_content_ = true;
      append_text_delta(out, "content", parted, event.text);
      return true;
    }
    case Kinds::call_begin:
      append_json_string(append_call(out, calls_).append(", \"id\": "), id_of(event.detail, calls_, make_id_));
      append_json_string(out.append(", \"type\": \"function\", \"function\": {\"name\": "), event.text);
      out.append(", \"arguments\": \"\"}}]}");
      ++calls_;
      return true;
    case Kinds::arguments:
    case Kinds::broken:
      if (event.text.empty() || calls_ == 0) return false;
      append_json_string(append_call(out, calls_ - 1).append(", \"function\": {\"arguments\": "), event.text);
      out.append("}}]}");
      return true;
    default: return false;
  }
}

/// Blanks wait for something else.
bool ReplyDeltas::append_reasoning(std::string& out, std::string_view text) {
  if (!reasons_) {
    blanks_ += text;
    if (reply::is_blank(blanks_)) return false;
    reasons_ = true;
    text = blanks_;
  }
  append_text_delta(out, "reasoning_content", false, text);
  blanks_.clear();
  return true;
}

}  // namespace parlance
