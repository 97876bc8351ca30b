// Runs one operation on values for each line of input, for number_oracle.py to compare with
// python3.
//
// A line is an operation and its operands, separated by blanks; the answer is a value, or '!' with
// the Python class of the failure and its message in hexadecimal. Values are written in prefix
// form:
//   n T F u           None, True, False, an undefined value named "nope"
//   i-12 f<bits>      an int in decimal; the bits of a float in hexadecimal
//   s<hex> m<hex>     str and Markup; p2 s<hex> s<hex> is a rope of that many strings
//   l2 t2 d1          a list or tuple and its members, a dict and its keys and values
// Begin reading at kOperations.

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/hex.h"
#include "value/bigint.h"
#include "value/dict.h"
#include "value/number.h"
#include "value/operators.h"
#include "value/string.h"
#include "value/text_of.h"

namespace parlance {
namespace {

template <typename Number>
Number read_number(std::string_view digits, int base = 10) {
  Number n{};
  std::from_chars(digits.data(), digits.data() + digits.size(), n, base);
  return n;
}

/// Reads the blank-separated words of a line, and values out of them.
class Reader {
 public:
  Reader(Runtime& rt, std::string_view line) : rt_(rt), rest_(line) {}

  std::string_view word() {
    const size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  int number() { return read_number<int>(word()); }
  Value value() {
    const std::string_view w = word();
    const std::string_view body = w.substr(1);
    switch (w[0]) {
      case 'n': return Value::none();
      case 'T': return Value::boolean(true);
      case 'F': return Value::boolean(false);
      case 'u': return undefined();
      case 'i': return integer(body);
      case 'f': return Value::of_real(std::bit_cast<double>(read_number<uint64_t>(body, 16)));
      case 's': return make_computed(rt_, from_hex(body));
      case 'm': return markup(body);
      case 'p': return rope(read_number<int>(body));
      case 'd': return dict(read_number<int>(body));
      default: return list(read_number<int>(body), w[0] == 'l' ? Kind::list : Kind::tuple);
    }
  }

 private:
  Value integer(std::string_view digits) {
    const bool negative = digits[0] == '-';
    return big_from_digits(rt_, digits.substr(negative ? 1 : 0), 10, negative);
  }
  Value undefined() {
    Value v;
    v.undefined =
        rt_.arena.make<UndefinedInfo>(UndefinedInfo{UndefinedInfo::Form::name, Value::view("nope"), Value::none()});
    return v;
  }
  Value markup(std::string_view hex) {
    Value v = make_computed(rt_, from_hex(hex));
    v.flags |= Value::kMarkup;
    return v;
  }
  Value rope(int count) {
    StringBuilder out(rt_);
    for (int i = 0; i < count; ++i) {
      out.append(value());
      rt_.arena.allocate_text(1);  // else neighbours become one piece
    }
    return out.finish();
  }
  Value list(int count, Kind kind) {
    ListBuilder out(rt_);
    for (int i = 0; i < count; ++i) out.append(value());
    return out.finish(kind);
  }
  Value dict(int count) {
    DictBuilder out(rt_);
    for (int i = 0; i < count; ++i) {
      const Value key = value();
      out.set(key, value());
    }
    return out.finish();
  }

  Runtime& rt_;
  std::string_view rest_;
};

std::string write(Runtime& rt, Value v);

std::string write_members(Runtime& rt, char letter, Value list) {
  std::string out = letter + std::to_string(list.list->size);
  for (const Value& item : items(list)) out += ' ' + write(rt, item);
  return out;
}

std::string write_dict(Runtime& rt, Value dict) {
  std::string out = 'd' + std::to_string(dict.dict->size);
  for (const DictEntry& e : entries(dict)) out += ' ' + write(rt, e.key) + ' ' + write(rt, e.value);
  return out;
}

std::string write_real_bits(double d) {
  if (std::isnan(d)) return "fnan";
  char buffer[24];
  std::snprintf(buffer, sizeof buffer, "f%016llx", static_cast<unsigned long long>(std::bit_cast<uint64_t>(d)));
  return buffer;
}

std::string write_integer(Value v) {
  std::string out = "i";
  if (is_big(v)) {
    append_big(out, *v.big);
    return out;
  }
  return out + std::to_string(v.integer);
}

std::string write(Runtime& rt, Value v) {
  switch (v.kind) {
    case Kind::none: return "n";
    case Kind::undefined: return "u";
    case Kind::boolean: return v.integer != 0 ? "T" : "F";
    case Kind::integer: return write_integer(v);
    case Kind::real: return write_real_bits(v.real);
    case Kind::string: return (v.is_markup() ? "m" : "s") + to_hex(text(rt, v));
    case Kind::list: return write_members(rt, 'l', v);
    case Kind::tuple: return write_members(rt, 't', v);
    case Kind::dict: return write_dict(rt, v);
    default: return "?";
  }
}

Value shown(Runtime& rt, const std::string& text) { return make_computed(rt, text); }

template <BinaryOperator op>
Value run_binary(Runtime& rt, Reader& in) {
  const Value a = in.value();
  return binary(rt, op, a, in.value());
}

template <Comparison op>
Value run_compare(Runtime& rt, Reader& in) {
  const Value a = in.value();
  return Value::boolean(compare(rt, op, a, in.value()));
}

Value run_subscript(Runtime& rt, Reader& in) {
  const Value container = in.value();
  return subscript(rt, container, in.value());
}

Value run_slice(Runtime& rt, Reader& in) {
  const Value container = in.value();
  const Value start = in.value();
  const Value stop = in.value();
  return slice(rt, container, start, stop, in.value());
}

Value run_round(Runtime& rt, Reader& in) {
  const Value number = in.value();
  return round_number(rt, number, in.value());
}

Value run_int(Runtime& rt, Reader& in) {
  const int base = in.number();
  return parse_int(rt, text(rt, in.value()), base).value_or(Value::none());
}

Value run_float(Runtime& rt, Reader& in) {
  const std::optional<double> real = parse_real(text(rt, in.value()));
  return real ? Value::of_real(*real) : Value::none();
}

Value run_real_format(Runtime& rt, Reader& in) {
  const std::string_view type = in.word();
  const int precision = in.number();
  const bool alternate = in.number() != 0;
  std::string out;
  append_real(out, in.value().real, type == "0" ? '\0' : type[0], precision, alternate);
  return shown(rt, out);
}

Value run_integer_format(Runtime& rt, Reader& in) {
  const int base = in.number();
  std::string out;
  return append_integer(rt, out, in.value(), base) ? shown(rt, out) : Value::invalid();
}

Value run_same_hash(Runtime&, Reader& in) {
  const uint64_t a = number_hash(in.value());
  return Value::boolean(a == number_hash(in.value()));
}

struct Operation {
  std::string_view name;
  Value (*run)(Runtime&, Reader&);
};

constexpr Operation kOperations[] = {
    {"+", run_binary<BinaryOperator::add>},
    {"-", run_binary<BinaryOperator::subtract>},
    {"*", run_binary<BinaryOperator::multiply>},
    {"/", run_binary<BinaryOperator::divide>},
    {"//", run_binary<BinaryOperator::floor_divide>},
    {"%", run_binary<BinaryOperator::modulo>},
    {"**", run_binary<BinaryOperator::power>},
    {"==", run_compare<Comparison::equal>},
    {"!=", run_compare<Comparison::not_equal>},
    {"<", run_compare<Comparison::less>},
    {"<=", run_compare<Comparison::less_equal>},
    {">", run_compare<Comparison::greater>},
    {">=", run_compare<Comparison::greater_equal>},
    {"in", run_compare<Comparison::in>},
    {"not_in", run_compare<Comparison::not_in>},
    {"neg", [](Runtime& rt, Reader& in) { return negate(rt, in.value()); }},
    {"pos", [](Runtime& rt, Reader& in) { return positive(rt, in.value()); }},
    {"abs", [](Runtime& rt, Reader& in) { return number_abs(rt, in.value()); }},
    {"trunc", [](Runtime& rt, Reader& in) { return integer_from_real(rt, in.value().real); }},
    {"str", [](Runtime& rt, Reader& in) { return to_text(rt, in.value()); }},
    {"subscript", run_subscript},
    {"slice", run_slice},
    {"round", run_round},
    {"int", run_int},
    {"float", run_float},
    {"format_real", run_real_format},
    {"format_integer", run_integer_format},
    {"same_hash", run_same_hash},
};

std::string answer(std::string_view line) {
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  Reader in(rt, line);
  const std::string_view name = in.word();
  for (const Operation& operation : kOperations) {
    if (operation.name != name) continue;
    const Value result = operation.run(rt, in);
    if (!rt.failed()) return write(rt, result);
    return "!" + std::string(facts(rt.failure.code).python_class) + " " + to_hex(rt.failure.message);
  }
  return "?";
}

bool read_line(std::string& line) {
  line.clear();
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
  }
  return !line.empty();
}

}  // namespace
}  // namespace parlance

int main() {
  for (std::string line; parlance::read_line(line);) {
    const std::string out = parlance::answer(line) + "\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
  }
  return 0;
}
