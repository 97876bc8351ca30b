// What shapes of requests are checked with.
#pragma once
#include <string>
#include <string_view>

#include "parlance/result.h"
#include "parlance/value.h"
#include "serve/json/members.h"

namespace parlance::serve {

inline Error misshapen(const std::string& path, std::string_view wanted) {
  return Error(ErrorCode::conversation, path + " must be " + std::string(wanted)).input(path);
}

/// Of each item of a list: `check(item, path)`. A member that is not given is fine. Fails with conversation where it is
/// no list, and as `check` does.
template <typename Check>
Result<void> check_each(Value list, const std::string& path, std::string_view wanted, Check check) {
  if (!is_given(list)) return {};
  if (!list.is_sequence()) return misshapen(path, wanted);
  std::size_t number = 0;
  for (const Value& item : list.items()) {
    if (Result<void> checked = check(item, path + "[" + std::to_string(number++) + "]"); !checked) return checked;
  }
  return {};
}

}  // namespace parlance::serve
