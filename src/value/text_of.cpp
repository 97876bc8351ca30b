// str() and repr(). What a string holds unescaped is shared with it; brackets and commas of a
// container read from the input are derived from that container.
//
// Sources: CPython 3.11 Objects/unicodeobject.c (unicode_repr), Objects/listobject.c, tupleobject.c
// and dictobject.c (their repr functions); markupsafe for Markup. Begin reading at Printer::repr.
#include "value/text_of.h"

#include <array>

#include "base/unicode.h"
#include "base/utf8.h"
#include "value/bigint.h"
#include "value/dict.h"
#include "value/number.h"

namespace parlance {
namespace {

/// Objects have no address that would be the same in the next render, so all are printed with this
/// one.
constexpr std::string_view kAddress = "0x7f0000000000";

/// The text of a number that is no big integer, in `buffer`; of None and the booleans too.
std::string_view scalar_text(Value v, std::array<char, kNumberText>& buffer) {
  if (v.kind == Kind::none) return "None";
  if (v.kind == Kind::boolean) return v.integer != 0 ? "True" : "False";
  char* end = v.kind == Kind::integer ? write_int(buffer.data(), v.integer) : write_real(buffer.data(), v.real);
  return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

/// "\n", "\x1f", "\u200b", "\U000e0001" and their kind.
std::string_view escape_of(char32_t c, std::array<char, 10>& buffer) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kNamed = "\n\r\t\\'";
  constexpr std::string_view kLetters = "nrt\\'";
  buffer[0] = '\\';
  if (const std::size_t i = c < 0x80 ? kNamed.find(static_cast<char>(c)) : kNamed.npos; i != kNamed.npos) {
    buffer[1] = kLetters[i];
    return {buffer.data(), 2};
  }
  const std::size_t digits = c <= 0xFF ? 2 : c <= 0xFFFF ? 4 : 8;
  buffer[1] = digits == 2 ? 'x' : digits == 4 ? 'u' : 'U';
  for (std::size_t i = 0; i < digits; ++i) buffer[1 + digits - i] = kHex[c >> (4 * i) & 0xF];
  return {buffer.data(), 2 + digits};
}

class Printer {
 public:
  explicit Printer(Runtime& rt) : rt_(rt), out_(rt) {}

  /// Appends repr(v); false after a failure.
  bool repr(Value v);
  Value finish() { return out_.finish(); }

 private:
  void bare_string(Value s);
  void quoted_piece(std::string_view piece, char quote);
  bool string(Value s);
  bool sequence(Value v);
  bool dict(Value v);
  bool object(Value v);
  /// Text that belongs to a value itself.
  void own(std::string_view constant, Value v);

  Runtime& rt_;
  StringBuilder out_;
};

void Printer::own(std::string_view constant, Value v) {
  if (v.kind != Kind::string && v.origin != 0) {
    out_.append_derived(constant, v);
  } else {
    out_.append_static(constant);
  }
}

bool Printer::repr(Value v) {
  if (rt_.failed() || !rt_.charge(1)) return false;
  switch (v.kind) {
    case Kind::invalid: return false;
    case Kind::undefined: out_.append_static("Undefined"); return true;
    case Kind::string: return string(v);
    case Kind::list:
    case Kind::tuple: return sequence(v);
    case Kind::dict: return dict(v);
    case Kind::object: return object(v);
    default: break;
  }
  if (is_big(v)) {
    out_.append(integer_text(rt_, v));
    return !rt_.failed();
  }
  std::array<char, kNumberText> buffer;
  out_.append_derived(scalar_text(v, buffer), v);
  return true;
}

/// The single quote, unless the text has that and no double quote.
char quote_for(Value s) {
  bool has_single = false;
  bool has_double = false;
  for_each_piece(s, [&](std::string_view piece) {
    has_single = has_single || piece.find('\'') != piece.npos;
    has_double = has_double || piece.find('"') != piece.npos;
  });
  return has_single && !has_double ? '"' : '\'';
}

/// Runs that print as they are stay pieces of the original.
void Printer::quoted_piece(std::string_view piece, char quote) {
  const char* const end = piece.data() + piece.size();
  const char* run = piece.data();
  for (const char* p = run; p < end;) {
    const utf8::Decoded d = utf8::decode(p, end);
    const bool special = d.code_point == '\\' || (d.code_point == '\'' && quote == '\'');
    if (!special && unicode::is_printable(d.code_point)) {
      p += d.size;
      continue;
    }
    std::array<char, 10> buffer;
    const std::string_view escape = escape_of(d.code_point, buffer);
    out_.append(Value::view({run, static_cast<std::size_t>(p - run)}));
    out_.append_derived(escape, Value::view({p, d.size}));
    p += d.size;
    run = p;
  }
  out_.append(Value::view({run, static_cast<std::size_t>(end - run)}));
}

void Printer::bare_string(Value s) {
  const char quote = quote_for(s);
  const std::string_view mark = quote == '\'' ? "'" : "\"";
  out_.append_static(mark);
  for_each_piece(s, [&](std::string_view piece) { quoted_piece(piece, quote); });
  out_.append_static(mark);
}

bool Printer::string(Value s) {
  if (!rt_.charge_bytes(s.size)) return false;
  if (s.is_markup()) out_.append_static("Markup(");
  bare_string(s);
  if (s.is_markup()) out_.append_static(")");
  return !rt_.failed();
}

bool Printer::sequence(Value v) {
  const Printing here(rt_, v.list);
  if (!here.ok()) return false;
  const bool is_list = v.kind == Kind::list;
  if (here.again()) {
    own(is_list ? "[...]" : "(...)", v);
    return true;
  }
  own(is_list ? "[" : "(", v);
  for (std::uint32_t i = 0; i < v.list->size; ++i) {
    if (i != 0) own(", ", v);
    if (!repr(v.list->items[i])) return false;
  }
  if (!is_list && v.list->size == 1) own(",", v);
  own(is_list ? "]" : ")", v);
  return true;
}

bool Printer::dict(Value v) {
  const Printing here(rt_, v.dict);
  if (!here.ok()) return false;
  if (here.again()) {
    own("{...}", v);
    return true;
  }
  own("{", v);
  for (std::uint32_t i = 0; i < v.dict->size; ++i) {
    if (i != 0) own(", ", v);
    if (!repr(v.dict->entries[i].key)) return false;
    own(": ", v);
    if (!repr(v.dict->entries[i].value)) return false;
  }
  own("}", v);
  return true;
}

bool Printer::object(Value v) {
  const ObjectType& type = *v.object->type;
  const Nesting nest(rt_);
  if (!nest.ok()) return false;
  if (type.to_text != nullptr) {
    const Value text = type.to_text(rt_, v.object, true);
    if (text.is_invalid()) return false;
    out_.append(text);
    return true;
  }
  for (const std::string_view part :
       {std::string_view("<"), type.name, std::string_view(" object at "), kAddress, std::string_view(">")})
    out_.append_static(part);
  return true;
}

/// What an undefined value prints. Who asked is told of it, some times at most: a loop may print one without end.
Value nothing(Runtime& rt, Value v) {
  constexpr std::size_t kMostNoted = 256;
  if (rt.printed_undefined != nullptr && v.undefined != nullptr && rt.printed_undefined->size() < kMostNoted) {
    rt.printed_undefined->push_back(v.undefined);
  }
  return make_static("");
}

}  // namespace

Value to_repr(Runtime& rt, Value v) {
  Printer printer(rt);
  return printer.repr(v) ? printer.finish() : Value::invalid();
}

Value to_text(Runtime& rt, Value v) {
  switch (v.kind) {
    case Kind::string:
    case Kind::invalid: return v;
    case Kind::undefined: return nothing(rt, v);
    case Kind::none:
    case Kind::boolean:
    case Kind::integer:
    case Kind::real: {
      if (is_big(v)) return integer_text(rt, v);
      std::array<char, kNumberText> buffer;
      return make_derived(rt, scalar_text(v, buffer), v);
    }
    case Kind::object:
      if (v.object->type->to_text != nullptr) return v.object->type->to_text(rt, v.object, false);
      break;
    default: break;
  }
  return to_repr(rt, v);
}

}  // namespace parlance
