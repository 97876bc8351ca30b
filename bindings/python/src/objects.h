// Python objects into the engine's values, and back.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/document_builder.h"
#include "parlance/value.h"

namespace parlance::python {

namespace nb = nanobind;

/// How objects that are not JSON are taken.
struct TakeOptions {
  bool tuples = false;        ///< a tuple stays one, as templates see it; false: it is a list
  bool placeholders = false;  ///< what cannot be taken becomes "<Type>", as in transformers; false: a TypeError
};

/// Goes through objects once and gives them to a builder.
///
/// Takes None, bool, int, float, str, list, tuple, dict and other mappings, their subclasses, enums (by their value),
/// dataclasses, pydantic models and NumPy scalars. Raises TypeError for anything else, RecursionError past 1000 levels,
/// and ValueError, each with the path of the object. Long texts are lent to the builder, so a taker lives until the
/// document is built.   Threads: holds the GIL; also as it ends.
class ObjectTaker {
 public:
  ObjectTaker(DocumentBuilder& builder, TakeOptions options) : builder_(builder), options_(options) {}

  void take(nb::handle object);
  /// The value of a member of the outermost dict.
  void take_member(std::string_view name, nb::handle object);
  void take_member(nb::handle name, nb::handle object);
  /// A list of tools: functions become their schemas.
  void take_tools(nb::handle tools);
  /// The messages, from any iterable.
  void take_messages(nb::handle messages);

 private:
  /// A step of the path to the object that is being taken.
  struct Step {
    const Step* around = nullptr;
    nb::handle key;           ///< of a dict, or
    Py_ssize_t index = -1;    ///< of a list, or
    std::string_view name{};  ///< of the request
    nb::handle dict{};        ///< the one that has the key, if it is no other mapping
  };
  class Inside;

  bool take_scalar(nb::handle object);
  bool take_container(nb::handle object);
  void take_unusual(nb::handle object);
  void take_integer(nb::handle object);
  void take_text(nb::handle text, bool is_key);
  void take_key(nb::handle key);
  void refuse_same_name(nb::handle dict, nb::handle key) const;
  using Member = std::pair<nb::object, nb::object>;
  static bool is_at_hand(PyObject* text);
  Member take_members_at_hand(nb::handle dict, Py_ssize_t size, Py_ssize_t& position);
  void take_dict(nb::handle dict);
  void take_mapping(nb::handle mapping);
  void take_items(nb::handle iterable, bool may_be_functions);
  void take_list(std::string_view name, nb::handle list, bool may_be_functions);
  nb::object schema_of(nb::handle function) const;
  std::string path() const;
  [[noreturn]] void raise(PyObject* type, const std::string& sentence) const;
  [[noreturn]] void raise_from(const std::string& sentence) const;

  void take_instead(nb::handle object);
  bool is_media() const;

  static constexpr int kMostInstead = 8;
  DocumentBuilder& builder_;
  TakeOptions options_;
  std::vector<nb::object> lenders_;  ///< each str whose bytes were lent
  int instead_ = 0;                  ///< so many objects are being taken in the place of others
  const Step* at_ = nullptr;
};

/// A value as new Python objects.
nb::object to_python(Value value);
/// What an object becomes in a request, as new Python objects: dicts, lists, str, int, float, bool and None.
nb::object plain_value(nb::handle object);
nb::object plain_messages(nb::handle messages);
nb::object plain_tools(nb::handle tools);
/// The values of a JSON text as new Python objects.
nb::object from_json(std::string_view json);
/// The JSON of an object; of a str, which is taken to be JSON, the str itself.
std::string json_of(nb::handle object);
/// The JSON of a list of tools, functions among them.
std::string json_of_tools(nb::handle tools);
/// The members that a dict has now, whatever becomes of it.
std::vector<std::pair<nb::object, nb::object>> held_members(const nb::dict& dict);
/// An object's members, name and JSON.
std::vector<std::pair<std::string, std::string>> json_members(nb::handle dict);
/// A str of what is UTF-8 for certain, as names and words of the library are.
inline nb::str str_of(std::string_view text) { return nb::str(text.data(), text.size()); }
/// A str of UTF-8 in which lone surrogates stand as three bytes. Bytes that are none, such as half a character at the
/// end of a reply, become U+FFFD.
nb::str text_to_python(std::string_view text);
/// The same; raises UnicodeDecodeError for such bytes. A large text that is constant, whatever other threads do, is
/// copied without the GIL.
nb::str exact_text_to_python(std::string_view text, bool is_constant = false);
/// A path that is given as str, bytes or os.PathLike. Raises TypeError for anything else.
std::string path_of(nb::handle path);
/// The bytes of a str that is not ASCII; for utf8_of.
std::string_view encoded_utf8_of(nb::handle text, nb::object& kept);
/// The bytes of a str. Raises nothing: lone surrogates stand as three bytes. `kept` keeps the memory alive.
inline std::string_view utf8_of(nb::handle text, nb::object& kept) {
#ifndef Py_LIMITED_API
  if (PyUnicode_IS_COMPACT_ASCII(text.ptr()))  // its characters are its UTF-8
    return {reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(text.ptr())),
            static_cast<std::size_t>(PyUnicode_GET_LENGTH(text.ptr()))};
#endif
  return encoded_utf8_of(text, kept);
}

}  // namespace parlance::python
