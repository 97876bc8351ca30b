// The extension's own locks, for what all threads share.
#pragma once
#include <mutex>

namespace parlance::python {

/// Each is held for a moment, and not while anything waits or calls Python.
enum class OwnLock { prompts, builders, workspaces, formats, subjects };

/// fork() waits until nobody holds one, so that a child finds them free.
std::mutex& own_lock(OwnLock which);

/// From 1 on: one more in a child than in the process that forked it.
unsigned process_number();

}  // namespace parlance::python
