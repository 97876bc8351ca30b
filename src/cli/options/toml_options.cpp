// Reads TOML by toml++. Begin reading at read_toml.
#include "cli/options/toml_options.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/source_text.h"
#include "cli/input.h"
#include "cli/options/prompt_options.h"

#ifdef PARLANCE_HAS_TOML
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>
#endif

namespace parlance::cli {

#ifdef PARLANCE_HAS_TOML
namespace {

class TomlReader {
 public:
  TomlReader(const std::string& name, std::string_view text) : source_(name, text, false) {}

  std::string_view text() const { return source_.text(); }
  /// With the lines around it.
  Location place(const toml::source_position& at) const;
  Result<std::vector<TomlOption>> options(const toml::table& table, std::string_view but) const;

 private:
  Result<std::vector<std::string>> values(const toml::node& node) const;
  Result<std::string> scalar(const toml::node& node) const;
  const SourceText source_;
};

Location TomlReader::place(const toml::source_position& at) const {
  std::size_t begin = 0;
  for (toml::source_index line = 1; line < at.line && begin < text().size(); ++line)
    begin = std::min(text().find('\n', begin), text().size() - 1) + 1;
  begin = std::min(begin + at.column - 1, text().size());
  return source_.locate(begin, std::min(begin + 1, text().size()));
}

/// A text, a whole number, true or false.
Result<std::string> TomlReader::scalar(const toml::node& node) const {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return std::string(flag->get() ? "true" : "false");
  return usage("an option takes a text, a whole number, true, false, or a list of these")
      .at(place(node.source().begin));
}

/// A list has several, and a table `NAME=VALUE` of each member.
Result<std::vector<std::string>> TomlReader::values(const toml::node& node) const {
  std::vector<std::string> made;
  const auto add = [&](const toml::node& one, const std::string& before) -> Result<void> {
    Result<std::string> value = scalar(one);
    if (!value) return value.error();
    made.push_back(before + *value);
    return {};
  };
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& one : *list)
      if (Result<void> added = add(one, ""); !added) return added.error();
  } else if (const toml::table* members = node.as_table()) {
    for (const auto& [key, one] : *members)
      if (Result<void> added = add(one, std::string(key.str()) + "="); !added) return added.error();
  } else if (Result<void> added = add(node, ""); !added) {
    return added.error();
  }
  return made;
}

Result<std::vector<TomlOption>> TomlReader::options(const toml::table& table, std::string_view but) const {
  std::vector<TomlOption> made;
  for (const auto& [key, node] : table) {
    if (key.str() == but) continue;
    Result<std::vector<std::string>> given = values(node);
    if (!given) return given.error();
    made.push_back({std::string(key.str()), std::move(*given), place(key.source().begin)});
  }
  return made;
}

Result<TomlOptions> options_in(const TomlReader& reader, const toml::table& root, const std::string& table) {
  TomlOptions made;
  const toml::node* const tables = root.get(table);
  if (tables != nullptr && tables->is_table())
    return usage("[" + table + "] must be an array of tables", "[[" + table + "]]")
        .at(reader.place(tables->source().begin));
  const bool several = tables != nullptr && tables->is_array_of_tables();  // else it is an option of that name
  Result<std::vector<TomlOption>> whole = reader.options(root, several ? table : "");
  if (!whole) return whole.error();
  made.whole = std::move(*whole);
  if (!several) return made;
  for (const toml::node& one : *tables->as_array()) {
    Result<std::vector<TomlOption>> options = reader.options(*one.as_table(), "");
    if (!options) return options.error();
    made.tables.push_back(std::move(*options));
  }
  return made;
}

}  // namespace

Result<TomlOptions> read_toml(const std::string& path, const std::string& table) {
  const Result<std::string> text = read_input(path, "the configuration");
  if (!text) return text.error();
  const TomlReader reader(path, *text);
  try {
    return options_in(reader, toml::parse(reader.text()), table);
  } catch (const toml::parse_error& failed) {
    return usage("this is not TOML: " + std::string(failed.description())).at(reader.place(failed.source().begin));
  }
}
#else
Result<TomlOptions> read_toml(const std::string&, const std::string&) {
  return usage("this build reads no TOML", "build with toml++ (Debian's package libtomlplusplus-dev)");
}
#endif

Result<void> apply(const std::vector<TomlOption>& given, Options options, const std::vector<std::string>& except,
                   const std::vector<std::string>& of_the_top) {
  for (const TomlOption& one : given) {
    if (std::find(except.begin(), except.end(), one.name) != except.end()) continue;
    const std::vector<std::string> names = options.long_names();
    if (std::find(names.begin(), names.end(), one.name) == names.end()) {
      NearestName nearest(one.name);
      for (const std::string& name : names) nearest.offer(name);
      const bool is_misplaced = std::find(of_the_top.begin(), of_the_top.end(), one.name) != of_the_top.end();
      const std::string hint = is_misplaced ? "it stands at the top of the file, above all tables" : nearest.hint();
      return usage("there is no option '" + one.name + "' here", hint).at(one.where);
    }
    const std::string wrong = options.set(one.name, one.values);
    if (wrong.empty()) continue;
    const bool is_named = wrong.find("--" + one.name) != wrong.npos;
    return usage(is_named ? wrong : one.name + ": " + wrong).at(one.where);
  }
  return {};
}

}  // namespace parlance::cli
