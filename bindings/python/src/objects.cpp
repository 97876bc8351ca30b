// Begin reading at ObjectTaker::take.
#include "objects.h"

#include <cmath>
#include <string>

#include "errors.h"
#include "gil.h"
#include "parlance/json.h"
#include "parlance/reply.h"

namespace parlance::python {

namespace {

bool is_instance_of(nb::handle object, const char* module, const char* name) {
  return is_instance_at(object, imported(module, name));
}

/// A class of a package that the object can only be of if somebody has imported it.
nb::object loaded_class(const char* module, const char* name) {
  PyObject* const loaded = PyImport_GetModule(nb::str(module).ptr());
  if (loaded == nullptr) {
    PyErr_Clear();
    return nb::none();
  }
  return nb::getattr(nb::steal(loaded), name, nb::none());
}

/// An attribute of an object whose class may raise anything where it is asked for one; None where it has none.
nb::object attribute_or_none(nb::handle object, const char* name) {
  nb::object found = nb::steal(at_python([&] { return PyObject_GetAttrString(object.ptr(), name); }));
  if (found.is_valid()) return found;
  nb::python_error error;
  pass_interrupt(error);
  return nb::none();
}

/// As repr() writes a key in a path; "?" where it raises.
std::string shown_key(nb::handle key) {
  try {
    return nb::repr(key).c_str();
  } catch (nb::python_error& error) {
    pass_interrupt(error);
    return "?";
  }
}

/// As json.dumps writes a key that is a float.
nb::object key_of_float(nb::handle key) {
  const double value = PyFloat_AsDouble(key.ptr());
  if (std::isnan(value)) return nb::str("NaN");
  if (std::isinf(value)) return nb::str(value > 0 ? "Infinity" : "-Infinity");
  return nb::repr(nb::float_(value));
}

/// As json.dumps writes a key that is no str: of a number of a subclass, too, its digits. Invalid for any other, with
/// an error set if it is a number.
nb::object name_of_key(nb::handle key) {
  PyObject* const k = key.ptr();
  if (k == Py_None) return nb::str("null");
  if (PyBool_Check(k)) return nb::str(k == Py_True ? "true" : "false");
  if (PyFloat_Check(k)) return key_of_float(key);
  return PyLong_Check(k) ? nb::steal(PyNumber_ToBase(k, 10)) : nb::object();
}

std::string class_name(nb::handle object) { return nb::cast<std::string>(object.type().attr("__name__")); }

}  // namespace

/// The path of an object that is no member of a request.
constexpr std::string_view kTheValue = "value";

/// A step of the path, as long as it lives.
class ObjectTaker::Inside {
 public:
  Inside(ObjectTaker& taker, Step step) : taker_(taker), step_(step) {
    step_.around = taker.at_;
    taker.at_ = &step_;
  }
  Inside(const Inside&) = delete;
  ~Inside() { taker_.at_ = step_.around; }

 private:
  ObjectTaker& taker_;
  Step step_;
};

std::string_view encoded_utf8_of(nb::handle text, nb::object& kept) {
  Py_ssize_t size = 0;
  if (const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size))
    return {bytes, static_cast<std::size_t>(size)};
  PyErr_Clear();  // a lone surrogate
  kept = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
  if (!kept.is_valid()) throw nb::python_error();
  char* bytes = nullptr;
  if (PyBytes_AsStringAndSize(kept.ptr(), &bytes, &size) != 0) throw nb::python_error();
  return {bytes, static_cast<std::size_t>(size)};
}

// ---- errors

std::string ObjectTaker::path() const {
  std::vector<const Step*> steps;
  for (const Step* step = at_; step != nullptr; step = step->around) steps.push_back(step);
  constexpr std::size_t kShown = 32;  // of a path that leads into a cycle
  std::string path;
  for (std::size_t i = steps.size(); i-- > 0;) {
    const Step& step = *steps[i];
    if (steps.size() - i > kShown) return path + "…";
    if (!step.name.empty()) {
      path += step.name;
    } else if (step.index >= 0) {
      path += "[" + std::to_string(step.index) + "]";
    } else if (PyUnicode_Check(step.key.ptr()) && PyUnicode_IsIdentifier(step.key.ptr()) == 1) {
      path += (path.empty() ? "" : ".") + nb::cast<std::string>(step.key);
    } else {
      path += "[" + shown_key(step.key) + "]";
    }
  }
  return path;
}

void ObjectTaker::raise(PyObject* type, const std::string& sentence) const { raise_at(type, path(), sentence); }

/// Some code of the object's own raised: its error is the cause.
void ObjectTaker::raise_from(const std::string& sentence) const {
  nb::python_error cause;
  pass_interrupt(cause);
  raise_at_from(cause, path(), sentence);
}

// ---- objects

void ObjectTaker::take(nb::handle object) {
  if (take_scalar(object)) return;
  if (builder_.depth() >= DocumentBuilder::kMostDepth)
    raise(PyExc_RecursionError, "objects nest deeper than 1000 levels, or in a cycle");
  if (take_container(object)) return;
  try {
    take_unusual(object);
  } catch (nb::python_error& error) {  // its class may have code that raises where nobody expects any
    reraise_at(error, path(), "the object raised while it was read");
  }
}

/// False for what is no scalar of JSON's own types, nor of a subclass of theirs.
bool ObjectTaker::take_scalar(nb::handle object) {
  PyObject* const o = object.ptr();
  if (PyUnicode_Check(o)) {
    take_text(object, false);
  } else if (o == Py_None) {
    builder_.none();
  } else if (PyBool_Check(o)) {
    builder_.boolean(o == Py_True);
  } else if (PyLong_Check(o)) {
    take_integer(object);
  } else if (PyFloat_Check(o)) {
    builder_.real(PyFloat_AsDouble(o));
  } else {
    return false;
  }
  return true;
}

/// The same of containers.
bool ObjectTaker::take_container(nb::handle object) {
  PyObject* const o = object.ptr();
  if (PyDict_Check(o)) {
    take_dict(object);
  } else if (PyList_Check(o)) {
    builder_.begin_list();
    take_items(object, false);
    builder_.end_list();
  } else if (PyTuple_Check(o)) {
    options_.tuples ? builder_.begin_tuple() : builder_.begin_list();
    take_items(object, false);
    options_.tuples ? builder_.end_tuple() : builder_.end_list();
  } else {
    return false;
  }
  return true;
}

void ObjectTaker::take_integer(nb::handle object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow == 0) return builder_.integer(static_cast<std::int64_t>(value));
  nb::object digits = nb::steal(PyNumber_ToBase(object.ptr(), 10));
  if (!digits.is_valid()) raise_from("an integer cannot be written in decimal digits");
  nb::object kept;
  builder_.integer(utf8_of(digits, kept));
}

void ObjectTaker::take_text(nb::handle text, bool is_key) {
  constexpr std::size_t kLong = 512;  // bytes, from which on copying them takes longer than keeping the str
  nb::object kept;
  const std::string_view bytes = utf8_of(text, kept);
  if (is_key) return builder_.known_key(bytes);
  if (bytes.size() < kLong) return builder_.known_string(bytes);
  lenders_.push_back(kept.is_valid() ? std::move(kept) : nb::borrow(text));
  builder_.lent_string(bytes);
}

void ObjectTaker::take_key(nb::handle key) {
  if (PyUnicode_Check(key.ptr())) return take_text(key, true);
  const nb::object name = name_of_key(key);
  if (name.is_valid()) return take_text(name, true);
  if (PyErr_Occurred() != nullptr) raise_from("a key cannot be written in decimal digits");
  raise(PyExc_TypeError, "a key is a str, int, float, bool or None, not " + class_name(key));
}

/// A number, a bool or None as a key, beside the str that JSON makes of it: one of two values would be lost.
void ObjectTaker::refuse_same_name(nb::handle dict, nb::handle key) const {
  const nb::object name = name_of_key(key);
  if (!name.is_valid() || PyDict_Contains(dict.ptr(), name.ptr()) != 1) return PyErr_Clear();
  raise(PyExc_TypeError, "the dict has the key " + shown_key(name) + " too, which is the same in JSON");
}

/// A str whose bytes are there, so that to take it runs no code and waits for no lock.
bool ObjectTaker::is_at_hand(PyObject* text) {
#ifdef Py_GIL_DISABLED
  return PyUnicode_CheckExact(text) != 0 && PyUnicode_IS_COMPACT_ASCII(text);
#else
  return PyUnicode_CheckExact(text) != 0;
#endif
}

/// Takes members that are at hand, up to one that is not, which it gives; nothing at the end. Without a GIL the dict's
/// lock keeps other threads from changing it meanwhile. It is not kept for longer: many threads may read one dict.
ObjectTaker::Member ObjectTaker::take_members_at_hand(nb::handle dict, Py_ssize_t size, Py_ssize_t& position) {
  const ObjectGuard guard(dict);
  if (PyDict_Size(dict.ptr()) != size) raise(PyExc_RuntimeError, "a dict changed its size while it was read");
  PyObject *key = nullptr, *value = nullptr;
  while (PyDict_Next(dict.ptr(), &position, &key, &value) != 0) {
    if (!is_at_hand(key) || !is_at_hand(value)) return {nb::borrow(key), nb::borrow(value)};
    take_text(key, true);
    take_text(value, false);
  }
  return {};
}

/// The dict is not changed while it is gone through, or that is noticed: code of an object in it may run, or other
/// threads.
void ObjectTaker::take_dict(nb::handle dict) {
  if (PyDict_CheckExact(dict.ptr()) == 0) return take_mapping(dict);
  builder_.begin_dict();
  const Py_ssize_t size = PyDict_Size(dict.ptr());
  Py_ssize_t position = 0;
  for (;;) {
    const auto [key, value] = take_members_at_hand(dict, size, position);
    if (!key.is_valid()) break;
    const Inside inside(*this, {.key = key, .dict = dict});
    if (PyUnicode_Check(key.ptr()) == 0) refuse_same_name(dict, key);
    take_key(key);
    take(value);
  }
  builder_.end_dict();
}

void ObjectTaker::take_mapping(nb::handle mapping) {
  builder_.begin_dict();
  try {
    PythonItems items(call_method(mapping, "items"));
    for (nb::object item = items.next(); item.is_valid(); item = items.next()) {
      const auto pair = nb::borrow<nb::tuple>(made_by_python(at_python([&] { return PySequence_Tuple(item.ptr()); })));
      if (pair.size() != 2) raise(PyExc_TypeError, "the items of a mapping are not pairs");
      const nb::object key = pair[0], value = pair[1];
      const Inside inside(*this, {.key = key});
      take_key(key);
      take(value);
    }
  } catch (nb::python_error& error) {
    reraise_at(error, path(), "a mapping raised while it was read");
  }
  builder_.end_dict();
}

nb::object ObjectTaker::schema_of(nb::handle function) const {
  try {
    return call_python(imported("parlance._schema", "get_json_schema"), function);
  } catch (nb::python_error& error) {
    reraise_at(error, path(), "the function is no tool");
  }
}

void ObjectTaker::take_items(nb::handle iterable, bool may_be_functions) {
  Py_ssize_t index = 0;
  const bool is_list = PyList_CheckExact(iterable.ptr()) != 0 || PyTuple_CheckExact(iterable.ptr()) != 0;
  const auto take_one = [&](nb::handle item) {
    const Inside inside(*this, {.index = index});
    const bool is_function = may_be_functions && PyCallable_Check(item.ptr()) != 0 && PyDict_Check(item.ptr()) == 0 &&
                             PyType_Check(item.ptr()) == 0 && attribute_or_none(item, "model_dump").is_none();
    const bool is_tool = PyUnicode_Check(item.ptr()) == 0 && PyLong_Check(item.ptr()) == 0 && !item.is_none();
    if (may_be_functions && !is_tool)
      raise(PyExc_TypeError, "a tool is a dict, a function or a model of pydantic's, not " + class_name(item));
    is_function ? take(schema_of(item)) : take(item);
    ++index;
  };
  if (is_list) {  // by place, so that a list that shrinks meanwhile does no harm
    for (; index < PySequence_Size(iterable.ptr());) {
      const nb::object item = nb::steal(at_python([&] { return PySequence_GetItem(iterable.ptr(), index); }));
      if (!item.is_valid()) return PyErr_Clear();  // another thread has taken it out, where there is no GIL
      take_one(item);
    }
    return;
  }
  const nb::object items = nb::steal(at_python([&] { return PyObject_GetIter(iterable.ptr()); }));
  if (!items.is_valid()) raise_from("cannot be iterated");
  constexpr Py_ssize_t kMost = Py_ssize_t{1} << 26;  // an iterator may have no end
  for (;;) {
    const nb::object item = nb::steal(at_python([&] { return PyIter_Next(items.ptr()); }));
    if (!item.is_valid()) break;
    if (index == kMost) raise(PyExc_ValueError, "more than 67108864 items");
    take_one(item);
  }
  if (PyErr_Occurred() != nullptr) raise_from("the iteration failed");
}

/// What stands for an object, such as the value of an enum. That may in turn be an object that something stands for,
/// but not without end.
void ObjectTaker::take_instead(nb::handle object) {
  if (instead_ == kMostInstead) raise(PyExc_TypeError, "an object of type " + class_name(object) + " is not JSON");
  ++instead_;
  take(object);
  --instead_;
}

/// Is it the image, video or audio of a part of that type, in whatever class the processor takes it? Templates look at
/// the part alone.
bool ObjectTaker::is_media() const {
  if (at_ == nullptr || !at_->dict.is_valid()) return false;
  const nb::object type = [&] {
    const ObjectGuard guard(at_->dict);  // what the dict has is borrowed for a moment
    return nb::borrow(PyDict_GetItemString(at_->dict.ptr(), "type"));
  }();
  if (!type.is_valid() || PyUnicode_Check(type.ptr()) == 0) return PyErr_Clear(), false;
  nb::object kept;
  const std::string_view name = utf8_of(type, kept);
  return name.find("image") != name.npos || name.find("video") != name.npos || name.find("audio") != name.npos;
}

/// What JSON's types can be made of.
void ObjectTaker::take_unusual(nb::handle object) {
  if (is_instance_of(object, "collections.abc", "Mapping")) return take_mapping(object);
  const nb::object scalar = loaded_class("numpy", "generic");
  if (!scalar.is_none() && is_instance_at(object, scalar)) return take_instead(call_method(object, "item"));
  const nb::object array = loaded_class("numpy", "ndarray");  // of rows of Parquet
  if (!array.is_none() && is_instance_at(object, array) && !options_.placeholders)
    return take_instead(call_method(object, "tolist"));
  if (nb::isinstance<ReplyMessage>(object)) return take(call_method(object, "_in_history"));
  if (is_instance_of(object, "enum", "Enum") && !options_.placeholders)
    return take_instead(attribute_at(object, "value"));
  const bool is_type = PyType_Check(object.ptr()) != 0;
  if (!is_type && !attribute_or_none(object, "__dataclass_fields__").is_none()) {
    builder_.begin_dict();
    for (nb::handle field : nb::tuple(call_python(imported("dataclasses", "fields"), object))) {
      const nb::object name = field.attr("name");
      const Inside inside(*this, {.key = name});
      take_key(name);
      const nb::object value = nb::steal(at_python([&] { return PyObject_GetAttr(object.ptr(), name.ptr()); }));
      if (!value.is_valid()) raise_from("the field cannot be read");
      take(value);
    }
    return builder_.end_dict();
  }
  if (!is_type && PyCallable_Check(attribute_or_none(object, "model_dump").ptr()) != 0) {
    nb::object dumped;
    try {
      dumped = call_method(object, "model_dump");
    } catch (nb::python_error& error) {
      reraise_at(error, path(), "model_dump() raised");
    }
    return take_instead(dumped);
  }
  if (options_.placeholders || is_media()) return builder_.string("<" + class_name(object) + ">");
  raise(PyExc_TypeError, "an object of type " + class_name(object) + " is not JSON");
}

void ObjectTaker::take_member(std::string_view name, nb::handle object) {
  const Inside inside(*this, {.name = name});
  builder_.known_key(name);
  take(object);
}

void ObjectTaker::take_member(nb::handle name, nb::handle object) {
  const Inside inside(*this, {.key = name});
  take_key(name);
  take(object);
}

void ObjectTaker::take_tools(nb::handle tools) { take_list("tools", tools, true); }
void ObjectTaker::take_messages(nb::handle messages) { take_list("messages", messages, false); }

/// A member of the request that is a list, from any iterable but those that are something else.
void ObjectTaker::take_list(std::string_view name, nb::handle list, bool may_be_functions) {
  const Inside inside(*this, {.name = name});
  if (list.is_none()) raise(PyExc_TypeError, "a list is needed, not None");
  if (PyUnicode_Check(list.ptr()) != 0 || PyBytes_Check(list.ptr()) != 0 || PyDict_Check(list.ptr()) != 0)
    raise(PyExc_TypeError, "a list is needed, not a " + class_name(list));
  builder_.known_key(name);
  builder_.begin_list();
  take_items(list, may_be_functions);
  builder_.end_list();
}

std::string path_of(nb::handle path) {
  const nb::object given = nb::steal(PyOS_FSPath(path.ptr()));
  if (!given.is_valid()) throw nb::python_error();
  nb::object kept;
  if (PyUnicode_Check(given.ptr()) != 0) return std::string(utf8_of(given, kept));
  const auto bytes = nb::borrow<nb::bytes>(given);
  return {static_cast<const char*>(bytes.data()), bytes.size()};
}

// ---- back

nb::object to_python(Value value) {
  switch (value.kind) {
    case Kind::boolean: return nb::bool_(value.integer != 0);
    case Kind::real: return nb::float_(value.real);
    case Kind::string: return text_to_python(value.is_leaf() ? value.text() : std::string_view(whole_text(value)));
    case Kind::integer:
      if (value.is_small_int()) return nb::int_(value.integer);
      return nb::steal(PyLong_FromString(json_text(value).c_str(), nullptr, 10));
    case Kind::list:
    case Kind::tuple: {
      nb::list list;
      for (const Value item : value.items()) list.append(to_python(item));
      return list;
    }
    case Kind::dict: {
      nb::dict dict;
      for (const DictEntry& entry : value.members()) dict[text_to_python(entry.key.text())] = to_python(entry.value);
      return dict;
    }
    default: return nb::none();
  }
}

// ---- JSON texts

namespace {

/// What is taken as the only member of a request.
template <typename Take>
Document taken(Take take_into) {
  DocumentBuilder builder;
  ObjectTaker taker(builder, {});
  builder.begin_dict();
  take_into(taker);
  builder.end_dict();
  Document document;
  check(document.build(builder));
  return document;
}

Value only_member(const Document& document) { return document.root().members()[0].value; }

}  // namespace

nb::object plain_value(nb::handle object) {
  return to_python(only_member(taken([&](ObjectTaker& taker) { taker.take_member(kTheValue, object); })));
}

nb::object plain_messages(nb::handle messages) {
  return to_python(only_member(taken([&](ObjectTaker& taker) { taker.take_messages(messages); })));
}

nb::object plain_tools(nb::handle tools) {
  return to_python(only_member(taken([&](ObjectTaker& taker) { taker.take_tools(tools); })));
}

nb::object from_json(std::string_view json) {
  Document document;
  check(document.parse(json));
  return to_python(document.root());
}

std::string json_of(nb::handle object) {
  if (PyUnicode_Check(object.ptr()) != 0) return nb::cast<std::string>(object);
  DocumentBuilder builder;
  ObjectTaker taker(builder, {});
  taker.take(object);  // a path begins with a member of the object, as in a request
  Document document;
  check(document.build(builder));
  return json_text(document.root());
}

std::string json_of_tools(nb::handle tools) {
  return json_text(only_member(taken([&](ObjectTaker& taker) { taker.take_tools(tools); })));
}

std::vector<std::pair<nb::object, nb::object>> held_members(const nb::dict& dict) {
  std::vector<std::pair<nb::object, nb::object>> all;
  for (const auto& [name, value] : dict) all.emplace_back(nb::borrow(name), nb::borrow(value));
  return all;
}

std::vector<std::pair<std::string, std::string>> json_members(nb::handle dict) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [name, value] : held_members(nb::cast<nb::dict>(dict))) {
    const auto key = nb::cast<std::string>(name);
    const Document document = taken([&, &member = value](ObjectTaker& taker) { taker.take_member(key, member); });
    all.emplace_back(key, json_text(only_member(document)));
  }
  return all;
}

}  // namespace parlance::python
