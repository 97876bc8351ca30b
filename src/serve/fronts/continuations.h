// Answers requests for continuations: /v1/completions, vLLM's /inference/v1/generate and Ollama's raw prompts, which
// differ in their wire alone.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/fronts/losses.h"
#include "serve/fronts/routes.h"
#include "serve/turn/continuation.h"

namespace parlance::serve {

/// A request that was read. It does not move once it is answered.
struct ContinuationsAsked {
  std::shared_ptr<const ServedModel> model;
  std::string_view api;  ///< "completions", "generate", "ollama", for captures
  std::string id;
  std::string session{};
  bool named = false;  ///< the client named the session
  std::vector<std::vector<TokenId>> prompts{};
  SamplingSettings sampling{};
  std::optional<unsigned> logprobs{};
  bool prompt_logprobs = false;  ///< of the prompts' tokens, too
  std::shared_ptr<const std::string> grammar{};
  unsigned choices = 1;  ///< behind each prompt
  bool stream = false;
  bool include_usage = false;
  Losses losses{};  ///< what is asked for in vain
};

/// Those of a request: all choices of the first prompt, then of the second.
using Continuations = std::vector<std::unique_ptr<Continuation>>;

/// The wire of an API. It sees all tokens, also of answers that are no stream. JSON is returned; "": there is nothing
/// to say yet.
class ContinuationForm {
 public:
  virtual ~ContinuationForm() = default;
  /// Whose streams these are.
  virtual ReplyApi api() const { return ReplyApi::openai; }
  virtual std::string piece(std::size_t number, std::string_view text, std::span<const SampledToken> tokens) = 0;
  /// The last chunk of one.
  virtual std::string last(std::size_t number) = 0;
  /// The last chunk of all, with their usage.
  virtual std::string usage() = 0;
  virtual std::string whole() = 0;
  /// An error, in a stream or alone.
  virtual std::string error(const ReplyApiError& error) const = 0;
};

Continuations continuations_of(const ContinuationsAsked& asked);
/// Samples all of them and answers.
Task<> answer_continuations(Call& call, const ContinuationsAsked& asked, Continuations& all, ContinuationForm& form);

/// What was sampled for all of them, and the prompts, as usage in OpenAI's form.
std::string continuations_usage(const ContinuationsAsked& asked, const Continuations& all);
/// What is no number is written as -9999, as in the other answers.
std::string logprob_json(double value);
/// The form that the text is to have, as a grammar where the engine takes one. Fails as grammar_options() and
/// content_grammar_in() do.
Result<void> read_form(const Call& call, Value body, ContinuationsAsked& into);
/// What the sampler is asked for: its settings, how many choices, logprobs. Fails as read_sampling() and choices_of()
/// do.
Result<void> read_sampler(Value settings, ContinuationsAsked& into, std::int64_t least_tokens = 1);

}  // namespace parlance::serve
