// Values in tags: which type each has, and how it leaves.
//
// A string leaves as it comes. What may be something else is held while it may, and what is certainly something else to its
// end; docs/reply-format.md says how types are told. Begin reading at begin_value_text and say_tag_value.
#include <utility>

#include "base/utf8.h"
#include "reply/parser.h"
#include "value/json.h"

namespace parlance {

using reply::is_json_space;
using reply::Meaning;
using reply::Scan;
using reply::TagReader;
using reply::Types;
using Wire = TagReader::Wire;
using Way = TagReader::Value;

namespace {

bool is_whole_real(std::string_view json) {
  const std::size_t point = json.find('.');
  return point != json.npos && json.find_first_not_of('0', point + 1) == json.npos;
}

}  // namespace

// ---- how a value leaves

void ReplyParser::State::begin_tag_value() {
  place_ = Place::tag_begin;
  if (form().tags.begin.empty()) begin_value_text();
}

std::uint8_t ReplyParser::State::value_types() const {
  const ReplyTools::Data* data = machine_->tools.data();
  if (data == nullptr || call_->tags().wire != Wire::nothing) return Types::kAny;
  const Types::Schema& schema = data->types[call_->tags().schema];
  return schema.null_text ? static_cast<std::uint8_t>(schema.types & ~Types::kNull) : schema.types;
}

void ReplyParser::State::begin_value_text() {
  TagReader& reader = call_->tags();
  const std::uint8_t types = value_types();
  place_ = Place::tag_value;
  call_->word.clear();
  reader.fresh = true;
  reader.whole = false;
  reader.probe = reply::JsonScanner(machine_->limits.depth);
  const bool text = reader.cdata || reader.wire == Wire::text || types == Types::kString;
  const bool typed = reader.wire == Wire::typed || (types & Types::kString) == 0;
  reader.value = text ? Way::text : typed ? Way::typed : Way::candidate;
  if (text) put_meant("\"");
}

void ReplyParser::State::put_tag_value(std::string_view bytes) {
  switch (call_->tags().value) {
    case Way::text: return put_tag_text(bytes);
    case Way::candidate: return put_candidate(bytes);
    case Way::typed:
      call_->word += bytes;
      if (call_->word.size() > machine_->limits.pending) become_untyped();
      return;
  }
}

/// Whether a value that is no string may begin so.
bool ReplyParser::State::may_begin_value(char c) const {
  const std::uint8_t types = value_types();
  const bool python = tags().style == ArgumentTags::Style::python, words = python || types != Types::kAny;
  switch (c) {
    case '{': return (types & Types::kObject) != 0;
    case '[': return (types & Types::kArray) != 0;
    case '(': return python && (types & Types::kArray) != 0;
    case 't':
    case 'f': return (types & Types::kBoolean) != 0;
    case 'n': return (types & Types::kNull) != 0;
    case 'T':
    case 'F': return words && (types & Types::kBoolean) != 0;
    case 'N': return words && (types & Types::kNull) != 0;
    default: return (c == '-' || (c >= '0' && c <= '9')) && (types & (Types::kInteger | Types::kReal)) != 0;
  }
}

/// A string, unless it is JSON from its first byte to its last.
void ReplyParser::State::put_candidate(std::string_view bytes) {
  TagReader& reader = call_->tags();
  bool fits = !reader.whole && call_->word.size() + bytes.size() <= machine_->limits.pending;
  if (std::exchange(reader.fresh, false)) fits = fits && may_begin_value(bytes.front());
  call_->word += bytes;
  const bool python = tags().style == ArgumentTags::Style::python;
  if (fits && !python) {
    const char* p = bytes.data();
    const char* const end = p + bytes.size();
    Scan scan = reader.probe.run(p, end);
    while (scan == Scan::bad && reader.probe.letter_of_python(*p) != '\0' && value_types() != Types::kAny) {
      scan = reader.probe.feed(reader.probe.letter_of_python(*p++));
      if (scan == Scan::more) scan = reader.probe.run(p, end);
    }
    reader.whole = scan == Scan::done;
    fits = scan == Scan::more || (reader.whole && p == end);
  }
  if (!fits) become_text();
}

void ReplyParser::State::become_text() {
  call_->tags().value = Way::text;
  put_meant("\"");
  put_tag_text(call_->word.take());
}

/// It should have been something else.
void ReplyParser::State::become_untyped() {
  out_.malformed(0, reply::names_of_types(value_types()), Fault::type);
  become_text();
}

void ReplyParser::State::put_tag_text(std::string_view bytes) {
  if (tags().escape == ArgumentTags::Escape::xml && !call_->tags().cdata) return put_entities(bytes);
  out_.program(bytes);
}

void ReplyParser::State::put_entities(std::string_view bytes) {
  reply::HeldText& entity = call_->tags().entity;
  while (!bytes.empty()) {
    if (entity.empty()) {
      const std::size_t plain = std::min(bytes.find('&'), bytes.size());
      out_.program(bytes.substr(0, plain));
      bytes.remove_prefix(plain);
      if (bytes.empty()) return;
      entity = std::string(1, '&');
      bytes.remove_prefix(1);
      continue;
    }
    const char c = bytes.front();
    const bool goes_on = c == '#' || c == ';' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (!goes_on || entity.size() == reply::kLongestEntity) {
      end_entity();
      continue;
    }
    entity += {&c, 1};
    bytes.remove_prefix(1);
    if (c == ';') end_entity();
  }
}

/// What is no entity is given as it is.
void ReplyParser::State::end_entity() {
  const std::string entity = call_->tags().entity.take();
  const std::string text = entity.ends_with(';') ? reply::text_of_entity(entity) : std::string();
  if (text.empty()) return out_.program(entity);
  std::string json;
  append_json_string(json, text);
  out_.piece(Kind::arguments, entity, std::string_view(json).substr(1, json.size() - 2));
}

// ---- the end of a value

void ReplyParser::State::end_tag_value(const Mark& mark, const std::string& source) {
  TagReader& reader = call_->tags();
  if (reader.cdata) {  // what follows up to the tag is text too
    out_.flush();
    put_markup(source);
    reader.cdata = false;
    absorb_ = {};
    return;
  }
  say_tag_value();
  reader.wire = Wire::nothing;
  if (mark.meaning == Meaning::tag_close) {
    put_markup(source);
    place_ = tags().close_end.empty() ? Place::tag_between : Place::tag_key_end;
    return;
  }
  out_.malformed(0, tags().close.texts.front());
  place_ = Place::tag_between;
  meet_in_tags(mark, source);
}

void ReplyParser::State::say_tag_value() {
  TagReader& reader = call_->tags();
  if (reader.value != Way::text) {
    const std::string json = json_of_value(call_->word);
    if (!json.empty()) {
      out_.piece(Kind::arguments, call_->word, json);
      call_->word.clear();
      return;
    }
    if (reader.value == Way::typed) {
      become_untyped();
    } else {
      become_text();
    }
  }
  if (!reader.entity.empty()) end_entity();
  out_.flush();
  put_meant("\"");
}

/// What a value is that was held to its end, or "" where it is a string.
std::string ReplyParser::State::json_of_value(std::string_view text) const {
  const TagReader& reader = call_->tags();
  const std::uint8_t types = value_types();
  if (reader.value == Way::candidate) return text == reply::trimmed(text) ? json_that_fits(text, types & ~Types::kString) : std::string();
  text = reply::trimmed(text);
  if (!text.empty() || tags().item.empty()) return json_that_fits(text, types | Types::kNull);
  if (types == Types::kObject) return "{}";  // tags in which nothing stands
  if (types == Types::kArray) return "[]";
  return (types & Types::kNull) != 0 ? "null" : "";
}

/// JSON, else a literal of Python, if its type is one of `types`.
std::string ReplyParser::State::json_that_fits(std::string_view text, std::uint8_t types) const {
  const auto fits = [types](std::string_view json) {
    const std::uint8_t type = reply::type_of_json(json);
    if (type == Types::kInteger) return (types & (Types::kInteger | Types::kReal)) != 0;
    return (types & type) != 0 || (type == Types::kReal && (types & Types::kInteger) != 0 && is_whole_real(json));
  };
  reply::JsonScanner scanner(machine_->limits.depth);
  const char* p = text.data();
  const char* const end = p + text.size();
  const Scan scan = scanner.run(p, end);
  if (p == end && scan != Scan::bad && scanner.complete()) {
    if (fits(text)) return std::string(text);
    return {};
  }
  if (value_types() != Types::kAny) {  // a word of Python is a value where the tool says that there may be one
    const std::string_view word = text == "None" ? "null" : text == "True" ? "true" : text == "False" ? "false" : "";
    if (!word.empty() && fits(word)) return std::string(word);
  }
  const bool held = call_->tags().value == Way::typed || tags().style == ArgumentTags::Style::python;
  if (!held || text.empty()) return {};
  const std::string json = reply::json_of_python(text, machine_->limits.depth);
  return !json.empty() && fits(json) ? json : std::string();
}

}  // namespace parlance
