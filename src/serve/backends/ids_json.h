// Ids as JSON.
#pragma once
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

/// Bytes that an id takes at most, with its comma.
inline constexpr std::size_t kLongest = 12;

/// Writes an id, and maybe bytes behind it that do not count: there must be room for kLongest. Prompts have thousands
/// of ids, nearly all below a million: their six digits are one number, from which the zeros in front are shifted out.
inline char* put_id(char* at, TokenId id) {
  constexpr std::uint32_t kShort = 1000000;
  const auto number = static_cast<std::uint32_t>(id);
  if (number >= kShort || std::endian::native != std::endian::little) return std::to_chars(at, at + kLongest, id).ptr;
  std::uint16_t pairs[3];
  std::memcpy(pairs, kPairs.text + 2 * (number / 10000), 2);
  std::memcpy(pairs + 1, kPairs.text + 2 * (number / 100 % 100), 2);
  std::memcpy(pairs + 2, kPairs.text + 2 * (number % 100), 2);
  const int zeros = (number < 10) + (number < 100) + (number < 1000) + (number < 10000) + (number < 100000);
  const std::uint64_t digits =
      (std::uint64_t{pairs[0]} | std::uint64_t{pairs[1]} << 16 | std::uint64_t{pairs[2]} << 32) >> (8 * zeros);
  std::memcpy(at, &digits, sizeof digits);
  return at + 6 - zeros;
}

}  // namespace ids_json_inside

/// Appends "1,2,3"
inline void append_ids(std::string& out, std::span<const TokenId> ids) {
  using ids_json_inside::kLongest;
  constexpr std::size_t kTogether = 256, kUsual = 7;
  char room[kTogether * kLongest];
  out.reserve(out.size() + ids.size() * kUsual + 2);
  for (std::size_t from = 0; from < ids.size(); from += kTogether) {
    char* at = room;
    for (const TokenId id : ids.subspan(from, std::min(kTogether, ids.size() - from))) {
      at = ids_json_inside::put_id(at, id);
      *at++ = ',';
    }
    out.append(room, static_cast<std::size_t>(at - room));
  }
  if (!ids.empty()) out.pop_back();
}

/// Appends "[1,2,3]"
inline void append_ids_json(std::string& out, std::span<const TokenId> ids) {
  out += '[';
  append_ids(out, ids);
  out += ']';
}

/// The id in "token_id:17", as vLLM writes a token in logprobs; -1: it is another text.
inline TokenId id_named(std::string_view text) {
  constexpr std::string_view kBefore = "token_id:";
  if (!text.starts_with(kBefore) || text.size() == kBefore.size()) return -1;
  TokenId id = 0;
  for (const char c : text.substr(kBefore.size())) {
    if (c < '0' || c > '9' || id >= 100'000'000) return -1;
    id = id * 10 + c - '0';
  }
  return id;
}

/// "[1,2,3]"
inline std::string ids_json(std::span<const TokenId> ids) {
  std::string out;
  append_ids_json(out, ids);
  return out;
}

/// The last request's body, up to its ids: where the next one begins with the same, only the new ids are written. A
/// megabyte that is copied, or asked of the system anew, costs more than they do.   Threads: one.
class IdsBody {
 public:
  /// Appends "[1,2,3]" to `out`, the body so far.
  void append(std::string& out, std::span<const TokenId> ids) {
    const bool goes_on = !ids_.empty() && is_own_ && kept_.size() >= end_ && out.size() == begin_ &&
                         kept_.starts_with(out) && ids.size() >= ids_.size() &&
                         std::equal(ids_.begin(), ids_.end(), ids.begin());
    if (goes_on) {
      kept_.resize(end_);
      if (ids.size() > ids_.size()) kept_ += ',';
    } else {
      ids_.clear();
      begin_ = out.size();
      kept_.assign(out).push_back('[');
    }
    const std::span<const TokenId> news = ids.subspan(ids_.size());
    append_ids(kept_, news);
    end_ = kept_.size();
    kept_ += ']';
    ids_.insert(ids_.end(), news.begin(), news.end());
    out = std::exchange(kept_, {});
    is_appended_ = true;
  }
  /// The body, when it has been sent: one that append() has written to, or it is not gone on from.
  void keep(std::string body) {
    kept_ = std::move(body);
    is_own_ = std::exchange(is_appended_, false);
  }

 private:
  std::vector<TokenId> ids_;
  std::string kept_;
  std::size_t begin_ = 0, end_ = 0;  ///< of "[1,2,3" in it
  bool is_appended_ = false;         ///< append() wrote to the next body
  bool is_own_ = false;              ///< and to the one that is kept
};

}  // namespace parlance::serve
