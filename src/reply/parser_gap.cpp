// White space that may belong to a marker: at the beginning of content, and behind a call.
//
// It is held, with the beginning of a marker after it, until it is clear which it is. Begin reading at read_gap.
#include <algorithm>
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::is_json_space;
using reply::MarkerTrie;
using reply::Meaning;

namespace {

constexpr std::size_t kLongestGap = 64;  // white space past this is text, whatever follows

/// How much of `framing` the white space ends with.
std::size_t framing_at_end(std::string_view blanks, std::string_view framing) {
  for (std::size_t size = std::min(blanks.size(), framing.size()); size > 0; --size) {
    if (blanks.substr(blanks.size() - size) == framing.substr(framing.size() - size)) return size;
  }
  return 0;
}

}  // namespace

const char* ReplyParser::State::read_gap(const char* p, const char* end) {
  const MarkerTrie& markers = trie();
  while (p != end) {
    if (held_.size() == blanks_ && is_json_space(*p) && blanks_ < kLongestGap) {
      held_ += *p++;
      ++blanks_;
      continue;
    }
    const MarkerTrie::Node next = markers.step(node_, *p);
    const Found found = next != MarkerTrie::kRoot ? Found{} : match(std::string_view(held_).substr(blanks_));
    if (next == MarkerTrie::kRoot) {
      if (found.size == 0) {
        leave_gap();
      } else {
        meet_after_gap(found.mark, found.size);
      }
      return p;
    }
    held_ += *p++;
    node_ = next;
    if (!markers.is_leaf(next)) continue;
    const Found whole = match(std::string_view(held_).substr(blanks_));
    meet_after_gap(whole.mark, whole.size);
    return p;
  }
  return p;
}

/// No marker follows: it was text all along, or a call without its end.
void ReplyParser::State::leave_gap() {
  std::string held = std::move(held_);
  held_.clear();
  node_ = MarkerTrie::kRoot;
  const std::size_t blanks = std::exchange(blanks_, 0);
  if (place_ == Place::tail) {
    out_.malformed(blanks, form().close.texts.front());
    begin_content(Gap::after);
  } else {
    gap_ = Gap::none;
  }
  again(std::move(held));
}

void ReplyParser::State::meet_after_gap(const Mark& mark, std::size_t size) {
  std::string held = std::move(held_);
  held_.clear();
  node_ = MarkerTrie::kRoot;
  const std::size_t blanks = std::exchange(blanks_, 0);
  const std::size_t to = blanks + size;
  std::size_t text = 0;  // at the start, only framing is not content where the reply ends
  if (gap_ == Gap::start && place_ == Place::text && (mark.meaning == Meaning::turn || mark.meaning == Meaning::end)) {
    const ReplyFormat& format = machine_->format;
    const ReplyMarker& marker = mark.meaning == Meaning::turn ? format.turns[mark.index].open : format.end[mark.index];
    text = blanks - framing_at_end(std::string_view(held).substr(0, blanks), marker.before);
    put_text(std::string_view(held).substr(0, text));
  }
  gap_ = Gap::none;
  meet(mark, held.substr(text, to - text));
  again(held.substr(to));
}

void ReplyParser::State::finish_text() {
  while (!held_.empty()) {
    if (blanks_ == 0 && place_ != Place::tail) {
      settle();
      continue;
    }
    const std::string held = std::move(held_);
    held_.clear();
    node_ = MarkerTrie::kRoot;
    const std::size_t blanks = std::exchange(blanks_, 0);
    const bool content = gap_ == Gap::start && place_ == Place::text;
    gap_ = Gap::none;
    if (place_ == Place::tail) {
      put_markup(held);  // what closes the call, cut off
      break;
    }
    if (content) {
      put_text(std::string_view(held).substr(0, blanks));
    } else {
      put_markup(std::string_view(held).substr(0, blanks));
    }
    again(held.substr(blanks));
  }
}

}  // namespace parlance
