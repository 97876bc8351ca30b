// Decoder: members of JSON objects into typed values, as encoding/json assigns them to structs.
//
// Keys match a field exactly or, failing that, ignoring case; null leaves a field as it is. Source:
// Go 1.26 encoding/json/decode.go. Begin reading at Decoder::for_each_field.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "gotemplate/types.h"

namespace parlance::gotemplate {

class Decoder {
 public:
  explicit Decoder(Runtime& rt) : rt_(rt) {}

  /// Calls `assign(index, value)` for each member of `object` that one of the names stands for, in
  /// the order of the object. False (recorded) when the value is neither object nor null, or
  /// `assign` returned false.
  template <typename Assign>
  bool for_each_field(Value object, std::string_view what, std::span<const std::string_view> names, Assign assign) {
    if (object.is_none()) return true;
    if (object.kind != Kind::dict) return mismatch(object, what);
    for (const DictEntry& entry : entries(object)) {
      const int field = find(names, leaf_text(entry.key));
      if (field >= 0 && !assign(field, entry.value)) return false;
    }
    return true;
  }

  /// A string; null leaves `out` alone.
  bool text(Value v, std::string_view what, Value& out);
  /// An int.
  bool integer(Value v, std::string_view what, Value& out);
  /// []string, of the given type.
  bool texts(Value v, std::string_view what, Type type, Value& out);
  /// Anything, as interface {}.
  bool any(Value v, Value& out);
  /// A list, whose items `make(item, out)` decodes, as a slice of the given type.
  template <typename Make>
  bool list(Value v, std::string_view what, Type type, Value& out, Make make) {
    if (v.is_none()) {
      out = nil_of(type);
      return true;
    }
    if (v.kind != Kind::list) return mismatch(v, what);
    Value* items = rt_.arena.allocate_array<Value>(v.list->size);
    for (std::uint32_t i = 0; i < v.list->size; ++i) {
      if (!make(v.list->items[i], items[i])) return false;
    }
    out = with_type(make_list(rt_, items, v.list->size), type);
    out.list = with_origin(out.list, v);
    return true;
  }
  /// "json: cannot unmarshal number into Go struct field …"
  bool mismatch(Value v, std::string_view what);
  bool fail(std::string message, Value culprit);

  Runtime& rt() { return rt_; }

 private:
  static int find(std::span<const std::string_view> names, std::string_view key);
  bool is_clean(Value v);
  Value cleaned(Value v);
  const ListObject* with_origin(const ListObject* list, Value source);

  Runtime& rt_;
};

}  // namespace parlance::gotemplate
