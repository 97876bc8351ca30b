// Ids as JSON.
#pragma once
#include <charconv>
#include <span>
#include <string>

#include "parlance/tokenizer.h"

namespace parlance::serve {

/// "[1,2,3]"
inline std::string ids_json(std::span<const TokenId> ids) {
  constexpr std::size_t kLongest = 12;  // of an id with its comma
  std::string out(ids.size() * kLongest + 2, '\0');
  char* at = out.data();
  *at++ = '[';
  for (const TokenId id : ids) {
    at = std::to_chars(at, at + kLongest, id).ptr;
    *at++ = ',';
  }
  if (!ids.empty()) --at;
  *at++ = ']';
  out.resize(static_cast<std::size_t>(at - out.data()));
  return out;
}

}  // namespace parlance::serve
