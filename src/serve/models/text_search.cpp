// Searches a sorted list of texts. Begin reading at TextSearch::longest_at.
#include "serve/models/text_search.h"

#include <algorithm>
#include <cstring>

namespace parlance::serve {

TextSearch::TextSearch(const std::vector<std::string>& texts) {
  for (std::size_t number = 0; number < texts.size(); ++number) {
    if (texts[number].empty()) continue;
    sorted_.emplace_back(texts[number], number);
    begins_[static_cast<unsigned char>(texts[number][0])] = true;
  }
  std::sort(sorted_.begin(), sorted_.end());
  const auto is_same = [](const auto& a, const auto& b) { return a.first == b.first; };
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end(), is_same), sorted_.end());
  if (std::count(begins_.begin(), begins_.end(), true) == 1)
    only_byte_ = static_cast<int>(std::find(begins_.begin(), begins_.end(), true) - begins_.begin());
}

/// The texts that begin as this place does are a range of the list that becomes smaller with each byte.
std::optional<std::size_t> TextSearch::longest_at(std::string_view in, std::size_t at) const {
  auto first = sorted_.begin(), last = sorted_.end();
  std::optional<std::size_t> found;
  for (std::size_t size = 0; first != last; ++size) {
    if (first->first.size() == size) {
      found = first->second;
      if (++first == last) break;
    }
    if (at + size >= in.size()) break;
    const auto byte = static_cast<unsigned char>(in[at + size]);
    const auto byte_of = [size](const auto& text) { return static_cast<unsigned char>(text.first[size]); };
    first = std::partition_point(first, last, [&](const auto& text) { return byte_of(text) < byte; });
    last = std::partition_point(first, last, [&](const auto& text) { return byte_of(text) == byte; });
  }
  return found;
}

std::optional<TextSearch::Match> TextSearch::find(std::string_view in, std::size_t from) const {
  if (sorted_.empty()) return std::nullopt;
  for (std::size_t at = from; at < in.size(); ++at) {
    if (only_byte_ >= 0) {
      const void* const found = std::memchr(in.data() + at, only_byte_, in.size() - at);
      if (found == nullptr) break;
      at = static_cast<std::size_t>(static_cast<const char*>(found) - in.data());
    } else if (!begins_[static_cast<unsigned char>(in[at])]) {
      continue;
    }
    if (const std::optional<std::size_t> number = longest_at(in, at)) return Match{.begin = at, .number = *number};
  }
  return std::nullopt;
}

}  // namespace parlance::serve
