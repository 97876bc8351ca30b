// Turn: one reply of a model to one request, from the request's body to what the session keeps.
//
//     Result<Turn> turn = Turn::plan(model, store, std::move(request), settings);
//     co_await turn->run(take, flush);       // the reply's events as they come
//     turn->keep(store, call_ids, response_id);
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/turn/reply_plan.h"
#include "serve/turn/reply_run.h"

namespace parlance::serve {

/// By which a turn is kept whose ids a client has as Ollama's `context`.
std::string context_id(std::span<const TokenId> ids);

class Turn {
 public:
  /// `choice`: which of the request's it is. Fails as RequestReader and grammar_options() do. Throws as Sessions do.
  static Result<Turn> plan(std::shared_ptr<const ServedModel> model, const Sessions& sessions, ChatRequest request,
                           TurnSettings settings, unsigned choice = 0);

  /// The same where the prompt is there already.
  static Result<Turn> plan(std::shared_ptr<const ServedModel> model, PreparedPrompt prompt, TurnSettings settings,
                           unsigned choice = 0);

  /// The same again for another choice of the same request.
  Turn another(unsigned choice) const;

  using Take = decltype(ReplyTakers::event);
  using TakeTokens = decltype(ReplyTakers::tokens);
  using Flush = decltype(ReplyTakers::flush);
  /// Asks the engine, reads its reply by its ids, and gives `take` the events; `flush` after each piece of the reply
  /// but the last, behind which the end follows at once.
  /// Throws EngineFailure.
  Task<> run(Take take, Flush flush, TakeTokens take_tokens = {});

  /// Keeps the conversation with the reply for the next request. `call_ids` are those that the client was told for
  /// the calls for which the model wrote none. Returns what is kept; null: the conversation cannot go on from this
  /// reply.
  std::shared_ptr<const Held> keep(SessionStore& store, const std::vector<std::string>& call_ids,
                                   std::string response_id);

  /// Whether a conversation can go on from the reply: its ids are known, and the client was told all of its text.
  bool can_go_on() const {
    return !result_.sampled.empty() && !result_.stop_text && !result_.stopped && !result_.called_twice;
  }
  /// The ids of the prompt and the reply, before the turn is kept.
  std::vector<TokenId> context() const;

  /// The same without keeping it anywhere. Null also for a reply with a call that is not whole.
  std::shared_ptr<Held> held(const std::vector<std::string>& call_ids, std::string response_id);

  /// The prompt alone, copied: a conversation that breaks off before the reply.
  std::shared_ptr<const Held> without_reply() const;

  const PreparedPrompt& prompt() const { return prompt_; }
  const ReplyStart& start() const { return plan_->start; }
  const std::shared_ptr<const ServedModel>& model() const { return plan_->model; }
  const TurnSettings& settings() const { return plan_->settings; }
  /// Null: the reply was not constrained.
  const std::shared_ptr<const std::string>& grammar() const { return plan_->grammar; }
  /// Where it allows more, or less, than the request's schemas.
  const std::vector<GrammarNote>& grammar_notes() const {
    static const std::vector<GrammarNote> kNone;
    return plan_->made_grammar ? plan_->made_grammar->notes() : kNone;
  }
  /// What the bytes of the reply are.
  std::vector<KindRange> kinds() const { return result_.kinds.ranges(); }
  /// The session of a turn that was not kept. Call it once.
  Session take_session() {
    session_taken_ = true;
    return std::move(prompt_.session);
  }
  const ReplyMessage& message() const { return result_.reply.message; }
  const GenerationEnd& end() const { return result_.end; }
  const std::vector<TokenId>& sampled() const { return result_.sampled; }
  /// The reply of an engine that gives no ids.
  const std::string& sampled_text() const { return result_.sampled_text; }
  /// Of the sampled ids, each; empty where the engine tells none.
  const std::vector<std::optional<double>>& logprobs() const { return result_.logprobs; }
  /// Of a token at least.
  bool has_logprobs() const { return result_.has_logprobs; }
  /// Which of the sampled tokens the gateway wrote in the model's stead: those that close reasoning at its limit.
  TokenRange written() const { return result_.written; }
  std::size_t prompt_tokens() const { return plan_->prompt_tokens; }
  /// Text among what is new in the prompt that the model cannot read (Session::unknown).
  const std::vector<UnknownText>& unknown() const { return plan_->unknown; }
  bool length() const { return result_.end.length; }
  const std::optional<std::string>& stop_text() const { return result_.stop_text; }
  /// By a token that the request names.
  bool stopped() const { return result_.stopped; }
  std::size_t reasoning_tokens() const { return result_.reasoning_tokens; }
  const TurnTimes& times() const { return result_.times; }
  unsigned choice() const { return choice_; }
  bool has_grammar() const { return plan_->grammar != nullptr; }

 private:
  Turn(std::shared_ptr<const ReplyPlan> plan, PreparedPrompt prompt, unsigned choice)
      : plan_(std::move(plan)), prompt_(std::move(prompt)), choice_(choice), result_(plan_->start.format) {}
  Generation generation() const;
  std::shared_ptr<Held> held(std::optional<Message> reply, const std::vector<std::string>& call_ids,
                             std::string response_id);
  Key key_without_texts(const std::vector<std::string>& call_ids) const;

  std::shared_ptr<const ReplyPlan> plan_;
  PreparedPrompt prompt_;
  unsigned choice_ = 0;
  ReplyResult result_;
  bool session_taken_ = false;  ///< by what keeps it, or what records it
};

}  // namespace parlance::serve
