// The prompt of a request as ids: those of its session so far, as they were sampled, and the new ones.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/models/model.h"
#include "serve/sessions/lookup.h"

namespace parlance::serve {

/// Where a request says that it goes on.
struct SessionHints {
  std::string owner{};     ///< keeps clients apart
  std::string session{};   ///< an id that the client names; "": it names none
  std::string response{};  ///< previous_response_id
};

/// Why the ids of an earlier turn could not be kept.
struct PrefixBreak {
  std::string sentence{};        ///< for people
  std::string template_place{};  ///< "chat_template:12"; "": unknown
  std::string path{};            ///< of the input
  std::string cause{};           ///< "rewritten", "other_reply", "across_border"
  std::size_t kept = 0;          ///< tokens that both prompts begin with
  std::size_t lost = 0;          ///< tokens of the earlier turns behind these
  bool volatile_line = false;    ///< a line at the head of the conversation that changes between turns
};

struct PreparedPrompt {
  Session session;                   ///< its ids are the prompt
  std::shared_ptr<const Held> from;  ///< the conversation that it goes on from; null: none is known
  std::size_t reused = 0;            ///< ids at the beginning that are those of the earlier turn
  std::uint64_t guarded_before = 0;  ///< texts of these that were kept from becoming control tokens
  std::optional<PrefixBreak> broken{};
  std::string id;           ///< of the session
  bool named = false;       ///< the client named the session
  bool grown = false;       ///< the session is that of `from`, with more messages
  bool with_tools = false;  ///< it began with the template for requests with tools
  MessageKeys keys;
  Key variables;
  CivilTime now{};     ///< what the session's renders show
  bool alone = false;  ///< nobody else has the session, now or later
  /// Paths of the messages whose texts beside calls the request lacks, and the prompt has.
  std::vector<std::string> left_out{};

  PreparedPrompt copy() const {
    return {session.copy(), from,       reused, guarded_before, broken, id,    named,
            grown,          with_tools, keys,   variables,      now,    false, left_out};
  }
};

/// The prompt behind a reply that nobody else goes on from: takes the session of `held`, so that the work is that of
/// the new messages alone. Unset: only the whole conversation can go on, and `held` is as it was. `request` has the
/// reply and the messages behind it, and no others.
std::optional<PreparedPrompt> prepare_behind(const std::shared_ptr<Held>& held, const ChatRequest& request);
/// Fails as Template::render and tokenize() do. Throws as Sessions do.
Result<PreparedPrompt> prepare_prompt(const std::shared_ptr<const ServedModel>& model, const Sessions& sessions,
                                      ChatRequest& request, const SessionHints& hints, const std::string& new_id);

}  // namespace parlance::serve
