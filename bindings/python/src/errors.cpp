#include "errors.h"

#include <utility>

#include "gil.h"
#include "objects.h"

namespace parlance::python {

namespace {

nb::object of_errors(const char* name) { return imported("parlance._errors", name); }

[[noreturn]] void raise_object(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

/// Of this thread: an exception with its traceback.
thread_local nb::object* kept_raised = nullptr;

}  // namespace

void pass_interrupt(nb::python_error& error) {
  if (error.matches(PyExc_Exception)) return;
  error.restore();
  throw nb::python_error();
}

void keep_raised(nb::python_error& error) {
  if (kept_raised == nullptr) kept_raised = new nb::object(nb::borrow(error.value()));
}

bool keep_interrupt(nb::python_error& error) {
  if (error.matches(PyExc_Exception)) return false;
  keep_raised(error);
  return true;
}

void raise_kept() {
  if (kept_raised == nullptr) return;
  const nb::object kept = std::move(*kept_raised);
  delete std::exchange(kept_raised, nullptr);
  raise_object(kept);
}

void raise(const Error& error) {
  raise_kept();
  const Location& where = error.where();
  nb::list trace;
  for (const std::string& line : error.trace()) trace.append(text_to_python(line));
  nb::dict parts;
  parts["code"] = nb::str(facts(error.code()).name.data(), facts(error.code()).name.size());
  parts["message"] = text_to_python(error.message());
  parts["name"] = text_to_python(where.name);
  parts["line"] = where.line == 0 ? nb::object(nb::none()) : nb::object(nb::int_(where.line));
  parts["column"] = where.line == 0 ? nb::object(nb::none()) : nb::object(nb::int_(where.column));
  parts["path"] = text_to_python(error.input_path());
  parts["hint"] = text_to_python(error.hint());
  parts["trace"] = trace;
  parts["display"] = text_to_python(error.display());
  const std::string_view python_class = error.python_class();
  raise_object(call_python(of_errors("of_engine"), nb::str(python_class.data(), python_class.size()), parts));
}

std::string in_python(const std::string& hint) {
  if (hint.empty()) return hint;
  return nb::cast<std::string>(call_python(of_errors("in_python"), text_to_python(hint)));
}

void raise_at(PyObject* type, const std::string& path, const std::string& sentence) {
  raise_object(call_python(of_errors("of_object"), nb::handle(type), text_to_python(path), text_to_python(sentence)));
}

void raise_argument(const std::string& sentence, const std::string& hint) {
  raise_object(call_python(of_errors("of_argument"), nb::handle(PyExc_ValueError), text_to_python(sentence),
                           text_to_python(hint)));
}

void raise_at_from(nb::python_error& cause, const std::string& path, const std::string& sentence) {
  raise_object(
      call_python(of_errors("of_raised"), nb::borrow(cause.value()), text_to_python(path), text_to_python(sentence)));
}

void reraise_at(nb::python_error& cause, const std::string& path, const std::string& sentence) {
  pass_interrupt(cause);
  if (is_instance_at(cause.value(), of_errors("Error"))) {
    cause.restore();
    throw nb::python_error();
  }
  raise_at_from(cause, path, sentence);
}

}  // namespace parlance::python
