// Tests of CompiledReplyFormat: what it remembers for the next parser changes no event.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "parlance/reply.h"
#include "reply_cases.h"
#include "reply_material.h"

namespace parlance {
namespace {

using testing::Events;
using testing::reply_families;
using testing::ReplyCase;
using testing::ReplyCases;

Events events_of(ReplyParser parser, std::string_view reply) {
  testing::Recorder recorder;
  parser.feed(reply, recorder.sink());
  parser.finish(recorder.sink());
  return recorder.events();
}

/// More prompts and ends than are remembered; each with the request's tools and with none.
std::vector<ReplyOptions> requests_of(const ReplyFormat& format, const ReplyCase& one) {
  const std::string prompt = one.options.prompt.value_or(format.prompt);
  std::vector<ReplyOptions> requests;
  for (std::size_t i = 0; i < 20; ++i) {
    ReplyOptions options = one.options;
    options.prompt = prompt + one.reply.substr(0, i * one.reply.size() / 20);
    if (i % 2 == 1) options.tools = {};
    if (i % 3 == 1) options.ends = {"<end " + std::to_string(i) + ">"};
    if (i % 3 == 2) options.limits = {.depth = 3, .name = 10, .pending = 50};
    options.begin_in_reasoning = i % 5 == 1;
    options.no_calls_in_reasoning = i % 7 == 1;
    options.check_calls = i % 4 == 1;
    requests.push_back(options);
  }
  return requests;
}

TEST(ReplyCompiled, IsForManyReplies) {
  for (const ReplyCases& family : reply_families()) {
    const CompiledReplyFormat compiled = *CompiledReplyFormat::make(family.format);
    const ReplyCase& one = family.cases.front();
    const std::string reply = one.reply + "<end 4>" + one.reply;
    const std::vector<ReplyOptions> requests = requests_of(family.format, one);
    for (int round = 0; round < 2; ++round) {
      for (const ReplyOptions& options : requests) {
        ASSERT_EQ(events_of(ReplyParser(compiled, options), reply),
                  events_of(*ReplyParser::make(family.format, options), reply))
            << family.name << " after " << *options.prompt;
        ASSERT_EQ(events_of(ReplyParser(compiled, options), reply), events_of(ReplyParser(compiled, options), reply));
      }
    }
  }
}

/// A call that the prompt begins is read by the tools of its own request.
TEST(ReplyCompiled, RemembersNoTools) {
  const CompiledReplyFormat compiled = *CompiledReplyFormat::make(testing::format_of("terminal-agent"));
  const auto reads = [&](std::string_view type) {
    const std::string tools =
        R"([{"name": "f", "parameters": {"properties": {"x": {"type": ")" + std::string(type) + R"("}}}}])";
    const ReplyOptions options{.tools = *ReplyTools::from_json(tools),
                               .prompt = "<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\", ",
                               .check_calls = true};
    ReplyMessage message;
    ReplyParser parser(compiled, options);
    const auto take = [&](const ReplyEvent& event) { message.add(event); };
    parser.feed("\"arguments\": {\"x\": 1}}\n</tool_call>", take);
    parser.finish(take);
    return message.diagnostics.size();
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(reads("integer"), 0u);
    EXPECT_EQ(reads("string"), 1u);
  }
}

TEST(ReplyCompiled, IsForAllThreads) {
  const ReplyCases& family = reply_families().front();
  const ReplyCase& one = family.cases.front();
  const std::vector<ReplyOptions> requests = requests_of(family.format, one);
  std::vector<Events> wanted;
  for (const ReplyOptions& options : requests)
    wanted.push_back(events_of(*ReplyParser::make(family.format, options), one.reply));
  const CompiledReplyFormat compiled = *CompiledReplyFormat::make(family.format);
  std::vector<std::size_t> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t& count : wrong) {
    threads.emplace_back([&, own = compiled] {
      for (std::size_t i = 0; i < 20 * requests.size(); ++i) {
        const std::size_t which = (i * 7) % requests.size();
        count += events_of(ReplyParser(own, requests[which]), one.reply) == wanted[which] ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t count : wrong) EXPECT_EQ(count, 0u);
}

TEST(ReplyCompiled, WithoutCallsIsMadeOnce) {
  for (const ReplyCases& family : reply_families()) {
    const CompiledReplyFormat compiled = *CompiledReplyFormat::make(family.format);
    const CompiledReplyFormat one = compiled.without_calls(), other = compiled.without_calls(),
                              again = one.without_calls();
    EXPECT_EQ(&one.source(), &other.source()) << family.name;
    EXPECT_EQ(&one.source() == &compiled.source(), family.format.calls.empty()) << family.name;
    EXPECT_EQ(&again.source(), &one.source());
    ReplyFormat plain = family.format;
    plain.calls.clear();
    const ReplyCase& first = family.cases.front();
    EXPECT_EQ(events_of(ReplyParser(one, first.options), first.reply),
              events_of(*ReplyParser::make(plain, first.options), first.reply))
        << family.name;
    EXPECT_EQ(compiled.source().calls.size(), family.format.calls.size());
  }
  const CompiledReplyFormat nothing, none = nothing.without_calls();
  EXPECT_EQ(&none.source(), &nothing.source());
}

TEST(ReplyCompiled, OfNothingReadsText) {
  const Events events = events_of(ReplyParser(CompiledReplyFormat()), "<tool_call>text");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.front().kind, ReplyEvent::Kind::content);
}

void take_by_function(const ReplyEvent&) {}

TEST(ReplySinks, ReferToWhateverIsCalled) {
  ReplyParser parser{CompiledReplyFormat()};
  int count = 0;
  auto changing = [seen = 0](const ReplyEvent&) mutable { ++seen; };
  const std::function<void(const ReplyEvent&)> kept = [&](const ReplyEvent&) { ++count; };
  parser.feed("a", take_by_function);
  parser.feed("b", changing);
  parser.feed("c", kept);
  parser.feed("d", [&](const ReplyEvent&) { ++count; });
  const ReplySink sink = kept;
  const ReplySink copy = sink;
  parser.feed("e", copy);
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace parlance
