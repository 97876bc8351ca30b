// The tokens whose scores have the largest sum, found from the end of a text on; of equal ways the one with the longer
// first token. Facts: llama.cpp v0.5.0, llama-vocab.cpp. Begin reading at GgufCosts::encode.
#include "tokenizers/gguf_costs.h"

#include "base/utf8.h"
#include "tokenizers/piece_trie.h"

namespace parlance {
namespace {

constexpr std::int64_t kUnknownScore = -10'000'000;
constexpr std::string_view kByteOrderMark = "\uFEFF";

/// The cheapest way from a place to the end, by its first token.
struct CheapestWay {
  std::int64_t cost = 0;
  TokenId id = -1;  ///< -1: the tokens of bytes
  std::uint32_t size = 0;
};

class GgufCosts final : public RunEncoder {
 public:
  explicit GgufCosts(GgufCostsParts parts);
  Result<void> encode(std::string_view run, bool blank_in_front, const std::vector<bool>* hidden,
                      std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const override;

 private:
  std::vector<CheapestWay> find_ways(std::string_view text, const std::vector<bool>* hidden) const;

  GgufCostsParts parts_;
  PieceTrie tokens_;
};

GgufCosts::GgufCosts(GgufCostsParts parts) : parts_(std::move(parts)), tokens_(PieceTrie::of(parts_.texts)) {}

std::vector<CheapestWay> GgufCosts::find_ways(std::string_view text, const std::vector<bool>* hidden) const {
  std::vector<CheapestWay> ways(text.size() + 1);
  for (std::size_t begin = text.size(); begin-- > 0;) {
    if ((static_cast<std::uint8_t>(text[begin]) & 0xC0) == 0x80) continue;  // within a character
    const std::size_t first = utf8::decode(text.data() + begin, text.data() + text.size()).size;
    CheapestWay best{ways[begin + first].cost - kUnknownScore, -1, static_cast<std::uint32_t>(first)};
    PieceTrie::Node node = 0;
    for (std::size_t at = begin; at < text.size();) {
      node = tokens_.step(node, static_cast<std::uint8_t>(text[at++]));
      if (node == PieceTrie::kNone) break;
      const TokenId id = tokens_.value(node);
      if (id == PieceTrie::kNone || (hidden != nullptr && (*hidden)[static_cast<std::size_t>(id)])) continue;
      const std::int64_t cost = ways[at].cost - parts_.scores[static_cast<std::size_t>(id)];
      if (cost <= best.cost) best = {cost, id, static_cast<std::uint32_t>(at - begin)};
    }
    ways[begin] = best;
  }
  return ways;
}

Result<void> GgufCosts::encode(std::string_view run, bool, const std::vector<bool>* hidden,
                               std::vector<EncodedToken>& into, std::vector<ByteSpan>&) const {
  const std::vector<CheapestWay> ways = find_ways(run, hidden);
  for (std::size_t at = run.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0; at < run.size();) {
    const CheapestWay& way = ways[at];
    const auto begin = static_cast<std::uint32_t>(at);
    if (way.id >= 0) into.push_back({way.id, {begin, begin + way.size}, false});
    for (std::uint32_t i = 0; way.id < 0 && i < way.size; ++i)
      into.push_back({parts_.bytes[static_cast<std::uint8_t>(run[at + i])], {begin + i, begin + i + 1}, false});
    at += way.size;
  }
  return {};
}

}  // namespace

std::unique_ptr<RunEncoder> gguf_costs(GgufCostsParts parts) { return std::make_unique<GgufCosts>(std::move(parts)); }

}  // namespace parlance
