// SharedLists: lists of texts in the Redis that gateways share, for what clients ask for by an id.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/sessions/shared_redis.h"

namespace parlance::serve {

/// The first text of a list tells one state of it from another: no two states have the same one. All wait for Redis in
/// the calling thread, and throw SharedFailure. Threads: any.
class SharedLists {
 public:
  using Texts = std::vector<std::string>;
  explicit SharedLists(SharedRedis& redis) : redis_(redis) {}

  /// Where the list of this kind and id is, which is the owner's alone.
  static std::string place_of(std::string_view kind, std::string_view id, std::string_view owner);
  /// False: they are more than read() takes.
  static bool may_have(const Texts& texts);
  /// No texts: there is no list. Unset: Redis is optional, and cannot be asked.
  std::optional<Texts> read(const std::string& place);
  /// Puts `texts` there. False, and nothing is done: with `before`, the list is not that any more. It lives for the
  /// lifetime of a session.
  bool write(const std::string& place, const Texts& texts, const Texts* before = nullptr);
  /// Was there one?
  bool drop(const std::string& place);

 private:
  SharedRedis& redis_;
};

}  // namespace parlance::serve
