// Vocabularies that are merged: GGUF's "llama" by scores, of files small enough to be read here, and the Merger by itself.
// Against llama.cpp and tiktoken they are held by tests/oracle/gguf_tokens_oracle.py and rank_tokens_oracle.py.
#include <gtest/gtest.h>

#include <bit>

#include "gguf_maker.h"
#include "tokenizers/adapters.h"
#include "tokenizers/merger.h"

namespace parlance {
namespace {

enum Type : std::uint32_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct Token {
  std::string text;
  float score = 0;
  Type type = kNormal;
};

std::string file_of(const std::vector<Token>& tokens, bool space_prefix = true) {
  GgufMaker maker;
  std::vector<std::string> texts;
  for (const Token& token : tokens) texts.push_back(token.text);
  maker.string("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", texts);
  maker.pair("tokenizer.ggml.scores", GgufMaker::kArray).number(GgufMaker::kF32, 4).number(tokens.size(), 8);
  for (const Token& token : tokens) maker.number(std::bit_cast<std::uint32_t>(token.score), 4);
  maker.pair("tokenizer.ggml.token_type", GgufMaker::kArray).number(GgufMaker::kI32, 4).number(tokens.size(), 8);
  for (const Token& token : tokens) maker.number(token.type, 4);
  maker.flag("tokenizer.ggml.add_space_prefix", space_prefix ? 1 : 0);
  return maker.bytes();
}

const std::vector<Token> kTokens = {{"<unk>", 0, kUnknown}, {"<s>", 0, kControl}, {"</s>", 0, kControl}, {"<0xC3>", 0, kByte},
                                    {"<0xA9>", 0, kByte},   {"▁", -1},            {"a", -2},             {"b", -3},
                                    {"ab", -4},             {"▁a", -5},           {"ba", -6},            {"<", -7},
                                    {"s", -8},              {">", -9},            {"<s", -10},           {"##", 0, kUserDefined},
                                    {"/", -11}};

std::unique_ptr<Tokenizer> open(const std::string& bytes) {
  auto opened = read_gguf_vocabulary(bytes, "m.gguf");
  if (!opened) ADD_FAILURE() << opened.error().display();
  return opened ? std::move(*opened) : nullptr;
}

std::string encoded(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>* trusted = nullptr) {
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
  EXPECT_EQ(encoded(*tokenizer, "abab"), "5[0,0) 8[0,2) 8[2,4)");
  EXPECT_EQ(encoded(*tokenizer, "aba"), "5[0,0) 8[0,2) 6[2,3)");
  EXPECT_EQ(encoded(*tokenizer, " aé"), "5[0,0) 9[0,2) 3[2,3) 4[3,4)");
  EXPECT_EQ(encoded(*tokenizer, ""), "");
}

TEST(GgufVocabulary, EachRunGetsABlankUnlessTheFileSaysNo) {
  EXPECT_EQ(encoded(*open(file_of(kTokens)), "a<s>a##b"), "9[0,1) +1[1,4) 9[4,5) +15[5,7) 5[7,7) 7[7,8)");
  EXPECT_EQ(encoded(*open(file_of(kTokens, false)), "a<s>a##b"), "6[0,1) +1[1,4) 6[4,5) +15[5,7) 7[7,8)");
}

TEST(GgufVocabulary, NothingUntrustedIsAControlToken) {
  const auto tokenizer = open(file_of(kTokens, false));
  const std::vector<ByteSpan> none, second = {{3, 6}};
  EXPECT_EQ(encoded(*tokenizer, "<s><s>", &none), "14[0,2) 13[2,3) 14[3,5) 13[5,6)");
  EXPECT_EQ(encoded(*tokenizer, "<s><s>", &second), "14[0,2) 13[2,3) +1[3,6)");
  EXPECT_EQ(encoded(*tokenizer, "</s>", &none), "11[0,1) 16[1,2) 12[2,3) 13[3,4)");
}

TEST(GgufVocabulary, BytesWithoutATokenAreAnError) {
  EXPECT_EQ(encoded(*open(file_of(kTokens)), "ax"), "the vocabulary has no token for the bytes 0x78, and none for the byte 0x78");
}

TEST(GgufVocabulary, SaysWhatItPutsAroundATextAndWhatEndsOne) {
  const TokenizerFacts facts = open(file_of(kTokens))->facts();
  EXPECT_EQ(facts.kind, "GGUF, llama");
  EXPECT_EQ(facts.bos, 1);
  EXPECT_EQ(facts.puts_before, std::vector<TokenId>{1});
  ASSERT_EQ(facts.ends.size(), 1u);
  EXPECT_EQ(facts.ends[0].source, "llama.cpp, by its text");
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
