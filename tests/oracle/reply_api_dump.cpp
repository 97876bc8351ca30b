// What this library makes of replies as answers of APIs, for reply_api_oracle.py: the replies of tests/replies, parts
// of them, and random ones.
//
//     reply_api_dump COUNT SEED SHARE [FOLDER]    COUNT: of random ones; SHARE: of so many replies, one is cut at every
//     byte, too; if it is not 1, each reply is the answer of one API, of another than the reply before;
//                                                 FOLDER: files of replies like tests/replies
//
// Standard output: on each line an object with the API, the reply, what its events say, the whole answer, and the
// events of its streams, each stream of the reply cut otherwise. Begin reading at show.
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "json/writer.h"
#include "parlance/reply_api.h"
#include "reply_cases.h"
#include "reply_material.h"

namespace {

using namespace parlance;

ReplyApiOptions answer_options() { return {.id = "", .model = "m", .created = 7}; }

std::string stream(ReplyApi api, const ReplyFormat& format, const ReplyOptions& options, std::string_view reply,
                   const std::vector<std::size_t>& cuts, std::string& whole) {
  std::string events;
  const ReplyApiSink say = [&events](const ReplyApiEvent& event) {
    if (!event.name.empty() && event.data.find("{\"type\": \"" + std::string(event.name) + '"') != 0) std::abort();
    events.append(events.empty() ? "" : ", ").append(event.data);
  };
  ReplyApiWriter writer(api, answer_options());
  const auto take = [&](const ReplyEvent& event) { writer.add(event, say); };
  ReplyParser parser = *ReplyParser::make(format, options);
  writer.begin(say);
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    parser.feed(reply.substr(from, cut - from), take);
    from = cut;
  }
  parser.feed(reply.substr(from), take);
  parser.finish(take);
  writer.finish(say);
  whole = writer.to_json();
  return "[" + events + "]";
}

// ---- with everything that a server knows

ReplyApiOptions server_options(bool generate) {
  return {.id = "r9",
          .model = "m",
          .created = 1700000000,
          .usage_at_start = ReplyUsage{.input_tokens = 30, .cached_tokens = 20},
          .choice = 2,
          .stream_usage = true,
          .reasoning_names = ReasoningNames::reasoning,
          .sign_reasoning = [](std::string_view text) { return "s" + std::to_string(text.size()); },
          .reasoning_summary = !generate,
          .encrypt_reasoning = seal_reasoning,
          .request_members = {{"temperature", "0.5"},
                              {"instructions", "\"Be brief.\""},
                              {"metadata", "null"},
                              {"tools", R"([{"type": "function", "name": "f", "parameters": {}, "strict": false}])"},
                              {"input", "[]"}},
          .generate = generate};
}

const ReplyOutcome kOutcome = {
    .usage = ReplyUsage{.input_tokens = 30, .output_tokens = 12, .cached_tokens = 20, .reasoning_tokens = 5},
    .stop_sequence = "STOP",
    .times = ReplyTimes{.total = 10, .load = 2, .prompt = 3, .eval = 5}};

/// The events and the whole; each three bytes are a token. `fails`: the engine is gone after half of the reply.
std::string server_stream(ReplyApi api, const ReplyFormat& format, const ReplyOptions& options, std::string_view reply,
                          bool fails) {
  Json events('[');
  const ReplyApiSink say = [&events](const ReplyApiEvent& event) { events.item(event.data); };
  ReplyApiWriter writer(api, server_options(reply.size() % 2 == 1));
  const auto take = [&](const ReplyEvent& event) { writer.add(event, say); };
  ReplyParser parser = *ReplyParser::make(format, options);
  writer.begin(say);
  const std::string_view fed = reply.substr(0, fails ? reply.size() / 2 : reply.size());
  for (std::size_t at = 0; at < fed.size(); at += 3) {
    const ReplyLogprob::Alternative other = {"x", -2.25};
    const ReplyLogprob token = {fed.substr(at, 3), -0.5, std::span(&other, 1)};
    writer.add_logprobs(std::span(&token, 1));
    parser.feed(fed.substr(at, 3), take);
  }
  if (!fails) parser.finish(take);
  fails ? writer.fail({.status = 529, .message = "the engine is gone"}, say) : writer.finish(say, kOutcome);
  return Json('{').raw("events", events.take()).raw("whole", writer.to_json()).take();
}

struct Choices {
  std::mt19937_64 random;
  std::size_t share;  // of so many replies, one is cut at every byte
  std::size_t shown = 0;

  /// Which APIs' answer a reply is: all, or the next one.
  std::vector<std::string_view> apis() {
    const auto names = reply_api_names();
    if (share == 1) return {names.begin(), names.end()};
    return {names[shown++ % names.size()]};
  }
};

/// What the events say, and the message they amount to.
struct Said {
  std::string content, reasoning;
  ReplyMessage message;
};

Said said_by(const ReplyFormat& format, const ReplyOptions& options, std::string_view reply) {
  Said said;
  const auto take = [&said](const ReplyEvent& event) {
    if (event.kind == ReplyEvent::Kind::content) said.content += event.text;
    if (event.kind == ReplyEvent::Kind::reasoning) said.reasoning += event.text;
    said.message.add(event);
  };
  ReplyParser parser = *ReplyParser::make(format, options);
  parser.feed(reply, take);
  parser.finish(take);
  return said;
}

void show(const ReplyFormat& format, const ReplyOptions& options, const std::string& reply, Choices& choices) {
  std::mt19937_64& random = choices.random;
  const Said said = said_by(format, options, reply);
  std::vector<std::vector<std::size_t>> all_cuts(2);
  if (!reply.empty()) all_cuts[1].push_back(random() % (reply.size() + 1));
  std::vector<std::size_t> sizes = {7};
  if (random() % choices.share == 0) sizes.push_back(1);
  for (const std::size_t size : sizes) {
    auto& cuts = all_cuts.emplace_back();
    for (std::size_t at = size; at < reply.size(); at += size) cuts.push_back(at);
  }
  for (const std::string_view name : choices.apis()) {
    const ReplyApi api = *reply_api_named(name);
    ReplyApiWriter alone(api, answer_options());  // nobody listens
    const auto take = [&alone](const ReplyEvent& event) { alone.add(event); };
    ReplyParser parser = *ReplyParser::make(format, options);
    parser.feed(reply, take);
    parser.finish(take);
    alone.finish();
    Json streams('[');
    std::string whole;
    for (const auto& cuts : all_cuts) {
      streams.item(stream(api, format, options, reply, cuts, whole));
      if (whole != alone.to_json()) std::abort();
    }
    Json line('{');
    line.text("api", name).text("reply", reply).text("content", said.content).text("reasoning", said.reasoning);
    line.raw("message", said.message.to_json()).raw("whole", whole).raw("streams", streams.take());
    line.raw("server", server_stream(api, format, options, reply, false));
    line.raw("failed", server_stream(api, format, options, reply, true));
    std::cout << line.take() << '\n';
  }
}

/// As it is, and where all tools that it calls are custom ones.
void show_both(const ReplyFormat& format, ReplyOptions options, const std::string& reply, Choices& choices) {
  options.check_calls = true;
  show(format, options, reply, choices);
  const ReplyMessage message = testing::message_of(format, options, reply);
  std::set<std::string> names;
  for (const ReplyCall& call : message.calls) names.insert(call.name);
  if (names.empty()) return;
  Json tools('[');
  for (const std::string& name : names) tools.item(Json('{').text("type", "custom").text("name", name).take());
  options.tools = *ReplyTools::from_json(tools.take());
  show(format, options, reply, choices);
}

/// Custom calls as models write them, and as they do not: what the replies of tests/replies have little of.
constexpr const char* kCustom[] = {R"({"input": "a \"b\" \\ \u00e9 \ud83d\ude42\n"})",
                                   R"({ "input" : "" })",
                                   R"({"input": "a", "more": [1]})",
                                   R"({"code": "x"})",
                                   "{}",
                                   R"({"input": "a\ud83d)",
                                   R"({"input": "abc)",
                                   R"({"inp)",
                                   R"({"input": 1 + 1}})",
                                   R"({"input": nope})"};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 2;
  Choices choices = {std::mt19937_64(std::strtoull(argv[2], nullptr, 10)), std::strtoull(argv[3], nullptr, 10)};
  if (choices.share == 0) return 2;
  std::mt19937_64& random = choices.random;
  const auto families = argc == 5 ? parlance::testing::load_reply_cases(argv[4]) : parlance::testing::reply_families();
  const ReplyFormat& hermes = parlance::testing::format_of("terminal-agent");
  for (const char* const arguments : kCustom) {
    const std::string call =
        std::string("<think>\nr\n</think>\n\nc<tool_call>\n{\"name\": \"run\", \"arguments\": ") + arguments;
    show_both(hermes, {}, call, choices);
    show_both(hermes, {},
              call + "}\n</tool_call>\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"n\": 1}}\n</tool_call>",
              choices);
  }
  for (const auto& family : families) {
    for (const auto& one : family.cases) show_both(family.format, one.options, one.reply, choices);
  }
  for (long count = std::strtol(argv[1], nullptr, 10); count > 0; --count) {
    const auto& family = families[random() % families.size()];
    const auto& one = family.cases[random() % family.cases.size()];
    std::string reply = one.reply;
    switch (random() % 3) {
      case 0: reply.resize(random() % (reply.size() + 1)); break;
      case 1: reply = parlance::testing::mutated(std::move(reply), random); break;
      default: reply = parlance::testing::random_reply(family.format, random); break;
    }
    show_both(family.format, one.options, reply, choices);
  }
}
