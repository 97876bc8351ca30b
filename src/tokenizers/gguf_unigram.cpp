// The tokens whose scores have the largest sum, after normalising. Facts: llama.cpp v0.5.0, llama-vocab.cpp, which sums
// in double, takes unused tokens too, and lets the bytes alone by which a user-defined token could begin. Begin reading
// at GgufUnigram::encode.
#include "tokenizers/gguf_unigram.h"

#include <algorithm>
#include <cfloat>

#include "base/utf8.h"
#include "tokenizers/character_size.h"
#include "tokenizers/piece_trie.h"
#include "tokenizers/pieces.h"
#include "tokenizers/sentencepiece_charsmap.h"

namespace parlance {
namespace {

struct Normalized {
  std::string text;
  std::vector<std::uint32_t> places;  ///< in the run, of each byte and of the end
  std::vector<ByteSpan> dropped;      ///< parts of the run that a rule takes away, other than white space and marks
};

/// The best way to a place, by its last token.
struct BestWay {
  double sum = -DBL_MAX;
  TokenId id = -1;
  std::uint32_t size = 0;
};

class GgufUnigram final : public RunEncoder {
 public:
  explicit GgufUnigram(GgufUnigramParts parts);
  Result<void> encode(std::string_view run, bool blank_in_front, const std::vector<bool>* hidden,
                      std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const override;

 private:
  struct Part {
    std::string_view text;
    std::size_t size;
  };
  Part part_of(std::string_view text) const;
  Result<Normalized> normalize(std::string_view run, bool blank_in_front) const;
  std::vector<BestWay> find_ways(std::string_view text, const std::vector<bool>* hidden) const;

  GgufUnigramParts parts_;
  PieceTrie tokens_, user_defined_;
  CharsmapRules rules_;
};

GgufUnigram::GgufUnigram(GgufUnigramParts parts)
    : parts_(std::move(parts)),
      tokens_(PieceTrie::of(parts_.texts)),
      user_defined_(PieceTrie::of(parts_.user_defined)),
      rules_(parts_.charsmap) {}

GgufUnigram::Part GgufUnigram::part_of(std::string_view text) const {
  if (const std::size_t size = user_defined_.reach(text); size != 0) return {text.substr(0, size), size};
  if (const CharsmapRules::Match rule = rules_.longest(text); rule.size != 0) return {rule.text, rule.size};
  const utf8::Decoded c = utf8::decode(text.data(), text.data() + text.size());
  if (!utf8::is_valid(text.substr(0, c.size), false)) return {kReplacement, 1};
  return {text.substr(0, c.size), c.size};
}

/// A word's blank has the place of the blanks before it.
Result<Normalized> GgufUnigram::normalize(std::string_view run, bool blank_in_front) const {
  Normalized made;
  const auto append = [&made](std::string_view text, std::size_t place) {
    made.text += text;
    made.places.insert(made.places.end(), text.size(), static_cast<std::uint32_t>(place));
  };
  bool in_word = false, has_front = false;
  std::size_t blanks_begin = 0;
  for (std::size_t at = 0; at < run.size();) {
    const Part part = part_of(run.substr(at));
    note_taken(run, at, part.size, part.text, made.dropped);
    for (const char c : part.text) {
      if (c == ' ') {
        if (in_word) blanks_begin = at;
        in_word = false;
        if (!parts_.merges_blanks) append(kBlank, at);
        continue;
      }
      if (!in_word && (parts_.merges_blanks || (blank_in_front && !has_front))) {
        append(kBlank, parts_.merges_blanks ? blanks_begin : at);
        has_front = true;
      }
      in_word = true;
      append({&c, 1}, at);
    }
    if (made.text.size() > most_normalized(run.size())) return normalized_too_long(run.size());
    at += part.size;
  }
  made.places.push_back(static_cast<std::uint32_t>(in_word || !parts_.merges_blanks ? run.size() : blanks_begin));
  return made;
}

std::vector<BestWay> GgufUnigram::find_ways(std::string_view text, const std::vector<bool>* hidden) const {
  std::vector<BestWay> ways(text.size() + 1);
  ways[0].sum = 0;
  const auto take = [&](std::size_t end, std::uint32_t size, double sum, TokenId id) {
    if (sum > ways[end].sum) ways[end] = {sum, id, size};
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const double sum = ways[begin].sum;
    const std::uint32_t first = size_by_first(text.substr(begin));
    bool is_known = false;
    PieceTrie::Node node = 0;
    for (std::size_t at = begin; at < text.size();) {
      node = tokens_.step(node, static_cast<std::uint8_t>(text[at++]));
      if (node == PieceTrie::kNone) break;
      const TokenId id = tokens_.value(node);
      if (id == PieceTrie::kNone || (hidden != nullptr && (*hidden)[static_cast<std::size_t>(id)])) continue;
      const auto size = static_cast<std::uint32_t>(at - begin);
      take(at, size, sum + parts_.scores[static_cast<std::size_t>(id)], id);
      is_known = is_known || size == first;
    }
    if (!is_known) take(begin + first, first, sum + static_cast<double>(parts_.unknown_score), parts_.unknown);
    begin += first;
  }
  return ways;
}

Result<void> GgufUnigram::encode(std::string_view run, bool blank_in_front, const std::vector<bool>* hidden,
                                 std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const {
  const Result<Normalized> normalized = normalize(run, blank_in_front);
  if (!normalized) return normalized.error();
  dropped.insert(dropped.end(), normalized->dropped.begin(), normalized->dropped.end());
  const std::vector<BestWay> ways = find_ways(normalized->text, hidden);
  const std::size_t first = into.size();
  for (std::size_t end = normalized->text.size(); end > 0; end -= ways[end].size) {
    const ByteSpan bytes{normalized->places[end - ways[end].size], normalized->places[end]};
    const bool goes_on = into.size() > first && into.back().id == parts_.unknown && ways[end].id == parts_.unknown;
    if (goes_on) {
      into.back().bytes.begin = bytes.begin;  // what is unknown is one token
    } else {
      into.push_back({ways[end].id, bytes, false});
    }
  }
  std::reverse(into.begin() + static_cast<std::ptrdiff_t>(first), into.end());
  return {};
}

}  // namespace

std::unique_ptr<RunEncoder> gguf_unigram(GgufUnigramParts parts) {
  return std::make_unique<GgufUnigram>(std::move(parts));
}

}  // namespace parlance
