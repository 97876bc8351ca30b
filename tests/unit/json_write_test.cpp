// Tests of the JSON writer: what json.dumps prints, where each byte came from, and the escape scan.
//
// Random values are compared with Python by tests/oracle/json_oracle.py. Begin reading at kWriteRows.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "json/json.h"
#include "json/scan.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "share.h"
#include "value/dict.h"

namespace parlance {
namespace {

using namespace std::string_view_literals;

struct WriteBench {
  Limits limits;
  Arena arena;
  Runtime rt{arena, limits};

  std::string write(Value v, const JsonStyle& style = kPythonJson) {
    const Value json = write_json(rt, v, style);
    return json.is_invalid() ? "failed: " + rt.failure.message : std::string(text(rt, json));
  }
};

Document parsed_document(std::string_view text) {
  Document document;
  EXPECT_TRUE(document.parse(text).has_value()) << text;
  return document;
}
/// Of a document that lives to the end of the expression.
Value root_in(const Document& document) { return document.root(); }

JsonStyle with_indent(std::string_view indent, std::string_view item_separator = ",") {
  JsonStyle style;
  style.pretty = true;
  style.indent = indent;
  style.item_separator = item_separator;
  return style;
}
constexpr JsonStyle kAscii{.ensure_ascii = true};
constexpr JsonStyle kSorted{.sort_keys = true};
constexpr JsonStyle kHtml{.html_safe = true};

struct WriteRow {
  std::string_view input;
  JsonStyle style;
  std::string_view output;
};
const WriteRow kWriteRows[] = {
    {R"({"b":[1,2.0,null,true,false],"a":"é<&>'\"\\/\u2028"})", kPythonJson,
     "{\"b\": [1, 2.0, null, true, false], \"a\": \"é<&>'\\\"\\\\/\u2028\"}"},
    {R"(["é\u007f\ud83d\ude00\ud83d\u0007\n"])", kAscii, R"(["\u00e9\u007f\ud83d\ude00\ud83d\u0007\n"])"},
    {R"(["\u007f"])", kPythonJson, "[\"\x7f\"]"},
    {R"({"b":1,"a":{"d":2,"c":3},"B":4})", kSorted, R"({"B": 4, "a": {"c": 3, "d": 2}, "b": 1})"},
    {R"({"\uffff":1,"\ud83d\ude00":2,"\ud83d":3})", kSorted, "{\"\xED\xA0\xBD\": 3, \"\uffff\": 1, \"\U0001F600\": 2}"},
    {R"(["<a href='x'>&amp;</a>"])", kHtml, R"(["\u003ca href=\u0027x\u0027\u003e\u0026amp;\u003c/a\u003e"])"},
    {R"({"e":[],"o":{},"n":[[]]})", with_indent(" "), "{\n \"e\": [],\n \"o\": {},\n \"n\": [\n  []\n ]\n}"},
    {"[1,2]", with_indent(""), "[\n1,\n2\n]"},
    {R"({"a":[1,2]})", with_indent("  ", ", "), "{\n  \"a\": [\n    1, \n    2\n  ]\n}"},
    {R"({"a":[1,{"b":2}]})", kCompactJson, R"({"a":[1,{"b":2}]})"},
    {"[1e16,1e-5,-0.0,1e400,-1e400,NaN,12345678901234567890123]", kPythonJson,
     "[1e+16, 1e-05, -0.0, Infinity, -Infinity, NaN, 12345678901234567890123]"},
    {"\"\"", kPythonJson, "\"\""},
    {"{}", with_indent(" "), "{}"},
};

TEST(JsonWrite, PrintsAsPython) {
  for (const WriteRow& row : kWriteRows) {
    WriteBench b;
    EXPECT_EQ(b.write(root_in(parsed_document(row.input)), row.style), row.output) << row.input;
  }
}

TEST(JsonWrite, LongSeparatorsAreCopiedWhole) {
  WriteBench b;
  JsonStyle style;
  style.item_separator = " , and then there is also ";
  style.key_separator = " , whose value is known to be ";
  EXPECT_EQ(b.write(root_in(parsed_document(R"({"a":1,"b":2})")), style),
            R"({"a" , whose value is known to be 1 , and then there is also "b" , whose value is known to be 2})");
}

TEST(JsonWrite, KeysBecomeText) {
  WriteBench b;
  DictBuilder dict(b.rt);
  dict.set(Value::boolean(true), Value::of_int(1));
  dict.set(Value::none(), Value::of_int(2));
  dict.set(Value::of_real(2.5), Value::of_int(3));
  dict.set(Value::of_int(-4), Value::of_int(4));
  dict.set("s", Value::of_int(5));
  EXPECT_EQ(b.write(dict.finish()), R"({"true": 1, "null": 2, "2.5": 3, "-4": 4, "s": 5})");
}

TEST(JsonWrite, RefusesWhatPythonRefuses) {
  const auto message = [](auto make, const JsonStyle& style = kPythonJson) {
    WriteBench b;
    const std::string written = b.write(make(b.rt), style);
    EXPECT_EQ(b.rt.failure.code, ErrorCode::type);
    return written;
  };
  EXPECT_EQ(message([](Runtime&) { return Value(); }), "failed: Object of type Undefined is not JSON serializable");
  EXPECT_EQ(message([](Runtime& rt) {
              DictBuilder dict(rt);
              dict.set(copy_list(rt, {}, Kind::tuple), Value::none());
              return dict.finish();
            }),
            "failed: keys must be str, int, float, bool or None, not tuple");
  EXPECT_EQ(message(
                [](Runtime& rt) {
                  DictBuilder dict(rt);
                  dict.set("a", Value::none());
                  dict.set(Value::of_int(2), Value::none());
                  return dict.finish();
                },
                kSorted),
            "failed: '<' not supported between instances of 'int' and 'str'");
}

TEST(JsonWrite, TuplesAndMarkupAreListsAndStrings) {
  WriteBench b;
  Value markup = Value::view("<b>");
  markup.flags = Value::kMarkup;
  const Value pair[] = {markup, copy_list(b.rt, {}, Kind::tuple)};
  EXPECT_EQ(b.write(copy_list(b.rt, pair, Kind::tuple)), R"(["<b>", []])");
}

TEST(JsonWrite, SortsManyKeysWhateverTheyAre) {
  std::string text = "{";
  std::string sorted = "{";
  for (int i = 0; i < 1000; ++i) {
    text += "\"" + std::to_string(1000 + i * 7919 % 1000) + "\":0,";
    sorted += "\"" + std::to_string(1000 + i) + "\": 0, ";
  }
  text.back() = '}';
  sorted.replace(sorted.size() - 2, 2, "}");
  WriteBench b;
  EXPECT_EQ(b.write(root_in(parsed_document(text)), kSorted), sorted);
  DictBuilder nans(b.rt);
  for (int i = 0; i < 100; ++i) {
    nans.set(Value::of_real(std::numeric_limits<double>::quiet_NaN()), Value::of_int(i));
    nans.set(Value::of_int(-i), Value::of_int(i));
  }
  EXPECT_EQ(b.write(nans.finish(), kSorted).substr(0, 1), "{");
}

TEST(JsonWrite, StopsAtItsLimits) {
  const auto code_of = [](Limits limits, std::string_view text) {
    Arena arena;
    arena.set_limit(limits.memory_bytes);
    Runtime rt(arena, limits);
    const Document d = parsed_document(text);
    EXPECT_TRUE(write_json(rt, d.root()).is_invalid());
    return rt.failure.code;
  };
  Limits limits;
  EXPECT_EQ(code_of(limits, std::string(201, '[') + std::string(201, ']')), ErrorCode::limit_depth);
  limits.steps = 1000;
  EXPECT_EQ(code_of(limits, "\"" + std::string(1'000'000, 'x') + "\""), ErrorCode::limit_steps);
  limits = Limits();
  limits.memory_bytes = 100'000;
  EXPECT_EQ(code_of(limits, "\"" + std::string(1'000'000, 'x') + "\""), ErrorCode::limit_memory);
  WriteBench b;
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  EXPECT_EQ(b.write(root_in(parsed_document(deep))), deep);
}

// ---- provenance

/// What the log says the byte of `json` at the first place of `part` was made from.
TextSource source_at(WriteBench& b, Value json, std::string_view part) {
  const std::string_view bytes = text(b.rt, json);
  const Arena::Derived* derived = b.arena.find_derived(bytes.data() + bytes.find(part));
  return derived == nullptr ? TextSource() : derived->source();
}

TEST(JsonWrite, EveryByteNamesItsSource) {
  const Document d = parsed_document(R"({"a": "text", "b": [17, "more\n"], "c": 12345678901234567890123})");
  WriteBench b;
  const Value json = write_json(b.rt, d.root());
  ASSERT_TRUE(json.is_leaf() || json.rope->count <= 3);  // one run, except for the big integer
  const auto value = [&d](std::string_view key) { return find_key(*d.root().dict, key)->value; };
  const auto* list = value("b").list;
  EXPECT_EQ(source_at(b, json, "\"text").data, value("a").data);
  EXPECT_EQ(source_at(b, json, "xt\"").data, value("a").data);
  EXPECT_EQ(source_at(b, json, "more").data, list->items[1].data);
  EXPECT_EQ(source_at(b, json, "17").id, list->items[0].origin);
  for (const std::string_view structure : {"{"sv, "\"a\": "sv, ", \"b\""sv, ", \"c\""sv}) {
    EXPECT_EQ(source_at(b, json, structure).id, d.root().origin) << structure;
  }
  EXPECT_EQ(source_at(b, json, "[").id, value("b").origin);
  EXPECT_EQ(source_at(b, json, "]").id, value("b").origin);
}

TEST(JsonWrite, DictsOfTheTemplateNameTheirKeys) {
  WriteBench b;
  const std::string key = "key";
  const std::string content = "content";
  DictBuilder dict(b.rt);
  dict.set(key, concat(b.rt, Value::view(content), Value::view(key)));
  const Value json = write_json(b.rt, dict.finish());
  EXPECT_EQ(source_at(b, json, "\"key").data, key.data());
  EXPECT_EQ(source_at(b, json, "content").data, content.data());
  EXPECT_EQ(source_at(b, json, "key\"}").data, key.data());
  EXPECT_EQ(source_at(b, json, "{").id, 0u);
}

TEST(JsonWrite, LongStringsStayExactAcrossRunsOfMemory) {
  std::string content;
  for (int i = 0; content.size() < 300'000; ++i) content += std::to_string(i) + "\n\u4f60\u597d";
  WriteBench b;
  const Value json = write_json(b.rt, Value::view(content));
  std::string expected = "\"";
  for (const char c : content) expected += c == '\n' ? "\\n" : std::string(1, c);
  EXPECT_EQ(text(b.rt, json), expected + "\"");
  std::size_t unexplained = 0;
  for_each_piece(json, [&](std::string_view piece) {
    for (const char& byte : piece) unexplained += b.arena.find_derived(&byte) == nullptr;
  });
  EXPECT_EQ(unexplained, 0u);
}

// ---- into std::string

TEST(AppendJson, EscapesWhatIsNoUtf8) {
  WriteBench b;
  std::string out = ">";
  EXPECT_TRUE(append_json(b.rt, out, root_in(parsed_document(R"({"a":["\ud83d","\ude00x\ud83d\ude00"]})"))));
  EXPECT_EQ(out, ">{\"a\":[\"\\ud83d\",\"\\ude00x\U0001F600\"]}");
  EXPECT_FALSE(append_json(b.rt, out, Value()));
}

TEST(AppendJson, StringsAreAlwaysValid) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", "\"\""},
      {"a\"\\\n\x01é", "\"a\\\"\\\\\\n\\u0001é\""},
      {"a\xFF\"\xED\xA0\x80\xE4\xBD", "\"a\\ufffd\\\"\\ud800\\ufffd\\ufffd\""},
  };
  for (const auto& [text, json] : rows) {
    std::string out;
    append_json_string(out, text);
    EXPECT_EQ(out, json);
  }
}

// ---- the scan

template <typename Mode>
std::string escaped_naively(std::string_view text) {
  std::string out;
  for (const char& c : text) {
    char buffer[16];
    char* end = buffer;
    if (json_scan::needs_escape<Mode>(c)) {
      json_scan::write_escape<Mode>(&c, text.data() + text.size(), end);
      out.append(buffer, end);
    } else {
      out += c;
    }
  }
  return out;
}

/// Texts in blocks of exactly their size, so that a sanitizer sees any access outside.
template <typename Mode>
void check_scan(std::string_view text) {
  const std::unique_ptr<char[]> in(new char[text.size()]);
  text.copy(in.get(), text.size());
  const std::size_t room = text.size() * json_scan::kWorst + json_scan::kSlack;
  const std::unique_ptr<char[]> out(new char[room]);
  const char* end = json_scan::escape_json<Mode>({in.get(), text.size()}, out.get());
  EXPECT_EQ(std::string_view(out.get(), end), escaped_naively<Mode>(text)) << text;
  for (std::size_t i = 0; i + 8 <= text.size(); ++i) {
    const std::string_view word = text.substr(i, 8);
    std::size_t first = 0;
    while (first < 8 && !json_scan::needs_escape<Mode>(word[first])) ++first;
    const std::uint64_t hits = json_scan::word_hits<Mode>(json_scan::load64(word.data()));
    EXPECT_EQ(hits == 0 ? 8u : static_cast<std::size_t>(std::countr_zero(hits)) / 8, first) << word;
  }
}

TEST(JsonScan, FindsEveryByteAtEveryPlace) {
  for (std::size_t size = 0; size <= 40; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      for (std::size_t c = testing::is_sparse() ? (size + place) % 7 : 0; c < 128; c += testing::is_sparse() ? 7 : 1) {
        std::string text(size, 'x');
        text[place] = static_cast<char>(c);
        text[size - 1 - place] = static_cast<char>(c);
        check_scan<json_scan::Plain>(text);
        check_scan<json_scan::Ascii>(text);
        check_scan<json_scan::Html>(text);
        check_scan<json_scan::AsciiHtml>(text);
      }
    }
  }
}

TEST(JsonScan, LongTextsWithFewAndManyEscapes) {
  std::mt19937 random(17);
  constexpr std::string_view kOdd = "\n\"\\\x01<&'\x7F\t";
  for (std::size_t size = 60; size <= 420; size += 3) {
    for (const unsigned gap : {1, 2, 5, 17, 40, 90}) {
      std::string text(size, 'x');
      for (char& c : text) {
        c = random() % gap == 0 ? kOdd[random() % kOdd.size()] : static_cast<char>('a' + random() % 26);
      }
      check_scan<json_scan::Plain>(text);
      check_scan<json_scan::Html>(text);
      check_scan<json_scan::AsciiHtml>(text);
    }
  }
  check_scan<json_scan::Plain>(std::string(300, '\x01'));
}

TEST(JsonWriting, TakingLeavesANewWriter) {
  JsonWriter object('{');
  EXPECT_EQ(object.number("a", 1).take(), R"({"a": 1})");
  EXPECT_EQ(object.take(), "{}");
  EXPECT_EQ(object.null("b").take(), R"({"b": null})");
  JsonWriter list('[');
  EXPECT_EQ(list.item("1").take(), "[1]");
  EXPECT_EQ(list.take(), "[]");
}

}  // namespace
}  // namespace parlance
