// ReplyRun: samples a reply and reads it.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parlance/reply.h"
#include "parlance/reply_kinds.h"
#include "parlance/sampled_reply.h"
#include "serve/turn/reply_plan.h"
#include "serve/turn/stop_finder.h"
#include "serve/turn/token_pieces.h"

namespace parlance::serve {

/// A range of the tokens of a reply.
struct TokenRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// How long parts of a turn took, from the request to the engine on.
struct TurnTimes {
  std::chrono::nanoseconds first_token{};
  std::chrono::nanoseconds whole{};
};

/// What was sampled, and what it says; so far, where the run broke off.
struct ReplyResult {
  explicit ReplyResult(const CompiledReplyFormat& format) : kinds(format) {}

  SampledReply reply{};
  ReplyKinds kinds;  ///< what its bytes are
  std::vector<TokenId> sampled{};
  std::string sampled_text{};                     ///< of an engine that gives no ids
  std::vector<std::optional<double>> logprobs{};  ///< of the sampled ids, each; empty where the engine tells none
  bool has_logprobs = false;                      ///< of a token at least, also of an engine that gives no ids
  std::size_t reasoning_tokens = 0;
  TokenRange
      written{};  ///< tokens that the gateway wrote in the model's stead: those that close reasoning at its limit
  std::optional<std::string> stop_text{};  ///< by which it ended
  bool stopped = false;                    ///< by a token that the request names, and that is none of the reply's text
  bool called_twice = false;               ///< although it was asked for one call
  GenerationEnd end{};
  TurnTimes times{};
};

/// Who takes a reply.
struct ReplyTakers {
  std::function<void(const ReplyEvent&)> event;
  std::function<void(std::span<const SampledToken>)> tokens;  ///< may be empty
  std::function<Task<>()> flush;                              ///< after each piece of the reply but the last
};

/// What the run of one reply needs until it is over. All that it is made with must outlive it.   Threads: one.
class ReplyRun {
 public:
  ReplyRun(const ReplyPlan& plan, const ReplyTakers& takers, ReplyResult& into);
  ReplyRun(const ReplyRun&) = delete;
  ReplyRun& operator=(const ReplyRun&) = delete;

  /// Asks the engine, and once more where reasoning reached its limit. Throws EngineFailure.
  Task<> sample(Generation asked);
  /// Reads what was held back, behind that.
  void finish();

 private:
  Task<bool> take(std::span<const SampledToken> tokens, bool is_last);
  bool take_all(std::span<const SampledToken> tokens);
  void take_one(const SampledToken& token);
  void note(const SampledToken& token);
  void read(const ReplyEvent& event);
  void read_as_cut(const ReplyEvent& event);
  void count_reasoning();
  bool is_named_stop(TokenId id) const;
  bool is_of_second_call(const ReplyEvent& event);
  bool is_over() const;
  bool is_at_limit() const;
  bool is_cut() const;
  void close_reasoning();
  bool has_room_behind() const;
  void go_on(Generation& asked);
  void add(const GenerationEnd& second);

  const ReplyPlan& plan_;
  const ReplyTakers& takers_;
  ReplyResult& into_;
  ReplyParser parser_;
  StopFinder stops_;
  TokenPieces pieces_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  ReplyEvent::Kind last_kind_ = ReplyEvent::Kind::marker;
  std::size_t uncounted_ = 0;        ///< tokens since the last event
  bool had_event_ = false;           ///< of the last token
  std::size_t text_tokens_ = 0;      ///< of ReplyResult::sampled_text
  bool ended_ = false;               ///< the model wrote what ends a reply of its format
  bool cut_ = false;                 ///< the engine's count of tokens never came, or is of more than the reply
  std::vector<TokenId> ids_behind_;  ///< the prompt behind which the model goes on
};

}  // namespace parlance::serve
