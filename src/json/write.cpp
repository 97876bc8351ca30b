// write_json: json.dumps into the prompt or into arena text, with a record of what each part was made from.
//
// A string value and its quotes are derived from that string, a number from its origin id;
// brackets, separators and keys from their container. Containers are walked with a stack of our
// own. Sources: CPython 3.11 Lib/json/encoder.py and Modules/_json.c (encoder_listencode_*). Begin
// reading at ValueWriter::write.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "json/json.h"
#include "json/scan.h"
#include "json/text_run.h"
#include "value/dict.h"
#include "value/number.h"
#include "value/operators.h"

namespace parlance {
namespace {

/// Strings are escaped in slices of this size, so that the room for the worst case stays small.
constexpr std::size_t kSlice = 512;

using EscapeFunction = char* (*)(std::string_view, char*);

EscapeFunction escape_function(const JsonStyle& style) {
  using namespace json_scan;
  if (style.html_safe) return style.ensure_ascii ? escape_json<AsciiHtml> : escape_json<Html>;
  return style.ensure_ascii ? escape_json<Ascii> : escape_json<Plain>;
}

/// A separator, padded so that a short one is copied in one block.
struct Separator {
  explicit Separator(std::string_view text_in) : text(text_in) {
    if (text.size() <= sizeof padded) std::memcpy(padded, text.data(), text.size());
  }
  std::size_t room() const { return std::max(text.size(), sizeof padded); }
  char* copy_to(char* at) const {
    if (text.size() > sizeof padded) {
      std::memcpy(at, text.data(), text.size());
    } else {
      std::memcpy(at, padded, sizeof padded);
    }
    return at + text.size();
  }
  std::string_view text;
  char padded[16];
};

// ---- sort_keys

/// a < b for keys: strings by code points, which is the order of their bytes; the rest as Python
/// has it.
bool key_less(Runtime& rt, const DictEntry& a, const DictEntry& b) {
  if (a.key.is_leaf() && b.key.is_leaf()) return leaf_text(a.key) < leaf_text(b.key);
  return less(rt, a.key, b.key);
}

/// Insertion into a sorted beginning by halving, as list.sort does it: failing comparisons show the
/// same types.
void insertion_sort(Runtime& rt, std::span<DictEntry> entries) {
  for (std::size_t i = 1; i < entries.size() && !rt.failed(); ++i) {
    const DictEntry moved = entries[i];
    std::size_t low = 0;
    std::size_t high = i;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (key_less(rt, moved, entries[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    std::copy_backward(entries.begin() + low, entries.begin() + i, entries.begin() + i + 1);
    entries[low] = moved;
  }
}

/// A merge sort: whatever order hostile keys claim (NaN, failures), it ends and stays in bounds.
void sort_entries(Runtime& rt, std::span<DictEntry> entries) {
  constexpr std::size_t kRun = 32;
  const std::size_t n = entries.size();
  for (std::size_t i = 0; i < n && !rt.failed(); i += kRun)
    insertion_sort(rt, entries.subspan(i, std::min(kRun, n - i)));
  auto* other = n > kRun ? rt.arena.allocate_array<DictEntry>(n) : nullptr;
  DictEntry* from = entries.data();
  for (std::size_t width = kRun; width < n && !rt.failed(); width *= 2) {
    for (std::size_t i = 0; i < n; i += 2 * width) {
      const std::size_t middle = std::min(i + width, n);
      const std::size_t end = std::min(i + 2 * width, n);
      std::merge(from + i, from + middle, from + middle, from + end, other + i,
                 [&rt](const DictEntry& a, const DictEntry& b) { return key_less(rt, a, b); });
    }
    std::swap(from, other);
  }
  if (from != entries.data()) std::copy_n(from, n, entries.data());
}

class ValueWriter {
 public:
  ValueWriter(Runtime& rt, const JsonStyle& style, TextTarget* target)
      : rt_(rt),
        style_(style),
        escape_(escape_function(style)),
        plain_(!style.html_safe && !style.ensure_ascii),
        between_(style.item_separator),
        after_key_(style.key_separator),
        separators_room_(between_.room() + after_key_.room()),
        run_(rt, target),
        levels_(first_levels_.data()) {}

  Value write(Value v) { return write_all(v) ? run_.finish() : Value::invalid(); }

 private:
  /// An open container and what is left of it; the contents of a dict are key, value, key, value.
  struct Level {
    const Value* next;
    const Value* end;
    std::uint32_t origin;
    bool is_dict;
    bool began;
    bool is_usual;  ///< not pretty, and its keys have its own origin
  };

  bool write_all(Value v);
  bool value(const Value& v) {
    if (!v.is_leaf()) return other_value(v);
    if (v.size > kSlice) {
      run_.from(v.data);
      return quoted(v);
    }
    if (!run_.make_room(quoted_room(v))) return false;
    put_text(v, run_.at());
    return true;
  }
  /// Writes a text at `begin`, for which there is room.
  [[gnu::always_inline]] void put_text(const Value& v, char* begin) {
    run_.advance_to(put_quoted(v, begin));
    if (run_.logs()) run_.was_from(begin, v.data);
  }
  bool other_value(const Value& v);
  bool steps(Level& level);
  bool item(Level& level);
  char* put_lead(Level& level, const Value* key, char* at);
  bool careful_lead(Level& level);
  bool is_open(Value v) const;
  bool fail_depth(Value v);
  bool open(Value v);
  void push(const Value* items, std::size_t count, std::uint32_t origin, bool is_dict) {
    if (depth_ == capacity_) more_levels();
    Level& level = levels_[depth_++];
    level.next = items;
    level.end = items + count;
    level.origin = origin;
    level.is_dict = is_dict;
    level.began = false;
    level.is_usual = !style_.pretty && (!is_dict || origin != 0);
  }
  void more_levels();
  bool close(const Level& level);
  bool new_line(std::size_t level);
  const DictEntry* contents(const DictObject& dict);
  bool key(const Value& k, std::uint32_t container) {
    if (!k.is_leaf()) return other_key(k, container);
    if (container == 0) run_.from(k.data);  // where the container is none of the input's, a string still is what it is
    return quoted(k) && after_key(container);
  }
  bool other_key(const Value& k, std::uint32_t container);
  bool after_key(std::uint32_t container) {
    run_.from_id(container);
    return put(after_key_);
  }
  /// With its quotes, which count as the string's.
  bool quoted(const Value& leaf) {
    if (leaf.size > kSlice) return put("\"") && piece(leaf_text(leaf)) && put("\"");
    if (!run_.make_room(quoted_room(leaf))) return false;
    run_.advance_to(put_quoted(leaf, run_.at()));
    return true;
  }
  static std::size_t quoted_room(const Value& leaf) { return leaf.size * json_scan::kWorst + json_scan::kSlack + 2; }
  /// Most texts are short and need no escapes: those are copied in line.
  [[gnu::always_inline]] char* put_quoted(const Value& leaf, char* at) {
    using json_scan::Plain;
    *at++ = '"';
    const bool is_short = plain_ && leaf.size < json_scan::Block<Plain>::kSize;
    if (is_short && json_scan::copy_clean<Plain>(leaf.data, leaf.size, at)) {
      at += leaf.size;
    } else {
      at = escape_(leaf_text(leaf), at);
    }
    *at++ = '"';
    return at;
  }
  bool put(const Separator& separator) {
    if (!run_.make_room(separator.room())) return false;
    run_.advance_to(separator.copy_to(run_.at()));
    return true;
  }
  bool rope(const Rope& rope);
  bool piece(std::string_view bytes);
  bool number(Value v);
  bool big_number(Value v);
  bool put(std::string_view text);
  bool put_from(std::string_view text, std::uint32_t origin);
  bool fail_type(Value v);

  Runtime& rt_;
  const JsonStyle& style_;
  EscapeFunction escape_;
  bool plain_;
  Separator between_;
  Separator after_key_;
  std::size_t separators_room_;  ///< for both of them
  TextRun run_;
  std::array<Level, 16> first_levels_;
  Level* levels_;
  std::size_t capacity_ = 16;
  std::size_t depth_ = 0;
};

bool ValueWriter::write_all(Value v) {
  if (!value(v)) return false;
  while (depth_ != 0) {
    if (!steps(levels_[depth_ - 1])) return false;
  }
  return true;
}

bool ValueWriter::other_value(const Value& v) {
  switch (v.kind) {
    case Kind::string: return rope(*v.rope);
    case Kind::none: return put_from("null", v.origin);
    case Kind::boolean: return put_from(v.integer != 0 ? "true" : "false", v.origin);
    case Kind::integer:
    case Kind::real: return number(v);
    case Kind::list:
    case Kind::tuple:
    case Kind::dict: return open(v);
    default: return fail_type(v);
  }
}

bool ValueWriter::fail_type(Value v) {
  if (v.is_invalid()) return false;
  rt_.fail(ErrorCode::type, "Object of type " + std::string(type_name(v)) + " is not JSON serializable", v);
  return false;
}

bool ValueWriter::put(std::string_view text) {
  if (!run_.make_room(text.size())) return false;
  run_.put(text);
  return true;
}

bool ValueWriter::put_from(std::string_view text, std::uint32_t origin) {
  run_.from_id(origin);
  return put(text);
}

// ---- containers

/// The items of the innermost container up to one that is a container itself, or its end.
bool ValueWriter::steps(Level& level) {
  const std::size_t depth = depth_;
  while (level.next != level.end) {
    run_.from_id(level.origin);
    if (!item(level)) return false;
    if (depth_ != depth) return true;  // `level` may have moved
  }
  run_.from_id(level.origin);
  return close(level);
}

/// An item and what stands before it. Room is asked for once, for all that is short.
bool ValueWriter::item(Level& level) {
  const Value* const key = level.is_dict ? level.next : nullptr;
  const bool is_usual = level.is_usual && (key == nullptr || (key->is_leaf() && key->size <= kSlice));
  if (!is_usual) return careful_lead(level) && value(*level.next++);
  const Value& v = level.next[key == nullptr ? 0 : 1];
  const bool is_text = v.is_leaf() && v.size <= kSlice;
  const std::size_t room = (key == nullptr ? 0 : quoted_room(*key)) + (is_text ? quoted_room(v) : 0);
  if (!run_.make_room(separators_room_ + room)) return false;
  char* const at = put_lead(level, key, run_.at());
  level.next = &v + 1;
  if (!is_text) {
    run_.advance_to(at);
    return v.kind == Kind::dict || v.kind == Kind::list ? open(v) : value(v);
  }
  put_text(v, at);
  return true;
}

/// The separator and the key.
char* ValueWriter::put_lead(Level& level, const Value* key, char* at) {
  if (level.began) at = between_.copy_to(at);
  level.began = true;
  return key == nullptr ? at : after_key_.copy_to(put_quoted(*key, at));
}

bool ValueWriter::careful_lead(Level& level) {
  if (level.began && !put(between_)) return false;
  level.began = true;
  if (style_.pretty && !new_line(depth_)) return false;
  return !level.is_dict || key(*level.next++, level.origin);
}

/// Is this container being written already? Asked where nesting ends, which one that contains itself always reaches.
bool ValueWriter::is_open(Value v) const {
  const bool is_dict = v.kind == Kind::dict;
  const std::size_t size = is_dict ? std::size_t{2} * v.dict->size : v.list->size;
  const auto* values = is_dict ? reinterpret_cast<const Value*>(v.dict->entries) : v.list->items;
  const auto same = [&](const Level& level) { return level.end == values + size; };
  return size != 0 && std::any_of(levels_, levels_ + depth_, same);
}

bool ValueWriter::fail_depth(Value v) {
  if (is_open(v)) {
    rt_.fail(ErrorCode::value, "Circular reference detected", v);
  } else {
    rt_.fail(ErrorCode::limit_depth, "maximum recursion depth exceeded while encoding a JSON object", v);
  }
  return false;
}

bool ValueWriter::open(Value v) {
  if (rt_.depth + depth_ >= rt_.limits.depth) return fail_depth(v);
  const bool is_dict = v.kind == Kind::dict;
  const std::uint32_t own = is_dict ? v.dict->origin : v.list->origin;
  const std::uint32_t origin = v.origin != 0 ? v.origin : own;
  run_.from_id(origin);
  if (!run_.make_room(1)) return false;
  run_.put(is_dict ? '{' : '[');
  if (!is_dict) {
    push(v.list->items, v.list->size, origin, false);
    return true;
  }
  const auto* values = reinterpret_cast<const Value*>(contents(*v.dict));
  if (rt_.failed()) return false;
  push(values, std::size_t{2} * v.dict->size, origin, true);
  return true;
}

void ValueWriter::more_levels() {
  Level* more = rt_.arena.allocate_array<Level>(capacity_ * 2);
  std::memcpy(more, levels_, capacity_ * sizeof(Level));
  levels_ = more;
  capacity_ *= 2;
}

bool ValueWriter::close(const Level& level) {
  if (style_.pretty && level.began && !new_line(depth_ - 1)) return false;
  --depth_;
  if (!run_.make_room(1)) return false;
  run_.put(level.is_dict ? '}' : ']');
  return true;
}

bool ValueWriter::new_line(std::size_t level) {
  if (!run_.make_room(1 + level * style_.indent.size())) return false;
  run_.put('\n');
  for (std::size_t i = 0; i < level; ++i) run_.put(style_.indent);
  return true;
}

/// The entries as they will be written. json.dumps sorts whole items, but keys alone decide: no two
/// are equal.
const DictEntry* ValueWriter::contents(const DictObject& dict) {
  if (!style_.sort_keys || dict.size < 2) return dict.entries;
  run_.pause();  // comparing may flatten ropes, in the arena
  if (!rt_.charge(dict.size) || !rt_.reserve(std::uint64_t{2} * dict.size * sizeof(DictEntry))) return nullptr;
  auto* entries = rt_.arena.allocate_array<DictEntry>(dict.size);
  std::copy_n(dict.entries, dict.size, entries);
  sort_entries(rt_, {entries, dict.size});
  return entries;
}

/// A key that is no string, as json.dumps makes it one.
bool ValueWriter::other_key(const Value& k, std::uint32_t container) {
  switch (k.kind) {
    case Kind::none:
    case Kind::boolean:
    case Kind::integer:
    case Kind::real: return put("\"") && value(k) && put("\"") && after_key(container);
    case Kind::invalid: return false;
    default:
      rt_.fail(ErrorCode::type, "keys must be str, int, float, bool or None, not " + std::string(type_name(k)), k);
      return false;
  }
}

// ---- scalars

bool ValueWriter::number(Value v) {
  if ((v.flags & Value::kBig) != 0) return big_number(v);
  if (v.kind == Kind::real && !std::isfinite(v.real)) {
    if (style_.strict) return put_from(std::isnan(v.real) ? "null" : v.real > 0 ? "1e999" : "-1e999", v.origin);
    return put_from(std::isnan(v.real) ? "NaN" : v.real > 0 ? "Infinity" : "-Infinity", v.origin);
  }
  run_.from_id(v.origin);
  if (!run_.make_room(kNumberText)) return false;
  run_.advance_to(v.kind == Kind::integer ? write_int(run_.at(), v.integer) : write_real(run_.at(), v.real));
  return true;
}

bool ValueWriter::big_number(Value v) {
  std::string digits;
  if (!append_integer(rt_, digits, v, 10)) return false;
  run_.from(source_of(rt_, v));
  return put(digits);
}

bool ValueWriter::rope(const Rope& rope) {
  run_.from(rope.pieces[0].data);
  if (!put("\"")) return false;
  for (std::uint32_t i = 0; i < rope.count; ++i) {
    const Piece& p = rope.pieces[i];
    if (i != 0) run_.from(p.data);
    if (!piece({p.data, p.size})) return false;
  }
  return put("\"");
}

/// Each slice is logged from where it begins, so that escapes before it do not matter.
bool ValueWriter::piece(std::string_view bytes) {
  for (;;) {
    const std::string_view slice = utf8::whole_prefix(bytes, kSlice);
    if (!run_.make_room(slice.size() * json_scan::kWorst + json_scan::kSlack)) return false;
    run_.advance_to(escape_(slice, run_.at()));
    bytes.remove_prefix(slice.size());
    if (bytes.empty()) return true;
    run_.from(bytes.data());
  }
}

}  // namespace

Value write_json(Runtime& rt, Value v, const JsonStyle& style, TextTarget* target) {
  if (rt.failed()) return Value::invalid();
  return ValueWriter(rt, style, target).write(v);
}

// ---- into std::string

namespace {

void append_escaped(std::string& out, std::string_view text) {
  char buffer[kSlice * json_scan::kWorst + json_scan::kSlack];
  while (!text.empty()) {
    const std::string_view slice = utf8::whole_prefix(text, kSlice);
    out.append(buffer, json_scan::escape_json<json_scan::Plain>(slice, buffer));
    text.remove_prefix(slice.size());
  }
}

/// Calls `clean` for each well-formed run and `odd` for each surrogate or malformed byte (as
/// U+FFFD).
template <typename Clean, typename Odd>
void split_odd(std::string_view text, Clean clean, Odd odd) {
  const char* const end = text.data() + text.size();
  const char* run = text.data();
  for (const char* p = run; p < end;) {
    const utf8::Decoded d = utf8::decode(p, end);
    const bool malformed = d.size == 1 && static_cast<unsigned char>(*p) >= 0x80;
    if (malformed || utf8::is_surrogate(d.code_point)) {
      clean(std::string_view(run, static_cast<std::size_t>(p - run)));
      odd(d.code_point);
      run = p + d.size;
    }
    p += d.size;
  }
  clean(std::string_view(run, static_cast<std::size_t>(end - run)));
}

void append_unit(std::string& out, char32_t unit) { out.append(json_scan::escape_unit(unit).text, json_scan::kWorst); }

}  // namespace

bool append_json(Runtime& rt, std::string& out, Value v, const JsonStyle& style) {
  const Value json = write_json(rt, v, style);
  if (json.is_invalid()) return false;
  out.reserve(out.size() + json.size);
  for_each_piece(json, [&out](std::string_view piece) {
    if (utf8::validity(piece) == utf8::Validity::valid) {
      out += piece;
      return;
    }
    split_odd(
        piece, [&out](std::string_view run) { out += run; }, [&out](char32_t c) { append_unit(out, c); });
  });
  return true;
}

namespace {
std::string text_in(Value v, const JsonStyle& style) {
  Arena arena;
  Limits limits;
  limits.depth = 2000;  // whatever the reader lets in
  Runtime rt(arena, limits);
  std::string out;
  return append_json(rt, out, v, style) ? out : "null";
}
}  // namespace

std::string json_text(Value v) { return text_in(v, kCompactJson); }
std::string strict_json_text(Value v) {
  return text_in(v, {.item_separator = ",", .key_separator = ":", .strict = true});
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  if (utf8::validity(text) == utf8::Validity::valid) {
    append_escaped(out, text);
  } else {
    split_odd(
        text, [&out](std::string_view run) { append_escaped(out, run); }, [&out](char32_t c) { append_unit(out, c); });
  }
  out += '"';
}

}  // namespace parlance
