// Text up to a marker, and white space before one: how every place of a reply is read that markers end.
//
// What may be a marker's beginning is held in Reading::held until it is certain; what is not, Reading::back gives back.
#pragma once
#include <algorithm>
#include <utility>

#include "reply/read/reading.h"

namespace parlance::reply {

/// What is held cannot grow: it begins with a marker, or its first byte is text, which `put` gets; the rest is given
/// back.
template <class Put>
Met settle_marker(Reading& in, const MarkerTrie& markers, Put put) {
  const std::string_view held = in.held.bytes;
  const Found found = in.match_held(markers, 0);
  in.give_back(held.substr(std::max<std::size_t>(found.size, 1)));
  Met met{found.mark, std::string(held.substr(0, found.size))};
  const char first = held.front();
  in.held.clear();
  if (found.size == 0) put({&first, 1});
  return met;
}

/// Goes on with what may be a marker.
template <class Put>
Met go_on_with_marker(Reading& in, const MarkerTrie& markers, const char*& p, const char* end, Put put) {
  while (p != end) {
    const bool goes_on = markers.step(in.held.cursor, *p);
    if (goes_on) in.held.bytes += *p++;
    if (!goes_on || markers.is_leaf(in.held.cursor)) return settle_marker(in, markers, put);
  }
  return {};
}

/// Holds [p, end), with which a marker begins.
inline void hold_marker(Reading& in, const MarkerTrie& markers, const char*& p, const char* end) {
  in.held.bytes.assign(p, static_cast<std::size_t>(end - p));
  for (; p != end; ++p) markers.step(in.held.cursor, *p);
}

/// Gives `put` text up to a marker, which is returned. `is_eager`: does what a marker means depend on the text before
/// it?
template <class Put, class IsEager>
Met read_to_marker(Reading& in, const MarkerTrie& markers, const char*& p, const char* end, Put put, IsEager is_eager) {
  if (!in.held.bytes.empty()) return go_on_with_marker(in, markers, p, end, put);
  const char* begin = p;
  while ((p = markers.skip(p, end)) != end) {
    if (begin != p && is_eager()) put({std::exchange(begin, p), p});
    const Found found = in.match(markers, {p, end}, in.here() + static_cast<std::size_t>(p - begin));
    if (found.size == 0 && !found.more) {
      ++p;
      continue;
    }
    if (begin != p) put({begin, p});
    if (found.more) return hold_marker(in, markers, p, end), Met();
    p += found.size;
    return {found.mark, std::string(p - found.size, found.size)};
  }
  if (begin != end) put({begin, end});
  return {};
}

template <class Put>
Met read_to_marker(Reading& in, const MarkerTrie& markers, const char*& p, const char* end, Put put) {
  return read_to_marker(in, markers, p, end, put, [] { return false; });
}

/// Where the reading of a word stopped.
struct WordEnd {
  Met met{};
  bool refused = false;  ///< at a byte that is none of it
};

/// A word up to a marker, byte by byte: `take` says whether a byte belongs to it; where `stops` says so, it ends before
/// the byte.
template <class Stops, class Take>
WordEnd read_word(Reading& in, const MarkerTrie& markers, const char*& p, const char* end, Stops stops, Take take) {
  if (!in.held.bytes.empty()) {
    std::string refused;
    WordEnd word{go_on_with_marker(in, markers, p, end, [&](std::string_view first) {
      if (!take(first.front())) refused = first;
    })};
    word.refused = !refused.empty();
    in.give_back(refused);
    return word;
  }
  for (; p != end && !stops(*p); ++p) {
    const Found found = markers.begins(*p) ? in.match(markers, {p, end}, in.here()) : Found{};
    if (found.more) return hold_marker(in, markers, p, end), WordEnd();
    if (found.size != 0) {
      p += found.size;
      return {{found.mark, std::string(p - found.size, found.size)}};
    }
    if (!take(*p)) return {{}, true};
  }
  return {};
}

/// White space, then a marker or not: what is held then, and how much of it is white space.
struct GapEnd {
  enum class What : std::uint8_t { more, marker, other };
  What what = What::more;
  Mark mark{};
  std::string held{};  ///< up to the marker's end; other: all of it, given back by who is asked
  std::size_t blanks = 0;
  char next = '\0';  ///< other: the byte behind the white space
};

/// What is held cannot grow, or the reply has ended; `next` follows it.
inline GapEnd end_of_gap(Reading& in, const MarkerTrie& markers, char next) {
  const std::size_t blanks = in.held.blanks;
  const Found found = in.match_held(markers, blanks);
  GapEnd gap{GapEnd::What::other, found.mark, in.held.bytes, blanks, next};
  in.held.clear();
  if (found.size == 0) {
    if (gap.held.size() > blanks) gap.next = gap.held[blanks];
    return gap;
  }
  gap.what = GapEnd::What::marker;
  in.give_back(std::string_view(gap.held).substr(blanks + found.size));
  gap.held.resize(blanks + found.size);
  return gap;
}

/// `is_blank` says which bytes count as white space there.
template <class IsBlank>
GapEnd read_gap(Reading& in, const MarkerTrie& markers, const char*& p, const char* end, IsBlank is_blank) {
  Held& held = in.held;
  while (p != end) {
    if (held.bytes.size() == held.blanks && held.blanks < kLongestGap && is_blank(*p)) {
      held.bytes += *p++;
      ++held.blanks;
      continue;
    }
    const char* const begin = p;  // a marker's bytes are kept all at once
    bool goes_on = true, leaf = false;
    while (goes_on && !leaf && p != end) {
      goes_on = markers.step(held.cursor, *p);
      if (goes_on) ++p;
      leaf = goes_on && markers.is_leaf(held.cursor);
    }
    held.bytes.append(begin, static_cast<std::size_t>(p - begin));
    if (goes_on && !leaf) break;
    return end_of_gap(in, markers, p == end ? '\0' : *p);
  }
  return {};
}

}  // namespace parlance::reply
