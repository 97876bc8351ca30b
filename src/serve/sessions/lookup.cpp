// Finds conversations. Begin reading at Sessions::longest.
#include "serve/sessions/lookup.h"

namespace parlance::serve {

SharedSessions& Sessions::shared() const {
  if (!may_wait_) throw AskApart();
  return *shared_;
}

std::shared_ptr<const Held> Sessions::in_memory(const std::shared_ptr<const ServedModel>& model,
                                                const std::string& name) const {
  return memory_.find(name, model);
}

/// A client may delete a response while Redis is asked for it.
std::shared_ptr<const Held> Sessions::in_shared(const std::shared_ptr<const ServedModel>& model,
                                                const std::vector<std::string>& names, std::string_view owner,
                                                FoundBy by) const {
  const std::uint64_t drops = memory_.drops();
  std::shared_ptr<const Held> held = shared().by_names(model, names, owner);
  if (held != nullptr) memory_.keep_found(held, owner, by == FoundBy::response, drops);
  return held;
}

/// Redis is asked for what is longer than what is in memory: another gateway may have gone on from that.
std::shared_ptr<const Held> Sessions::longest(const std::shared_ptr<const ServedModel>& model,
                                              const std::vector<std::string>& names, const std::vector<bool>& ends,
                                              std::string_view owner) const {
  constexpr std::size_t kMost = 64;  // a client that goes back farther begins anew
  std::shared_ptr<const Held> known;
  std::vector<std::string> unknown;
  for (std::size_t at = names.size(); at > 0 && known == nullptr; --at) {
    if (!ends[at - 1]) continue;
    known = in_memory(model, names[at - 1]);
    if (known == nullptr && unknown.size() < kMost) unknown.push_back(names[at - 1]);
  }
  if (shared_ == nullptr || unknown.empty()) return known;
  std::shared_ptr<const Held> found = in_shared(model, unknown, owner, FoundBy::other);
  return found != nullptr ? found : known;
}

/// Another gateway may have given a later reply than the one that is in memory.
std::shared_ptr<const Held> Sessions::by_session(const std::shared_ptr<const ServedModel>& model, std::string_view id,
                                                 std::string_view owner) const {
  const std::string name = name_of_session(id, owner);
  if (shared_ != nullptr) {
    if (std::shared_ptr<const Held> found = in_shared(model, {name}, owner, FoundBy::other)) return found;
  }
  return in_memory(model, name);
}

std::shared_ptr<const Held> Sessions::by_response(const std::shared_ptr<const ServedModel>& model, std::string_view id,
                                                  std::string_view owner) const {
  const std::string name = name_of_response(id, owner);
  std::shared_ptr<const Held> held = in_memory(model, name);
  if (held != nullptr || shared_ == nullptr) return held;
  return in_shared(model, {name}, owner, FoundBy::response);
}

}  // namespace parlance::serve
