// Kept: what a client may ask for by its id, in the Redis that gateways share, or else in memory.
#pragma once
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "serve/random_id.h"
#include "serve/sessions/lookup.h"
#include "serve/sessions/shared_lists.h"
#include "serve/stored/newest.h"

namespace parlance::serve {

/// Besides what Newest needs of `T`: T::kKind names it in Redis, texts_of(T) makes a list of it (shared_lists.h), and
/// take_texts(list, T&) is false where a list is none of these. Where Redis is optional, memory has a state of each
/// too, for when it cannot be asked; one that it did not take (T::unshared) is the newest. So is what is too large for
/// it. Threads: any.
template <typename T>
class Kept {
 public:
  using Ref = typename Newest<T>::Ref;
  /// `shared`: null, or where it is kept. `may_wait`: as Sessions take it, and all throw as they do.
  Kept(Newest<T>& memory, SharedSessions* shared, bool may_wait)
      : memory_(memory), shared_(shared), may_wait_(may_wait) {}

  /// Null: there is none of this client.
  Ref find(std::string_view id, std::string_view owner) const {
    return shared_ == nullptr ? memory_.find(id, owner) : look(id, owner).newest;
  }
  void keep(T one) const {
    if (shared_ == nullptr) return memory_.keep(std::move(one));
    write(one, nullptr);
  }
  /// What `change(T&)`, which may be asked several times, makes of it. Null: there is none.
  template <typename Change>
  Ref change(std::string_view id, std::string_view owner, const Change& change) const {
    if (shared_ == nullptr) return memory_.change(id, owner, change);
    const std::lock_guard alone(shared_->redis().turn_at(place(id, owner)));
    for (unsigned times = 0; times < kMostTimes; ++times) {
      if (times != 0) std::this_thread::sleep_for(std::chrono::microseconds(500 + random_number(2000 * times)));
      const State state = look(id, owner);
      if (state.newest == nullptr) return nullptr;
      T changed = *state.newest;
      change(changed);
      if (write(changed, state.texts.empty() ? nullptr : &state.texts))
        return std::make_shared<const T>(std::move(changed));
    }
    throw SharedFailure("other gateways changed it at the same time, " + std::to_string(kMostTimes) + " times");
  }
  /// Was there one? Throws where Redis cannot be asked, also where it is optional: it would come back.
  bool drop(std::string_view id, std::string_view owner) const {
    if (shared_ == nullptr) return memory_.drop(id, owner);
    const bool was_shared = lists().drop(place(id, owner));
    return memory_.drop(id, owner) || was_shared;
  }

 private:
  using Texts = SharedLists::Texts;
  static constexpr unsigned kMostTimes = 64;  ///< that other gateways may be quicker
  struct State {
    Ref newest;
    Texts texts;  ///< as Redis has it
  };

  SharedLists lists() const {
    if (!may_wait_) throw AskApart();
    return SharedLists(shared_->redis());
  }
  static std::string place(std::string_view id, std::string_view owner) {
    return SharedLists::place_of(T::kKind, id, owner);
  }
  State look(std::string_view id, std::string_view owner) const {
    const std::optional<Texts> texts = lists().read(place(id, owner));
    const Ref here = memory_.find(id, owner);
    if (here != nullptr && (!texts || here->unshared)) return {here, texts.value_or(Texts())};
    if (!texts || texts->empty()) return {};
    T made{.id = std::string(id), .owner = std::string(owner)};
    if (!take_texts(*texts, made)) return {};
    return {std::make_shared<const T>(std::move(made)), *texts};
  }
  /// False: `before` is not the state in Redis any more.
  bool write(T& one, const Texts* before) const {
    const Texts texts = texts_of(one);
    bool written = false;
    one.unshared = !SharedLists::may_have(texts);
    try {
      if (!one.unshared) written = lists().write(place(one.id, one.owner), texts, before);
    } catch (const SharedFailure&) {
      if (!shared_->optional()) throw;
      one.unshared = true;
    }
    if (!one.unshared && !written) return false;
    if (one.unshared || shared_->optional()) memory_.keep(one);
    return true;
  }

  Newest<T>& memory_;
  SharedSessions* shared_;
  bool may_wait_;
};

}  // namespace parlance::serve
