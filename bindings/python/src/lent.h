// Memory that is used again by whoever needs it next.
#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "own_locks.h"
#include "parlance/document_builder.h"
#include "parlance/template.h"

namespace parlance::python {

/// What is kept of one type. The one given back last is lent first: of many threads few run at a time, and those find
/// it in the caches. Never destroyed: a rendering may end after all else.
template <typename T, OwnLock kLock>
class Kept {
 public:
  static std::unique_ptr<T> take() {
    {
      const std::lock_guard lock(own_lock(kLock));
      if (!all().empty()) {
        std::unique_ptr<T> one = std::move(all().back());
        all().pop_back();
        return one;
      }
    }
    return std::make_unique<T>();
  }
  static void give_back(std::unique_ptr<T> one) {
    constexpr std::size_t kMost = 16;
    const std::lock_guard lock(own_lock(kLock));
    if (all().size() < kMost) all().push_back(std::move(one));
  }

 private:
  static std::vector<std::unique_ptr<T>>& all() {
    static auto* const kept = new std::vector<std::unique_ptr<T>>;
    return *kept;
  }
};

inline void forget(DocumentBuilder& builder) { builder.clear(); }
inline void forget(Workspace& /*unused*/) {}

/// One of them, as long as this lives. Who asks has one of their own, since code of the objects that are read may
/// itself render.
template <typename T, OwnLock kLock>
class Lent {
 public:
  Lent() : one_(Kept<T, kLock>::take()) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() {
    forget(*one_);
    Kept<T, kLock>::give_back(std::move(one_));
  }
  T& operator*() const { return *one_; }

 private:
  std::unique_ptr<T> one_;
};

using LentBuilder = Lent<DocumentBuilder, OwnLock::builders>;
using LentWorkspace = Lent<Workspace, OwnLock::workspaces>;

}  // namespace parlance::python
