// Taking the GIL on a thread that may not get it any more.
#include "gil.h"

#include <unistd.h>

#include <utility>

namespace parlance::python {

namespace {

/// Of this thread, as long as a GilRelease of it lives and no GilAcquire within that one.
thread_local PyThreadState* let_go = nullptr;

/// By the thread's own state, which PyGILState_Ensure() would look for in an interpreter that may be gone.
void take_gil_back() {
  at_python([state = std::exchange(let_go, nullptr)] {
    PyEval_RestoreThread(state);
    return true;
  });
}

}  // namespace

void wait_for_ever() {
  for (;;) pause();
}

GilRelease::GilRelease() { let_go = PyEval_SaveThread(); }
GilRelease::~GilRelease() { take_gil_back(); }

GilAcquire::GilAcquire() : takes_back_(let_go != nullptr) {
  if (takes_back_)
    take_gil_back();
  else
    state_ = at_python([] { return static_cast<int>(PyGILState_Ensure()); });
}

GilAcquire::~GilAcquire() {
  if (takes_back_)
    let_go = PyEval_SaveThread();
  else
    PyGILState_Release(static_cast<PyGILState_STATE>(state_));
}

}  // namespace parlance::python
