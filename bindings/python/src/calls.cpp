// What a call says whose arguments do not fit. nanobind lists the signatures of C++ then; parlance/_calls.py finds the
// argument that is wrong and says so in Python's words. Begin reading at bind_calls.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include "gil.h"
#include "prompt.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

using Call = PyObject* (*)(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* names);

/// nanobind's own ways to call a function: one for each kind of arguments.
constexpr std::size_t kMostWays = 16;
std::array<Call, kMostWays> ways{};

/// Whether this is the text of nanobind's error, or of a cast that failed within the call.
bool is_refused(std::string_view said) {
  return said.find("(): incompatible function arguments.") != std::string_view::npos || said == kFailedCast;
}

/// In place of the error that was raised, if that is nanobind's. Its text is asked for only then: a user's class of
/// errors may do anything for it. Throws what goes wrong here.
void speak_python(nb::python_error& raised, PyObject* function, PyObject* const* arguments, std::size_t count,
                  PyObject* names) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(raised.value().ptr())) != PyExc_TypeError) return raised.restore();
  const nb::str said(raised.value());
  if (!is_refused(said.c_str())) return raised.restore();
  constexpr std::size_t kCount = ~std::size_t{0} >> 2;  // above it are flags, of CPython and of nanobind
  const std::size_t given = count & kCount;
  nb::list positional;
  for (std::size_t i = 0; i < given; ++i) positional.append(nb::handle(arguments[i]));
  nb::dict named;
  const std::size_t more = names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_Size(names));
  for (std::size_t i = 0; i < more; ++i)
    named[nb::handle(PyTuple_GetItem(names, static_cast<Py_ssize_t>(i)))] = nb::handle(arguments[given + i]);
  const bool is_from_within = std::string_view(said.c_str()) == kFailedCast;
  const nb::object in_python =
      call_python(imported("parlance._calls", "refused"), nb::handle(function), positional, named, is_from_within);
  if (in_python.is_none()) return raised.restore();
  PyErr_SetObject(PyExc_TypeError, in_python.ptr());
}

template <std::size_t Way>
PyObject* call_by(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* names) noexcept {
  PyObject* const made = ways[Way](function, arguments, count, names);
  if (made != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return made;
  nb::python_error raised;
  try {
    speak_python(raised, function, arguments, count, names);
  } catch (const std::exception&) {  // the error that was raised is better than one of ours
    raised.restore();
  }
  return nullptr;
}

template <std::size_t... Ways>
constexpr std::array<Call, kMostWays> all_calls(std::index_sequence<Ways...>) {
  return {call_by<Ways>...};
}

/// Where a function of nanobind's keeps how it is called: behind its head, as its attribute for Python's vectorcall
/// tells. Null if that is not so.
Call* place_of_call(nb::handle function) {
  static_assert(sizeof(Call) == sizeof(Py_ssize_t));
  char* const place = reinterpret_cast<char*>(function.ptr()) + sizeof(PyVarObject);
  Py_ssize_t kept = 0;
  std::memcpy(&kept, place, sizeof kept);
  const nb::object told = nb::getattr(function, "__vectorcalloffset__", nb::none());
  const bool is_there = !told.is_none() && nb::cast<Py_ssize_t>(told) == kept;
  return is_there ? reinterpret_cast<Call*>(place) : nullptr;
}

void follow(nb::handle function) {
  static constexpr std::array<Call, kMostWays> kCalls = all_calls(std::make_index_sequence<kMostWays>());
  Call* const place = place_of_call(function);
  const auto is_followed = [&] { return std::find(kCalls.begin(), kCalls.end(), *place) != kCalls.end(); };
  if (place == nullptr || is_followed()) return;
  for (std::size_t way = 0; way < kMostWays; ++way) {
    if (ways[way] == nullptr) ways[way] = *place;
    if (ways[way] != *place) continue;
    *place = kCalls[way];
    return;
  }
}

/// The functions of a module or a class, and of its classes.
void follow_members(nb::handle holder) {
  const nb::object members = nb::module_::import_("builtins").attr("vars")(holder);
  for (nb::handle member : nb::list(members.attr("values")())) {
    if (nb::hasattr(member, "__nb_signature__")) follow(member);
    if (PyType_Check(member.ptr()) != 0) follow_members(member);
  }
}

/// nanobind's kinds of functions have no signature that `inspect` sees, and let none be set. So this is put among a
/// kind's members themselves. Other extensions may have functions of the same kind: for these it is as if it was not
/// there.
void show_signature(nb::handle kind, nb::handle shown) {
  const nb::object members = nb::module_::import_("builtins").attr("vars")(kind);
  const nb::list behind(nb::module_::import_("gc").attr("get_referents")(members));
  if (nb::len(behind) != 1 || PyDict_CheckExact(nb::object(behind[0]).ptr()) == 0) return;
  behind[0]["__signature__"] = shown;
  PyType_Modified(reinterpret_cast<PyTypeObject*>(kind.ptr()));
}

void show_signatures(nb::module_& module) {
  module.def(
      "_signature_of",
      [](nb::handle function) { return call_python(imported("parlance._calls", "signature_of"), function); },
      "function"_a, nb::sig("def _signature_of(function: typing.Any) -> typing.Any"));
  const nb::object shown = nb::module_::import_("builtins").attr("property")(module.attr("_signature_of"));
  const nb::object method = module.attr("Template").attr("render");
  const nb::object bound = method.attr("__get__")(nb::str("any object"), nb::none());
  for (const nb::object& one : {nb::object(module.attr("formats")), method, bound}) show_signature(one.type(), shown);
  module.attr("_KINDS_OF_FUNCTIONS") = nb::make_tuple(module.attr("formats").type(), method.type(), bound.type());
}

}  // namespace

void bind_calls(nb::module_& module) {
  show_signatures(module);
  follow_members(module);
}

}  // namespace parlance::python
