// The table of engines.
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

}  // namespace

std::span<const BackendFacts* const> backend_kinds() { return kFacts; }

Result<std::unique_ptr<Backend>> open_backend(std::string_view kind, BackendOptions options) {
  std::string names;
  for (const BackendRow& row : kBackends) {
    if (row.facts->name == kind) return row.open(std::move(options));
    names.append(names.empty() ? "" : ", ").append(row.facts->name);
  }
  return Error(ErrorCode::usage, "there is no kind of engine '" + std::string(kind) + "'").hint("there are " + names);
}

}  // namespace parlance::serve
