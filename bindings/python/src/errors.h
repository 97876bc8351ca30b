// Errors of the engine as Python exceptions.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "parlance/error.h"
#include "parlance/result.h"

namespace parlance::python {

namespace nb = nanobind;

/// Raises it again if it is no Exception: what ends the program (KeyboardInterrupt, SystemExit) is nobody's to wrap.
void pass_interrupt(nb::python_error& error);
/// Keeps an exception, the first of this thread, for code between which none may pass: check(), take() and raise()
/// raise it.
void keep_raised(nb::python_error& error);
/// The same of what ends the program alone. False for an Exception.
bool keep_interrupt(nb::python_error& error);
/// Raises what was kept, if anything was.
void raise_kept();
/// Raises the exception of parlance._errors for an error: parlance.Error, and the class that Jinja2 or Python has for
/// it.
[[noreturn]] void raise(const Error& error);
/// Raises parlance.Error as a built-in exception too, for the object of the request at `path`.
[[noreturn]] void raise_at(PyObject* type, const std::string& path, const std::string& sentence);
/// Raises parlance.Error as ValueError too, for an argument that no call of the package takes.
[[noreturn]] void raise_argument(const std::string& sentence, const std::string& hint = "");
/// As raise_at() with the exception that some code of the object's own raised as its cause; its class is kept where it
/// is a built-in one.
[[noreturn]] void raise_at_from(nb::python_error& cause, const std::string& path, const std::string& sentence);
/// Raises an error that has a path as it is, and any other as raise_at_from().
[[noreturn]] void reraise_at(nb::python_error& cause, const std::string& path, const std::string& sentence);

/// A hint in the words of Python: arguments in place of what the library calls options and passes.
std::string in_python(const std::string& hint);

template <typename T>
T take(Result<T> result) {
  raise_kept();
  if (!result) raise(result.error());
  return *std::move(result);
}
inline void check(const Result<void>& result) {
  raise_kept();
  if (!result) raise(result.error());
}

}  // namespace parlance::python
