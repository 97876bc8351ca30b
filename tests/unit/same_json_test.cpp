// same_json: what is the same JSON, and what only looks so.
#include <gtest/gtest.h>

#include <string>

#include "json/same.h"
#include "parlance/json.h"

namespace parlance {
namespace {

bool are_same(const std::string& a, const std::string& b) {
  Document first, second;
  EXPECT_TRUE(first.parse(a)) << a;
  EXPECT_TRUE(second.parse(b)) << b;
  EXPECT_EQ(same_json(first.root(), second.root()), same_json(second.root(), first.root())) << a << " and " << b;
  return same_json(first.root(), second.root());
}

TEST(SameJson, HasNoOrderOfMembersAndOneNumberOfEachValue) {
  EXPECT_TRUE(are_same(R"({"a": 1, "b": [true, null, "x"]})", R"({"b": [true, null, "\u0078"], "a": 1.0})"));
  EXPECT_TRUE(are_same("100", "1e2"));
  EXPECT_TRUE(are_same("-0.0", "0"));
  EXPECT_TRUE(are_same("123456789012345678901234567890", "123456789012345678901234567890"));
  EXPECT_TRUE(are_same("18446744073709551616", "18446744073709551616.0"));
  EXPECT_TRUE(are_same("[]", "[]"));
  EXPECT_TRUE(are_same("{}", "{}"));
}

TEST(SameJson, TellsApartWhatPythonHoldsEqual) {
  EXPECT_FALSE(are_same("1", "true"));
  EXPECT_FALSE(are_same("0", "false"));
  EXPECT_FALSE(are_same("null", "false"));
  EXPECT_FALSE(are_same("[]", "{}"));
  EXPECT_FALSE(are_same(R"("1")", "1"));
}

TEST(SameJson, TellsNumbersApartThatADoubleDoesNot) {
  EXPECT_FALSE(are_same("9007199254740993", "9007199254740992.0"));
  EXPECT_FALSE(are_same("18446744073709551617", "18446744073709551616.0"));
  EXPECT_FALSE(are_same("123456789012345678901234567890", "123456789012345678901234567891"));
}

TEST(SameJson, TellsListsAndObjectsApart) {
  EXPECT_FALSE(are_same("[1, 2]", "[2, 1]"));
  EXPECT_FALSE(are_same("[1]", "[1, 1]"));
  EXPECT_FALSE(are_same(R"({"a": 1})", R"({"a": 1, "b": 1})"));
  EXPECT_FALSE(are_same(R"({"a": null})", R"({"b": null})"));
}

}  // namespace
}  // namespace parlance
