// Newest: things that a client may ask for again by their ids. The newest ones are kept, in memory. Where there is no
// room for more, a client that has the most gives up its oldest one, so that none takes what others have.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace parlance::serve {

/// `T` has an `id` and an `owner`, the key of the client that alone is given it, and bytes_of(T) says what it takes.
/// Threads: any.
template <typename T>
class Newest {
 public:
  using Ref = std::shared_ptr<const T>;

  /// In place of another state of the same one.
  void keep(T one) {
    const std::lock_guard lock(mutex_);
    if (const auto found = place_of(one.id, one.owner); found != newest_.end()) take_out(found);
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
  struct Share {
    std::size_t count = 0, bytes = 0;
    /// Of all that there is room for, in millionths.
    std::size_t part() const { return std::max(count * 1000000 / kMost, bytes * 100 / (kMostBytes / 10000)); }
  };

  void take_out(Place place) {
    const auto share = shares_.find((*place)->owner);
    share->second.bytes -= bytes_of(**place);
    if (--share->second.count == 0) shares_.erase(share);
    bytes_ -= bytes_of(**place);
    newest_.erase(place);
  }
  void put_first(Ref one) {
    Share& share = shares_[one->owner];
    ++share.count;
    share.bytes += bytes_of(*one);
    bytes_ += bytes_of(*one);
    newest_.push_front(std::move(one));
    while (newest_.size() > kMost || bytes_ > kMostBytes) take_out(oldest_of_largest());
  }
  Place oldest_of_largest() const {
    const auto is_less = [](const auto& a, const auto& b) { return a.second.part() < b.second.part(); };
    const std::string& owner = std::ranges::max_element(shares_, is_less)->first;
    const auto last =
        std::find_if(newest_.rbegin(), newest_.rend(), [&](const Ref& one) { return one->owner == owner; });
    return std::prev(last.base());
  }

  mutable std::mutex mutex_;
  std::list<Ref> newest_;  ///< the newest first
  std::size_t bytes_ = 0;
  std::map<std::string, Share, std::less<>> shares_;  ///< by owner
};

}  // namespace parlance::serve
