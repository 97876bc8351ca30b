// Tests of subscripts, slices and the sentences of undefined values: bounds, sharing, and words.
//
// Random subscripts and slices are compared with CPython by tests/oracle/number_oracle.py.
// Begin reading at kSliceRows.

#include <gtest/gtest.h>

#include <limits>

#include "value_world.h"

namespace parlance {
namespace {

constexpr std::int64_t kMostIndex = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeastIndex = std::numeric_limits<std::int64_t>::min();
const Value kNone = Value::none();

TEST(Subscript, CodePoints) {
  ValueWorld w;
  for (const Value s : {str("aé中🙂z"), w.rope({"aé", "中", "🙂z"})}) {
    const std::string_view expected[] = {"'a'", "'é'", "'中'", "'🙂'", "'z'"};
    for (std::int64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(w.shown(subscript(w.rt, s, integer(i))), expected[i]);
      EXPECT_EQ(w.shown(subscript(w.rt, s, integer(i - 5))), expected[i]);
    }
    for (const std::int64_t i : {std::int64_t{5}, std::int64_t{-6}, kMostIndex, kLeastIndex}) {
      EXPECT_EQ(w.shown(subscript(w.rt, s, integer(i))), "IndexError: string index out of range");
    }
  }
}

TEST(Subscript, SharesBytes) {
  ValueWorld w;
  const std::string_view source = "héllo";
  EXPECT_EQ(subscript(w.rt, str(source), integer(1)).data, source.data() + 1);
  EXPECT_EQ(subscript(w.rt, str(source), integer(-1)).data, source.data() + 5);
}

TEST(Subscript, OtherContainers) {
  ValueWorld w;
  const Value list = w.list({integer(10), integer(20)});
  EXPECT_EQ(w.shown(subscript(w.rt, list, Value::boolean(true))), "20");
  EXPECT_EQ(w.shown(subscript(w.rt, w.dict({{integer(1), str("a")}}), real(1))), "'a'");
  EXPECT_EQ(w.shown(subscript(w.rt, markup("<b>"), integer(0))), "Markup('<')");
}

TEST(Subscript, Refusals) {
  ValueWorld w;
  const Value list = w.list({integer(10)});
  const Value huge = w.digits("99999999999999999999");
  EXPECT_EQ(w.shown(subscript(w.rt, list, integer(1))), "IndexError: list index out of range");
  EXPECT_EQ(w.shown(subscript(w.rt, w.tuple({}), integer(0))), "IndexError: tuple index out of range");
  EXPECT_EQ(w.shown(subscript(w.rt, list, str("a"))), "TypeError: list indices must be integers or slices, not str");
  EXPECT_EQ(w.shown(subscript(w.rt, str("a"), real(0))), "TypeError: string indices must be integers, not 'float'");
  EXPECT_EQ(w.shown(subscript(w.rt, list, huge)), "IndexError: cannot fit 'int' into an index-sized integer");
  EXPECT_EQ(w.shown(subscript(w.rt, w.dict({}), str("a"))), "KeyError: 'a'");
  EXPECT_EQ(w.shown(subscript(w.rt, w.dict({}), list)), "TypeError: unhashable type: 'list'");
  EXPECT_EQ(w.shown(subscript(w.rt, kNone, integer(0))), "TypeError: 'NoneType' object is not subscriptable");
}

struct SliceRow {
  Value start;
  Value stop;
  Value step;
  std::string_view expected;  ///< of 'aé中🙂z'
};

const SliceRow kSliceRows[] = {
    {kNone, kNone, kNone, "'aé中🙂z'"},
    {integer(1), kNone, kNone, "'é中🙂z'"},
    {kNone, integer(-1), kNone, "'aé中🙂'"},
    {integer(1), integer(3), kNone, "'é中'"},
    {integer(3), integer(1), kNone, "''"},
    {kNone, kNone, integer(-1), "'z🙂中éa'"},
    {kNone, kNone, integer(2), "'a中z'"},
    {integer(-2), integer(0), integer(-2), "'🙂é'"},
    {integer(kLeastIndex), integer(kMostIndex), integer(kMostIndex), "'a'"},
    {kNone, kNone, integer(kLeastIndex), "'z'"},
    {kNone, Value::boolean(true), kNone, "'a'"},
    {kNone, kNone, integer(0), "ValueError: slice step cannot be zero"},
    {str("a"), kNone, kNone, "TypeError: slice indices must be integers or None or have an __index__ method"},
};

TEST(Slice, Strings) {
  ValueWorld w;
  for (const Value s : {str("aé中🙂z"), w.rope({"a", "é中", "🙂", "z"})}) {
    for (const SliceRow& row : kSliceRows) {
      EXPECT_EQ(w.shown(slice(w.rt, s, row.start, row.stop, row.step)), row.expected);
    }
  }
}

TEST(Slice, StringsShareBytes) {
  ValueWorld w;
  const std::string_view source = "héllo";
  const Value part = slice(w.rt, str(source), integer(1), integer(4), kNone);
  EXPECT_TRUE(part.is_leaf());
  EXPECT_EQ(part.data, source.data() + 1);
  std::string_view expected = source;
  for_each_piece(slice(w.rt, str(source), kNone, kNone, integer(-1)), [&](std::string_view piece) {
    EXPECT_EQ(piece.data() + piece.size(), expected.data() + expected.size());
    expected.remove_suffix(piece.size());
  });
}

TEST(Slice, ListsShareItems) {
  ValueWorld w;
  const Value list = w.list({integer(0), integer(1), integer(2), integer(3)});
  const Value tail = slice(w.rt, list, integer(1), kNone, kNone);
  EXPECT_EQ(tail.list->items, list.list->items + 1);
  EXPECT_EQ(w.shown(tail), "[1, 2, 3]");
  EXPECT_EQ(w.shown(slice(w.rt, list, kNone, kNone, integer(-2))), "[3, 1]");
  EXPECT_EQ(w.shown(slice(w.rt, w.tuple({}), kNone, kNone, integer(-1))), "()");
}

TEST(Slice, Refusals) {
  ValueWorld w;
  EXPECT_EQ(w.shown(slice(w.rt, w.dict({}), kNone, kNone, kNone)), "TypeError: unhashable type: 'slice'");
  EXPECT_EQ(w.shown(slice(w.rt, integer(1), kNone, kNone, kNone)), "TypeError: 'int' object is not subscriptable");
}

// ---- objects

constexpr ObjectType kOpaque{.name = "generator"};
constexpr ObjectType kKeyed{.name = "keyed",
                            .get_item = [](Runtime&, Object*, Value) { return Value(); },
                            .get_slice = [](Runtime&, Object*, Value start, Value, Value) { return start; }};

TEST(Objects, AnswerThroughTheirType) {
  ValueWorld w;
  Object opaque{&kOpaque};
  Object keyed{&kKeyed};
  EXPECT_EQ(w.shown(subscript(w.rt, object_value(&opaque), integer(0))),
            "TypeError: 'generator' object is not subscriptable");
  EXPECT_EQ(w.shown(slice(w.rt, object_value(&opaque), kNone, kNone, kNone)),
            "TypeError: 'generator' object is not subscriptable");
  EXPECT_EQ(w.shown(subscript(w.rt, object_value(&keyed), integer(0))), "IndexError: keyed object index out of range");
  EXPECT_EQ(w.shown(subscript(w.rt, object_value(&keyed), str("a"))), "KeyError: 'a'");
  EXPECT_EQ(w.shown(slice(w.rt, object_value(&keyed), integer(3), kNone, kNone)), "3");
}

// ---- undefined

TEST(Undefined, SaysWhatWasMissing) {
  using Form = UndefinedInfo::Form;
  ValueWorld w;
  const auto message = [&](Value v) { return undefined_message(w.rt, v); };
  EXPECT_EQ(message(w.undefined(Form::name, str("x"))), "'x' is undefined");
  EXPECT_EQ(message(w.undefined(Form::attribute, str("a"), w.dict({}))), "'dict object' has no attribute 'a'");
  EXPECT_EQ(message(w.undefined(Form::element, str("a"), kNone)), "'None' has no attribute 'a'");
  EXPECT_EQ(message(w.undefined(Form::element, integer(3), w.list({}))), "list object has no element 3");
  EXPECT_EQ(message(w.undefined(Form::element, integer(3), markup("a"))), "markupsafe.Markup object has no element 3");
  EXPECT_EQ(message(w.undefined(Form::hint, str("No first item, sequence was empty."))),
            "No first item, sequence was empty.");
  EXPECT_EQ(message(Value()), "None is undefined");
  EXPECT_EQ(w.shown(subscript(w.rt, w.undefined(Form::name, str("x")), integer(0))),
            "UndefinedError: 'x' is undefined");
}

}  // namespace
}  // namespace parlance
