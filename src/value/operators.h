// Python's operators on values: arithmetic, comparison, containment, subscripts. TypeErrors in CPython's words.
//
// arithmetic.cpp dispatches (numbers to number.cpp and bigint.cpp, `%` of strings to format.h), compare.cpp has
// equality and order, index.cpp subscripts and slices.
#pragma once
#include <optional>
#include <string_view>

#include "value/runtime.h"

namespace parlance {

enum class BinaryOperator : std::uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power };

/// a OP b with Python's rules for every kind: numbers of any size, str/list/tuple + and *, str % args, Markup.
/// Undefined operands fail with UndefinedError, unsupported ones with TypeError.
Value binary(Runtime& rt, BinaryOperator op, Value a, Value b);
Value negate(Runtime& rt, Value a);
Value positive(Runtime& rt, Value a);

/// a == b. Never a TypeError; a too deep structure records limit_depth.
bool equal(Runtime& rt, Value a, Value b);
/// a < b as Python; TypeError "'<' not supported between instances of 'str' and 'int'".
/// `symbol` is the operator that message shows.
bool less(Runtime& rt, Value a, Value b, std::string_view symbol = "<");
enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal, in, not_in };
/// a OP b; false with rt.failed() after a failure.
bool compare(Runtime& rt, Comparison op, Value a, Value b);
/// What containers ask of their members: the same object, or equal. Python's json has one NaN, so a NaN is the same as
/// another here, although a bare `nan == nan` is false.
bool same_or_equal(Runtime& rt, Value a, Value b);
/// item in container.
bool contains(Runtime& rt, Value container, Value item);

/// container[key] as Python's own (not Jinja2's environment.getitem): fails with KeyError, IndexError, TypeError.
/// Strings give code points, sharing bytes.
Value subscript(Runtime& rt, Value container, Value key);
/// container[start:stop:step]; absent bounds are none. Lists share items when step is 1, strings share bytes.
Value slice(Runtime& rt, Value container, Value start, Value stop, Value step);
/// A slice of something with a length: its first member, its step, and how many it takes.
struct SliceBounds {
  std::int64_t start;
  std::int64_t step;
  std::int64_t count;
};
/// Clamps the bounds of start:stop:step (absent ones are none) to `length` members; false with the failure recorded.
bool read_slice(Runtime& rt, std::int64_t length, Value start, Value stop, Value step, SliceBounds& out);
/// As an index (__index__): TypeError for others; clamps integers outside int64.
std::optional<std::int64_t> to_index(Runtime& rt, Value v);

/// Fails with UndefinedError in Jinja2's words for this undefined value ("'x' is undefined").
Value fail_undefined(Runtime& rt, Value undefined);
/// That sentence.
std::string undefined_message(Runtime& rt, Value undefined);

}  // namespace parlance
