// str methods that look for something: find, index, count, startswith, endswith and their kin.
//
// Rules: CPython 3.11 Objects/unicodeobject.c. Positions count code points, as in Python; in ASCII
// text they are bytes. Begin reading at Window, then the table at the end.

#include <algorithm>
#include <cstring>

#include "base/utf8.h"
#include "jinja/objects/methods.h"

namespace parlance::jinja {

/// Comparing at every hit of the first byte takes text × needle steps in the worst case. They are paid in steps of the
/// render, gathered so that short needles do not charge at each hit.
bool Finder::matches(const char* at) {
  unpaid_ += needle_.size();
  if (unpaid_ >= 4096) {
    rt_.charge_bytes(unpaid_);
    unpaid_ = 0;
  }
  return std::memcmp(at, needle_.data(), needle_.size()) == 0;
}

/// The needle must not be empty: callers answer for the empty one, which is found everywhere.
std::size_t Finder::next(std::string_view text, std::size_t from) {
  if (text.size() < needle_.size()) return std::string_view::npos;
  const char* const last = text.data() + (text.size() - needle_.size());
  const char* at = text.data() + from;
  while (at <= last && !rt_.failed()) {
    const auto* hit = static_cast<const char*>(std::memchr(at, needle_[0], static_cast<std::size_t>(last - at) + 1));
    if (hit == nullptr) return std::string_view::npos;
    if (needle_.size() == 1 || matches(hit)) return static_cast<std::size_t>(hit - text.data());
    at = hit + 1;
  }
  return std::string_view::npos;
}

std::size_t Finder::previous(std::string_view text, std::size_t to) {
  if (to < needle_.size()) return std::string_view::npos;
  for (std::size_t at = to - needle_.size() + 1; at-- > 0 && !rt_.failed();) {
    if (text[at] == needle_[0] && (needle_.size() == 1 || matches(text.data() + at))) return at;
  }
  return std::string_view::npos;
}

namespace {

/// The part of the receiver that [start:end] selects, as bytes; `empty_fits` is false when start
/// lies beyond end, where even the empty string is not found.
struct Window {
  std::string_view text;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool ascii = true;
  bool empty_fits = true;

  std::string_view upto_end() const { return text.substr(0, end); }
  std::size_t code_points(std::size_t from, std::size_t to) const {
    return ascii ? to - from : utf8::count(text.substr(from, to - from));
  }
};

/// Reads the bounds, arguments 2 and 3 of every method here.
/// Bounds are code points, as in s[start:end]. ASCII text is told first, since there they are bytes.
bool read_window(Call& call, Window& window) {
  window.text = text(call.rt, call[0]);
  if (!call.rt.charge_bytes(window.text.size())) return false;
  window.end = window.text.size();
  window.ascii = utf8::is_ascii(window.text);
  if (call[2].is_none() && call[3].is_none()) return true;
  std::int64_t start = 0;
  std::int64_t end = 0;
  if (!bound_argument(call, 2, 0, start) || !bound_argument(call, 3, INT64_MAX, end)) return false;
  const auto size = static_cast<std::int64_t>(window.code_points(0, window.text.size()));
  if (start < 0) start = std::max<std::int64_t>(start + size, 0);
  end = end < 0 ? std::max<std::int64_t>(end + size, 0) : std::min(end, size);
  // 'abc'.find('', 5) is -1 in Python, where 'abc'[5:] would be empty and hold ''.
  window.empty_fits = start <= end;
  start = std::min(start, end);
  const auto offset = [&](std::int64_t n) {
    const auto index = static_cast<std::size_t>(n);
    return window.ascii ? index : utf8::offset_of(window.text, index);
  };
  window.begin = offset(start);
  window.end = offset(end);
  return true;
}

/// The needle and the window of find and its kin; false with the failure recorded.
bool read_search(Call& call, Window& window, std::string_view& needle) {
  if (!read_window(call, window)) return false;
  if (!call[1].is_string()) {
    fail_type(call, 1, "must be str, not ");
    return false;
  }
  needle = text(call.rt, call[1]);
  return true;
}

/// The position of the needle in code points, -1 if there is none; -2 after a failure.
template <bool from_the_right>
std::int64_t search(Call& call) {
  Window window;
  std::string_view needle;
  if (!read_search(call, window, needle)) return -2;
  std::size_t at = std::string_view::npos;
  // 'abc'.count('') is 4: once in front of each character and once at the end.
  if (needle.empty()) {
    if (!window.empty_fits) return -1;
    at = from_the_right ? window.end : window.begin;
  } else if constexpr (from_the_right) {
    const std::string_view part = window.text.substr(window.begin, window.end - window.begin);
    at = Finder(call.rt, needle).previous(part, part.size());
    if (at != std::string_view::npos) at += window.begin;
  } else {
    at = Finder(call.rt, needle).next(window.upto_end(), window.begin);
  }
  if (call.rt.failed()) return -2;
  if (at == std::string_view::npos) return -1;
  return static_cast<std::int64_t>(window.code_points(0, at));
}

template <bool from_the_right>
Value text_find(Call& call) {
  const std::int64_t at = search<from_the_right>(call);
  return at == -2 ? Value::invalid() : Value::of_int(at);
}

template <bool from_the_right>
Value text_index(Call& call) {
  const std::int64_t at = search<from_the_right>(call);
  if (at == -1) return call.fail(ErrorCode::value, "substring not found");
  return at == -2 ? Value::invalid() : Value::of_int(at);
}

Value text_count(Call& call) {
  Window window;
  std::string_view needle;
  if (!read_search(call, window, needle)) return Value::invalid();
  if (needle.empty()) {
    const std::size_t gaps = window.code_points(window.begin, window.end) + 1;
    return Value::of_int(window.empty_fits ? static_cast<std::int64_t>(gaps) : 0);
  }
  Finder finder(call.rt, needle);
  std::int64_t found = 0;
  std::size_t at = window.begin;
  while ((at = finder.next(window.upto_end(), at)) != std::string_view::npos) {
    ++found;
    at += needle.size();
  }
  return call.rt.failed() ? Value::invalid() : Value::of_int(found);
}

/// Does the window begin (or end) with `affix`?
bool has_affix(const Window& window, std::string_view affix, bool at_start) {
  if (!window.empty_fits || window.end - window.begin < affix.size()) return false;
  const std::size_t at = at_start ? window.begin : window.end - affix.size();
  return window.text.compare(at, affix.size(), affix) == 0;
}

Value fail_affix(Call& call, Value given, bool in_tuple) {
  const std::string name(call.builtin->name);
  const std::string type(type_name(given));
  return call.fail(ErrorCode::type, in_tuple ? "tuple for " + name + " must only contain str, not " + type
                                             : name + " first arg must be str or a tuple of str, not " + type);
}

/// The common case needs no code points: one affix, no bounds.
bool whole_text_has_affix(Call& call, bool at_start) {
  const std::string_view self = text(call.rt, call[0]);
  const std::string_view affix = text(call.rt, call[1]);
  if (self.size() < affix.size()) return false;
  return equal_bytes(at_start ? self.data() : self.data() + (self.size() - affix.size()), affix.data(), affix.size());
}

template <bool at_start>
Value text_affix(Call& call) {
  const Value given = call[1];
  if (given.is_string() && call[2].is_none() && call[3].is_none()) {
    return Value::boolean(whole_text_has_affix(call, at_start));
  }
  Window window;
  if (!read_window(call, window)) return Value::invalid();
  if (given.is_string()) {
    return Value::boolean(has_affix(window, text(call.rt, given), at_start));
  }
  if (given.kind != Kind::tuple) return fail_affix(call, given, false);
  for (Value affix : items(given)) {
    if (!affix.is_string()) return fail_affix(call, affix, true);
    if (has_affix(window, text(call.rt, affix), at_start)) return Value::boolean(true);
  }
  return Value::boolean(false);
}

constexpr Builtin kTextSearchMethods[] = {
    {"count", "", "self, sub, start=none, end=none, /", text_count, "How often `sub` occurs without overlapping.",
     "{{ 'banana'.count('an') }} -> 2"},
    {"endswith", "", "self, suffix, start=none, end=none, /", text_affix<false>,
     "Whether the string ends with `suffix`, or with one of a tuple of them.",
     "{{ 'main.py'.endswith(('.py', '.pyi')) }} -> True"},
    {"find", "", "self, sub, start=none, end=none, /", text_find<false>, "The first position of `sub`, or -1.",
     "{{ 'banana'.find('na') }} -> 2"},
    {"index", "", "self, sub, start=none, end=none, /", text_index<false>,
     "The first position of `sub`; an error if there is none.", "{{ 'banana'.index('na') }} -> 2"},
    {"rfind", "", "self, sub, start=none, end=none, /", text_find<true>, "The last position of `sub`, or -1.",
     "{{ 'banana'.rfind('na') }} -> 4"},
    {"rindex", "", "self, sub, start=none, end=none, /", text_index<true>,
     "The last position of `sub`; an error if there is none.", "{{ 'banana'.rindex('na') }} -> 4"},
    {"startswith", "", "self, prefix, start=none, end=none, /", text_affix<true>,
     "Whether the string begins with `prefix`, or with one of a tuple of them.",
     "{{ '<think>x'.startswith('<think>') }} -> True"},
};

}  // namespace

std::span<const Builtin> text_search_methods() { return kTextSearchMethods; }

}  // namespace parlance::jinja
