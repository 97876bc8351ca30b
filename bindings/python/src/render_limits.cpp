// Begin reading at kLimits.
#include "render_limits.h"

#include <cstdint>

#include "errors.h"

namespace parlance::python {

namespace {

struct LimitRow {
  const char* name;
  std::uint64_t most;
  std::uint64_t (*get)(const Limits& limits);
  void (*set)(Limits& limits, std::uint64_t value);
};

constexpr std::uint64_t kAnyLimit = ~std::uint64_t{0};
constexpr std::uint64_t kDeepestLimit = 1000;  // what nests is walked on the stack of Python's threads

constexpr LimitRow kLimits[] = {
    {"max_steps", kAnyLimit, [](const Limits& l) { return l.steps; }, [](Limits& l, std::uint64_t v) { l.steps = v; }},
    {"max_output", kAnyLimit, [](const Limits& l) { return l.output_bytes; },
     [](Limits& l, std::uint64_t v) { l.output_bytes = v; }},
    {"max_memory", kAnyLimit, [](const Limits& l) { return l.memory_bytes; },
     [](Limits& l, std::uint64_t v) { l.memory_bytes = v; }},
    {"max_depth", kDeepestLimit, [](const Limits& l) { return std::uint64_t{l.depth}; },
     [](Limits& l, std::uint64_t v) { l.depth = static_cast<std::uint32_t>(v); }},
};

std::uint64_t limit_in(const LimitRow& row, nb::handle value) {
  const std::string name = row.name;
  if (PyIndex_Check(value.ptr()) == 0 || PyBool_Check(value.ptr()) != 0)
    throw nb::type_error((name + " is an int, not " + nb::type_name(value.type()).c_str()).c_str());
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  const std::uint64_t limit = PyLong_AsUnsignedLongLong(number.ptr());
  const bool is_none = PyErr_Occurred() != nullptr;
  PyErr_Clear();
  if (is_none || limit > row.most)
    raise_argument(name + " is from 0 to " + std::to_string(row.most) + ", not " + nb::str(number).c_str());
  return limit;
}

}  // namespace

bool set_limit(Limits& limits, const std::string& name, nb::handle value) {
  for (const LimitRow& row : kLimits) {
    if (name != row.name) continue;
    if (!value.is_none()) row.set(limits, limit_in(row, value));
    return true;
  }
  return false;
}

nb::tuple limit_names() {
  nb::list names;
  for (const LimitRow& row : kLimits) names.append(nb::str(row.name));
  return nb::tuple(names);
}

nb::dict limits_to_dict(const Limits& limits) {
  nb::dict made;
  for (const LimitRow& row : kLimits) made[row.name] = row.get(limits);
  return made;
}

}  // namespace parlance::python
