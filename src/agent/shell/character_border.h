// CharacterBorder: hands on output as it comes, in pieces that end where a character of UTF-8 does.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace parlance::agent {

/// One for each stream.
class CharacterBorder {
 public:
  /// What can be shown now: what was kept, and `bytes` without the character that has begun at its end.
  std::string whole(std::string_view bytes) {
    kept_.append(bytes);
    const std::size_t rest = unfinished(kept_);
    std::string text = kept_.substr(0, kept_.size() - rest);
    kept_.erase(0, text.size());
    return text;
  }
  /// At the end: what is no character.
  std::string rest() { return std::exchange(kept_, {}); }

 private:
  /// How many bytes at the end begin a character that needs more of them.
  static std::size_t unfinished(std::string_view text) {
    for (std::size_t size = 1; size <= std::min<std::size_t>(3, text.size()); ++size) {
      const auto byte = static_cast<unsigned char>(text[text.size() - size]);
      if (byte < 0x80) return 0;
      const std::size_t needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 0;
      if (needed != 0) return needed > size && byte < 0xF5 ? size : 0;
    }
    return 0;
  }

  std::string kept_;
};

}  // namespace parlance::agent
