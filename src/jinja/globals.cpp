// The functions every template can name: range, dict, namespace, cycler, joiner, lipsum, and the
// two that transformers adds, raise_exception and strftime_now; and the objects that only they
// make.
//
// Source of the rules: Jinja2 3.1.6 utils.py (Cycler, Joiner, Namespace, generate_lorem_ipsum) and
// sandbox.py (safe_range). Begin reading at kGlobals, at the end.
#include <algorithm>
#include <cstring>

#include "base/unicode.h"
#include "jinja/filters/common.h"
#include "jinja/objects/builtins.h"
#include "jinja/objects/dict_update.h"
#include "jinja/objects/limited_globals.h"
#include "jinja/objects/objects.h"
#include "jinja/objects/rare/codecs.h"
#include "jinja/objects/strftime.h"
#include "jinja/objects/type_objects.h"
#include "value/markup.h"
#include "value/number.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

// ---- range

/// The sandbox's safe_range bounds the number of members; make_range asks for it.
Value global_range(Call& call) {
  const PassedArguments& in = call.rest;
  std::uint32_t n = in.positional_count;
  if (n == 0) return call.rt.fail(ErrorCode::type, "range expected at least 1 argument, got 0");
  if (n > 3) return call.rt.fail(ErrorCode::type, "range expected at most 3 arguments, got " + std::to_string(n));
  Value bounds[3];
  for (std::uint32_t i = 0; i < n; ++i) {
    Value v = in.positional[i];
    if (!is_integral(v)) {
      return call.rt.fail(ErrorCode::type,
                          "'" + std::string(type_name(v)) + "' object cannot be interpreted as an integer", v);
    }
    bounds[i] = v.is(Kind::boolean) ? Value::of_int(v.integer) : v;
  }
  if (n == 1) return make_range(call.rt, Value::of_int(0), bounds[0], Value::of_int(1));
  return make_range(call.rt, bounds[0], bounds[1], n == 3 ? bounds[2] : Value::of_int(1));
}

// ---- dict

}  // namespace

Value build_dict(Runtime& rt, const PassedArguments& in) {
  if (in.positional_count > 1) {
    return rt.fail(ErrorCode::type, "dict expected at most 1 argument, got " + std::to_string(in.positional_count));
  }
  DictBuilder dict(rt, in.keyword_count);
  if (in.positional_count == 1 && !update_dict(rt, dict, in.positional[0])) return Value::invalid();
  for (std::uint32_t i = 0; i < in.keyword_count; ++i) {
    if (!dict.set(in.keywords[i].key, in.keywords[i].value)) return Value::invalid();
  }
  return dict.finish();
}

namespace {

Value global_dict(Call& call) { return build_dict(call.rt, call.rest); }

// ---- namespace

NamespaceObject& as_namespace(Object* self) { return *static_cast<NamespaceObject*>(self); }

Value global_namespace(Call& call) {
  Runtime& rt = call.rt;
  auto* ns = rt.arena.make<NamespaceObject>();
  ns->type = &kNamespaceType;
  if (call.rest.positional_count == 0) {  // the usual form needs no dict in between
    ns->size = ns->capacity = call.rest.keyword_count;
    ns->entries = const_cast<DictEntry*>(call.rest.keywords);  // gathered for this call: nobody else has seen them
  } else {
    const Value dict = build_dict(rt, call.rest);
    if (dict.is_invalid()) return dict;
    ns->size = ns->capacity = dict.dict->size;
    ns->entries = dict.dict->entries;  // nobody else has seen this dict
  }
  return check_namespace_names(rt, {ns->entries, ns->size}) ? object_value(ns) : Value::invalid();
}

/// Namespaces are small, so there is no index; the charge bounds one that a template makes large.
DictEntry* find_member(Runtime& rt, NamespaceObject& ns, std::string_view name) {
  rt.charge(ns.size / 16);
  for (std::uint32_t i = 0; i < ns.size; ++i) {
    if (ns.entries[i].key.is_string() && equal_bytes(leaf_text(ns.entries[i].key), name)) return &ns.entries[i];
  }
  return nullptr;
}

Value namespace_attribute(Runtime& rt, Object* self, std::string_view name) {
  const DictEntry* entry = find_member(rt, as_namespace(self), name);
  if (entry == nullptr) return missing();
  if (!name.starts_with('_')) return entry->value;
  Value unsafe;  // the sandbox does not ask whose attribute it is
  unsafe.undefined =
      rt.arena.make<UndefinedInfo>(UndefinedInfo{UndefinedInfo::Form::unsafe, entry->key, object_value(self)});
  return unsafe;
}

Value namespace_text(Runtime& rt, Object* self, bool) {
  const Printing here(rt, self);
  if (!here.ok()) return Value::invalid();
  if (here.again()) return make_static("<Namespace {...}>");
  const NamespaceObject& ns = as_namespace(self);
  DictBuilder dict(rt, ns.size);
  for (std::uint32_t i = 0; i < ns.size; ++i) dict.set(ns.entries[i].key, ns.entries[i].value);
  Value shown = to_repr(rt, dict.finish());
  if (shown.is_invalid()) return shown;
  StringBuilder out(rt);
  out.append_static("<Namespace ");
  out.append(shown);
  out.append_static(">");
  return out.finish();
}

constexpr ObjectType namespace_type() {
  ObjectType type{.name = "Namespace"};
  type.to_text = namespace_text;
  type.get_attribute = namespace_attribute;
  type.refused_names = " _Namespace__attrs ";
  return type;
}

// ---- cycler, joiner

/// Objects without a text of their own print their class with its module.
Value plain_object_text(Runtime& rt, std::string_view python_class) {
  StringBuilder out(rt);
  out.append_static("<jinja2.utils.");
  out.append_static(python_class);
  out.append_static(" object at ");
  out.append_static(kPrintedAddress);
  out.append_static(">");
  return out.finish();
}

CyclerObject& as_cycler(Object* self) { return *static_cast<CyclerObject*>(self); }

Value global_cycler(Call& call) {
  const PassedArguments& in = call.rest;
  if (in.positional_count == 0) {
    return call.rt.fail(ErrorCode::python_runtime, "at least one item has to be provided");
  }
  Value members = copy_list(call.rt, {in.positional, in.positional_count}, Kind::tuple);
  if (members.is_invalid()) return members;
  return object_value(call.rt.arena.make<CyclerObject>(CyclerObject{{&kCyclerType}, members, 0}));
}

Value current(const CyclerObject& cycler) { return cycler.items.list->items[cycler.position]; }

Value cycler_next(Call& call) {
  CyclerObject& cycler = as_cycler(call[0].object);
  Value value = current(cycler);
  cycler.position = (cycler.position + 1) % cycler.items.list->size;
  return value;
}

Value cycler_reset(Call& call) {
  as_cycler(call[0].object).position = 0;
  return Value::none();
}

constexpr Builtin kCyclerMethods[] = {
    {"next", "", "self", cycler_next, "The current item; the next one becomes current.",
     "{% set c = cycler('a', 'b') %}{{ c.next() ~ c.next() ~ c.next() }} -> aba"},
    {"reset", "", "self", cycler_reset, "Makes the first item current again.", "{{ cycler('a').reset() }} -> None"},
};

Value cycler_attribute(Runtime& rt, Object* self, std::string_view name) {
  const CyclerObject& cycler = as_cycler(self);
  if (name == "current") return current(cycler);
  if (name == "items") return cycler.items;
  if (name == "pos") return Value::of_int(cycler.position);
  const Builtin* row = find_builtin(kCyclerMethods, name);
  if (row == nullptr) return missing();
  return object_value(rt.arena.make<BoundMethod>(BoundMethod{{&kBoundMethodType}, object_value(self), row}));
}

constexpr ObjectType cycler_type() {
  ObjectType type{.name = "Cycler"};
  type.to_text = [](Runtime& rt, Object*, bool) { return plain_object_text(rt, "Cycler"); };
  type.get_attribute = cycler_attribute;
  return type;
}

Value global_joiner(Call& call) {
  return object_value(call.rt.arena.make<JoinerObject>(JoinerObject{{&kJoinerType}, call[0], false}));
}

Value joiner_call(Runtime& rt, Object* self, const PassedArguments& in) {
  auto& joiner = *static_cast<JoinerObject*>(self);
  if (in.positional_count + in.keyword_count != 0) {
    return rt.fail(ErrorCode::type, "Joiner.__call__() takes 1 positional argument but " +
                                        std::to_string(1 + in.positional_count) + " were given");
  }
  if (joiner.used) return joiner.separator;
  joiner.used = true;
  return make_static("");
}

Value joiner_attribute(Runtime&, Object* self, std::string_view name) {
  const auto& joiner = *static_cast<JoinerObject*>(self);
  if (name == "sep") return joiner.separator;
  return name == "used" ? Value::boolean(joiner.used) : missing();
}

constexpr ObjectType joiner_type() {
  ObjectType type{.name = "Joiner"};
  type.to_text = [](Runtime& rt, Object*, bool) { return plain_object_text(rt, "Joiner"); };
  type.get_attribute = joiner_attribute;
  type.call = joiner_call;
  type.is_callable = true;
  return type;
}

// ---- transformers' own

/// The message is str() of the argument, as in transformers: jinja2.exceptions.TemplateError(message).
Value global_raise_exception(Call& call) {
  Value message = call.text_of(0);
  if (message.is_invalid()) return message;
  return call.fail(ErrorCode::raised, std::string(text(call.rt, message)));
}

/// `whole`, made of parts that know their place in the format: who writes the format may be a stranger.
Value time_by_parts(Call& call, std::string_view format, std::string_view whole) {
  StringBuilder parts(call.rt);
  std::string put_together, part;
  for (std::size_t at = 0; at < format.size();) {
    const std::size_t end = at + first_time_part(format.substr(at));
    const std::string_view its_format = format.substr(at, end - at);
    if (its_format.starts_with('%')) {
      part.clear();
      append_time(call.rt, part, call.rt.now, its_format);
      put_together += part;
      if (!part.empty()) parts.append_derived(part, call[0], at);  // %Z has no text
    } else {
      put_together += its_format;
      parts.append(call[0], at, end);
    }
    at = end;
  }
  // Python and glibc read "%1%f" differently, so that the parts are not the whole.
  return put_together == whole ? parts.finish() : make_computed(call.rt, whole);
}

Value global_strftime_now(Call& call) {
  if (!call[0].is_string()) {
    return call.fail(ErrorCode::type, "strftime() argument 1 must be str, not " + std::string(type_name(call[0])));
  }
  std::string_view format = text(call.rt, call[0]);
  if (utf8::has_surrogates(format)) {
    fail_surrogate(call, format);
    return Value::invalid();
  }
  format = format.substr(0, format.find('\0'));  // C's strftime() reads no further
  // A conversion may write many bytes for two of the format ("%c"), so a byte counts a whole step.
  if (!call.rt.charge_bytes(32 * std::uint64_t{format.size()})) return Value::invalid();
  std::string out;
  append_time(call.rt, out, call.rt.now, format);
  return call.rt.failed() ? Value::invalid() : time_by_parts(call, format, out);
}

// ---- lipsum

constexpr std::string_view kLorem =
    "Lorem ipsum dolor sit amet, consectetuer adipiscing elit, sed diam nonummy nibh euismod tincidunt ut laoreet "
    "dolore magna "
    "aliquam erat volutpat. Ut wisi enim ad minim veniam, quis nostrud exerci tation ullamcorper suscipit lobortis "
    "nisl ut "
    "aliquip ex ea commodo consequat. ";

/// Appends the first `count` words of the text, repeated if need be, and a full stop; false after a failure. Jinja2
/// draws its words at random, so a template can rely on their number only.
bool append_words(Runtime& rt, std::string& out, std::int64_t count) {
  std::string_view rest;
  for (; rt.charge(1) && rt.reserve(out.size()); --count) {
    if (count <= 0) {
      out.resize(out.find_last_not_of(" ,.") + 1);
      out += '.';
      return true;
    }
    if (rest.empty()) rest = kLorem;
    const std::size_t size = rest.find(' ') + 1;
    out += rest.substr(0, size);
    rest.remove_prefix(size);
  }
  return false;
}

Value global_lipsum(Call& call) {
  std::int64_t paragraphs, least, most;
  if (!call.integer(0, paragraphs) || !call.integer(2, least) || !call.integer(3, most)) return Value::invalid();
  bool html = call.truth(1);
  if (call.rt.failed()) return Value::invalid();
  if (paragraphs > 0 && least >= most) {
    return call.fail(ErrorCode::value, "empty range for randrange() (" + std::to_string(least) + ", " +
                                           std::to_string(most) + ", " + std::to_string(most - least) + ")");
  }
  const std::uint64_t range = paragraphs > 0 ? static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) : 0;
  const std::int64_t words = least + static_cast<std::int64_t>(range / 2);
  std::string out;
  for (std::int64_t i = 0; i < paragraphs; ++i) {
    if (i != 0) out += html ? "\n" : "\n\n";
    if (html) out += "<p>";
    if (!append_words(call.rt, out, words)) return Value::invalid();
    if (html) out += "</p>";
  }
  return with_markup(make_computed(call.rt, out), html);
}

// ---- Functions as values

/// What Python prints for the object behind a global name.
struct PythonName {
  std::string_view name, shown;
};
constexpr PythonName kPythonNames[] = {
    {"range", "<function safe_range at "},
    {"dict", "<class 'dict'>"},
    {"namespace", "<class 'jinja2.utils.Namespace'>"},
    {"cycler", "<class 'jinja2.utils.Cycler'>"},
    {"joiner", "<class 'jinja2.utils.Joiner'>"},
    {"lipsum", "<function generate_lorem_ipsum at "},
};

constexpr std::string_view kLimitedNamespace =
    "<class 'transformers.utils.chat_template_utils._cached_compile_jinja_template.<locals>.TemplateNamespace'>";

Value function_text(Runtime& rt, Object* self, bool) {
  const Builtin* row = static_cast<FunctionObject*>(self)->row;
  if (rt.limits_globals && row->run == global_namespace) return make_static(kLimitedNamespace);
  std::string shown = "<function " + std::string(row->name) + " at ";
  for (const PythonName& python : kPythonNames) {
    if (python.name == row->name) shown = python.shown;
  }
  if (shown.back() == '>') return make_computed(rt, shown);
  shown += kPrintedAddress;
  return make_computed(rt, shown + ">");
}

Value function_call(Runtime& rt, Object* self, const PassedArguments& arguments) {
  return call_builtin(rt, *static_cast<FunctionObject*>(self)->row, nullptr, arguments);
}

bool functions_equal(Runtime&, Object* a, Object* b) {
  return static_cast<FunctionObject*>(a)->row == static_cast<FunctionObject*>(b)->row;
}

bool is_dict_type(const Object* self) { return static_cast<const FunctionObject*>(self)->row->name == "dict"; }

Value function_attribute(Runtime& rt, Object* self, std::string_view name) {
  const bool of_limited = rt.limits_globals && name == "_check_name";
  if (of_limited && is_namespace_function(object_value(self))) return refused_attribute(rt, object_value(self), name);
  return is_dict_type(self) ? dict_type_attribute(rt, object_value(self), name) : missing();
}

Value function_item(Runtime& rt, Object* self, Value key) {
  if (is_dict_type(self)) return make_dict_alias(rt, object_value(self), key);
  return rt.fail(ErrorCode::type, "'function' object is not subscriptable", object_value(self));
}

std::uint64_t function_hash(Runtime&, Object* self) { return hash_text(static_cast<FunctionObject*>(self)->row->name); }

constexpr ObjectType function_type() {
  ObjectType type{.name = "function"};
  type.to_text = function_text;
  type.get_item = function_item;
  type.subscripts_as_class = true;
  type.get_attribute = function_attribute;
  type.call = function_call;
  type.equal = functions_equal;
  type.hash = function_hash;
  type.is_callable = true;
  return type;
}

constexpr Builtin kGlobals[] = {
    {"range", "", "*args", global_range,
     "The integers from start (0) up to but not including stop, in steps of step (1).",
     "{{ range(1, 6, 2)|list }} -> [1, 3, 5]"},
    {"dict", "", "*args, **kwargs", global_dict,
     "A dict made from a mapping or from pairs, and from keyword arguments.",
     "{{ dict({'a': 1}, b=2) }} -> {'a': 1, 'b': 2}"},
    {"namespace", "", "*args, **kwargs", global_namespace,
     "An object with attributes that {% set ns.name = … %} can change, also from inside a loop.",
     "{{ namespace(n=3).n }} -> 3"},
    {"cycler", "", "*items", global_cycler,
     "An object whose next() returns the items in turn; it also has `current` and reset().",
     "{{ cycler('odd', 'even').next() }} -> odd"},
    {"joiner", "", "sep=', '", global_joiner,
     "A function that returns \"\" the first time and the separator from then on.",
     "{% set j = joiner('|') %}{{ j() ~ 'a' ~ j() ~ 'b' }} -> a|b"},
    {"lipsum", "", "n=5, html=true, min=20, max=100", global_lipsum,
     "Paragraphs of filler text: always the same one, half way between `min` and `max` words long.",
     "{{ lipsum(1, false, 3, 5) }} -> Lorem ipsum dolor sit."},
    {"raise_exception", "", "message", global_raise_exception,
     "Aborts the render with an error that carries this message.", "{{ raise_exception is callable }} -> True"},
    {"strftime_now", "", "format", global_strftime_now,
     "The current time, formatted as Python's strftime does. The caller of the render says what time it is.",
     "{{ strftime_now('%%')|length }} -> 1"},
};

}  // namespace

constinit const ObjectType kNamespaceType = namespace_type();
constinit const ObjectType kCyclerType = cycler_type();
constinit const ObjectType kJoinerType = joiner_type();
constinit const ObjectType kFunctionType = function_type();

bool is_namespace_function(const Value& v) {
  return is_object(v, kFunctionType) && static_cast<FunctionObject*>(v.object)->row->run == global_namespace;
}

NamespaceObject* make_namespace(Runtime& rt, std::uint32_t count) {
  auto* memory = static_cast<char*>(rt.arena.allocate(sizeof(NamespaceObject) + count * sizeof(DictEntry)));
  auto* entries = reinterpret_cast<DictEntry*>(memory + sizeof(NamespaceObject));
  return new (memory) NamespaceObject{{&kNamespaceType}, entries, count, count};
}

void namespace_set(Runtime& rt, NamespaceObject& ns, std::string_view name, Value value) {
  if (DictEntry* there = find_member(rt, ns, name)) {
    there->value = value;
    return;
  }
  if (ns.size == ns.capacity) {
    std::uint32_t capacity = std::max<std::uint32_t>(4, 2 * ns.capacity);
    if (!rt.reserve(std::uint64_t{capacity} * sizeof(DictEntry))) return;
    auto* grown = rt.arena.allocate_array<DictEntry>(capacity);
    std::copy(ns.entries, ns.entries + ns.size, grown);
    ns.entries = grown;
    ns.capacity = capacity;
  }
  ns.entries[ns.size++] = {Value::view(name), value};
}

Value global_value(Runtime& rt, std::string_view name) {
  const Builtin* row = find_global(name);
  if (row == nullptr) return left_out();
  if (rt.limits_globals && row->run == global_dict) return make_limited_dict(rt);
  return object_value(rt.arena.make<FunctionObject>(FunctionObject{{&kFunctionType}, row}));
}

std::span<const Builtin> global_table() { return kGlobals; }
const Builtin* find_global(std::string_view name) { return find_builtin(kGlobals, name); }

}  // namespace parlance::jinja
