#include "errors.h"

#include <utility>

#include "objects.h"

namespace parlance::python {

namespace {

nb::object errors_module() { return nb::module_::import_("parlance._errors"); }

[[noreturn]] void raise_object(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

/// Of this thread: the type, value and traceback.
thread_local nb::object* kept_interrupt = nullptr;

}  // namespace

void pass_interrupt(nb::python_error& error) {
  if (error.matches(PyExc_Exception)) return;
  error.restore();
  throw nb::python_error();
}

bool keep_interrupt(nb::python_error& error) {
  if (error.matches(PyExc_Exception)) return false;
  if (kept_interrupt == nullptr) kept_interrupt = new nb::object(nb::borrow(error.value()));
  return true;
}

void raise(const Error& error) {
  if (kept_interrupt != nullptr) {
    const nb::object interrupt = std::move(*kept_interrupt);
    delete std::exchange(kept_interrupt, nullptr);
    raise_object(interrupt);
  }
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
  raise_object(errors_module().attr("of_engine")(nb::str(python_class.data(), python_class.size()), parts));
}

void raise_at(PyObject* type, const std::string& path, const std::string& sentence) {
  raise_object(errors_module().attr("of_object")(nb::handle(type), text_to_python(path), text_to_python(sentence)));
}

void raise_at_from(nb::python_error& cause, const std::string& path, const std::string& sentence) {
  raise_object(
      errors_module().attr("of_raised")(nb::borrow(cause.value()), text_to_python(path), text_to_python(sentence)));
}

void reraise_at(nb::python_error& cause, const std::string& path, const std::string& sentence) {
  pass_interrupt(cause);
  if (nb::isinstance(cause.value(), errors_module().attr("Error"))) {
    cause.restore();
    throw nb::python_error();
  }
  raise_at_from(cause, path, sentence);
}

}  // namespace parlance::python
