// Running and comparing one case. Begin reading at run_template.
#include "case_run.h"

#include <algorithm>

#include "base/utf8.h"
#include "json/json.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance::testing {
namespace {

using Apply = bool (*)(Settings&, Value);

bool set_flag(bool& flag, Value v) {
  flag = v.integer != 0;
  return v.is(Kind::boolean);
}

template <typename Number>
bool set_number(Number& number, Value v) {
  number = static_cast<Number>(v.integer);
  return v.is_small_int();
}

bool set_text(std::string& text, Value v) {
  if (!v.is_leaf()) return false;
  text = leaf_text(v);
  return true;
}

bool set_syntax(Settings& s, Value v) {
  const std::optional<Syntax> syntax = v.is_leaf() ? syntax_named(leaf_text(v)) : std::nullopt;
  if (syntax) s.compile.syntax = *syntax;
  return syntax.has_value();
}

bool set_format(Settings& s, Value v) {
  const BuiltinFormat* format = set_text(s.format, v) ? find_format(s.format) : nullptr;
  if (format != nullptr) s.compile.syntax = format->syntax;
  return format != nullptr;
}

bool set_transformers(Settings& s, Value v) {
  const TransformersRelease* release = v.is_leaf() ? find_transformers(leaf_text(v)) : nullptr;
  if (release != nullptr) s.compile.transformers = s.transformers = release->version;
  return release != nullptr;
}

/// Limits hold for compiling and rendering.
template <typename Number>
bool set_limit(Settings& s, Number Limits::*limit, Value v) {
  return set_number(s.compile.limits.*limit, v) && set_number(s.render.limits.*limit, v);
}

struct SettingRow {
  std::string_view name;
  Apply apply;
};

constexpr SettingRow kSettings[] = {
    {"syntax", [](Settings& s, Value v) { return set_syntax(s, v); }},
    {"trim_blocks", [](Settings& s, Value v) { return set_flag(s.compile.trim_blocks, v); }},
    {"lstrip_blocks", [](Settings& s, Value v) { return set_flag(s.compile.lstrip_blocks, v); }},
    {"keep_trailing_newline", [](Settings& s, Value v) { return set_flag(s.compile.keep_trailing_newline, v); }},
    {"allow_changes", [](Settings& s, Value v) { return set_flag(s.compile.allow_changes, v); }},
    {"autoescape", [](Settings& s, Value v) { return set_flag(s.autoescape, v); }},
    {"steps", [](Settings& s, Value v) { return set_limit(s, &Limits::steps, v); }},
    {"output_bytes", [](Settings& s, Value v) { return set_limit(s, &Limits::output_bytes, v); }},
    {"memory_bytes", [](Settings& s, Value v) { return set_limit(s, &Limits::memory_bytes, v); }},
    {"depth", [](Settings& s, Value v) { return set_limit(s, &Limits::depth, v); }},
    {"normalise", [](Settings& s, Value v) { return set_flag(s.normalise, v); }},
    {"as_transformers",
     [](Settings& s, Value v) { return set_flag(s.normalise, v) && set_flag(s.as_transformers, v); }},
    {"add_generation_prompt",
     [](Settings& s, Value v) { return set_flag(s.render.add_generation_prompt.emplace(), v); }},
    {"continue_final", [](Settings& s, Value v) { return set_flag(s.render.continue_final.emplace(), v); }},
    {"model", [](Settings& s, Value v) { return set_text(s.model, v); }},
    {"name", [](Settings& s, Value v) { return set_text(s.name.emplace(), v); }},
    {"format", [](Settings& s, Value v) { return set_format(s, v); }},
    {"transformers", [](Settings& s, Value v) { return set_transformers(s, v); }},
};

/// The template under autoescape: the library has no such option, only the tag.
std::string escaped(std::string_view source, const CompileOptions& options) {
  if (!options.keep_trailing_newline && source.ends_with('\n')) source.remove_suffix(1);
  return "{% autoescape true +%}" + std::string(source) + "{%+ endautoescape %}";
}

/// A byte offset into `text` in code points. One past the end (a block inside captured text) goes on counting bytes.
std::uint64_t code_points(std::string_view text, std::uint64_t offset) {
  const std::uint64_t inside = std::min<std::uint64_t>(offset, text.size());
  std::uint64_t count = offset - inside;
  for (char byte : text.substr(0, inside)) count += !utf8::is_continuation(byte);
  return count;
}

Outcome failed(const Error& error) {
  Outcome outcome;
  outcome.error = error;
  return outcome;
}

/// The template of a model, and what it brings along.
Result<std::string> template_of_model(const Settings& settings, const std::filesystem::path& file,
                                      Conversation& conversation) {
  Result<ModelSource> model = open_model((file.parent_path() / settings.model).lexically_normal().string());
  if (!model) return model.error();
  const DictEntry* tools = find_key(*conversation.variables().dict, "tools");
  Result<const NamedTemplate*> chosen = model->choose(settings.name, tools != nullptr && !tools->value.is_none());
  if (!chosen) return chosen.error();
  if (Result<void> added = add_model(conversation, *model, !settings.normalise); !added) return added.error();
  return (*chosen)->text;
}

/// Lines of two texts without those that are the same at both ends.
std::string line_difference(std::string_view wanted, std::string_view got) {
  const auto split = [](std::string_view text) {
    std::vector<std::string> lines(1);
    for (char c : text) {
      lines.back() += c;
      if (c == '\n') lines.emplace_back();
    }
    return lines;
  };
  std::vector<std::string> a = split(wanted), b = split(got);
  std::size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  while (a.size() > same && b.size() > same && a.back() == b.back()) {
    a.pop_back();
    b.pop_back();
  }
  const auto show = [&](const char* mark, const std::vector<std::string>& lines) {
    constexpr std::size_t kShown = 12;
    std::string out;
    for (std::size_t i = same; i < lines.size() && i < same + kShown; ++i) {
      out += mark;
      append_json_string(out, lines[i]);
      out += '\n';
    }
    return out;
  };
  return "  line " + std::to_string(same + 1) + "\n" + show("  - ", a) + show("  + ", b);
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

std::string headline(const Error& error) {
  std::string line(error.python_class());
  if (error.where().line > 0) line += " line " + std::to_string(error.where().line);
  return line;
}

std::string compare_error(const std::string& wanted, const Outcome& outcome) {
  const std::string head = first_line(wanted);
  if (!outcome.error) return "  wanted " + head + "\n  got the text " + line_difference("", outcome.text);
  const Error& error = *outcome.error;
  const std::string wanted_class = head.substr(0, head.find(' '));
  const bool has_line = head.find(" line ") != head.npos;
  if (!same_class(wanted_class, error.python_class()) || (has_line && head != headline(error))) {
    return "  wanted " + head + "\n  got " + headline(error) + ": " + error.message() + "\n";
  }
  if (wanted == head) return {};
  const std::string display = error.display();
  const std::string rest = wanted.substr(head.size() + 1);
  const std::string_view shown = std::string_view(display).substr(0, display.find_last_not_of('\n') + 1);
  return rest == shown ? std::string() : "  another display\n" + line_difference(rest, shown);
}

std::string write_ranges(const std::vector<CodePointRange>& ranges) {
  std::string out;
  for (const auto& [begin, end] : ranges) {
    out += (out.empty() ? "[" : ", [") + std::to_string(begin) + ", " + std::to_string(end) + "]";
  }
  return "[" + out + "]";
}

}  // namespace

std::string read_settings(std::string_view json, Settings& settings) {
  settings.render.as_is = true;
  settings.render.now = kCaseClock;
  if (json.find_first_not_of(" \n") == json.npos) return {};
  Document document;
  Result<void> parsed = document.parse(json, "settings");
  if (!parsed) return parsed.error().display();
  if (!document.root().is(Kind::dict)) return "settings are no JSON object";
  const DictObject& dict = *document.root().dict;
  for (std::uint32_t i = 0; i < dict.size; ++i) {
    const std::string_view name = leaf_text(dict.entries[i].key);
    const auto* row =
        std::find_if(std::begin(kSettings), std::end(kSettings), [&](const SettingRow& r) { return r.name == name; });
    if (row == std::end(kSettings)) return "no setting has the name " + std::string(name);
    if (!row->apply(settings, dict.entries[i].value)) return "the setting " + std::string(name) + " has another type";
  }
  if (settings.normalise) settings.render.as_is = false;
  return {};
}

Outcome run_template(std::string_view source, std::string_view context, const Settings& settings,
                     const std::filesystem::path& file) {
  ReadOptions reading;
  reading.normalise = settings.normalise;
  reading.as_transformers = settings.as_transformers;
  reading.transformers = settings.transformers;
  Result<Conversation> conversation = Conversation::from_json(context.empty() ? "{}" : context, reading, "context");
  if (!conversation) return failed(conversation.error());
  std::string of_model;
  if (!settings.model.empty()) {
    Result<std::string> text = template_of_model(settings, file, *conversation);
    if (!text) return failed(text.error());
    of_model = std::move(*text);
    source = of_model;
  }
  Result<Template> compiled = settings.autoescape
                                  ? Template::compile(escaped(source, settings.compile), settings.compile)
                                  : Template::compile(source, settings.compile);
  if (!compiled) return failed(compiled.error());
  Result<Rendering> rendering = compiled->render(*conversation, settings.render);
  if (!rendering) return failed(rendering.error());
  Outcome outcome;
  outcome.text = rendering->text();
  for (const TextRange& range : rendering->generation()) {
    outcome.generation.emplace_back(code_points(outcome.text, range.begin), code_points(outcome.text, range.end));
  }
  return outcome;
}

Outcome run_case(const Case& c, std::string& fault) {
  Settings settings;
  if (c.id.starts_with("go/")) settings.compile.syntax = Syntax::go;
  if (const std::string* json = c.find("settings")) {
    fault = read_settings(*json, settings);
  } else {
    fault = read_settings("", settings);
  }
  std::optional<std::string> source = c.text("template");
  if (!settings.format.empty()) source = find_format(settings.format)->text;
  if (!source && settings.model.empty()) fault = "it has no template";
  if (!fault.empty()) return {};
  const std::string* context = c.find("context");
  return run_template(source.value_or(""), context == nullptr ? "" : *context, settings, c.path);
}

std::string compare(const Case& c, const Outcome& outcome) {
  if (const std::string* error = c.find("error")) return compare_error(*error, outcome);
  const std::optional<std::string> wanted = c.text("output");
  if (!wanted) return "  it has no expectation\n";
  if (outcome.error) return "  fails\n" + outcome.error->display() + "\n";
  if (outcome.text != *wanted) return line_difference(*wanted, outcome.text);
  const std::string* spans = c.find("spans");
  const auto ranges = read_ranges(spans == nullptr ? "[]" : *spans);
  if (!ranges) return "  its spans are no JSON list of pairs\n";
  if (*ranges == outcome.generation) return {};
  return "  wanted spans " + write_ranges(*ranges) + "\n  got " + write_ranges(outcome.generation) + "\n";
}

std::string write_expectation(const Outcome& outcome) {
  if (outcome.error) {
    std::string display = outcome.error->display();
    while (display.ends_with('\n')) display.pop_back();
    return "--- error\n" + headline(*outcome.error) + "\n" + display + "\n";
  }
  std::string sections = write_text_section("output", outcome.text);
  if (!outcome.generation.empty()) sections += "--- spans\n" + write_ranges(outcome.generation) + "\n";
  return sections;
}

std::optional<std::vector<CodePointRange>> read_ranges(std::string_view json) {
  Document document;
  if (!document.parse(json) || !document.root().is_sequence()) return std::nullopt;
  std::vector<CodePointRange> ranges;
  const ListObject& list = *document.root().list;
  for (std::uint32_t i = 0; i < list.size; ++i) {
    const Value pair = list.items[i];
    if (!pair.is_sequence() || pair.list->size != 2) return std::nullopt;
    ranges.emplace_back(pair.list->items[0].integer, pair.list->items[1].integer);
  }
  return ranges;
}

bool same_class(std::string_view wanted, std::string_view got) {
  return wanted == got || wanted == "AssertionError" || wanted == "RecursionError";
}

}  // namespace parlance::testing
