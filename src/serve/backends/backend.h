// Backend: an engine that runs the model. It gets the ids of a prompt, and gives back the ids that it samples.
//
// To add an engine, add a file that makes one, and a row in backends.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/grammar.h"
#include "parlance/tokenizer.h"
#include "serve/backends/sampling.h"
#include "serve/http/client.h"

namespace parlance::serve {

/// What an engine can do.
struct BackendFacts {
  std::string_view name;                 ///< as in --backend NAME=URL
  bool takes_ids = true;                 ///< false: prompts are text, and their content can become control tokens
  bool gives_ids = true;                 ///< false: replies are text, so that no ids can be kept
  std::optional<GrammarSyntax> grammar;  ///< unset: it takes no grammar
  std::string_view sentence;             ///< for help
};

/// What an engine is asked for.
struct Generation {
  std::vector<TokenId> ids;                      ///< the prompt
  std::string_view text;                         ///< the same, for an engine that takes no ids
  std::shared_ptr<const std::string> grammar{};  ///< in the engine's syntax; null: none
  SamplingSettings sampling{};
  std::span<const TokenId> stops{};  ///< tokens that end the reply
  unsigned choice = 0;               ///< of several replies to one request: their seeds differ by it
  std::optional<unsigned> logprobs;  ///< how many alternatives of each token; 0: its own logprob alone
};

struct TokenAlternative {
  TokenId id = -1;
  double logprob = 0;
};

/// A token that was sampled.
struct SampledToken {
  TokenId id = -1;     ///< -1: the engine gives text alone
  std::string text{};  ///< then its text
  std::optional<double> logprob{};
  std::vector<TokenAlternative> alternatives{};
};

/// How a generation ended, and the engine's own figures.
struct GenerationEnd {
  bool length = false;  ///< a limit of tokens ended it
  std::int64_t prompt_tokens = 0;
  std::optional<std::int64_t> evaluated{};  ///< tokens of the prompt that were not in the engine's cache
  std::int64_t sampled_tokens = 0;
};

/// Takes tokens as they come. false: the reply is at its end, whatever the engine would sample yet.
using TokenSink = std::function<Task<bool>(std::span<const SampledToken>)>;

/// Threads: any; each generation is one coroutine.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const BackendFacts& facts() const = 0;
  /// Throws EngineFailure.
  virtual Task<GenerationEnd> generate(const Generation& generation, const TokenSink& sink) = 0;
  /// Throws EngineFailure if the engine does not answer, or is not ready.
  virtual Task<> check() = 0;
  virtual const HttpAddress& address() const = 0;
};

/// What an engine is opened with.
struct BackendOptions {
  HttpAddress address;
  HttpClientLimits limits{};
  std::string model{};    ///< the engine's own name of the model, where it has several
  std::string api_key{};  ///< sent as a bearer token
};

/// All kinds of engines, in the order in which help shows them.
std::span<const BackendFacts* const> backend_kinds();
/// Fails with usage if there is no such kind.
Result<std::unique_ptr<Backend>> open_backend(std::string_view kind, BackendOptions options);

// The makers, one a file.
std::unique_ptr<Backend> open_llama_server(BackendOptions options);
extern const BackendFacts kLlamaServer;

}  // namespace parlance::serve
