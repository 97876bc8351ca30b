// How long grammars take to make, in the formats that are named (built in, or files): requests with 1, 10 and 100 tools
// of realistic size, to each syntax. Prints a table, the median of some runs in ms of the processor's time. Begin
// reading at tools_of.
#include "parlance/grammar.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "parlance/source.h"

namespace {

using namespace parlance;

/// Tools as servers of the Model Context Protocol declare them: ten members, nested objects, enums, patterns, bounds.
std::string tools_of(std::size_t count) {
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    out += i > 0 ? ", " : "";
    out += R"({"type": "function", "function": {"name": "service_)" + n +
           R"(_update_record", "parameters": {"type": "object",
      "$defs": {"filter_)" +
           n +
           R"(": {"type": "object", "properties": {"field": {"type": "string", "minLength": 1, "maxLength": 64},
          "op": {"enum": ["eq", "ne", "lt", "gt", "in", "like"]}, "value": {"anyOf": [{"type": "string"}, {"type": )"
           R"("number"}, {"type": "boolean"}]},
          "and": {"type": "array", "items": {"$ref": "#/$defs/filter_)" +
           n + R"("}}}, "required": ["field", "op"]}},
      "properties": {
        "id_)" +
           n +
           R"(": {"type": "string", "format": "uuid"},
        "title": {"type": "string", "maxLength": 10000},
        "state": {"type": "string", "enum": ["open", "closed", "merged", "draft", "archived"]},
        "priority": {"type": "integer", "minimum": 0, "maximum": 1000},
        "ratio": {"type": "number", "minimum": 0, "maximum": 1},
        "due": {"type": ["string", "null"], "format": "date-time"},
        "labels": {"type": "array", "items": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,30}$"}, "maxItems": )"
           R"(20, "uniqueItems": true},
        "assignee": {"type": "object", "properties": {"login": {"type": "string"}, "email": {"type": "string", )"
           R"("format": "email"}, "notify": {"type": "boolean", "default": true}}, "required": ["login"], )"
           R"("additionalProperties": false},
        "filters": {"type": "array", "items": {"$ref": "#/$defs/filter_)" +
           n + R"("}},
        "metadata": {"type": "object", "additionalProperties": {"type": "string"}}},
      "required": ["id_)" +
           n + R"(", "state"]}}})";
  }
  return out + "]";
}

double median_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <typename Work>
double time_of(Work work) {
  std::vector<double> times;
  for (int i = 0; i < 15; ++i) {
    const std::clock_t start = std::clock();
    work();
    times.push_back(static_cast<double>(std::clock() - start) * 1000 / CLOCKS_PER_SEC);
  }
  return median_of(std::move(times));
}

}  // namespace

/// The formats that are named, built in or files; without names two that are built in.
std::vector<std::pair<std::string, std::string>> formats_of(int count, char** names) {
  std::vector<std::string> all(names + 1, names + count);
  if (all.empty()) all = {"terminal-agent", "chatglm3"};
  std::vector<std::pair<std::string, std::string>> formats;
  for (const std::string& name : all) {
    const auto known = find_format(name);
    std::ifstream file(name);
    const std::size_t slash = name.rfind('/') + 1;
    formats.emplace_back(name.substr(slash, name.find('.', slash) - slash),
                         known ? std::string(known->reply) : std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return formats;
}

int main(int count, char** names) {
  std::printf("%-16s %6s %9s %9s %9s %9s %9s %10s   ms\n", "", "tools", "make", "gbnf", "lark", "tag", "schema",
              "gbnf bytes");
  for (const auto& [name, reply] : formats_of(count, names)) {
    const auto format = ReplyFormat::from_json(reply);
    if (!format) return 1;
    for (const std::size_t tools : {1, 10, 100}) {
      GrammarOptions options;
      options.tools = tools_of(tools);
      const auto grammar = make_grammar(*format, options);
      if (!grammar) return 1;
      const double made = time_of([&] { return make_grammar(*format, options).has_value(); });
      std::printf("%-16s %6zu %9.2f", name.c_str(), tools, made);
      for (const auto syntax :
           {GrammarSyntax::gbnf, GrammarSyntax::lark, GrammarSyntax::structural_tag, GrammarSyntax::json_schema}) {
        std::printf(" %9.2f", time_of([&] { return grammar->to_text(syntax).size(); }));
      }
      std::printf(" %10zu\n", grammar->to_text(GrammarSyntax::gbnf).size());
    }
  }
}
