// ReplyFormat from JSON. Begin reading at Reader; the members are listed in fields.h.
#include "parlance/json.h"

#include <optional>
#include <span>
#include <type_traits>

#include "base/nearest.h"
#include "json/document.h"
#include "json/json.h"
#include "parlance/reply_format.h"
#include "reply/codec.h"
#include "reply/format/fields.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance {
namespace {

using Codec = CallArguments::Codec;
using Part = CallPart::Kind;
using Role = CallMember::Role;

Error wrong(const std::string& path, std::string message, std::string hint = {}) {
  return Error(ErrorCode::value, std::move(message)).input(path).hint(std::move(hint));
}

/// An object with one member: its key, else "".
std::string_view only_key(Value v) {
  return v.is(Kind::dict) && entries(v).size() == 1 ? leaf_text(entries(v)[0].key) : std::string_view();
}

/// Codecs that are written as an object with one member, by its key; those of texts have none.
std::optional<Codec> codec_of_object(std::string_view key) {
  for (std::uint8_t i = 0; !reply::facts_of(Codec{i}).key.empty(); ++i) {
    if (Codec{i} != Codec::json && reply::facts_of(Codec{i}).key == key) return Codec{i};
  }
  return std::nullopt;
}

/// "tags, keywords, …".
std::string keys_of_objects() {
  std::string all;
  for (std::uint8_t i = 0; !reply::facts_of(Codec{i}).key.empty(); ++i) {
    if (Codec{i} != Codec::json) all.append(all.empty() ? "" : ", ").append(reply::facts_of(Codec{i}).key);
  }
  return all;
}

/// Reads the members of one object; keeps the first failure.
class Reader {
 public:
  Reader(Value object, std::string path, std::optional<Error>& failure)
      : object_(object), path_(std::move(path)), failure_(failure) {}

  template <typename T>
  /// Called by fields() for each member. It notes the name too: refuse_others() takes a name that was never asked for
  /// as a misspelling, and finds the nearest.
  void operator()(std::string_view name, T& field, const T& = {}) {
    names_.push_back(name);
    // The default stays where the member is absent, so old files keep their meaning when members are added.
    if (const DictEntry* entry = find_key(*object_.dict, name)) read(entry->value, path_of(name), field);
  }

  void refuse_others() {
    for (const DictEntry& entry : entries(object_)) {
      const std::string_view key = leaf_text(entry.key);
      NearestName nearest(key);
      bool known = false;
      for (const std::string_view name : names_) {
        nearest.offer(name);
        known = known || name == key;
      }
      if (!known) fail(path_of(key), "a reply format has no such member here", nearest.hint());
    }
  }

  template <typename T>
  static void read_object(Value v, const std::string& path, T& field, std::optional<Error>& failure) {
    if (!v.is(Kind::dict)) {
      if (!failure) failure = wrong(path, "must be an object");
      return;
    }
    Reader reader(v, path, failure);
    // The structs live in parlance, so a lookup by the argument alone would not find these.
    using reply::fields;
    fields(reader, field);
    reader.refuse_others();
  }

 private:
  std::string path_of(std::string_view name) const { return (path_.empty() ? "" : path_ + ".") + std::string(name); }
  void fail(const std::string& path, std::string message, std::string hint = {}) {
    if (!failure_) failure_ = wrong(path, std::move(message), std::move(hint));
  }

  void read(Value v, const std::string& path, bool& field) {
    if (!v.is(Kind::boolean)) return fail(path, "must be true or false");
    field = v.integer != 0;
  }
  void read(Value v, const std::string& path, std::string& field) {
    if (!v.is_string()) return fail(path, "must be a string");
    field = leaf_text(v);
  }
  /// One text stands for a list of it.
  void read(Value v, const std::string& path, std::vector<std::string>& field) {
    if (!v.is_string()) return read_list(v, path, field);
    field.assign(1, std::string(leaf_text(v)));
  }
  /// Three ways to write a marker: "\n<call>\n" with its framing in the text, a list of texts without framing, or an
  /// object.
  void read(Value v, const std::string& path, ReplyMarker& field) {
    if (v.is_string()) {
      field = reply::marker_of(leaf_text(v));
    } else if (v.is_sequence()) {
      read(v, path, field.texts);
    } else {
      read_object(v, path, field, failure_);
    }
  }
  void read(Value v, const std::string& path, CallPart& field);
  void read_arguments(Value v, const std::string& path, CallArguments& field);
  void read_members(Value v, const std::string& path, std::vector<CallMember>& members, bool& as_text,
                    std::size_t depth = 1);
  void read_role(Value v, const std::string& path, CallMember& member, bool& as_text, std::size_t depth);
  void read_true(Value v, const std::string& path) {
    if (!v.is(Kind::boolean) || v.integer == 0) fail(path, "must be true");
  }

  template <typename T>
  void read(Value v, const std::string& path, std::vector<T>& field) {
    read_list(v, path, field);
  }
  template <typename T>
  void read_list(Value v, const std::string& path, std::vector<T>& field) {
    if (!v.is_sequence()) return fail(path, "must be a list");
    field.clear();
    for (const Value item : items(v)) {
      const std::string place = path + "[" + std::to_string(field.size()) + "]";
      field.emplace_back();
      read(item, place, field.back());
    }
  }
  template <typename T>
  /// The last choice of overload resolution: enums by their names, and structs that have a fields().
  void read(Value v, const std::string& path, T& field) {
    if constexpr (std::is_enum_v<T>) {
      read_name(v, path, field);
    } else {
      read_object(v, path, field, failure_);
    }
  }
  template <typename T>
  void read_name(Value v, const std::string& path, T& field) {
    const std::string_view text = v.is_string() ? leaf_text(v) : std::string_view();
    std::string all;
    for (std::size_t i = 0; i < std::size(reply::Names<T>::names); ++i) {
      if (reply::Names<T>::names[i] == text) {
        field = static_cast<T>(i);
        return;
      }
      all.append(i == 0 ? "" : ", ").append(reply::Names<T>::names[i]);
    }
    fail(path, "must be one of " + all);
  }

  Value object_;
  std::string path_;
  std::optional<Error>& failure_;
  std::vector<std::string_view> names_;
};

// ---- the parts of a call

/// The member that says what a part is, beside the white space before it; "" where there is no such member alone.
const DictEntry* kind_of_part(Value v) {
  const DictEntry* found = nullptr;
  if (!v.is(Kind::dict)) return found;
  for (const DictEntry& entry : entries(v)) {
    if (leaf_text(entry.key) == "before") continue;
    if (found != nullptr) return nullptr;
    found = &entry;
  }
  return found;
}

/// A marker in full is an object too, and also has `before`. Its `texts` tells it from a part: there `before` is left
/// for the marker.
void Reader::read(Value v, const std::string& path, CallPart& field) {
  const DictEntry* const kind = kind_of_part(v);
  const std::string_view key = kind == nullptr ? std::string_view() : leaf_text(kind->key);
  const Value inner = kind == nullptr ? Value() : kind->value;
  const Value before = kind != nullptr && key != "texts" ? member_value(v, "before") : Value();
  if (!before.is_undefined()) read(before, path + ".before", field.before);
  const std::string place = path + "." + std::string(key);
  if (key == "name" || key == "skip") {
    field.kind = key == "name" ? Part::name : Part::skip;
    if (key == "name" && inner.is_string()) return read(inner, place, field.escape);
    read_true(inner, place);
  } else if (key == "id") {
    field.kind = Part::id;
    read(inner, place, field.pattern);
  } else if (key == "object") {
    field.kind = Part::object;
    read_members(inner, place, field.members, field.arguments.as_text);
  } else if (key == "arguments") {
    field.kind = Part::arguments;
    read_arguments(inner, place, field.arguments);
  } else if (!key.empty() && key != "texts") {
    fail(path, "a part of a call is a marker, or one of name, id, skip, object, arguments");
  } else {
    read(v, path, field.literal);
  }
}

void Reader::read_arguments(Value v, const std::string& path, CallArguments& field) {
  const std::string_view key = v.is_string() ? leaf_text(v) : only_key(v);
  const std::string place = path + "." + std::string(key);
  if (v.is_string() && (key == "json" || key == "text")) {
    field.as_text = key == "text";
    return;
  }
  const std::optional<Codec> codec = v.is_string() ? std::nullopt : codec_of_object(key);
  if (!codec) return fail(path, "must be json, text, or an object with one of " + keys_of_objects());
  field.codec = *codec;
  const Value inner = entries(v)[0].value;
  switch (field.codec) {
    case Codec::json: break;
    case Codec::tags: return read(inner, place, field.tags);
    case Codec::keywords: return read(inner, place, field.callee);
    case Codec::bare: return read(inner, place, field.quote);
    case Codec::code: return read(inner, place, field.argument);
  }
}

void Reader::read_members(Value v, const std::string& path, std::vector<CallMember>& members, bool& as_text,
                          std::size_t depth) {
  if (!v.is(Kind::dict)) return fail(path, "must be an object of keys and their roles");
  if (depth > reply::kDeepestObject) return fail(path, "too deep, or too many objects");
  for (const DictEntry& entry : entries(v)) {
    CallMember member;
    const std::string_view key = leaf_text(entry.key);
    const std::string place = path + "." + std::string(key);
    read_role(entry.value, place, member, as_text, depth);
    if (key == "{name}") {
      if (member.role != Role::arguments) fail(place, "a key that is the name has the role arguments");
      member.role = Role::any_name;
    } else {
      member.key = key;
    }
    members.push_back(std::move(member));
  }
}

void Reader::read_role(Value v, const std::string& path, CallMember& member, bool& as_text, std::size_t depth) {
  if (v.is_string()) {
    const std::string_view text = leaf_text(v);
    if (text != "name" && text != "arguments" && text != "id")
      return fail(path, "must be name, arguments, id or an object");
    member.role = text == "name" ? Role::name : text == "id" ? Role::id : Role::arguments;
    return;
  }
  const std::string_view key = only_key(v);
  const Value inner = key.empty() ? Value() : entries(v)[0].value;
  if (key == "constant") {
    Arena arena;
    const Limits limits;
    Runtime rt(arena, limits);
    member.role = Role::constant;
    if (!append_json(rt, member.constant, inner, kPythonJson)) fail(path, "must be a value of JSON");
  } else if (key == "arguments" && inner.is_string() && leaf_text(inner) == "text") {
    member.role = Role::arguments;
    as_text = true;
  } else {
    member.role = Role::inner;
    // {"inner": {…}} is for an object whose only key would be read as a role, such as {"arguments": …}.
    read_members(key == "inner" && inner.is(Kind::dict) ? inner : v, path, member.members, as_text, depth + 1);
  }
}

}  // namespace

Result<ReplyFormat> ReplyFormat::from_json(std::string_view text, std::string_view name) {
  Document document;
  if (auto parsed = document.parse(text, name); !parsed) return parsed.error();
  ReplyFormat format;
  std::optional<Error> failure;
  Reader::read_object(document.root(), "", format, failure);
  if (failure) return *failure;
  if (auto valid = format.validate(); !valid) return valid.error();
  return format;
}

}  // namespace parlance
