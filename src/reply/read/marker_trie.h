// MarkerTrie: finds markers in a stream, leftmost and then longest, one byte at a time.
//
// A place in the reply (text, reasoning, the end of a call, a value in tags) has one with the markers that count there.
// What is held back is the path to a place in it. White space inside of a text is optional: any of it, or none, is read
// there. Begin reading at step().
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "reply/scan/text_codec.h"

namespace parlance::reply {

/// What a marker means.
enum class Meaning : std::uint8_t {
  none,
  reasoning_open,
  reasoning_close,
  content_open,
  content_close,
  call_open,   ///< of a section, of a list, or the first literal of a single call
  call_item,   ///< the first literal of a call in a section
  call_close,  ///< of a section or list, or the last literal of a call that went wrong
  surplus,     ///< what closes calls, once more
  part,        ///< the literal that is due in a call
  tag_open,
  tag_close,
  tag_whole,  ///< JSON follows in place of tags
  turn,
  end,
  stray,  ///< the control token that calls begin with, and nothing else of what opens one
};

/// One way to write a marker.
struct Mark {
  Meaning meaning = Meaning::none;
  bool faulty = false;        ///< a part of it is missing (ReplyMarker::faulty)
  std::uint16_t index = 0;    ///< the form, turn or end it belongs to
  std::uint16_t closed = 0;   ///< of its bytes, how many close a program before the marker itself begins
  std::uint16_t skipped = 0;  ///< the parts of a call that are missing before it
  std::string_view after{};   ///< framing that may follow
  /// It is none where more of a word follows it. Behind what opens a call a name may.
  bool ends_word() const { return faulty && meaning != Meaning::call_open && meaning != Meaning::call_item; }
  /// It is one only where nothing longer is, be that any text.
  bool is_weak() const { return faulty || meaning == Meaning::stray; }
};

class MarkerTrie {
 public:
  using Node = std::uint16_t;
  static constexpr Node kRoot = 0;                 ///< nothing leads back to the root
  static constexpr std::uint8_t kWild = 64;        ///< bytes of any text
  static constexpr std::uint8_t kMostBlanks = 16;  ///< white space past this is none of a marker's

  /// A place in the trie, and how much white space was read there.
  struct Cursor {
    Node node = kRoot;
    std::uint8_t blanks = 0;
  };

  MarkerTrie() : nodes_(1) {}
  /// `lead` as it is, then `text` with optional white space. The first to say what a text means is believed.
  void add(std::string_view lead, std::string_view text, const Mark& mark);
  /// The same, where a `*` is any text up to a `<`.
  void add_loose(std::string_view lead, std::string_view text, const Mark& mark);
  /// To be called once all is added: what may follow any text then also follows text that another marker spells out,
  /// and a marker that must end a word waits for the byte behind it.
  void settle();

  bool empty() const { return nodes_.size() == 1; }
  /// Text that begins so is held for other reasons.
  void add_held(char c) { first_[static_cast<unsigned char>(c)] |= kHeld; }
  bool begins(char c) const { return begin(c).node != kRoot; }
  /// The place behind the first byte of a marker, or the root.
  Cursor begin(char c) const { return {static_cast<Node>(first_[static_cast<unsigned char>(c)] & kMost), 0}; }
  /// Neither a marker begins so nor anything else that is held.
  bool is_plain(char c) const { return first_[static_cast<unsigned char>(c)] == 0; }
  /// The first byte of [p, end) that is not plain.
  const char* skip_plain(const char* p, const char* end) const {
    while (p != end && is_plain(*p)) ++p;
    return p;
  }
  bool is_held(char c) const { return (first_[static_cast<unsigned char>(c)] & kHeld) != 0; }
  /// The first byte of [p, end) that may begin a marker.
  const char* skip(const char* p, const char* end) const {
    while (p != end && !begins(*p)) ++p;
    return p;
  }
  /// Whether `c` goes on from there.
  bool step(Cursor& at, char c) const {
    for (Node to = nodes_[at.node].child; to != kRoot; to = nodes_[to].sibling) {
      if (nodes_[to].byte != c) continue;
      at = {to, 0};
      return true;
    }
    const bool blank = nodes_[at.node].optional_blank && is_json_space(c) && at.blanks != kMostBlanks;
    if (!blank) return nodes_[at.node].wild != kRoot && step_wild(at, c);
    ++at.blanks;
    return true;
  }
  /// Takes steps up to the end, to a byte that does not go on, or to one behind which a marker is whole.
  const char* follow(Cursor& at, const char* p, const char* end) const {
    const NodeData* const nodes = nodes_.data();
    for (; p != end; ++p) {
      Node to = nodes[at.node].child;
      while (to != kRoot && nodes[to].byte != *p) to = nodes[to].sibling;
      Cursor next{to, 0};
      if (to == kRoot) {
        next = at;
        if (!step(next, *p)) return p;
      }
      if (has_mark(next)) return p;
      at = next;
    }
    return p;
  }
  /// Nothing can follow.
  bool is_leaf(Cursor at) const { return nodes_[at.node].child == kRoot && nodes_[at.node].wild == kRoot; }
  bool has_mark(Cursor at) const { return nodes_[at.node].mark != 0 && at.blanks == 0; }
  /// Whether the text of a marker with this meaning goes on from there.
  bool leads_to(Meaning meaning, Cursor at) const;
  const Mark& mark(Cursor at) const { return marks_[nodes_[at.node].mark]; }

 private:
  struct NodeData {
    char byte = 0;
    bool optional_blank = false;
    Node child = kRoot;
    Node sibling = kRoot;
    std::uint16_t mark = 0;
    Node wild = kRoot;  ///< where any text may stand: the place that waits for its end
  };
  static constexpr Node kMost = 0x7FFF, kHeld = 0x8000;
  Node grow(Node from, char c);
  void spread(Node node, Node wild);
  void clear_wild(Node node, Node wild);
  void join(Node to, Node from);
  void hold_words();
  Node grow_words();
  void end(Node node, const Mark& mark);
  bool step_wild(Cursor& at, char c) const;

  std::vector<NodeData> nodes_;
  std::vector<Mark> marks_{Mark{}};
  std::array<Node, 256> first_{};  ///< for each byte, the place behind it; and whether it is held
};

}  // namespace parlance::reply
