// Values of variables; see variables.h. Begin reading at kWays.
#include "cli/options/variables.h"

#include <algorithm>
#include <set>

#include "base/lowered.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "cli/lines/archive.h"
#include "cli/options/options.h"
#include "cli/options/prompt_options.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"

namespace parlance::cli {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// One KEY=VALUE, and the option it was given to.
struct Given {
  std::string_view option, key, value;
};

Result<std::string> text_value(const Given& given) {
  if (!utf8::is_valid(given.value, false))
    return usage(std::string(given.option) + " " + std::string(given.key) + ": not UTF-8");
  std::string json;
  append_json_string(json, given.value);
  return json;
}

Result<std::string> json_value(const Given& given, const std::string& hint) {
  Document document;
  const std::string name = std::string(given.option) + " " + std::string(given.key);
  const Result<void> parsed = document.parse(given.value, name);
  if (parsed) return std::string(given.value);
  Error::Parts parts = parsed.error().parts();
  parts.code = ErrorCode::usage;
  parts.hint = hint;
  return Error(std::move(parts));
}

bool is_json(std::string_view text) {
  Document document;
  return document.parse(text, "").has_value();
}

/// Why True, NULL, None and NaN are no values: what Python and others call values that JSON has, and numbers that
/// Python's JSON has and JSON has not. "" for any other text.
std::string_view why_foreign(std::string_view text) {
  constexpr std::string_view kNumbers[] = {"nan", "infinity", "-infinity"};
  constexpr std::string_view kWords[] = {"true", "false", "null", "none", "nil", "undefined"};
  const std::string lower = ascii::lowered(text);
  const auto is_one_of = [&](auto& words) {
    return std::find(std::begin(words), std::end(words), lower) != std::end(words);
  };
  if (is_one_of(kNumbers)) return "JSON has no such number";
  return is_one_of(kWords) ? "JSON has true, false and null, in small letters" : "";
}

Result<std::string> guessed_value(const Given& given) {
  const std::string as_text = "a text: --var-text '" + std::string(given.key) + "=" + std::string(given.value) + "'";
  const std::size_t first = given.value.find_first_not_of(" \t\r\n");
  const bool begins_like_json =
      first != given.value.npos && std::string_view("[{\"").find(given.value[first]) != std::string_view::npos;
  if (begins_like_json) return json_value(given, "what begins like JSON has to be JSON; as " + as_text);
  if (given.value == "true" || given.value == "false" || given.value == "null") return std::string(given.value);
  if (const std::string_view why = why_foreign(given.value); !why.empty()) {
    return usage("--var " + std::string(given.key) + "=" + std::string(given.value) + ": " + std::string(why),
                 "a text counts as true, whatever it says; if it is meant as " + as_text);
  }
  return is_json(given.value) ? std::string(given.value) : text_value(given);
}

Result<std::string> file_value(const Given& given) {
  const std::string path(given.value);
  const Result<std::string> text = read_input(path, "a variable");
  if (!text) return text.error();
  const std::size_t packed = path.rfind('.');
  const std::string_view name =
      packing_of(path) == Packing::none ? std::string_view(path) : std::string_view(path).substr(0, packed);
  if (!name.ends_with(".json")) {
    if (!utf8::is_valid(*text, false)) return Error(ErrorCode::file, path + ": not UTF-8");
    std::string json;
    append_json_string(json, *text);
    return json;
  }
  Document document;
  if (Result<void> parsed = document.parse(*text, path); !parsed) return parsed.error();
  return *text;
}

struct Way {
  const char* option;
  const char* type;
  const char* sentence;
  std::vector<std::string> VariableWish::*given;
  Result<std::string> (*value)(const Given&);
};
constexpr Way kWays[] = {
    {"--var", "KEY=VALUE",
     "Set a variable, e.g. enable_thinking=false: JSON if it is JSON,\nelse text; may be repeated",
     &VariableWish::guessed, guessed_value},
    {"--var-text", "KEY=TEXT", "The same, always as text", &VariableWish::texts, text_value},
    {"--var-json", "KEY=JSON", "The same, always as JSON", &VariableWish::jsons,
     [](const Given& given) { return json_value(given, "--var-text takes a text as it is"); }},
    {"--var-file", "KEY=FILE", "The same from a file: JSON if its name ends in .json, else text", &VariableWish::files,
     file_value},
};

}  // namespace

void declare_variables(Options& app, VariableWish& wish) {
  for (const Way& way : kWays)
    app.add_option(way.option, wish.*way.given, way.sentence).placeholder(way.type).one_value();
}

Result<Variables> variables_of(const VariableWish& wish) {
  Variables variables;
  std::set<std::string, std::less<>> of_other_ways;
  for (const Way& way : kWays) {
    std::set<std::string, std::less<>> of_this;
    for (const std::string& text : wish.*way.given) {
      const std::size_t equals = text.find('=');
      if (equals == text.npos || equals == 0) {
        return usage(std::string(way.option) + " takes " + way.type + ", not '" + text + "'",
                     std::string("for example ") + way.option + " name=Ada");
      }
      const Given given{way.option, std::string_view(text).substr(0, equals),
                        std::string_view(text).substr(equals + 1)};
      if (of_other_ways.contains(given.key))
        return usage("the variable '" + std::string(given.key) + "' is set in two ways", "which of them is meant?");
      Result<std::string> value = way.value(given);
      if (!value) return value.error();
      of_this.emplace(given.key);
      variables.emplace_back(given.key, std::move(*value));
    }
    of_other_ways.merge(of_this);
  }
  return variables;
}

}  // namespace parlance::cli
