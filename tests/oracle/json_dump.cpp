// What this library makes of JSON texts, for json_oracle.py to compare with Python's json.
//
// Standard input: for each text its style (one digit, see kStyles), a blank and the text in
// hexadecimal, on one line. Standard output: for each text one line for each way to read it: "ok",
// json.dumps and repr in hexadecimal, or "error", the Python class, the byte offset (-1: none) and
// the message in hexadecimal. Begin reading at main().
#include <array>
#include <iostream>
#include <string>
#include <string_view>

#include "json/document.h"
#include "json/json.h"
#include "json/read.h"
#include "oracle/hex.h"
#include "parlance/json.h"
#include "value/text_of.h"

namespace {

using parlance::JsonStyle;
using parlance::Value;

std::array<JsonStyle, 8> make_styles() {
  std::array<JsonStyle, 8> styles{};
  styles[1].ensure_ascii = true;
  styles[2].sort_keys = true;
  styles[3].pretty = true;
  styles[3].indent = "  ";
  styles[3].item_separator = ",";
  styles[4] = parlance::kCompactJson;
  styles[5].html_safe = styles[5].ensure_ascii = styles[5].sort_keys = true;
  styles[6].html_safe = true;
  styles[7].pretty = true;
  styles[7].indent = "\t-";
  return styles;
}

const std::array<JsonStyle, 8> kStyles = make_styles();

void print_error(std::string_view python_class, long long offset, std::string_view message) {
  std::cout << "error " << python_class << ' ' << offset << ' ' << to_hex(message) << '\n';
}

void print_value(parlance::Runtime& rt, Value v, const JsonStyle& style) {
  const Value json = parlance::write_json(rt, v, style);
  const Value repr = json.is_invalid() ? json : parlance::to_repr(rt, v);
  if (repr.is_invalid()) return print_error(parlance::facts(rt.failure.code).python_class, -1, rt.failure.message);
  std::cout << "ok " << to_hex(parlance::text(rt, json)) << ' ' << to_hex(parlance::text(rt, repr)) << '\n';
}

void print_error(const parlance::Error& error) {
  print_error(error.python_class(), static_cast<long long>(error.where().begin), error.message());
}

void print(parlance::Runtime& rt, const parlance::Result<Value>& read, const JsonStyle& style) {
  if (!read) return print_error(read.error());
  print_value(rt, *read, style);
}

void dump(parlance::Document& document, std::string_view text, const JsonStyle& style) {
  parlance::Limits limits;
  limits.depth = 2000;
  parlance::Arena arena;
  parlance::Runtime rt(arena, limits);
  const auto root = [&](const parlance::Result<void>& parsed) {
    return parsed ? parlance::Result<Value>(document.root()) : parlance::Result<Value>(parsed.error());
  };
  print(rt, root(document.parse(text)), style);
  print(rt, root(inside_of(document).consume(std::string(text), "<input>")), style);
  print(rt, parlance::read_json_into(rt, Value::view(text)), style);
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  parlance::Document document;
  for (std::string line; std::getline(std::cin, line);) {
    dump(document, from_hex(std::string_view(line).substr(2)), kStyles[static_cast<std::size_t>(line[0] - '0')]);
  }
}
