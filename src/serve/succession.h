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
  /// plan_turn() does; then, and where the turn is not kept, the last reply is forgotten.
  Result<Turn> plan(const std::shared_ptr<const ServedModel>& model, Value body, std::string_view text,
                    SessionHints hints);
  /// The turn's reply is the last one now. Null: the conversation cannot go on from it.
  std::shared_ptr<const Held> keep(Turn& turn, const std::vector<std::string>& call_ids, std::string response_id);

 private:
  std::shared_ptr<Held> last_;
};

}  // namespace parlance::serve
