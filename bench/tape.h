// simdjson's tape read directly, and a value on it written as Python's json.dumps writes it.
//
// The public interface of simdjson's DOM wraps each element; a renderer that is to be the limit
// reads the words themselves (simdjson 3, doc/tape.md). Leans on json_escape.h. Used by
// hand_written.cpp; begin with Tape.
#ifndef PARLANCE_BENCH_TAPE_H_
#define PARLANCE_BENCH_TAPE_H_

#include <simdjson.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "json_escape.h"

namespace parlance::bench {

/// Equality with a name of known size: a few instructions, where == calls memcmp.
template <size_t N>
inline bool is(std::string_view s, const char (&name)[N]) {
  return s.size() == N - 1 && std::memcmp(s.data(), name, N - 1) == 0;
}

/// simdjson's tape, read directly: one word an element, its type in the top byte.
///
/// An index is the place of an element; 0, the root mark, stands for "not there".
class Tape {
 public:
  explicit Tape(const simdjson::dom::document& document)
      : words_(document.tape.get()), strings_(reinterpret_cast<const char*>(document.string_buf.get())) {}

  static constexpr size_t kRoot = 1;

  char type(size_t at) const { return static_cast<char>(words_[at] >> 56); }
  bool is_string(size_t at) const { return type(at) == '"'; }
  int64_t integer(size_t at) const { return static_cast<int64_t>(words_[at + 1]); }

  double real(size_t at) const {
    double value;
    std::memcpy(&value, &words_[at + 1], sizeof value);
    return value;
  }

  std::string_view string(size_t at) const {
    const char* head = strings_ + (words_[at] & 0x00ffffffffffffff);
    uint32_t size;
    std::memcpy(&size, head, sizeof size);
    return {head + sizeof size, size};
  }

  /// The closing bracket of the array or object at `at`.
  size_t close(size_t at) const { return static_cast<uint32_t>(words_[at]) - 1; }

  size_t next(size_t at) const {
    switch (type(at)) {
      case '{':
      case '[': return static_cast<uint32_t>(words_[at]);
      case 'l':
      case 'u':
      case 'd': return at + 2;
      default: return at + 1;
    }
  }

  /// Python's truth of a value; what is not there is false.
  bool truth(size_t at) const {
    switch (type(at)) {
      case '{':
      case '[': return close(at) != at + 1;
      case '"': return !string(at).empty();
      case 'l':
      case 'u': return integer(at) != 0;
      case 'd': return real(at) != 0;
      default: return type(at) == 't';
    }
  }

 private:
  const uint64_t* words_;
  const char* strings_;
};

/// How far the tape was read and the output written: in registers, never in memory.
struct Progress {
  size_t at;
  char* out;
};

template <size_t N>
inline char* append(char* out, const char (&text)[N]) {
  std::memcpy(out, text, N - 1);
  return out + N - 1;
}

inline Progress write_json(const Tape& tape, size_t at, char* out);

inline Progress write_json_items(const Tape& tape, size_t at, char* out, bool object) {
  const size_t close = tape.close(at++);
  *out++ = object ? '{' : '[';
  const bool empty = at == close;
  while (at != close) {
    if (object) {
      out = append(write_json_string(tape.string(at++), out), ": ");
    }
    if (tape.is_string(at)) {  // by far the most frequent
      out = write_json_string(tape.string(at++), out);
    } else {
      const Progress done = write_json(tape, at, out);
      at = done.at;
      out = done.out;
    }
    out = append(out, ", ");
  }
  if (!empty) out -= 2;
  *out++ = object ? '}' : ']';
  return {close + 1, out};
}

template <class Integer>
char* write_integer(Integer value, char* out) {
  return std::to_chars(out, out + 24, value).ptr;
}

/// A value as json.dumps(value, ensure_ascii=False) prints it.
///
/// Recursion is bounded: simdjson refuses nesting deeper than 1024.
inline Progress write_json(const Tape& tape, size_t at, char* out) {
  switch (tape.type(at)) {
    case '"': return {at + 1, write_json_string(tape.string(at), out)};
    case '{': return write_json_items(tape, at, out, true);
    case '[': return write_json_items(tape, at, out, false);
    case 'l': return {at + 2, write_integer(tape.integer(at), out)};
    case 'u': return {at + 2, write_integer(static_cast<uint64_t>(tape.integer(at)), out)};
    case 'd': return {at + 2, write_python_float(tape.real(at), out)};
    case 't': return {at + 1, append(out, "true")};
    case 'f': return {at + 1, append(out, "false")};
    default: return {at + 1, append(out, "null")};
  }
}

}  // namespace parlance::bench

#endif  // PARLANCE_BENCH_TAPE_H_
