// Builtin: one row of a function table (filter, test, method, global), the only description of it anywhere.
//
// Signatures are written as in Python and parsed by the compiler (consteval), so tables cost nothing at
// process start. call.h binds arguments to them. Documentation, listings and "did you mean" read the rows.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "value/runtime.h"

namespace parlance {

/// What a parameter is when the caller leaves it out.
enum class Default : std::uint8_t { required, none, boolean, integer, text, missing };

struct Parameter {
  std::string_view name;
  Default kind = Default::required;
  std::int64_t number = 0;  ///< integer, boolean
  std::string_view string;  ///< text
};

/// The parsed form of e.g. "value, width=79, *, break_long=true" or "self, /" or "value, *args, **kwargs".
/// Defaults are none, true, false, an integer, 'text', or `missing`, which the builtin sees as undefined with kMissing.
struct Signature {
  static constexpr std::size_t kMost = 10;
  Parameter parameters[kMost]{};
  std::uint8_t count = 0;
  std::uint8_t required = 0;         ///< leading parameters without a default
  std::uint8_t positional_only = 0;  ///< leading parameters that keywords cannot name (before "/")
  std::uint8_t keyword_only = 255;   ///< first parameter that only keywords can name (after "*")
  bool varargs = false;              ///< ends in *args: rest() of the call
  bool kwargs = false;               ///< ends in **kwargs: keywords() of the call
};

namespace detail {
constexpr bool is_blank(char c) { return c == ' '; }
constexpr std::string_view trimmed(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}
constexpr void set_default(Parameter& p, std::string_view text) {
  if (text == "none") {
    p.kind = Default::none;
  } else if (text == "missing") {
    p.kind = Default::missing;
  } else if (text == "true" || text == "false") {
    p.kind = Default::boolean;
    p.number = text == "true";
  } else if (text.front() == '\'') {
    p.kind = Default::text;
    p.string = text.substr(1, text.size() - 2);
  } else {
    p.kind = Default::integer;
    bool negative = text.front() == '-';
    for (char c : text.substr(negative ? 1 : 0)) p.number = p.number * 10 + (c - '0');
    if (negative) p.number = -p.number;
  }
}
/// End of the item that starts at `text`: the next comma outside quotes.
constexpr std::size_t item_end(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') quoted = !quoted;
    if (text[i] == ',' && !quoted) return i;
  }
  return text.size();
}
constexpr void add_item(Signature& s, std::string_view item) {
  if (item == "/") {
    s.positional_only = s.count;
  } else if (item == "*") {
    s.keyword_only = s.count;
  } else if (item.substr(0, 2) == "**") {
    s.kwargs = true;
  } else if (item.front() == '*') {
    s.varargs = true;
    s.keyword_only = s.count;
  } else {
    std::size_t equals = item.find('=');
    Parameter& p = s.parameters[s.count++];
    p.name = trimmed(item.substr(0, equals));
    if (equals != std::string_view::npos) set_default(p, trimmed(item.substr(equals + 1)));
    if (p.kind == Default::required && s.keyword_only == 255) s.required = s.count;
  }
}
}  // namespace detail

consteval Signature signature(std::string_view text) {
  Signature s;
  while (!text.empty()) {
    std::size_t end = detail::item_end(text);
    detail::add_item(s, detail::trimmed(text.substr(0, end)));
    text.remove_prefix(end == text.size() ? end : end + 1);
  }
  return s;
}

struct Call;
using BuiltinFunction = Value (*)(Call&);

/// One filter, test, method or global.
struct Builtin {
  std::string_view name;     ///< canonical name, as templates write it
  std::string_view aliases;  ///< other names, separated by blanks; may be empty
  /// as written in Python; the first is the value for filters and tests, self for methods
  std::string_view parameters;
  BuiltinFunction run;
  std::string_view sentence;  ///< what it gives, one sentence
  std::string_view example;   ///< a template expression and its result: "{{ 'a'|upper }} -> A"
  Signature bound{};
  bool writes_to_target;  ///< it uses Call::target, and its result is text

  consteval Builtin(std::string_view name_in, std::string_view aliases_in, std::string_view parameters_in,
                    BuiltinFunction run_in, std::string_view sentence_in, std::string_view example_in,
                    bool writes_to_target_in = false)
      : name(name_in),
        aliases(aliases_in),
        parameters(parameters_in),
        run(run_in),
        sentence(sentence_in),
        example(example_in),
        bound(signature(parameters_in)),
        writes_to_target(writes_to_target_in) {}
};

/// The row with this name or alias, or null.
const Builtin* find_builtin(std::span<const Builtin> table, std::string_view name);
/// The name or alias in the tables nearest to a misspelt one (edit distance at most 2 and a third of its length), or
/// "".
std::string nearest_name(std::span<const Builtin> table, std::string_view name);

}  // namespace parlance
