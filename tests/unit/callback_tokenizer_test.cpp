// CallbackTokenizer with small tokenizers of our own: one of bytes and pairs, one that writes a blank in front as
// SentencePiece does, and ones that do not keep the contract.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

#include "parlance/tokenizer.h"

namespace parlance {
namespace {

using Spans = std::vector<ByteSpan>;

constexpr TokenId kPairToken = 256;  ///< "ll"
const std::vector<AddedToken> kAdded = {
    {1000, "<s>", true}, {1001, "<|im_end|>", true}, {1002, "<|im", false}, {1003, "   "}};

std::string byte_text(TokenId id) {
  if (id < 256) return std::string(1, static_cast<char>(id));
  if (id == kPairToken) return "ll";
  for (const AddedToken& token : kAdded) {
    if (token.id == id) return token.text;
  }
  return "";
}

Result<void> encode_with_pair(std::string_view run, std::vector<TokenId>& ids) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    const bool pair = run.substr(i, 2) == "ll";
    ids.push_back(pair ? kPairToken : static_cast<unsigned char>(run[i]));
    i += pair;
  }
  return {};
}

CallbackTokenizer byte_level() { return CallbackTokenizer({kAdded, encode_with_pair, byte_text}); }

/// One token for each word, with the blank before it; the first word of a run gets a blank.
class Words {
 public:
  CallbackTokenizer tokenizer() {
    return CallbackTokenizer({{{5000, "<s>", true}},
                              [this](std::string_view run, std::vector<TokenId>& ids) { return encode(run, ids); },
                              [this](TokenId id) { return texts_[id]; }});
  }

 private:
  Result<void> encode(std::string_view run, std::vector<TokenId>& ids) {
    const std::string all = " " + std::string(run);
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = std::min(all.find(' ', at + 1), all.size());
      ids.push_back(id_of(all.substr(at, end - at)));
      at = end;
    }
    return {};
  }
  TokenId id_of(const std::string& text) {
    const TokenId id = ids_.emplace(text, TokenId(ids_.size())).first->second;
    texts_[id] = text;
    return id;
  }
  std::map<std::string, TokenId> ids_;
  std::map<TokenId, std::string> texts_;
};

std::string shown_tokens(const Result<void>& encoded, const std::vector<EncodedToken>& tokens) {
  if (!encoded) return std::string(facts(encoded.error().code()).name) + ": " + encoded.error().message();
  std::string all;
  for (const EncodedToken& t : tokens) {
    all += std::to_string(t.id) + "@" + std::to_string(t.bytes.begin) + "-" + std::to_string(t.bytes.end);
    all += t.added ? "! " : " ";
  }
  return all;
}

std::string encoded(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<EncodedToken> tokens;
  const Result<void> done = tokenizer.encode(text, nullptr, tokens);
  return shown_tokens(done, tokens);
}
std::string encoded(const Tokenizer& tokenizer, std::string_view text, const Spans& trusted) {
  std::vector<EncodedToken> tokens;
  const Result<void> done = tokenizer.encode(text, &trusted, tokens);
  return shown_tokens(done, tokens);
}

TEST(CallbackTokenizer, splits_at_control_tokens) {
  EXPECT_EQ(encoded(byte_level(), "<s>all<|im_end|>"), "1000@0-3! 97@3-4 256@4-6 1001@6-16! ");
  EXPECT_EQ(encoded(byte_level(), ""), "");
  EXPECT_EQ(encoded(byte_level(), "<s><s>"), "1000@0-3! 1000@3-6! ");
}

TEST(CallbackTokenizer, content_cannot_forge_them) {
  EXPECT_EQ(encoded(byte_level(), "<s><s>", {{0, 3}}), "1000@0-3! 60@3-4 115@4-5 62@5-6 ");
  EXPECT_EQ(encoded(byte_level(), "<|im_end|>", {{0, 5}}), "1002@0-4! 95@4-5 101@5-6 110@6-7 100@7-8 124@8-9 62@9-10 ");
}

TEST(CallbackTokenizer, white_space_is_no_control_token) {
  const CallbackTokenizer tokenizer = byte_level();
  EXPECT_FALSE(tokenizer.facts().added[3].control);
  EXPECT_EQ(encoded(tokenizer, "a   ", Spans{}), "97@0-1 1003@1-4! ");
}

TEST(CallbackTokenizer, a_blank_in_front_is_no_byte_of_the_text) {
  Words words;
  const CallbackTokenizer tokenizer = words.tokenizer();
  EXPECT_EQ(encoded(tokenizer, "ab cd<s>ab  x"), "0@0-2 1@2-5 5000@5-8! 0@8-10 2@10-11 3@11-13 ");
  EXPECT_EQ(encoded(tokenizer, " ab"), "2@0-0 0@0-3 ");
}

TEST(CallbackTokenizer, texts_that_do_not_give_the_run_have_its_span) {
  const CallbackTokenizer lower({kAdded, encode_with_pair, [](TokenId) { return std::string("?"); }});
  EXPECT_EQ(encoded(lower, "<s>ab"), "1000@0-3! 97@3-5 98@3-5 ");
  const CallbackTokenizer textless({.added = kAdded, .encode = encode_with_pair});
  EXPECT_EQ(encoded(textless, "x<s>ab"), "120@0-1 1000@1-4! 97@4-6 98@4-6 ");
  EXPECT_EQ(textless.token_text(97), "");
}

/// Tokens of an unknown character, and of a character's parts, do not take the places of others away.
TEST(CallbackTokenizer, texts_that_are_not_there_have_what_is_between) {
  const auto shown = [](TokenId id) { return id < 128 ? byte_text(id) : std::string("\xef\xbf\xbd"); };
  const CallbackTokenizer parts({kAdded, encode_with_pair, shown});
  EXPECT_EQ(encoded(parts,
                    "a\xc3\xbc"
                    "b"),
            "97@0-1 195@1-3 188@1-3 98@3-4 ");
  EXPECT_EQ(encoded(parts, "\xc3\xbc"), "195@0-2 188@0-2 ");
  EXPECT_EQ(encoded(parts, "\xc3\xbc<s>x"), "195@0-2 188@0-2 1000@2-5! 120@5-6 ");
  const auto knows = [](std::string_view run, std::vector<TokenId>& ids) -> Result<void> {
    for (const char c : std::string(" ") + std::string(run)) ids.push_back(c == 'q' ? 999 : c == 'z' ? -2 : c);
    std::erase(ids, -2);  // of a z nothing is left
    return {};
  };
  TokenizerFacts facts;
  facts.unk = 999;
  const auto text = [](TokenId id) { return id == 999 ? std::string("<unk>") : byte_text(id); };
  const CallbackTokenizer unknown({{{999, "<unk>", true}}, knows, text, facts});
  EXPECT_EQ(encoded(unknown, "aqb", Spans{}), "32@0-0 97@0-1 999@1-2 98@2-3 ") << "and <unk> is forged by nobody";
  EXPECT_EQ(encoded(unknown, "aqqb", Spans{}), "32@0-0 97@0-1 999@1-3 999@1-3 98@3-4 ");
  EXPECT_EQ(encoded(unknown, "azb", Spans{}), "32@0-0 97@0-1 98@2-3 ") << "what is left out is nobody's";
  EXPECT_EQ(encoded(unknown, "AB qb"), "32@0-0 65@0-1 66@1-2 32@2-3 999@3-4 98@4-5 ");
  const auto plain = [](std::string_view run, std::vector<TokenId>& ids) -> Result<void> {
    for (const char c : run) ids.push_back(c == '\n' ? ' ' : c >= 'A' && c <= 'Z' ? c + 32 : c == 'q' ? 999 : c);
    return {};
  };
  const CallbackTokenizer small({{{999, "<unk>", true}}, plain, text, facts});
  EXPECT_EQ(encoded(small, "Aq\nBc"), "97@0-1 999@1-2 32@2-3 98@3-4 99@4-5 ")
      << "white space is blanks, capitals are small";
  EXPECT_EQ(encoded(unknown, "abq", Spans{}), "32@0-0 97@0-1 98@1-2 999@2-3 ");
}

TEST(CallbackTokenizer, a_callback_that_makes_control_tokens_of_content_is_an_error) {
  const auto forger = [](std::string_view run, std::vector<TokenId>& ids) -> Result<void> {
    if (run != "<s>") return encode_with_pair(run, ids);
    ids.push_back(1000);
    return {};
  };
  const CallbackTokenizer tokenizer({kAdded, forger, byte_text});
  EXPECT_EQ(encoded(tokenizer, "<s>", Spans{}),
            "tokenizer: the tokenizer's callback made the control token 1000 ('<s>') of text that is not trusted");
  EXPECT_EQ(encoded(tokenizer, "<s>", {{0, 3}}), "1000@0-3! ");
  const auto with_bos = [](std::string_view run, std::vector<TokenId>& ids) {
    ids.push_back(1000);
    return encode_with_pair(run, ids);
  };
  const CallbackTokenizer doubles({kAdded, with_bos, byte_text});
  EXPECT_TRUE(encoded(doubles, "a", Spans{}).starts_with("tokenizer: "));
  EXPECT_EQ(encoded(doubles, "a"), "1000@0-0 97@0-1 ") << "it stands for nothing of the text";
}

TEST(CallbackTokenizer, failures_come_through) {
  const CallbackTokenizer failing({kAdded,
                                   [](std::string_view, std::vector<TokenId>&) -> Result<void> {
                                     return Error(ErrorCode::tokenizer, "out of order");
                                   },
                                   byte_text});
  EXPECT_EQ(encoded(failing, "a"), "tokenizer: out of order");
  EXPECT_EQ(encoded(failing, "<s>"), "1000@0-3! ");
  EXPECT_EQ(encoded(CallbackTokenizer({kAdded, {}, {}}), "a"), "tokenizer: the tokenizer has no callback `encode`");
  EXPECT_EQ(encoded(byte_level(), "\xff"), "value: the text to make tokens of is not UTF-8");
  const auto negative = [](std::string_view, std::vector<TokenId>& ids) {
    ids.push_back(-1);
    return Result<void>();
  };
  EXPECT_EQ(encoded(CallbackTokenizer({kAdded, negative, {}}), "a"),
            "tokenizer: the tokenizer's callback made the id -1");
}

TEST(CallbackTokenizer, facts_are_kept_and_completed) {
  TokenizerFacts facts;
  facts.kind = "mine";
  facts.eos = 1001;
  const CallbackTokenizer tokenizer({{{7, "b"}, {3, "a"}}, encode_with_pair, byte_text, facts});
  EXPECT_EQ(tokenizer.facts().kind, "mine");
  EXPECT_EQ(tokenizer.facts().eos, 1001);
  EXPECT_EQ(tokenizer.facts().added[0].id, 3);
  EXPECT_EQ(tokenizer.facts().vocabulary_size, 0u) << "not known";
  facts.vocabulary_size = 5;
  const CallbackTokenizer small({{{7, "b"}}, encode_with_pair, byte_text, facts});
  EXPECT_EQ(small.facts().vocabulary_size, 8u);
}

TEST(CallbackTokenizer, spans_cover_the_text_and_nothing_is_forged) {
  std::mt19937 random(4);
  const CallbackTokenizer tokenizer = byte_level();
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (unsigned n = random() % 20; n > 0; --n)
      text += std::vector<std::string>{"<s>", "<|im", "_end|>", "ll", "é", "   "}[random() % 6];
    std::vector<EncodedToken> none, all, free;
    const Spans nowhere, everywhere = text.empty() ? Spans{} : Spans{{0, std::uint32_t(text.size())}};
    ASSERT_TRUE(tokenizer.encode(text, &nowhere, none));
    ASSERT_TRUE(tokenizer.encode(text, &everywhere, all));
    ASSERT_TRUE(tokenizer.encode(text, nullptr, free));
    ASSERT_EQ(shown_tokens({}, all), shown_tokens({}, free));
    std::uint32_t at = 0;
    for (const EncodedToken& token : none) {
      ASSERT_TRUE(token.id < 1000 || token.id == 1003);
      ASSERT_EQ(token.bytes.begin, at);
      at = token.bytes.end;
    }
    ASSERT_EQ(at, text.size());
  }
}

}  // namespace
}  // namespace parlance
