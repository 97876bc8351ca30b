// A value as JSON text, for expectations.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "json/json.h"

namespace parlance::testing {

inline std::string as_json(Value v) {
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  std::string out;
  EXPECT_TRUE(append_json(rt, out, v));
  return out;
}

}  // namespace parlance::testing
