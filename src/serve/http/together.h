// Several coroutines of one request at the same time: the choices of an answer.
#pragma once
#include <cstddef>
#include <functional>

#include "serve/http/task.h"

namespace parlance::serve {

/// Runs `make(0)` to `make(count - 1)` at the same time, in the thread of the caller, and begins them in this order.
/// The first that throws ends the others, and once they have ended, this throws what it threw.
Task<> together(std::size_t count, const std::function<Task<>(std::size_t)>& make);

}  // namespace parlance::serve
