// Runs methods, `%` formatting and format specs for method_oracle.py: one request a line on
// standard input, one answer a line on standard output.
//
// A request is blank-separated tokens: an operation (call, percent or spec) and values in a prefix
// notation (see Reader::value). An answer is "=" and the repr() of the result in hexadecimal, or
// "!", the Python class of the failure and its message in hexadecimal. Begin reading at main.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "jinja/objects/builtins.h"
#include "jinja/objects/methods.h"
#include "jinja/objects/rare/bytes.h"
#include "oracle/hex.h"
#include "value/format.h"
#include "value/number.h"
#include "value/text_of.h"

namespace parlance {
namespace {

class Reader {
 public:
  Reader(Runtime& rt, const std::string& line) : rt_(rt), in_(line) {}

  std::string word() {
    std::string token;
    in_ >> token;
    return token;
  }

  /// n, t, F: None, True, False. u: undefined. i12, f0x1p+0: numbers. s6162, m6162, b6162: a
  /// string, a Markup, bytes, in hexadecimal. r616263: a string in pieces of one character. l2, T2:
  /// a list or a tuple of the next two values. d1: a dict of the next key and value.
  Value value() {
    const std::string token = word();
    const std::string rest = token.substr(1);
    switch (token[0]) {
      case 'n': return Value::none();
      case 't': return Value::boolean(true);
      case 'F': return Value::boolean(false);
      case 'u': return undefined();
      case 'i': return integer(rest);
      case 'f': return Value::of_real(std::strtod(rest.c_str(), nullptr));
      case 's': return make_computed(rt_, from_hex(rest));
      case 'm': return with_markup(make_computed(rt_, from_hex(rest)), true);
      case 'r': return rope(from_hex(rest));
      case 'b': return jinja::make_bytes(rt_, from_hex(rest));
      case 'l': return list(std::atoi(rest.c_str()), Kind::list);
      case 'T': return list(std::atoi(rest.c_str()), Kind::tuple);
      default: return dict(std::atoi(rest.c_str()));
    }
  }

 private:
  Value undefined() {
    Value v;
    v.undefined = rt_.arena.make<UndefinedInfo>(UndefinedInfo{UndefinedInfo::Form::name, Value::view("x"), Value()});
    return v;
  }
  Value integer(const std::string& digits) {
    const bool negative = digits[0] == '-';
    return integer_from_digits(rt_, std::string_view(digits).substr(negative ? 1 : 0), 10, negative);
  }
  Value rope(const std::string& bytes) {
    StringBuilder out(rt_);
    const std::string_view copy = rt_.arena.copy_text(bytes);
    for (std::size_t at = 0; at < copy.size();) {
      std::size_t end = at + 1;
      while (end < copy.size() && (copy[end] & 0xC0) == 0x80) ++end;
      out.append_computed(copy.substr(at, end - at));
      rt_.arena.allocate_text(1);
      at = end;
    }
    return out.finish();
  }
  Value list(int size, Kind kind) {
    std::vector<Value> members;
    for (int i = 0; i < size; ++i) members.push_back(value());
    return copy_list(rt_, members, kind);
  }
  Value dict(int size) {
    DictBuilder out(rt_);
    for (int i = 0; i < size; ++i) {
      const Value key = value();
      out.set(key, value());
    }
    return out.finish();
  }

  Runtime& rt_;
  std::istringstream in_;
};

/// call <name> <self> <tuple of arguments> <dict of keywords>
Value call(Runtime& rt, Reader& in) {
  const std::string name = in.word();
  const Value self = in.value();
  const Value positional = in.value();
  const Value keywords = in.value();
  const Builtin* row = jinja::find_method(self, name);
  if (row == nullptr) {
    Value out;
    switch (jinja::find_attribute(rt, self, name, out)) {
      case jinja::AttributeKind::data: return out;
      case jinja::AttributeKind::unsafe: return rt.fail(ErrorCode::security, name);
      case jinja::AttributeKind::absent: break;
    }
    return rt.fail(ErrorCode::attribute, name);
  }
  const PassedArguments arguments{items(positional).data(), positional.list->size, keywords.dict->entries,
                                  keywords.dict->size};
  return call_builtin(rt, *row, &self, arguments);
}

Value run(Runtime& rt, Reader& in) {
  const std::string operation = in.word();
  if (operation == "call") return call(rt, in);
  const Value first = in.value();
  const Value second = in.value();
  if (operation == "percent") return format_percent(rt, first, second);
  return format_value(rt, first, text(rt, second));
}

std::string answer(const std::string& line) {
  Arena arena;
  Limits limits;
  limits.steps = 5'000'000;
  limits.memory_bytes = 64 << 20;
  arena.set_limit(limits.memory_bytes);
  Runtime rt(arena, limits);
  Reader in(rt, line);
  Value result = run(rt, in);
  if (!result.is_invalid()) result = to_repr(rt, result);
  if (!rt.failed()) return "=" + to_hex(text(rt, result));
  return "!" + std::string(facts(rt.failure.code).python_class) + " " + to_hex(rt.failure.message);
}

/// The example of every row in hexadecimal, for the oracle to run through Jinja2.
void print_examples() {
  for (const jinja::MethodTable& table : jinja::method_tables()) {
    if (table.needs_allow_changes) continue;  // changes_oracle.py has them
    for (const Builtin& row : table.rows) std::cout << to_hex(row.example) << '\n';
  }
}

}  // namespace
}  // namespace parlance

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "examples") {
    parlance::print_examples();
    return 0;
  }
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) std::cout << parlance::answer(line) << '\n';
  return 0;
}
