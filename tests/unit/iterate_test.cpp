// Tests of iteration, list(), len() and bool() over every kind of value.
#include "value/iterate.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "value/dict.h"
#include "value/text_of.h"

namespace parlance {
namespace {

struct IterateBench {
  Limits limits;
  Arena arena;
  Runtime rt{arena, limits};
};

/// An object that counts down and is its own iterator.
struct Countdown : Object {
  std::int64_t left;
};
bool next_of_countdown(Runtime& rt, Object* object, Value& out) {
  auto* self = static_cast<Countdown*>(object);
  if (self->left == 0) return false;
  if (self->left < 0) {
    rt.fail(ErrorCode::value, "it went wrong");
    return false;
  }
  out = Value::of_int(self->left--);
  return true;
}
constexpr ObjectType kCountdown{.name = "countdown", .next = next_of_countdown};

/// An object with a length, as a range has.
constexpr ObjectType kSized{.name = "sized",
                            .length = [](Runtime&, Object*) { return std::int64_t{3}; },
                            .iterate =
                                [](Runtime&, Object*, Iterator& it) {
                                  it.mode = Iterator::Mode::range;
                                  it.value = INT64_MAX - 4;
                                  it.step = 2;
                                  it.left = 3;
                                }};
constexpr ObjectType kEmpty{.name = "empty", .length = [](Runtime&, Object*) { return std::int64_t{0}; }};
constexpr ObjectType kPlainType{.name = "plain"};

std::string listed(IterateBench& b, Value v) {
  const Value list = to_list(b.rt, v);
  return list.is_invalid() ? "failed: " + b.rt.failure.message : std::string(text(b.rt, to_repr(b.rt, list)));
}

TEST(Iterate, WalksEveryKind) {
  IterateBench b;
  const Value numbers[] = {Value::of_int(1), Value::of_int(2)};
  EXPECT_EQ(listed(b, copy_list(b.rt, numbers)), "[1, 2]");
  EXPECT_EQ(listed(b, copy_list(b.rt, numbers, Kind::tuple)), "[1, 2]");
  EXPECT_EQ(listed(b, copy_list(b.rt, {})), "[]");
  EXPECT_EQ(listed(b, Value::view("aé你😀")), "['a', 'é', '你', '😀']");
  EXPECT_EQ(listed(b, Value::view("")), "[]");
  EXPECT_EQ(listed(b, Value()), "[]");
  DictBuilder dict(b.rt);
  dict.set("x", Value::none());
  dict.set(Value::of_int(3), Value::none());
  EXPECT_EQ(listed(b, dict.finish()), "['x', 3]");
  Countdown countdown{{&kCountdown}, 3};
  EXPECT_EQ(listed(b, object_value(&countdown)), "[3, 2, 1]");
  EXPECT_EQ(listed(b, object_value(&countdown)), "[]");
  Object sized{&kSized};
  EXPECT_EQ(listed(b, object_value(&sized)), "[9223372036854775803, 9223372036854775805, 9223372036854775807]");
}

TEST(Iterate, CharactersAreViewsOfTheOriginal) {
  IterateBench b;
  const std::string_view first = "aé";
  const std::string_view second = "你b";
  Value rope = concat(b.rt, Value::view(first), Value::view(second), true);
  Iterator it;
  ASSERT_TRUE(iterate(b.rt, rope, it));
  EXPECT_EQ(it.remaining(), 4);
  const char* const places[] = {first.data(), first.data() + 1, second.data(), second.data() + 3};
  for (int i = 0; i < 4; ++i) {
    Value c;
    ASSERT_TRUE(it.next(b.rt, c));
    EXPECT_EQ(c.data, places[i]);
    EXPECT_FALSE(c.is_markup());
    EXPECT_EQ(it.remaining(), 3 - i);
  }
  Value end;
  EXPECT_FALSE(it.next(b.rt, end));
  EXPECT_FALSE(it.next(b.rt, end));
}

TEST(Iterate, GoesBackwards) {
  IterateBench b;
  const Value numbers[] = {Value::of_int(1), Value::of_int(2)};
  Iterator it;
  it.mode = Iterator::Mode::items_back;
  it.item = numbers + 2;
  it.item_end = numbers;
  EXPECT_EQ(it.remaining(), 2);
  Value v;
  ASSERT_TRUE(it.next(b.rt, v));
  EXPECT_EQ(v.integer, 2);
  ASSERT_TRUE(it.next(b.rt, v));
  EXPECT_EQ(v.integer, 1);
  EXPECT_FALSE(it.next(b.rt, v));
}

TEST(Iterate, FailsAsPython) {
  const auto message = [](Value v, auto use) {
    IterateBench b;
    use(b.rt, v);
    EXPECT_EQ(b.rt.failure.code, ErrorCode::type);
    return b.rt.failure.message;
  };
  const auto list = [](Runtime& rt, Value v) { EXPECT_TRUE(to_list(rt, v).is_invalid()); };
  const auto length = [](Runtime& rt, Value v) { EXPECT_LT(length_of(rt, v), 0); };
  Object plain{&kPlainType};
  EXPECT_EQ(message(Value::of_int(1), list), "'int' object is not iterable");
  EXPECT_EQ(message(Value::none(), list), "'NoneType' object is not iterable");
  EXPECT_EQ(message(object_value(&plain), list), "'plain' object is not iterable");
  EXPECT_EQ(message(Value::of_real(1), length), "object of type 'float' has no len()");
  EXPECT_EQ(message(object_value(&plain), length), "object of type 'plain' has no len()");
  IterateBench b;
  Countdown broken{{&kCountdown}, -1};
  EXPECT_EQ(listed(b, object_value(&broken)), "failed: it went wrong");
}

TEST(Length, CountsCodePointsAndItems) {
  IterateBench b;
  const Value numbers[] = {Value::of_int(1), Value::of_int(2)};
  DictBuilder dict(b.rt);
  dict.set("x", Value::none());
  Object sized{&kSized};
  EXPECT_EQ(length_of(b.rt, Value::view("aé你😀")), 4);
  EXPECT_EQ(length_of(b.rt, copy_list(b.rt, numbers)), 2);
  EXPECT_EQ(length_of(b.rt, dict.finish()), 1);
  EXPECT_EQ(length_of(b.rt, Value()), 0);
  EXPECT_EQ(length_of(b.rt, object_value(&sized)), 3);
  EXPECT_FALSE(b.rt.failed());
}

TEST(Truth, IsPythons) {
  IterateBench b;
  Object plain{&kPlainType};
  Object empty{&kEmpty};
  const Value numbers[] = {Value::of_int(0)};
  DictBuilder dict(b.rt);
  const Value falsy[] = {Value(),
                         Value::none(),
                         Value::boolean(false),
                         Value::of_int(0),
                         Value::of_real(-0.0),
                         Value::view(""),
                         copy_list(b.rt, {}),
                         copy_list(b.rt, {}, Kind::tuple),
                         dict.finish(),
                         object_value(&empty)};
  const Value truthy[] = {Value::boolean(true), Value::of_int(-1),        Value::of_real(0.1),
                          Value::view("0"),     copy_list(b.rt, numbers), object_value(&plain)};
  for (const Value& v : falsy) EXPECT_FALSE(truth(b.rt, v));
  for (const Value& v : truthy) EXPECT_TRUE(truth(b.rt, v));
}

TEST(ToList, StopsAtItsLimits) {
  IterateBench b;
  b.rt.steps_left = 10;
  const std::string text(1000, 'x');
  EXPECT_TRUE(to_list(b.rt, Value::view(text)).is_invalid());
  EXPECT_EQ(b.rt.failure.code, ErrorCode::limit_steps);
  IterateBench full;
  full.arena.set_limit(1000);
  Countdown endless{{&kCountdown}, 1'000'000};
  EXPECT_TRUE(to_list(full.rt, object_value(&endless)).is_invalid());
  EXPECT_EQ(full.rt.failure.code, ErrorCode::limit_memory);
}

}  // namespace
}  // namespace parlance
