// Ids as JSON.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/tokenizer.h"

namespace parlance::serve {

namespace ids_json_inside {

/// "00" to "99", one after the other.
struct Pairs {
  constexpr Pairs() {
    for (int i = 0; i < 100; ++i) {
      text[2 * i] = static_cast<char>('0' + i / 10);
      text[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
  }
  char text[200]{};
};
inline constexpr Pairs kPairs;

/// Writes an id, and maybe bytes behind it that do not count: there must be room for 10. Prompts have thousands of ids,
/// nearly all below a million.
inline char* put_id(char* at, TokenId id) {
  constexpr std::uint32_t kShort = 1000000;
  const auto number = static_cast<std::uint32_t>(id);
  if (number >= kShort) return std::to_chars(at, at + 11, id).ptr;
  char digits[12];
  std::memcpy(digits, kPairs.text + 2 * (number / 10000), 2);
  std::memcpy(digits + 2, kPairs.text + 2 * (number / 100 % 100), 2);
  std::memcpy(digits + 4, kPairs.text + 2 * (number % 100), 2);
  const int zeros = (number < 10) + (number < 100) + (number < 1000) + (number < 10000) + (number < 100000);
  std::memcpy(at, digits + zeros, 6);
  return at + 6 - zeros;
}

}  // namespace ids_json_inside

/// Appends "1,2,3"
inline void append_ids(std::string& out, std::span<const TokenId> ids) {
  constexpr std::size_t kLongest = 12, kBlock = 512;  // of an id with its comma
  char block[kBlock * kLongest];
  for (std::size_t from = 0; from < ids.size(); from += kBlock) {
    char* at = block;
    for (const TokenId id : ids.subspan(from, std::min(kBlock, ids.size() - from))) {
      at = ids_json_inside::put_id(at, id);
      *at++ = ',';
    }
    out.append(block, static_cast<std::size_t>(at - block));
  }
  if (!ids.empty()) out.pop_back();
}

/// "[1,2,3]"
inline std::string ids_json(std::span<const TokenId> ids) {
  std::string out = "[";
  append_ids(out, ids);
  return out += ']';
}

/// The JSON of a list that grows: only what is new is written.   Threads: one.
class IdsText {
 public:
  /// Until the next call.
  std::string_view of(std::span<const TokenId> ids) {
    const bool grows = !ids_.empty() && ids.size() >= ids_.size() && std::equal(ids_.begin(), ids_.end(), ids.begin());
    if (grows) {
      text_.back() = ',';
    } else {
      ids_.clear();
      text_ = "[";
    }
    const std::span<const TokenId> news = ids.subspan(ids_.size());
    if (grows && news.empty()) text_.pop_back();
    append_ids(text_, news);
    text_ += ']';
    ids_.insert(ids_.end(), news.begin(), news.end());
    return text_;
  }

 private:
  std::vector<TokenId> ids_;
  std::string text_;
};

}  // namespace parlance::serve
