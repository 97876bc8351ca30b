// ReplyFormat to JSON: what differs from the default, each in the shortest way that from_json reads as the same.
//
// Begin reading at Writer; the members are listed in format_fields.h.
#include <iterator>
#include <type_traits>

#include "parlance/reply_format.h"
#include "reply/format_fields.h"
#include "value/json.h"

namespace parlance {
namespace {

using Role = CallMember::Role;
using Codec = CallArguments::Codec;

class Writer {
 public:
  template <typename T>
  void operator()(std::string_view name, T& field, const T& normally = {}) {
    if (!(field == normally)) member(name), write(field);
  }
  template <typename T>
  static std::string object(T& field) {
    Writer writer;
    using reply::fields;
    fields(writer, field);
    return std::move(writer.out_ += "}");
  }

 private:
  void member(std::string_view name) {
    out_ += out_.size() > 1 ? ", " : "";
    append_json_string(out_, name);
    out_ += ": ";
  }
  void write(bool field) { out_ += field ? "true" : "false"; }
  void write(std::string& field) { append_json_string(out_, field); }
  void write(std::vector<std::string>& field) {
    if (field.size() == 1) return write(field.front());
    write_list(field);
  }
  void write(ReplyMarker& field);
  void write(CallPart& field);
  template <typename T>
  void write(std::vector<T>& field) {
    write_list(field);
  }
  template <typename T>
  void write_list(std::vector<T>& field) {
    out_ += "[";
    for (std::size_t i = 0; i < field.size(); ++i) {
      out_ += i == 0 ? "" : ", ";
      write(field[i]);
    }
    out_ += "]";
  }
  template <typename T>
  void write(T& field) {
    if constexpr (std::is_enum_v<T>) {
      append_json_string(out_, reply::Names<T>::names[static_cast<std::size_t>(field)]);
    } else {
      out_ += object(field);
    }
  }
  std::string arguments(CallArguments& a);
  static std::string members(std::vector<CallMember>& all, bool as_text);
  static std::string role(CallMember& member, bool as_text);

  std::string out_ = "{";
};

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string name_of(TextEscape escape) {
  return escape == TextEscape::none ? "true" : quoted(reply::Names<TextEscape>::names[static_cast<std::size_t>(escape)]);
}

std::string one_member(std::string_view name, const std::string& value) { return "{" + quoted(name) + ": " + value + "}"; }

void Writer::write(ReplyMarker& field) {
  if (field.texts.size() == 1) {
    std::string whole = field.before + field.texts.front() + field.after;
    if (reply::marker_of(whole) == field) return write(whole);
  }
  if (field.before.empty() && field.after.empty() && field.loose.empty() && field.texts.size() > 1) return write_list(field.texts);
  out_ += object(field);
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
  const bool ambiguous = key == "constant" || key == "arguments" || key == "inner";
  return ambiguous ? one_member("inner", inner) : inner;
}

std::string Writer::members(std::vector<CallMember>& all, bool as_text) {
  std::string out = "{";
  for (CallMember& member : all) {
    if (out.size() > 1) out += ", ";
    out += quoted(member.role == Role::any_name ? "{name}" : member.key) + ": " + role(member, as_text);
  }
  return out += "}";
}

std::string Writer::arguments(CallArguments& a) {
  switch (a.codec) {
    case Codec::json: break;
    case Codec::tags: return one_member("tags", object(a.tags));
    case Codec::keywords: return one_member("keywords", quoted(a.callee));
    case Codec::bare: return one_member("bare", quoted(a.quote));
    case Codec::code: return one_member("code", quoted(a.argument));
  }
  return a.as_text ? "\"text\"" : "\"json\"";
}

void Writer::write(CallPart& field) {
  switch (field.kind) {
    case CallPart::Kind::literal: return write(field.literal);
    case CallPart::Kind::name: out_ += one_member("name", name_of(field.escape)); break;
    case CallPart::Kind::id: out_ += one_member("id", quoted(field.pattern)); break;
    case CallPart::Kind::skip: out_ += one_member("skip", "true"); break;
    case CallPart::Kind::object: out_ += one_member("object", members(field.members, field.arguments.as_text)); break;
    case CallPart::Kind::arguments: out_ += one_member("arguments", arguments(field.arguments)); break;
  }
  if (field.before.empty()) return;
  out_.pop_back();
  out_ += ", \"before\": " + quoted(field.before) + "}";
}

}  // namespace

std::string ReplyFormat::to_json() const {
  ReplyFormat copy = *this;  // a walk may change what it walks
  return Writer::object(copy);
}

}  // namespace parlance
