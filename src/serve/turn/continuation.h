// Continuation: what an engine samples behind ids that come from no chat template.
//
//     Continuation one(model, {.prompt = ids, .sampling = settings});
//     co_await one.run(take);       // take(piece): text that is new, and its tokens
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parlance/json.h"
#include "serve/models/model.h"
#include "serve/turn/characters.h"

namespace parlance::serve {

/// One that is asked for.
struct ContinuationWish {
  std::span<const TokenId> prompt{};  ///< must outlive the continuation, as all that this refers to
  const SamplingSettings* sampling = nullptr;
  std::optional<unsigned> logprobs{};            ///< alternatives of each token; unset: no logprobs
  bool prompt_logprobs = false;                  ///< those of the prompt's tokens, too
  std::shared_ptr<const std::string> grammar{};  ///< in the engine's syntax; null: none
  unsigned choice = 0;                           ///< of those behind the same prompt
  RequestPlace place{};                          ///< of the request
};

class Continuation {
 public:
  /// Text that is new, and the tokens that came with it. Either may be empty.
  using Take = std::function<Task<>(std::string_view text, std::span<const SampledToken> tokens)>;

  Continuation(std::shared_ptr<const ServedModel> model, ContinuationWish wish);

  /// Asks the engine. Throws EngineFailure.
  Task<> run(const Take& take);
  /// Reads tokens in place of run(), and then their end.
  std::string add(std::span<const SampledToken> tokens);
  std::string finish();

  const ContinuationWish& wish() const { return wish_; }
  const std::shared_ptr<const ServedModel>& model() const { return model_; }
  const std::string& text() const { return text_; }
  const std::vector<TokenId>& sampled() const { return sampled_; }
  const std::string& sampled_text() const { return sampled_text_; }  ///< of an engine that gives no ids
  const std::vector<std::optional<double>>& logprobs() const { return logprobs_; }
  /// The prompt's tokens with their logprobs, if they were wished for, from the first take on.
  const std::vector<SampledToken>& prompt_told() const { return prompt_told_; }
  const std::optional<std::string>& stop_text() const { return stops_.found(); }
  const GenerationEnd& end() const { return end_; }
  void set_length(bool length) { end_.length = length; }
  std::size_t tokens() const { return tokens_; }
  bool ended() const { return ended_; }  ///< by a token
  std::string_view finish_reason() const { return end_.length && !ended_ && !stop_text() ? "length" : "stop"; }

 private:
  std::shared_ptr<const ServedModel> model_;
  ContinuationWish wish_;
  Characters characters_;
  StopTexts stops_;
  std::vector<TokenId> ends_;
  std::string text_, sampled_text_;
  std::vector<TokenId> sampled_;
  std::vector<std::optional<double>> logprobs_;
  std::vector<SampledToken> prompt_told_;
  std::size_t tokens_ = 0;
  bool ended_ = false;
  GenerationEnd end_;
};

/// So many may one request have.
inline constexpr std::size_t kMostPrompts = 1024;
/// A prompt of /v1/completions: a text, a list of texts, ids, or a list of lists of ids. All control tokens in a text
/// are meant. Fails with conversation.
Result<std::vector<std::vector<TokenId>>> read_prompts(Value prompt, const ServedModel& model);
/// The ids of a list. Fails with conversation if one is none of the tokenizer's; `name` is the list's.
Result<std::vector<TokenId>> read_ids(Value list, const ServedModel& model, const std::string& name);

}  // namespace parlance::serve
