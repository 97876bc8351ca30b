// Runs over lines: order, failures, progress, and the caller's own input and output.
#include "parlance/bulk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

namespace parlance {
namespace {

/// Collects what a run writes.
struct Collected {
  std::string text;
  BulkOutput output() {
    return [this](std::string_view lines) -> Result<void> {
      text += lines;
      return {};
    };
  }
};

std::function<BulkWorker()> echo() {
  return [] {
    return [](const BulkLine& line, BulkAnswer& answer) -> Result<void> {
      if (line.text == "bad") return Error(ErrorCode::conversation, "it is bad");
      answer.id = std::to_string(line.request);
      answer.members.append("\"was\": ").append(line.text);
      return {};
    };
  };
}

TEST(Bulk, AnswersStandInTheOrderOfTheLines) {
  std::vector<std::string> texts;
  std::string wanted;
  for (int i = 1; i <= 20000; ++i) {
    texts.push_back(std::to_string(i * 7));
    wanted += "{\"id\": " + std::to_string(i) + ", \"was\": " + texts.back() + "}\n";
  }
  for (const unsigned threads : {1u, 4u}) {
    Collected collected;
    const Result<BulkProgress> done = answer_lines(bulk_input(texts), collected.output(), echo(), {.threads = threads});
    ASSERT_TRUE(done);
    EXPECT_EQ(collected.text, wanted);
    EXPECT_EQ(done->lines, texts.size());
    EXPECT_EQ(done->failed, 0u);
  }
}

TEST(Bulk, MoreThreadsThanThereMayBeAreFewer) {
  const std::vector<std::string> texts = {"1", "2"};
  Collected collected;
  const Result<BulkProgress> done =
      answer_lines(bulk_input(texts), collected.output(), echo(), {.threads = 4'000'000'000});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->lines, 2u);
}

TEST(Bulk, FailuresAreListedAndTheOthersGoOn) {
  const std::vector<std::string> texts = {"1", " ", "bad", "2", "bad"};
  Collected collected;
  const Result<BulkProgress> done = answer_lines(bulk_input(texts), collected.output(), echo(), {.most_failures = 1});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->lines, 4u);
  EXPECT_EQ(done->failed, 2u);
  ASSERT_EQ(done->failures.size(), 1u);
  EXPECT_EQ(done->failures.front().line, 3u);
  EXPECT_EQ(done->failures.front().request, 2u);
  EXPECT_EQ(done->failures.front().error.message(), "it is bad");
  EXPECT_EQ(collected.text.substr(0, collected.text.find('\n') + 1), "{\"id\": 1, \"was\": 1}\n");
}

TEST(Bulk, ATextOfSeveralLinesIsOneRequest) {
  const std::vector<std::string_view> texts = {"[1,\n2]", "3"};
  Collected collected;
  ASSERT_TRUE(answer_lines(bulk_input(texts), collected.output(), echo()));
  EXPECT_EQ(collected.text, "{\"id\": 1, \"was\": [1, 2]}\n{\"id\": 2, \"was\": 3}\n");
}

TEST(Bulk, LinesMayComeInPieces) {
  int at = 0;
  const BulkInput input = [&](std::string& text) -> Result<bool> {
    text += std::string_view("12\n3\n4").substr(static_cast<std::size_t>(at), 1);
    return ++at < 6;
  };
  Collected collected;
  ASSERT_TRUE(answer_lines(input, collected.output(), echo()));
  EXPECT_EQ(collected.text, "{\"id\": 1, \"was\": 12}\n{\"id\": 2, \"was\": 3}\n{\"id\": 3, \"was\": 4}\n");
}

TEST(Bulk, FailuresOfInputAndOutputEndTheRun) {
  Collected collected;
  const BulkInput broken = [](std::string&) -> Result<bool> { return Error(ErrorCode::file, "in"); };
  EXPECT_EQ(answer_lines(broken, collected.output(), echo()).error().message(), "in");
  const std::vector<std::string> texts(100000, "1");
  const BulkOutput full = [](std::string_view) -> Result<void> { return Error(ErrorCode::file, "out"); };
  EXPECT_EQ(answer_lines(bulk_input(texts), full, echo()).error().message(), "out");
}

TEST(Bulk, FunctionsThatAreEmptyAreAnError) {
  const std::vector<std::string> texts = {"1"};
  Collected collected;
  const auto code_of = [](const Result<BulkProgress>& done) {
    return done ? std::string() : std::string(facts(done.error().code()).name) + ": " + done.error().message();
  };
  EXPECT_EQ(code_of(answer_lines({}, collected.output(), echo())), "usage: input is an empty function");
  EXPECT_EQ(code_of(answer_lines(bulk_input(texts), {}, echo())), "usage: output is an empty function");
  EXPECT_EQ(code_of(answer_lines(bulk_input(texts), collected.output(), {})),
            "usage: make_worker is an empty function");
  EXPECT_EQ(collected.text, "");
  const Result<BulkProgress> done = answer_lines(bulk_input(texts), collected.output(), [] { return BulkWorker(); });
  ASSERT_TRUE(done);
  ASSERT_EQ(done->failures.size(), 1u);
  EXPECT_EQ(done->failures[0].error.code(), ErrorCode::usage);
  EXPECT_NE(collected.text.find("a worker is an empty function"), std::string::npos) << collected.text;
}

/// A run over `texts` with a budget: how many bytes of lines were read and not yet answered, at most.
std::size_t most_on_its_way(const std::vector<std::string>& texts, std::size_t budget) {
  std::mutex mutex;
  std::size_t now = 0, most = 0;
  const BulkInput lines = bulk_input(texts);
  const BulkInput input = [&](std::string& text) {
    const std::size_t before = text.size();
    const Result<bool> more = lines(text);
    const std::lock_guard lock(mutex);
    now += text.size() - before;
    most = std::max(most, now);
    return more;
  };
  const auto worker = [&]() -> BulkWorker {
    return [&](const BulkLine& line, BulkAnswer& answer) -> Result<void> {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the reader is the faster
      answer.members = "\"size\": " + std::to_string(line.text.size());
      const std::lock_guard lock(mutex);
      now -= line.text.size() + 1;
      return {};
    };
  };
  Collected collected;
  const Result<BulkProgress> done =
      answer_lines(input, collected.output(), worker, {.threads = 4, .most_bytes = budget});
  EXPECT_TRUE(done);
  EXPECT_EQ(done ? done->lines : 0, texts.size());
  return most;
}

TEST(Bulk, LongLinesAreNotAllInMemory) {
  const std::vector<std::string> texts(24, std::string(1 << 20, 'x'));
  // Two on their way, the next one read, and what was read behind it.
  EXPECT_LE(most_on_its_way(texts, 5 << 19), std::size_t{4} << 20);
  EXPECT_LE(most_on_its_way(texts, 1), std::size_t{3} << 20);  // longer than the budget: one by one
}

TEST(Bulk, GoesOnBehindLines) {
  const std::vector<std::string> texts = {"1", " ", "2", "bad", "3"};
  const auto run = [&](std::uint64_t skip) {
    Collected collected;
    const Result<BulkProgress> done = answer_lines(bulk_input(texts), collected.output(), echo(), {.skip_lines = skip});
    EXPECT_TRUE(done);
    return collected.text + std::to_string(done->skipped) + " skipped, " + std::to_string(done->behind) + " behind";
  };
  EXPECT_EQ(run(0).find("{\"id\": 1, \"was\": 1}\n{\"id\": 2, \"was\": 2}\n{\"line\": 4, "), 0u);
  const std::string rest = run(3);
  EXPECT_EQ(rest.find("{\"line\": 4, \"error\""), 0u) << rest;
  EXPECT_NE(rest.find("{\"id\": 4, \"was\": 3}\n2 skipped, 5 behind"), std::string::npos) << rest;
  EXPECT_EQ(run(9), "4 skipped, 5 behind");
}

TEST(Bulk, SkippedAndWholeRunsGiveTheSameAnswers) {
  std::vector<std::string> texts;
  for (int i = 0; i < 30000; ++i) texts.push_back(i % 5 == 0 ? " " : std::to_string(i));
  Collected whole;
  ASSERT_TRUE(answer_lines(bulk_input(texts), whole.output(), echo()));
  for (const std::uint64_t at : {1u, 4u, 12345u, 29999u}) {
    Collected both;
    const std::vector<std::string> begin(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(at));
    const Result<BulkProgress> first = answer_lines(bulk_input(begin), both.output(), echo());
    ASSERT_TRUE(first);
    EXPECT_EQ(first->behind, at);
    ASSERT_TRUE(answer_lines(bulk_input(texts), both.output(), echo(), {.skip_lines = first->behind}));
    EXPECT_EQ(both.text, whole.text);
  }
}

TEST(Bulk, WhatStopsARunLeavesWholeLines) {
  std::size_t pieces = 0;
  const BulkInput input = [&](std::string& text) -> Result<bool> {
    ++pieces;
    text += pieces <= 100 ? "1\n2\n3" : "";  // the last line is not whole
    return true;
  };
  Collected collected;
  BulkProgress ended;
  const Result<BulkProgress> done =
      answer_lines(input, collected.output(), echo(),
                   {.stop = [&] { return pieces > 100; }, .ended = [&](const BulkProgress& last) { ended = last; }});
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->stopped);
  EXPECT_EQ(done->lines, 200u);
  EXPECT_EQ(done->behind, 200u);
  EXPECT_EQ(ended.behind, 200u);
  EXPECT_TRUE(collected.text.ends_with("{\"id\": 200, \"was\": 2}\n")) << collected.text;
}

TEST(Bulk, WhatWasWrittenIsToldWhereWritingFails) {
  const std::vector<std::string> texts(200000, "1");
  std::uint64_t taken = 0;
  const BulkOutput full = [&](std::string_view lines) -> Result<void> {
    if (taken != 0) return Error(ErrorCode::file, "out");
    taken = static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
    return {};
  };
  BulkProgress ended;
  EXPECT_FALSE(
      answer_lines(bulk_input(texts), full, echo(), {.ended = [&](const BulkProgress& last) { ended = last; }}));
  EXPECT_GT(taken, 0u);
  EXPECT_EQ(ended.behind, taken);
  EXPECT_EQ(ended.lines, taken);
}

std::string kept_of(std::string line, BulkOptions options, BulkProgress* counts = nullptr) {
  const std::vector<std::string> texts = {std::move(line)};
  const auto worker = []() -> BulkWorker {
    return [](const BulkLine& given, BulkAnswer& answer) -> Result<void> {
      if (given.text.find("fail") != given.text.npos) return Error(ErrorCode::conversation, "it is bad");
      answer.members = R"("text": "a \"b\": {[", "more": {"inner": 1})";
      return {};
    };
  };
  Collected collected;
  Result<BulkProgress> done = answer_lines(bulk_input(texts), collected.output(), worker, options);
  EXPECT_TRUE(done);
  if (counts != nullptr) *counts = std::move(*done);
  return collected.text;
}

TEST(Bulk, MembersOfTheLineAreKept) {
  const std::string row =
      R"({"a": [1, "ä"], "inner": 2, "b": 3, "big": 123456789012345678901234567890, "text": "own"})";
  const std::string own = R"("text": "a \"b\": {[", "more": {"inner": 1}})"
                          "\n";
  BulkProgress counts;
  EXPECT_EQ(kept_of(row, {.keep = {"inner", "a", "b", "none", "text"}}, &counts),
            R"({"inner": 2, "a": [1,"ä"], "b": 3, )" + own);
  EXPECT_EQ(counts.kept, (std::map<std::string, std::uint64_t>{{"inner", 1}, {"a", 1}, {"b", 1}}));
  EXPECT_EQ(counts.hidden, (std::map<std::string, std::uint64_t>{{"text", 1}}));
  EXPECT_EQ(kept_of(row, {.keep_all = true}),
            R"({"a": [1,"ä"], "inner": 2, "b": 3, "big": 123456789012345678901234567890, )" + own);
  EXPECT_EQ(kept_of(R"({"a": "fail"})", {.keep = {"a"}}).find(R"({"a": "fail", "line": 1, "error": {)"), 0u);
  EXPECT_EQ(kept_of("[1]", {.keep = {"a"}}), "{" + own);
  EXPECT_EQ(kept_of("{\"a\": 1", {.keep = {"a"}}), "{" + own);
}

TEST(Bulk, ALineMayBeDropped) {
  const std::vector<std::string> texts = {"1", "2", "3"};
  const auto worker = []() -> BulkWorker {
    return [](const BulkLine& line, BulkAnswer& answer) -> Result<void> {
      answer.members.append("\"was\": ").append(line.text);
      answer.dropped = line.text == "2";
      return {};
    };
  };
  Collected collected;
  const Result<BulkProgress> done = answer_lines(bulk_input(texts), collected.output(), worker);
  ASSERT_TRUE(done);
  EXPECT_EQ(collected.text, "{\"was\": 1}\n{\"was\": 3}\n");
  EXPECT_EQ(done->dropped, 1u);
  EXPECT_EQ(done->lines, 3u);
}

TEST(Bulk, RendersLines) {
  const RequestReader reader(*Template::compile("{{ messages[0].content }}"));
  const std::vector<std::string> texts = {R"({"id": "a", "messages": [{"role": "user", "content": "Hi"}]})", "{}"};
  Collected collected;
  const Result<BulkProgress> done = render_lines(bulk_input(texts), collected.output(), reader);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->failed, 1u);
  EXPECT_EQ(collected.text.substr(0, collected.text.find('\n')), R"({"id": "a", "text": "Hi", "generation": []})");
}

TEST(Bulk, WritesWhatTheCallerWants) {
  const RequestReader reader(*Template::compile("{{ messages[0].content }}"));
  BulkRendering rendering;
  std::atomic<int> written = 0;
  rendering.write = [&](const Conversation& chat, CheckedRendering& checked, std::string& members) -> Result<void> {
    ++written;
    members += "\"bytes\": " + std::to_string(checked.rendering.text().size() + chat.messages().items().size());
    return {};
  };
  const std::vector<std::string> texts = {R"({"messages": [{"role": "user", "content": "Hi"}]})"};
  Collected collected;
  ASSERT_TRUE(render_lines(bulk_input(texts), collected.output(), reader, rendering));
  EXPECT_EQ(collected.text, "{\"bytes\": 3}\n");
  EXPECT_EQ(written, 1);
}

TEST(Bulk, ARenderingWithoutMembersIsNoAnswer) {
  const RequestReader reader(*Template::compile("{{ messages[0].content }}"));
  BulkRendering rendering;
  rendering.write = [](const Conversation&, CheckedRendering& checked, std::string& members) -> Result<void> {
    if (checked.rendering.text() != "drop") members += "\"kept\": true";
    return {};
  };
  const std::vector<std::string> texts = {R"({"messages": [{"role": "user", "content": "drop"}]})",
                                          R"({"messages": [{"role": "user", "content": "Hi"}]})", "{}"};
  Collected collected;
  const Result<BulkProgress> done = render_lines(bulk_input(texts), collected.output(), reader, rendering);
  ASSERT_TRUE(done);
  EXPECT_EQ(collected.text.find("{\"kept\": true}\n{\"line\": 3, \"error\""), 0u) << collected.text;
  EXPECT_EQ(done->dropped, 1u);
}

}  // namespace
}  // namespace parlance
