// An engine that says what was sampled before, as a capture has it.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "parlance/json.h"
#include "serve/backends/backend.h"
#include "serve/capture/reader.h"
#include "serve/json/members.h"
#include "serve/turn/turn.h"

namespace parlance::serve {

/// An engine that says what was sampled before.
class Recorded final : public Backend {
 public:
  const BackendFacts& facts() const override { return facts_; }
  const HttpAddress& address() const override { return address_; }
  Task<> check() override { co_return; }
  Task<EngineInfo> ask() override { co_return EngineInfo(); }
  Task<std::optional<std::vector<TokenId>>> tokenize(std::string_view) override { co_return std::nullopt; }
  /// The second time it gives what follows: a reply whose reasoning the gateway closed was asked for in two parts.
  Task<GenerationEnd> generate(const Generation& asked, const TokenSink& sink) override {
    if (prompt_ == 0) prompt_ = asked.ids.size();
    const std::size_t known = std::min(asked.ids.size() - prompt_, tokens_.size());
    for (std::span<const SampledToken> rest = std::span(tokens_).subspan(known); !rest.empty(); rest = rest.subspan(1))
      if (!co_await sink(rest.first(1), rest.size() == 1))
        co_return GenerationEnd{.length = length_ && rest.size() == 1};
    co_return GenerationEnd{.length = length_};
  }

  void takes(std::optional<GrammarSyntax> grammars) { facts_.grammar = grammars; }
  void load(Value record) {
    tokens_.clear();
    prompt_ = 0;
    for (const Value& id : record["sampled"].items()) tokens_.push_back({.id = static_cast<TokenId>(number_in(id))});
    if (const Value text = record["sampled_text"]; text.is_string())
      tokens_.push_back({.text = std::string(text.text())});
    length_ = flag_of(record["length"], false);
  }

 private:
  BackendFacts facts_{.name = "recorded", .grammar = {}, .sentence = ""};
  HttpAddress address_{};
  std::vector<SampledToken> tokens_;
  std::size_t prompt_ = 0;  ///< how many ids
  bool length_ = false;
};

/// Samples a turn whose model has such an engine, to its end.
void run_recorded(Turn& turn);

}  // namespace parlance::serve
