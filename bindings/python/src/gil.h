// The GIL: let go of, and taken back, and Python's code called. Begin reading at EndStop.
//
// An interpreter that ends, before Python 3.14, calls pthread_exit() on each daemon thread that asks for the GIL. With
// glibc that unwinds the thread's stack, as an exception that no handler may keep; where it comes to a destructor, or
// to anything else that is noexcept, the process ends by abort(). And what it destroys on its way would let go of
// Python's objects without the GIL. Other systems end the thread where it is. Here such a thread waits for ever, as it
// does from Python 3.14 on. Without a GIL it is the same for what a thread asks for instead: the interpreter, also
// where it has waited for a lock.
#pragma once
#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <exception>
#include <optional>

namespace parlance::python {

namespace nb = nanobind;

[[noreturn]] void wait_for_ever();

/// A thread whose stack is unwound beyond this, though nobody has thrown, waits here for ever.
class EndStop {
 public:
  EndStop() : thrown_(std::uncaught_exceptions()) {}
  EndStop(const EndStop&) = delete;
  EndStop& operator=(const EndStop&) = delete;
  ~EndStop() {
    if (!has_passed_ && std::uncaught_exceptions() == thrown_) wait_for_ever();
  }
  void pass() { has_passed_ = true; }

 private:
  const int thrown_;
  bool has_passed_ = false;
};

/// Calls what may ask for the GIL: a function of Python's C API that may run code of Python's. All of such a call that
/// is to be destroyed belongs to the caller.
template <typename Call>
[[gnu::noinline]] auto at_python(const Call& call) {
  EndStop stop;
  const auto made = call();
  stop.pass();
  return made;
}

/// Takes a lock of nanobind's, which is none where there is a GIL. A thread that waits for one lets go of the
/// interpreter meanwhile, and asks for it again.
template <typename Take>
void at_lock(const Take& take) {
#if defined(NB_FREE_THREADED)
  at_python([&] {
    take();
    return true;
  });
#else
  take();
#endif
}

/// Has such a lock as long as it lives.
class LockGuard {
 public:
  explicit LockGuard(nb::ft_mutex& mutex) : mutex_(mutex) {
    at_lock([&] { mutex.lock(); });
  }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;
  ~LockGuard() { mutex_.unlock(); }

 private:
  nb::ft_mutex& mutex_;
};

/// Has the lock of a Python object as long as it lives, where there is no GIL.
class ObjectGuard {
 public:
  explicit ObjectGuard(nb::handle object) {
    at_lock([&] { guard_.emplace(object); });
  }
  ObjectGuard(const ObjectGuard&) = delete;
  ObjectGuard& operator=(const ObjectGuard&) = delete;

 private:
  std::optional<nb::ft_object_guard> guard_;
};

/// Lets go of the GIL, which this thread has, as long as it lives.
class GilRelease {
 public:
  GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  ~GilRelease();
};

/// Has the GIL as long as it lives, whether or not this thread has it already.
class GilAcquire {
 public:
  GilAcquire();
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;
  ~GilAcquire();

 private:
  const bool takes_back_;  ///< what a GilRelease of this thread let go of
  int state_ = 0;          ///< else
};

/// What a C API function gave; raises where it is nothing.
inline nb::object made_by_python(PyObject* made) {
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

/// function(*arguments).
template <typename... Arguments>
nb::object call_python(nb::handle function, const Arguments&... arguments) {
  const std::array<nb::object, sizeof...(arguments)> kept{nb::cast(arguments)...};
  std::array<PyObject*, sizeof...(arguments) + 1> all{};
  for (std::size_t i = 0; i < kept.size(); ++i) all[i] = kept[i].ptr();
  return made_by_python(
      at_python([&] { return PyObject_Vectorcall(function.ptr(), all.data(), kept.size(), nullptr); }));
}

/// object.name, which may be a property.
inline nb::object attribute_at(nb::handle object, const char* name) {
  return made_by_python(at_python([&] { return PyObject_GetAttrString(object.ptr(), name); }));
}

/// object.name(*arguments).
template <typename... Arguments>
nb::object call_method(nb::handle object, const char* name, const Arguments&... arguments) {
  return call_python(attribute_at(object, name), arguments...);
}

/// What a module has by a name. It is imported if it is not yet.
inline nb::object imported(const char* module, const char* name) {
  return attribute_at(made_by_python(at_python([&] { return PyImport_ImportModule(module); })), name);
}

/// Whether it is of the class, which may have an opinion of its own.
inline bool is_instance_at(nb::handle object, nb::handle of_class) {
  const int is_one = at_python([&] { return PyObject_IsInstance(object.ptr(), of_class.ptr()); });
  if (is_one < 0) throw nb::python_error();
  return is_one == 1;
}

/// What an object of Python's gives one after the other.
class PythonItems {
 public:
  explicit PythonItems(nb::handle iterable)
      : iterator_(made_by_python(at_python([&] { return PyObject_GetIter(iterable.ptr()); }))) {}
  /// Invalid behind the last. Raises what the iteration raises.
  nb::object next() {
    nb::object item = nb::steal(at_python([&] { return PyIter_Next(iterator_.ptr()); }));
    if (!item.is_valid() && PyErr_Occurred() != nullptr) throw nb::python_error();
    return item;
  }

 private:
  nb::object iterator_;
};

}  // namespace parlance::python
