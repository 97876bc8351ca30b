// Finds stop texts in content.
#include "serve/turn/stop_finder.h"

#include <algorithm>

namespace parlance::serve {

void StopFinder::add(const ReplyEvent& event, ReplySink sink) {
  if (found_) return;
  if (stops_.empty()) return sink(event);
  if (event.kind == ReplyEvent::Kind::content) return take_content(event.text, sink);
  if (event.kind != ReplyEvent::Kind::marker) finish(sink);
  sink(event);
}

void StopFinder::finish(ReplySink sink) {
  if (!held_.empty()) pass(held_, sink);
  held_.clear();
}

void StopFinder::pass(std::string_view text, ReplySink sink) const {
  ReplyEvent event;
  event.kind = ReplyEvent::Kind::content;
  event.text = text;
  if (!text.empty()) sink(event);
}

void StopFinder::take_content(std::string_view text, ReplySink sink) {
  held_ += text;
  std::size_t first = held_.npos;
  for (const std::string& stop : stops_) {
    const std::size_t at = held_.find(stop);
    if (at >= first) continue;
    first = at;
    found_ = stop;
  }
  const std::size_t passed = found_ ? first : held_.size() - held_behind(held_);
  pass(std::string_view(held_).substr(0, passed), sink);
  held_.erase(0, found_ ? held_.size() : passed);
}

/// How many bytes at the end may be the beginning of a stop text.
std::size_t StopFinder::held_behind(std::string_view text) const {
  std::size_t most = 0;
  for (const std::string& stop : stops_) {
    for (std::size_t size = std::min(stop.size() - 1, text.size()); size > most; --size) {
      if (text.ends_with(std::string_view(stop).substr(0, size))) most = size;
    }
  }
  return most;
}

}  // namespace parlance::serve
