// ReplyFormat to JSON: what differs from the default, each in the shortest way that from_json reads as the same.
//
// Begin reading at Writer; the members are listed in fields.h.
#include <iterator>
#include <type_traits>

#include "json/writer.h"
#include "parlance/reply_format.h"
#include "reply/codec.h"
#include "reply/format/fields.h"

namespace parlance {
namespace {

using Role = CallMember::Role;
using Codec = CallArguments::Codec;

class Writer {
 public:
  template <typename T>
  void operator()(std::string_view name, T& field, const T& normally = {}) {
    if (!(field == normally)) json_.raw(name, value(field));
  }
  template <typename T>
  static std::string object(T& field) {
    Writer writer;
    using reply::fields;
    fields(writer, field);
    return writer.json_.take();
  }

 private:
  static std::string value(bool field) { return field ? "true" : "false"; }
  static std::string value(std::string& field) { return json_string(field); }
  static std::string value(std::vector<std::string>& field) {
    return field.size() == 1 ? value(field.front()) : list(field);
  }
  static std::string value(ReplyMarker& field);
  static std::string value(CallPart& field);
  template <typename T>
  static std::string value(std::vector<T>& field) {
    return list(field);
  }
  template <typename T>
  static std::string value(T& field) {
    if constexpr (std::is_enum_v<T>) {
      return json_string(reply::Names<T>::names[static_cast<std::size_t>(field)]);
    } else {
      return object(field);
    }
  }
  template <typename T>
  static std::string list(std::vector<T>& field) {
    Json json('[');
    for (T& item : field) json.item(value(item));
    return json.take();
  }
  static std::string arguments(CallArguments& a);
  static std::string members(std::vector<CallMember>& all, bool as_text);
  static std::string role(CallMember& member, bool as_text);

  Json json_{'{'};
};

std::string name_of(TextEscape escape) {
  return escape == TextEscape::none ? "true"
                                    : json_string(reply::Names<TextEscape>::names[static_cast<std::size_t>(escape)]);
}

std::string one_member(std::string_view name, std::string_view json) { return Json('{').raw(name, json).take(); }

std::string Writer::value(ReplyMarker& field) {
  if (field.texts.size() == 1) {
    std::string whole = field.before + field.texts.front() + field.after;
    // The short form counts only if it is read as the same marker: texts with blanks at their ends are not.
    if (reply::marker_of(whole) == field) return value(whole);
  }
  const bool only_texts = field.before.empty() && field.after.empty() && field.loose.empty() && field.faulty.empty();
  if (only_texts && field.texts.size() > 1) return list(field.texts);
  return object(field);
}

std::string Writer::role(CallMember& member, bool as_text) {
  switch (member.role) {
    case Role::name: return "\"name\"";
    case Role::id: return "\"id\"";
    case Role::constant: return one_member("constant", member.constant);
    case Role::inner: break;
    default: return as_text ? one_member("arguments", "\"text\"") : "\"arguments\"";
  }
  std::string inner = members(member.members, as_text);
  if (member.members.size() != 1) return inner;
  const std::string& key = member.members.front().key;  // one that would be read as a role of its own
  // from_json takes an object with only this key for a role.
  const bool ambiguous = key == "constant" || key == "arguments" || key == "inner";
  return ambiguous ? one_member("inner", inner) : inner;
}

std::string Writer::members(std::vector<CallMember>& all, bool as_text) {
  Json json('{');
  for (CallMember& member : all) json.raw(member.role == Role::any_name ? "{name}" : member.key, role(member, as_text));
  return json.take();
}

std::string Writer::arguments(CallArguments& a) {
  const std::string key(reply::facts_of(a.codec).key);
  switch (a.codec) {
    case Codec::json: break;
    case Codec::tags: return one_member(key, object(a.tags));
    case Codec::keywords: return one_member(key, json_string(a.callee));
    case Codec::bare: return one_member(key, json_string(a.quote));
    case Codec::code: return one_member(key, json_string(a.argument));
  }
  return a.as_text ? "\"text\"" : "\"json\"";
}

std::string Writer::value(CallPart& field) {
  Json json('{');
  switch (field.kind) {
    case CallPart::Kind::literal: return value(field.literal);
    case CallPart::Kind::name: json.raw("name", name_of(field.escape)); break;
    case CallPart::Kind::id: json.text("id", field.pattern); break;
    case CallPart::Kind::skip: json.flag("skip", true); break;
    case CallPart::Kind::object: json.raw("object", members(field.members, field.arguments.as_text)); break;
    case CallPart::Kind::arguments: json.raw("arguments", arguments(field.arguments)); break;
  }
  if (!field.before.empty()) json.text("before", field.before);
  return json.take();
}

}  // namespace

std::string ReplyFormat::to_json() const {
  ReplyFormat copy = *this;  // a walk may change what it walks
  return Writer::object(copy);
}

}  // namespace parlance
