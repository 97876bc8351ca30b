// Dicts and lists in an arena: linear up to kLinearDict entries, then an open-addressed index.
#include "value/dict.h"

#include <cstring>

#include "base/hash.h"
#include "value/number.h"
#include "value/operators.h"

namespace parlance {
namespace {

/// At most half of the slots are taken, so a chain of probes stays short and always meets an empty slot.
std::uint32_t slots_for(std::uint32_t entries) {
  std::uint32_t slots = 32;
  while (slots < entries * 2) slots *= 2;
  return slots;
}

/// A slot holds the number of an entry plus one, since zeroed memory must mean "empty". Entries themselves never move
/// in an index: Python's dicts keep the order of insertion, and so does every walk over `entries`.
void put_in_index(DictObject& dict, std::uint64_t hash, std::uint32_t entry) {
  std::uint32_t slot = static_cast<std::uint32_t>(hash) & dict.index_mask;
  while (dict.index[slot] != 0) slot = (slot + 1) & dict.index_mask;
  dict.index[slot] = entry + 1;
}

/// Hash of a key that is known to be hashable (it is in a dict already, or is a string or a number).
std::uint64_t hash_known(const Value& key) {
  Arena none;
  Limits limits;
  if (key.is_leaf()) return hash_text(leaf_text(key));
  if (is_number(key)) return number_hash(key);
  Runtime rt(none, limits);
  return hash_value(rt, key);
}

/// Hashes are not kept. A probe that meets a foreign key costs one comparison of keys instead.
template <typename Same>
const DictEntry* find_indexed(const DictObject& dict, std::uint64_t hash, Same same) {
  for (std::uint32_t slot = static_cast<std::uint32_t>(hash) & dict.index_mask; dict.index[slot] != 0;
       slot = (slot + 1) & dict.index_mask) {
    const DictEntry& entry = dict.entries[dict.index[slot] - 1];
    if (same(entry.key)) return &entry;
  }
  return nullptr;
}

}  // namespace

Value make_list(Runtime& rt, const Value* list_items, std::size_t size, Kind kind) {
  Value v;
  v.kind = kind;
  v.list = rt.arena.make<ListObject>(ListObject{static_cast<std::uint32_t>(size), 0, list_items});
  return v;
}

Value copy_list(Runtime& rt, std::span<const Value> source, Kind kind) {
  if (!rt.reserve(source.size() * sizeof(Value))) return Value::invalid();
  Value* copy = rt.arena.allocate_array<Value>(source.size());
  if (!source.empty()) std::memcpy(copy, source.data(), source.size() * sizeof(Value));
  return make_list(rt, copy, source.size(), kind);
}

namespace {
/// Different for different texts of one size under 8, without a loop over their bytes.
std::uint64_t short_word(const char* p, std::size_t n) {
  if (n >= 4) {
    std::uint32_t head, tail;
    std::memcpy(&head, p, 4);
    std::memcpy(&tail, p + n - 4, 4);
    return head | std::uint64_t{tail} << 32;
  }
  const auto byte = [p](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(p[i])}; };
  return n == 0 ? 0 : byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
}
}  // namespace

std::uint64_t hash_text(std::string_view bytes) {
  std::uint64_t h = 0xCBF29CE484222325u ^ bytes.size();
  const char* p = bytes.data();
  std::size_t n = bytes.size();
  for (; n >= 8; p += 8, n -= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    h = hash_word(h, word);
  }
  return hash_word(h, short_word(p, n));
}

/// Numbers hash alike if they are equal, whatever their kinds, because Python finds d[1] by 1.0 and by True.
std::uint64_t hash_value(Runtime& rt, Value v) {
  switch (v.kind) {
    case Kind::string: return hash_text(text(rt, v));
    case Kind::boolean:
    case Kind::integer:
    case Kind::real: return number_hash(v);
    case Kind::none: return 0x6E6F6E65u;
    case Kind::undefined: return 0x756E6465u;
    case Kind::tuple: {
      Nesting nest(rt);
      if (!nest.ok()) return 0;
      std::uint64_t h = 0x345678u;
      for (const Value& item : items(v)) h = hash_word(h, hash_value(rt, item));
      return h;
    }
    case Kind::object:
      if (v.object->type->hash != nullptr) return v.object->type->hash(rt, v.object);
      // Objects without __eq__ are equal to themselves only, so their address is their hash.
      if (v.object->type->is_hashable) return hash_word(0, reinterpret_cast<std::uintptr_t>(v.object));
      break;
    default: break;
  }
  rt.fail(ErrorCode::type, "unhashable type: '" + std::string(type_name(v)) + "'", v);
  return 0;
}

const DictEntry* find_indexed_key(const DictObject& dict, std::string_view key) {
  return find_indexed(dict, hash_text(key),
                      [&](const Value& k) { return k.kind == Kind::string && equal_bytes(leaf_text(k), key); });
}

/// Strings take the path that cannot fail. All other keys are hashed first, even in a dict too small for an index:
/// Python raises for an unhashable key before it looks anywhere.
const DictEntry* find(Runtime& rt, const DictObject& dict, Value key) {
  if (key.is_string()) return find_key(dict, text(rt, key));
  std::uint64_t hash = hash_value(rt, key);
  if (rt.failed()) return nullptr;
  if (dict.index != nullptr) return find_indexed(dict, hash, [&](const Value& k) { return same_or_equal(rt, k, key); });
  for (std::uint32_t i = 0; i < dict.size; ++i) {
    if (!dict.entries[i].key.is_string() && same_or_equal(rt, dict.entries[i].key, key)) return &dict.entries[i];
  }
  return nullptr;
}

void build_index(Arena& arena, DictObject& dict) {
  std::uint32_t slots = slots_for(dict.capacity > dict.size ? dict.capacity : dict.size);
  dict.index = arena.allocate_array<std::uint32_t>(slots);
  std::memset(dict.index, 0, slots * sizeof(std::uint32_t));
  dict.index_mask = slots - 1;
  for (std::uint32_t i = 0; i < dict.size; ++i) put_in_index(dict, hash_known(dict.entries[i].key), i);
}

// ---- DictBuilder

DictBuilder::DictBuilder(Runtime& rt, std::uint32_t expected) : rt_(rt) {
  dict_ = rt.arena.make<DictObject>();
  dict_->capacity = expected;
  dict_->entries = rt.arena.allocate_array<DictEntry>(expected);
}

/// An index holds positions, which stay, but its size follows the capacity: so it is made anew.
void DictBuilder::grow() {
  std::uint32_t capacity = dict_->capacity == 0 ? 4 : dict_->capacity * 2;
  DictEntry* grown = rt_.arena.allocate_array<DictEntry>(capacity);
  if (dict_->size != 0) std::memcpy(static_cast<void*>(grown), dict_->entries, dict_->size * sizeof(DictEntry));
  dict_->entries = grown;
  dict_->capacity = capacity;
  if (capacity > kLinearDict) build_index(rt_.arena, *dict_);
}

bool DictBuilder::set(Value key, Value value) {
  // Keys are leaves, so that lookups may compare bytes without a Runtime (leaf_text). The flag of a Markup stays, since
  // the key prints with it.
  if (key.is_string() && (key.flags & Value::kRope) != 0) {
    Value flat = Value::view(text(rt_, key));
    flat.flags = key.flags & Value::kMarkup;
    key = flat;
  }
  // As in CPython the first key stays: {1: 'a', True: 'b'} is {1: 'b'}.
  if (const DictEntry* there = parlance::find(rt_, *dict_, key)) {
    const_cast<DictEntry*>(there)->value = value;
    return true;
  }
  if (rt_.failed()) return false;
  if (dict_->size == dict_->capacity) {
    if (!rt_.reserve(std::uint64_t{dict_->capacity} * 2 * sizeof(DictEntry))) return false;
    grow();
  }
  if (dict_->index == nullptr && dict_->size == kLinearDict) build_index(rt_.arena, *dict_);
  dict_->entries[dict_->size] = {key, value};
  if (dict_->index != nullptr) put_in_index(*dict_, hash_value(rt_, key), dict_->size);
  ++dict_->size;
  return true;
}

Value DictBuilder::finish() {
  Value v;
  v.kind = Kind::dict;
  v.dict = dict_;
  return v;
}

// ---- ListBuilder

ListBuilder::ListBuilder(Runtime& rt, std::uint32_t expected) : rt_(rt), capacity_(expected) {
  if (expected != 0) items_ = rt.arena.allocate_array<Value>(expected);
}

void ListBuilder::grow() {
  std::uint32_t capacity = capacity_ == 0 ? 8 : capacity_ * 2;
  rt_.reserve(std::uint64_t{capacity} * sizeof(Value));  // a failure is recorded and seen by the caller's loop
  Value* grown = rt_.arena.allocate_array<Value>(capacity);
  if (size_ != 0) std::memcpy(grown, items_, size_ * sizeof(Value));
  items_ = grown;
  capacity_ = capacity;
}

// ---- Value's own doors

std::span<const Value> Value::items() const {
  return is_sequence() ? parlance::items(*this) : std::span<const Value>();
}
std::span<const DictEntry> Value::members() const {
  return is(Kind::dict) ? entries(*this) : std::span<const DictEntry>();
}
Value Value::operator[](std::string_view name) const { return member_value(*this, name); }

}  // namespace parlance
