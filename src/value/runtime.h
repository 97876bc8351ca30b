// Runtime: what a running render owns and every builtin may touch: arena, budget, failure, clock.
//
// A builtin fails by `return rt.fail(ErrorCode::type, "…")`, which records the failure and gives the
// invalid Value; whoever drives (the VM) tests for it in one place and adds the position there.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/arena.h"
#include "parlance/civil_time.h"
#include "parlance/error.h"
#include "parlance/limits.h"
#include "value/object.h"

namespace parlance {

/// The first failure of a render; later ones are consequences and are dropped.
struct Failure {
  bool happened = false;
  ErrorCode code{};
  std::string message;
  std::string hint;
  Value culprit;  ///< the value to blame, for its path in the input
};

/// What of limits can hold: steps are counted with a sign, and what nests is walked on the native stack.
inline Limits that_hold(Limits limits) {
  constexpr std::uint64_t kMostSteps = std::numeric_limits<std::int64_t>::max();
  constexpr std::uint32_t kDeepest = 2000;
  limits.steps = std::min(limits.steps, kMostSteps);
  limits.depth = std::min(limits.depth, kDeepest);
  return limits;
}

class Printing;

struct Runtime {
  explicit Runtime(Arena& arena_in, const Limits& limits_in)
      : arena(arena_in), limits(that_hold(limits_in)), steps_left(static_cast<std::int64_t>(limits.steps)) {}
  Arena& arena;
  const Limits limits;
  std::int64_t steps_left;
  std::uint32_t depth = 0;  ///< nesting of native walks (repr, tojson, compare, sort keys)
  bool autoescape = false;
  bool limits_globals = false;         ///< `dict` and namespace() are those of newer releases of transformers
  bool allow_changes = false;          ///< lists and dicts that the template made have the methods that change them
  const Printing* printing = nullptr;  ///< the innermost container that is being printed
  CivilTime now;
  /// takes what printed as nothing, if somebody asks for it
  std::vector<const UndefinedInfo*>* printed_undefined = nullptr;
  std::uint64_t random_state = 0x9E3779B97F4A7C15u;  ///< for `random`; seeded by the caller
  Failure failure;

  /// Records a failure (the first one wins) and returns the invalid value.
  /// Cold: so compilers put what leads here, such as the making of messages, away from the code that runs.
  [[gnu::cold]] Value fail(ErrorCode code, std::string message, Value culprit = {});
  bool failed() const { return failure.happened; }

  /// Takes `steps` from the budget; false (with the failure recorded) when it is used up.
  bool charge(std::uint64_t steps) {
    steps_left -= static_cast<std::int64_t>(steps);
    return steps_left >= 0 || out_of_steps();
  }
  /// charge() for a builtin that looks at `bytes` bytes.
  bool charge_bytes(std::uint64_t bytes) { return charge(bytes / 32); }
  /// Ask before making something whose size the template chooses; false (recorded) when it would pass the limit.
  bool reserve(std::uint64_t bytes) { return (arena.has_room(bytes) && bytes < kMaxText) || out_of_memory(); }
  /// Strings are at most this long.
  static constexpr std::uint64_t kMaxText = std::uint64_t{1} << 31;

 private:
  [[gnu::cold]] bool out_of_steps();
  [[gnu::cold]] bool out_of_memory();
};

/// Guards native recursion over user data: `Nesting nest(rt); if (!nest.ok()) return Value::invalid();`
class Nesting {
 public:
  explicit Nesting(Runtime& rt) : rt_(rt), ok_(++rt.depth <= rt.limits.depth) {
    if (!ok_) rt.fail(ErrorCode::limit_depth, "maximum recursion depth exceeded");
  }
  ~Nesting() { --rt_.depth; }
  Nesting(const Nesting&) = delete;
  bool ok() const { return ok_; }

 private:
  Runtime& rt_;
  bool ok_;
};

/// A container while it is printed. One that contains itself, as a namespace may, is met again on the way down, and
/// prints as "..." there: `Printing here(rt, list); if (!here.ok()) …; if (here.again()) …`
class Printing {
 public:
  Printing(Runtime& rt, const void* what) : nesting_(rt), rt_(rt), what_(what), outer_(rt.printing) {
    for (const Printing* p = outer_; p != nullptr && !again_; p = p->outer_) again_ = p->what_ == what_;
    ok_ = nesting_.ok() && rt.charge(rt.depth / 64);
    rt.printing = this;
  }
  ~Printing() { rt_.printing = outer_; }
  Printing(const Printing&) = delete;
  bool ok() const { return ok_; }
  bool again() const { return again_; }

 private:
  Nesting nesting_;
  Runtime& rt_;
  const void* what_;
  const Printing* outer_;
  bool again_ = false;
  bool ok_ = false;
};

}  // namespace parlance
