// Reading SentencePiece models. Begin reading at read_sp_model.
#include "tokenizers/sentencepiece_proto.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/utf8.h"
#include "base/wire.h"
#include "sources/sentencepiece_trainer.h"
#include "tokenizers/piece_trie.h"
#include "tokenizers/refused.h"
#include "tokenizers/sentencepiece_charsmap.h"

namespace parlance {
namespace {

// Numbers of fields in sentencepiece_model.proto.
namespace model_field {
constexpr unsigned pieces = 1, normalizer = 3;
}
namespace piece_field {
constexpr unsigned text = 1, score = 2, type = 3;
}
namespace normalizer_field {
constexpr unsigned charsmap = 2, add_dummy_prefix = 3, remove_extra_whitespaces = 4, escape_whitespaces = 5;
}

// At each place of a text all user-defined pieces that begin there are met; and what is let through SentencePiece
// should read too, which has room for 64 of them and does not look whether there are more.
constexpr std::size_t kMaxNested = 32;
constexpr float kMaxScore = 1e9F;  // sums stay numbers
constexpr std::size_t kMaxPieces = std::size_t{1} << 24;

Error bad_piece(const std::string& path, std::size_t id, std::string_view what) {
  return refused(path, "piece " + std::to_string(id) + " " + std::string(what));
}

bool read_piece(std::string_view message, SpPiece& piece) {
  WireReader reader(message);
  for (WireField field; reader.next(field);) {
    if (field.number == piece_field::text && field.type == WireField::bytes) piece.text = field.text;
    if (field.number == piece_field::score && field.type == WireField::fixed32)
      piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
    if (field.number == piece_field::type && field.type == WireField::varint) {
      if (field.value < 1 || field.value > 6) return false;
      piece.type = static_cast<SpType>(field.value);
    }
  }
  return reader.good();
}

std::string_view fault_of_piece(const SpPiece& piece) {
  if (piece.text.empty()) return "has no text";
  if (piece.text.size() > kMaxTrieText) return "is longer than 1 KiB";
  if (piece.text.find('\0') != std::string_view::npos) return "has a zero byte";
  if (!utf8::is_valid(piece.text, false)) return "is not UTF-8";
  if (!(std::fabs(piece.score) <= kMaxScore)) return "has an unusable score";
  return {};
}

/// The length of the longest chain of user-defined pieces of which each begins the next.
std::size_t nested(const std::vector<SpPiece>& pieces) {
  std::vector<std::string_view> texts;
  for (const SpPiece& piece : pieces) {
    if (piece.type == SpType::user_defined) texts.push_back(piece.text);
  }
  std::sort(texts.begin(), texts.end());
  std::vector<std::string_view> chain;
  std::size_t longest = 0;
  for (const std::string_view text : texts) {
    while (!chain.empty() && !text.starts_with(chain.back())) chain.pop_back();
    chain.push_back(text);
    longest = std::max(longest, chain.size());
  }
  return longest;
}

bool has(const std::vector<SpPiece>& pieces, SpType type) {
  return std::any_of(pieces.begin(), pieces.end(), [type](const SpPiece& piece) { return piece.type == type; });
}

Result<void> check_pieces(const std::vector<SpPiece>& pieces, const std::string& path) {
  if (pieces.empty()) return refused(path, "not a SentencePiece model: it has no pieces");
  std::size_t all = 0;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    if (const std::string_view fault = fault_of_piece(pieces[id]); !fault.empty()) return bad_piece(path, id, fault);
    all += pieces[id].text.size();
  }
  if (all > kMaxTrieBytes) return refused(path, "its pieces are longer than 16 MiB together");
  if (!has(pieces, SpType::normal)) return refused(path, "none of its pieces is text");
  if (!has(pieces, SpType::unknown)) return refused(path, "it has no piece for unknown text");
  if (nested(pieces) > kMaxNested) return refused(path, "too many user-defined pieces that begin each other");
  return {};
}

Result<void> take_trainer(std::string_view message, SpModel& model, const std::string& path) {
  SpTrainer trainer;
  if (!read_sp_trainer(message, trainer)) return refused(path, "damaged where it says how it was trained");
  if (trainer.algorithm < 1 || trainer.algorithm > 4) return refused(path, "a model of an unknown kind");
  model.algorithm = static_cast<SpAlgorithm>(trainer.algorithm);
  model.byte_fallback = trainer.byte_fallback;
  model.whitespace_as_suffix = trainer.whitespace_as_suffix;
  const auto unk = static_cast<std::size_t>(std::max(trainer.unk_id, 0));
  model.unk_id = unk < model.pieces.size() ? unk : 0;
  if (utf8::is_valid(trainer.unk, false)) model.unk = std::move(trainer.unk);
  model.bos = trainer.bos_id < 0 ? std::string() : std::move(trainer.bos);
  model.eos = trainer.eos_id < 0 ? std::string() : std::move(trainer.eos);
  return {};
}

Result<void> read_normalizer(std::string_view normalizer, SpModel& model, const std::string& path) {
  struct Flag {
    unsigned number;
    bool SpModel::*member;
  };
  constexpr Flag kFlags[] = {{normalizer_field::add_dummy_prefix, &SpModel::add_dummy_prefix},
                             {normalizer_field::remove_extra_whitespaces, &SpModel::remove_extra_whitespaces},
                             {normalizer_field::escape_whitespaces, &SpModel::escape_whitespaces}};
  WireReader reader(normalizer);
  for (WireField field; reader.next(field);) {
    if (field.number == normalizer_field::charsmap && field.type == WireField::bytes) model.charsmap = field.text;
    for (const Flag& flag : kFlags) {
      if (field.number == flag.number && field.type == WireField::varint) model.*flag.member = field.value != 0;
    }
  }
  if (!reader.good()) return refused(path, "damaged where it says how text is normalised");
  if (const std::string_view fault = fault_of_charsmap(model.charsmap); !fault.empty())
    return refused(path, "its table of normalisation " + std::string(fault));
  return {};
}

/// The messages trainer_spec and normalizer_spec.
struct Specs {
  std::string trainer, normalizer;
};

/// The outermost message. A part that comes twice is merged, as protocol buffers are.
Result<void> read_parts(std::string_view bytes, SpModel& model, Specs& specs, const std::string& path) {
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.type != WireField::bytes) continue;
    if (field.number == kSpTrainerField) specs.trainer += field.text;
    if (field.number == model_field::normalizer) specs.normalizer += field.text;
    if (field.number != model_field::pieces) continue;
    if (model.pieces.size() == kMaxPieces) return refused(path, "too many pieces");
    if (!read_piece(field.text, model.pieces.emplace_back()))
      return bad_piece(path, model.pieces.size() - 1, "is damaged");
  }
  if (reader.good()) return {};
  return refused(path, "not a SentencePiece model, or a damaged one: byte " + std::to_string(reader.offset()));
}

}  // namespace

Result<SpModel> read_sp_model(std::string_view bytes, const std::string& path) {
  if (bytes.size() > kMaxSpModel) return refused(path, "larger than 64 MiB");
  SpModel model;
  Specs specs;
  if (Result<void> read = read_parts(bytes, model, specs, path); !read) return read.error();
  if (Result<void> read = check_pieces(model.pieces, path); !read) return read.error();
  if (Result<void> read = take_trainer(specs.trainer, model, path); !read) return read.error();
  if (Result<void> read = read_normalizer(specs.normalizer, model, path); !read) return read.error();
  return model;
}

}  // namespace parlance
