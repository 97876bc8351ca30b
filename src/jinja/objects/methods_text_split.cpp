// str methods that cut: split, strip, partition, splitlines, removeprefix and their kin.
//
// Rules: CPython 3.11 Objects/unicodeobject.c and Objects/stringlib/split.h. Every result is a view
// of the receiver, so it keeps its origin and, for Markup, its flag. Begin reading at the table.

#include <algorithm>
#include <bitset>

#include "base/unicode.h"
#include "base/utf8.h"
#include "jinja/objects/methods.h"

namespace parlance::jinja {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// Which characters strip() takes away: white space, or those of a string.
/// The template chooses the set. One outside ASCII is searched for each character, which is charged; ASCII is one bit
/// test.
class StripSet {
 public:
  StripSet() : spaces_(true) {}
  explicit StripSet(std::string_view chars) : chars_(chars), wide_(!utf8::is_ascii(chars)) {
    for (char c : chars) {
      if (static_cast<unsigned char>(c) < 0x80) ascii_.set(static_cast<std::size_t>(c));
    }
  }
  bool has(std::string_view bytes, char32_t c) const {
    if (spaces_) return unicode::is_space(c);
    if (c < 0x80) return ascii_[c];
    return wide_ && chars_.find(bytes) != kNone;
  }
  /// Steps that one character outside ASCII costs.
  std::uint64_t cost() const { return wide_ ? chars_.size() / 32 + 1 : 0; }

 private:
  bool spaces_ = false;
  std::string_view chars_;
  bool wide_ = false;
  std::bitset<128> ascii_;
};

/// The bytes at the front that belong to the set. A charge that fails stops the walk; callers look at the failure.
std::size_t skip_front(Runtime& rt, std::string_view text, const StripSet& set) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto [c, size] = utf8::decode(text.data() + at, text.data() + text.size());
    if (!set.has(text.substr(at, size), c)) break;
    at += size;
    if (!rt.charge(set.cost())) break;
  }
  return at;
}

std::size_t skip_back(Runtime& rt, std::string_view text, std::size_t begin, const StripSet& set) {
  std::size_t end = text.size();
  while (end > begin) {
    const auto [c, size] = utf8::decode_back(text.data() + begin, text.data() + end);
    if (!set.has(text.substr(end - size, size), c)) break;
    end -= size;
    if (!rt.charge(set.cost())) break;
  }
  return end;
}

template <bool left, bool right>
Value text_strip(Call& call) {
  const Value chars = call[1];
  if (!chars.is_none() && !chars.is_string()) {
    return call.fail(ErrorCode::type, std::string(call.builtin->name) + " arg must be None or str");
  }
  const std::string_view self = text(call.rt, call[0]);
  const StripSet set = chars.is_none() ? StripSet() : StripSet(text(call.rt, chars));
  const std::size_t begin = left ? skip_front(call.rt, self, set) : 0;
  const std::size_t end = right ? skip_back(call.rt, self, begin, set) : self.size();
  // Only what was taken away was looked at.
  if (!call.rt.charge_bytes(self.size() - (end - begin))) return Value::invalid();
  return cut(call.rt, call[0], begin, end);
}

/// The pieces of one split, collected; `most` counts the cuts still allowed, negative for any
/// number.
class Splitter {
 public:
  Splitter(Call& call, std::int64_t most)
      : rt_(call.rt), self_(call[0]), text_(parlance::text(call.rt, call[0])), most_(most), list_(call.rt) {}

  /// Without a separator, runs of white space part the words and none is empty: ' a  b '.split() has two. What is left
  /// when the cuts are used up keeps its white space at the end, as in CPython.
  Value on_spaces() {
    std::size_t at = skip_spaces(0);
    while (at < text_.size() && may_cut()) {
      const std::size_t end = next_space(at);
      add(at, end);
      at = skip_spaces(end);
    }
    if (at < text_.size()) add(at, text_.size());
    return finish();
  }
  Value on_spaces_from_right() {
    std::size_t end = skip_back(rt_, text_, 0, StripSet());
    while (end > 0 && may_cut()) {
      const std::size_t begin = previous_space_end(end);
      add(begin, end);
      end = skip_back(rt_, text_.substr(0, begin), 0, StripSet());
    }
    if (end > 0) add(0, end);
    return finish_reversed();
  }
  Value on(std::string_view separator) {
    Finder finder(rt_, separator);
    std::size_t from = 0;
    std::size_t at = 0;
    while (may_cut() && (at = finder.next(text_, from)) != kNone) {
      add(from, at);
      from = at + separator.size();
    }
    add(from, text_.size());
    return finish();
  }
  Value on_from_right(std::string_view separator) {
    Finder finder(rt_, separator);
    std::size_t to = text_.size();
    std::size_t at = 0;
    while (may_cut() && (at = finder.previous(text_, to)) != kNone) {
      add(at + separator.size(), to);
      to = at;
    }
    add(0, to);
    return finish_reversed();
  }
  /// A last line without an end counts, an empty text has no line, and "\r\n" is one end.
  Value on_lines(bool keep_ends) {
    std::size_t from = 0;
    for (std::size_t at = 0; at < text_.size() && !rt_.failed();) {
      const auto [c, size] = decode(at);
      const std::size_t begin = at;
      at += size;
      if (!unicode::is_line_break(c)) continue;
      if (c == '\r' && at < text_.size() && text_[at] == '\n') ++at;
      add(from, keep_ends ? at : begin);
      from = at;
    }
    if (from < text_.size()) add(from, text_.size());
    return finish();
  }

 private:
  utf8::Decoded decode(std::size_t at) const { return utf8::decode(text_.data() + at, text_.data() + text_.size()); }
  bool may_cut() { return !rt_.failed() && (most_ < 0 || most_-- > 0); }
  std::size_t skip_spaces(std::size_t at) { return at + skip_front(rt_, text_.substr(at), StripSet()); }
  std::size_t next_space(std::size_t at) const {
    while (at < text_.size()) {
      const auto [c, size] = decode(at);
      if (unicode::is_space(c)) break;
      at += size;
    }
    return at;
  }
  std::size_t previous_space_end(std::size_t end) const {
    while (end > 0) {
      const auto [c, size] = utf8::decode_back(text_.data(), text_.data() + end);
      if (unicode::is_space(c)) break;
      end -= size;
    }
    return end;
  }
  /// Each part is charged: a text of separators alone makes a value of 16 bytes for each of its bytes.
  void add(std::size_t begin, std::size_t end) {
    if (rt_.charge(1) && rt_.reserve(sizeof(Value) * 2)) list_.append(cut(rt_, self_, begin, end));
  }
  Value finish() {
    if (!rt_.charge_bytes(text_.size()) || rt_.failed()) return Value::invalid();
    return list_.finish();
  }
  Value finish_reversed() {
    std::reverse(list_.data(), list_.data() + list_.size());
    return finish();
  }

  Runtime& rt_;
  Value self_;
  std::string_view text_;
  std::int64_t most_;
  ListBuilder list_;
};

template <bool from_the_right>
Value text_split(Call& call) {
  const Value separator = call[1];
  std::int64_t most = -1;
  // CPython reads its arguments before it looks at the separator, so this failure comes first.
  if (!index_argument(call, 2, most)) return Value::invalid();
  Splitter splitter(call, most);
  if (separator.is_none()) {
    return from_the_right ? splitter.on_spaces_from_right() : splitter.on_spaces();
  }
  if (!separator.is_string()) return fail_type(call, 1, "must be str or None, not ");
  const std::string_view by = text(call.rt, separator);
  if (by.empty()) return call.fail(ErrorCode::value, "empty separator");
  return from_the_right ? splitter.on_from_right(by) : splitter.on(by);
}

Value text_splitlines(Call& call) {
  std::int64_t keep_ends = 0;
  if (!small_argument(call, 1, keep_ends)) return Value::invalid();
  return Splitter(call, -1).on_lines(keep_ends != 0);
}

Value tuple_of(Runtime& rt, Value a, Value b, Value c) {
  const Value members[] = {a, b, c};
  return copy_list(rt, members, Kind::tuple);
}

template <bool from_the_right>
Value text_partition(Call& call) {
  if (!call[1].is_string()) return fail_type(call, 1, "must be str, not ");
  const Value self = call[0];
  const std::string_view bytes = text(call.rt, self);
  const std::string_view separator = text(call.rt, call[1]);
  if (separator.empty()) return call.fail(ErrorCode::value, "empty separator");
  if (!call.rt.charge_bytes(bytes.size())) return Value::invalid();
  Finder finder(call.rt, separator);
  const std::size_t at = from_the_right ? finder.previous(bytes, bytes.size()) : finder.next(bytes, 0);
  if (call.rt.failed()) return Value::invalid();
  if (at == kNone) {
    const Value empty = with_markup(Value::view(""), self.is_markup());
    return from_the_right ? tuple_of(call.rt, empty, empty, self) : tuple_of(call.rt, self, empty, empty);
  }
  const std::size_t after = at + separator.size();
  // Python gives back the separator itself; its bytes are here too, with the receiver's origin.
  const bool markup = self.is_markup() || call[1].is_markup();
  const Value middle = with_markup(cut(call.rt, self, at, after), markup);
  return tuple_of(call.rt, cut(call.rt, self, 0, at), middle, cut(call.rt, self, after, bytes.size()));
}

template <bool prefix>
Value text_remove_affix(Call& call) {
  if (!call[1].is_string()) {
    return fail_type(
        call, 1, prefix ? "removeprefix() argument must be str, not " : "removesuffix() argument must be str, not ");
  }
  const std::string_view self = text(call.rt, call[0]);
  const std::string_view affix = text(call.rt, call[1]);
  if (prefix) {
    return self.starts_with(affix) ? cut(call.rt, call[0], affix.size(), self.size()) : call[0];
  }
  return self.ends_with(affix) ? cut(call.rt, call[0], 0, self.size() - affix.size()) : call[0];
}

constexpr Builtin kTextSplitMethods[] = {
    {"lstrip", "", "self, chars=none, /", text_strip<true, false>,
     "The string without white space, or without any of `chars`, at its beginning.", "{{ '  a '.lstrip() }} -> a "},
    {"partition", "", "self, sep, /", text_partition<false>,
     "What is before the first `sep`, `sep`, and what is after it.",
     "{{ 'k=v=w'.partition('=') }} -> ('k', '=', 'v=w')"},
    {"removeprefix", "", "self, prefix, /", text_remove_affix<true>,
     "The string without `prefix`, if it begins with it.", "{{ 'user: hi'.removeprefix('user: ') }} -> hi"},
    {"removesuffix", "", "self, suffix, /", text_remove_affix<false>,
     "The string without `suffix`, if it ends with it.", "{{ 'main.py'.removesuffix('.py') }} -> main"},
    {"rpartition", "", "self, sep, /", text_partition<true>,
     "What is before the last `sep`, `sep`, and what is after it.",
     "{{ 'k=v=w'.rpartition('=') }} -> ('k=v', '=', 'w')"},
    {"rsplit", "", "self, /, sep=none, maxsplit=-1", text_split<true>,
     "The parts between separators, at most `maxsplit` cuts made from the right.",
     "{{ 'a-b-c'.rsplit('-', 1) }} -> ['a-b', 'c']"},
    {"rstrip", "", "self, chars=none, /", text_strip<false, true>,
     "The string without white space, or without any of `chars`, at its end.", "{{ 'a\\n'.rstrip('\\n') }} -> a"},
    {"split", "", "self, /, sep=none, maxsplit=-1", text_split<false>,
     "The parts between separators (runs of white space if none is named), at most `maxsplit` "
     "cuts.",
     "{{ 'a-b'.split('-') }} -> ['a', 'b']"},
    {"splitlines", "", "self, /, keepends=false", text_splitlines,
     "The lines of the string, with their ends if `keepends`.", "{{ 'a\\nb\\n'.splitlines() }} -> ['a', 'b']"},
    {"strip", "", "self, chars=none, /", text_strip<true, true>,
     "The string without white space, or without any of `chars`, at both ends.", "{{ ' a '.strip() }} -> a"},
};

}  // namespace

std::span<const Builtin> text_split_methods() { return kTextSplitMethods; }

}  // namespace parlance::jinja
