// The members of a ReplyFormat in JSON: which there are, in which order, and their names. Reading (json.cpp) and
// writing (write.cpp) both walk these lists, so neither can know a member that the other does not.
//
// What is no plain struct in JSON (markers, parts of calls, members of objects) is read and written by hand there.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "parlance/reply_format.h"

namespace parlance::reply {

/// Objects inside each other in a call. What is read from JSON is refused while it is read: it may nest as JSON may.
inline constexpr std::size_t kDeepestObject = 8;

// ---- the names of what is an enum

template <typename T>
struct Names;
template <>
struct Names<CallLayout> {
  static constexpr std::string_view names[] = {"single", "section", "list"};
};
template <>
struct Names<ArgumentTags::Escape> {
  static constexpr std::string_view names[] = {"none", "xml", "cdata"};
};
template <>
struct Names<TextEscape> {
  static constexpr std::string_view names[] = {"none", "attribute", "xml"};
};
template <>
struct Names<ArgumentTags::Style> {
  static constexpr std::string_view names[] = {"json", "python", "text"};
};

// ---- members that JSON groups

struct Reasoning {
  ReplyMarker open, close;
  bool ended_by_calls = false;
  bool ended_by_calls_if_opened = false;
  bool operator==(const Reasoning&) const = default;
};
template <typename Text>
struct Frame {
  Text open, close;
  bool operator==(const Frame&) const = default;
};

// ---- the fields

/// A walk is called as walk(name, member[, default]) for each member. The reader looks the name up and fills the
/// member; the writer leaves out what equals the default. The order here is the order in which members are written.
template <typename Walk>
void fields(Walk& walk, Reasoning& r) {
  walk("open", r.open);
  walk("close", r.close);
  walk("ended_by_calls", r.ended_by_calls);
  walk("ended_by_calls_if_opened", r.ended_by_calls_if_opened);
}

template <typename Walk, typename Text>
void fields(Walk& walk, Frame<Text>& f) {
  walk("open", f.open);
  walk("close", f.close);
}

/// A marker written as an object: nothing in it is cut.
template <typename Walk>
void fields(Walk& walk, ReplyMarker& m) {
  walk("texts", m.texts);
  walk("before", m.before);
  walk("after", m.after);
  walk("loose", m.loose);
  walk("faulty", m.faulty);
}

template <typename Walk>
void fields(Walk& walk, ArgumentTags& t) {
  walk("open", t.open);
  walk("key_close", t.key_close);
  walk("type_close", t.type_close);
  walk("close", t.close);
  walk("whole", t.whole);
  walk("close_end", t.close_end);
  walk("item", t.item);
  walk("string_types", t.string_types);
  walk("escape", t.escape);
  walk("key_escape", t.key_escape);
  walk("values", t.style);
  walk("text_between", t.text_between);
}

template <typename Walk>
void fields(Walk& walk, CallForm& f) {
  // JSON has one member where the struct has two: the walk sees a copy, and whatever it did to it is copied back.
  Frame<std::string> result{f.result_open, f.result_close};
  walk("headed", f.headed);
  walk("header", f.header);
  walk("name", f.name);
  walk("content_type", f.content_type);
  walk("layout", f.layout);
  walk("open", f.open);
  walk("call", f.call);
  walk("close", f.close);
  walk("separator", f.separator);
  walk("commas_optional", f.commas_optional);
  walk("open_optional", f.open_optional);
  walk("close_optional", f.close_optional);
  walk("initial", f.initial);
  walk("declared_only", f.declared_only);
  walk("result", result);
  walk("sorted", f.sorted);
  walk("id_pattern", f.id_pattern);
  f.result_open = result.open;
  f.result_close = result.close;
}

template <typename Walk>
void fields(Walk& walk, ReplyTurn& t) {
  walk("role", t.role);
  walk("open", t.open);
  walk("header_close", t.header_close);
  walk("dummy_prefix", t.dummy_prefix);
  walk("raw_role", t.raw_role);
}

template <typename Walk>
void fields(Walk& walk, ReplyFormat& f) {
  Reasoning reasoning{f.reasoning_open, f.reasoning_close, f.calls_end_reasoning, f.calls_end_opened_reasoning};
  Frame<ReplyMarker> content{f.content_open, f.content_close};
  walk("prompt", f.prompt);
  walk("reasoning", reasoning);
  walk("content", content);
  walk("drops_other_text", f.drops_other_text);
  walk("calls", f.calls);
  walk("text_behind_calls", f.text_behind_calls);
  walk("parallel", f.parallel, true);
  walk("end", f.end);
  walk("last", f.last);
  walk("control", f.control);
  walk("prefix", f.prefix);
  walk("turns", f.turns);
  f.reasoning_open = reasoning.open;
  f.reasoning_close = reasoning.close;
  f.calls_end_reasoning = reasoning.ended_by_calls;
  f.calls_end_opened_reasoning = reasoning.ended_by_calls_if_opened;
  f.content_open = content.open;
  f.content_close = content.close;
}

/// What a bare string says: its outer white space is framing. A string of nothing else is a text.
inline ReplyMarker marker_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t from = text.find_first_not_of(kBlanks);
  if (from == text.npos) return {{std::string(text)}, {}, {}};
  const std::size_t to = text.find_last_not_of(kBlanks) + 1;
  return {{std::string(text.substr(from, to - from))}, std::string(text.substr(0, from)), std::string(text.substr(to))};
}

}  // namespace parlance::reply
