// Succession: the turns of one conversation whose client keeps to its end, as an agent does.
//
// Each turn takes over the session of the reply before it, in place of a copy, and reads, renders and encodes only what
// is new. A gateway's clients may go on from any earlier reply, so that their sessions are copied (sessions/go_on.h).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/turn/turn.h"

namespace parlance::serve {

/// Threads: one.
class Succession {
 public:
  /// Plans the reply to a request, which goes on from the last reply if SessionHints::response names it. Fails as
  /// turn_settings() and plan_turn() do. Behind it belongs keep() or leave().
  Result<Turn> plan(const std::shared_ptr<const ServedModel>& model, Value body, std::string_view text,
                    SessionHints hints);
  /// The same with a copy of the session: for a turn of a record that had no whole reply, behind which another process
  /// may have gone on from the reply before.
  Result<Turn> plan_copy(const std::shared_ptr<const ServedModel>& model, Value body, std::string_view text,
                         SessionHints hints);
  /// The turn's reply is the last one now. Null: the conversation cannot go on from it, as from one that breaks off
  /// within a call; then this is leave().
  std::shared_ptr<const Held> keep(Turn& turn, const std::vector<std::string>& call_ids, std::string response_id);
  /// The turn has no reply to go on from. A request with the whole conversation still begins with its ids.
  void leave(const Turn& turn);

 private:
  Result<Turn> plan_copy(const std::shared_ptr<const ServedModel>& model, Value body, std::string_view text,
                         const TurnSettings& settings);

  std::shared_ptr<Held> last_;
  std::shared_ptr<const Held> left_;  ///< a turn without a reply, behind the last one
};

}  // namespace parlance::serve
