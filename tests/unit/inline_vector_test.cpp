// InlineVector against std::vector, across the border where it takes memory of its own.
#include "base/inline_vector.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace parlance {
namespace {

using Few = InlineVector<std::uint32_t, 3>;

std::vector<std::uint32_t> all(const Few& few) { return {few.begin(), few.end()}; }

TEST(InlineVector, HoldsWhatAVectorWould) {
  Few few;
  std::vector<std::uint32_t> wanted;
  EXPECT_TRUE(few.empty());
  for (std::uint32_t i = 0; i < 40; ++i) {
    few.push_back(i);
    wanted.push_back(i);
    EXPECT_EQ(all(few), wanted);
    EXPECT_EQ(few.back(), i);
    const Few copy = few;
    EXPECT_EQ(all(copy), wanted);
    Few assigned;
    assigned.push_back(99);
    assigned = few;
    EXPECT_EQ(all(assigned), wanted);
    few.push_back(few[0]);  // one of its own, also where it has to grow
    wanted.push_back(wanted[0]);
    EXPECT_EQ(all(few), wanted);
  }
  few.append(wanted.data(), wanted.data() + wanted.size());
  wanted.insert(wanted.end(), wanted.begin(), wanted.end());
  EXPECT_EQ(all(few), wanted);
  few.clear();
  EXPECT_TRUE(few.empty());
}

}  // namespace
}  // namespace parlance
