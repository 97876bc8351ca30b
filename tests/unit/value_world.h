// What the unit tests of numbers, comparison and subscripts share: an arena, a runtime, short names
// for values, and the answer of an operation as text ("ZeroDivisionError: division by zero" after a
// failure).
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "value/dict.h"
#include "value/number.h"
#include "value/operators.h"
#include "value/string.h"
#include "value/text_of.h"

namespace parlance {

struct ValueWorld {
  ValueWorld() : rt(arena, limits) { arena.set_limit(limits.memory_bytes); }

  Value list(std::vector<Value> members, Kind kind = Kind::list) { return copy_list(rt, members, kind); }
  Value tuple(std::vector<Value> members) { return list(std::move(members), Kind::tuple); }
  Value dict(std::vector<DictEntry> members) {
    DictBuilder out(rt);
    for (const DictEntry& e : members) out.set(e.key, e.value);
    return out.finish();
  }
  /// A string that is not a leaf, one piece for each part.
  Value rope(std::vector<std::string_view> parts) {
    StringBuilder out(rt);
    for (const std::string_view part : parts) {
      out.append_computed(part);
      arena.allocate_text(1);  // keeps the pieces apart
    }
    return out.finish();
  }
  Value digits(std::string_view decimal, bool negative = false) {
    return integer_from_digits(rt, decimal, 10, negative);
  }
  Value undefined(UndefinedInfo::Form form, Value key, Value object = Value::none()) {
    Value v;
    v.undefined = arena.make<UndefinedInfo>(UndefinedInfo{form, key, object});
    return v;
  }

  /// repr of the value, or the failure, which is forgotten.
  std::string shown(Value v) {
    const Value repr = rt.failed() ? Value() : to_repr(rt, v);
    if (!rt.failed()) return std::string(text(rt, repr));
    std::string out = std::string(facts(rt.failure.code).python_class) + ": " + rt.failure.message;
    rt.failure = {};
    rt.steps_left = static_cast<std::int64_t>(limits.steps);
    return out;
  }
  std::string shown(bool b) { return shown(Value::boolean(b)); }

  Arena arena;
  Limits limits{.steps = 2'000'000, .memory_bytes = std::size_t{32} << 20, .depth = 50};
  Runtime rt;
};

inline Value str(std::string_view s) { return Value::view(s); }
inline Value integer(std::int64_t i) { return Value::of_int(i); }
inline Value real(double d) { return Value::of_real(d); }
inline Value markup(std::string_view s) {
  Value v = Value::view(s);
  v.flags |= Value::kMarkup;
  return v;
}

}  // namespace parlance
