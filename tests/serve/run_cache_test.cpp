// RunCache gives the tokens of the tokenizer that it wraps: run_cache_test TOKENIZER…
//
// For each tokenizer, texts of words, blanks, marks and pieces of control tokens from a fixed seed are encoded by both,
// each text twice, and again behind others; also texts that are asked for many times between two new ones, which the
// limit holds for too. Also what ids are as JSON. A tokenizer that cannot be read is a failure, and so are none.
#include "serve/models/run_cache.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "serve/backends/ids_json.h"

namespace {

using parlance::ByteSpan;
using parlance::EncodedToken;

const char* const kWords[] = {"a",  "Hello",     " ",        "  ",     "\n", "\n\n",  "\t",     "你好",
                              "é",  "e\xCC\x81", "\xCC\x81", "😀",     "'s", "12345", "<|",     "|>",
                              "<",  ">",         "[",        "]",      "▁",  "</s",   "im_end", "x.",
                              "\r", "..",        "don't go", " world", "ﬁ",  "Ⅷ"};

std::string text_from(std::mt19937& draw, const std::vector<parlance::AddedToken>& added) {
  std::string text;
  const auto count = draw() % 24;
  for (unsigned i = 0; i < count; ++i) {
    const bool marks = !added.empty() && draw() % 3 == 0;
    const std::string& mark = marks ? added[draw() % added.size()].text : std::string();
    if (!marks)
      text += kWords[draw() % std::size(kWords)];
    else if (draw() % 6 == 0)
      text += mark.substr(0, draw() % (mark.size() + 1));  // perhaps in the middle of a character: no text then
    else
      text += mark;
  }
  return text;
}

std::string ids_of(const std::vector<EncodedToken>& tokens) {
  std::string out;
  for (const EncodedToken& token : tokens)
    out += std::to_string(token.id) + "@" + std::to_string(token.bytes.begin) + "-" + std::to_string(token.bytes.end) +
           (token.added ? "+ " : " ");
  return out;
}

bool is_same_text(const std::vector<ByteSpan>& a, const std::vector<ByteSpan>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ByteSpan& one, const ByteSpan& other) {
    return one.begin == other.begin && one.end == other.end;
  });
}

/// Each new text is followed by all before it, so that more is asked for again than the cache may keep.
std::size_t most_used(const parlance::serve::RunCache& cache) {
  constexpr int kTexts = 400;
  std::size_t most = 0;
  for (int count = 1; count <= kTexts; ++count) {
    for (int number = count; number-- > 0;) {
      std::vector<EncodedToken> tokens;
      if (!cache.encode("text " + std::to_string(number), nullptr, tokens)) return SIZE_MAX;
    }
    most = std::max(most, cache.used());
  }
  return most;
}

int check(const std::string& path, int rounds) {
  auto plain = parlance::open_tokenizer(path), wrapped = parlance::open_tokenizer(path);
  if (!plain || !wrapped) {
    std::printf("%s: not read: %s\n", path.c_str(), std::string((plain ? wrapped : plain).error().message()).c_str());
    return 1;
  }
  constexpr std::size_t kBytes = std::size_t{64} << 10;
  const parlance::serve::RunCache cache(std::move(*wrapped), kBytes);
  std::mt19937 draw(19);
  int differences = 0;
  std::size_t most = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string text = text_from(draw, cache.facts().added);
    std::vector<EncodedToken> wanted;
    std::vector<ByteSpan> lost;
    const auto is_text = (*plain)->encode_and_find_dropped(text, nullptr, wanted, lost);
    for (int again = 0; again < 2; ++again) {
      std::vector<EncodedToken> got;
      std::vector<ByteSpan> dropped;
      const auto done = cache.encode_and_find_dropped(text, nullptr, got, dropped);
      const bool is_same = !done || (ids_of(got) == ids_of(wanted) && is_same_text(dropped, lost));
      if (bool(done) == bool(is_text) && is_same) continue;
      if (++differences < 4)
        std::printf("%s: %s\n  plain  %s\n  cached %s\n", path.c_str(), text.c_str(), ids_of(wanted).c_str(),
                    ids_of(got).c_str());
    }
    most = std::max(most, cache.used());
  }
  most = std::max(most, most_used(cache));
  if (most > kBytes) {
    std::printf("%s: the cache took %zu bytes\n", path.c_str(), most);
    ++differences;
  }
  return differences;
}

int check_ids_json() {
  std::vector<parlance::TokenId> ids = {-1, 0, 2147483647};
  for (parlance::TokenId power = 1; power <= 100000000; power *= 10)
    for (const parlance::TokenId id : {power - 1, power, power + 1, 3 * power}) ids.push_back(id);
  std::string wanted;
  for (const parlance::TokenId id : ids) wanted += (wanted.empty() ? "[" : ",") + std::to_string(id);
  const std::string got = parlance::serve::ids_json(ids);
  if (got == wanted + "]" && parlance::serve::ids_json({}) == "[]") return 0;
  std::printf("ids as JSON: %s\n", got.c_str());
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::printf("no tokenizers to check with\n");
    return 1;
  }
  int differences = check_ids_json();
  for (int i = 1; i < count; ++i) differences += check(arguments[i], 3000);
  std::printf("%d tokenizers, %d differences\n", count - 1, differences);
  return differences == 0 ? 0 : 1;
}
