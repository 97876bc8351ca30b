// Backend: an engine that runs the model. It gets the ids of a prompt, and gives back the ids that it samples.
//
// To add an engine, add a file that makes one, and a row in backends.cpp.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/grammar.h"
#include "parlance/json_writer.h"
#include "parlance/tokenizer.h"
#include "serve/backends/ids_json.h"
#include "serve/backends/sampling.h"
#include "serve/http/client.h"

namespace parlance::serve {

/// What an engine can do.
struct BackendFacts {
  std::string_view name;                 ///< as in --backend NAME=URL
  bool takes_ids = true;                 ///< false: prompts are text, and their content can become control tokens
  bool gives_ids = true;                 ///< false: replies are text, so that no ids can be kept
  std::optional<GrammarSyntax> grammar;  ///< unset: it takes no grammar
  std::span<const std::string_view> settings{};  ///< its names of these, in the order of Setting; "": it has none
  std::string_view sentence;                     ///< for help
  bool takes_schema = false;  ///< of JSON, for the whole reply: all that it takes in place of a grammar
  bool tells_prompt = false;  ///< it gives logprobs of the prompt's tokens, too
};

/// What an engine says of itself.
struct EngineInfo {
  std::string model{};                    ///< its own name of the model; "": it says none
  std::optional<std::int64_t> context{};  ///< tokens that a prompt and its reply may have together
  std::optional<std::int64_t> most{};     ///< the longest context that may be asked of it; unset: nobody asks for one
  std::optional<TokenId> first{};  ///< the token that it puts in front of each text by itself; -1: none; unset: unknown
};

/// Whether one reply of a request has a slot of its engine, or a place in the queue. Its others may then wait however
/// many do.
using RequestPlace = std::shared_ptr<std::atomic<bool>>;

struct TokenAlternative {
  TokenId id = -1;     ///< -1: the engine gives text alone
  std::string text{};  ///< then its text
  double logprob = 0;
};

/// A token that was sampled.
struct SampledToken {
  TokenId id = -1;     ///< -1: the engine gives text alone
  std::string text{};  ///< then its text
  std::optional<double> logprob{};
  std::vector<TokenAlternative> alternatives{};
};

/// What an engine is asked for. Its views must outlive the generation.
struct Generation {
  std::span<const TokenId> ids;                  ///< the prompt
  std::size_t sampled = 0;                       ///< so many of them, at their end, are of the reply already
  std::string_view text;                         ///< the same, for an engine that takes no ids; "": it is made of these
  bool forgeable = false;                        ///< in the text, something that is no control token would become one
  bool as_text = false;                          ///< the text is sent, whatever facts() say by now
  std::shared_ptr<const std::string> grammar{};  ///< in the engine's syntax; null: none
  std::string schema{};                          ///< JSON Schema of the reply, for engines that take no more; "": none
  SamplingSettings sampling{};
  std::span<const TokenId> stops{};           ///< tokens that end the reply
  std::span<const std::string> stop_texts{};  ///< the same as texts, for an engine that gives no ids
  unsigned choice = 0;                        ///< of several replies to one prompt: their seeds differ by it
  std::atomic<bool>* place = nullptr;         ///< of the request; null: it asks for one reply
  std::optional<unsigned> logprobs;           ///< how many alternatives of each token; 0: its own logprob alone
  /// Where the prompt's tokens go with their logprobs, before the first token of the reply; null: they are not wanted.
  std::vector<SampledToken>* prompt_told = nullptr;
  IdsBody* last_body = nullptr;  ///< of the same conversation; null: it is not kept
};

/// The ids of the prompt as a member of a request's body.
inline void write_ids(JsonWriter& body, std::string_view name, const Generation& generation) {
  constexpr std::size_t kUsual = 7, kBehind = 4096;
  std::string& out = body.key(name);
  if (generation.last_body != nullptr) return generation.last_body->append(out, generation.ids);
  // Also for what follows: a text of a megabyte is not to be moved for it.
  out.reserve(generation.ids.size() * kUsual + (generation.grammar ? generation.grammar->size() : 0) + kBehind);
  append_ids_json(out, generation.ids);
}

/// How a generation ended, and the engine's own figures.
struct GenerationEnd {
  bool length = false;  ///< a limit of tokens ended it
  std::int64_t prompt_tokens = 0;
  std::optional<std::int64_t> evaluated{};  ///< tokens of the prompt that were not in the engine's cache
  std::int64_t sampled_tokens = 0;
};

/// Takes tokens as they come; `is_last`: the engine has said that these are the last. Returns false where the reply is
/// at its end, whatever the engine would sample yet.
using TokenSink = std::function<Task<bool>(std::span<const SampledToken>, bool is_last)>;

/// Threads: any; each generation is one coroutine.
class Backend {
 public:
  virtual ~Backend() = default;
  /// They may change with an ask(), where an engine's kind does not say it: who needs one of them twice keeps it.
  virtual const BackendFacts& facts() const = 0;
  /// Throws EngineFailure; of kind grammar if the engine refuses the grammar.
  virtual Task<GenerationEnd> generate(const Generation& generation, const TokenSink& sink) = 0;
  /// Throws EngineFailure if the engine does not answer, or is not ready.
  virtual Task<> check() = 0;
  /// Asks the engine what it is. Throws EngineFailure; what it does not tell is unset.
  virtual Task<EngineInfo> ask() = 0;
  /// The engine's own ids of a text, in which control tokens count, without others around it; nothing if it has no
  /// route for that. Throws EngineFailure.
  virtual Task<std::optional<std::vector<TokenId>>> tokenize(std::string_view text) = 0;
  /// How many tokens a text is to an engine that takes no ids, with those that it puts around each; nothing if it does
  /// not say. It may sample a token for that. Throws EngineFailure.
  virtual Task<std::optional<std::int64_t>> count(const EngineInfo&, std::string_view) { co_return std::nullopt; }
  /// Whether a prompt of ids failed because the engine takes none any more, and its text is to be sent: facts() say so
  /// by then. Nothing had come of the reply. Throws nothing of the engine's.
  virtual Task<bool> has_stopped_taking_ids(const EngineFailure&) { co_return false; }
  virtual const HttpAddress& address() const = 0;

  /// Has a token come of it within so long?
  bool has_sampled(std::chrono::milliseconds within) const {
    const Clock::time_point last{Clock::duration(sampled_at_.load(std::memory_order_relaxed))};
    return last != Clock::time_point() && Clock::now() - last <= within;
  }
  /// What ask() said last; null before.
  std::shared_ptr<const EngineInfo> info() const {
    const std::lock_guard lock(mutex_);
    return info_;
  }
  void remember(EngineInfo info) {
    const std::lock_guard lock(mutex_);
    info_ = std::make_shared<const EngineInfo>(std::move(info));
  }

 protected:
  void note_sampled() { sampled_at_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  std::atomic<Clock::rep> sampled_at_ = 0;
  mutable std::mutex mutex_;
  std::shared_ptr<const EngineInfo> info_;
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
/// Fails with usage if there is no such kind, or no such setting in the address.
Result<std::unique_ptr<Backend>> open_backend(std::string_view kind, BackendOptions options);

// The makers, one a file.
std::unique_ptr<Backend> open_llama_server(BackendOptions options);
std::unique_ptr<Backend> open_vllm(BackendOptions options);
std::unique_ptr<Backend> open_sglang(BackendOptions options);
std::unique_ptr<Backend> open_openai_completions(BackendOptions options);
std::unique_ptr<Backend> open_ollama(BackendOptions options);
extern const BackendFacts kLlamaServer, kVllm, kSglang, kOpenAiCompletions, kOllama;

}  // namespace parlance::serve
