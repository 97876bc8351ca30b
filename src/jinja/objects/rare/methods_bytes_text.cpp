// The methods bytes shares with str: each is run on a text that stands for the bytes.
//
// A byte becomes the character with its number, or one of a private area where str would see more
// in that character than bytes does; so the rows of str do the work, and positions stay the same.
// Rules: CPython 3.11 Objects/bytes_methods.c. Begin reading at run_as_text.

#include <string>

#include "base/utf8.h"
#include "jinja/objects/builtins.h"
#include "jinja/objects/methods.h"
#include "jinja/objects/rare/bytes.h"
#include "value/iterate.h"

namespace parlance::jinja {
namespace {

/// Characters of plane 15 are letters, digits, blanks or line ends to no method of str.
constexpr char32_t kPrivate = 0xF0000;

/// str takes \x1C to \x1F for blanks; \v and \f end its lines, but not those of bytes.
char32_t stand_in(unsigned char byte, bool lines) {
  const bool plain = byte < 0x80 && (byte < 0x1C || byte > 0x1F) && !(lines && (byte == '\v' || byte == '\f'));
  return plain ? byte : kPrivate + byte;
}

Value to_stand_in(const Call& call, std::string_view bytes) {
  if (!call.rt.charge_bytes(bytes.size()) || !call.rt.reserve(bytes.size() * 4)) return Value::invalid();
  std::string out;
  const bool lines = call.builtin->name == "splitlines";
  for (char c : bytes) utf8::append(out, stand_in(static_cast<unsigned char>(c), lines));
  return make_computed(call.rt, out);
}

Value from_stand_in(Runtime& rt, Value v) {
  if (v.is_sequence()) {
    ListBuilder list(rt, v.list->size);
    for (Value item : items(v)) list.append(from_stand_in(rt, item));
    return rt.failed() ? Value::invalid() : list.finish(v.kind);
  }
  if (!v.is_string()) return v;
  const std::string_view bytes = text(rt, v);
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto [c, size] = utf8::decode(bytes.data() + at, bytes.data() + bytes.size());
    out += static_cast<char>(c & 0xFF);
    at += size;
  }
  return make_bytes(rt, out);
}

Value fail_not_bytes(const Call& call, Value v) {
  return call.rt.fail(ErrorCode::type, "a bytes-like object is required, not '" + std::string(type_name(v)) + "'", v);
}

Value bytes_to_stand_in(const Call& call, Value v) {
  if (!is_object(v, kBytesType)) return fail_not_bytes(call, v);
  return to_stand_in(call, static_cast<const BytesObject*>(v.object)->bytes);
}

/// Every member of an iterable of bytes.
Value members_to_stand_ins(const Call& call, Value v, Kind kind) {
  Iterator it;
  if (!iterate(call.rt, v, it)) return Value::invalid();
  ListBuilder list(call.rt);
  for (Value item; it.next(call.rt, item);) {
    if (!call.rt.charge(1) || !call.rt.reserve(64)) return Value::invalid();
    list.append(bytes_to_stand_in(call, item));
    if (call.rt.failed()) return Value::invalid();
  }
  return call.rt.failed() ? Value::invalid() : list.finish(kind);
}

/// The byte that find, count and index may be given as a number.
Value byte_to_stand_in(const Call& call, Value number) {
  if ((number.flags & Value::kBig) != 0 || number.integer < 0 || number.integer > 255) {
    return call.rt.fail(ErrorCode::value, "byte must be in range(0, 256)", number);
  }
  const char byte = static_cast<char>(number.integer);
  return to_stand_in(call, {&byte, 1});
}

/// Argument i as the method of str shall see it.
Value argument_to_stand_in(const Call& call, std::size_t i) {
  const Parameter& parameter = call.builtin->bound.parameters[i];
  const std::string_view name = parameter.name;
  const Value v = call[i];
  if (name == "width" || name == "tabsize" || name == "keepends" || name == "start" || name == "end" ||
      name == "maxsplit" || name == "count") {
    return v;
  }
  if (v.is_none() && parameter.kind == Default::none) return v;
  if (v.is_string() && parameter.kind == Default::text && v.data == parameter.string.data()) return v;
  if (name == "iterable") return members_to_stand_ins(call, v, Kind::list);
  if (name == "sub" && (v.is(Kind::integer) || v.is(Kind::boolean))) return byte_to_stand_in(call, v);
  if (v.is(Kind::tuple) && call.builtin->name.ends_with("with")) return members_to_stand_ins(call, v, Kind::tuple);
  return bytes_to_stand_in(call, v);
}

/// Runs the row of str with the same name, which must have the same parameters.
Value run_as_text(Call& call) {
  const Builtin* row = find_method(Value::view(""), call.builtin->name);
  Value arguments[Signature::kMost];
  arguments[0] = bytes_to_stand_in(call, call[0]);
  for (std::size_t i = 1; i < call.builtin->bound.count; ++i) {
    arguments[i] = argument_to_stand_in(call, i);
  }
  if (call.rt.failed()) return Value::invalid();
  Call of_text{call.rt, row, arguments};
  const Value result = row->run(of_text);
  return call.rt.failed() ? Value::invalid() : from_stand_in(call.rt, result);
}

constexpr Builtin kBytesTextMethods[] = {
    {"capitalize", "", "self, /", run_as_text,
     "The first byte in upper case, if it is an ASCII letter, the others in lower case.",
     "{{ 'aB'.encode().capitalize() }} -> b'Ab'"},
    {"center", "", "self, width, fillchar=' ', /", run_as_text, "The bytes in the middle of a field.",
     "{{ 'a'.encode().center(3) }} -> b' a '"},
    {"count", "", "self, sub, start=none, end=none, /", run_as_text, "How often `sub` occurs without overlapping.",
     "{{ 'banana'.encode().count('an'.encode()) }} -> 2"},
    {"endswith", "", "self, suffix, start=none, end=none, /", run_as_text,
     "Whether the bytes end with `suffix`, or one of several.", "{{ 'ab'.encode().endswith('b'.encode()) }} -> True"},
    {"expandtabs", "", "self, /, tabsize=8", run_as_text, "Tabs as blanks up to the next stop.",
     "{{ 'a\\tb'.encode().expandtabs(4) }} -> b'a   b'"},
    {"find", "", "self, sub, start=none, end=none, /", run_as_text, "The first position of `sub`, or -1.",
     "{{ 'ab'.encode().find('b'.encode()) }} -> 1"},
    {"index", "", "self, sub, start=none, end=none, /", run_as_text,
     "The first position of `sub`; an error if there is none.", "{{ 'ab'.encode().index(98) }} -> 1"},
    {"isalnum", "", "self, /", run_as_text, "Whether there are only ASCII letters and digits.",
     "{{ 'a1'.encode().isalnum() }} -> True"},
    {"isalpha", "", "self, /", run_as_text, "Whether there are only ASCII letters.",
     "{{ 'a1'.encode().isalpha() }} -> False"},
    {"isdigit", "", "self, /", run_as_text, "Whether there are only ASCII digits.",
     "{{ '12'.encode().isdigit() }} -> True"},
    {"islower", "", "self, /", run_as_text, "Whether every ASCII letter, at least one, is lower case.",
     "{{ 'ab'.encode().islower() }} -> True"},
    {"isspace", "", "self, /", run_as_text, "Whether there is only ASCII white space.",
     "{{ ' '.encode().isspace() }} -> True"},
    {"istitle", "", "self, /", run_as_text, "Whether words begin with upper case, and only they.",
     "{{ 'Ab'.encode().istitle() }} -> True"},
    {"isupper", "", "self, /", run_as_text, "Whether every ASCII letter, at least one, is upper case.",
     "{{ 'ab'.encode().isupper() }} -> False"},
    {"join", "", "self, iterable, /", run_as_text, "Several bytes with these between them.",
     "{{ '-'.encode().join(['a'.encode(), 'b'.encode()]) }} -> b'a-b'"},
    {"ljust", "", "self, width, fillchar=' ', /", run_as_text, "The bytes at the left of a field.",
     "{{ 'a'.encode().ljust(3) }} -> b'a  '"},
    {"lower", "", "self, /", run_as_text, "ASCII letters in lower case.", "{{ 'AB'.encode().lower() }} -> b'ab'"},
    {"lstrip", "", "self, chars=none, /", run_as_text, "Without white space, or the given bytes, at the start.",
     "{{ ' a '.encode().lstrip() }} -> b'a '"},
    {"partition", "", "self, sep, /", run_as_text, "What is before, at and after the first `sep`.",
     "{{ 'a-b'.encode().partition('-'.encode()) }} -> (b'a', b'-', b'b')"},
    {"removeprefix", "", "self, prefix, /", run_as_text, "Without `prefix`, if it is there.",
     "{{ 'ab'.encode().removeprefix('a'.encode()) }} -> b'b'"},
    {"removesuffix", "", "self, suffix, /", run_as_text, "Without `suffix`, if it is there.",
     "{{ 'ab'.encode().removesuffix('b'.encode()) }} -> b'a'"},
    {"replace", "", "self, old, new, count=-1, /", run_as_text,
     "`new` in the place of each `old`, or of the first `count`.",
     "{{ 'aa'.encode().replace('a'.encode(), 'b'.encode(), 1) }} -> b'ba'"},
    {"rfind", "", "self, sub, start=none, end=none, /", run_as_text, "The last position of `sub`, or -1.",
     "{{ 'aa'.encode().rfind(97) }} -> 1"},
    {"rindex", "", "self, sub, start=none, end=none, /", run_as_text,
     "The last position of `sub`; an error if there is none.", "{{ 'aa'.encode().rindex(97) }} -> 1"},
    {"rjust", "", "self, width, fillchar=' ', /", run_as_text, "The bytes at the right of a field.",
     "{{ 'a'.encode().rjust(3) }} -> b'  a'"},
    {"rpartition", "", "self, sep, /", run_as_text, "What is before, at and after the last `sep`.",
     "{{ 'a-b'.encode().rpartition('-'.encode()) }} -> (b'a', b'-', b'b')"},
    {"rsplit", "", "self, /, sep=none, maxsplit=-1", run_as_text, "The parts between separators, split from the right.",
     "{{ 'a b c'.encode().rsplit(maxsplit=1) }} -> [b'a b', b'c']"},
    {"rstrip", "", "self, chars=none, /", run_as_text, "Without white space, or the given bytes, at the end.",
     "{{ ' a '.encode().rstrip() }} -> b' a'"},
    {"split", "", "self, /, sep=none, maxsplit=-1", run_as_text,
     "The parts between separators, or runs of white space.",
     "{{ 'a-b'.encode().split('-'.encode()) }} -> [b'a', b'b']"},
    {"splitlines", "", "self, /, keepends=false", run_as_text, "The lines.",
     "{{ 'a\\nb'.encode().splitlines() }} -> [b'a', b'b']"},
    {"startswith", "", "self, prefix, start=none, end=none, /", run_as_text,
     "Whether the bytes begin with `prefix`, or one of several.",
     "{{ 'ab'.encode().startswith('a'.encode()) }} -> True"},
    {"strip", "", "self, chars=none, /", run_as_text, "Without white space, or the given bytes, at both ends.",
     "{{ ' a '.encode().strip() }} -> b'a'"},
    {"swapcase", "", "self, /", run_as_text, "ASCII letters in the other case.",
     "{{ 'aB'.encode().swapcase() }} -> b'Ab'"},
    {"title", "", "self, /", run_as_text, "Each run of ASCII letters begins with upper case.",
     "{{ 'ab c'.encode().title() }} -> b'Ab C'"},
    {"upper", "", "self, /", run_as_text, "ASCII letters in upper case.", "{{ 'ab'.encode().upper() }} -> b'AB'"},
    {"zfill", "", "self, width, /", run_as_text, "Zeros in front, after a sign.",
     "{{ '-1'.encode().zfill(4) }} -> b'-001'"},
};

}  // namespace

std::span<const Builtin> bytes_text_methods() { return kBytesTextMethods; }

}  // namespace parlance::jinja
