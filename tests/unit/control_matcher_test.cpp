// ControlMatcher against a second, plain implementation on random texts, and the rules by example.
#include "tokens/tokenizer/control_matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace parlance {
namespace {

std::string shown_matches(const std::vector<ControlMatch>& matches) {
  std::string all;
  for (const ControlMatch& m : matches) {
    all += std::to_string(m.token->id) + "@" + std::to_string(m.bytes.begin) + "-" + std::to_string(m.bytes.end);
    if (m.taken.begin != m.bytes.begin || m.taken.end != m.bytes.end)
      all += "(" + std::to_string(m.taken.begin) + "-" + std::to_string(m.taken.end) + ")";
    all += " ";
  }
  return all;
}

std::string found(const std::vector<AddedToken>& tokens, std::string_view text) {
  return shown_matches(ControlMatcher(tokens).find(text, nullptr));
}
std::string found(const std::vector<AddedToken>& tokens, std::string_view text, const std::vector<ByteSpan>& trusted) {
  return shown_matches(ControlMatcher(tokens).find(text, &trusted));
}

TEST(ControlMatcher, takes_the_leftmost_and_of_those_the_longest) {
  const std::vector<AddedToken> tokens = {{1, "<a"}, {2, "<a>"}, {3, "a>b"}, {4, "b"}};
  EXPECT_EQ(found(tokens, "<a>b"), "2@0-3 4@3-4 ");
  EXPECT_EQ(found(tokens, "<a<a>xa>b"), "1@0-2 2@2-5 3@6-9 ");
  EXPECT_EQ(found(tokens, ""), "");
  EXPECT_EQ(found({}, "<a>"), "");
  EXPECT_EQ(found({{1, ""}}, "<a>"), "");
}

std::string longest_first(const std::vector<AddedToken>& tokens, std::string_view text) {
  return shown_matches(ControlMatcher(tokens).find_longest_first(text, nullptr));
}

TEST(ControlMatcher, longest_first_looks_for_longer_tokens_in_all_of_the_text) {
  const std::vector<AddedToken> tokens = {{1, "<a"}, {2, "<a>"}, {3, "a>bc"}, {4, "b"}, {5, "<a><"}};
  EXPECT_EQ(longest_first(tokens, "<a>bc"), "3@1-5 ");
  EXPECT_EQ(longest_first(tokens, "<a<a>xb"), "1@0-2 2@2-5 4@6-7 ");
  EXPECT_EQ(longest_first(tokens, "<a><a><a>"), "5@0-4 2@6-9 ");
  EXPECT_EQ(longest_first({}, "<a>"), "");
  const std::vector<AddedToken> blanks = {{1, "  "}, {2, "   "}};
  EXPECT_EQ(longest_first(blanks, "        "), "2@0-3 2@3-6 1@6-8 ");
  const std::vector<AddedToken> strips = {{.id = 1, .text = "<longest>", .rstrip = true}, {.id = 2, .text = "\n"}};
  EXPECT_EQ(longest_first(strips, "\n<longest> \n\v x\n"), "2@0-1 1@1-10(1-14) 2@15-16 ");
}

TEST(ControlMatcher, longest_first_keeps_to_trusted_ranges) {
  const std::vector<AddedToken> tokens = {{1, "abcd"}, {2, "bc"}, {3, "cdef"}};
  const auto found_in = [&](std::vector<ByteSpan> trusted) {
    return shown_matches(ControlMatcher(tokens).find_longest_first("abcdef", &trusted));
  };
  EXPECT_EQ(found_in({{1, 3}}), "2@1-3 ");
  EXPECT_EQ(found_in({{2, 6}}), "3@2-6 ");
  EXPECT_EQ(found_in({}), "");
}

TEST(ControlMatcher, of_two_tokens_of_one_text_the_later_counts) {
  EXPECT_EQ(found({{1, "x"}, {2, "x"}}, "x"), "2@0-1 ");
}

TEST(ControlMatcher, a_control_token_needs_all_its_bytes_in_one_trusted_range) {
  const std::vector<AddedToken> tokens = {{1, "<end>"}, {2, "<e"}};
  EXPECT_EQ(found(tokens, "<end>", {{0, 5}}), "1@0-5 ");
  EXPECT_EQ(found(tokens, "<end>", {}), "");
  EXPECT_EQ(found(tokens, "<end>", {{0, 4}}), "2@0-2 ");
  EXPECT_EQ(found(tokens, "<end>", {{1, 5}}), "");
  EXPECT_EQ(found(tokens, "<end><end><end>", {{1, 7}, {8, 15}}), "2@5-7 1@10-15 ");
}

TEST(ControlMatcher, a_trusted_token_is_found_where_an_untrusted_one_overlaps_it) {
  const std::vector<AddedToken> tokens = {{1, "abcd"}, {2, "bc"}, {3, "cdef"}};
  EXPECT_EQ(found(tokens, "abcdef", {{1, 3}}), "2@1-3 ");
  EXPECT_EQ(found(tokens, "abcdef", {{2, 6}}), "3@2-6 ");
}

TEST(ControlMatcher, white_space_is_found_everywhere) {
  std::vector<AddedToken> tokens = {{1, "  "}, {2, "<s>"}};
  tokens[0].control = false;
  EXPECT_EQ(found(tokens, "a  <s>  ", std::vector<ByteSpan>{}), "1@1-3 1@6-8 ");
}

TEST(ControlMatcher, takes_white_space_along) {
  const std::vector<AddedToken> left = {{.id = 1, .text = "<m>", .lstrip = true}};
  EXPECT_EQ(found(left, "a \t<m> b"), "1@3-6(1-6) ");
  EXPECT_EQ(found(left, "\u3000\u00a0<m>\u2003"), "1@5-8(0-8) ");
  const std::vector<AddedToken> both = {{.id = 1, .text = "<m>", .lstrip = true, .rstrip = true}};
  EXPECT_EQ(found(both, "a <m>  <m> b"), "1@2-5(1-7) 1@7-10(7-11) ");
}

TEST(ControlMatcher, a_token_may_begin_in_white_space_that_was_taken) {
  std::vector<AddedToken> tokens = {{.id = 1, .text = "<m>", .rstrip = true}, {2, "  "}};
  EXPECT_EQ(found(tokens, "<m>   x"), "1@0-3(0-6) 2@3-5 ");
}

TEST(ControlMatcher, single_words_have_no_letter_beside_them) {
  const std::vector<AddedToken> tokens = {{.id = 1, .text = "foo", .single_word = true}, {2, "oo"}};
  EXPECT_EQ(found(tokens, "foo foot afoo (foo) _foo"), "1@0-3 1@15-18 ");
  EXPECT_EQ(found(tokens, "foo\u00e9 foo\u0301 foo\u24d0 foo\u3002"), "1@19-22 ");
  EXPECT_EQ(found(tokens, "\u0663foo \u2160foo \u00b2foo"), "1@15-18 ");
}

TEST(ControlMatcher, knows_blank_texts) {
  EXPECT_TRUE(is_blank(" \n\t"));
  EXPECT_TRUE(is_blank("\u3000"));
  EXPECT_FALSE(is_blank(""));
  EXPECT_FALSE(is_blank(" x "));
  EXPECT_FALSE(is_blank("\u200b"));
}

TEST(ControlMatcher, thousands_of_tokens_with_one_prefix) {
  std::vector<AddedToken> tokens;
  for (int i = 0; i < 20000; ++i) tokens.push_back({i, "<|reserved_special_token_" + std::to_string(i) + "|>"});
  const ControlMatcher matcher(tokens);
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "x" + tokens[std::size_t(i)].text + "<|reserved_special_token_20000|>";
  const std::vector<ControlMatch> matches = matcher.find(text, nullptr);
  ASSERT_EQ(matches.size(), 20000u);
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(matches[std::size_t(i)].token->id, i);
}

// ---- the second implementation: every token at every place

bool plain_trusted(std::size_t begin, std::size_t end, const std::vector<ByteSpan>* trusted) {
  if (trusted == nullptr) return true;
  return std::any_of(trusted->begin(), trusted->end(), [&](ByteSpan r) { return r.begin <= begin && end <= r.end; });
}

bool ascii_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::vector<ControlMatch> plain_find(const std::vector<AddedToken>& tokens, const std::string& text,
                                     const std::vector<ByteSpan>* trusted) {
  std::vector<ControlMatch> all;
  std::size_t free_from = 0;
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* best = nullptr;
    for (const AddedToken& token : tokens) {
      if (token.text.empty() || text.compare(at, token.text.size(), token.text) != 0) continue;
      if (token.control && !plain_trusted(at, at + token.text.size(), trusted)) continue;
      if (best == nullptr || token.text.size() >= best->text.size()) best = &token;
    }
    if (best == nullptr) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + best->text.size();
    at = end;
    const bool beside = (begin > 0 && ascii_word(text[begin - 1])) || (end < text.size() && ascii_word(text[end]));
    if (best->single_word && beside) continue;
    ControlMatch match{best, {std::uint32_t(begin), std::uint32_t(end)}, {}};
    while (best->lstrip && begin > free_from && text[begin - 1] == ' ') --begin;
    while (best->rstrip && end < text.size() && text[end] == ' ') ++end;
    match.taken = {std::uint32_t(best->lstrip ? std::max(begin, free_from) : begin), std::uint32_t(end)};
    free_from = end;
    all.push_back(match);
  }
  return all;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return std::size_t(engine_() % n); }
  std::string text(std::size_t longest) {
    std::string made;
    for (std::size_t n = below(longest + 1); n > 0; --n) made += "ab <>_"[below(6)];
    return made;
  }
  AddedToken token(int id) {
    AddedToken made{.id = id, .text = text(5)};
    made.lstrip = below(5) == 0;
    made.rstrip = below(5) == 0;
    made.single_word = below(5) == 0;
    made.control = made.text.find('<') != std::string::npos;  // of one text there is one answer
    return made;
  }
  std::vector<ByteSpan> ranges(std::size_t size) {
    std::vector<ByteSpan> made;
    for (std::size_t at = below(4); at < size; at += 1 + below(4)) {
      const std::size_t end = std::min(size, at + 1 + below(9));
      made.push_back({std::uint32_t(at), std::uint32_t(end)});
      at = end;
    }
    return made;
  }

 private:
  std::mt19937 engine_;
};

TEST(ControlMatcher, agrees_with_a_plain_search_on_random_texts) {
  Random random(20260314);
  std::size_t matched = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<AddedToken> tokens;
    for (std::size_t n = random.below(8); n > 0; --n) tokens.push_back(random.token(int(n)));
    const std::string text = random.text(40);
    const std::vector<ByteSpan> ranges = random.ranges(text.size());
    const std::vector<ByteSpan>* trusted = random.below(3) == 0 ? nullptr : &ranges;
    const std::string mine = shown_matches(ControlMatcher(tokens).find(text, trusted));
    ASSERT_EQ(mine, shown_matches(plain_find(tokens, text, trusted))) << text;
    matched += !mine.empty();
  }
  EXPECT_GT(matched, 5000u);
}

}  // namespace
}  // namespace parlance
