// fmt.Print and its kin over values of every kind. Scalars are in print_scalar.cpp, printf's verbs
// in print_format.cpp.
//
// Begin reading at Printer::argument. Containers recurse under the limit of depth.
#include "gotemplate/print.h"

#include "gotemplate/json.h"

namespace parlance::gotemplate {

constexpr std::string_view kNil = "<nil>";

/// fmt.Print's rule: a blank stands between two operands where neither is a string.
void Printer::print(std::span<const Value> arguments) {
  bool after_text = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_string = is_text(arguments[i]);
    if (i > 0 && !is_string && !after_text) sink_.put(' ');
    argument(arguments[i]);
    after_text = is_string;
    sink_.from_nothing();
  }
}

void Printer::println(std::span<const Value> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) sink_.put(' ');
    argument(arguments[i]);
    sink_.from_nothing();
  }
  sink_.put('\n');
}

/// One operand, whatever holds it. %T and %p come before methods, as in printArg: they never call String().
void Printer::argument(Value v, char32_t verb) {
  v = unbox(v);
  if (v.is_undefined()) {
    if (verb == 'T' || verb == 'v') return padded(kNil);
    return bad_verb(v, verb);
  }
  if (verb == 'T') return padded(first_code_points_of(facts(type_of(v)).name));
  if (verb == 'p') return address(v, verb);
  if (is_text(v)) return string(v, verb);
  if (!methods(v, verb)) value(v, verb, 0);
}

/// Stringers of the data model. None has GoString or Error.
bool Printer::methods(Value v, char32_t verb) {
  if (erroring_) return false;
  if (verb == 'w') {
    bad_verb(v, verb);
    return true;
  }
  const bool wants_text = verb == 'v' || verb == 's' || verb == 'x' || verb == 'X' || verb == 'q';
  if (format_.sharp_v || !wants_text || !has_string_method(type_of(v))) return false;
  sink_.pause();
  const Value text = string_method(rt_, v);
  if (!text.is_invalid()) string(text, verb);
  return true;
}

/// %!d(string=hi). While it prints the operand no method is called and no verb is bad: Go's flag against recursion.
void Printer::bad_verb(Value v, char32_t verb) {
  erroring_ = true;
  sink_.put("%!");
  char bytes[4];
  sink_.put({bytes, utf8::encode(verb, bytes)});
  sink_.put('(');
  if (v.is_undefined()) {
    sink_.put(kNil);
  } else {
    sink_.put(facts(type_of(v)).name);
    sink_.put('=');
    value(v, 'v', 0);
    sink_.from_nothing();
  }
  sink_.put(')');
  erroring_ = false;
}

/// reflect-driven printing; `depth` > 0 inside a container.
void Printer::value(Value v, char32_t verb, int depth) {
  const Nesting nesting(rt_);
  if (!nesting.ok() || !rt_.charge(1)) return;
  if (is_boxed(v)) {
    v = unbox(v);
    if (v.is_undefined()) return sink_.put(format_.sharp_v ? "interface {}(nil)" : kNil);
    // A value in an interface is one level deeper than the interface.
    depth = depth == 0 ? 1 : depth;
  }
  if (v.is_undefined()) {
    if (verb == 'v' || depth == 0) return sink_.put(depth == 0 ? "<invalid reflect.Value>" : kNil);
    return bad_verb(v, verb);
  }
  if (depth > 0 && methods(v, verb)) return;
  const Type type = type_of(v);
  switch (facts(type).kind) {
    case GoKind::boolean: return boolean(v, verb);
    case GoKind::integer:
    case GoKind::byte: return integer(v, verb);
    case GoKind::real: return real(real_of(v), verb, v);
    case GoKind::complex: return complex(v, verb);
    case GoKind::string: return string(v, verb);
    case GoKind::map: return map(v, verb, depth);
    case GoKind::structure: return structure(v, type, verb, depth);
    case GoKind::slice: return slice(v, verb, depth);
    case GoKind::pointer: return pointer(v, verb, depth);
    case GoKind::callable: return address(v, verb);
    case GoKind::invalid:
    case GoKind::interface: return sink_.put(kNil);
  }
}

void Printer::map(Value v, char32_t verb, int depth) {
  const Type type = type_of(v);
  sink_.from(v);
  if (format_.sharp_v) {
    sink_.put(facts(type).name);
    if (is_nil(v)) return sink_.put("(nil)");
    sink_.put('{');
  } else {
    sink_.put("map[");
  }
  const bool boxes = facts(type).element == Type::any;
  bool first = true;
  const auto entries = is_nil(v) ? std::span<const DictEntry>{} : sorted_entries(rt_, *v.dict);
  for (const DictEntry& entry : entries) {
    sink_.from(v);
    if (!first) sink_.put(format_.sharp_v ? ", " : " ");
    first = false;
    value(entry.key, verb, depth + 1);
    sink_.from(v);
    sink_.put(':');
    value(boxes ? box(entry.value) : entry.value, verb, depth + 1);
    if (rt_.failed()) return;
  }
  sink_.from(v);
  sink_.put(format_.sharp_v ? '}' : ']');
}

void Printer::structure(Value v, Type type, char32_t verb, int depth) {
  sink_.from_nothing();
  if (format_.sharp_v) sink_.put(facts(type).name);
  sink_.put('{');
  if (type == Type::ordered_body) {  // its one field is a pointer, unexported
    if (format_.plus_v || format_.sharp_v) sink_.put("om:");
    address(v, verb);
  }
  std::size_t i = 0;
  for (const Field& field : fields_of(type)) {
    if (i > 0) sink_.put(format_.sharp_v ? ", " : " ");
    if (format_.plus_v || format_.sharp_v) {
      sink_.put(field.name);
      sink_.put(':');
    }
    const Value member = v.list->items[i++];
    value(field.type == Type::any ? box(member) : member, verb, depth + 1);
    sink_.from_nothing();
  }
  sink_.put('}');
}

void Printer::slice(Value v, char32_t verb, int depth) {
  const Type type = type_of(v);
  const bool is_bytes = facts(type).element == Type::byte;
  const bool as_text = verb == 's' || verb == 'q' || verb == 'x' || verb == 'X';
  // []byte itself is known to fmt; a type made of it only where it is printed as text.
  if (is_bytes && (as_text || (depth == 0 && type == Type::bytes && (verb == 'v' || verb == 'd'))))
    return bytes(v, verb);
  sink_.from(v);
  if (format_.sharp_v) {
    sink_.put(facts(type).name);
    if (is_nil(v)) return sink_.put("(nil)");
  }
  sink_.put(format_.sharp_v ? '{' : '[');
  const std::size_t size = length_of(v);
  for (std::size_t i = 0; i < size && !rt_.failed(); ++i) {
    sink_.from(v);
    if (i > 0) sink_.put(format_.sharp_v ? ", " : " ");
    value(element(v, i), verb, depth + 1);
  }
  sink_.from(v);
  sink_.put(format_.sharp_v ? '}' : ']');
}

/// fmtBytes.
void Printer::bytes(Value v, char32_t verb) {
  const std::string_view data = is_nil(v) ? std::string_view() : sink_.flat(v);
  sink_.from(v);
  switch (verb) {
    case 's': return padded(format_.has_precision ? first_code_points_of(data) : data);
    case 'q': return quoted_text(data);
    case 'x':
    case 'X': return hex_text(data, verb == 'X');
    default: break;
  }
  if (format_.sharp_v) {
    sink_.put("[]byte");
    if (is_nil(v)) return sink_.put("(nil)");
  }
  sink_.put(format_.sharp_v ? '{' : '[');
  for (std::size_t i = 0; i < data.size() && !rt_.failed(); ++i) {
    const auto byte = static_cast<unsigned char>(data[i]);
    if (i > 0) sink_.put(format_.sharp_v ? ", " : " ");
    if (format_.sharp_v) {
      hexadecimal(byte, true);
    } else {
      whole(byte, false, 10, verb, false);
    }
  }
  sink_.put(format_.sharp_v ? '}' : ']');
}

/// fmt writes &{…} for a pointer to a struct at the top only; deeper it writes an address, which also ends cycles.
void Printer::pointer(Value v, char32_t verb, int depth) {
  if (depth > 0 || is_nil(v)) return address(v, verb);
  const Type target = facts(type_of(v)).element;
  sink_.put('&');
  structure(v, target, verb, depth + 1);
}

/// Addresses are not Go's, but they look like it, and equal pointers print alike.
void Printer::address(Value v, char32_t verb) {
  const GoKind kind = facts(type_of(v)).kind;
  const bool has_address = kind == GoKind::pointer || kind == GoKind::map || kind == GoKind::slice ||
                           kind == GoKind::callable || kind == GoKind::structure;
  if (!has_address) return bad_verb(v, verb);
  constexpr std::uint64_t kSomewhere = 0x7ec000000000;
  const std::uint64_t where = is_nil(v) ? 0 : kSomewhere;
  sink_.from_nothing();
  switch (verb) {
    case 'v':
      if (format_.sharp_v) {
        sink_.put('(');
        sink_.put(facts(type_of(v)).name);
        sink_.put(")(");
        if (where == 0) {
          sink_.put("nil");
        } else {
          hexadecimal(where, true);
        }
        return sink_.put(')');
      }
      if (where == 0) return padded(kNil);
      return hexadecimal(where, !format_.sharp);
    case 'p': return hexadecimal(where, !format_.sharp);
    case 'b':
    case 'o':
    case 'd': return whole(where, false, verb == 'b' ? 2 : verb == 'o' ? 8 : 10, verb, false);
    case 'x':
    case 'X': return whole(where, false, 16, verb, verb == 'X');
    default: return bad_verb(v, verb);
  }
}

Value printed(Runtime& rt, Value v) {
  Sink sink(rt);
  Printer(rt, sink).argument(v);
  return sink.finish();
}

/// For messages of errors, where Go formats the value itself and not its type's name.
std::string display(Runtime& rt, Value v, char32_t verb) {
  Sink sink(rt);
  Printer printer(rt, sink);
  if (unbox(v).is_undefined()) return verb == 'v' ? "<nil>" : "%!s(<nil>)";
  printer.argument(v, verb);
  const Value text = sink.finish();
  return text.is_invalid() ? std::string() : std::string(parlance::text(rt, text));
}

}  // namespace parlance::gotemplate
