// Small parts of a parser's state: what was found at a place, and what few readers need.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reply/marker_trie.h"

namespace parlance::reply {

struct Found {
  std::size_t size = 0;  ///< of the marker, 0 for none
  bool more = false;     ///< it depends on bytes to come
  Mark mark{};
  MarkerTrie::Cursor at{};           ///< how far the markers go on
};
/// Whether a marker in a value is one, or depends on what follows.
enum class Verdict : std::uint8_t { no, more, yes };
struct Ahead {
  Verdict verdict = Verdict::no;
  std::size_t size = 0;  ///< up to the marker's end
  Mark mark{};
};
/// A control token that was fed, by place.
struct Control {
  std::uint64_t from, to;
};
/// A call that the prompt begins, and the reply goes on with.
struct Carried {
  std::string name, id, arguments;
  std::uint32_t form = 0;
  bool open = false;
};

/// What few readers need.
struct Rare {
  std::vector<Control> controls;
  Carried carried;
  std::string last;  ///< bytes that may be one of the format's last texts; no reader has seen them
};

}  // namespace parlance::reply
