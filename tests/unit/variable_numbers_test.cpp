// Names of variables are found in a few steps, whoever has chosen them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "jinja/compile/program.h"

namespace parlance {
namespace {

using jinja::VariableName;
using jinja::VariableNumbers;

struct Names {
  explicit Names(std::vector<std::string> all) : texts(std::move(all)) {
    for (const std::string& text : texts) names.push_back({.name = text, .missing = {}, .unset = {}});
    numbers = VariableNumbers(names);
  }
  std::vector<std::string> texts;
  std::vector<VariableName> names;
  VariableNumbers numbers;
};

void expect_found(const Names& all) {
  for (std::uint32_t i = 0; i < all.texts.size(); ++i)
    ASSERT_EQ(all.numbers.find(all.texts[i], all.names), i) << all.texts[i];
  for (const char* other : {"", "x", "messagess", "a000000c"})
    EXPECT_EQ(all.numbers.find(other, all.names), VariableNumbers::kNone) << other;
}

TEST(VariableNumbers, OfAUsualTemplate) {
  expect_found(Names({}));
  const Names usual({"messages", "tools", "add_generation_prompt", "bos_token", "eos_token", "raise_exception",
                     "strftime_now", "namespace", "enable_thinking", "documents", "date_string"});
  expect_found(usual);
  EXPECT_LE(usual.numbers.longest_search(), 8u);
}

TEST(VariableNumbers, WithTheSameEndsAreFoundByAllOfThem) {
  std::vector<std::string> texts;
  for (int i = 0; i < 20000; ++i) texts.push_back("a" + std::to_string(100000 + i) + "b");
  const Names hostile(std::move(texts));
  expect_found(hostile);
  EXPECT_LE(hostile.numbers.longest_search(), 400u);  // all of them, by their ends alone
}

}  // namespace
}  // namespace parlance
