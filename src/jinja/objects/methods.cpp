// Which methods and attributes each type of value has, and which of them the sandbox refuses.
//
// find_method answers "what may be called", find_attribute everything else. Sources: dir() of
// CPython 3.11's types and Jinja2 3.1's ImmutableSandboxedEnvironment. The rows are in the
// methods_*.cpp files. Begin reading at find_method.

#include "jinja/objects/methods.h"

#include <array>

#include "jinja/objects/builtins.h"
#include "jinja/objects/objects.h"
#include "jinja/objects/rare/bytes.h"
#include "value/number.h"

namespace parlance::jinja {
namespace {

/// Like find_builtin, but methods have no aliases: length and first byte decide nearly every row.
const Builtin* find_row(std::span<const Builtin> rows, std::string_view name) {
  for (const Builtin& row : rows) {
    if (row.name.size() == name.size() && row.name[0] == name[0] && row.name == name) return &row;
  }
  return nullptr;
}

/// The methods of str by name: a hash table, since templates call them most and there are so many.
/// Made at the first call; the rows themselves are spread over cache lines too many to walk.
class TextIndex {
 public:
  TextIndex() {
    using Table = std::span<const Builtin> (*)();
    constexpr std::array<Table, 6> kTables = {text_split_methods, text_search_methods,    text_methods,
                                              text_case_methods,  text_predicate_methods, text_table_methods};
    for (Table table : kTables) {
      for (const Builtin& row : table()) slots_[free_slot(row.name)] = {row.name, &row};
    }
  }
  const Builtin* find(std::string_view name) const {
    for (std::size_t at = slot_of(name); slots_[at].row != nullptr; at = (at + 1) % kSlots) {
      if (slots_[at].name == name) return slots_[at].row;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kSlots = 256;
  struct Slot {
    std::string_view name;
    const Builtin* row = nullptr;
  };
  /// `name` is not empty.
  static std::size_t slot_of(std::string_view name) {
    const auto byte = [&](std::size_t i) -> std::size_t { return static_cast<unsigned char>(name[i]); };
    return (name.size() * 37 + byte(0) * 5 + byte(name.size() / 2) * 17 + byte(name.size() - 1)) % kSlots;
  }
  std::size_t free_slot(std::string_view name) const {
    std::size_t at = slot_of(name);
    while (slots_[at].row != nullptr) at = (at + 1) % kSlots;
    return at;
  }
  std::array<Slot, kSlots> slots_{};
};

const Builtin* find_text_method(Value v, std::string_view name) {
  static const TextIndex index;
  const Builtin* row = index.find(name);
  return row == nullptr && v.is_markup() ? find_row(markup_methods(), name) : row;
}

const Builtin* find_object_method(Value v, std::string_view name) {
  if (is_object(v, kRangeType)) return find_row(range_methods(), name);
  if (is_object(v, kDictKeysType) || is_object(v, kDictItemsType)) {
    return find_row(dict_view_methods(), name);
  }
  if (!is_object(v, kBytesType)) return nullptr;
  const Builtin* row = find_row(bytes_methods(), name);
  return row != nullptr ? row : find_row(bytes_text_methods(), name);
}

/// Methods that would change their object, and what is Jinja2's or Python's own of an object.
bool is_refused(Value v, std::string_view name) {
  constexpr std::string_view kList = " append clear extend insert pop remove reverse sort ";
  constexpr std::string_view kDict = " clear pop popitem setdefault update ";
  constexpr std::string_view kGroup = " _asdict _field_defaults _fields _make _replace ";
  constexpr std::string_view kUndefined =
      " _fail_with_undefined_error _undefined_exception _undefined_hint _undefined_message _undefined_name"
      " _undefined_obj ";
  std::string_view refused;
  if (v.kind == Kind::list) refused = kList;
  if (v.kind == Kind::dict) refused = kDict;
  if (is_group(v)) refused = kGroup;
  if (v.is_undefined()) refused = kUndefined;
  if (v.kind == Kind::object) refused = v.object->type->refused_names;
  return is_word_of(refused, name);
}

/// int.real and its kin. A bool answers as the int it is.
bool number_attribute(Value v, std::string_view name, Value& out) {
  const bool integral = is_integral(v);
  if (!integral && v.kind != Kind::real) return false;
  Value self = v;
  if (v.kind == Kind::boolean) self = Value::of_int(v.integer);
  if (name == "real" || (integral && name == "numerator")) {
    out = self;
  } else if (name == "imag") {
    out = integral ? Value::of_int(0) : Value::of_real(0);
  } else if (integral && name == "denominator") {
    out = Value::of_int(1);
  } else {
    return false;
  }
  return true;
}

bool find_range_attribute(Value v, std::string_view name, Value& out) {
  if (!is_object(v, kRangeType)) return false;
  const auto& range = *static_cast<const RangeObject*>(v.object);
  if (name == "start") return out = range.start, true;
  if (name == "stop") return out = range.stop, true;
  if (name == "step") return out = range.step, true;
  return false;
}

bool generator_attribute(Value v, std::string_view name, Value& out) {
  if (!is_object(v, kGeneratorType)) return false;
  const auto& generator = *static_cast<const Generator*>(v.object);
  if (name == "gi_running") return out = Value::boolean(generator.running), true;
  if (name == "gi_yieldfrom") return out = Value::none(), true;
  return false;
}

}  // namespace

const Builtin* find_method(Value v, std::string_view name) {
  if (name.empty() || name[0] == '_') return nullptr;
  switch (v.kind) {
    case Kind::string: return find_text_method(v, name);
    case Kind::dict: return find_row(dict_methods(), name);
    case Kind::list: return find_row(list_methods(), name);
    case Kind::tuple: return find_row(tuple_methods(), name);
    case Kind::integer:
    case Kind::boolean: return find_row(integer_methods(), name);
    case Kind::real: return find_row(real_methods(), name);
    case Kind::object: return find_object_method(v, name);
    default: return nullptr;
  }
}

AttributeKind find_attribute(Runtime&, Value v, std::string_view name, Value& out) {
  if (is_refused(v, name)) return AttributeKind::unsafe;
  const bool data =
      number_attribute(v, name, out) || find_range_attribute(v, name, out) || generator_attribute(v, name, out);
  return data ? AttributeKind::data : AttributeKind::absent;
}

std::span<const MethodTable> method_tables() {
  static const MethodTable kTables[] = {
      {"str", text_split_methods()},   {"str", text_search_methods()},     {"str", text_methods()},
      {"str", text_case_methods()},    {"str", text_predicate_methods()},  {"str", text_table_methods()},
      {"Markup", markup_methods()},    {"list", list_methods()},           {"tuple", tuple_methods()},
      {"dict", dict_methods()},        {"dict_keys", dict_view_methods()}, {"range", range_methods()},
      {"int", integer_methods()},      {"float", real_methods()},          {"bytes", bytes_methods()},
      {"bytes", bytes_text_methods()}, {"list", list_changes(), true},     {"dict", dict_changes(), true},
  };
  return kTables;
}

}  // namespace parlance::jinja
