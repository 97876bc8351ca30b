// The conversations in memory. Begin reading at SessionStore::keep.
#include "serve/sessions/store.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/sha256.h"
#include "parlance/json.h"
#include "serve/sessions/saved_held.h"

namespace parlance::serve {

namespace {

/// Clients ask several models the same, and use one name of a session for all of them.
std::string with_model(std::string name, std::string_view model) { return name.append("\n").append(model); }

}  // namespace

TurnName turn_name(std::string_view session, std::string_view response_id, unsigned choice, const Key& key) {
  std::string all(session);
  return sha256(all.append("\n").append(response_id).append("\n").append(std::to_string(choice)).append("\n" + key));
}

Past::~Past() {
  if (meter) *meter -= bytes();
  std::shared_ptr<const Past> last = std::move(before);
  while (last != nullptr && last.use_count() == 1) {
    std::shared_ptr<const Past> next = last->before;
    last = std::move(next);
  }
}

std::shared_ptr<const Past> past_of(const Held& held) {
  std::call_once(held.own_past->once, [&held] {
    auto made = std::make_shared<Past>();
    made->name = held.name;
    made->model = held.model;
    made->before = held.behind.past;
    made->saved = save(held, made->before ? SavedAs::behind : SavedAs::whole);
    made->captured = held.captured;
    held.own_past->past = std::move(made);
  });
  return held.own_past->past;
}

std::string name_of_turn(const TurnName& name) { return "t" + name; }
std::string name_of_key(const Key& key) { return "k" + key; }
std::string name_of_key_in(const Key& key, std::string_view session) { return "n" + key + std::string(session); }
std::string name_of_rest(const Key& key_without_system) { return "w" + key_without_system; }
std::string name_of_question(const Key& question) { return "q" + question; }
std::string name_of_calls(const Key& key_without_texts, std::string_view session) {
  return "c" + key_without_texts + std::string(session);
}
std::string name_of_session(std::string_view id, std::string_view owner) {
  return "s" + sha256(owner) + std::string(id);
}
std::string name_of_response(std::string_view id, std::string_view owner) {
  return "r" + sha256(owner) + std::string(id);
}

std::vector<std::string> names_of(const Held& held, std::string_view owner) {
  std::vector<std::string> names = {name_of_turn(held.name), name_of_key(held.key),
                                    name_of_rest(held.key_without_system)};
  if (!held.named) names.push_back(name_of_key_in(held.key, ""));
  if (!held.id.empty()) {
    names.push_back(name_of_key_in(held.key, held.id));
    names.push_back(name_of_session(held.id, owner));
  }
  if (!held.response_id.empty()) names.push_back(name_of_response(held.response_id, owner));
  return names;
}

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
  std::vector<std::string> names = names_of(*held, owner);
  if (!held->question.empty()) names.push_back(name_of_question(held->question));
  if (!held->key_without_texts.empty()) {
    if (!held->named) names.push_back(name_of_calls(held->key_without_texts, ""));
    if (!held->id.empty()) names.push_back(name_of_calls(held->key_without_texts, held->id));
  }
  put(held, std::move(names), [](bool) { return true; });
}

void SessionStore::keep_found(std::shared_ptr<const Held> held, std::string_view owner, bool by_response,
                              std::uint64_t drops) {
  std::vector<std::string> names = names_of(*held, owner);
  if (!by_response && !held->response_id.empty()) names.pop_back();
  put(held, std::move(names), [&](bool is_there) { return drops == drops_ && (by_response || !is_there); });
}

std::uint64_t SessionStore::drops() const {
  const std::lock_guard lock(mutex_);
  return drops_;
}

/// `is_wanted` is asked under the lock whether the turn is to be kept, also where it is there.
void SessionStore::put(const std::shared_ptr<const Held>& held, std::vector<std::string> names,
                       const std::function<bool(bool is_there)>& is_wanted) {
  for (std::string& name : names) name = with_model(std::move(name), held->model->name);
  Order entry, dropped;  // what is dropped ends without the lock
  entry.push_back({.held = held, .past = {}, .names = NameIndex<Order::iterator>::Names(std::move(names))});
  entry.front().bytes = held->bytes() + entry.front().names.bytes();
  {
    const std::lock_guard lock(mutex_);
    if (unwanted_ && unwanted_(held->model)) return;  // a turn that was under way while its model was replaced
    const auto same = newest_of(entry.front().names.first());
    if (!is_wanted(same != whole_.end())) return;
    if (same != whole_.end()) drop(same, dropped);
    entry.front().number = ++uses_;
    bytes_ += entry.front().bytes;
    count(held->behind.past.get());
    index_.put(entry.front().names, entry.begin());
    whole_.splice(whole_.begin(), entry);
  }
  if (!held->superseded.empty() && held->superseded != held->name) supersede(held->superseded, held->model);
  const std::lock_guard lock(mutex_);
  shrink(dropped);
}

/// Under the lock. Those before one that is counted are.
void SessionStore::count(const Past* past) {
  for (; past != nullptr && past->meter == nullptr; past = past->before.get()) {
    *of_past_ += past->bytes();
    past->meter = of_past_;
  }
}

void SessionStore::supersede(const TurnName& name, const std::shared_ptr<const ServedModel>& model) {
  const std::string of_turn = with_model(name_of_turn(name), model->name);
  std::shared_ptr<const Held> held;
  {
    const std::lock_guard lock(mutex_);
    const auto found = newest_of(of_turn);
    if (found != whole_.end()) held = found->held;
  }
  if (held == nullptr || held->model != model) return;
  const bool is_shared = !held->behind.name.empty() && held->behind.past == nullptr;
  const std::shared_ptr<const Past> past = is_shared ? nullptr : past_of(*held);
  Order dropped;
  const std::lock_guard lock(mutex_);
  const auto found = newest_of(of_turn);
  if (found == whole_.end() || found->held != held) return;
  if (is_shared) return drop(found, dropped);  // its beginning is not in this memory
  bytes_ -= found->bytes;
  found->held.reset();
  found->past = past;
  count(past.get());
  found->bytes = sizeof(Entry) + found->names.bytes();
  bytes_ += found->bytes;
  past_.splice(past_.begin(), whole_, found);
}

void SessionStore::shrink(Order& dropped) {
  while (whole_.size() > most_) drop(std::prev(whole_.end()), dropped);
  while (past_.size() > most_ * kPastOfEach) drop(std::prev(past_.end()), dropped);
  if (bytes() > most_bytes_) dropped.clear();  // what they alone have counts until they end
  while (bytes() > most_bytes_ && !restored_.empty()) forget_restored(restored_.back().first.get());
  while (bytes() > most_bytes_ && whole_.size() + past_.size() > 1) {
    const bool is_past = !past_.empty() && (whole_.size() <= 1 || past_.back().number < whole_.back().number);
    drop(std::prev(is_past ? past_.end() : whole_.end()), dropped);
    dropped.clear();
  }
}

void SessionStore::drop(const std::string& name, std::string_view model) {
  const std::string whole = with_model(name, model);
  Order dropped;
  const std::lock_guard lock(mutex_);
  ++drops_;
  for (auto found = newest_of(whole); found != whole_.end(); found = newest_of(whole)) drop(found, dropped);
}

void SessionStore::drop_models(Unwanted unwanted) {
  Order dropped;
  const std::lock_guard lock(mutex_);
  std::swap(unwanted_, unwanted);  // the one before, which may be the last to have old models, ends without the lock
  for (Order* const order : {&whole_, &past_}) {
    for (auto at = order->begin(); at != order->end();) {
      const auto which = at++;
      if (unwanted_(which->model())) drop(which, dropped);
    }
  }
}

/// Under the lock, which what goes into `dropped` need not have.
void SessionStore::drop(Order::iterator which, Order& dropped) {
  index_.take_out(which->names);
  if (which->past) forget_restored(which->past.get());
  bytes_ -= which->bytes;
  dropped.splice(dropped.end(), which->held ? whole_ : past_, which);
}

/// whole_.end(): there is none.
SessionStore::Order::iterator SessionStore::newest_of(const std::string& name) {
  const Order::iterator* const found = index_.newest(name);
  return found != nullptr ? *found : whole_.end();
}

std::shared_ptr<const Held> SessionStore::find(const std::string& name,
                                               const std::shared_ptr<const ServedModel>& model) {
  const std::string whole = with_model(name, model->name);
  std::shared_ptr<const Past> past;
  {
    const std::lock_guard lock(mutex_);
    const Order::iterator found = newest_of(whole);
    if (found == whole_.end() || found->model() != model) return nullptr;
    found->number = ++uses_;
    Order& order = found->held ? whole_ : past_;
    order.splice(order.begin(), order, found);
    if (found->held) return found->held;
    past = found->past;
  }
  return restored(past);
}

std::shared_ptr<const Held> SessionStore::restored(const std::shared_ptr<const Past>& past) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(restored_, past, &decltype(restored_)::value_type::first);
    if (known != restored_.end()) {
      restored_.splice(restored_.begin(), restored_, known);
      return known->second;
    }
  }
  std::shared_ptr<const Held> held = restore(past);
  if (held == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  forget_restored(past.get());  // another thread may have restored it meanwhile
  const auto found = newest_of(with_model(name_of_turn(past->name), past->model->name));
  const bool is_kept = found != whole_.end() && found->past == past;  // it may have been dropped meanwhile
  if (!is_kept || bytes() + held->bytes() > most_bytes_) return held;
  bytes_ += held->bytes();
  restored_.emplace_front(past, held);
  if (restored_.size() > kMostRestored) forget_restored(restored_.back().first.get());
  return held;
}

/// Under the lock.
void SessionStore::forget_restored(const Past* past) {
  const auto found = std::ranges::find_if(restored_, [past](const auto& one) { return one.first.get() == past; });
  if (found == restored_.end()) return;
  bytes_ -= found->second->bytes();
  restored_.erase(found);
}

SessionStore::Use SessionStore::use() const {
  const std::lock_guard lock(mutex_);
  return {whole_.size(), bytes()};
}

std::vector<std::shared_ptr<const Held>> SessionStore::newest(std::size_t most) const {
  std::vector<std::shared_ptr<const Held>> found;
  std::set<std::string_view> seen;
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : whole_) {
    if (found.size() >= most) break;
    if (seen.insert(entry.held->id).second) found.push_back(entry.held);
  }
  return found;
}

}  // namespace parlance::serve
