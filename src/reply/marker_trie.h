// MarkerTrie: finds markers in a stream, leftmost and then longest, one byte at a time.
//
// A place in the reply (text, reasoning, the end of a call) has one with the markers that count there. What is held back
// is the path to a node. Begin reading at step().
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace parlance::reply {

/// What a marker means.
enum class Meaning : std::uint8_t { none, reasoning_open, reasoning_close, call_open, call_close, turn, end };

/// One way to write a marker.
struct Mark {
  Meaning meaning = Meaning::none;
  std::uint16_t index = 0;   ///< the form, turn or end it belongs to
  std::uint16_t closed = 0;  ///< of its bytes, how many close a call before the marker itself begins
  std::string_view after{};  ///< framing that may follow
};

class MarkerTrie {
 public:
  using Node = std::uint16_t;
  static constexpr Node kRoot = 0;  ///< also "no such node": nothing leads back to the root

  MarkerTrie() : nodes_(1) {}
  /// The first to say what a text means is believed.
  void add(std::string_view text, const Mark& mark);

  bool begins(char c) const { return first_[static_cast<unsigned char>(c)]; }
  /// The first byte of [p, end) that may begin a marker.
  const char* skip(const char* p, const char* end) const {
    while (p != end && !begins(*p)) ++p;
    return p;
  }
  Node step(Node from, char c) const {
    for (Node at = nodes_[from].child; at != kRoot; at = nodes_[at].sibling) {
      if (nodes_[at].byte == c) return at;
    }
    return kRoot;
  }
  bool is_leaf(Node node) const { return nodes_[node].child == kRoot; }
  /// The marker that ends at `node`; its meaning may be none.
  const Mark& mark(Node node) const { return marks_[nodes_[node].mark]; }
  bool has_mark(Node node) const { return nodes_[node].mark != 0; }

 private:
  struct NodeData {
    char byte = 0;
    Node child = kRoot;
    Node sibling = kRoot;
    std::uint16_t mark = 0;
  };
  Node grow(Node from, char c);

  std::vector<NodeData> nodes_;
  std::vector<Mark> marks_{Mark{}};
  std::array<bool, 256> first_{};
};

}  // namespace parlance::reply
