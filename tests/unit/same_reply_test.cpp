// Replies that a template writes otherwise than they were sampled: which of them are the same, and what a session
// keeps.
#include <gtest/gtest.h>

#include <algorithm>

#include "parlance/sampled_reply.h"

namespace parlance {
namespace {

constexpr TokenId kStartMark = 301, kEndMark = 302, kThinkMark = 303, kThoughtMark = 304, kReturnMark = 305;

std::string spelling_of(TokenId id) {
  return id == kStartMark     ? "<|start|>"
         : id == kEndMark     ? "<|end|>"
         : id == kThinkMark   ? "<think>"
         : id == kThoughtMark ? "</think>"
         : id == kReturnMark  ? "<|return|>"
                              : std::string(1, static_cast<char>(id));
}

Result<void> encode_each_byte(std::string_view run, std::vector<TokenId>& ids) {
  for (const char c : run) ids.push_back(static_cast<unsigned char>(c));
  return {};
}

const CallbackTokenizer kMarks({{{kStartMark, "<|start|>", true},
                                 {kEndMark, "<|end|>", true},
                                 {kThinkMark, "<think>", false},
                                 {kThoughtMark, "</think>", false},
                                 {kReturnMark, "<|return|>", true}},
                                encode_each_byte,
                                spelling_of});
/// Knows none of the template's marks.
const CallbackTokenizer kNoMarks({{}, encode_each_byte, spelling_of});

std::vector<TokenId> encoded_by(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<EncodedToken> tokens;
  EXPECT_TRUE(tokenizer.encode(text, nullptr, tokens));
  std::vector<TokenId> ids;
  for (const EncodedToken& token : tokens) ids.push_back(token.id);
  return ids;
}

std::string spelling(std::span<const TokenId> ids) {
  std::string out;
  for (const TokenId id : ids) out += spelling_of(id);
  return out;
}

/// `prompt`: what opens the turn. Special tokens count only as such.
ReplyStart way_to_read(const char* prompt = "<|start|>assistant\n", bool has_end = true) {
  Result<ReplyFormat> format = ReplyFormat::from_json(
      R"({"prompt": "<|start|>assistant\n", "reasoning": {"open": "<think>\n", "close": "\n</think>\n\n"}, "calls":
          [{"call": ["<call>\n", {"object": {"name": "name", "arguments": "arguments"}}, "\n</call>"]}], "end": )"
      R"(["<|end|>"]})");
  EXPECT_TRUE(format) << format.error().display();
  if (!has_end) format->end.clear();
  const std::vector<std::string> control = {"<|start|>", "<|end|>"};
  ReplyStart made{*CompiledReplyFormat::make(format->with_control(control))};
  made.options.prompt = prompt;
  return made;
}

/// Of a model that ends a reply with <|return|>, for which histories have <|end|>.
ReplyStart way_to_read_format(const std::string& json, const char* prompt) {
  const Result<ReplyFormat> format = ReplyFormat::from_json(json);
  EXPECT_TRUE(format) << format.error().display();
  const std::vector<std::string> control = {"<|start|>", "<|end|>", "<|return|>"};
  ReplyStart made{*CompiledReplyFormat::make(format->with_control(control))};
  made.options.prompt = prompt;
  return made;
}

const char* const kReturning[] = {
    // <|end|> only closes a part of a reply
    R"({"prompt": "<|start|>assistant\n", "reasoning": {"open": "<think>\n", "close": "<|end|>"},
        "end": ["<|return|>"]})",
    R"({"prompt": "<|start|>assistant\n", "reasoning": {"open": "<think>\n", "close": "<|end|>"}, "end": ["<|call|>"],
        "last": ["<|end|>", "<|return|>"]})",
    // or ends it as well
    R"({"prompt": "<|start|>assistant\n", "reasoning": {"open": "<think>\n", "close": "</think>"},
        "end": ["<|end|>", "<|return|>"]})",
    R"({"prompt": "<|start|>assistant\n", "reasoning": {"open": "<think>\n", "close": "</think>"}, "end": ["<|end|>"],
        "last": "<|return|>"})"};

std::vector<ReplyPiece> reply_pieces(std::string_view text) {
  std::vector<ReplyPiece> pieces;
  for (const TokenId id : encoded_by(kMarks, text)) pieces.push_back({spelling_of(id), id > 300});
  return pieces;
}

std::optional<std::size_t> same_size(const ReplyStart& how, std::string_view sampled, std::string_view written,
                                     std::size_t dropped = 0) {
  const SameReply judge = same_when_read([&]() -> Result<ReplyStart> { return how; });
  return judge({.sampled = reply_pieces(sampled), .written = reply_pieces(written), .dropped = dropped});
}

constexpr std::string_view kOneCall = "<call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"x\", \"n\": 1}}\n</call>";
constexpr std::string_view kBehind = "\n<|start|>user\nAnd?<|end|>\n<|start|>assistant\n";
const std::string kThinking = "<think>\nHm.\n</think>\n\n";

TEST(SameReply, IsOneThatIsReadAsTheSameMessage) {
  const std::string written = kThinking + std::string(kOneCall) + "<|end|>";
  const std::string sampled[] = {
      written,
      "<think>\nHm.</think>\n\n" + std::string(kOneCall) + "<|end|>",
      "<think>\nHm.\n</think>" + std::string(kOneCall) + "<|end|>",
      "<think>Hm.\n\n</think>\n" + std::string(kOneCall) + "<|end|>",
      kThinking + "<call>\n{\"name\":  \"look\", \"arguments\": {\"n\":1,\"at\":\"\\u0078\"}}\n</call><|end|>",
      kThinking + "<call>\n{\"name\": \"look\", \"arguments\": {\"n\":1.0,\"at\":\"\\u0078\"}}\n</call><|end|>",
  };
  for (const std::string& one : sampled)
    EXPECT_EQ(same_size(way_to_read(), one, written + std::string(kBehind)), written.size()) << one;
  const std::string half = "<call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"\\ud83d\"}}\n</call><|end|>";
  const std::string mended = "<call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"\uFFFD\"}}\n</call><|end|>";
  EXPECT_EQ(same_size(way_to_read(), half, mended + std::string(kBehind)), mended.size());
  EXPECT_EQ(same_size(way_to_read(), "<think>\n\n</think>\n\nYes <|end|>", "Yes<|end|>" + std::string(kBehind)), 10u);
}

TEST(SameReply, IsNoneThatIsReadAsAnother) {
  const std::string call(kOneCall), written = kThinking + call + "<|end|>";
  const std::string sampled[] = {
      "<think>\nHm\n</think>\n\n" + call + "<|end|>",                     // other reasoning
      call + "<|end|>",                                                   // none
      kThinking + "Yes" + call + "<|end|>",                               // content
      kThinking + call + call + "<|end|>",                                // one call more
      kThinking + "<|end|>",                                              // none
      kThinking + call + "<|end|>more",                                   // text behind the end
      kThinking + call + "<|start|>",                                     // another end
      "<think>\nHm.",                                                     // broken off
      kThinking + "<call>\n{\"name\": \"look\", \"arguments\": {\"at\"",  // broken off
      kThinking + "<call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"y\", \"n\": 1}}\n</call><|end|>",
      kThinking + "<call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"x\", \"n\": 1.5}}\n</call><|end|>",
      kThinking + "<call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"x\", \"n\": true}}\n</call><|end|>",
      kThinking + "<call>\n{\"name\": \"find\", \"arguments\": {\"at\": \"x\", \"n\": 1}}\n</call><|end|>",
  };
  for (const std::string& one : sampled) {
    const std::optional<std::size_t> size = same_size(way_to_read(), one, written + std::string(kBehind));
    EXPECT_FALSE(size) << one;
  }
}

TEST(SameReply, WhatClosesAReplyThatBreaksOffIsNew) {
  const std::string call(kOneCall), written = kThinking + call + "<|end|>", behind(kBehind);
  const std::size_t closed = written.size() - std::string_view("<|end|>").size(),
                    closer = std::string_view("\n</call>").size();
  const auto size = [&](const std::string& sampled, const std::string& by_template) {
    return same_size(way_to_read(), sampled, by_template + behind);
  };
  ASSERT_TRUE(call.ends_with("\n</call>")) << call;
  EXPECT_EQ(size(kThinking + call, written), closed);
  EXPECT_EQ(size("<think>Hm.</think>" + call, written), closed);
  const std::string open = call.substr(0, call.size() - closer);  // a call whose mark is missing
  EXPECT_EQ(size("<think>Hm.</think>" + open, written), closed - closer);
  EXPECT_EQ(size("<think>Hm.</think>" + open + "\n", written), closed - closer + 1);
  EXPECT_EQ(size("<think>Hm.</think>" + open + "\n</ca", written), closed - 3);
  // Blanks between turns are the template's.
  EXPECT_EQ(size("<think>\n\n</think>\n\n Yes", "Yes\n\n<|end|>"), 3u);
  EXPECT_EQ(size("<think>\n\n</think>\n\nYes ", "Yes\n\n<|end|>"), 3u);
  EXPECT_EQ(size("<think>\n\n</think>\n\n Yes\n", "Yes\n\n<|end|>"), 4u);
}

TEST(SameReply, EndsWithItsTokenWhereItsFormatHasNoEnd) {
  const ReplyStart how = way_to_read("<|start|>assistant\n", false);
  const std::string written = kThinking + std::string(kOneCall) + "<|end|>";
  EXPECT_EQ(same_size(how, "<think>Hm.</think>" + std::string(kOneCall) + "<|end|>", written + std::string(kBehind)),
            written.size());
  EXPECT_FALSE(same_size(how, "<think>Hm.</think>" + std::string(kOneCall), written + std::string(kBehind)));
}

TEST(SameReply, MayEndWithAnotherTokenThanHistoriesHave) {
  for (const char* const json : kReturning) {
    const ReplyStart how = way_to_read_format(json, "<|start|>assistant\n");
    const std::string behind(kBehind), close(how.format.source().reasoning_close.texts.front());
    const std::string thought = "<think>\nHm." + close;
    const auto size = [&](const std::string& sampled, const std::string& written) {
      return same_size(how, sampled, written + behind);
    };
    EXPECT_EQ(size("Yes<|return|>", "Yes<|end|>"), 10u) << json;
    EXPECT_EQ(size("Yes <|return|>", "Yes<|end|>"), 10u) << json;
    EXPECT_EQ(size(thought + "Yes<|return|>", thought + "Yes<|end|>"), thought.size() + 10) << json;
    EXPECT_EQ(size(thought + "<|return|>", thought + "<|end|>"), thought.size() + 7) << json;
    EXPECT_EQ(same_size(how, "Yes<|return|>", "Yes<|end|>"), 10u) << json << ": the last turn";
    EXPECT_FALSE(size("No<|return|>", "Yes<|end|>")) << json;
    EXPECT_FALSE(size("Yes<|return|>", "Yes<|end|> and no<|end|>")) << json << ": no turn behind it";
    EXPECT_FALSE(size(thought + "Yes<|return|>", "Yes<|end|>")) << json << ": reasoning is dropped";
    EXPECT_FALSE(size("Yes<|return|>more", "Yes<|end|>")) << json << ": text behind the end";
  }
}

/// <|return|> is the mark of a result within the turn, or the next role's token, and ends a reply as well.
TEST(SameReply, EndsWithTheTokenThatOpensWhatIsBehindIt) {
  const ReplyStart how = way_to_read_format(
      R"({"prompt": "<|start|>assistant\n", "calls": [{"call": ["<call>\n", {"object": {"name": "name",
          "arguments": "arguments"}}, "\n</call>"]}], "end": ["<|end|>", "<|return|>"]})",
      "<|start|>assistant\n");
  const std::string call(kOneCall), written = call + "<|return|>";
  for (const char* const result : {"rain", "\nrain<|end|>"}) {
    EXPECT_EQ(same_size(how, call + "<|return|>", written + result), written.size()) << result;
    EXPECT_FALSE(same_size(how, call + "<|end|>", written + result)) << result;
  }
  EXPECT_EQ(same_size(how, call + "<|end|>", written + std::string(kBehind)), written.size()) << "it opens nothing";
  EXPECT_EQ(same_size(how, call + "<|end|>", written + "\n"), written.size()) << "it opens nothing";
}

TEST(SameReply, MayHaveFurtherEndsBehindItsEnd) {
  const std::string written = kThinking + std::string(kOneCall) + "<|end|>", behind(kBehind);
  for (const char* const more : {"<|return|>", "<|end|>", "<|end|><|return|>"}) {
    EXPECT_EQ(same_size(way_to_read(), written + more, written + behind), written.size()) << more;
    EXPECT_EQ(same_size(way_to_read(), "Yes <|end|>" + std::string(more), "Yes<|end|>" + behind), 10u) << more;
    EXPECT_FALSE(same_size(way_to_read(), "No<|end|>" + std::string(more), "Yes<|end|>" + behind)) << more;
    EXPECT_EQ(same_size(way_to_read_format(kReturning[0], "<|start|>assistant\n"), "Yes<|return|>" + std::string(more),
                        "Yes<|end|>" + behind),
              10u)
        << more;
  }
  for (const char* const more : {"<|start|>", "\n", "\n<|return|>", " more", "<|return|>more", "<|return|><|start|>",
                                 "\n<|start|>user\nAnd?<|end|>"})
    EXPECT_FALSE(same_size(way_to_read(), written + more, written + behind)) << more;
}

TEST(SameReply, MayLackWhatThePromptHadOpened) {
  const ReplyStart closed = way_to_read("<|start|>assistant\n<think>\n\n</think>\n\n");
  const std::string written = "Yes<|end|>";
  EXPECT_EQ(same_size(closed, "Yes<|end|>", written + std::string(kBehind), 19), written.size());
  EXPECT_FALSE(same_size(closed, "No<|end|>", written + std::string(kBehind), 19));
  EXPECT_FALSE(same_size(closed, "Yes<|end|>", "assistant\n" + written + std::string(kBehind), 40))
      << "more than the turn";
  const ReplyStart opened = way_to_read("<|start|>assistant\n<think>\n");
  EXPECT_EQ(same_size(opened, "\n</think>\n\nYes<|end|>", written + std::string(kBehind), 8), written.size());
  EXPECT_FALSE(same_size(opened, "Hm.\n</think>\n\nYes<|end|>", written + std::string(kBehind), 8))
      << "reasoning is dropped";
}

TEST(SameReply, IsNoneWhereNobodyKnowsHowToReadIt) {
  EXPECT_FALSE(same_when_read({})(TwoWritings()));
  const SameReply unknown = same_when_read([]() -> Result<ReplyStart> { return Error(ErrorCode::value, "unknown"); });
  EXPECT_FALSE(unknown({.sampled = reply_pieces("Yes<|end|>"), .written = reply_pieces("Yes<|end|>")}));
}

// ---- in a session

constexpr const char* kKeeps =
    "{% for m in messages %}<|start|>{{ m.role }}\n"
    "{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}"
    "{{ m.content }}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|start|>assistant\n{% endif %}";
/// Drops reasoning before a question.
constexpr const char* kDrops =
    "{% for m in messages %}<|start|>{{ m.role }}\n"
    "{% if m.reasoning_content and messages[-1].role != 'user' %}<think>\n{{ m.reasoning_content }}\n</think>\n\n"
    "{% endif %}{{ m.content }}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|start|>assistant\n{% endif %}";

Session session_of(const char* source, const Tokenizer& tokenizer) {
  Result<Conversation> chat = Conversation::from_json(R"({"messages": [{"role": "user", "content": "Hi"}]})");
  Result<Session> session = Session::begin(*Template::compile(source), tokenizer, std::move(*chat));
  EXPECT_TRUE(session) << session.error().display();
  return std::move(*session);
}

SameReply as_it_is_read(const Tokenizer& tokenizer) {
  return same_when_read([&tokenizer]() -> Result<ReplyStart> {
    ReplyStart how = way_to_read();
    ReplyFormat format = how.format.source();
    format.control = tokenizer.control_texts();
    how.format = *CompiledReplyFormat::make(format);
    return how;
  });
}

const Message kReply = {.role = "assistant", .content = "Yes.", .reasoning_content = "Hm."};

/// Without a thought the prompt closes it for the model, which no earlier turn shows.
constexpr const char* kOpens =
    "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content | trim }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n<think>\n\n</think>\n\n{% endif %}";

/// A conversation of twenty turns with one reply, which is kept in each. It is copied, saved and restored meanwhile.
void keep_twenty_times(const char* source, const Tokenizer& tokenizer, const Message& reply, std::string_view said,
                       std::string_view written, const SameReply& judge) {
  const Template chat_template = *Template::compile(source);
  Session session = session_of(source, tokenizer);
  const std::vector<TokenId> sampled = encoded_by(tokenizer, said);
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<TokenId> all(session.ids().begin(), session.ids().end());
    session.append_sampled(sampled);
    const std::vector<Message> more = {{.role = turn % 2 ? "tool" : "user", .content = std::string(400, 'x')}};
    const auto extension = extend_behind(session, reply, reply.content, more, judge);
    ASSERT_TRUE(extension) << turn << extension.error().display();
    EXPECT_FALSE(extension->canonical);
    EXPECT_TRUE(
        spelling(extension->ids)
            .starts_with("\n<|start|>" + more[0].role + "\n" + more[0].content + "<|end|>\n<|start|>assistant\n"));
    const Result<Rendering> whole = chat_template.render(session.conversation());
    EXPECT_EQ(session.text(), whole->text());
    all.insert(all.end(), sampled.begin(), sampled.end());
    all.insert(all.end(), extension->ids.begin(), extension->ids.end());
    ASSERT_TRUE(std::equal(all.begin(), all.end(), session.ids().begin(), session.ids().end()));
    const KeptReply kept = session.kept().back();
    EXPECT_EQ(spelling(session.ids().subspan(kept.begin, kept.end - kept.begin)), said);
    EXPECT_EQ(session.text().substr(kept.text.begin, kept.text.end - kept.text.begin), written);
    if (turn % 8 == 3) session = *Session::restore(chat_template, tokenizer, session.save());
    if (turn % 8 == 7) session = session.copy();
  }
  EXPECT_EQ(session.kept().size(), 20u);
}

TEST(SameReply, IsKeptTurnAfterTurn) {
  for (const CallbackTokenizer* tokenizer : {&kMarks, &kNoMarks})
    keep_twenty_times(kKeeps, *tokenizer, kReply, "<think>\nHm.</think>\nYes.<|end|>",
                      "<think>\nHm.\n</think>\n\nYes.<|end|>", as_it_is_read(*tokenizer));
}

/// The conversation of `session` with a word of one message replaced.
Conversation with_other_word(const Session& session, std::string_view word, std::string_view by) {
  std::string json = "{\"messages\": " + json_text(session.conversation().messages()) + "}";
  json.replace(json.find(word), word.size(), by);
  return *Conversation::from_json(json);
}

TEST(SameReply, HasNoPartInTheNumberOfATokenThatDiffersBehindIt) {
  Session session = session_of(kKeeps, kMarks);
  for (const char* word : {"first word", "second word"}) {
    session.append_sampled(encoded_by(kMarks, "<think>\nHm.</think>\nYes.<|end|>"));
    const std::vector<Message> more = {{.role = "user", .content = "The " + std::string(word) + " and another"}};
    ASSERT_TRUE(extend_behind(session, kReply, "Yes.", more, as_it_is_read(kMarks)));
  }
  ASSERT_EQ(session.kept().size(), 2u);
  const auto differs_at = [&session](std::string_view word, std::string_view by) {
    EXPECT_FALSE(session.extend(with_other_word(session, word, by), as_it_is_read(kMarks)));
    return session.difference()->token;
  };
  for (const std::string_view word : {"first word", "second word"})
    EXPECT_TRUE(spelling(session.ids().subspan(differs_at(word, "change"))).starts_with(word));
  EXPECT_EQ(differs_at("Hm.", "Ho."), session.kept()[0].begin);
  EXPECT_EQ(differs_at("Hi", "Ho"), encoded_by(kMarks, "<|start|>user\nH").size());
}

TEST(SameReply, IsKeptWhereTheTemplateDropsWhatThePromptHadOpened) {
  const SameReply judge =
      same_when_read([]() -> Result<ReplyStart> { return way_to_read("<|start|>assistant\n<think>\n\n</think>\n\n"); });
  for (const char* said : {"Yes.<|end|>", "Yes. <|end|>"})
    keep_twenty_times(kOpens, kMarks, {.role = "assistant", .content = "Yes."}, said, "Yes.<|end|>", judge);
}

/// A reply that several forms of the message are tried for, as a template may trim its content.
TEST(SameReply, IsKeptInTheTimeOfTheNewText) {
  std::size_t encoded = 0;
  const auto count = [&encoded](std::string_view run, std::vector<TokenId>& ids) {
    encoded += run.size();
    return encode_each_byte(run, ids);
  };
  const CallbackTokenizer counts({{{kStartMark, "<|start|>", true}, {kEndMark, "<|end|>", true}}, count, spelling_of});
  Session session = session_of(kKeeps, counts);
  Message reply = kReply;
  reply.content = " Yes. ";
  for (int turn = 0; turn < 40; ++turn) {
    session.append_sampled(encoded_by(counts, "<think>\nHm.</think>\n Yes. <|end|>"));
    encoded = 0;
    const std::vector<Message> more = {{.role = "user", .content = std::string(100, 'x')}};
    ASSERT_TRUE(extend_behind(session, reply, " Yes. ", more, as_it_is_read(counts))) << turn;
    EXPECT_LT(encoded, 2000u) << turn;
  }
  EXPECT_EQ(session.kept().size(), 40u);
  EXPECT_GT(session.ids().size(), 5000u);
}

TEST(SameReply, IsKeptWithItsOwnEnd) {
  for (const char* const json : kReturning) {
    const SameReply judge =
        same_when_read([json]() -> Result<ReplyStart> { return way_to_read_format(json, "<|start|>assistant\n"); });
    keep_twenty_times(kKeeps, kMarks, {.role = "assistant", .content = "Yes."}, "Yes.<|return|>", "Yes.<|end|>", judge);
  }
}

/// The ids after each turn, from those before it and the conversation alone.
TEST(SameReply, IsKeptByWhoHasIdsAlone) {
  struct Case {
    ReplyStart how;
    Message reply;
    const char* said;
  };
  const Case cases[] = {{way_to_read(), kReply, "<think>\nHm.</think>\nYes.<|end|>"},
                        {way_to_read(), kReply, "<think>\nHm.\n</think>\n\nYes.<|end|>"},
                        {way_to_read_format(kReturning[0], "<|start|>assistant\n"),
                         {.role = "assistant", .content = "Yes."},
                         "Yes.<|return|>"}};
  for (const Case& one : cases) {
    const ReplyStart& how = one.how;
    const Message& reply = one.reply;
    const char* const said = one.said;
    const Template chat_template = *Template::compile(kKeeps);
    Session session = session_of(kKeeps, kMarks);
    const SameReply judge = same_when_read([&]() -> Result<ReplyStart> { return how; });
    const HowToRead start = [&](const Conversation&, std::string_view prompt) -> Result<ReplyStart> {
      EXPECT_TRUE(prompt.ends_with("<|start|>assistant\n")) << prompt;
      return how;
    };
    for (int turn = 0; turn < 4; ++turn) {
      session.append_sampled(encoded_by(kMarks, said));
      const std::vector<TokenId> known(session.ids().begin(), session.ids().end());
      const std::vector<Message> more = {reply, {.role = "user", .content = "And?"}};
      const auto extension = session.extend(more, {}, judge);
      ASSERT_TRUE(extension) << extension.error().display();
      const auto same = extend_ids(known, chat_template, kMarks, session.conversation().copy(), {}, start);
      ASSERT_TRUE(same) << turn << same.error().display();
      EXPECT_EQ(same->ids, extension->ids) << said << turn;
      EXPECT_EQ(same->canonical, extension->canonical) << said << turn;
      const auto blind = extend_ids(known, chat_template, kMarks, session.conversation().copy(), {}, HowToRead());
      EXPECT_TRUE(blind || blind.error().code() == ErrorCode::history_rewritten) << said << turn;
      std::vector<TokenId> other = known;
      other[known.size() - 3] = 'z';
      const auto refused = extend_ids(other, chat_template, kMarks, session.conversation().copy(), {}, start);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code(), ErrorCode::history_rewritten);
      const std::string place = "messages[" + std::to_string(2 * turn + 1) + "].content";
      EXPECT_NE(refused.error().display().find(place), std::string::npos) << refused.error().display();
    }
  }
}

TEST(SameReply, IsKeptAsTheFormsOfItAreWhereNobodyKnowsHowToReadIt) {
  Session session = session_of(kKeeps, kMarks);
  session.append_sampled(encoded_by(kMarks, "<think>\nHm.</think>\nYes.<|end|>"));
  const std::vector<Message> more = {{.role = "user", .content = "And?"}};
  const auto extension = extend_behind(session, kReply, "Yes.", more);
  ASSERT_FALSE(extension);
  EXPECT_EQ(extension.error().code(), ErrorCode::history_rewritten);
  EXPECT_TRUE(session.kept().empty());
}

TEST(SameReply, AnotherMessageIsRefusedAndNothingChanges) {
  Session session = session_of(kKeeps, kMarks);
  session.append_sampled(encoded_by(kMarks, "<think>\nHm.</think>\nYes.<|end|>"));
  const std::string before = session.save();
  Message other = kReply;
  other.content = "No.";
  const std::vector<Message> more = {other, {.role = "user", .content = "And?"}};
  const auto extension = session.extend(more, {}, as_it_is_read(kMarks));
  ASSERT_FALSE(extension);
  EXPECT_EQ(session.difference()->cause, PrefixCause::other_reply);
  EXPECT_EQ(session.save(), before);
}

TEST(SameReply, ThatTheTemplateShortensLaterIsStillRefused) {
  Session session = session_of(kDrops, kMarks);
  session.append_sampled(encoded_by(kMarks, "<think>\nHm.</think>\nYes.<|end|>"));
  ASSERT_TRUE(extend_behind(session, kReply, "Yes.", std::vector<Message>{{.role = "tool", .content = "4"}},
                            as_it_is_read(kMarks)));
  session.append_sampled(encoded_by(kMarks, "<think>\nHm.</think>\nYes.<|end|>"));
  const auto extension = extend_behind(
      session, kReply, "Yes.", std::vector<Message>{{.role = "user", .content = "And?"}}, as_it_is_read(kMarks));
  ASSERT_FALSE(extension);
  EXPECT_EQ(session.difference()->cause, PrefixCause::rewritten);
  EXPECT_EQ(session.difference()->after.path, "messages[1].content");
  EXPECT_EQ(session.kept().size(), 1u);
}

}  // namespace
}  // namespace parlance
