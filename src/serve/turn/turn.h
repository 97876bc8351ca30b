// Turn: one reply of a model to one request, from the request's body to what the session keeps.
//
//     Result<Turn> turn = Turn::plan(model, store, std::move(request), settings);
//     co_await turn->run(take, flush);       // the reply's events as they come
//     turn->keep(store, call_ids, response_id);
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parlance/reply.h"
#include "parlance/reply_kinds.h"
#include "parlance/sampled_reply.h"
#include "serve/sessions/go_on.h"
#include "serve/turn/characters.h"

namespace parlance::serve {

/// A grammar of the client's for the whole reply.
struct OwnGrammar {
  std::shared_ptr<const std::string> text{};  ///< in the engine's syntax; null: there is none
  std::string path{};                         ///< of the member that it is from
};

/// By which a turn is kept whose ids a client has as Ollama's `context`.
std::string context_id(std::span<const TokenId> ids);

/// What a request asks of a turn besides its conversation.
struct TurnSettings {
  SamplingSettings sampling{};
  SessionHints hints{};
  std::string new_session;             ///< the id of a session that begins
  std::optional<unsigned> logprobs{};  ///< alternatives of each token; unset: no logprobs
  unsigned choice = 0;
  OwnHead own{};  ///< of the conversation
  /// So many tokens of reasoning, then the gateway closes it and the model goes on; unset: no limit. For engines that
  /// give ids.
  std::optional<std::int64_t> reasoning_tokens{};
  OwnGrammar grammar{};  ///< in place of the one that is made from the request's tools and form
};

/// Does the request ask for calls, or for a form of its content? `has_calls`: it has tools.
bool wants_grammar(const GrammarOptions& wanted, bool has_calls);
/// Of a request with a grammar of its own, which is in place of any other: it asks neither for calls nor for a form of
/// its content. Fails with conversation.
Result<void> check_alone(const OwnGrammar& own, const GrammarOptions& wanted, bool has_calls);
/// A grammar where a request asks for calls or for a form of its content; unset where it asks for neither.
/// Fails as GrammarCache::printed() does.
Result<std::optional<PrintedGrammar>> grammar_in(const ServedModel& model, GrammarOptions wanted, bool has_calls,
                                                 const ReplyStart& start, GrammarSyntax syntax);
/// The same for text that is no chat's reply: it has neither calls nor markers.
Result<std::optional<PrintedGrammar>> content_grammar_in(const ServedModel& model, GrammarOptions wanted,
                                                         GrammarSyntax syntax);
/// Where the request says that no tool is called, what reads as a call is text: not every engine takes the grammar that
/// forbids it. Grammars are made from the format before.
void read_calls_as_text(ReplyStart& start, const Conversation& conversation);
/// Its text; null: there is none.
inline std::shared_ptr<const std::string> text_of(const std::optional<PrintedGrammar>& grammar) {
  return grammar ? grammar->text : nullptr;
}

/// Gives a parser the bytes of tokens, whole characters at a time, since no API has halves.
class TokenPieces {
 public:
  explicit TokenPieces(const ServedModel& model) : model_(model) {}
  void add(const SampledToken& token, ReplyParser& parser, ReplySink sink);
  /// Gives what waits for the rest of a character. Call it before the parser's `finish`.
  void finish(ReplyParser& parser, ReplySink sink);
  /// No character waits for its rest.
  bool are_whole() const { return characters_.is_whole(); }

 private:
  void feed(std::string_view bytes, ReplyParser& parser, ReplySink sink) const;

  const ServedModel& model_;
  Characters characters_;
  bool is_token_ = true;
};

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

class Turn {
 public:
  /// Fails as RequestReader and grammar_options() do. Throws as Sessions do.
  static Result<Turn> plan(std::shared_ptr<const ServedModel> model, const Sessions& sessions, ChatRequest request,
                           TurnSettings settings);

  /// The same where the prompt is there already.
  static Result<Turn> plan(std::shared_ptr<const ServedModel> model, PreparedPrompt prompt, TurnSettings settings);

  /// The same again for another choice of the same request.
  Turn another(unsigned choice) const;

  using Take = std::function<void(const ReplyEvent&)>;
  using TakeTokens = std::function<void(std::span<const SampledToken>)>;
  using Flush = std::function<Task<>()>;
  /// Asks the engine, reads its reply by its ids, and gives `take` the events; `flush` after each piece of the reply
  /// but the last, behind which the end follows at once.
  /// Throws EngineFailure.
  Task<> run(const Take& take, const Flush& flush, TakeTokens take_tokens = {});

  /// Keeps the conversation with the reply for the next request. `call_ids` are those that the client was told for
  /// the calls for which the model wrote none. Returns what is kept; null: the conversation cannot go on from this
  /// reply.
  std::shared_ptr<const Held> keep(SessionStore& store, const std::vector<std::string>& call_ids,
                                   std::string response_id);

  /// Whether a conversation can go on from the reply: its ids are known, and the client was told all of its text.
  bool can_go_on() const { return !sampled_.empty() && !stop_text_ && !stopped_ && !called_twice_; }
  /// The ids of the prompt and the reply, before the turn is kept.
  std::vector<TokenId> context() const;

  /// The same without keeping it anywhere. Null also for a reply with a call that is not whole.
  std::shared_ptr<Held> held(const std::vector<std::string>& call_ids, std::string response_id);

  /// The prompt alone, copied: a conversation that breaks off before the reply.
  std::shared_ptr<const Held> without_reply() const;

  const PreparedPrompt& prompt() const { return prompt_; }
  const ReplyStart& start() const { return start_; }
  const std::shared_ptr<const ServedModel>& model() const { return model_; }
  const TurnSettings& settings() const { return settings_; }
  /// Null: the reply was not constrained.
  const std::shared_ptr<const std::string>& grammar() const { return grammar_; }
  /// Where it allows more, or less, than the request's schemas.
  const std::vector<GrammarNote>& grammar_notes() const {
    static const std::vector<GrammarNote> kNone;
    return made_grammar_ ? made_grammar_->notes() : kNone;
  }
  /// What the bytes of the reply are.
  std::vector<KindRange> kinds() const { return kinds_.ranges(); }
  /// The session of a turn that was not kept. Call it once.
  Session take_session() {
    session_taken_ = true;
    return std::move(prompt_.session);
  }
  const ReplyMessage& message() const { return reply_.message; }
  const GenerationEnd& end() const { return end_; }
  const std::vector<TokenId>& sampled() const { return sampled_; }
  /// The reply of an engine that gives no ids.
  const std::string& sampled_text() const { return sampled_text_; }
  /// Of the sampled ids, each; empty where the engine tells none.
  const std::vector<std::optional<double>>& logprobs() const { return logprobs_; }
  /// Which of the sampled tokens the gateway wrote in the model's stead: those that close reasoning at its limit.
  TokenRange written() const { return written_; }
  std::size_t prompt_tokens() const { return prompt_tokens_; }
  /// Text among what is new in the prompt that the model cannot read (Session::unknown).
  const std::vector<UnknownText>& unknown() const { return unknown_; }
  bool length() const { return end_.length; }
  const std::optional<std::string>& stop_text() const { return stop_text_; }
  /// By a token that the request names.
  bool stopped() const { return stopped_; }
  std::size_t reasoning_tokens() const { return reasoning_tokens_; }
  const TurnTimes& times() const { return times_; }
  unsigned choice() const { return settings_.choice; }
  bool has_grammar() const { return grammar_ != nullptr; }

 private:
  Turn(std::shared_ptr<const ServedModel> model, ReplyStart start, PreparedPrompt prompt, TurnSettings settings)
      : model_(std::move(model)),
        start_(std::move(start)),
        prompt_(std::move(prompt)),
        settings_(std::move(settings)),
        kinds_(start_.format) {}
  Generation generation() const;
  std::shared_ptr<Held> held(std::optional<Message> reply, std::string response_id);
  void note(const ReplyEvent& event);
  void note(const SampledToken& token);
  void count_reasoning();
  bool is_at_limit() const;
  bool is_named_stop(TokenId id) const;
  template <class TakeOne, class IsOver>
  void close_reasoning(TakeOne take_one, IsOver is_over);
  Result<void> prepare_limit();
  bool has_room_behind() const;
  void go_on(Generation& asked);
  void add(const GenerationEnd& second);
  bool is_of_second_call(const ReplyEvent& event);
  void read_as_cut(const ReplyEvent& event, const Take& read) const;

  std::shared_ptr<const ServedModel> model_;
  ReplyStart start_;
  PreparedPrompt prompt_;
  TurnSettings settings_;
  ReplyKinds kinds_;
  std::shared_ptr<const std::string> grammar_;
  bool must_call_ = false;               ///< the grammar demands a call
  bool must_call_once_ = false;          ///< the request asks for one call of one tool
  bool called_twice_ = false;            ///< although it was asked for one call
  std::optional<Grammar> made_grammar_;  ///< that this is the text of
  std::string schema_;
  std::size_t prompt_tokens_ = 0;
  std::vector<UnknownText> unknown_;
  SampledReply reply_;
  std::vector<TokenId> sampled_;
  bool session_taken_ = false;  ///< by what keeps it, or what records it
  std::string sampled_text_;
  std::size_t text_tokens_ = 0;  ///< of it
  std::vector<std::optional<double>> logprobs_;
  std::optional<std::string> stop_text_;
  GenerationEnd end_;
  std::size_t reasoning_tokens_ = 0;
  std::size_t uncounted_ = 0;                          ///< tokens since the last event
  bool had_event_ = false;                             ///< of the last token
  std::vector<TokenId> closing_;                       ///< what closes reasoning at its limit; empty: there is no limit
  std::shared_ptr<const std::string> grammar_behind_;  ///< what may come then
  TokenRange written_;
  RequestPlace place_ = std::make_shared<std::atomic<bool>>(false);
  std::vector<TokenId> ids_behind_;  ///< the prompt behind which the model goes on
  ReplyEvent::Kind last_kind_ = ReplyEvent::Kind::marker;
  bool ended_ = false;             ///< the model wrote what ends a reply of its format
  bool stopped_ = false;           ///< by a token that the request names, and that is none of the reply's text
  std::vector<TokenId> stop_ids_;  ///< the model's own, and those of the request
  TurnTimes times_;
};

}  // namespace parlance::serve
