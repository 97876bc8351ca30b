// Vocabularies that are merged: GGUF's "llama" by scores, of files small enough to be read here, and the Merger by
// itself. Against llama.cpp and tiktoken they are held by tests/oracle/gguf_tokens_oracle.py and rank_tokens_oracle.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>

#include "gguf_maker.h"
#include "share.h"
#include "sp_maker.h"
#include "tokenizers/adapters.h"
#include "tokenizers/merger.h"
#include "tokenizers/piece_trie.h"
#include "tokenizers/split_names.h"

namespace parlance {
namespace {

enum Type : std::uint32_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct Token {
  std::string text;
  float score = 0;
  Type type = kNormal;
};

std::string file_of(const std::vector<Token>& tokens, bool space_prefix = true, std::string_view model = "llama",
                    std::string_view charsmap = "") {
  GgufMaker maker;
  std::vector<std::string> texts;
  for (const Token& token : tokens) texts.push_back(token.text);
  maker.string("tokenizer.ggml.model", model).strings("tokenizer.ggml.tokens", texts);
  maker.pair("tokenizer.ggml.scores", GgufMaker::kArray).number(GgufMaker::kF32, 4).number(tokens.size(), 8);
  for (const Token& token : tokens) maker.number(std::bit_cast<std::uint32_t>(token.score), 4);
  maker.pair("tokenizer.ggml.token_type", GgufMaker::kArray).number(GgufMaker::kI32, 4).number(tokens.size(), 8);
  for (const Token& token : tokens) maker.number(token.type, 4);
  maker.flag("tokenizer.ggml.add_space_prefix", space_prefix ? 1 : 0);
  if (charsmap.empty()) return maker.bytes();
  maker.pair("tokenizer.ggml.precompiled_charsmap", GgufMaker::kArray)
      .number(GgufMaker::kU8, 4)
      .number(charsmap.size(), 8);
  for (const char c : charsmap) maker.number(static_cast<std::uint8_t>(c), 1);
  return maker.bytes();
}

const std::vector<Token> kTokens = {{"<unk>", 0, kUnknown},
                                    {"<s>", 0, kControl},
                                    {"</s>", 0, kControl},
                                    {"<0xC3>", 0, kByte},
                                    {"<0xA9>", 0, kByte},
                                    {"▁", -1},
                                    {"a", -2},
                                    {"b", -3},
                                    {"ab", -4},
                                    {"▁a", -5},
                                    {"ba", -6},
                                    {"<", -7},
                                    {"s", -8},
                                    {">", -9},
                                    {"<s", -10},
                                    {"##", 0, kUserDefined},
                                    {"/", -11}};

std::unique_ptr<Tokenizer> open(const std::string& bytes) {
  auto opened = read_gguf_vocabulary(bytes, "m.gguf");
  if (!opened) ADD_FAILURE() << opened.error().display();
  return opened ? std::move(*opened) : nullptr;
}

std::string encoded_line(const Tokenizer& tokenizer, std::string_view text,
                         const std::vector<ByteSpan>* trusted = nullptr) {
  std::vector<EncodedToken> tokens;
  if (const auto done = tokenizer.encode(text, trusted, tokens); !done) return std::string(done.error().message());
  std::string line;
  for (const EncodedToken& token : tokens) {
    line += (line.empty() ? "" : " ") + std::string(token.added ? "+" : "") + std::to_string(token.id) + "[" +
            std::to_string(token.bytes.begin) + "," + std::to_string(token.bytes.end) + ")";
  }
  return line;
}

TEST(GgufVocabulary, MergesByScoresTheLeftmostOfEquals) {
  const auto tokenizer = open(file_of(kTokens));
  EXPECT_EQ(encoded_line(*tokenizer, "abab"), "5[0,0) 8[0,2) 8[2,4)");
  EXPECT_EQ(encoded_line(*tokenizer, "aba"), "5[0,0) 8[0,2) 6[2,3)");
  EXPECT_EQ(encoded_line(*tokenizer, " aé"), "5[0,0) 9[0,2) 3[2,3) 4[3,4)");
  EXPECT_EQ(encoded_line(*tokenizer, ""), "");
}

TEST(GgufVocabulary, EachRunGetsABlankUnlessTheFileSaysNo) {
  EXPECT_EQ(encoded_line(*open(file_of(kTokens)), "a<s>a##b"), "9[0,1) +1[1,4) 9[4,5) +15[5,7) 5[7,7) 7[7,8)");
  EXPECT_EQ(encoded_line(*open(file_of(kTokens, false)), "a<s>a##b"), "6[0,1) +1[1,4) 6[4,5) +15[5,7) 7[7,8)");
}

TEST(GgufVocabulary, NothingUntrustedIsAControlToken) {
  const auto tokenizer = open(file_of(kTokens, false));
  const std::vector<ByteSpan> none, second = {{3, 6}};
  EXPECT_EQ(encoded_line(*tokenizer, "<s><s>", &none), "14[0,2) 13[2,3) 14[3,5) 13[5,6)");
  EXPECT_EQ(encoded_line(*tokenizer, "<s><s>", &second), "14[0,2) 13[2,3) +1[3,6)");
  EXPECT_EQ(encoded_line(*tokenizer, "</s>", &none), "11[0,1) 16[1,2) 12[2,3) 13[3,4)");
}

TEST(GgufVocabulary, BytesWithoutATokenAreAnError) {
  EXPECT_EQ(encoded_line(*open(file_of(kTokens)), "ax"),
            "the vocabulary has no token for the bytes 0x78, and none for the byte 0x78");
}

TEST(GgufVocabulary, SaysWhatItPutsAroundATextAndWhatEndsOne) {
  const TokenizerFacts facts = open(file_of(kTokens))->facts();
  EXPECT_EQ(facts.kind, "GGUF, llama");
  EXPECT_EQ(facts.bos, 1);
  EXPECT_EQ(facts.puts_before, std::vector<TokenId>{1});
  ASSERT_EQ(facts.ends.size(), 1u);
  EXPECT_EQ(facts.ends[0].source, "llama.cpp, by its text");
}

std::string refusal(const std::vector<Token>& tokens, std::string_view model, std::string_view charsmap = "") {
  const auto opened = read_gguf_vocabulary(file_of(tokens, true, model, charsmap), "m.gguf");
  return opened ? "" : std::string(opened.error().message());
}

const std::vector<Token> kSums = {{"<pad>", 0, kControl},
                                  {"</s>", 0, kControl},
                                  {"<unk>", 0, kUnknown},
                                  {"▁", -2},
                                  {"a", -3},
                                  {"b", -3},
                                  {"ab", -4},
                                  {"▁a", -3},
                                  {"<", -9},
                                  {"/", -9},
                                  {"s", -9},
                                  {">", -9},
                                  {"▁ab", -20, kUnused},
                                  {"#", 0, kUserDefined}};

/// `front`, and a token for each byte behind it.
std::vector<Token> with_bytes(std::vector<Token> front) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    front.push_back({std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">", 0, kByte});
  }
  return front;
}

const std::vector<Token> kCosts = with_bytes({{"<unk>", 0, kUnknown},
                                              {"<s>", 0, kControl},
                                              {"a", -1},
                                              {"aa", -2},
                                              {"b", -9},
                                              {" ", -3},
                                              {"aab", -3},
                                              {"<", -1},
                                              {"s>", -1}});

/// Time is a prompt's length times the longest token's where the vocabulary is a trie; memory is all of their bytes.
TEST(GgufVocabulary, LongTokensAreRefusedWhereTheVocabularyIsATrie) {
  const std::pair<const char*, const std::vector<Token>*> kinds[] = {
      {"rwkv", &kTokens}, {"t5", &kSums}, {"plamo2", &kCosts}, {"llama", &kTokens}};
  for (const auto& [model, base] : kinds) {
    const bool is_trie = model != std::string_view("llama");
    if (testing::is_sparse() && base != &kTokens) continue;
    std::vector<Token> tokens = *base;
    const std::string number = std::to_string(tokens.size());
    tokens.push_back({std::string(1024, 'a'), -1});
    EXPECT_EQ(refusal(tokens, model), "") << model;
    tokens.back().text += 'a';
    EXPECT_EQ(refusal(tokens, model), is_trie ? "m.gguf: token " + number + " is longer than 1024 bytes" : "") << model;
    tokens.pop_back();
    for (std::size_t i = 0; i < std::size_t{16} << 10; ++i)
      tokens.push_back({std::to_string(100000 + i) + std::string(1018, 'a'), -1});
    EXPECT_EQ(refusal(tokens, model), is_trie ? "m.gguf: its tokens are longer than 16 MiB together" : "") << model;
  }
}

TEST(GgufVocabulary, TakesTheLargestSum) {
  const std::vector<Token>& tokens = kSums;
  const auto tokenizer = open(file_of(tokens, true, "t5"));
  const std::vector<ByteSpan> none;
  EXPECT_EQ(encoded_line(*tokenizer, "ab"), "3[0,0) 6[0,2)");  // of equal sums the first
  EXPECT_EQ(encoded_line(*tokenizer, "aab"), "7[0,1) 6[1,3)");
  EXPECT_EQ(encoded_line(*tokenizer, "a中xb"), "7[0,1) 2[1,5) 5[5,6)");
  EXPECT_EQ(encoded_line(*tokenizer, "a</s>b#a"), "7[0,1) +1[1,5) 3[5,5) 5[5,6) +13[6,7) 7[7,8)");
  EXPECT_EQ(encoded_line(*tokenizer, "</s>", &none), "3[0,0) 8[0,1) 9[1,2) 10[2,3) 11[3,4)");
  EXPECT_EQ(encoded_line(*open(file_of(tokens, false, "t5")), "ab  a"), "6[0,2) 3[2,3) 7[3,5)");
  EXPECT_EQ(tokenizer->facts().puts_after, std::vector<TokenId>{1});
  EXPECT_TRUE(tokenizer->facts().weighs_runs);
  EXPECT_EQ(refusal(tokens, "t5", "abc"), "m.gguf: tokenizer.ggml.precompiled_charsmap is too short");
}

/// The blank in front, which this vocabulary does not know, is the unknown token: a control token that stands for no
/// byte.
TEST(GgufVocabulary, WhatNormalisingPutsInFrontIsAsTrustedAsTheByteBehind) {
  const std::vector<Token> tokens = {
      {"<pad>", 0, kControl}, {"</s>", 0, kControl}, {"<unk>", 0, kControl}, {"a", -3}, {"<|x|>", -1}};
  const auto tokenizer = open(file_of(tokens, true, "t5"));
  const std::vector<ByteSpan> all = {{0, 6}}, none;
  EXPECT_EQ(encoded_line(*tokenizer, "<|x|>a"), "2[0,0) 4[0,5) 3[5,6)");
  EXPECT_EQ(encoded_line(*tokenizer, "<|x|>a", &all), encoded_line(*tokenizer, "<|x|>a"));
  EXPECT_EQ(encoded_line(*tokenizer, "<|x|>a", &none), "2[0,5) 3[5,6)");
}

TEST(GgufVocabulary, NormalisingDoesNotFillMemory) {
  std::vector<Token> tokens = kSums;
  tokens.push_back({std::string(256, 'b'), -1});
  const auto tokenizer = open(file_of(tokens, false, "t5", CharsmapMaker(std::string(256, 'b')).made()));
  EXPECT_EQ(encoded_line(*tokenizer, "aa"), "14[0,1) 14[1,2)");
  EXPECT_TRUE(
      encoded_line(*tokenizer, std::string(testing::is_sparse() ? 100 : 1000, 'a')).starts_with("14[0,1) 14[1,2) "));
  EXPECT_EQ(encoded_line(*tokenizer, std::string(8000, 'a')),
            "the vocabulary's normalisation makes more than 1176576 bytes of a run of 8000");
}

TEST(GgufVocabulary, ScoresToSumMustBeNumbers) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  for (const auto& [model, base] : {std::pair{"t5", &kSums}, std::pair{"plamo2", &kCosts}}) {
    std::vector<Token> tokens = *base;
    EXPECT_EQ(refusal(tokens, model), "");
    for (const float score : {std::numeric_limits<float>::quiet_NaN(), kInfinite, -kInfinite, 1e10F}) {
      tokens[5].score = score;
      EXPECT_EQ(refusal(tokens, model), "m.gguf: the score of token 5 is not a usable number") << model << score;
    }
  }
}

TEST(GgufVocabulary, TakesTheLargestSumFromTheEnd) {
  std::vector<Token> tokens = kCosts;
  const auto tokenizer = open(file_of(tokens, true, "plamo2"));
  const std::vector<ByteSpan> none;
  EXPECT_EQ(encoded_line(*tokenizer, "aaa"), "3[0,2) 2[2,3)");  // of equal ways the one with the longer first token
  EXPECT_EQ(encoded_line(*tokenizer, "aaab a"), "2[0,1) 6[1,4) 5[4,5) 2[5,6)");
  EXPECT_EQ(encoded_line(*tokenizer, "a\u00e9"), "2[0,1) 204[1,2) 178[2,3)");
  EXPECT_EQ(encoded_line(*tokenizer, "\uFEFFa<s>"), "2[3,4) +1[4,7)");
  EXPECT_EQ(encoded_line(*tokenizer, "<s>", &none), "7[0,1) 8[1,3)");
  EXPECT_TRUE(tokenizer->facts().puts_before.empty() && tokenizer->facts().puts_after.empty());
  for (const float score : {-2000.0F, -1999.0F}) {  // of the first one no text becomes a token
    const std::vector<Token> few = with_bytes({{"<unk>", 0, kUnknown}, {"aaa", score}});
    EXPECT_EQ(encoded_line(*open(file_of(few, true, "plamo2")), "aaa"),
              score == -2000 ? "99[0,1) 99[1,2) 99[2,3)" : "1[0,3)");
  }
  tokens.pop_back();
  EXPECT_EQ(refusal(tokens, "plamo2"), "m.gguf: no token for the byte 0xFF");
  EXPECT_EQ(refusal(with_bytes({}), "plamo2"),
            "m.gguf: the token of the byte 0x00 is token 0, which llama.cpp takes for none");
}

TEST(GgufVocabulary, TakesTheLongestTokenOfThoseWrittenAsPythonWritesBytes) {
  GgufMaker maker;
  maker.string("tokenizer.ggml.model", "rwkv");
  maker.strings("tokenizer.ggml.tokens",
                {"<s>", "<", "s", ">", R"(\xe4\xb8)", R"(\xad)", R"(\n)", R"(\n\n)", R"(\'s)", R"(\\)", "s>s"});
  maker.pair("tokenizer.ggml.token_type", GgufMaker::kArray).number(GgufMaker::kI32, 4).number(11, 8);
  for (int i = 0; i < 11; ++i) maker.number(i == 0 ? kControl : kNormal, 4);
  const auto tokenizer = open(maker.bytes());
  const std::vector<ByteSpan> none;
  EXPECT_EQ(tokenizer->facts().kind, "GGUF, rwkv");
  EXPECT_TRUE(tokenizer->facts().puts_before.empty() && !tokenizer->facts().eos);
  EXPECT_EQ(encoded_line(*tokenizer, "<s>s>s"), "+0[0,3) 10[3,6)");
  EXPECT_EQ(encoded_line(*tokenizer, "<s>s>s", &none), "1[0,1) 10[1,4) 3[4,5) 2[5,6)");
  EXPECT_EQ(encoded_line(*tokenizer, "中\n\n\n's\\"), "4[0,2) 5[2,3) 7[3,5) 6[5,6) 8[6,8) 9[8,9)");
  EXPECT_EQ(encoded_line(*tokenizer, "sx"),
            "the vocabulary has no token for the bytes 0x78, and none for the byte 0x78");
  EXPECT_EQ(tokenizer->token_text(8), "'s");
  maker.u32("tokenizer.ggml.unknown_token_id", 0);
  const auto knows = open(maker.bytes());
  EXPECT_EQ(knows->facts().unk, 0);
  EXPECT_EQ(encoded_line(*knows, "sx中é"), "2[0,1) 0[1,2) 4[2,4) 5[4,5) 0[5,6) 0[6,7)");
  EXPECT_EQ(encoded_line(*knows, "<s>x", &none), "1[0,1) 2[1,2) 3[2,3) 0[3,4)");
}

TEST(GgufVocabulary, MergesMayBeMissingWhereTheSplitSaysSo) {
  std::size_t without = 0;
  for (const std::string_view name : gguf_split_names()) {
    GgufMaker maker;
    maker.string("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", {"a", "b"});
    if (!name.empty()) maker.string("tokenizer.ggml.pre", std::string(name));
    const auto opened = read_gguf_vocabulary(maker.bytes(), "m.gguf");
    const bool can_split = opened || opened.error().message().find("this build") == std::string::npos;
    if (!can_split) GTEST_SKIP() << opened.error().message();  // a build without the Rust library
    EXPECT_EQ(opened.has_value(), gguf_split(name)->may_lack_merges) << name;
    without += opened ? 1 : 0;
    EXPECT_EQ(
        opened ? encoded_line(**opened, "ba") : std::string(opened.error().message()),
        opened ? "1[0,1) 0[1,2)" : "m.gguf: no tokenizer.ggml.merges, which its tokenizer.ggml.model 'gpt2' needs");
  }
  EXPECT_EQ(without, 1u);
}

/// Against looking at every text, with texts and questions of few letters, zero bytes among them.
TEST(PieceTrie, FindsWhatLookingAtEachTextFinds) {
  std::minstd_rand random(7);
  const auto word = [&random](std::size_t most) {
    std::string made;
    for (std::size_t left = random() % (most + 1); left > 0; --left) made += "ab\xFF\0"[random() % 4];
    return made;
  };
  EXPECT_EQ(PieceTrie().longest("a"), 0u);
  EXPECT_EQ(PieceTrie().reach("a"), 0u);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> texts;
    for (std::size_t left = random() % 12; left > 0; --left) texts.push_back(word(5) + "a");
    std::vector<std::pair<std::string_view, std::int32_t>> numbered;
    for (const std::string& text : texts) numbered.emplace_back(text, static_cast<std::int32_t>(numbered.size()));
    const PieceTrie trie(numbered);
    const std::string asked = word(8);
    std::size_t longest = 0, reach = 0;
    for (const std::string& text : texts) {
      if (asked.starts_with(text)) longest = std::max(longest, text.size());
      reach = std::max(
          reach, static_cast<std::size_t>(std::mismatch(text.begin(), text.end(), asked.begin(), asked.end()).first -
                                          text.begin()));
    }
    EXPECT_EQ(trie.longest(asked), longest);
    EXPECT_EQ(trie.reach(asked), reach);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      PieceTrie::Node node = 0;
      for (const char c : texts[i]) node = trie.step(node, static_cast<std::uint8_t>(c));
      std::size_t last = i;  // of equal ones the last counts
      for (std::size_t other = i; other < texts.size(); ++other) last = texts[other] == texts[i] ? other : last;
      EXPECT_EQ(trie.value(node), static_cast<std::int32_t>(last));
    }
  }
}

std::string merged(const Merger& merger, std::string_view word, const std::vector<bool>* hidden = nullptr) {
  std::vector<MergedPiece> pieces;
  merger.merge(word, hidden, pieces);
  std::string line;
  for (const MergedPiece& piece : pieces) line += std::to_string(piece.id) + ":" + std::to_string(piece.size) + " ";
  return line;
}

TEST(Merger, GoesByPairsThatNeedNotBeTokens) {
  MergerParts parts;
  parts.texts = {"a", "b", "c", "abc", "bc"};
  parts.merges = {{"a", "b"}, {"ab", "c"}, {"b", "c"}};
  parts.by_pair = parts.from_bytes = true;
  const Merger merger(parts);
  EXPECT_EQ(merged(merger, "abc"), "3:3 ");
  EXPECT_EQ(merged(merger, "ab"), "-1:2 ");
  EXPECT_EQ(merged(merger, "bcab"), "4:2 -1:2 ");
  const std::vector<bool> hidden = {false, false, false, true, false};
  EXPECT_EQ(merged(merger, "abc", &hidden), "-1:2 2:1 ");
}

TEST(Merger, GoesByRanksAndTakesWholeWords) {
  MergerParts parts;
  parts.texts = {"a", "b", "ab", "ba", "aba", "bab"};
  parts.priorities = {0, -1, -2, -3, -4, -5};
  parts.from_bytes = parts.whole_words = true;
  const Merger merger(parts);
  EXPECT_EQ(merged(merger, "bab"), "5:3 ");
  EXPECT_EQ(merged(merger, "abab"), "2:2 2:2 ");
  EXPECT_EQ(merged(merger, "baba"), "1:1 4:3 ");
}

}  // namespace
}  // namespace parlance
