// Ids as JSON.
#pragma once
#include <span>
#include <string>

#include "parlance/tokenizer.h"

namespace parlance::serve {

inline std::string ids_json(std::span<const TokenId> ids) {
  std::string out = "[";
  out.reserve(2 + 6 * ids.size());
  for (const TokenId id : ids) out.append(out.size() > 1 ? "," : "").append(std::to_string(id));
  return out += ']';
}

}  // namespace parlance::serve
