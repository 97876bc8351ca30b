// ReplyPlan: what is known of a reply before it is sampled: how it is read, which grammar it has, what ends it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parlance/reply.h"
#include "serve/sessions/go_on.h"

namespace parlance::serve {

/// A grammar of the client's for the whole reply.
struct OwnGrammar {
  std::shared_ptr<const std::string> text{};  ///< in the engine's syntax; null: there is none
  std::string path{};                         ///< of the member that it is from
};

/// What a request asks of a turn besides its conversation.
struct TurnSettings {
  SamplingSettings sampling{};
  SessionHints hints{};
  std::string new_session;             ///< the id of a session that begins
  std::optional<unsigned> logprobs{};  ///< alternatives of each token; unset: no logprobs
  OwnHead own{};                       ///< of the conversation
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

/// All choices of a request share one.
struct ReplyPlan {
  std::shared_ptr<const ServedModel> model;
  ReplyStart start;
  TurnSettings settings;
  std::shared_ptr<const std::string> grammar{};  ///< null: the reply is not constrained
  std::optional<Grammar> made_grammar{};         ///< that this is the text of
  std::string schema{};                          ///< Generation::schema
  bool must_call = false;                        ///< the grammar demands a call
  bool must_call_once = false;                   ///< the request asks for one call of one tool
  std::vector<TokenId> stop_ids{};               ///< the model's own, and those of the request
  std::size_t prompt_tokens = 0;
  std::vector<UnknownText> unknown{};  ///< text among what is new in the prompt that the model cannot read
  std::vector<TokenId> closing{};      ///< what closes reasoning at its limit; empty: there is no limit
  std::shared_ptr<const std::string> grammar_behind{};  ///< what may come then
  RequestPlace place{};                                 ///< of the request
};

/// Fails as RequestReader::reply_to() and grammar_options() do.
Result<std::shared_ptr<const ReplyPlan>> plan_reply(std::shared_ptr<const ServedModel> model,
                                                    const PreparedPrompt& prompt, TurnSettings settings);

}  // namespace parlance::serve
