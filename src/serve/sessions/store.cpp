// The conversations in memory.
#include "serve/sessions/store.h"

#include "base/sha256.h"
#include "parlance/json.h"

namespace parlance::serve {

std::string name_of_key(const Key& key) { return "k" + key; }
std::string name_of_rest(const Key& key_without_system) { return "w" + key_without_system; }
std::string name_of_session(std::string_view id, std::string_view owner) {
  return "s" + sha256(owner) + std::string(id);
}
std::string name_of_response(std::string_view id, std::string_view owner) {
  return "r" + sha256(owner) + std::string(id);
}

namespace {

/// Clients ask several models the same, and use one name of a session for all of them.
std::string with_model(std::string name, std::string_view model) { return name.append("\n").append(model); }

}  // namespace

namespace {

/// Tools count for each session that has them, though sessions may share them: nobody knows which goes last. The format
/// is the model's.
std::size_t bytes_of(const ReplyStart& start) {
  const ReplyOptions& options = start.options;
  std::size_t bytes = options.tools.bytes() + start.doubt.size() + (options.prompt ? options.prompt->size() : 0);
  for (const std::string& text : options.ends) bytes += sizeof text + text.size();
  for (const std::string& text : start.notes) bytes += sizeof text + text.size();
  return bytes;
}

}  // namespace

std::size_t Held::bytes() const {
  // Ids, with the place and origin of each, and the conversation's own text and values.
  return session.ids().size() * 32 + written.size() + (start ? bytes_of(*start) : 0) + sizeof(Held);
}

SessionStore::SessionStore(std::size_t most, std::size_t most_bytes) : most_(most), most_bytes_(most_bytes) {}

void SessionStore::keep(std::shared_ptr<const Held> held, std::string_view owner) {
  std::vector<std::string> names = {name_of_key(held->key), name_of_rest(held->key_without_system)};
  if (!held->id.empty()) names.push_back(name_of_session(held->id, owner));
  if (!held->response_id.empty()) names.push_back(name_of_response(held->response_id, owner));
  const std::string model = held->model->name;
  for (std::string& name : names) name = with_model(std::move(name), model);
  const std::lock_guard lock(mutex_);
  bytes_ += held->bytes();
  order_.emplace_front(std::move(held), names);
  for (const std::string& name : names) index_[name] = order_.begin();
  const auto previous = index_.find(with_model(name_of_key(order_.front().first->previous), model));
  if (previous != index_.end()) {
    const auto superseded = index_.find(with_model(name_of_key(previous->second->first->previous), model));
    if (superseded != index_.end() && superseded->second != order_.begin()) drop(superseded->second);
  }
  while (order_.size() > most_ || (bytes_ > most_bytes_ && order_.size() > 1)) drop(std::prev(order_.end()));
}

void SessionStore::drop_if(const std::function<bool(const Held&)>& unwanted) {
  const std::lock_guard lock(mutex_);
  for (auto at = order_.begin(); at != order_.end();) {
    const auto which = at++;
    if (unwanted(*which->first)) drop(which);
  }
}

void SessionStore::drop(Order::iterator which) {
  for (const std::string& name : which->second) {
    const auto found = index_.find(name);
    if (found != index_.end() && found->second == which) index_.erase(found);
  }
  bytes_ -= which->first->bytes();
  order_.erase(which);
}

std::shared_ptr<const Held> SessionStore::find(const std::string& name, std::string_view model) {
  const std::string whole = with_model(name, model);
  const std::lock_guard lock(mutex_);
  const auto found = index_.find(whole);
  if (found == index_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return found->second->first;
}

SessionStore::Use SessionStore::use() const {
  const std::lock_guard lock(mutex_);
  return {order_.size(), bytes_};
}

std::vector<std::shared_ptr<const Held>> SessionStore::newest(std::size_t most) const {
  std::vector<std::shared_ptr<const Held>> found;
  std::unordered_map<std::string_view, bool> seen;
  const std::lock_guard lock(mutex_);
  for (const auto& [held, names] : order_) {
    if (found.size() >= most) break;
    if (seen.emplace(held->id, true).second) found.push_back(held);
  }
  return found;
}

}  // namespace parlance::serve
