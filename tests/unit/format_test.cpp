// Tests of the formatting languages and of the methods of values: what the random comparison with
// CPython (tests/oracle/method_oracle.py) cannot see, which is origin of bytes, limits, and
// objects.
//
// Begin reading at kPercentRows for formatting, at TEST(Provenance, ...) for views.

#include "value/format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "jinja/objects/builtins.h"
#include "jinja/objects/methods.h"
#include "jinja/objects/objects.h"
#include "value/markup.h"
#include "value/text_of.h"

namespace parlance {
namespace {

struct World {
  World() : rt(arena, limits) { arena.set_limit(limits.memory_bytes); }
  Value method(Value self, std::string_view name, std::vector<Value> arguments = {}) {
    const Builtin* row = jinja::find_method(self, name);
    if (row == nullptr) return rt.fail(ErrorCode::attribute, std::string(name));
    return call_builtin(rt, *row, &self, {arguments.data(), static_cast<std::uint32_t>(arguments.size()), nullptr, 0});
  }
  std::string shown(Value v) {
    if (rt.failed()) return std::string(facts(rt.failure.code).python_class) + ": " + rt.failure.message;
    return std::string(text(rt, to_text(rt, v)));
  }
  Value tuple(std::vector<Value> members) { return copy_list(rt, members, Kind::tuple); }

  Arena arena;
  Limits limits{.steps = 2'000'000, .memory_bytes = std::size_t{32} << 20};
  Runtime rt;
};

Value str(std::string_view s) { return Value::view(s); }

struct FormattedRow {
  std::string_view format;
  Value argument;
  std::string_view expected;
};

const FormattedRow kPercentRows[] = {
    {"%5s|%-5s|", Value(), "TypeError: not enough arguments for format string"},
    {"%05d", Value::of_int(-42), "-0042"},
    {"%#x", Value::of_int(255), "0xff"},
    {"%+.2f", Value::of_real(2.5), "+2.50"},
    {"%c", Value::of_int(233), "é"},
    {"%.2s", str("äöü"), "äö"},
    {"%r", str("a'b"), "\"a'b\""},
    {"%a", str("é"), "'\\xe9'"},
    {"%d", str("1"), "TypeError: %d format: a real number is required, not str"},
    {"%x", Value::of_real(1), "TypeError: %x format: an integer is required, not float"},
    {"%y", Value::of_int(1), "ValueError: unsupported format character 'y' (0x79) at index 1"},
    {"%", Value::of_int(1), "ValueError: incomplete format"},
    {"%(a)s", Value::of_int(1), "TypeError: format requires a mapping"},
    {"a", Value::of_int(1), "TypeError: not all arguments converted during string formatting"},
};

TEST(Format, Percent) {
  for (const FormattedRow& row : kPercentRows) {
    World w;
    EXPECT_EQ(w.shown(format_percent(w.rt, str(row.format), row.argument)), row.expected) << row.format;
  }
}

const FormattedRow kSpecRows[] = {
    {"*^7", str("ab"), "**ab***"},
    {".1", str("äb"), "ä"},
    {"=5", str("a"), "ValueError: '=' alignment not allowed in string format specifier"},
    {"d", str("a"), "ValueError: Unknown format code 'd' for object of type 'str'"},
    {"08,d", Value::of_int(1234), "0,001,234"},
    {"#_b", Value::of_int(300), "0b1_0010_1100"},
    {"+.3e", Value::of_real(12345.678), "+1.235e+04"},
    {"z.1f", Value::of_real(-0.04), "0.0"},
    {".1%", Value::of_real(0.256), "25.6%"},
    {"", Value::boolean(true), "True"},
    {"d", Value::boolean(true), "1"},
    {"5", Value::none(), "TypeError: unsupported format string passed to NoneType.__format__"},
};

TEST(Format, Spec) {
  for (const FormattedRow& row : kSpecRows) {
    World w;
    EXPECT_EQ(w.shown(format_value(w.rt, row.argument, row.format)), row.expected) << row.format;
  }
}

TEST(Format, MarkupEscapesItsArguments) {
  World w;
  const Value format = with_markup(str("<b>%s</b>"), true);
  const Value made = format_percent(w.rt, format, str("<&>"));
  EXPECT_TRUE(made.is_markup());
  EXPECT_EQ(w.shown(made), "<b>&lt;&amp;&gt;</b>");
  const Value argument = str("'");
  const Value braces = jinja::format_braces(w.rt, with_markup(str("{}"), true), {&argument, 1, nullptr, 0});
  EXPECT_EQ(w.shown(braces), "&#39;");
}

/// Do the bytes of `part` lie inside those of `whole`?
bool inside(Value part, std::string_view whole) {
  bool all = true;
  for_each_piece(part, [&](std::string_view p) {
    all = all && p.data() >= whole.data() && p.data() + p.size() <= whole.data() + whole.size();
  });
  return all;
}

TEST(Provenance, CutsAreViews) {
  World w;
  const std::string_view source = "  one, two, three  ";
  EXPECT_TRUE(inside(w.method(str(source), "strip"), source));
  for (Value part : items(w.method(str(source), "split", {str(", ")}))) EXPECT_TRUE(inside(part, source));
  for (Value part : items(w.method(str(source), "partition", {str(",")}))) EXPECT_TRUE(inside(part, source));
  for (Value part : items(w.method(str("a\nb"), "splitlines"))) EXPECT_EQ(part.size, 1u);
  EXPECT_TRUE(inside(w.method(str(source), "lower"), source));  // nothing to change
}

TEST(Provenance, ReplaceKeepsPieces) {
  World w;
  const std::string_view source = "a-b-c", with = "+";
  const Value made = w.method(str(source), "replace", {str("-"), str(with)});
  std::vector<std::string_view> pieces;
  for_each_piece(made, [&](std::string_view p) { pieces.push_back(p); });
  ASSERT_EQ(pieces.size(), 5u);
  EXPECT_EQ(pieces[2].data(), source.data() + 2);
  EXPECT_EQ(pieces[3].data(), with.data());
}

TEST(Provenance, UpperNamesItsSource) {
  World w;
  const std::string_view first = "ab", second = "cd";
  const Value made = w.method(concat(w.rt, str(first), str(second)), "upper");
  EXPECT_EQ(w.shown(made), "ABCD");
  const Arena::Derived* derived = w.arena.find_derived(leaf_text(made).data() + 2);
  ASSERT_NE(derived, nullptr);
  EXPECT_EQ(derived->source_data, second.data());
}

TEST(Limits, WidthsAreRefused) {
  const Value huge = Value::of_int(std::int64_t{1} << 40);
  for (std::string_view name : {"center", "ljust", "rjust", "zfill"}) {
    World w;
    EXPECT_TRUE(w.method(str("a"), name, {huge}).is_invalid());
    EXPECT_EQ(w.rt.failure.code, ErrorCode::limit_memory) << name;
  }
  for (std::string_view format : {"%999999999999d", "%999999999999s", "%.2000000000f", "%.2000000000d"}) {
    World w;
    EXPECT_TRUE(format_percent(w.rt, str(format), Value::of_int(1)).is_invalid()) << format;
    EXPECT_EQ(w.rt.failure.code, ErrorCode::limit_memory) << format;
  }
  for (std::string_view spec : {"999999999999", "099999999999999,d", ".2000000000f", "9223372036854775807"}) {
    World w;
    EXPECT_TRUE(format_value(w.rt, Value::of_int(1), spec).is_invalid()) << spec;
    EXPECT_EQ(w.rt.failure.code, ErrorCode::limit_memory) << spec;
  }
}

TEST(Limits, HostileNeedleIsCharged) {
  World w;
  const std::string hay(4'000'000, 'a');
  const std::string needle = std::string(200'000, 'a') + 'b';
  EXPECT_TRUE(w.method(str(hay), "find", {str(needle)}).is_invalid());
  EXPECT_EQ(w.rt.failure.code, ErrorCode::limit_steps);
}

TEST(Limits, ManyReplacementsAreCharged) {
  World w;
  const std::string hay(8'000'000, 'a');
  EXPECT_TRUE(w.method(str(hay), "replace", {str("a"), str("bb")}).is_invalid());
}

TEST(Methods, Bytes) {
  World w;
  const Value bytes = w.method(str("é'\n"), "encode");
  EXPECT_EQ(w.shown(bytes), "b\"\\xc3\\xa9'\\n\"");
  EXPECT_EQ(w.shown(w.method(bytes, "hex")), "c3a9270a");
  EXPECT_EQ(w.shown(w.method(bytes, "decode")), "é'\n");
  EXPECT_EQ(bytes.object->type->length(w.rt, bytes.object), 4);
}

TEST(Methods, RangesAndViews) {
  World w;
  const Value range = jinja::make_range(w.rt, Value::of_int(2), Value::of_int(9), Value::of_int(2));
  EXPECT_EQ(w.shown(w.method(range, "index", {Value::of_int(6)})), "2");
  EXPECT_EQ(w.shown(w.method(range, "count", {Value::of_int(7)})), "0");
  Value stop;
  EXPECT_EQ(jinja::find_attribute(w.rt, range, "stop", stop), jinja::AttributeKind::data);
  EXPECT_EQ(w.shown(stop), "9");
  DictBuilder dict(w.rt);
  dict.set("a", Value::of_int(1));
  const Value keys = w.method(dict.finish(), "keys");
  EXPECT_EQ(w.shown(w.method(keys, "isdisjoint", {str("ab")})), "False");
}

TEST(Methods, RefusedAttributes) {
  World w;
  Value out;
  const Value list = copy_list(w.rt, {});
  EXPECT_EQ(jinja::find_attribute(w.rt, list, "append", out), jinja::AttributeKind::unsafe);
  EXPECT_EQ(jinja::find_attribute(w.rt, list, "__class__", out), jinja::AttributeKind::absent);
  EXPECT_EQ(jinja::find_attribute(w.rt, list, "end insert", out), jinja::AttributeKind::absent);
  EXPECT_EQ(jinja::find_attribute(w.rt, list, "", out), jinja::AttributeKind::absent);
}

TEST(Methods, EveryRowIsDescribed) {
  for (const jinja::MethodTable& table : jinja::method_tables()) {
    for (const Builtin& row : table.rows) {
      EXPECT_FALSE(row.sentence.empty() || row.example.empty()) << table.type << "." << row.name;
    }
  }
}

}  // namespace
}  // namespace parlance
