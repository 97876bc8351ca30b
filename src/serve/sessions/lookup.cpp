// Finds conversations. Begin reading at Sessions::longest.
#include "serve/sessions/lookup.h"

namespace parlance::serve {

SharedSessions& Sessions::shared() const {
  if (!may_wait_) throw AskShared();
  return *shared_;
}

std::shared_ptr<const Held> Sessions::in_memory(const std::shared_ptr<const ServedModel>& model,
                                                const std::string& name) const {
  std::shared_ptr<const Held> held = memory_.find(name, model->name);
  return held != nullptr && held->model == model ? held : nullptr;
}

std::shared_ptr<const Held> Sessions::remember(std::shared_ptr<const Held> held, std::string_view owner) const {
  if (held != nullptr) memory_.keep(held, owner);
  return held;
}

/// Redis is asked for what is longer than what is in memory: another gateway may have gone on from that.
std::shared_ptr<const Held> Sessions::longest(const std::shared_ptr<const ServedModel>& model,
                                              const std::vector<Key>& keys, bool whole, const std::vector<bool>& ends,
                                              std::string_view owner) const {
  constexpr std::size_t kMost = 64;  // a client that goes back farther begins anew
  std::shared_ptr<const Held> known;
  std::vector<Key> unknown;
  for (std::size_t at = keys.size(); at > 0 && known == nullptr; --at) {
    if (!ends[at - 1]) continue;
    const Key& key = keys[at - 1];
    known = in_memory(model, whole ? name_of_key(key) : name_of_rest(key));
    if (known == nullptr && unknown.size() < kMost) unknown.push_back(whole ? key : name_of_rest(key));
  }
  if (shared_ == nullptr || unknown.empty()) return known;
  std::shared_ptr<const Held> found = whole ? shared().by_keys(model, unknown) : shared().by_names(model, unknown);
  return found != nullptr ? remember(std::move(found), owner) : known;
}

/// Another gateway may have given a later reply than the one that is in memory.
std::shared_ptr<const Held> Sessions::by_session(const std::shared_ptr<const ServedModel>& model, std::string_view id,
                                                 std::string_view owner) const {
  const std::string name = name_of_session(id, owner);
  if (shared_ != nullptr) {
    std::shared_ptr<const Held> found = shared().by_names(model, {name});
    if (found != nullptr && found->id == id) return remember(std::move(found), owner);
  }
  return in_memory(model, name);
}

std::shared_ptr<const Held> Sessions::by_response(const std::shared_ptr<const ServedModel>& model, std::string_view id,
                                                  std::string_view owner) const {
  const std::string name = name_of_response(id, owner);
  std::shared_ptr<const Held> held = in_memory(model, name);
  if (held != nullptr || shared_ == nullptr) return held;
  held = shared().by_names(model, {name});
  return held != nullptr && held->response_id == id ? remember(std::move(held), owner) : nullptr;
}

}  // namespace parlance::serve
