// What a request asks for and does not get. Some of it is known without work, and is always told; to find the rest the
// prompt is rendered once more, where somebody asks for it.
#pragma once
#include <string>
#include <vector>

#include "parlance/grammar.h"
#include "parlance/losses.h"
#include "parlance/value.h"
#include "serve/gateway.h"

namespace parlance::serve {

using Losses = std::vector<Loss>;

/// What is not told to the engine as it was asked for: settings of the sampler that it has not, or that no engine here
/// is asked for, and a limit of the reply that is above the server's.
void add_unserved(const ServedModel& model, Value settings, Losses& into);
/// The same of what a chat has not, and completions have.
void add_unserved_in_chats(Value settings, Losses& into);
/// Does a chat have a member that may constrain its reply?
bool may_constrain(Value variables);
/// To what an engine without grammars does not hold the reply. `body`: the request, in its own words.
void add_unenforced(const BackendFacts& engine, const GrammarOptions& asked, bool has_calls, Value body, Losses& into);
/// Where the grammar allows more, or less, than the form that the request has for its answer.
void add_loosened(const std::vector<GrammarNote>& notes, Value body, Losses& into);
/// The same without what the gateway itself obeys, whatever the template does.
Losses without_obeyed(Losses losses, Value body);

/// A session's answer, for the log.
struct LossesOf {
  std::string_view session, request, model, id;
  bool looked_for = false;  ///< a warning then; else what is always told
};
/// Counts them, and names their kinds and paths in the log.
void say_losses(Gateway& gateway, const LossesOf& of, const Losses& losses);
/// A list of {path, kind, what}, with a `hint` where there is one for a client.
std::string losses_json(const Losses& losses);
/// The notes of a grammar as a list of {path, keyword, why, left_out}, with the paths of the request. `conversation`
/// has the tools that it was made of.
std::string grammar_notes_json(const std::vector<GrammarNote>& notes, const Conversation& conversation, Value body);

}  // namespace parlance::serve
