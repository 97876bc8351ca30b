// Kept: what a client may ask for by its id, in the Redis that gateways share, or else in memory.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "serve/newest.h"
#include "serve/sessions/lookup.h"
#include "serve/sessions/shared_lists.h"

namespace parlance::serve {

/// Besides what Newest needs of `T`: T::kKind names it in Redis, texts_of(T) makes a list of it (shared_lists.h), and
/// take_texts(list, T&) is false where a list is none of these. What Redis does not take is in memory: where Redis is
/// optional, and what is too large for it. Threads: any.
template <typename T>
class Kept {
 public:
  using Ref = typename Newest<T>::Ref;
  /// `shared`: null, or where it is kept. `may_wait`: as Sessions take it, and all throw as they do.
  Kept(Newest<T>& memory, SharedSessions* shared, bool may_wait)
      : memory_(memory), shared_(shared), may_wait_(may_wait) {}

  /// Null: there is none of this client.
  Ref find(std::string_view id, std::string_view owner) const {
    if (shared_ == nullptr) return memory_.find(id, owner);
    Ref found = made_of(lists().read(place(id, owner)), id, owner);
    return found != nullptr ? found : memory_.find(id, owner);
  }
  void keep(T one) const {
    if (shared_ == nullptr) return memory_.keep(std::move(one));
    if (write(one, nullptr) == Written::failed) memory_.keep(std::move(one));
  }
  /// What `change(T&)`, which may be asked several times, makes of it. Null: there is none.
  template <typename Change>
  Ref change(std::string_view id, std::string_view owner, const Change& change) const {
    if (shared_ == nullptr) return memory_.change(id, owner, change);
    for (unsigned times = 0; times < kMostTimes; ++times) {
      const Texts before = lists().read(place(id, owner));
      const Ref found = made_of(before, id, owner);
      if (found == nullptr) return memory_.change(id, owner, change);
      T changed = *found;
      change(changed);
      const Written written = write(changed, &before);
      if (written == Written::failed) memory_.keep(changed);
      if (written != Written::too_late) return std::make_shared<const T>(std::move(changed));
    }
    throw SharedFailure("others change it all the time");
  }
  /// Was there one?
  bool drop(std::string_view id, std::string_view owner) const {
    if (shared_ == nullptr) return memory_.drop(id, owner);
    const bool was_shared = lists().drop(place(id, owner));
    return memory_.drop(id, owner) || was_shared;
  }

 private:
  using Texts = SharedLists::Texts;
  static constexpr unsigned kMostTimes = 32;  ///< that others may be quicker
  enum class Written { yes, too_late, failed };

  SharedLists lists() const {
    if (!may_wait_) throw AskApart();
    return SharedLists(shared_->redis());
  }
  static std::string place(std::string_view id, std::string_view owner) {
    return SharedLists::place_of(T::kKind, id, owner);
  }
  static Ref made_of(const Texts& texts, std::string_view id, std::string_view owner) {
    T made{.id = std::string(id), .owner = std::string(owner)};
    return !texts.empty() && take_texts(texts, made) ? std::make_shared<const T>(std::move(made)) : nullptr;
  }
  Written write(const T& one, const Texts* before) const {
    SharedLists shared = lists();
    const Texts texts = texts_of(one);
    if (!SharedLists::may_have(texts)) return Written::failed;
    try {
      return shared.write(place(one.id, one.owner), texts, before) ? Written::yes : Written::too_late;
    } catch (const SharedFailure&) {
      if (!shared_->optional()) throw;
      return Written::failed;
    }
  }

  Newest<T>& memory_;
  SharedSessions* shared_;
  bool may_wait_;
};

}  // namespace parlance::serve
