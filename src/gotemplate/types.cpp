// The tables of fields and methods, and access to the parts of values.
#include "gotemplate/types.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "value/bigint.h"
#include "value/number.h"
#include "value/string.h"

namespace parlance::gotemplate {
namespace {

constexpr std::size_t kFieldCount = std::size(kFields);

/// The rows of one struct in fields.def, which must stand together: a range is a beginning and a size.
struct FieldRange {
  std::uint8_t begin = 0;
  std::uint8_t size = 0;
};
constexpr auto kRanges = [] {
  std::array<FieldRange, kTypeCount> ranges{};
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    FieldRange& range = ranges[static_cast<std::size_t>(kFields[i].owner)];
    if (range.size++ == 0) range.begin = static_cast<std::uint8_t>(i);
  }
  return ranges;
}();

/// The first row with this name: the symbol of all of them.
constexpr std::size_t first_row(std::string_view name) {
  std::size_t i = 0;
  while (i < kFieldCount && kFields[i].name != name) ++i;
  return i;
}
/// Which field of each struct a symbol is. A template looks its names up once, when it is parsed; at run time a field
/// is two array accesses, whatever struct the value turns out to be.
constexpr FieldIndexes kIndexes = [] {
  FieldIndexes indexes{};
  for (auto& row : indexes.of) {
    for (std::int8_t& index : row) index = -1;
  }
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const auto owner = static_cast<std::size_t>(kFields[i].owner);
    indexes.of[owner][first_row(kFields[i].name)] = static_cast<std::int8_t>(i - kRanges[owner].begin);
  }
  return indexes;
}();

struct MethodRow {
  Type type;
  std::string_view name;
  Method method;
};
/// The exported methods of Ollama's types. A template may call any of them, so a missing row would be an error that Go
/// does not report.
constexpr MethodRow kMethods[] = {
    {Type::tools, "String", Method::string},
    {Type::tool, "String", Method::string},
    {Type::arguments, "String", Method::string},
    {Type::properties, "String", Method::string},
    {Type::property_type, "String", Method::string},
    {Type::property_type, "MarshalJSON", Method::marshal_json},
    {Type::property, "ToTypeScriptType", Method::type_script},
    {Type::ordered, "ToMap", Method::to_map},
    {Type::ordered, "Len", Method::length},
    {Type::ordered, "Get", Method::get},
    {Type::ordered, "Set", Method::set},
    {Type::ordered, "All", Method::all},
    {Type::ordered, "MarshalJSON", Method::marshal_json},
};

}  // namespace

const FieldIndexes kFieldIndexes = kIndexes;

std::span<const Field> fields_of(Type structure) {
  const FieldRange range = kRanges[static_cast<std::size_t>(structure)];
  return {kFields + range.begin, range.size};
}

std::int16_t field_symbol(std::string_view name) {
  const std::size_t row = first_row(name);
  return row == kFieldCount ? std::int16_t{-1} : static_cast<std::int16_t>(row);
}

Method method_of(Type type, std::string_view name) {
  for (const MethodRow& row : kMethods) {
    if (row.type == type && row.name == name) return row.method;
  }
  return Method::none;
}

bool is_method_name(std::string_view name) {
  return std::any_of(std::begin(kMethods), std::end(kMethods), [&](const MethodRow& row) { return row.name == name; });
}

double real_of(Value v) {
  if (v.kind == Kind::real) return v.real;
  if ((v.flags & Value::kBig) == 0) return static_cast<double>(v.integer);
  return big_to_real(*v.big).value_or(v.big->negative ? -HUGE_VAL : HUGE_VAL);  // the request refuses those
}

Value element(Value slice, std::size_t i) {
  if (slice.kind == Kind::string) {
    return with_type(Value::of_int(static_cast<unsigned char>(slice.data[i])), Type::byte);
  }
  const Value v = slice.list->items[i];
  return facts(type_of(slice)).element == Type::any ? box(v) : v;
}

std::size_t length_of(Value v) {
  switch (v.kind) {
    case Kind::string: return v.size;
    case Kind::list: return v.list->size;
    case Kind::dict: return v.dict->size;
    default: return 0;
  }
}

Value zero_of(Runtime& rt, Type type) {
  switch (facts(type).kind) {
    case GoKind::interface: return box(Value::none());
    case GoKind::boolean: return Value::boolean(false);
    case GoKind::integer:
    case GoKind::byte: return with_type(Value::of_int(0), type);
    case GoKind::real: return Value::of_real(0);
    case GoKind::string: return Value::view("");
    case GoKind::structure: break;
    default: return nil_of(type);
  }
  const std::span<const Field> fields = fields_of(type);
  Value* values = rt.arena.allocate_array<Value>(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) values[i] = zero_of(rt, fields[i].type);
  return with_type(make_list(rt, values, fields.size()), type);
}

/// Go sorts the keys of maps wherever order shows: in fmt, in encoding/json and in range. Most maps of requests arrive
/// sorted or are short, so the check comes first and the copy is charged only where it is made.
std::span<const DictEntry> sorted_entries(Runtime& rt, const DictObject& map) {
  const auto less = [](const DictEntry& a, const DictEntry& b) { return leaf_text(a.key) < leaf_text(b.key); };
  const std::span<const DictEntry> given{map.entries, map.size};
  if (std::is_sorted(given.begin(), given.end(), less)) return given;
  if (!rt.charge(map.size) || !rt.reserve(std::uint64_t{map.size} * sizeof(DictEntry))) return {};
  auto* sorted = rt.arena.allocate_array<DictEntry>(map.size);
  std::copy(given.begin(), given.end(), sorted);
  std::sort(sorted, sorted + map.size, less);
  return {sorted, map.size};
}

}  // namespace parlance::gotemplate
