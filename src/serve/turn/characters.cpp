// Holds back what cannot be shown yet.
#include "serve/turn/characters.h"

#include <algorithm>

#include "base/utf8.h"

namespace parlance::serve {

std::size_t whole_characters(std::string_view text) {
  constexpr std::size_t kLongest = 4;
  for (std::size_t back = 1; back <= std::min(kLongest - 1, text.size()); ++back) {
    const char last = text[text.size() - back];
    if (utf8::is_continuation(last)) continue;
    const auto byte = static_cast<unsigned char>(last);
    const std::size_t wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return wanted > back ? text.size() - back : text.size();
  }
  return text.size();
}

std::string_view Characters::add(std::string_view bytes) {
  held_ += bytes;
  const std::size_t whole = whole_characters(held_);
  given_.assign(held_, 0, whole);
  held_.erase(0, whole);
  return given_;
}

std::string_view Characters::rest() {
  given_.swap(held_);
  held_.clear();
  return given_;
}

std::string_view StopTexts::add(std::string_view text) {
  if (found_) return {};
  if (stops_.empty()) return text;
  held_ += text;
  std::size_t first = held_.npos;
  for (const std::string& stop : stops_) {
    const std::size_t at = held_.find(stop);
    if (at >= first) continue;
    first = at;
    found_ = stop;
  }
  const std::size_t shown = found_ ? first : held_.size() - held_behind(held_);
  given_.assign(held_, 0, shown);
  held_.erase(0, found_ ? held_.size() : shown);
  return given_;
}

std::string_view StopTexts::rest() {
  given_.swap(held_);
  held_.clear();
  return given_;
}

/// How many bytes at the end may be the beginning of a stop text.
std::size_t StopTexts::held_behind(std::string_view text) const {
  std::size_t most = 0;
  for (const std::string& stop : stops_) {
    for (std::size_t size = std::min(stop.size() - 1, text.size()); size > most; --size) {
      if (text.ends_with(std::string_view(stop).substr(0, size))) most = size;
    }
  }
  return most;
}

}  // namespace parlance::serve
