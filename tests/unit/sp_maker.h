// Small SentencePiece models, written by hand, whole and broken.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "base/wire.h"
#include "tokenizers/sentencepiece_proto.h"

namespace parlance {

struct SpMaker {
  std::string pieces, trainer, normalizer;

  SpMaker& piece(std::string_view text, SpType type = SpType::normal, float score = 0) {
    std::string message, number(sizeof score, '\0');
    append_bytes(message, 1, text);
    std::memcpy(number.data(), &score, sizeof score);
    message.append("\x15").append(number);  // field 2, four bytes
    append_number(message, 3, static_cast<unsigned>(type));
    append_bytes(pieces, 1, message);
    return *this;
  }
  SpMaker& train(unsigned field, std::uint64_t value) { return append_number(trainer, field, value), *this; }
  SpMaker& normalize(unsigned field, std::uint64_t value) { return append_number(normalizer, field, value), *this; }
  SpMaker& charsmap(std::string_view map) { return append_bytes(normalizer, 2, map), *this; }
  std::string made() const {
    std::string out = pieces;
    append_bytes(out, 2, trainer);
    append_bytes(out, 3, normalizer);
    return out;
  }
};

/// <unk> <s> </s> <|x|>(user-defined) and a few letters; BPE, a dummy prefix, no dropping of
/// blanks.
inline SpMaker small_model() {
  SpMaker maker;
  maker.piece("<unk>", SpType::unknown).piece("<s>", SpType::control).piece("</s>", SpType::control);
  maker.piece("<|x|>", SpType::user_defined);
  for (const std::string_view text : {"\u2581", "a", "b", "<", "|", "x", ">", "s", "/"})
    maker.piece(text, SpType::normal, -9);
  maker.piece("ab", SpType::normal, -1).piece("\u2581ab", SpType::normal, -2);
  return std::move(maker.train(3, 2).normalize(4, 0));
}

/// A table of normalisation with one rule, "a" becomes `to`; every unit can be overwritten by what
/// a test wants.
struct CharsmapMaker {
  std::vector<std::uint32_t> units;
  std::string texts;

  explicit CharsmapMaker(std::string_view to) : units(256), texts(to) {
    for (std::uint32_t i = 0; i < 256; ++i) units[i] = i ^ 0x55;  // labels that nothing leads to
    units[0] = 1U << 10;
    units[0x60] = 0xE0U << 10 | 1U << 8 | 'a';
    units[0x80] = 1U << 31;
    texts.push_back('\0');
  }
  std::string made() const {
    std::string out;
    const auto append = [&out](std::uint32_t value) {
      for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(value >> shift));
    };
    append(static_cast<std::uint32_t>(units.size() * 4));
    for (const std::uint32_t unit : units) append(unit);
    return out + texts;
  }
};

}  // namespace parlance
