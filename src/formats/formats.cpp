// The formats that parlance brings itself: the rows of formats/formats.def with the texts of the
// files beside it.
//
// embedded_formats.h is made at build time from formats/*.jinja, formats/*.gotmpl, formats/*.reply.json and
// formats/examples/*.json (cmake/embed.cmake).
#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "embedded_formats.h"
#include "parlance/source.h"

namespace parlance {
namespace {

struct Row {
  std::string_view name;
  std::string_view aliases;
  std::string_view sentence;
  std::array<std::pair<std::string_view, std::string_view>, 4> tokens;
};

constexpr Row kRows[] = {
#define PARLANCE_FORMAT(name, aliases, sentence, ...) {name, aliases, sentence, {{__VA_ARGS__}}},
#define PARLANCE_VOCABULARY(name, ...)
#include "formats.def"
#undef PARLANCE_FORMAT
#undef PARLANCE_VOCABULARY
};

struct Vocabulary {
  std::string_view name;
  std::array<std::string_view, 16> tokens;
};

constexpr Vocabulary kVocabularies[] = {
#define PARLANCE_FORMAT(name, aliases, sentence, ...)
#define PARLANCE_VOCABULARY(name, ...) {name, {__VA_ARGS__}},
#include "formats.def"
#undef PARLANCE_FORMAT
#undef PARLANCE_VOCABULARY
};

constexpr std::span<const std::string_view> vocabulary_of(std::string_view name) {
  for (const Vocabulary& vocabulary : kVocabularies) {
    if (vocabulary.name != name) continue;
    std::size_t count = 0;
    while (count < vocabulary.tokens.size() && !vocabulary.tokens[count].empty()) ++count;
    return {vocabulary.tokens.data(), count};
  }
  return {};
}

/// The text of <folder><name><suffix>; empty when there is none.
constexpr std::string_view embedded(std::string_view folder, std::string_view name, std::string_view suffix) {
  for (const EmbeddedFile& file : kEmbeddedFiles) {
    if (file.path.size() == folder.size() + name.size() + suffix.size() && file.path.starts_with(folder) &&
        file.path.substr(folder.size()).starts_with(name) && file.path.ends_with(suffix)) {
      return file.text;
    }
  }
  return {};
}

constexpr std::size_t count_tokens(const Row& row) {
  std::size_t count = 0;
  while (count < row.tokens.size() && !row.tokens[count].first.empty()) ++count;
  return count;
}

/// Worked out by the compiler, so the table needs no code at start-up and a missing file is an error of the build.
constexpr auto kFormats = [] {
  std::array<BuiltinFormat, std::size(kRows)> formats{};
  for (std::size_t i = 0; i < formats.size(); ++i) {
    const Row& row = kRows[i];
    const std::string_view jinja = embedded("", row.name, ".jinja");
    formats[i] = {row.name,
                  row.aliases,
                  row.sentence,
                  jinja.empty() ? embedded("", row.name, ".gotmpl") : jinja,
                  embedded("examples/", row.name, ".json"),
                  {row.tokens.data(), count_tokens(row)},
                  jinja.empty() ? Syntax::go : Syntax::jinja,
                  vocabulary_of(row.name),
                  embedded("", row.name, ".reply.json")};
  }
  return formats;
}();

constexpr bool every_row_has_its_files() {
  for (const BuiltinFormat& format : kFormats) {
    if (format.text.empty() || format.example.empty() || format.reply.empty()) return false;
  }
  return true;
}
static_assert(every_row_has_its_files(),
              "formats/<name>.jinja (or .gotmpl), <name>.reply.json or examples/<name>.json is missing");

bool has_alias(const BuiltinFormat& format, std::string_view name) {
  std::string_view rest = format.aliases;
  while (!rest.empty()) {
    const std::size_t blank = rest.find(' ');
    if (rest.substr(0, blank) == name) return true;
    rest = blank == rest.npos ? std::string_view() : rest.substr(blank + 1);
  }
  return false;
}

}  // namespace

std::span<const BuiltinFormat> builtin_formats() { return kFormats; }

const BuiltinFormat* find_format(std::string_view name) {
  for (const BuiltinFormat& format : kFormats) {
    if (format.name == name || has_alias(format, name)) return &format;
  }
  return nullptr;
}

namespace {

Error no_format(std::string_view name) {
  NearestName nearest(name);
  for (const BuiltinFormat& format : kFormats) {
    nearest.offer(format.name);
    for (std::string_view rest = format.aliases; !rest.empty();) {
      const std::size_t blank = std::min(rest.find(' '), rest.size());
      nearest.offer(rest.substr(0, blank));
      rest.remove_prefix(std::min(blank + 1, rest.size()));
    }
  }
  return Error(ErrorCode::usage, "there is no built-in format '" + std::string(name) + "'")
      .hint(nearest.best().empty() ? "builtin_formats() has them" : nearest.hint());
}

}  // namespace

Result<ModelSource> open_format(std::string_view name) {
  const BuiltinFormat* format = find_format(name);
  if (format == nullptr) return no_format(name);
  ModelSource found;
  found.path = format->name;
  found.templates.push_back(
      {"default", std::string(format->text), "format " + std::string(format->name), format->syntax});
  for (const auto& [token, text] : format->special_tokens)
    found.special_tokens.push_back({std::string(token), std::string(text)});
  return found;
}

}  // namespace parlance
