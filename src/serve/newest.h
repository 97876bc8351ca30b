// Newest: things that a client may ask for again by their ids. The newest ones are kept, in memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace parlance::serve {

/// `T` has an `id` and an `owner`, the key of the client that alone is given it, and bytes_of(T) says what it takes.
/// Threads: any.
template <typename T>
class Newest {
 public:
  using Ref = std::shared_ptr<const T>;

  void keep(T one) {
    const std::lock_guard lock(mutex_);
    put_first(std::make_shared<const T>(std::move(one)));
  }
  /// Null: there is none of this client.
  Ref find(std::string_view id, std::string_view owner) const {
    const std::lock_guard lock(mutex_);
    const auto found = place_of(id, owner);
    return found == newest_.end() ? nullptr : *found;
  }
  /// What `change(T&)` makes of it, which is the newest then. Null: there is none.
  template <typename Change>
  Ref change(std::string_view id, std::string_view owner, Change change) {
    const std::lock_guard lock(mutex_);
    const auto found = place_of(id, owner);
    if (found == newest_.end()) return nullptr;
    T changed = **found;
    change(changed);
    take_out(found);
    auto made = std::make_shared<const T>(std::move(changed));
    put_first(made);
    return made;
  }
  /// Was there one?
  bool drop(std::string_view id, std::string_view owner) {
    const std::lock_guard lock(mutex_);
    const auto found = place_of(id, owner);
    if (found == newest_.end()) return false;
    take_out(found);
    return true;
  }

 private:
  static constexpr std::size_t kMost = 1024, kMostBytes = std::size_t{64} << 20;
  using Place = typename std::list<Ref>::const_iterator;

  Place place_of(std::string_view id, std::string_view owner) const {
    return std::ranges::find_if(newest_, [&](const Ref& one) { return one->id == id && one->owner == owner; });
  }
  void take_out(Place place) {
    bytes_ -= bytes_of(**place);
    newest_.erase(place);
  }
  void put_first(Ref one) {
    bytes_ += bytes_of(*one);
    newest_.push_front(std::move(one));
    while (newest_.size() > kMost || bytes_ > kMostBytes) take_out(std::prev(newest_.end()));
  }

  mutable std::mutex mutex_;
  std::list<Ref> newest_;  ///< the newest first
  std::size_t bytes_ = 0;
};

}  // namespace parlance::serve
