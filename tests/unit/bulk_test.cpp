// Runs over lines: order, failures, progress, and the caller's own input and output.
#include "parlance/bulk.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
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
  EXPECT_GE(most_on_its_way(texts, std::size_t{64} << 20), std::size_t{8} << 20);
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

}  // namespace
}  // namespace parlance
