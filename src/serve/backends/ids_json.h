// Ids as JSON.
#pragma once
#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/tokenizer.h"

namespace parlance::serve {

/// Appends "1,2,3"
inline void append_ids(std::string& out, std::span<const TokenId> ids) {
  constexpr std::size_t kLongest = 12, kBlock = 512;  // of an id with its comma
  char block[kBlock * kLongest];
  for (std::size_t from = 0; from < ids.size(); from += kBlock) {
    char* at = block;
    for (const TokenId id : ids.subspan(from, std::min(kBlock, ids.size() - from))) {
      at = std::to_chars(at, at + kLongest, id).ptr;
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
