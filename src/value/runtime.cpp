// Runtime: recording the first failure, and the two limits that builtins meet.
#include "value/runtime.h"

namespace parlance {

Value Runtime::fail(ErrorCode code, std::string message, Value culprit) {
  if (!failure.happened) {
    failure.happened = true;
    failure.code = code;
    failure.message = std::move(message);
    failure.culprit = culprit;
  }
  return Value::invalid();
}

bool Runtime::out_of_steps() {
  steps_left = 0;
  fail(ErrorCode::limit_steps, "the render used up its " + std::to_string(limits.steps) + " steps");
  return false;
}

bool Runtime::out_of_memory() {
  fail(ErrorCode::limit_memory,
       "the render would need more than its " + std::to_string(limits.memory_bytes) + " bytes of memory");
  return false;
}

}  // namespace parlance
