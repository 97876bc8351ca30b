// Begin reading at plain_json.
#include "serve/json/plain.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json.h"
#include "parlance/json_writer.h"

namespace parlance::serve {

namespace {

void append_plain(std::string& out, Value value);

/// JavaScript writes larger ones with an exponent, and all digits of the largest would be 309.
constexpr double kFirstWithExponent = 1e21;

bool is_whole(double real) { return std::abs(real) < kFirstWithExponent && std::trunc(real) == real; }

/// All digits of a number that is whole.
void append_whole(std::string& out, double real) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f", real == 0 ? 0.0 : real);  // -0 is 0
  out += text.data();
}

void append_object(std::string& out, Value object) {
  std::vector<DictEntry> members(object.members().begin(), object.members().end());
  std::ranges::sort(members, {}, [](const DictEntry& member) { return member.key.text(); });
  std::string_view before = "{";
  for (const DictEntry& member : members) {
    append_json_string(out += std::exchange(before, ", "), member.key.text());
    append_plain(out += ": ", member.value);
  }
  out += members.empty() ? "{}" : "}";
}

void append_list(std::string& out, Value list) {
  std::string_view before = "[";
  for (const Value& item : list.items()) append_plain(out += std::exchange(before, ", "), item);
  out += list.items().empty() ? "[]" : "]";
}

void append_plain(std::string& out, Value value) {
  if (value.is(Kind::real) && is_whole(value.real))
    append_whole(out, value.real);
  else if (value.is(Kind::dict))
    append_object(out, value);
  else if (value.is_sequence())
    append_list(out, value);
  else
    out += json_text(value);
}

}  // namespace

std::string plain_json(Value value) {
  std::string out;
  append_plain(out, value);
  return out;
}

std::string real_json(double value) {
  char text[32];
  const auto [end, failed] = std::to_chars(text, text + sizeof text, value);
  return failed == std::errc() ? std::string(text, end) : "0";
}

}  // namespace parlance::serve
