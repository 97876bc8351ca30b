// Tests of the JSON readers and of Document: values, failures and their places, origin ids, paths.
//
// What json.loads makes of arbitrary texts is compared by tests/oracle/json_oracle.py; here stand
// the cases worth knowing. Begin reading at kFailures for errors, at TEST(Document, ...) for paths.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "json/document.h"
#include "json/json.h"
#include "json/read.h"
#include "json/repeats.h"
#include "parlance/json.h"
#include "value/dict.h"

namespace parlance {
namespace {

using namespace std::string_view_literals;

Value at(Value dict, std::string_view key) {
  const DictEntry* entry = find_key(*dict.dict, key);
  return entry == nullptr ? Value::invalid() : entry->value;
}
Value at(Value list, std::size_t i) { return list.list->items[i]; }

std::string to_json(Value v) {
  Arena arena;
  Limits limits;
  limits.depth = 2 * kJsonDepth;
  Runtime rt(arena, limits);
  std::string out;
  EXPECT_TRUE(append_json(rt, out, v)) << rt.failure.message;
  return out;
}

/// A Runtime with its arena.
struct ReadBench {
  Limits limits;
  Arena arena;
  Runtime rt{arena, limits};
};

Document parsed(std::string_view text) {
  Document document;
  const auto result = document.parse(text);
  EXPECT_TRUE(result.has_value()) << text;
  return document;
}
/// Of a document that lives to the end of the expression.
Value root_of(const Document& document) { return document.root(); }

TEST(JsonRead, GivesEveryKind) {
  const Document d = parsed(R"([null, true, false, -7, 1.5, "a\u00e9\n", [], {}, {"k": [1]}])");
  const Value root = d.root();
  EXPECT_TRUE(at(root, 0).is_none());
  EXPECT_EQ(at(root, 1).integer, 1);
  EXPECT_EQ(at(root, 2).integer, 0);
  EXPECT_EQ(at(root, 3).integer, -7);
  EXPECT_EQ(at(root, 4).real, 1.5);
  EXPECT_EQ(leaf_text(at(root, 5)), "a\u00e9\n");
  EXPECT_EQ(at(root, 6).list->size, 0u);
  EXPECT_EQ(at(root, 7).dict->size, 0u);
  EXPECT_EQ(at(at(at(root, 8), "k"), 0).integer, 1);
}

TEST(JsonRead, TakesWhatPythonTakes) {
  const std::string_view rows[][2] = {
      {"18446744073709551615", "18446744073709551615"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"-9223372036854775809", "-9223372036854775809"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"[1e400,-1e400,1e-400]", "[Infinity,-Infinity,0.0]"},
      {"[NaN,Infinity,-Infinity,-0,-0.0]", "[NaN,Infinity,-Infinity,0,-0.0]"},
      {R"(["\ud83d", "\ude00\ud83d", "\ud83d\ude00"])", "[\"\\ud83d\",\"\\ude00\\ud83d\",\"\U0001F600\"]"},
      {R"([NaN, "\ud83d\ude00 \ud83d\u0041"])", "[NaN,\"\U0001F600 \\ud83dA\"]"},
      {"\"\xED\xA0\x80\"", R"("\ud800")"},
      {" \t\r\n1 \t\r\n", "1"},
  };
  for (const auto& [text, json] : rows) EXPECT_EQ(to_json(root_of(parsed(text))), json) << text;
}

TEST(JsonRead, LastOfEqualKeysWinsAtTheFirstPlace) {
  EXPECT_EQ(to_json(root_of(parsed(R"({"a":1,"b":2,"a":3})"))), R"({"a":3,"b":2})");
  EXPECT_EQ(to_json(root_of(parsed(R"({"a":1,"b":NaN,"a":3})"))), R"({"a":3,"b":NaN})");
  EXPECT_EQ(to_json(root_of(parsed(R"({"":1,"ab":2,"ba":3,"":4})"))), R"({"":4,"ab":2,"ba":3})");
}

std::string repeats_of(const std::string& text) {
  const Document d = parsed(text);
  std::string all = inside_of(d).repeats() ? "" : "none";
  for (const RepeatedMember& one : repeated_members(root_of(d)))
    all += one.path + " " + std::to_string(one.times) + ";";
  return all;
}

TEST(JsonRead, MembersThatAreGivenTwiceAreRemembered) {
  EXPECT_EQ(repeats_of(R"({"a":1,"b":[{"a":1}],"c":{"a":{}}})"), "none");
  EXPECT_EQ(repeats_of(R"({"a":1,"b":2,"a":3})"), "a 2;");
  EXPECT_EQ(repeats_of(R"({"a":1,"b":NaN,"a":3})"), "a 2;") << "by the reader of what is not RFC 8259's";
  EXPECT_EQ(repeats_of(R"([{"b":1,"a":[{"c d":1,"c d":2}],"\u0062":1,"b":1}])"), "[0].b 3;[0].a[0][\"c d\"] 2;");
  EXPECT_EQ(repeats_of(R"({"a":{"b":1,"b":1},"a":2})"), "a 2;") << "what does not count itself is not looked into";
  std::string many = "{";
  for (int i = 0; i < 1000; ++i) many += "\"key" + std::to_string(i) + "\":1,";
  EXPECT_EQ(repeats_of(many + "\"last\":1}"), "none");
  EXPECT_EQ(repeats_of(many + "\"key7\":1,\"key3\":1,\"key7\":1}"), "key3 2;key7 3;");
  std::string below = "{\"" + std::string(10000, 'k') + "\":[{}";
  for (int i = 0; i < 1000; ++i) below += ",{\"b\":1,\"b\":1}";
  EXPECT_EQ(repeated_members(root_of(parsed(below + "]}"))).size(), 2u) << "paths are not written without end";
  // A document that is read anew forgets.
  Document d = parsed(R"({"a":1,"a":2})");
  ASSERT_TRUE(d.parse("{}"));
  EXPECT_FALSE(inside_of(d).repeats());
}

TEST(JsonRead, LargeDictsHaveAnIndex) {
  for (const int repeats : {0, 1, 500}) {
    std::string text = "{";
    for (int i = 0; i < 1000; ++i) text += "\"key" + std::to_string(i) + "\":" + std::to_string(i) + ",";
    for (int i = 0; i < repeats; ++i) text += "\"key" + std::to_string(2 * i) + "\":" + std::to_string(-i) + ",";
    text.back() = '}';
    const Document d = parsed(text);
    ASSERT_EQ(d.root().dict->size, 1000u);
    ASSERT_NE(d.root().dict->index, nullptr);
    for (int i = 0; i < 1000; ++i) {
      const int expected = i % 2 == 0 && i / 2 < repeats ? -i / 2 : i;
      EXPECT_EQ(at(d.root(), "key" + std::to_string(i)).integer, expected);
      EXPECT_EQ(leaf_text(d.root().dict->entries[i].key), "key" + std::to_string(i));
    }
  }
  // Enough keys for an index, but not when equal ones are merged.
  EXPECT_EQ(root_of(parsed(R"({"a":1,"a":1,"a":1,"a":1,"a":1,"a":1,"a":1,"a":1,"a":2})")).dict->index, nullptr);
}

struct FailureRow {
  std::string_view text;
  std::string_view message;
  std::size_t begin;
  std::uint32_t line;
  std::uint32_t column;
};
const FailureRow kFailures[] = {
    {"", "Expecting value", 0, 1, 1},
    {"nul", "Expecting value", 0, 1, 1},
    {"[1,]", "Expecting value", 3, 1, 4},
    {"[1 2]", "Expecting ',' delimiter", 3, 1, 4},
    {"{\"a\" 1}", "Expecting ':' delimiter", 5, 1, 6},
    {"{'a': 1}", "Expecting property name enclosed in double quotes", 1, 1, 2},
    {"{\"a\": 1,}", "Expecting property name enclosed in double quotes", 8, 1, 9},
    {"[1]\n  x", "Extra data", 6, 2, 3},
    {"01", "Extra data", 1, 1, 2},
    {"[\"\u00e9\u00e9\n\"]", "Invalid control character at", 6, 1, 5},
    {"[1,\n \"abc", "Unterminated string starting at", 5, 2, 2},
    {"\"\\x\"", "Invalid \\escape", 1, 1, 2},
    {"\"\\u12\"", "Invalid \\uXXXX escape", 2, 1, 3},
    {"\xEF\xBB\xBF{}", "Unexpected UTF-8 BOM (decode using utf-8-sig)", 0, 1, 1},
    {"[\"\xFF\"]", "'utf-8' codec can't decode byte 0xff in position 2: invalid start byte", 2, 1, 3},
    {"\"\xE4\xBD", "'utf-8' codec can't decode bytes in position 1-2: unexpected end of data", 1, 1, 2},
};

TEST(JsonRead, SaysWhereAndWhatInPythonsWords) {
  for (const FailureRow& row : kFailures) {
    Document d;
    const auto result = d.parse(row.text, "x.json");
    ASSERT_FALSE(result.has_value()) << row.text;
    EXPECT_EQ(result.error().code(), ErrorCode::json) << row.text;
    EXPECT_EQ(result.error().message(), row.message) << row.text;
    EXPECT_EQ(result.error().where().name, "x.json");
    EXPECT_EQ(result.error().where().begin, row.begin) << row.text;
    EXPECT_EQ(result.error().where().line, row.line) << row.text;
    EXPECT_EQ(result.error().where().column, row.column) << row.text;
    EXPECT_TRUE(d.root().is_none());
  }
}

TEST(JsonRead, LimitsNestingAndDigits) {
  const auto nested = [](std::size_t depth, std::string_view inner) {
    return std::string(depth, '[') + std::string(inner) + std::string(depth, ']');
  };
  for (const std::string_view inner : {"1"sv, "NaN"sv}) {  // both readers
    EXPECT_EQ(to_json(root_of(parsed(nested(kJsonDepth, inner)))), nested(kJsonDepth, inner));
    Document d;
    const auto result = d.parse(nested(kJsonDepth + 1, inner));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), ErrorCode::limit_depth);
    EXPECT_EQ(result.error().where().begin, kJsonDepth);
  }
  EXPECT_TRUE(root_of(parsed(std::string(4300, '9'))).is(Kind::integer));
  Document d;
  const auto result = d.parse(std::string(4301, '9'));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), ErrorCode::value);
}

TEST(JsonRead, KeepsItsBuffersAndRecovers) {
  Document d;
  ASSERT_TRUE(d.parse("[1,2,3]"));
  ASSERT_FALSE(d.parse("[1,2,"));
  EXPECT_TRUE(d.root().is_none());
  ASSERT_TRUE(d.parse(std::string("[\"") + std::string(100000, 'x') + "\"]"));
  EXPECT_EQ(at(d.root(), 0).size, 100000u);
  ASSERT_TRUE(d.parse("{\"a\": NaN}"));
  EXPECT_TRUE(std::isnan(at(d.root(), "a").real));
  ASSERT_TRUE(d.parse("7"));
  EXPECT_EQ(d.root().integer, 7);
}

TEST(JsonRead, AConsumedTextNeedsNoCopy) {
  for (const std::string_view text : {R"({"a": "b"})", R"({"a": "b", "n": NaN})"}) {  // both readers
    Document d;
    ASSERT_TRUE(inside_of(d).consume(std::string(text), "x"));
    EXPECT_EQ(leaf_text(at(d.root(), "a")), "b");
  }
  Document d;
  EXPECT_FALSE(inside_of(d).consume("{\"a\": ", "x"));
  EXPECT_FALSE(inside_of(d).consume("", "x"));
}

TEST(JsonRead, IdsFollowTheText) {
  for (const std::string_view last : {"2"sv, "NaN"sv}) {  // both readers
    const std::string text = R"({"a": [1, "s", true], "b": {"c": null}, "d": )" + std::string(last) + "}";
    const Document d = parsed(text);
    EXPECT_EQ(d.root().origin, 1u);
    EXPECT_EQ(d.root().dict->origin, 1u);
    EXPECT_EQ(at(d.root(), "a").origin, 2u);
    EXPECT_EQ(at(d.root(), "a").list->origin, 2u);
    EXPECT_EQ(at(at(d.root(), "a"), 0).origin, 3u);
    EXPECT_EQ(at(at(d.root(), "a"), 2).origin, 4u);
    EXPECT_EQ(at(d.root(), "b").origin, 5u);
    EXPECT_EQ(at(at(d.root(), "b"), "c").origin, 6u);
    EXPECT_EQ(at(d.root(), "d").origin, 7u);
    EXPECT_EQ(inside_of(d).next_origin(), 8u);
  }
}

TEST(JsonReadInto, SharesTheSourceWhereItCan) {
  ReadBench b;
  const Value source = Value::view(R"({"path": "/tmp/x", "text": "a\nb", "n": [1, 2.5]})");
  const auto read = read_json_into(b.rt, source, 42);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(at(*read, "path").data, source.data + 10);
  const Value text = at(*read, "text");
  EXPECT_EQ(leaf_text(text), "a\nb");
  const Arena::Derived* derived = b.arena.find_derived(text.data);
  ASSERT_NE(derived, nullptr);
  EXPECT_EQ(derived->source_data, source.data + 28);
  EXPECT_EQ(read->origin, 42u);
  EXPECT_EQ(at(at(*read, "n"), 0).origin, 42u);
}

TEST(JsonReadInto, ReadsRopesAndFailsWithoutATrace) {
  ReadBench b;
  const Value rope = concat(b.rt, Value::view("{\"a\": "), Value::view("\"b\"}"));
  const auto read = read_json_into(b.rt, rope);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(leaf_text(at(*read, "a")), "b");
  const auto bad = read_json_into(b.rt, Value::view("{\"a\": "));
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().code(), ErrorCode::json);
  EXPECT_FALSE(b.rt.failed());
}

TEST(JsonReadInto, StopsAtTheMemoryLimit) {
  ReadBench b;
  b.arena.set_limit(100'000);
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i) text += "[],";
  text.back() = ']';
  const auto read = read_json_into(b.rt, Value::view(text));
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), ErrorCode::limit_memory);
  EXPECT_TRUE(b.rt.failed());
}

// ---- Document

constexpr std::string_view kChatJson = R"({
  "tools": [{"type": "function", "n": 1}],
  "messages": [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "x", "args": {"odd key": 3, "f": [true, "deep"]}}]},
    17,
    "text",
    {"content": "last", "role": "tool"}
  ],
  "after": "end", "flag": false})";

/// Every value of a tree with its path, by plain recursion.
void check_paths(const Document& d, Value v, const std::string& path) {
  EXPECT_EQ(d.path_of(v), path);
  if (v.is(Kind::list)) {
    for (std::uint32_t i = 0; i < v.list->size; ++i) check_paths(d, at(v, i), path + "[" + std::to_string(i) + "]");
  }
  if (!v.is(Kind::dict)) return;
  for (const DictEntry& entry : entries(v)) {
    const std::string key(leaf_text(entry.key));
    const std::string inner = key == "odd key" ? path + "[\"odd key\"]" : path + (path.empty() ? "" : ".") + key;
    check_paths(d, entry.value, inner);
    PlaceInInput place;
    ASSERT_TRUE(inside_of(d).find(entry.key.data, place));
    EXPECT_EQ(place.path, inner);
    EXPECT_TRUE(place.is_key);
  }
}

TEST(Document, PathsLeadToEveryValue) {
  const Document d = parsed(kChatJson);
  check_paths(d, d.root(), "");
  ReadBench b;
  const Value content = at(at(at(d.root(), "messages"), 0), "content");
  EXPECT_EQ(d.path_of(substring(b.rt, content, 1, 3)), "messages[0].content");
  EXPECT_EQ(d.path_of(concat(b.rt, Value::view("> "), content)), "messages[0].content");
  EXPECT_EQ(d.path_of(Value::view("elsewhere")), "");
  EXPECT_EQ(d.path_of(Value::of_int(17)), "");
}

/// All that lies in `v` must be found in message `message`.
void check_message(const Document& d, Value v, std::int32_t message) {
  if (v.is_string()) {
    EXPECT_EQ(inside_of(d).message_of(v.data), message);
    if (v.size != 0) {
      EXPECT_EQ(inside_of(d).message_of(v.data + v.size - 1), message);
    }
    return;
  }
  EXPECT_EQ(inside_of(d).message_of(v.origin), message);
  if (v.is(Kind::list)) {
    for (const Value& item : items(v)) check_message(d, item, message);
  }
  if (!v.is(Kind::dict)) return;
  for (const DictEntry& entry : entries(v)) {
    check_message(d, entry.key, message);
    check_message(d, entry.value, message);
  }
}

TEST(Document, MessagesOwnWhatLiesInThem) {
  const std::string both[] = {std::string(kChatJson),
                              std::string(kChatJson.substr(0, kChatJson.size() - 1)) + ", \"x\": NaN}"};
  for (const std::string& text : both) {
    const Document d = parsed(text);
    const Value messages = at(d.root(), "messages");
    for (std::uint32_t i = 0; i < messages.list->size; ++i) {
      check_message(d, at(messages, i), static_cast<std::int32_t>(i));
    }
    for (const std::string_view key : {"tools"sv, "after"sv, "flag"sv}) check_message(d, at(d.root(), key), -1);
    EXPECT_EQ(inside_of(d).message_of("elsewhere"), -1);
    EXPECT_EQ(inside_of(d).message_of(std::uint32_t{0}), -1);
    EXPECT_EQ(inside_of(d).message_of(std::uint32_t{999}), -1);
  }
}

TEST(Document, RepeatedKeysDoNotMislead) {
  const Document d = parsed(R"({"a": "first", "messages": [{"role": "x", "content": "y", "role": "z"}],
                                "b": {"messages": []}, "a": "second"})");
  check_paths(d, d.root(), "");
  check_message(d, at(at(d.root(), "messages"), 0), 0);
  check_message(d, at(d.root(), "a"), -1);
}

TEST(Document, HasNoMessagesWithoutAList) {
  for (const std::string_view text :
       {"[1, \"a\"]"sv, R"({"messages": "a"})"sv, R"({"messages": [], "b": "a"})"sv, "\"a\""sv}) {
    const Document d = parsed(text);
    EXPECT_EQ(inside_of(d).message_of(std::uint32_t{1}), -1);
    EXPECT_EQ(inside_of(d).message_of(inside_of(d).holds(d.root().data) ? d.root().data : nullptr), -1);
  }
}

TEST(Document, ForgetsTheLastText) {
  Document d = parsed(kChatJson);
  EXPECT_EQ(inside_of(d).message_of(at(at(d.root(), "messages"), 0).origin), 0);
  ASSERT_TRUE(d.parse(R"({"x": [{}, {}, {}], "messages": [{"role": "a"}, {"role": "b"}]})"));
  check_message(d, at(at(d.root(), "messages"), 1), 1);
  check_message(d, at(at(d.root(), "x"), 2), -1);
}

TEST(Document, MovesWithItsValues) {
  Document from = parsed(kChatJson);
  const Value root = from.root();
  Document to = std::move(from);
  EXPECT_EQ(to.path_of(at(at(root, "messages"), 2)), "messages[2]");
  EXPECT_TRUE(from.root().is_none());  // NOLINT: the state after a move is promised
  EXPECT_EQ(from.path_of(root), "");
  ASSERT_TRUE(from.parse("[1]"));
  EXPECT_EQ(at(from.root(), 0).integer, 1);
}

TEST(Document, MayBeAskedByManyThreads) {
  const Document d = parsed(kChatJson);
  const Value last = at(at(d.root(), "messages"), 4);
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (int& count : right) {
    threads.emplace_back([&d, &count, last] {
      for (int i = 0; i < 100; ++i) count += inside_of(d).message_of(last.origin) == 4;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(4, 100));
}

}  // namespace
}  // namespace parlance
