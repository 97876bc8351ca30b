// Sessions: where a request's conversation is looked for: in memory, then in the store that gateways share.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/sessions/shared.h"
#include "serve/sessions/store.h"

namespace parlance::serve {

/// Thrown by who must not wait: Redis has to be asked, or there is much to do.
struct AskApart {};

/// What is found in Redis is kept in memory. A conversation never changes, so one that is in memory need not be asked
/// for; only which one is a session's last reply may be another.
class Sessions {
 public:
  /// In memory alone.
  Sessions(SessionStore& memory) : memory_(memory) {}
  /// `may_wait`: the calling thread is one that may wait for Redis. Others get AskApart thrown.
  Sessions(SessionStore& memory, SharedSessions* shared, bool may_wait)
      : memory_(memory), shared_(shared), may_wait_(may_wait) {}

  /// Of the turns with these names, the one of the last name that is known and of this model. `ends`: which names may
  /// be those of a reply. Null: none is known.
  std::shared_ptr<const Held> longest(const std::shared_ptr<const ServedModel>& model,
                                      const std::vector<std::string>& names, const std::vector<bool>& ends,
                                      std::string_view owner) const;
  /// The newest turn in memory of the messages with this key, whatever its reply is. Null: there is none.
  std::shared_ptr<const Held> by_question(const std::shared_ptr<const ServedModel>& model, const Key& question) const {
    return in_memory(model, name_of_question(question));
  }
  /// The newest turn in memory of the messages with this key without texts beside calls. `session` "": of a session
  /// that no client named. Null: there is none.
  std::shared_ptr<const Held> by_calls(const std::shared_ptr<const ServedModel>& model, const Key& key,
                                       std::string_view session) const {
    return key.empty() ? nullptr : in_memory(model, name_of_calls(key, session));
  }
  std::shared_ptr<const Held> by_session(const std::shared_ptr<const ServedModel>& model, std::string_view id,
                                         std::string_view owner) const;
  std::shared_ptr<const Held> by_response(const std::shared_ptr<const ServedModel>& model, std::string_view id,
                                          std::string_view owner) const;

 private:
  std::shared_ptr<const Held> in_memory(const std::shared_ptr<const ServedModel>& model, const std::string& name) const;
  SharedSessions& shared() const;
  enum class FoundBy : std::uint8_t { response, other };
  std::shared_ptr<const Held> in_shared(const std::shared_ptr<const ServedModel>& model,
                                        const std::vector<std::string>& names, std::string_view owner,
                                        FoundBy by) const;

  SessionStore& memory_;
  SharedSessions* shared_ = nullptr;
  bool may_wait_ = true;
};

}  // namespace parlance::serve
