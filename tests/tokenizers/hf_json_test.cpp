// tokenizer.json by open_hf_json: what can be said of files small enough to be read here. Against the real library,
// over thousands of texts, it is held by tests/oracle/tokenizer_oracle.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "base/utf8.h"
#include "tokenizers/adapters.h"

namespace parlance {
namespace {

std::string file_of(const std::string& model, const std::string& added, const std::string& parts = "") {
  return R"({"version":"1.0","added_tokens":[)" + added + "]," + parts + R"("model":)" + model + "}";
}

std::string added_token(int id, const std::string& text, const std::string& set = "") {
  std::string token = R"({"id":)" + std::to_string(id) + R"(,"content":")" + text + R"(")";
  for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized", "special"}) {
    token += std::string(",\"") + flag + "\":" + (set.find(flag) == set.npos ? "false" : "true");
  }
  return token + "}";
}

const char kUnigram[] =
    R"({"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["</s>",0],["<",-3],["/",-3],["s",-3],[">",-3],)"
    R"(["u",-3],["n",-3],["k",-3],["a",-2],["aa",-1],[" ",-2],["</",-4],["@",-2]]})";

std::string utf8_of(char32_t c) {
  std::string text;
  utf8::append(text, c);
  return text;
}

std::unique_ptr<Tokenizer> open(const std::string& json) {
  auto opened = open_hf_json(json, "tokenizer.json");
  if (!opened) ADD_FAILURE() << opened.error().display();
  return opened ? std::move(*opened) : nullptr;
}

/// "id[begin,end)" for each token, "+" in front of added ones; or the error's name.
std::string encoded(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>* trusted = nullptr) {
  std::vector<EncodedToken> tokens;
  if (const auto done = tokenizer.encode(text, trusted, tokens); !done)
    return std::string(facts(done.error().code()).name);
  std::string line;
  for (const EncodedToken& token : tokens) {
    line += (line.empty() ? "" : " ") + std::string(token.added ? "+" : "") + std::to_string(token.id) + "[" +
            std::to_string(token.bytes.begin) + "," + std::to_string(token.bytes.end) + ")";
  }
  return line;
}

std::string guarded(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>& trusted = {}) {
  return encoded(tokenizer, text, &trusted);
}

TEST(HfJson, ModelMayNotSpellAControlToken) {
  const auto tokenizer = open(file_of(kUnigram, added_token(1, "</s>", "special")));
  EXPECT_EQ(encoded(*tokenizer, "a</s>aa"), "9[0,1) +1[1,5) 10[5,7)");
  EXPECT_EQ(guarded(*tokenizer, "a</s>aa"), "9[0,1) 2[1,2) 3[2,3) 4[3,4) 5[4,5) 10[5,7)");
  EXPECT_EQ(guarded(*tokenizer, "a</s>aa", {{1, 5}}), "9[0,1) +1[1,5) 10[5,7)");
  EXPECT_EQ(guarded(*tokenizer, "a</s>aa", {{0, 4}}), guarded(*tokenizer, "a</s>aa"));
  EXPECT_EQ(guarded(*tokenizer, "</s></s>", {{4, 8}}), "2[0,1) 3[1,2) 4[2,3) 5[3,4) +1[4,8)");
}

/// The text between "|" is what is dropped: "a|b|c".
std::string dropped_of(const Tokenizer& tokenizer, std::string_view text,
                       const std::vector<ByteSpan>* trusted = nullptr) {
  std::vector<EncodedToken> tokens, alone;
  std::vector<ByteSpan> dropped;
  EXPECT_TRUE(tokenizer.encode_and_find_dropped(text, trusted, tokens, dropped)) << text;
  EXPECT_TRUE(tokenizer.encode(text, trusted, alone)) << text;
  const auto same = [](const EncodedToken& a, const EncodedToken& b) {
    return a.id == b.id && a.bytes.begin == b.bytes.begin && a.bytes.end == b.bytes.end;
  };
  EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), alone.begin(), alone.end(), same)) << text;
  std::string shown;
  std::uint32_t at = 0;
  for (const ByteSpan& span : dropped) {
    shown += std::string(text.substr(at, span.begin - at)) + "|" +
             std::string(text.substr(span.begin, span.end - span.begin)) + "|";
    at = span.end;
  }
  return shown + std::string(text.substr(at));
}

/// A BPE of these letters and of "ab", without a token for unknown text.
std::string bpe_of(std::vector<std::string> letters, const std::string& settings = "") {
  std::string vocabulary;
  letters.push_back("ab");
  for (std::size_t id = 0; id < letters.size(); ++id)
    vocabulary += (id == 0 ? "\"" : ",\"") + letters[id] + "\":" + std::to_string(id);
  return R"({"type":"BPE","vocab":{)" + vocabulary + R"(},"merges":[["a","b"]])" + settings + "}";
}

TEST(HfJson, WhatABpeWithoutUnknownTokenLacksIsDropped) {
  const auto tokenizer = open(file_of(bpe_of({"a", "b", "c", "é"}), added_token(5, "<x>", "special")));
  EXPECT_FALSE(tokenizer->facts().keeps_text);
  EXPECT_EQ(dropped_of(*tokenizer, "abc"), "abc");
  EXPECT_EQ(dropped_of(*tokenizer, ""), "");
  EXPECT_EQ(dropped_of(*tokenizer, "a d\nb"), "a| d\n|b");
  EXPECT_EQ(dropped_of(*tokenizer, "☃é☃☃<x>☃"), "|☃|é|☃☃|<x>|☃|");
  EXPECT_EQ(dropped_of(*tokenizer, "☃"), "|☃|");
  const std::vector<ByteSpan> nothing;
  EXPECT_EQ(dropped_of(*tokenizer, "c☃<x>a", &nothing), "c|☃<x>|a");
  EXPECT_EQ(encoded(*tokenizer, "c☃é<x>☃c"), "2[0,1) 3[4,6) +5[6,9) 2[12,13)");
  EXPECT_EQ(encoded(*tokenizer, "a☃b"), "4[0,5)") << "neighbours are those that are left";
}

TEST(HfJson, OfTextThatIsWrittenAsBytesNothingIsDropped) {
  std::vector<std::string> bytes;
  for (int byte = 0; byte <= 0xF4; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    if (byte != 0xC0 && byte != 0xC1) bytes.emplace_back(name);
  }
  bytes.insert(bytes.end(), {"a", "b"});
  const auto falls_back = open(file_of(bpe_of(bytes, R"(,"byte_fallback":true)"), ""));
  EXPECT_TRUE(falls_back->facts().keeps_text);
  bytes.erase(bytes.begin() + 'x');
  const auto lacks_one = open(file_of(bpe_of(bytes, R"(,"byte_fallback":true)"), ""));
  EXPECT_FALSE(lacks_one->facts().keeps_text);
  EXPECT_EQ(dropped_of(*lacks_one, "xyé☃x"), "|x|yé☃|x|");
  const std::string levels =
      R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false},)";
  std::vector<std::string> letters;
  for (char32_t c = 0x21; c <= 0x143; ++c) {
    if (c != '"' && c != '\\') letters.push_back(utf8_of(c));
  }
  letters.insert(letters.end(), {R"(\")", R"(\\)"});
  EXPECT_TRUE(open(file_of(bpe_of(letters), "", levels))->facts().keeps_text);
  EXPECT_FALSE(open(file_of(bpe_of(letters), ""))->facts().keeps_text) << "letters, not bytes";
  std::erase(letters, utf8_of(0x10A));  // a newline
  const auto lacks_newline = open(file_of(bpe_of(letters), "", levels));
  EXPECT_FALSE(lacks_newline->facts().keeps_text);
  EXPECT_EQ(dropped_of(*lacks_newline, "a\n☃\n\nb"), "a|\n|☃|\n\n|b");
  const auto unk = open(file_of(bpe_of({"a", "b", "<unk>"}, R"(,"unk_token":"<unk>")"), ""));
  EXPECT_TRUE(unk->facts().keeps_text) << "unknown text has a token";
}

std::string removing(const std::string& pattern, bool invert) {
  return R"("pre_tokenizer":{"type":"Split","pattern":{"Regex":")" + pattern + R"("},"behavior":"Removed","invert":)" +
         (invert ? "true}," : "false},");
}

TEST(HfJson, WhatAFileTakesAwayIsDroppedButForWhiteSpaceAndMarks) {
  const std::string words = R"({"type":"WordLevel","vocab":{"<unk>":0,"ab":1},"unk_token":"<unk>"})";
  const auto with = [&](const std::string& parts) {
    return open(file_of(words, added_token(9, "<x>", "special lstrip"), parts));
  };
  const auto blanks = with(R"("pre_tokenizer":{"type":"WhitespaceSplit"},)");
  EXPECT_TRUE(blanks->facts().keeps_text);
  EXPECT_EQ(dropped_of(*blanks, " ab\n <x> ab "), " ab\n <x> ab ");
  const auto dashes = with(removing("-", false));
  EXPECT_FALSE(dashes->facts().keeps_text);
  EXPECT_EQ(dropped_of(*dashes, "-ab--ab \n<x>-"), "|-|ab|--|ab \n<x>|-|");
  EXPECT_EQ(dropped_of(*with(removing("[a-z]+", true)), "ab, ☃ab"), "ab|,| |☃|ab");
  const auto cleaned = with(
      R"("normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":true,)"
      R"("lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},)");
  EXPECT_EQ(dropped_of(*cleaned, "A\u0301b \tab\u0301 e"), "A\u0301b \tab\u0301 e") << "letters without their marks";
  EXPECT_EQ(dropped_of(*cleaned, "ab\u0007 \u200Dab\uFFFD"), "ab|\u0007| |\u200D|ab|\uFFFD|");
  const auto replaced = with(R"("normalizer":{"type":"Replace","pattern":{"String":"b"},"content":""},)");
  EXPECT_EQ(dropped_of(*replaced, "abba"), "a|bb|a");
  EXPECT_TRUE(with(R"("normalizer":{"type":"Replace","pattern":{"String":" "},"content":"▁"},)")->facts().keeps_text);
}

TEST(HfJson, WhatIsWrittenAsABlankIsWhiteSpace) {
  const std::string words = R"({"type":"WordLevel","vocab":{"<unk>":0},"unk_token":"<unk>"})";
  for (const char* const strip : {"", R"(,{"type":"Strip","strip_left":true,"strip_right":true})"}) {
    for (const char* const blank : {" ", "▁"}) {
      const std::string normalizer = R"("normalizer":{"type":"Sequence","normalizers":[{"type":"Nmt"},)"
                                     R"({"type":"Replace","pattern":{"Regex":" {2,}"},"content":")" +
                                     std::string(blank) + R"("})" + strip + "]},";
      const auto tokenizer = open(file_of(words, "", normalizer + R"("pre_tokenizer":{"type":"WhitespaceSplit"},)"));
      EXPECT_FALSE(tokenizer->facts().keeps_text);
      const std::string text = "\u200B a \u200E\uFEFF b\u200B";
      EXPECT_EQ(dropped_of(*tokenizer, text), text) << normalizer;
      EXPECT_EQ(dropped_of(*tokenizer, "a \u200B b"), "a \u200B b") << normalizer;
      EXPECT_EQ(dropped_of(*tokenizer, "a\u0001 \u007Fb"), "a|\u0001| |\u007F|b") << normalizer;
    }
  }
}

/// A composed letter has the place of its first character alone, but the others have their part in it.
TEST(HfJson, WhatANormaliserJoinsIsNotDropped) {
  const std::string words = R"({"type":"WordLevel","vocab":{"<unk>":0},"unk_token":"<unk>"})";
  for (const char* const form : {"NFC", "NFKC"}) {
    const auto tokenizer =
        open(file_of(words, "", R"("normalizer":{"type":")" + std::string(form) + R"("},)" + removing("-", false)));
    EXPECT_FALSE(tokenizer->facts().keeps_text);
    for (const char* const text :
         {"e\u0301", "\u1112\u1161\u11ab \u1112\u1161", "\uFF76\uFF9E", "\u0928\u093C", "ﬁ", "a\u0323\u0307"})
      EXPECT_EQ(dropped_of(*tokenizer, text), text) << form;
    EXPECT_EQ(dropped_of(*tokenizer, "\u1112\u1161-\u11ab"), "\u1112\u1161|-|\u11ab");
  }
}

TEST(HfJson, UnknownTextIsUnknownButNotByName) {
  const auto tokenizer = open(file_of(kUnigram, added_token(0, "<unk>", "special")));
  EXPECT_EQ(tokenizer->facts().unk, 0);
  EXPECT_EQ(guarded(*tokenizer, "azz"), "9[0,1) 0[1,3)");
  EXPECT_EQ(guarded(*tokenizer, "<unk>"), "2[0,1) 6[1,2) 7[2,3) 8[3,4) 5[4,5)");
  EXPECT_EQ(guarded(*tokenizer, "z<unk>z").find("[1,6)"), std::string::npos);
}

TEST(HfJson, OneLetterThatIsOnlyAControlTokenIsUnknown) {
  const auto tokenizer = open(file_of(kUnigram, added_token(13, "@")));
  EXPECT_EQ(guarded(*tokenizer, "a@a"), "9[0,1) 0[1,2) 9[2,3)");
  EXPECT_EQ(guarded(*tokenizer, "a@a", {{1, 2}}), "9[0,1) +13[1,2) 9[2,3)");
}

TEST(HfJson, PiecesWrittenLikeControlTokensAreControlTokens) {
  const std::string model =
      R"({"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["<|u|>",-1],["<",-3],["|",-3],["u",-3],[">",-3],["<|>",)"
      R"(-2]]})";
  const auto tokenizer = open(file_of(model, ""));
  EXPECT_EQ(tokenizer->facts().markers, std::vector<TokenId>{1});
  EXPECT_EQ(encoded(*tokenizer, "<|u|>"), "1[0,5)");
  EXPECT_EQ(guarded(*tokenizer, "<|u|>", {{0, 5}}), "1[0,5)");
  EXPECT_EQ(guarded(*tokenizer, "<|u|>"), "2[0,1) 3[1,2) 4[2,3) 3[3,4) 5[4,5)");
  EXPECT_EQ(guarded(*tokenizer, "<|u|><|u|>", {{5, 10}}), "2[0,1) 3[1,2) 4[2,3) 3[3,4) 5[4,5) 1[5,10)");
}

TEST(HfJson, ShorterOrLaterTrustedTokensAreFound) {
  const auto tokenizer =
      open(file_of(kUnigram, added_token(14, "aa/") + "," + added_token(15, "aa") + "," + added_token(16, "a/s")));
  EXPECT_EQ(encoded(*tokenizer, "aa/s"), "+14[0,3) 4[3,4)");
  EXPECT_EQ(guarded(*tokenizer, "aa/s", {{0, 2}}), "+10[0,2) 3[2,3) 4[3,4)");
  EXPECT_EQ(guarded(*tokenizer, "aa/s", {{1, 4}}), "9[0,1) +15[1,4)");
}

TEST(HfJson, WhiteSpaceTakenAlongIsInNoSpan) {
  const auto tokenizer = open(file_of(kUnigram, added_token(14, "<x>", "lstrip rstrip")));
  EXPECT_EQ(encoded(*tokenizer, "a  <x> a"), "9[0,1) +14[3,6) 9[7,8)");
  EXPECT_EQ(guarded(*tokenizer, "a  <x> a", {{3, 6}}), "9[0,1) +14[3,6) 9[7,8)");
}

TEST(HfJson, BlanksAreNoControlTokens) {
  const auto tokenizer = open(file_of(kUnigram, added_token(14, "  ") + "," + added_token(15, "▁▁")));
  EXPECT_FALSE(tokenizer->facts().added[0].control);
  EXPECT_FALSE(tokenizer->facts().added[1].control);
  EXPECT_EQ(guarded(*tokenizer, "a  a"), "9[0,1) +14[1,3) 9[3,4)");
}

TEST(HfJson, BytesOfOneCharacterHaveTheirOwnSpans) {
  const std::string model = R"({"type":"BPE","vocab":{"Ã":0,"©":1,"Ġ":2,"a":3},"merges":[]})";
  const std::string bytes = R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},)";
  const auto tokenizer = open(file_of(model, "", bytes));
  EXPECT_EQ(encoded(*tokenizer, "éa"), "2[0,0) 0[0,1) 1[1,2) 3[2,3)");
  EXPECT_EQ(tokenizer->token_text(0), "\xC3");
  EXPECT_EQ(tokenizer->token_text(2), " ");
  EXPECT_EQ(tokenizer->token_text(99), "");
  EXPECT_EQ(tokenizer->token_text(-1), "");
}

TEST(HfJson, AddedTokensAreNumberedAsTheLibraryDoes) {
  const auto tokenizer = open(file_of(kUnigram, added_token(99, "<x>")));
  EXPECT_EQ(encoded(*tokenizer, "<x>"), "+14[0,3)");
  EXPECT_EQ(tokenizer->facts().vocabulary_size, 15u);
  ASSERT_EQ(tokenizer->facts().notes.size(), 1u);
  EXPECT_NE(tokenizer->facts().notes[0].find("99"), std::string::npos);
}

TEST(HfJson, AnAddedTokenWithTheIdOfTheUnknownTokenIsNoControlToken) {
  // Seven entries but a gap: the library gives the added token the id 7, which the unknown token has.
  const std::string model = R"({"type":"WordPiece","vocab":{"a":0,"b":1,"c":2,"d":3,"e":4,"f":5,"[UNK]":7},)"
                            R"("unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":9})";
  const auto tokenizer = open(file_of(model, added_token(7, "ab", "special"), ""));
  ASSERT_EQ(tokenizer->facts().added.size(), 1u);
  EXPECT_EQ(tokenizer->facts().added[0].id, 7);
  EXPECT_FALSE(tokenizer->facts().added[0].control);
  ASSERT_EQ(tokenizer->facts().notes.size(), 1u);
  EXPECT_NE(tokenizer->facts().notes[0].find("unknown token"), std::string::npos);
}

TEST(HfJson, ErrorsSayWhat) {
  const auto broken = open_hf_json("{\"version\":\n  oops}", "t.json");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code(), ErrorCode::json);
  EXPECT_EQ(broken.error().where().line, 2u);
  const auto unknown = open_hf_json(R"({"version":"1.0","model":{"type":"Hash"}})", "t.json");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), ErrorCode::tokenizer);
  EXPECT_NE(unknown.error().message().find("\"Hash\""), std::string::npos) << unknown.error().message();
  const auto tokenizer = open(file_of(kUnigram, ""));
  EXPECT_EQ(encoded(*tokenizer, "a\xFF"), "value");
}

TEST(HfJson, PanicsAreErrors) {
  const auto tokenizer = open(file_of(kUnigram, "", R"("pre_tokenizer":{"type":"FixedLength","length":0},)"));
  EXPECT_EQ(encoded(*tokenizer, "aa"), "tokenizer");
  EXPECT_EQ(encoded(*tokenizer, ""), "");
}

TEST(HfJson, WordsCutAgainAndAgainTakeTheTimeOfTheirLength) {
  const auto tokenizer = open(file_of(kUnigram, added_token(1, "</s>", "special")));
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "</s>";
  std::vector<EncodedToken> tokens;
  const std::vector<ByteSpan> none;
  ASSERT_TRUE(tokenizer->encode(text, &none, tokens));
  EXPECT_EQ(tokens.size(), 200000u);
}

/// A byte-level file of the usual kind: NFC, words by a regular expression, a letter for each byte, some pairs.
std::string byte_level_file() {
  std::string vocabulary, merges;
  int next = 0;
  const auto add = [&](const std::string& text) {
    vocabulary += (next > 0 ? ",\"" : "\"") + std::string(text == "\"" || text == "\\" ? "\\" : "") + text +
                  "\":" + std::to_string(next);
    ++next;
  };
  for (char32_t letter = 0x21; letter <= 0x143; ++letter) {
    const bool is_one = letter <= 0x7E || (letter >= 0xA1 && letter != 0xAD);
    if (is_one) add(utf8_of(letter));
  }
  for (const auto& [first, second] : {std::pair("a", "b"), {"ab", "c"}, {"\u0120", "a"}, {"\u00E4", "\u00B8"}}) {
    add(std::string(first) + second);
    merges += (merges.empty() ? "[\"" : ",[\"") + std::string(first) + "\",\"" + second + "\"]";
  }
  return file_of(
      R"({"type":"BPE","vocab":{)" + vocabulary + R"(},"merges":[)" + merges + "]}",
      added_token(next, "<|x|>", "special"),
      R"("normalizer":{"type":"NFC"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split",)"
      R"("pattern":{"Regex":"\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+|\\s+"},"behavior":"Isolated","invert":false},)"
      R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":false}]},)");
}

/// quick.rs against the crate's own steps, which a text is given to where all of it is trusted.
TEST(HfJson, TextOfTheUsualKindHasTheTokensOfTheCratesOwnSteps) {
  const auto tokenizer = open(byte_level_file());
  const auto expect_same = [&](const std::string& text) {
    const std::vector<ByteSpan> all = {{0, static_cast<std::uint32_t>(text.size())}};
    EXPECT_EQ(encoded(*tokenizer, text), guarded(*tokenizer, text, all)) << text;
  };
  EXPECT_EQ(encoded(*tokenizer, "abc<|x|>!").find("257[0,3) +260[3,8)"), 0U) << encoded(*tokenizer, "abc<|x|>!");
  for (const char* text : {"", " ", "a\u0301b", "\u4E2D\u6587 abab abc", "\U0001F600 ok", "e\u0301\n\n  x", "\xC3"})
    expect_same(text);
  std::string text;
  for (char32_t c = 1; c < 0x20000; ++c) {  // each behind a letter, and behind the one before
    if (c >= 0xD800 && c < 0xE000) continue;
    text += (c % 3 == 0 ? "a" : "") + utf8_of(c);
    if (c % 61 != 0) continue;
    expect_same(text);
    text.clear();
  }
}

TEST(HfJson, ThreadsEncodeAtOnce) {
  const auto tokenizer = open(file_of(kUnigram, added_token(1, "</s>", "special")));
  const std::string once = guarded(*tokenizer, "aa</s>a", {{2, 6}});
  std::vector<std::thread> threads;
  std::vector<int> faults(4);
  for (int& fault : faults) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) fault += guarded(*tokenizer, "aa</s>a", {{2, 6}}) != once;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(faults, std::vector<int>(4));
}

}  // namespace
}  // namespace parlance
