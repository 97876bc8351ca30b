// Values in tags: their types, and how they leave; see tag_value.h. Begin reading at TagValue::begin.
#include "reply/read/tag_value.h"

#include <algorithm>

#include "base/inside.h"
#include "json/json.h"
#include "reply/scan/python_scanner.h"

namespace parlance::reply {
namespace {

const ArgumentTags& tags_of(const Reading& in) { return in.arguments().tags; }
bool has_python(const Reading& in) { return tags_of(in).style == ArgumentTags::Style::python; }
bool is_text_without_type(const Reading& in) { return tags_of(in).style == ArgumentTags::Style::text; }

bool is_whole_float(std::string_view json) {
  const std::size_t point = json.find('.');
  return point != json.npos && json.find_first_not_of('0', point + 1) == json.npos;
}

/// The text in one that has its quotes and backslashes escaped once more, `[{\"a\": 1}]`; "" where one of its quotes is
/// not.
std::string without_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
    if (text[i] == '"') return {};
    out += text[escape ? ++i : i];
  }
  return out;
}

std::uint8_t types_of(const Reading& in, Types::Node node, TagValue::StatedType stated) {
  const reply::DeclaredTools* data = inside_of(in.tools()).get();
  if (data == nullptr) return Types::kAny;
  const Types::Schema& schema = data->types[node];
  // Whether null is meant or the text, the type beside the value says.
  const bool null_text = schema.null_text && stated == TagValue::StatedType::nothing;
  return null_text ? static_cast<std::uint8_t>(schema.types & ~Types::kNull) : schema.types;
}

}  // namespace

/// What the schema allows, counts; where that may be a string or something else, the type that the reply states.
void TagValue::begin(Reading& in, Types::Node schema, StatedType stated, bool raw) {
  types_ = types_of(in, schema, stated);
  stated_ = stated;
  raw_ = raw;
  in.call->word.clear();
  fresh_ = true;
  whole_ = false;
  probe_ = JsonScanner(in.limits().depth);
  const bool may_be_text = (types_ & Types::kString) != 0;
  const bool no_other = types_ == Types::kString || (types_ == Types::kAny && is_text_without_type(in));
  const bool means_text = stated == StatedType::nothing ? no_other : stated == StatedType::text;
  const bool text = raw || (may_be_text && means_text);
  const bool typed = stated == StatedType::typed || !may_be_text;
  way_ = text ? Way::text : typed ? Way::typed : Way::candidate;
  if (text) in.put_meant("\"");
}

void TagValue::put(Reading& in, std::string_view bytes) {
  switch (way_) {
    case Way::text: return put_text(in, bytes);
    case Way::candidate: return put_candidate(in, bytes);
    case Way::typed:
      in.call->word += bytes;
      if (in.call->word.size() > in.limits().pending) become_untyped(in);
      return;
  }
}

/// Whether a value that is no string may begin so.
bool TagValue::may_begin(char c, bool python) const {
  const bool words = python || types_ != Types::kAny;
  switch (c) {
    case '{': return (types_ & Types::kObject) != 0;
    case '[': return (types_ & Types::kArray) != 0;
    case '(': return python && (types_ & Types::kArray) != 0;
    case 't':
    case 'f': return (types_ & Types::kBoolean) != 0;
    case 'n': return (types_ & Types::kNull) != 0;
    case 'T':
    case 'F': return words && (types_ & Types::kBoolean) != 0;
    case 'N': return words && (types_ & Types::kNull) != 0;
    default: return (c == '-' || (c >= '0' && c <= '9')) && (types_ & (Types::kInteger | Types::kReal)) != 0;
  }
}

/// A string, unless it is JSON from its first byte to its last.
void TagValue::put_candidate(Reading& in, std::string_view bytes) {
  const bool python = has_python(in);
  bool fits = !whole_ && in.call->word.size() + bytes.size() <= in.limits().pending;
  if (std::exchange(fresh_, false)) fits = fits && may_begin(bytes.front(), python);
  in.call->word += bytes;
  if (!fits || !(python || scan_candidate(bytes))) become_text(in);
}

/// Whether the value may still be JSON with these bytes.
bool TagValue::scan_candidate(std::string_view bytes) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  Scan scan = probe_.run(p, end);
  while (scan == Scan::bad && probe_.letter_of_python(*p) != '\0' && types_ != Types::kAny) {
    scan = probe_.feed(probe_.letter_of_python(*p++));
    if (scan == Scan::more) scan = probe_.run(p, end);
  }
  whole_ = scan == Scan::done;
  return scan == Scan::more || (whole_ && p == end);
}

void TagValue::become_text(Reading& in) {
  way_ = Way::text;
  in.put_meant("\"");
  put_text(in, in.call->word.take());
}

/// It should have been something else.
void TagValue::become_untyped(Reading& in) {
  in.out.malformed(0, expected(in), ReplyEvent::Fault::type);
  become_text(in);
}

/// What should stand where a value is of another type than the schema or the reply says.
std::string TagValue::expected(const Reading& in) const {
  const std::vector<std::string>& strings = tags_of(in).string_types;
  if (stated_ != StatedType::typed || types_ == Types::kAny || (types_ & Types::kString) == 0)
    return names_of_types(types_);
  return strings.empty() ? "a string of JSON" : "the type '" + strings.front() + "'";
}

void TagValue::put_text(Reading& in, std::string_view bytes) {
  if (tags_of(in).escape == ArgumentTags::Escape::xml && !raw_) return put_entities(in, bytes);
  in.out.program(bytes);
}

void TagValue::put_entities(Reading& in, std::string_view bytes) {
  while (!bytes.empty()) {
    if (entity_.empty()) {
      const std::size_t plain = std::min(bytes.find('&'), bytes.size());
      in.out.program(bytes.substr(0, plain));
      bytes.remove_prefix(plain);
      if (bytes.empty()) return;
      entity_ = std::string(1, '&');
      bytes.remove_prefix(1);
      continue;
    }
    const char c = bytes.front();
    const bool goes_on = c == '#' || c == ';' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (!goes_on || entity_.size() == kLongestEntity) {
      end_entity(in);
      continue;
    }
    entity_ += {&c, 1};
    bytes.remove_prefix(1);
    if (c == ';') end_entity(in);
  }
}

/// What is no entity is given as it is.
void TagValue::end_entity(Reading& in) {
  const std::string entity = entity_.take();
  const std::string text = entity.ends_with(';') ? text_of_entity(entity) : std::string();
  if (text.empty()) return in.out.program(entity);
  std::string json;
  append_json_string(json, text);
  in.out.piece(ReplyEvent::Kind::arguments, entity, std::string_view(json).substr(1, json.size() - 2));
}

// ---- the end

void TagValue::end(Reading& in) {
  if (way_ != Way::text && end_typed(in)) return;
  if (!entity_.empty()) end_entity(in);
  in.out.flush();
  in.put_meant("\"");
}

/// Says a value that was held to its end; false where it is a string, which has begun then.
bool TagValue::end_typed(Reading& in) {
  std::string json = json_of(in, in.call->word);
  if (json.empty() && way_ == Way::typed) json = json_of_escaped(in);
  const bool mended = !json.empty() && stated_ == StatedType::text;
  if (mended) in.out.malformed(0, names_of_types(types_) + " as the type", ReplyEvent::Fault::mended);
  if (json.empty() && stated_ == StatedType::typed) {
    json = string_of_json(in);
    if (!json.empty()) in.out.malformed(0, expected(in), ReplyEvent::Fault::type);
  }
  if (!json.empty()) {
    in.out.piece(ReplyEvent::Kind::arguments, in.call->word, json);
    in.call->word.clear();
    return true;
  }
  if (way_ == Way::typed) {
    become_untyped(in);
  } else {
    become_text(in);
  }
  return false;
}

bool TagValue::is_whole(const Reading& in) const {
  return way_ == Way::typed && !is_blank(in.call->word) && !json_of(in, in.call->word).empty();
}

/// What a value is that was held to its end, or "" where it is a string.
std::string TagValue::json_of(const Reading& in, std::string_view text) const {
  if (way_ == Way::candidate)
    return text == trimmed(text) ? json_that_fits(in, text, types_ & ~Types::kString) : std::string();
  text = trimmed(text);
  const std::uint8_t null = (types_ & Types::kString) != 0 ? 0 : Types::kNull;
  if (!text.empty() || tags_of(in).item.empty()) return json_that_fits(in, text, types_ | null);
  if (types_ == Types::kObject) return "{}";  // tags in which nothing stands
  if (types_ == Types::kArray) return "[]";
  return (types_ & Types::kNull) != 0 ? "null" : "";
}

/// An object or a list that a model wrote as if it stood in a string.
std::string TagValue::json_of_escaped(Reading& in) const {
  const std::string_view text = trimmed(in.call->word);
  if (!(text.starts_with('{') || text.starts_with('[')) || text.find("\\\"") == text.npos) return {};
  std::string json = json_that_fits(in, without_escapes(text), types_);
  if (!json.empty()) in.out.malformed(0, names_of_types(types_) + " without escapes", ReplyEvent::Fault::mended);
  return json;
}

/// The reply states that it is JSON, and it is a string, which the schema does not allow.
std::string TagValue::string_of_json(const Reading& in) const {
  const std::string_view text = trimmed(in.call->word);
  return text.starts_with('"') ? json_that_fits(in, text, Types::kString) : std::string();
}

/// JSON, else a literal of Python, if its type is one of `types`.
std::string TagValue::json_that_fits(const Reading& in, std::string_view text, std::uint8_t types) const {
  const auto fits = [types](std::string_view json) {
    const std::uint8_t type = type_of_json(json);
    if (type == Types::kInteger) return (types & (Types::kInteger | Types::kReal)) != 0;
    return (types & type) != 0 || (type == Types::kReal && (types & Types::kInteger) != 0 && is_whole_float(json));
  };
  JsonScanner scanner(in.limits().depth);
  const char* p = text.data();
  const char* const end = p + text.size();
  const Scan scan = scanner.run(p, end);
  if (p == end && scan != Scan::bad && scanner.complete()) {
    if (fits(text)) return std::string(text);
    return {};
  }
  if (types_ != Types::kAny) {  // a word of Python is a value where the tool says that there may be one
    const bool loud = way_ == Way::typed;
    const bool yes = text == "True" || (loud && text == "TRUE"), no = text == "False" || (loud && text == "FALSE");
    const std::string_view word = text == "None" ? "null" : yes ? "true" : no ? "false" : "";
    if (!word.empty() && fits(word)) return std::string(word);
  }
  // Single quotes belong to a text where the schema says that it is one.
  if ((way_ != Way::typed && !has_python(in)) || text.empty() || types == Types::kString) return {};
  const std::string json = json_of_python(text, in.limits().depth);
  return !json.empty() && fits(json) ? json : std::string();
}

}  // namespace parlance::reply
