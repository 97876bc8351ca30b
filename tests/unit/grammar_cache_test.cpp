// GrammarCache: what is shared, what never is, and what is forgotten.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "grammar/data.h"
#include "parlance/grammar.h"
#include "parlance/source.h"

namespace parlance {
namespace {

ReplyFormat format_named(std::string_view name) { return *ReplyFormat::from_json(find_format(name)->reply); }

GrammarOptions with_tool(std::string_view name) {
  GrammarOptions options;
  options.tools = R"([{"name": ")" + std::string(name) +
                  R"(", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}])";
  return options;
}

/// What tells one grammar from another that says the same.
const GrammarData* got(GrammarCache& cache, const ReplyFormat& format, const GrammarOptions& options) {
  const Result<Grammar> grammar = cache.get(format, options);
  return grammar ? &inside_of(*grammar) : nullptr;
}

std::string gbnf_of(const ReplyFormat& format, const GrammarOptions& options) {
  return (*make_grammar(format, options)).to_text(GrammarSyntax::gbnf);
}

TEST(GrammarCache, EqualRequestsShareOneGrammarAndItsText) {
  GrammarCache cache;
  const ReplyFormat format = format_named("terminal-agent");
  const Result<Grammar> first = cache.get(format, with_tool("look"));
  const Result<Grammar> second = cache.get(ReplyFormat(format), with_tool("look"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(&inside_of(*first), &inside_of(*second));
  const auto text = cache.text(format, with_tool("look"), GrammarSyntax::gbnf);
  const auto again = cache.text(format, with_tool("look"), GrammarSyntax::gbnf);
  ASSERT_TRUE(text && again);
  EXPECT_EQ(text->get(), again->get());
  EXPECT_EQ(**text, first->to_text(GrammarSyntax::gbnf));
  EXPECT_NE(**text, **cache.text(format, with_tool("look"), GrammarSyntax::lark));
  const GrammarCache::Use use = cache.use();
  EXPECT_EQ(use.misses, 1u);
  EXPECT_EQ(use.hits, 4u);
  EXPECT_EQ(use.grammars, 1u);
  EXPECT_GT(use.bytes, (*text)->size());
}

TEST(GrammarCache, GivesNotesWithTheText) {
  GrammarCache cache;
  const ReplyFormat format = format_named("terminal-agent");
  GrammarOptions options = with_tool("look");
  options.tools = R"([{"name": "f", "parameters": {"properties": {"a": {"type": "string", "pattern": "(?=b)a"
}
}
}
}])";
  const auto text = cache.text(format, options, GrammarSyntax::gbnf);
  for (const GrammarSyntax syntax : {GrammarSyntax::gbnf, GrammarSyntax::lark, GrammarSyntax::gbnf}) {
    const Result<PrintedGrammar> both = cache.printed(format, options, syntax);
    ASSERT_TRUE(both && text);
    EXPECT_EQ(both->text.get() == text->get(), syntax == GrammarSyntax::gbnf);
    EXPECT_EQ(*both->text, both->grammar.to_text(syntax));
    ASSERT_EQ(both->grammar.notes().size(), 1u);
    EXPECT_EQ(both->grammar.notes()[0].keyword, "pattern");
  }
  EXPECT_EQ(cache.use().misses, 1u);
  const GrammarCache moved = std::move(cache);
  const Result<PrintedGrammar> again = cache.printed(format, options, GrammarSyntax::gbnf);
  ASSERT_TRUE(again) << "a cache that was moved from";
  EXPECT_EQ(*again->text, **text);
}

/// Each changes one thing that a grammar depends on.
const std::function<void(ReplyFormat&, GrammarOptions&)> kDifferences[] = {
    [](auto&, auto& o) { o = with_tool("loop"); },
    [](auto&, auto& o) { o.tools_name = "other"; },
    [](auto&, auto& o) { o.choice = ToolChoice::required; },
    [](auto&, auto& o) { o.choice = ToolChoice::named, o.name = "look"; },
    [](auto&, auto& o) { o.parallel = false; },
    [](auto&, auto& o) { o.max_calls = 3; },
    [](auto&, auto& o) { o.response.kind = ResponseFormat::Kind::json_object; },
    [](auto&, auto& o) {
      o.response.kind = ResponseFormat::Kind::choice, o.response.choices = {"yes", "no"};
    },
    [](auto&, auto& o) {
      o.response.kind = ResponseFormat::Kind::choice, o.response.choices = {"yes", "ja"};
    },
    [](auto&, auto& o) { o.response.kind = ResponseFormat::Kind::regex, o.response.pattern = "a+"; },
    [](auto&, auto& o) { o.response.name = "other"; },
    [](auto&, auto& o) { o.reasoning = false; },
    [](auto&, auto& o) { o.prompt = ""; },
    [](auto&, auto& o) { o.prompt = "<|im_start|>assistant\n<think>"; },
    [](auto&, auto& o) { o.open = true; },
    [](auto&, auto& o) { o.any_order = true; },
    [](auto&, auto& o) { o.text_around_calls = true; },
    [](auto&, auto& o) {
      o.control.push_back({7, "<tool_call>", true});
    },
    [](auto&, auto& o) {
      o.control.push_back({8, "<tool_call>", true});
    },
    [](auto& f, auto&) { f.text_behind_calls = !f.text_behind_calls; },
    [](auto& f, auto&) { f.drops_other_text = !f.drops_other_text; },
    [](auto& f, auto&) { f.parallel = !f.parallel; },
};

TEST(GrammarCache, WhatDiffersIsNeverShared) {
  GrammarCache cache;
  const ReplyFormat format = format_named("terminal-agent");
  std::vector<const GrammarData*> made = {got(cache, format, with_tool("look"))};
  for (const auto& change : kDifferences) {
    ReplyFormat other = format;
    GrammarOptions options = with_tool("look");
    change(other, options);
    const Result<Grammar> grammar = cache.get(other, options);
    ASSERT_TRUE(grammar) << grammar.error().display();
    EXPECT_EQ(std::count(made.begin(), made.end(), &inside_of(*grammar)), 0) << made.size();
    EXPECT_EQ(grammar->to_text(GrammarSyntax::gbnf), gbnf_of(other, options));
    made.push_back(&inside_of(*grammar));
  }
  EXPECT_EQ(cache.use().hits, 0u);
}

/// The fingerprint does not see the middle of long tools.
TEST(GrammarCache, LongToolsAreComparedInFull) {
  const auto options_with = [](char middle) {
    GrammarOptions options = with_tool("look");
    options.tools.insert(1, std::string(2000, ' ') + R"({"name": "x)" + middle + R"("},)" + std::string(2000, ' '));
    return options;
  };
  GrammarCache cache;
  const ReplyFormat format = format_named("terminal-agent");
  const Result<Grammar> a = cache.get(format, options_with('a'));
  const Result<Grammar> b = cache.get(format, options_with('b'));
  ASSERT_TRUE(a && b);
  EXPECT_NE(&inside_of(*a), &inside_of(*b));
  EXPECT_NE(a->to_text(GrammarSyntax::gbnf), b->to_text(GrammarSyntax::gbnf));
  EXPECT_EQ(got(cache, format, options_with('a')), &inside_of(*a));
}

TEST(GrammarCache, ForgetsWhatWasAskedForLongestAgo) {
  GrammarCache cache(2);
  const ReplyFormat format = format_named("chatglm3");
  const Grammar a = *cache.get(format, with_tool("a"));
  (void)cache.get(format, with_tool("b"));
  EXPECT_EQ(got(cache, format, with_tool("a")), &inside_of(a));
  (void)cache.get(format, with_tool("c"));  // in the place of b
  EXPECT_EQ(got(cache, format, with_tool("a")), &inside_of(a));
  EXPECT_EQ(cache.use().misses, 3u);
  (void)cache.get(format, with_tool("b"));
  EXPECT_EQ(cache.use().misses, 4u);
  EXPECT_EQ(cache.use().grammars, 2u);
  cache.clear();
  EXPECT_EQ(cache.use().grammars, 0u);
  EXPECT_EQ(cache.use().bytes, 0u);
  EXPECT_EQ(a.to_text(GrammarSyntax::gbnf), gbnf_of(format, with_tool("a")));
}

TEST(GrammarCache, KeepsToItsBytes) {
  const ReplyFormat format = format_named("terminal-agent");
  GrammarCache unbounded;
  (void)unbounded.get(format, with_tool("aa"));
  const std::size_t one = unbounded.use().bytes;
  GrammarCache cache(64, one * 5 / 2);
  for (const char* name : {"aa", "bb", "cc", "dd"}) (void)cache.get(format, with_tool(name));
  EXPECT_EQ(cache.use().grammars, 2u);
  EXPECT_LE(cache.use().bytes, one * 5 / 2);
  GrammarCache none(64, one / 2);
  EXPECT_TRUE(none.get(format, with_tool("aa")));
  EXPECT_TRUE(none.text(format, with_tool("aa"), GrammarSyntax::lark));
  EXPECT_EQ(none.use().grammars, 0u);
}

TEST(GrammarCache, ErrorsAreNotKept) {
  GrammarCache cache;
  GrammarOptions options;
  options.choice = ToolChoice::required;
  const ReplyFormat format = format_named("terminal-agent");
  EXPECT_EQ(cache.get(format, options).error().code(), ErrorCode::value);
  EXPECT_EQ(cache.text(format, options, GrammarSyntax::gbnf).error().code(), ErrorCode::value);
  EXPECT_EQ(cache.use().grammars, 0u);
  GrammarCache other = std::move(cache);
  EXPECT_TRUE(cache.get(format, with_tool("a")));  // NOLINT: what was moved from keeps nothing
  EXPECT_TRUE(other.get(format, with_tool("a")));
}

TEST(GrammarCache, ThreadsShareIt) {
  GrammarCache cache(4);
  const ReplyFormat format = format_named("terminal-agent");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, &format, t] {
      for (int i = 0; i < 40; ++i) {
        const GrammarOptions options = with_tool("tool_" + std::to_string((i + t) % 6));
        EXPECT_TRUE(cache.text(format, options, i % 2 == 0 ? GrammarSyntax::gbnf : GrammarSyntax::lark));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.use().grammars, 4u);
}

}  // namespace
}  // namespace parlance
