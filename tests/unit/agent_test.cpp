// The loop of an agent, with a model that says what a test decides.
#include "parlance/agent.h"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>

#include "agent_loop/repetition.h"
#include "parlance/json_writer.h"
#include "parlance/sampled_reply.h"

namespace parlance {
namespace {

/// A reply with a call of each argument, or with text alone.
AgentReply calling(const std::vector<std::string>& arguments) {
  AgentReply reply{.prompt_tokens = 100, .sampled_tokens = 10};
  for (const std::string& one : arguments)
    reply.message.calls.push_back({.name = "work", .arguments = one, .complete = true});
  return reply;
}

AgentReply saying(std::string text) {
  AgentReply reply{.prompt_tokens = 100, .sampled_tokens = 5};
  reply.message.content = std::move(text);
  return reply;
}

class Scripted : public AgentModel {
 public:
  explicit Scripted(std::vector<AgentReply> replies) : replies_(std::move(replies)) {}
  Result<AgentReply> reply(const AgentRequest& request, ReplySink) override {
    asked.emplace_back(request.messages.begin(), request.messages.end());
    anew.push_back(request.anew);
    tools.emplace_back(request.tools);
    if (replies_.empty()) return Error(ErrorCode::file, "nothing left to say");
    AgentReply next = replies_.front();
    if (replies_.size() > 1) replies_.erase(replies_.begin());
    return next;
  }
  std::optional<std::size_t> context() const override { return most; }
  std::vector<std::vector<Message>> asked;
  std::vector<bool> anew;
  std::vector<std::string> tools;
  std::optional<std::size_t> most;

 private:
  std::vector<AgentReply> replies_;
};

/// "write" changes something, "fail" fails, anything else succeeds and changes nothing.
AgentTool work(std::vector<std::string>* runs = nullptr) {
  return {.name = "work",
          .description = "Works",
          .parameters = R"({"type": "object"})",
          .run = [runs](std::string_view arguments) -> Result<ToolOutcome> {
            if (runs != nullptr) runs->emplace_back(arguments);
            const bool writes = arguments.find("write") != arguments.npos,
                       fails = arguments.find("fail") != arguments.npos;
            return ToolOutcome{.text = "did " + std::string(arguments), .succeeded = !fails, .changed = writes};
          }};
}

AgentOptions options_with(AgentTool tool) { return {.goal = "Do it", .tools = {std::move(tool)}}; }

TEST(Agent, EndsWhenTheModelSaysSo) {
  Scripted model({saying("The answer is 4.")});
  Agent agent(model, {.goal = "2 + 2?", .system = "Be brief."});
  const AgentEnd end = agent.run();
  EXPECT_EQ(end.reason, AgentEnd::Reason::done);
  EXPECT_EQ(end.answer, "The answer is 4.");
  EXPECT_EQ(end.turns, 1U);
  ASSERT_EQ(model.asked[0].size(), 2U);
  EXPECT_EQ(model.asked[0][0].role, "system");
  EXPECT_TRUE(model.anew[0]);
}

TEST(Agent, SendsBackAnEndBeforeVerification) {
  Scripted model(
      {calling({R"({"do": "write"})"}), saying("Done."), calling({R"({"do": "look"})"}), saying("Done now.")});
  Agent agent(model, options_with(work()));
  const AgentEnd end = agent.run();
  EXPECT_EQ(end.reason, AgentEnd::Reason::done);
  EXPECT_EQ(end.answer, "Done now.");
  ASSERT_EQ(model.asked.size(), 4U);
  EXPECT_EQ(model.asked[2].back().role, "user");
  EXPECT_NE(model.asked[2].back().content.find("Not finished yet"), std::string::npos);
  EXPECT_EQ(model.asked[3].back().role, "tool");
  EXPECT_EQ(model.asked[3].size(), 1U) << "the model is told what is new";
}

TEST(Agent, AFailedRunVerifiesNothing) {
  Scripted model({calling({R"({"do": "write"})"}), calling({R"({"do": "fail"})"}), saying("Done.")});
  AgentOptions options = options_with(work());
  options.limits.refusals = 1;
  const AgentEnd end = Agent(model, std::move(options)).run();
  EXPECT_EQ(end.reason, AgentEnd::Reason::gave_up);
  EXPECT_EQ(end.turns, 4U);
}

TEST(Agent, ErrorsAreObservations) {
  AgentTool tool = work();
  tool.run = [](std::string_view) -> Result<ToolOutcome> { return Error(ErrorCode::value, "no such file"); };
  AgentReply unknown = calling({"{}"});
  unknown.message.calls[0].name = "play";
  Scripted model({calling({"{}"}), unknown, saying("I give up.")});
  EXPECT_EQ(Agent(model, options_with(tool)).run().reason, AgentEnd::Reason::done);
  EXPECT_EQ(model.asked[1].back().content, "Error: no such file");
  EXPECT_EQ(model.asked[2].back().content, "There is no tool 'play'. There are: work");
}

TEST(Agent, SaysThatACallCannotBeRead) {
  AgentReply broken = calling({R"({"do": )"});
  broken.message.calls[0].complete = false;
  broken.message.diagnostics.push_back({.position = 7, .expected = "a value"});
  Scripted model({broken, saying("Sorry.")});
  std::vector<std::string> runs;
  EXPECT_EQ(Agent(model, options_with(work(&runs))).run().reason, AgentEnd::Reason::done);
  EXPECT_TRUE(runs.empty());
  EXPECT_NE(model.asked[1].back().content.find("at byte 7 was expected: a value"), std::string::npos);
}

TEST(Agent, ResultsAreUtf8) {
  AgentTool tool = work();
  tool.run = [](std::string_view) -> Result<ToolOutcome> { return ToolOutcome{.text = "caf\xe9 \xf0\x9f"}; };
  Scripted model({calling({"{}"}), saying("Done.")});
  EXPECT_EQ(Agent(model, options_with(tool)).run().reason, AgentEnd::Reason::done);
  EXPECT_EQ(model.asked[1].back().content, "caf\uFFFD \uFFFD\uFFFD");
}

TEST(Agent, ArgumentsAreUtf8) {
  AgentReply half = calling({R"({"a": "\ud83d", "b": "\ude00\ud83d\ude00\\ud83d", "\udfff\ud83d\ud83d": "caf)"
                             "\xe9\"}"});
  Scripted model({half, saying("Done.")});
  std::vector<std::string> runs;
  EXPECT_EQ(Agent(model, options_with(work(&runs))).run().reason, AgentEnd::Reason::done);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0], R"({"a": "\ufffd", "b": "\ufffd\ud83d\ude00\\ud83d", "\ufffd\ufffd\ufffd": "caf)"
                     "\uFFFD\"}");
}

/// Those that put what is said of repetitions into `told`.
AgentOptions options_telling(std::vector<std::string>& told) {
  AgentOptions options = options_with(work());
  options.events = [&told](const AgentEvent& event) {
    if (event.kind == AgentEvent::Kind::repeated) told.emplace_back(event.text);
  };
  return options;
}

TEST(Agent, NoticesThatItGoesInCircles) {
  Scripted model({calling({R"({"do": "a"})"})});  // again and again
  std::vector<std::string> told;
  const AgentEnd end = Agent(model, options_telling(told)).run();
  EXPECT_EQ(end.reason, AgentEnd::Reason::repeats);
  EXPECT_EQ(end.turns, 6U);
  ASSERT_EQ(told.size(), 4U);
  EXPECT_NE(told[0].find("the same 3 times"), std::string::npos);
  Repetition circle;
  unsigned times = 0;
  for (int round = 0; round < 4; ++round)
    for (const char* step : {"a", "b", "c"}) times = circle.add(step);
  EXPECT_EQ(times, 4U);
  EXPECT_EQ(circle.add("d"), 1U);
}

TEST(Agent, NoticesRepliesThatCannotBeReadAgainAndAgain) {
  AgentReply broken = calling({R"({"do": )"});
  broken.message.calls[0].complete = false;
  AgentReply cut_off = saying("and so on and so on");
  cut_off.length = true;
  AgentReply nothing{.prompt_tokens = 100, .length = true};
  for (const AgentReply& reply : {broken, cut_off, nothing}) {
    Scripted model({reply});
    std::vector<std::string> told;
    const AgentEnd end = Agent(model, options_telling(told)).run();
    EXPECT_EQ(end.reason, AgentEnd::Reason::repeats);
    EXPECT_EQ(end.turns, 6U);
    ASSERT_EQ(told.size(), 4U);
    EXPECT_EQ(model.asked[2].back().content.find(told[0]), std::string::npos);
    EXPECT_NE(model.asked[3].back().content.find(told[0]), std::string::npos) << "the model is told so, too";
  }
  AgentOptions patient = options_with(work());
  patient.limits = {.turns = 20, .repeats = 0};
  Scripted model({broken});
  EXPECT_EQ(Agent(model, std::move(patient)).run().reason, AgentEnd::Reason::turns);
  Scripted goes_on({cut_off, saying("Done.")});
  EXPECT_EQ(Agent(goes_on, options_with(work())).run().reason, AgentEnd::Reason::done);
}

TEST(Agent, AReplyKnowsWhenItsTimeIsOver) {
  class Slow : public Scripted {
   public:
    using Scripted::Scripted;
    Result<AgentReply> reply(const AgentRequest& request, ReplySink events) override {
      deadlines.push_back(request.deadline);
      while (request.deadline && std::chrono::steady_clock::now() < *request.deadline) continue;
      return Scripted::reply(request, std::move(events));
    }
    std::vector<std::optional<std::chrono::steady_clock::time_point>> deadlines;
  };
  AgentReply cut_off = saying("and so on");
  cut_off.length = true;
  Slow model({cut_off});
  AgentOptions options = options_with(work());
  options.limits.seconds = 0.05;
  const AgentEnd end = Agent(model, std::move(options)).run();
  EXPECT_EQ(end.reason, AgentEnd::Reason::seconds);
  EXPECT_EQ(end.turns, 1U);
  Slow endless({saying("Done.")});
  EXPECT_EQ(Agent(endless, options_with(work())).run().reason, AgentEnd::Reason::done);
  EXPECT_FALSE(endless.deadlines.at(0)) << "no limit";
}

TEST(Agent, HasLimits) {
  for (const auto& [limits, wanted] : std::vector<std::pair<AgentLimits, AgentEnd::Reason>>{
           {{.turns = 2, .repeats = 0}, AgentEnd::Reason::turns},
           {{.tokens = 15, .repeats = 0}, AgentEnd::Reason::tokens}}) {
    Scripted model({calling({"{}"})});
    AgentOptions options = options_with(work());
    options.limits = limits;
    const AgentEnd end = Agent(model, std::move(options)).run();
    EXPECT_EQ(end.reason, wanted);
    EXPECT_EQ(end.turns, 2U);
  }
  Scripted failing({});
  EXPECT_EQ(Agent(failing, options_with(work())).run().reason, AgentEnd::Reason::model);
}

TEST(Agent, AsksBeforeItRuns) {
  Scripted model({calling({R"({"do": "write"})"}), saying("Then not.")});
  std::vector<std::string> runs;
  AgentOptions options = options_with(work(&runs));
  options.approve = [](std::string_view, std::string_view) {
    return Approval{.allowed = false, .reason = "not on Sundays"};
  };
  EXPECT_EQ(Agent(model, std::move(options)).run().reason, AgentEnd::Reason::done);
  EXPECT_TRUE(runs.empty());
  EXPECT_EQ(model.asked[1].back().content, "This was not allowed: not on Sundays");
}

TEST(Agent, ToolsMayChangeBetweenTurns) {
  Scripted model({calling({"{}"}), calling({"{}"}), saying("Done.")});
  AgentOptions options = options_with(work());
  int asked = 0;
  options.renewed_tools = [&asked]() -> std::optional<std::vector<AgentTool>> {
    if (++asked == 1) return std::nullopt;
    AgentTool other = work();
    other.name = "other";
    return std::vector<AgentTool>{work(), other};
  };
  Agent agent(model, std::move(options));
  EXPECT_EQ(agent.run().reason, AgentEnd::Reason::done);
  EXPECT_EQ(asked, 3);
  ASSERT_EQ(model.tools.size(), 3U);
  EXPECT_EQ(model.tools[0].find("other"), std::string::npos);
  EXPECT_NE(model.tools[1].find("other"), std::string::npos);
  EXPECT_EQ(model.anew, (std::vector<bool>{true, true, false}));  // the same tools once more change nothing
  EXPECT_EQ(model.asked[1].size(), 3U);
}

TEST(Agent, SendsBackAnEndWithoutAWord) {
  Scripted model({saying(""), saying(" \n"), saying("Done.")});
  AgentOptions options = options_with(work());
  EXPECT_EQ(Agent(model, std::move(options)).run().reason, AgentEnd::Reason::done);
  EXPECT_EQ(model.asked.size(), 3U);
  Scripted silent({saying(""), saying(""), saying(""), saying("")});
  EXPECT_EQ(Agent(silent, options_with(work())).run().reason, AgentEnd::Reason::gave_up);
}

TEST(Agent, MakesRoomWhenTheContextIsFull) {
  std::vector<AgentReply> replies;
  for (int turn = 0; turn < 30; ++turn) {
    replies.push_back(calling({"{\"n\": " + std::to_string(turn) + "}"}));
    replies.back().prompt_tokens = 40 + static_cast<std::size_t>(turn) * 30;
  }
  replies.push_back(saying("Done."));
  Scripted model(replies);
  model.most = 600;
  AgentOptions options = options_with(work());
  std::size_t compactions = 0, freed = 0;
  options.events = [&](const AgentEvent& event) {
    if (event.kind != AgentEvent::Kind::compacted) return;
    ++compactions;
    freed += event.compaction->freed_tokens;
  };
  EXPECT_EQ(Agent(model, std::move(options)).run().reason, AgentEnd::Reason::done);
  EXPECT_GT(compactions, 0U);
  EXPECT_GT(freed, 100U);
  EXPECT_EQ(static_cast<std::size_t>(std::count(model.anew.begin(), model.anew.end(), true)), compactions + 1);
}

TEST(Agent, NamesTheCallsThatAreGoneWhereNobodyCountsTokens) {
  std::vector<AgentReply> replies;
  for (int turn = 0; turn < 8; ++turn) {
    replies.push_back(calling({"{\"n\": " + std::to_string(turn) + "}"}));
    replies.back().prompt_tokens = replies.back().sampled_tokens = 0;
  }
  replies.push_back({.too_long = true});
  replies.push_back(saying("Done."));
  Scripted model(replies);
  AgentOptions options = options_with(work());
  std::string note;
  options.events = [&](const AgentEvent& event) {
    if (event.kind == AgentEvent::Kind::compacted) note = event.text;
  };
  EXPECT_EQ(Agent(model, std::move(options)).run().reason, AgentEnd::Reason::done);
  EXPECT_NE(note.find("work {\"n\": 5}"), std::string::npos) << note;
}

TEST(Agent, RepliesThatWereCutAreUtf8WhenTheConversationBeginsAnew) {
  std::vector<AgentReply> replies;
  for (int turn = 0; turn < 30; ++turn) {
    replies.push_back(calling({"{\"n\": \"" + std::to_string(turn) + " \xf0\x9f\"}"}));
    replies.back().message.content = "a\xf0\x9f";
    replies.back().message.reasoning = "b\xc3";
    replies.back().prompt_tokens = 40 + static_cast<std::size_t>(turn) * 30;
  }
  replies.push_back(saying("Done."));
  Scripted model(replies);
  model.most = 600;
  EXPECT_EQ(Agent(model, options_with(work())).run().reason, AgentEnd::Reason::done);
  std::size_t assistants = 0;
  for (const std::vector<Message>& asked : model.asked) {
    Conversation conversation;
    for (const Message& message : asked) {
      EXPECT_TRUE(conversation.add(message));
      if (message.role != "assistant") continue;
      ++assistants;
      EXPECT_EQ(message.content, "a\uFFFD\uFFFD");
    }
  }
  EXPECT_GT(assistants, 0U);
}

TEST(Agent, GoesOnBehindAnEarlierRun) {
  Scripted model({saying("Done.")});
  std::vector<std::string> runs;
  AgentOptions options = options_with(work(&runs));
  AgentHistory history{.messages = {{.role = "user", .content = "Do it"},
                                    {.role = "assistant",
                                     .tool_calls = {{.id = "a", .name = "work", .arguments_json = R"({"n": 1})"},
                                                    {.id = "b", .name = "work", .arguments_json = R"({"n": 2})"},
                                                    {.id = "c", .name = "work", .arguments_json = R"({"n": 3})"}}},
                                    {.role = "tool", .content = "did 1", .tool_call_id = "a"}},
                       .turns = 1,
                       .running = {"b"}};
  options.verify = false;
  const AgentEnd end = Agent(model, std::move(options)).resume(std::move(history), 2);
  EXPECT_EQ(end.reason, AgentEnd::Reason::done);
  EXPECT_EQ(end.turns, 2U);
  EXPECT_EQ(runs, std::vector<std::string>{R"({"n": 3})"}) << "what had ended, or begun, does not run once more";
  ASSERT_EQ(model.asked[0].size(), 3U);
  EXPECT_FALSE(model.anew[0]);
  EXPECT_EQ(model.asked[0][0].content, "did 1");
  EXPECT_NE(model.asked[0][1].content.find("not known whether this ran"), std::string::npos);
}

/// As somebody has them who kept them as the messages of a request.
std::vector<Message> read_again(const std::vector<Message>& messages) {
  Conversation kept, read;
  for (const Message& message : messages) EXPECT_TRUE(kept.add(message));
  EXPECT_TRUE(read.read(R"({"messages": )" + json_text(kept.messages()) + "}"));
  return messages_from(read, 0);
}

TEST(Agent, GoesOnBehindMessagesThatWereRead) {
  std::vector<AgentReply> replies(20, calling({R"({"n": "1", "m": [null, 0.5, "\"\ud800"]})", "{}"}));
  for (std::size_t turn = 0; turn < replies.size(); ++turn) {
    replies[turn].message.content = "number " + std::to_string(turn);
    replies[turn].message.reasoning = "because";
  }
  Scripted first(replies);
  AgentOptions options = options_with(work());
  options.limits = {.turns = 20, .repeats = 0};
  Agent earlier(first, options);
  EXPECT_EQ(earlier.run().reason, AgentEnd::Reason::turns);
  const std::vector<Message> read = read_again(earlier.messages());

  std::vector<std::string> runs;
  Scripted second({saying("Done.")});
  Agent later(second, options_with(work(&runs)));
  EXPECT_EQ(later.resume({.messages = read}).reason, AgentEnd::Reason::done);
  EXPECT_TRUE(runs.empty()) << "each call has its result";
  ASSERT_EQ(second.asked[0].size(), earlier.messages().size());
  for (std::size_t at = 0; at < earlier.messages().size(); ++at) {
    const Message &before = earlier.messages()[at], &behind = later.messages()[at];
    EXPECT_EQ(before.content, behind.content);
    EXPECT_EQ(before.reasoning_content, behind.reasoning_content);
    EXPECT_EQ(before.tool_call_id, behind.tool_call_id);
    EXPECT_EQ(before.tool_calls.size(), behind.tool_calls.size());
    EXPECT_TRUE(behind.members.empty());
  }

  std::vector<std::size_t> left_out;
  AgentOptions told = options_with(work());
  told.events = [&left_out](const AgentEvent& event) {
    if (event.compaction != nullptr) left_out.push_back(event.compaction->count);
  };
  AgentHistory history{.messages = read};
  history.messages.push_back({.role = "user", .content = "Go on"});
  AgentReply too_long{.prompt_tokens = 2000, .too_long = true};
  Scripted refuses({too_long, saying("Done.")});
  refuses.most = 600;
  EXPECT_EQ(Agent(refuses, told).resume(history).reason, AgentEnd::Reason::done);
  ASSERT_EQ(left_out.size(), 1U);
  EXPECT_GT(left_out[0], 10U);
  EXPECT_NE(refuses.asked[1][0].content.find("left out"), std::string::npos) << refuses.asked[1][0].content;
}

TEST(Agent, WhatFieldsCannotSayStaysAMemberButCallsThatNobodyCanAnswer) {
  Conversation read;
  EXPECT_TRUE(read.read(R"({"messages": [
      {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image"}]},
      {"role": "assistant", "content": null,
       "tool_calls": [{"id": "a", "function": {"name": "work", "arguments": "{\"n"}}]},
      {"role": "user", "content": "Hi", "more": 1}]})",
                        {.normalise = false}));
  Scripted model({saying("Done.")});
  EXPECT_EQ(Agent(model, options_with(work())).resume({.messages = messages_from(read, 0)}).reason,
            AgentEnd::Reason::done);
  Conversation asked;
  for (const Message& message : model.asked[0]) EXPECT_TRUE(asked.add(message));
  EXPECT_EQ(json_text(asked.messages()),
            R"([{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image"}]},)"
            R"({"role":"assistant","content":null},{"role":"user","content":"Hi","more":1}])");
}

AgentEnd end_with(AgentTool tool) {
  Scripted model({calling({"{}"}), saying("I see.")});
  return Agent(model, options_with(std::move(tool))).run();
}

#ifndef PARLANCE_NO_EXCEPTIONS  // a library without them lets it through, which ends the program
TEST(Agent, WhatAToolThrowsIsARunThatFailed) {
  struct Odd {};
  const std::vector<std::pair<std::function<void()>, std::string>> throwers = {
      {[] { throw std::runtime_error("no disk"); }, "Error: no disk"},
      {[] { throw std::bad_alloc(); }, "Error: "},
      {[] { throw Odd(); }, "no std::exception"},
      {[] { throw 7; }, "no std::exception"}};
  for (const auto& [thrower, told] : throwers) {
    AgentTool tool = work();
    tool.run = [fails = thrower](std::string_view) -> Result<ToolOutcome> {
      fails();
      return ToolOutcome{};
    };
    Scripted model({calling({"{}"}), saying("I see.")});
    std::vector<bool> succeeded;
    AgentOptions options = options_with(tool);
    options.events = [&succeeded](const AgentEvent& event) {
      if (event.outcome != nullptr) succeeded.push_back(event.outcome->succeeded);
    };
    EXPECT_EQ(Agent(model, std::move(options)).run().reason, AgentEnd::Reason::done);
    EXPECT_NE(model.asked[1].back().content.find(told), std::string::npos) << model.asked[1].back().content;
    EXPECT_EQ(succeeded, std::vector<bool>{false});
  }
}
#endif

TEST(Agent, RefusesToolsThatCannotBeOffered) {
  AgentTool without_run = work(), without_name = work();
  without_run.run = nullptr;
  without_name.name.clear();
  std::vector<AgentTool> unfit = {without_run, without_name};
  for (const char* parameters : {"", "{", "no JSON", "[]", "7", "null", "\"object\"", R"({"type": "array"})",
                                 R"({"type": ["string", "null"]})", R"({"type": 7})", "{} {}"}) {
    unfit.push_back(work());
    unfit.back().parameters = parameters;
  }
  for (const AgentTool& tool : unfit) {
    const AgentEnd end = end_with(tool);
    EXPECT_EQ(end.reason, AgentEnd::Reason::usage) << tool.parameters;
    ASSERT_TRUE(end.error) << tool.parameters;
    EXPECT_EQ(end.error->code(), ErrorCode::value);
    EXPECT_EQ(end.sentence, end.error->message());
    EXPECT_EQ(end.turns, 0U) << "the model was not asked";
  }
  for (const char* parameters :
       {"{}", R"({"type": "object"})", R"({"type": ["object", "null"]})", R"({"$ref": "#"})"}) {
    AgentTool tool = work();
    tool.parameters = parameters;
    EXPECT_EQ(end_with(tool).reason, AgentEnd::Reason::done) << parameters;
  }
  Scripted twice({saying("I see.")});
  const AgentEnd end = Agent(twice, {.goal = "Do it", .tools = {work(), work()}}).run();
  EXPECT_EQ(end.sentence, "the tool 'work' is there twice");
}

TEST(Agent, RefusesToolsThatCannotBeOfferedLater) {
  Scripted model({calling({"{}"}), saying("I see.")});
  AgentOptions options = options_with(work());
  options.renewed_tools = [&model]() -> std::optional<std::vector<AgentTool>> {
    if (model.asked.empty()) return std::nullopt;
    AgentTool tool = work();
    tool.run = nullptr;
    return std::vector<AgentTool>{tool};
  };
  const AgentEnd end = Agent(model, std::move(options)).run();
  EXPECT_EQ(end.reason, AgentEnd::Reason::usage);
  EXPECT_EQ(end.turns, 1U);
}

TEST(Agent, RunsOnce) {
  Scripted model({saying("I see.")});
  Agent agent(model, options_with(work()));
  EXPECT_EQ(agent.run().reason, AgentEnd::Reason::done);
  const std::size_t messages = agent.messages().size();
  for (const AgentEnd& again : {agent.run(), agent.resume({}), agent.run()}) {
    EXPECT_EQ(again.reason, AgentEnd::Reason::usage);
    EXPECT_EQ(again.sentence, "an Agent runs once, and this one has run");
    ASSERT_TRUE(again.error);
    EXPECT_EQ(again.error->code(), ErrorCode::usage);
    EXPECT_EQ(name_of(again.reason), "usage");
  }
  EXPECT_EQ(model.asked.size(), 1U);
  EXPECT_EQ(agent.messages().size(), messages);
}

TEST(Agent, SendsBackAReplyThatWaitsForAResult) {
  AgentReply waiting = saying("I will run it.");
  waiting.awaits_result = true;
  Scripted model({waiting, saying("Done.")});
  const AgentEnd end = Agent(model, options_with(work())).run();
  EXPECT_EQ(end.reason, AgentEnd::Reason::done);
  EXPECT_EQ(end.turns, 2U);
  EXPECT_NE(model.asked[1].back().content.find("waits for the result of a call"), std::string::npos);
  Scripted stubborn({waiting});
  const AgentEnd gave_up = Agent(stubborn, options_with(work())).run();
  EXPECT_EQ(gave_up.reason, AgentEnd::Reason::gave_up);
  EXPECT_EQ(gave_up.turns, 4U);
  AgentReply called = calling({"{}"});
  called.awaits_result = true;
  Scripted usual({called, saying("Done.")});
  EXPECT_EQ(Agent(usual, options_with(work())).run().turns, 2U) << "behind a call it is as it has to be";
}

TEST(Agent, KnowsHowTheLastReplyOfAnEarlierRunEnded) {
  for (const auto& [length, awaits] :
       std::vector<std::pair<bool, bool>>{{true, false}, {false, true}, {false, false}}) {
    AgentHistory history{.turns = 1, .length = length, .awaits_result = awaits};
    history.messages = {{.role = "user", .content = "Do it"}, {.role = "assistant", .content = "I will"}};
    Scripted model({saying("Done.")});
    const AgentEnd end = Agent(model, options_with(work())).resume(history);
    EXPECT_EQ(end.reason, AgentEnd::Reason::done);
    EXPECT_EQ(model.asked.size(), length || awaits ? 1U : 0U);
  }
}

TEST(Agent, WithoutAFunctionThatSamplesIsMisused) {
  const RequestReader reader(*Template::compile("{{ messages[0].content }}"));
  const CallbackTokenizer tokenizer({});
  const std::unique_ptr<AgentModel> model =
      make_session_model({.reader = reader, .tokenizer = tokenizer, .sample = {}});
  const AgentEnd end = Agent(*model, options_with(work())).run();
  EXPECT_EQ(end.reason, AgentEnd::Reason::usage);
  EXPECT_EQ(end.turns, 0U);
  ASSERT_TRUE(end.error);
  EXPECT_EQ(end.error->code(), ErrorCode::usage);
  EXPECT_EQ(end.sentence, "the model has no function that samples");
  EXPECT_EQ(end.error->hint(), "SessionModelOptions::sample gives the tokens of a reply");
}

TEST(Agent, NamesWhatIsNotVerified) {
  AgentTool tool = work();
  int runs = 0;
  tool.run = [&runs](std::string_view) -> Result<ToolOutcome> {
    const bool changes = ++runs != 2;
    return ToolOutcome{.text = "did", .changed = changes, .changes = changes ? "\"a.txt\"" : ""};
  };
  Scripted model({calling({"{}"}), saying("Done."), calling({R"({"look": 1})"}), saying("Done.")});
  EXPECT_EQ(Agent(model, options_with(tool)).run().reason, AgentEnd::Reason::done);
  EXPECT_NE(model.asked[2].back().content.find("something was changed (\"a.txt\"), and no run"), std::string::npos)
      << model.asked[2].back().content;
  AgentHistory history{.unverified = true, .changes = "\"b.txt\""};
  history.messages = {{.role = "user", .content = "Do it"}, {.role = "assistant", .content = "Done."}};
  runs = 1;
  Scripted resumed({calling({"{}"}), saying("Done.")});
  EXPECT_EQ(Agent(resumed, options_with(tool)).resume(history).reason, AgentEnd::Reason::done);
  EXPECT_NE(resumed.asked[0].back().content.find("(\"b.txt\")"), std::string::npos);
}

}  // namespace
}  // namespace parlance
