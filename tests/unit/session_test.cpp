// Session: what is appended, what is kept verbatim, and what a refusal says.
#include "parlance/session.h"

#include <gtest/gtest.h>

#include "parlance/json.h"
#include "value/object.h"

namespace parlance {
namespace {

constexpr TokenId kStartToken = 301, kEndToken = 302, kPair = 256;

/// Bytes, and "ll" as one token: a reply may spell it in two.
Result<void> encode_pairs(std::string_view run, std::vector<TokenId>& ids) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    const bool pair = run.substr(i, 2) == "ll";
    ids.push_back(pair ? kPair : static_cast<unsigned char>(run[i]));
    i += pair;
  }
  return {};
}
std::string text_of(TokenId id) {
  return id == kPair         ? "ll"
         : id == kStartToken ? "<|start|>"
         : id == kEndToken   ? "<|end|>"
                             : std::string(1, static_cast<char>(id));
}
const CallbackTokenizer kTokenizer({{{kStartToken, "<|start|>", true}, {kEndToken, "<|end|>", true}},
                                    encode_pairs,
                                    text_of});

std::string shown(std::span<const TokenId> ids) {
  std::string out;
  for (TokenId id : ids) out += text_of(id);
  return out;
}

std::vector<TokenId> ids_of(std::string_view text, bool spelt_out = false) {
  std::vector<TokenId> ids;
  if (spelt_out) {
    for (unsigned char c : text) ids.push_back(c);
  } else {
    EXPECT_TRUE(encode_pairs(text, ids));
  }
  ids.push_back(kEndToken);
  return ids;
}

constexpr const char* kTurns =
    "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}";
/// Reasoning is kept in the last turn only.
constexpr const char* kForgets =
    "{% for m in messages %}<|start|>{{ m.role }}\n"
    "{% if m.reasoning_content and loop.last %}<think>{{ m.reasoning_content }}</think>\n{% endif %}"
    "{{ m.content }}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|start|>assistant\n{% endif %}";

Session begin(const char* source, const char* request = R"({"messages": [{"role": "user", "content": "Hi"}]})") {
  Conversation chat;
  EXPECT_TRUE(chat.read(request));
  auto session = Session::begin(*Template::compile(source, {.name = "t.jinja"}), kTokenizer, std::move(chat));
  EXPECT_TRUE(session) << session.error().display();
  return std::move(*session);
}

const std::vector<Message> kNext = {{.role = "assistant", .content = "hello"}, {.role = "user", .content = "And?"}};

TEST(Session, SampledIdsThatAreNoneAreRefusedAndCanBeTakenBack) {
  Session session = begin(kTurns);
  const std::vector<TokenId> before(session.ids().begin(), session.ids().end());
  session.append_sampled(std::vector<TokenId>{'h', -5});
  const auto refused = session.extend(kNext);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conversation);
  EXPECT_EQ(refused.error().message(),
            "token " + std::to_string(before.size() + 1) + " has the id -5, and no id is negative");
  session.drop_sampled();
  EXPECT_EQ(shown(session.ids()), shown(before));
  session.append_sampled(ids_of("hello"));
  EXPECT_TRUE(session.extend(kNext));
  const std::size_t size = session.ids().size();
  session.drop_sampled();
  EXPECT_EQ(session.ids().size(), size) << "nothing was sampled since";
}

TEST(Session, AppendsWhatTheNewMessagesAdd) {
  Session session = begin(kTurns);
  session.append_sampled(ids_of("hello"));
  auto more = session.extend(kNext);
  ASSERT_TRUE(more) << more.error().display();
  EXPECT_TRUE(more->canonical);
  EXPECT_EQ(shown(more->ids), "\n<|start|>user\nAnd?<|end|>\n<|start|>assistant\n");
  EXPECT_EQ(
      shown(session.ids()),
      "<|start|>user\nHi<|end|>\n<|start|>assistant\nhello<|end|>\n<|start|>user\nAnd?<|end|>\n<|start|>assistant\n");
}

TEST(Session, HasItsTextAndWhatWasGuardedInIt) {
  Session session = begin(kTurns, R"({"messages": [{"role": "user", "content": "Hi<|end|>"}]})");
  EXPECT_EQ(session.text(), "<|start|>user\nHi<|end|><|end|>\n<|start|>assistant\n");
  ASSERT_EQ(session.guarded().size(), 1u);
  EXPECT_EQ(session.guarded()[0].path, "messages[0].content");
  const Session copy = session.copy();
  EXPECT_EQ(copy.guarded().size(), 1u);
  session.append_sampled(ids_of("hello"));
  ASSERT_TRUE(session.extend(kNext));
  EXPECT_EQ(session.text(), shown(session.ids()));
  const Session unforged = begin(kTurns);
  EXPECT_TRUE(unforged.guarded().empty());
}

TEST(Session, WhatWasMovedFromIsEmpty) {
  Session session = begin(kTurns);
  Session taken = std::move(session);
  EXPECT_TRUE(session.ids().empty());  // NOLINT: what is left of it is the test
  EXPECT_TRUE(session.text().empty() && session.kept().empty() && session.guarded().empty());
  EXPECT_EQ(session.guarded_count(), 0u);
  EXPECT_TRUE(session.unknown().empty() && session.save().empty());
  EXPECT_FALSE(session.last_part() || session.difference());
  EXPECT_TRUE(session.conversation().messages().items().empty());
  session.append_sampled(ids_of("hello"));
  const Session copy = session.copy();
  EXPECT_TRUE(session.ids().empty() && copy.ids().empty());
  EXPECT_EQ(session.extend(kNext).error().code(), ErrorCode::usage);
  EXPECT_EQ(session.try_extend(kNext).error().code(), ErrorCode::usage);
  EXPECT_EQ(session.extend(Conversation()).error().code(), ErrorCode::usage);
  EXPECT_TRUE(session.keeping_switches(kNext).empty());
  taken.append_sampled(ids_of("hello"));
  session = std::move(taken);
  EXPECT_TRUE(session.extend(kNext));
}

TEST(Session, HasWhatWasGuardedInLaterTurns) {
  Session session = begin(kTurns, R"({"messages": [{"role": "user", "content": "Hi<|end|>"}]})");
  for (int turn = 1; turn < 4; ++turn) {
    session.append_sampled(ids_of("hello"));
    const auto more =
        session.extend({{{.role = "assistant", .content = "hello"}, {.role = "user", .content = "A<|end|>?"}}});
    ASSERT_TRUE(more) << more.error().display();
    ASSERT_EQ(more->guarded.size(), 1u);
    const GuardedText& one = more->guarded[0];
    EXPECT_EQ(one.path, "messages[" + std::to_string(2 * turn) + "].content");
    EXPECT_EQ(session.text().substr(one.bytes.begin, one.bytes.end - one.bytes.begin), "<|end|>");
    EXPECT_EQ(session.guarded().size(), static_cast<std::size_t>(turn) + 1);
  }
}

/// How much of a template's writing is the reply: up to its end token.
std::optional<std::size_t> up_to_end(const TwoWritings& both) {
  std::size_t size = 0;
  for (const ReplyPiece& piece : both.written) {
    size += piece.text.size();
    if (piece.control) return size;
  }
  return {};
}

// What the model says may spell a control token too, and text() has it as the template writes it.
TEST(Session, HasWhatWasGuardedInReplies) {
  constexpr const char* kTrims =
      "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content | trim }}<|end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}";
  for (const bool is_trimmed : {false, true}) {
    Session session = begin(is_trimmed ? kTrims : kTurns);
    session.append_sampled(ids_of(" a<|end|>b"));
    const std::vector<Message> next = {{.role = "assistant", .content = " a<|end|>b"},
                                       {.role = "user", .content = "?"}};
    const auto more = session.extend(next, {}, up_to_end);
    ASSERT_TRUE(more) << more.error().display();
    ASSERT_EQ(more->guarded.size(), 1u) << is_trimmed;
    EXPECT_EQ(more->guarded[0].path, "messages[1].content");
    const ByteSpan bytes = more->guarded[0].bytes;
    EXPECT_EQ(session.text().substr(bytes.begin, bytes.end - bytes.begin), "<|end|>");
  }
}

TEST(Session, ListsSomeOfWhatWasGuarded) {
  std::string many;
  for (int i = 0; i < 1500; ++i) many += "<|end|>";
  Session session = begin(kTurns, (R"({"messages": [{"role": "user", "content": ")" + many + R"("}]})").c_str());
  EXPECT_EQ(session.guarded().size(), 1024u);
  EXPECT_EQ(session.guarded_count(), 1500u);
  session.append_sampled(ids_of("hello"));
  const std::vector<Message> next = {{.role = "assistant", .content = "hello"},
                                     {.role = "user", .content = "<|end|><|end|>"}};
  const auto more = session.extend(next);
  ASSERT_TRUE(more) << more.error().display();
  EXPECT_EQ(more->guarded.size(), 2u);
  EXPECT_EQ(session.guarded_count(), 1502u);
  EXPECT_EQ(session.copy().guarded_count(), 1502u);
  session.append_sampled(ids_of("hello"));
  const std::vector<Message> third = {{.role = "assistant", .content = "hello"}, {.role = "user", .content = many}};
  const auto last = session.extend(third);
  ASSERT_TRUE(last) << last.error().display();
  EXPECT_EQ(last->guarded.size(), 1024u);
  EXPECT_EQ(last->guarded_count, 1500u);
  EXPECT_EQ(session.guarded_count(), 3002u);
}

TEST(Session, KeepsSampledIdsVerbatim) {
  Session session = begin(kTurns);
  const std::vector<TokenId> sampled = ids_of("hello", true);
  const std::size_t before = session.ids().size();
  session.append_sampled(sampled);
  auto more = session.extend(kNext);
  ASSERT_TRUE(more) << more.error().display();
  EXPECT_FALSE(more->canonical);
  EXPECT_TRUE(std::equal(sampled.begin(), sampled.end(), session.ids().begin() + static_cast<std::ptrdiff_t>(before)));
  EXPECT_EQ(shown(more->ids), "\n<|start|>user\nAnd?<|end|>\n<|start|>assistant\n");
  session.append_sampled(ids_of("all", true));
  more =
      session.extend(std::vector<Message>{{.role = "assistant", .content = "all"}, {.role = "user", .content = "x"}});
  ASSERT_TRUE(more) << more.error().display();
  EXPECT_EQ(shown(more->ids), "\n<|start|>user\nx<|end|>\n<|start|>assistant\n");
  session.append_sampled(ids_of("so"));
  more = session.extend(std::vector<Message>{{.role = "assistant", .content = "so"}});
  ASSERT_TRUE(more) << more.error().display();
  EXPECT_FALSE(more->canonical) << "what was said before is among the ids still";
}

TEST(Session, WritesTheEndThatTheModelDidNotSample) {
  Session session = begin(kTurns);
  std::vector<TokenId> sampled = ids_of("hello");
  sampled.pop_back();
  session.append_sampled(sampled);
  auto more = session.extend(kNext);
  ASSERT_TRUE(more);
  EXPECT_TRUE(shown(more->ids).starts_with("<|end|>\n<|start|>user"));
}

TEST(Session, RefusesWhatRewritesThePastAndSaysWhere) {
  Session session = begin(kForgets, R"({"messages": [{"role": "user", "content": "Hi"},
      {"role": "assistant", "reasoning_content": "hm", "content": "hello"}]})");
  const std::vector<TokenId> before(session.ids().begin(), session.ids().end());
  auto more = session.extend(std::vector<Message>{{.role = "user", .content = "And?"}});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), ErrorCode::history_rewritten);
  EXPECT_EQ(more.error().where().name, "t.jinja");
  EXPECT_EQ(more.error().where().line, 2u);
  EXPECT_EQ(more.error().input_path(), "messages[1].reasoning_content");
  ASSERT_TRUE(session.difference());
  EXPECT_EQ(session.difference()->token, 21u) << more.error().display();
  EXPECT_EQ(session.difference()->before.excerpt.substr(0, 9), "<think>hm");
  EXPECT_EQ(session.difference()->after.path, "messages[1].content");
  EXPECT_TRUE(session.difference()->changed_input.empty());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), session.ids().begin(), session.ids().end()));
  EXPECT_EQ(session.conversation().messages().list->size, 2u) << "nothing has changed";
}

/// What is kept of reasoning goes by `condition`.
std::string keeps_by(std::string_view condition) {
  return "{% for m in messages %}<|start|>{{ m.role }}\n{% if m.reasoning_content and (loop.last or " +
         std::string(condition) +
         ") %}<think>{{ m.reasoning_content }}</think>\n{% endif %}{{ m.content }}<|end|>\n{% endfor %}"
         "{% if add_generation_prompt %}<|start|>assistant\n{% if opened %}<think>{% endif %}{% endif %}";
}

std::string names_of(std::span<const KeepingSwitch> switches) {
  std::string names;
  for (const KeepingSwitch& one : switches) names += one.variable + (one.value ? "=true " : "=false ");
  return names;
}

TEST(Session, NamesTheSwitchesThatKeep) {
  const struct {
    const char* condition;
    const char* variables;
    const char* expected;
  } rows[] = {
      {"a", "", "a=true "},
      {"b is defined and not b", "", "b=false "},
      {"a or (b is defined and not b)", "", "a=true b=false "},
      {"a is defined", "", "a=true "},
      {"a", R"(, "a": false)", "a=true "},
      {"a", R"(, "a": null)", "a=true "},
      {"a", R"(, "a": "")", ""},
      {"a == 1", R"(, "a": 0)", ""},
      {"opened", "", ""},  // which changes how the reply is opened
      {"a and b", "", ""},
      {"tools", "", ""},
      {"false", "", ""},
  };
  const std::vector<Message> next = {{.role = "assistant", .content = "hello", .reasoning_content = "hm"},
                                     {.role = "user", .content = "And?"}};
  for (const auto& row : rows) {
    Session session =
        begin(keeps_by(row.condition).c_str(),
              (R"({"messages": [{"role": "user", "content": "Hi"}])" + std::string(row.variables) + "}").c_str());
    std::vector<TokenId> sampled = ids_of("<think>hm</think>\nhello", true);
    session.append_sampled(sampled);
    const std::string before = shown(session.ids());
    ASSERT_FALSE(session.extend(next)) << row.condition;
    EXPECT_EQ(names_of(session.keeping_switches(next)), row.expected) << row.condition << row.variables;
    EXPECT_EQ(shown(session.ids()), before);
    EXPECT_EQ(session.conversation().messages().items().size(), 1u);
    EXPECT_EQ(advice_of(session.keeping_switches(next)).empty(), std::string_view(row.expected).empty());
    EXPECT_TRUE(session.keeping_switches(kNext).empty()) << "another reply";
  }
}

TEST(Session, ACopyGoesOnByItself) {
  Session session = begin(kTurns, R"({"messages": [{"role": "user", "content": "Hi"}], "n": 12345678901234567890123,
      "list": [1, 2.5, null, true, {"a": "\ud83d"}]})");
  session.append_sampled(ids_of("hello", true));
  Session copy = session.copy();
  EXPECT_EQ(json_text(copy.conversation().variables()), json_text(session.conversation().variables()));
  const std::vector<TokenId> before(session.ids().begin(), session.ids().end());
  auto more = session.extend(kNext);
  ASSERT_TRUE(more) << more.error().display();
  EXPECT_EQ(shown(copy.ids()), shown(before));
  const std::vector<Message> other = {{.role = "assistant", .content = "hello"}, {.role = "user", .content = "No."}};
  auto of_copy = copy.extend(other);
  ASSERT_TRUE(of_copy) << of_copy.error().display();
  EXPECT_EQ(shown(of_copy->ids), "\n<|start|>user\nNo.<|end|>\n<|start|>assistant\n");
  EXPECT_EQ(shown(more->ids), "\n<|start|>user\nAnd?<|end|>\n<|start|>assistant\n");
  EXPECT_EQ(session.conversation().messages().list->size, 3u);
}

Result<Session> restored(std::string_view saved, const char* source = kTurns) {
  const Result<Template> chat_template = Template::compile(source);
  return Session::restore(*chat_template, kTokenizer, saved);
}

TEST(Session, GoesOnInAnotherProcess) {
  Session session =
      begin(kTurns, R"({"messages": [{"role": "user", "content": "Hi <|end|>"}], "n": 12345678901234567890123,
      "list": [1, 2.5, null, true, {"a": "\ud83d"}, "\n"], "inf": Infinity})");
  session.append_sampled(ids_of("hello", true));
  const std::string saved = session.save();
  Result<Session> other = restored(saved);
  ASSERT_TRUE(other) << other.error().display();
  EXPECT_EQ(other->save(), saved);
  EXPECT_EQ(json_text(other->conversation().variables()), json_text(session.conversation().variables()));
  ASSERT_EQ(other->guarded().size(), 1u);
  EXPECT_EQ(other->guarded()[0].path, "messages[0].content");
  EXPECT_EQ(other->text(), session.text());
  for (int turn = 0; turn < 3; ++turn) {
    auto more = session.extend(kNext), same = other->extend(kNext);
    ASSERT_TRUE(more && same);
    EXPECT_EQ(shown(more->ids), shown(same->ids));
    EXPECT_EQ(more->canonical, same->canonical);
    session.append_sampled(ids_of("hello", true));
    other->append_sampled(ids_of("hello", true));
    if (turn == 1) other = restored(other->save());
  }
  EXPECT_EQ(shown(other->ids()), shown(session.ids()));
}

TEST(Session, IsRestoredFromParts) {
  Session session = begin(kTurns, R"({"messages": [{"role": "user", "content": "Hi <|end|>"}], "n": 1})");
  session.append_sampled(ids_of("hello", true));
  const auto parts = [&session] {
    return SavedSession{.place = session.save_place(),
                        .ids = {session.ids().begin(), session.ids().end()},
                        .conversation = json_text(session.conversation().variables()),
                        .text = std::string(session.text())};
  };
  const Result<Template> chat_template = Template::compile(kTurns);
  for (int turn = 0; turn < 3; ++turn) {
    Result<Session> other = Session::restore(*chat_template, kTokenizer, parts());
    ASSERT_TRUE(other) << other.error().display();
    EXPECT_EQ(other->save(), session.save());
    auto more = session.extend(kNext), same = other->extend(kNext);
    ASSERT_TRUE(more && same);
    EXPECT_EQ(shown(more->ids), shown(same->ids));
    session.append_sampled(ids_of("hello", true));
  }
  const auto refuses = [&](auto change) {
    SavedSession changed = parts();
    change(changed);
    return !Session::restore(*chat_template, kTokenizer, changed);
  };
  EXPECT_TRUE(refuses([](SavedSession& saved) { saved.place.pop_back(); }));
  EXPECT_TRUE(refuses([](SavedSession& saved) { saved.place.clear(); }));
  EXPECT_TRUE(refuses([](SavedSession& saved) { saved.ids.clear(); }));
  EXPECT_TRUE(refuses([](SavedSession& saved) { saved.conversation.pop_back(); }));
  EXPECT_TRUE(refuses([](SavedSession& saved) { saved.text.clear(); }));
}

TEST(Session, OfAnotherTemplateItRefusesToGoOn) {
  Session session = begin(kTurns);
  session.append_sampled(ids_of("hello"));
  Result<Session> other = restored(session.save(), "{% for m in messages %}{{ m.content }}{% endfor %}");
  ASSERT_TRUE(other);
  auto more = other->extend(kNext);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), ErrorCode::history_rewritten);
}

TEST(Session, IsRestoredOfNothingButWhatWasSaved) {
  Session session = begin(kTurns);
  session.append_sampled(ids_of("hello"));
  ASSERT_TRUE(session.extend(kNext));
  const std::string saved = session.save();
  ASSERT_TRUE(restored(saved));
  for (std::size_t size = 0; size < saved.size(); ++size) EXPECT_FALSE(restored(saved.substr(0, size))) << size;
  EXPECT_FALSE(restored(saved + "x"));
  const auto with = [&saved](std::string_view member, std::string_view json) {
    const std::size_t begin = saved.find("\"" + std::string(member) + "\": ") + member.size() + 4;
    std::size_t end = begin;
    for (int depth = 0; depth > 0 || (saved[end] != ',' && saved[end] != '}'); ++end)
      depth += saved[end] == '[' ? 1 : saved[end] == ']' ? -1 : 0;
    return std::string(saved).replace(begin, end - begin, json);
  };
  EXPECT_TRUE(restored(with("guarded", "[]")));
  const std::pair<const char*, const char*> wrong[] = {{"ids", "[1, -1]"},
                                                       {"ids", "[4294967296]"},
                                                       {"ids", "{}"},
                                                       {"ids", "[1.5]"},
                                                       {"ids", "[]"},
                                                       {"sampled_from", "1000"},
                                                       {"before", "1000"},
                                                       {"anchor", "1000"},
                                                       {"anchor_byte", "1000"},
                                                       {"landmarks", "[1]"},
                                                       {"landmarks", "[0, 5, 3]"},
                                                       {"landmarks", "[1000, 1]"},
                                                       {"landmarks", "[0, 1000]"},
                                                       {"guarded", "[[3, 1, 0, \"\"]]"},
                                                       {"guarded", "[[0, 1, 0]]"},
                                                       {"messages", "9"},
                                                       {"conversation", "9000"},
                                                       {"conversation", "0"},
                                                       {"text", "0"},
                                                       {"canonical", "1"},
                                                       {"kept", "[[1, 1000, 0, 1]]"},
                                                       {"kept", "[[0, 1, 0, 1000]]"},
                                                       {"kept", "[[3, 4, 0, 1], [1, 2, 2, 3]]"},
                                                       {"kept", "[[0, 1, 0]]"},
                                                       {"dropped", "1000"},
                                                       {"format", "1"},
                                                       {"format", "\"1\""}};
  for (const auto& [member, json] : wrong) EXPECT_FALSE(restored(with(member, json))) << member << " " << json;
}

TEST(Session, ACopyRefusesAndNamesThePlace) {
  const char* const request = R"({"messages": [{"role": "user", "content": "Hi"},
      {"role": "assistant", "reasoning_content": "hm", "content": "hello"}]})";
  Session copy = begin(kForgets, request).copy();
  auto more = copy.extend(std::vector<Message>{{.role = "user", .content = "And?"}});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().where().line, 2u);
  EXPECT_EQ(more.error().input_path(), "messages[1].reasoning_content");
}

std::string whole_prompt(const char* source, const Session& session) {
  const Result<Template> chat_template = Template::compile(source);
  const Result<Rendering> prompt = chat_template->render(session.conversation());
  return std::string(prompt->text());
}

// What a template makes of numbers lies where it lay in the last render, with other bytes.
TEST(Session, SeesThatDerivedTextChanged) {
  Session session =
      begin("{{ messages|length }} so far\n{% for m in messages %}<|start|>{{ m.content }}<|end|>{% endfor %}");
  for (int turn = 0; turn < 3; ++turn) {
    const std::vector<Message> one = {{.role = "user", .content = "hello"}};
    auto more = session.extend(one);
    ASSERT_FALSE(more);
    EXPECT_EQ(session.difference()->byte, 0u);
    EXPECT_EQ(session.difference()->after.excerpt.substr(0, 1), "2");
    EXPECT_EQ(session.conversation().messages().items().size(), 1u);
  }
}

TEST(Session, GoesOnWithDerivedTextThatStays) {
  constexpr const char* kNumbers =
      "{{ messages[0]|tojson }}{% for m in messages %}<|start|>{{ loop.index }} {{ m.role|upper }} {{ m|tojson "
      "}}<|end|>"
      "{% endfor %}";
  Session session = begin(kNumbers);
  std::string all = shown(session.ids());
  for (int turn = 0; turn < 30; ++turn) {
    const std::vector<Message> one = {{.role = turn % 2 == 0 ? "assistant" : "user", .content = std::to_string(turn)}};
    auto more = session.extend(one);
    ASSERT_TRUE(more) << more.error().display();
    all += shown(more->ids);
  }
  EXPECT_EQ(all, whole_prompt(kNumbers, session));
}

// Messages that are added, a whole conversation in their place, a refusal, and messages again.
TEST(Session, GoesOnInAWholeConversationAndByMessages) {
  Session session = begin(kTurns);
  const auto whole = [](const std::string& last) {
    Conversation chat;
    EXPECT_TRUE(chat.read(R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "hello"},
                             {"role": "user", "content": ")" +
                          last + "\"}]}"));
    return chat;
  };
  ASSERT_TRUE(session.extend(kNext));
  const std::vector<Message> yes = {{.role = "assistant", .content = "Yes"}};
  ASSERT_TRUE(session.extend(yes));
  EXPECT_FALSE(session.extend(whole("Other?")));
  const std::vector<Message> more = {{.role = "user", .content = "Go"}, {.role = "assistant", .content = "on"}};
  for (const Message& message : more) ASSERT_TRUE(session.extend(std::span(&message, 1)));
  EXPECT_EQ(shown(session.ids()), whole_prompt(kTurns, session));

  Session other = begin(kTurns);
  ASSERT_TRUE(other.extend(whole("And?")));
  for (const Message& message : kNext) ASSERT_TRUE(other.extend(std::span(&message, 1)));
  EXPECT_EQ(shown(other.ids()), whole_prompt(kTurns, other));
}

/// A past that is looked at again and again, with refusals in between: what was refused leaves nothing behind.
TEST(Session, ForgetsWhatItRefused) {
  constexpr const char* kSource =
      "{{ '!' if messages[-1].content == 'bad' }}{% set ns = namespace(last=-1) %}{% for m in messages %}"
      "{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}"
      "{% for m in messages %}<|start|>{{ m.role }} {{ m.name if loop.index0 > ns.last }}{{ m.content }}<|end|>{% "
      "endfor %}";
  Session session = begin(kSource);
  std::string all = shown(session.ids());
  for (int turn = 0; turn < 40; ++turn) {
    const std::vector<Message> bad = {{.role = "user", .content = "other"}, {.role = "user", .content = "bad"}};
    EXPECT_TRUE(turn % 3 != 2 || !session.extend(bad));
    const std::vector<Message> good = {{.role = turn % 2 == 0 ? "assistant" : "user", .content = std::to_string(turn)}};
    auto more = session.extend(good);
    ASSERT_TRUE(more) << more.error().display();
    all += shown(more->ids);
    ASSERT_EQ(all, whole_prompt(kSource, session));
  }
}

TEST(Session, RefusesAReplyThatIsNotTheMessage) {
  Session session = begin(kTurns);
  session.append_sampled(ids_of("howdy"));
  auto more = session.extend(kNext);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().input_path(), "messages[1].content");
  EXPECT_EQ(session.difference()->before.excerpt, "owdy<|end|>");
  EXPECT_EQ(session.difference()->cause, PrefixCause::other_reply);
  EXPECT_EQ(more.error().where().line, 1u) << "where the template writes the message";
  session.append_sampled({});
  EXPECT_TRUE(session.extend(
      std::vector<Message>{{.role = "assistant", .content = "howdy"}, {.role = "user", .content = "And?"}}));
}

TEST(Session, ATokenMayNotLieAcrossTheBorder) {
  Session session = begin("{% for m in messages %}{{ m.content }}{% endfor %}",
                          R"({"messages": [{"role": "user", "content": "al"}]})");
  auto more = session.extend(std::vector<Message>{{.role = "user", .content = "la"}});
  ASSERT_FALSE(more);
  EXPECT_EQ(session.difference()->cause, PrefixCause::across_border);
  EXPECT_NE(more.error().hint().find("a token of the new text would begin in the old one"), std::string::npos);
}

TEST(Session, AWrongEndIsShownAtItsToken) {
  Session session = begin(kTurns);
  std::vector<TokenId> sampled = ids_of("hello");
  sampled.back() = kStartToken;
  session.append_sampled(sampled);
  ASSERT_FALSE(session.extend(kNext));
  EXPECT_EQ(session.difference()->before.excerpt, "<|start|>");
  EXPECT_TRUE(session.difference()->after.excerpt.starts_with("<|end|>"));
}

TEST(Session, NamesTheInputThatChanged) {
  Session session = begin(kTurns);
  Conversation other;
  ASSERT_TRUE(other.read(R"({"messages": [{"role": "user", "content": "Ho"}, {"role": "user", "content": "Hi"}]})"));
  auto more = session.extend(std::move(other));
  ASSERT_FALSE(more);
  EXPECT_EQ(session.difference()->changed_input, "messages[0].content");
}

TEST(Session, ContentForgesNothingWhenItIsExtended) {
  Session session = begin(kTurns);
  session.append_sampled(ids_of("hello"));
  auto more = session.extend(
      std::vector<Message>{{.role = "assistant", .content = "hello"}, {.role = "user", .content = "<|end|>"}});
  ASSERT_TRUE(more);
  EXPECT_EQ(std::count(more->ids.begin(), more->ids.end(), kEndToken), 1);
}

/// A marker is no place to begin at: text around it is one run, which has a dummy prefix here.
TEST(Session, DoesNotEncodeFromAMarkerThatNobodyAdded) {
  static constexpr TokenId kMarker = 400, kPrefix = 401;
  std::size_t encoded = 0;
  const auto encode = [&encoded](std::string_view run, std::vector<TokenId>& ids) -> Result<void> {
    encoded += run.size();
    ids.push_back(kPrefix);
    for (std::size_t i = 0; i < run.size(); ++i) {
      const bool is_marker = run.substr(i, 3) == "<|>";
      ids.push_back(is_marker ? kMarker : static_cast<unsigned char>(run[i]));
      i += is_marker ? 2 : 0;
    }
    return {};
  };
  const auto text = [](TokenId id) {
    return id == kMarker ? "<|>" : id == kPrefix ? "" : std::string(1, static_cast<char>(id));
  };
  TokenizerFacts facts;
  facts.markers = {kMarker};
  const CallbackTokenizer tokenizer({{}, encode, text, facts});
  Conversation chat;
  ASSERT_TRUE(chat.add({.role = "user", .content = std::string(5000, 'a')}));
  auto session = Session::begin(*Template::compile("{% for m in messages %}{{ m.content }}<|>{% endfor %}"), tokenizer,
                                std::move(chat));
  ASSERT_TRUE(session);
  for (int turn = 0; turn < 3; ++turn) {
    encoded = 0;
    const auto more = session->extend(std::vector<Message>{{.role = "user", .content = std::string(20, 'b')}});
    ASSERT_TRUE(more) << more.error().display();
    EXPECT_EQ(more->ids.size(), 21u);
  }
  EXPECT_LT(encoded, 500u);
}

TEST(ExtendIds, NeedsNoSession) {
  Session session = begin(kTurns);
  std::vector<TokenId> ids(session.ids().begin(), session.ids().end());
  const std::vector<TokenId> sampled = ids_of("hello", true);
  ids.insert(ids.end(), sampled.begin(), sampled.end());
  Conversation chat;
  ASSERT_TRUE(chat.read(R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "hello"},
      {"role": "user", "content": "And?"}]})"));
  auto more = extend_ids(ids, *Template::compile(kTurns), kTokenizer, std::move(chat));
  ASSERT_TRUE(more) << more.error().display();
  EXPECT_EQ(shown(more->ids), "\n<|start|>user\nAnd?<|end|>\n<|start|>assistant\n");
}

TEST(ExtendIds, FindsWhatTheIdsWereMadeOf) {
  Session session = begin(kForgets, R"({"messages": [{"role": "user", "content": "Hi"},
      {"role": "assistant", "reasoning_content": "hm", "content": "hello"}]})");
  Conversation chat;
  ASSERT_TRUE(chat.read(R"({"messages": [{"role": "user", "content": "Hi"},
      {"role": "assistant", "reasoning_content": "hm", "content": "hello"}, {"role": "user", "content": "And?"}]})"));
  auto more = extend_ids(session.ids(), *Template::compile(kForgets, {.name = "t.jinja"}), kTokenizer, std::move(chat));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().input_path(), "messages[1].reasoning_content");
  EXPECT_EQ(more.error().where().line, 2u);
}

TEST(Session, APlaceBehindADummyPrefixIsOfThePrompt) {
  const auto with_blank = [](std::string_view run, std::vector<TokenId>& ids) {
    ids.push_back(' ');
    return encode_pairs(run, ids);
  };
  const CallbackTokenizer tokenizer({{{kStartToken, "<|start|>", true}}, with_blank, text_of});
  const Template forgets =
      *Template::compile("{% for m in messages %}{{ m.content }}{{ m.name if loop.last else '' }};{% endfor %}");
  Conversation chat;
  ASSERT_TRUE(chat.read(
      R"({"messages": [{"role": "user", "content": "abc", "name": "well"}, {"role": "user", "content": "B"}]})"));
  std::vector<TokenId> ids;
  ASSERT_TRUE(with_blank("abcwell;", ids));
  const auto more = extend_ids(ids, forgets, tokenizer, std::move(chat));
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().message().find("from byte 3 (token 4) on the prompt is \";B;\""), std::string::npos)
      << more.error().message();
  EXPECT_NE(more.error().message().find("it was \"well;\""), std::string::npos) << more.error().message();
}

/// Where only tokens differ, the byte is known by the tokens' places alone, and ids may be all that there is.
TEST(ComparePrompts, TakesIdsWithoutTokens) {
  const Template chat_template = *Template::compile("{{ messages[0].content }}");
  const auto chat_of = [](const char* content) {
    Conversation chat;
    EXPECT_TRUE(chat.add({.role = "user", .content = content}));
    return chat;
  };
  const Conversation first = chat_of("hel"), second = chat_of("hello");
  const Rendering before = *chat_template.render(first), after = *chat_template.render(second);
  PromptTokens old, now;
  old.ids = {'h', 'e', 'l'};
  now.ids = {'h', 'e', kPair, 'o'};
  const PromptView old_view{.rendering = before, .conversation = first, .tokens = &old};
  const PromptView new_view{.rendering = after, .conversation = second, .tokens = &now};
  std::optional<PrefixDifference> found = compare_prompts(old_view, new_view);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->token, 2u);
  EXPECT_EQ(found->byte, 3u);
  old.tokens = {{.id = 'h', .bytes = {0, 1}}, {.id = 'e', .bytes = {1, 2}}, {.id = 'l', .bytes = {2, 3}}};
  found = compare_prompts(old_view, new_view);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->byte, 2u);
}

}  // namespace
}  // namespace parlance
