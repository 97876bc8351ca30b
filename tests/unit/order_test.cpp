// Results in another order than their calls: what the pass order-results makes of them, what the prompt's paths say
// then, and where LossFinder names them. The law over the corpus is tests/order_test.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "conversation/result_order.h"
#include "parlance/conversation.h"
#include "parlance/losses.h"
#include "unit/value_as_json.h"

namespace parlance {
namespace {

constexpr const char* kNothingShown =
    "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}[{{ c.function.name }}]{% endfor %};"
    "{% endfor %}";
constexpr const char* kIdsShown = "{% for m in messages %}{{ m.tool_call_id }}={{ m.content }};{% endfor %}";
constexpr const char* kNamesShown = "{% for m in messages %}{{ m.name }}={{ m.content }};{% endfor %}";
/// Prints the name of the call that it finds by the id.
constexpr const char* kNamesFound =
    "{% for m in messages %}{% for a in messages %}{% for c in a.tool_calls or [] if c.id == m.tool_call_id %}"
    "{{ c.function.name }}{% endfor %}{% endfor %}={{ m.content }};{% endfor %}";
constexpr const char* kNoResults = "{% for m in messages if m.role != 'tool' %}{{ m.content }};{% endfor %}";
/// Puts the results into the order of the calls by itself.
constexpr const char* kOrders =
    "{% for m in messages %}{% for c in m.tool_calls or [] %}{% for r in messages if r.tool_call_id == c.id %}"
    "{{ r.content }};{% endfor %}{% endfor %}{% endfor %}";

using Order = std::array<int, 3>;

std::string request_with(const std::string& calls, const std::string& results) {
  return R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "", "tool_calls": [)" +
         calls + "]}, " + results + "]}";
}

std::string call(const std::string& id, const std::string& name) {
  return (id.empty() ? "{" : R"({"id": ")" + id + R"(", )") + R"("function": {"name": ")" + name + R"("}})";
}

/// Members of a result, such as those that name its call.
std::string result(const std::string& members, const std::string& content) {
  return R"({"role": "tool", )" + members + R"("content": ")" + content + R"("})";
}
std::string result_of(const std::string& id, const std::string& content) {
  return result(R"("tool_call_id": ")" + id + R"(", )", content);
}

/// Three results in an order; `by_name`: the calls have no ids.
std::string in_order(const Order& order, bool by_name) {
  std::string calls, results;
  for (int number = 0; number < 3; ++number) {
    const std::string text = std::to_string(number);
    calls += (number > 0 ? ", " : "") + (by_name ? call("", "look" + text) : call("id" + text, "look"));
  }
  for (const int number : order) {
    const std::string text = std::to_string(number);
    results += (results.empty() ? "" : ", ") + (by_name ? result(R"("name": "look)" + text + "\", ", "result" + text)
                                                        : result_of("id" + text, "result" + text));
  }
  return request_with(calls, results);
}

Conversation read_chat(const std::string& request, std::initializer_list<std::string_view> passes = {}) {
  Result<Conversation> chat = Conversation::from_json(request, {.passes = *Passes::of(passes)});
  EXPECT_TRUE(chat) << chat.error().display();
  return *std::move(chat);
}

/// The prompt, and behind it what is said of the order.
std::string prompt_with_order(const char* text, const Conversation& chat, const LossOptions& options = {}) {
  const Result<Template> made = Template::compile(text);
  EXPECT_TRUE(made) << made.error().display();
  Workspace workspace;
  const Result<CheckedRendering> prompt = LossFinder(*made, options).render(chat, {}, workspace);
  EXPECT_TRUE(prompt) << prompt.error().display();
  std::string all(prompt->rendering.text());
  for (const Loss& loss : prompt->losses) {
    if (loss.subject == "order") all += " " + loss.display();
  }
  return all;
}
/// Where something is said of the order: a path; "" if nowhere.
std::string path_told(const char* text, const Conversation& chat, const LossOptions& options = {}) {
  const Template made = *Template::compile(text);
  Workspace workspace;
  const Result<CheckedRendering> prompt = LossFinder(made, options).render(chat, {}, workspace);
  EXPECT_TRUE(prompt) << prompt.error().display();
  for (const Loss& loss : prompt->losses) {
    if (loss.subject == "order") return loss.path;
  }
  return {};
}

template <typename Try>
void for_each_order(Try attempt) {
  Order order{0, 1, 2};
  do {
    SCOPED_TRACE(::testing::PrintToString(order));
    attempt(order);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Order, EachOrderOfThreeResultsBecomesThatOfTheCalls) {
  for (const bool by_name : {false, true}) {
    const std::string right = prompt_with_order(kNothingShown, read_chat(in_order({0, 1, 2}, by_name)));
    for_each_order([&](const Order& order) {
      const Conversation chat = read_chat(in_order(order, by_name), {"order-results"});
      EXPECT_EQ(prompt_with_order(kNothingShown, chat), right);
      for (int place = 0; place < 3; ++place) {
        const std::string note =
            "messages[" + std::to_string(place + 2) + "]: moved, in the order of the calls (order-results)";
        EXPECT_EQ(std::ranges::count(chat.notes(), note), order[static_cast<std::size_t>(place)] == place ? 0 : 1)
            << note;
      }
    });
  }
}

TEST(Order, ALossIsToldWhereThePromptShowsNothingOfTheCalls) {
  for_each_order([](const Order& order) {
    const bool is_ordered = std::ranges::is_sorted(order);
    const Conversation by_id = read_chat(in_order(order, false)), by_name = read_chat(in_order(order, true));
    EXPECT_EQ(path_told(kNothingShown, by_id).empty(), is_ordered);
    EXPECT_EQ(path_told(kNothingShown, by_name).empty(), is_ordered);
    EXPECT_EQ(path_told(kNamesShown, by_id).empty(), is_ordered);  // which all are `look`
    EXPECT_EQ(path_told(kNamesFound, by_id).empty(), is_ordered);
    for (const char* const text : {kIdsShown, kNoResults, kOrders}) EXPECT_EQ(path_told(text, by_id), "") << text;
    EXPECT_EQ(path_told(kNamesShown, by_name), "");
  });
}

TEST(Order, TheLossNamesTheFirstResultThatIsNotInItsPlace) {
  EXPECT_EQ(prompt_with_order(kNothingShown, read_chat(in_order({0, 2, 1}, false))),
            "hi;[look][look][look];result0;result2;result1; messages[3]: stands in front of messages[4], the result of "
            "an earlier call, and the prompt does not say which call each of them answers; give results in the order "
            "of their calls, or the pass order-results does it");
  EXPECT_EQ(path_told(kNothingShown, read_chat(in_order({2, 0, 1}, false))), "messages[2]");
}

TEST(Order, ANameThatIsFoundByTheIdShowsTheCall) {
  const std::string results = result_of("b", "B") + ", " + result_of("a", "A");
  EXPECT_EQ(path_told(kNamesFound, read_chat(request_with(call("a", "look") + ", " + call("b", "see"), results))), "");
  EXPECT_EQ(path_told(kNothingShown, read_chat(request_with(call("a", "look") + ", " + call("b", "see"), results))),
            "messages[2]");
}

TEST(Order, OfThreeTwoMayBeConfused) {
  const std::string calls = call("a", "look") + ", " + call("b", "look") + ", " + call("c", "see");
  const auto named = [](const std::string& id, const std::string& name) {
    return result(R"("tool_call_id": ")" + id + R"(", "name": ")" + name + "\", ", id);
  };
  const std::string chat =
      request_with(calls, named("c", "see") + ", " + named("b", "look") + ", " + named("a", "look"));
  EXPECT_EQ(path_told(kNamesShown, read_chat(chat)), "messages[3]");
  EXPECT_EQ(path_told(kNamesShown, read_chat(chat), {.experiments = 0}), "");
  EXPECT_EQ(path_told(kNamesShown, read_chat(request_with(calls, named("c", "see") + ", " + named("a", "look")))), "");
}

TEST(Order, ResultsThatSayTheSameAreNotConfused) {
  const std::string calls = call("a", "look") + ", " + call("b", "look");
  EXPECT_EQ(
      path_told(kNothingShown, read_chat(request_with(calls, result_of("b", "ok") + ", " + result_of("a", "ok")))), "");
}

/// The contents of the messages in their order, as the pass leaves them.
std::string ordered(const std::string& request) {
  std::string all;
  const Conversation chat = read_chat(request, {"order-results"});
  for (const Value message : chat.messages().items()) all += std::string(message["content"].text()) + " ";
  return all;
}

TEST(Order, ResultsThatNameNoCallKeepTheirPlace) {
  const std::string calls = call("a", "look") + ", " + call("b", "look"), plain = result("", "?"), sep = ", ";
  const std::string a = result_of("a", "A"), b = result_of("b", "B"), other = result_of("z", "Z");
  EXPECT_EQ(ordered(request_with(calls, b + sep + plain + sep + a)), "hi  A ? B ");
  EXPECT_EQ(ordered(request_with(calls, other + sep + b + sep + a)), "hi  Z A B ");
  EXPECT_EQ(ordered(request_with(calls, b + sep + a + sep + result_of("a", "again"))), "hi  A again B ");
  EXPECT_EQ(ordered(request_with(call("", "look") + sep + call("", "look"),
                                 result(R"("name": "look", )", "B") + sep + result(R"("name": "look", )", "A"))),
            "hi  B A ")
      << "of two calls of one name none is named";
}

TEST(Order, OnlyResultsDirectlyBehindTheirCallsAreMoved) {
  const std::string user = R"({"role": "user", "content": "now"})", sep = ", ";
  const std::string calls = call("a", "look") + ", " + call("b", "look");
  const std::string a = result_of("a", "A"), b = result_of("b", "B");
  EXPECT_EQ(ordered(request_with(calls, b + sep + user + sep + a)), "hi  B now A ");
  const std::string apart = R"({"role": "assistant", "content": "", "tool_calls": [)" + call("c", "look") + "]}";
  EXPECT_EQ(ordered(request_with(calls, apart + sep + result_of("c", "C") + sep + b + sep + a)), "hi   A B C ")
      << "calls in messages of their own";
  EXPECT_EQ(ordered(request_with(calls, b + sep + a + sep + apart + sep + result_of("c", "C"))), "hi  A B  C ");
}

TEST(Order, PathsAndNotesAreThoseOfTheRequest) {
  const Conversation chat = read_chat(in_order({2, 0, 1}, false), {"order-results", "short-ids"});
  const Template made = *Template::compile(kNothingShown);
  const Result<Rendering> prompt = made.render(chat);
  ASSERT_TRUE(prompt);
  std::string places;
  for (const Span& span : prompt->spans()) {
    if (span.message > 1 && span.input != nullptr)
      places += std::string(prompt->text().substr(span.begin, span.end - span.begin)) + " " + path_of_span(chat, span) +
                "=" + std::to_string(span.message) + " ";
  }
  EXPECT_EQ(places, "result0 messages[3].content=2 result1 messages[4].content=3 result2 messages[2].content=4 ");
  std::string notes;
  for (const std::string& note : chat.notes()) {
    if (note.find("order-results") != std::string::npos || note.find("messages[2]") != std::string::npos)
      notes += note + "\n";
  }
  EXPECT_EQ(notes,
            "messages[2]: moved, in the order of the calls (order-results)\n"
            "messages[3]: moved, in the order of the calls (order-results)\n"
            "messages[4]: moved, in the order of the calls (order-results)\n"
            "messages[2].tool_call_id: nine letters and digits in place of the id (short-ids)\n");
}

TEST(Order, ResultsOfAnotherApiHaveItsPaths) {
  const std::string request = R"({"max_tokens": 9, "messages": [{"role": "user", "content": "hi"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}},
                                      {"type": "tool_use", "id": "b", "name": "look", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "B"},
                                 {"type": "tool_result", "tool_use_id": "a", "content": "A"}]}]})";
  EXPECT_EQ(path_told(kNothingShown, read_chat(request)), "messages[2].content[0]");
  EXPECT_EQ(ordered(request), "hi  A B ");
  const Conversation chat = read_chat(request, {"order-results"});
  for (const char* const place : {"messages[2].content[0]", "messages[2].content[1]"})
    EXPECT_EQ(
        std::ranges::count(chat.notes(), place + std::string(": moved, in the order of the calls (order-results)")), 1)
        << ::testing::PrintToString(chat.notes());
}

TEST(Order, ConversationsThatGrowAreAskedOfTheirNewResultsAlone) {
  const Template made = *Template::compile(kNothingShown);
  Workspace workspace;
  Conversation chat = read_chat(in_order({1, 0, 2}, false));
  EXPECT_EQ(losses_of_order(made, chat, {}, workspace).size(), 1U);
  EXPECT_EQ(losses_of_order(made, chat, {}, workspace, 3).size(), 1U) << "the second of the two is new";
  EXPECT_EQ(losses_of_order(made, chat, {}, workspace, 4).size(), 0U);
}

TEST(Order, ManyResultsTakeNoTimeThatGrowsWithTheirPairs) {
  constexpr int kMany = 20000;
  std::string calls, results;
  for (int number = 0; number < kMany; ++number) {
    calls += (number > 0 ? ", " : "") + call("c" + std::to_string(number), "look");
    const std::string text = std::to_string(kMany - 1 - number);
    results += (number > 0 ? ", " : "") + result_of("c" + text, "r" + text);
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::string request = request_with(calls, results);
  EXPECT_EQ(path_told(kNothingShown, read_chat(request)), "messages[2]");
  EXPECT_EQ(path_told(kNothingShown, read_chat(request, {"order-results"})), "");
  EXPECT_EQ(path_told(kIdsShown, read_chat(request)), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace parlance
