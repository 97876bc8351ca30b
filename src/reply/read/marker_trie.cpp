// Building a MarkerTrie; format.cpp keeps it far below 2^15 nodes. Begin reading at add().
#include "reply/read/marker_trie.h"

#include <string>

#include "base/ascii.h"

namespace parlance::reply {

MarkerTrie::Node MarkerTrie::grow(Node from, char c) {
  Node last = kRoot;
  for (Node to = nodes_[from].child; to != kRoot; to = nodes_[to].sibling) {
    if (nodes_[to].byte == c) return to;
    last = to;
  }
  const auto made = static_cast<Node>(nodes_.size());
  nodes_.push_back({c, false, kRoot, kRoot, 0, c == '<' ? kRoot : nodes_[from].wild});
  (last == kRoot ? nodes_[from].child : nodes_[last].sibling) = made;  // what was added first is met most often
  if (from == kRoot) first_[static_cast<unsigned char>(c)] |= made;
  return made;
}

void MarkerTrie::add(std::string_view lead, std::string_view text, const Mark& mark) {
  if (text.empty() || nodes_.size() + lead.size() + text.size() > kMost) return;
  Node node = kRoot;
  for (const char c : lead) node = grow(node, c);
  const std::vector<std::string_view> words = soft_words(text);
  for (const std::string_view word : words) {
    for (const char c : word) node = grow(node, c);
    if (&word != &words.back()) nodes_[node].optional_blank = true;
  }
  end(node, mark);
}

void MarkerTrie::end(Node node, const Mark& mark) {
  if (nodes_[node].mark != 0 || mark.meaning == Meaning::none) return;
  nodes_[node].mark = static_cast<std::uint16_t>(marks_.size());
  marks_.push_back(mark);
  if (nodes_[node].wild != kRoot && !mark.is_weak()) clear_wild(node, nodes_[node].wild);
}

/// What is spelled out already behind such a place may turn out to be any text, too; but a marker is none, unless a
/// longer one may follow.
void MarkerTrie::spread(Node node, Node wild) {
  nodes_[node].wild = wild;
  for (Node to = nodes_[node].child; to != kRoot; to = nodes_[to].sibling) {
    const bool marker = nodes_[to].mark != 0 && !marks_[nodes_[to].mark].is_weak();
    if (nodes_[to].byte != '<' && !marker && nodes_[to].wild != to) spread(to, wild);
  }
}

void MarkerTrie::clear_wild(Node node, Node wild) {
  if (nodes_[node].wild != wild) return;
  nodes_[node].wild = kRoot;
  for (Node to = nodes_[node].child; to != kRoot; to = nodes_[to].sibling) clear_wild(to, wild);
}

void MarkerTrie::add_loose(std::string_view lead, std::string_view text, const Mark& mark) {
  if (text.empty() || nodes_.size() + lead.size() + text.size() > kMost) return;
  Node node = kRoot;
  for (const char c : lead) node = grow(node, c);
  const std::vector<std::string_view> words = soft_words(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const char c : words[i]) {
      if (c == '*')
        spread(node, node);
      else
        node = grow(node, c);
    }
    if (i + 1 == words.size()) break;
    const bool any_text = words[i].back() == '*' || words[i + 1].front() == '*';  // white space is some, too
    if (!any_text) nodes_[node].optional_blank = true;
    const char* blank = words[i].data() + words[i].size();
    for (; any_text && blank != words[i + 1].data(); ++blank) node = grow(node, *blank);
  }
  end(node, mark);
}

/// A step takes one way only. Behind `<a>b`, of `<a>b<c>`, the `<` of `<a>*<d>` would lead to `<c>` alone.
void MarkerTrie::settle() {
  const auto tag_of = [this](Node node) {
    Node to = nodes_[node].child;
    while (to != kRoot && nodes_[to].byte != '<') to = nodes_[to].sibling;
    return to;
  };
  for (std::size_t i = 1; i < nodes_.size(); ++i) {
    const auto node = static_cast<Node>(i);
    const Node wild = nodes_[node].wild;
    if (wild == kRoot || wild == node) continue;
    const Node to = tag_of(node), from = tag_of(wild);
    if (to != kRoot && from != kRoot) join(to, from);
  }
  hold_words();
}

/// Where more of a word must not follow, the byte behind waits for its place, too. All such markers share these places,
/// behind those of their own; any text has room for that byte already.
void MarkerTrie::hold_words() {
  const std::size_t size = nodes_.size();
  Node shared = kRoot;
  for (std::size_t i = 1; i < size; ++i) {
    const Mark& mark = marks_[nodes_[i].mark];
    if (!mark.ends_word() || !ascii::is_word(nodes_[i].byte) || nodes_[i].wild != kRoot) continue;
    if (shared == kRoot) shared = grow_words();
    Node* last = &nodes_[i].child;
    while (*last != kRoot && *last < size) last = &nodes_[*last].sibling;
    *last = shared;
  }
}

/// The first of the places, each the sibling of the one before.
MarkerTrie::Node MarkerTrie::grow_words() {
  const auto first = static_cast<Node>(nodes_.size());
  for (int c = 0; c < 128; ++c) {
    if (ascii::goes_on_name(static_cast<char>(c))) {
      nodes_.push_back({static_cast<char>(c), false, kRoot, static_cast<Node>(nodes_.size() + 1), 0, kRoot});
    }
  }
  nodes_.back().sibling = kRoot;
  return first;
}

/// What is spelled out keeps what it means.
void MarkerTrie::join(Node to, Node from) {
  for (Node child = nodes_[from].child; child != kRoot; child = nodes_[child].sibling) {
    if (nodes_.size() >= kMost) return;
    const Node at = grow(to, nodes_[child].byte);
    nodes_[at].optional_blank = nodes_[at].optional_blank || nodes_[child].optional_blank;
    if (nodes_[at].mark == 0 && nodes_[at].wild == kRoot) nodes_[at].wild = nodes_[child].wild;
    if (nodes_[at].mark == 0) nodes_[at].mark = nodes_[child].mark;
    join(at, child);
  }
}

bool MarkerTrie::leads_to(Meaning meaning, Cursor at) const {
  const bool is_wild = at.blanks != 0 && nodes_[at.node].wild == at.node;  // any text is left by its end alone
  for (Node to = nodes_[at.node].child; to != kRoot; to = nodes_[to].sibling) {
    if (is_wild && nodes_[to].byte != '<') continue;
    if ((nodes_[to].mark != 0 && marks_[nodes_[to].mark].meaning == meaning) || leads_to(meaning, {to, 0})) return true;
  }
  return false;
}

bool MarkerTrie::step_wild(Cursor& at, char c) const {
  const Node wild = nodes_[at.node].wild;
  if (c != '<') {
    if (static_cast<unsigned char>(c) < 0x20 || at.blanks == kWild) return false;
    at = {wild, static_cast<std::uint8_t>(at.blanks + 1)};
    return true;
  }
  for (Node to = nodes_[wild].child; to != kRoot; to = nodes_[to].sibling) {
    if (nodes_[to].byte != c) continue;
    at = {to, 0};
    return true;
  }
  return false;
}

}  // namespace parlance::reply
