// The table of engines.
#include <algorithm>
#include <array>

#include "serve/backends/backend.h"

namespace parlance::serve {

namespace {

struct BackendRow {
  const BackendFacts* facts;
  std::unique_ptr<Backend> (*open)(BackendOptions);
};
constexpr BackendRow kBackends[] = {
    {&kLlamaServer, open_llama_server},
    {&kVllm, open_vllm},
    {&kSglang, open_sglang},
    {&kOpenAiCompletions, open_openai_completions},
    {&kOllama, open_ollama},
};

constexpr auto kFacts = [] {
  std::array<const BackendFacts*, std::size(kBackends)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kBackends[i].facts;
  return all;
}();

/// What a URL may say behind its '?'.
struct AddressSetting {
  std::string_view name;
  std::string_view kind;                       ///< "": any
  std::span<const std::string_view> values{};  ///< none: any, or a number
  bool number = false;
};
constexpr std::string_view kNever[] = {"never"}, kSyntaxes[] = {"gbnf", "structural-tag"};
const AddressSetting kAddressSettings[] = {
    {"model", ""},
    {"context", "", {}, true},
    {"ids", kOpenAiCompletions.name, kNever},
    {"grammar", kOpenAiCompletions.name, kSyntaxes},
};

std::string listed(std::span<const std::string_view> words) {
  std::string all;
  for (const std::string_view word : words) all.append(all.empty() ? "" : ", ").append(word);
  return all;
}

Result<void> check_setting(std::string_view kind, const std::string& name, const std::string& value) {
  std::vector<std::string_view> known;
  for (const AddressSetting& one : kAddressSettings) {
    if (!one.kind.empty() && one.kind != kind) continue;
    known.push_back(one.name);
    if (one.name != name) continue;
    const bool is_number = !value.empty() && value.size() < 10 && value.front() != '0' &&
                           value.find_first_not_of("0123456789") == value.npos;
    if (one.number && !is_number)
      return Error(ErrorCode::usage, name + "=" + value + " in the engine's URL: " + name + " is a number of tokens")
          .hint(name + "=8192");
    const bool is_word = one.values.empty() || std::ranges::find(one.values, value) != one.values.end();
    if (is_word) return {};
    return Error(ErrorCode::usage, name + "=" + value + " in the engine's URL has no meaning")
        .hint(name + " takes: " + listed(one.values));
  }
  return Error(ErrorCode::usage, "'" + name + "' in the engine's URL is no setting of " + std::string(kind))
      .hint("there are " + listed(known));
}

}  // namespace

std::span<const BackendFacts* const> backend_kinds() { return kFacts; }

Result<std::unique_ptr<Backend>> open_backend(std::string_view kind, BackendOptions options) {
  std::string names;
  for (const BackendRow& row : kBackends) {
    names.append(names.empty() ? "" : ", ").append(row.facts->name);
    if (row.facts->name != kind) continue;
    for (const auto& [name, value] : options.address.settings)
      if (Result<void> known = check_setting(kind, name, value); !known) return known.error();
    return row.open(std::move(options));
  }
  return Error(ErrorCode::usage, "there is no kind of engine '" + std::string(kind) + "'").hint("there are " + names);
}

}  // namespace parlance::serve
