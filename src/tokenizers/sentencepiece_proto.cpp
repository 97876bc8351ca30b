// Reading and writing SentencePiece models. Begin reading at read_sp_model.
#include "tokenizers/sentencepiece_proto.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/utf8.h"
#include "tokenizers/wire.h"

namespace parlance {
namespace {

// Numbers of fields in sentencepiece_model.proto.
namespace model_field {
constexpr unsigned pieces = 1, trainer = 2, normalizer = 3;
}
namespace piece_field {
constexpr unsigned text = 1, score = 2, type = 3;
}
namespace trainer_field {
constexpr unsigned algorithm = 3, byte_fallback = 35, unk_id = 40, unk = 45, bos = 46, eos = 47;
}
namespace normalizer_field {
constexpr unsigned charsmap = 2, add_dummy_prefix = 3, remove_extra_whitespaces = 4;
}

constexpr std::size_t kMaxPiece = 4096;  // the library goes through an unused one by recursion
constexpr std::size_t kMaxNested =
    32;  // … and has room for 64 user-defined ones that begin each other
constexpr float kMaxScore = 1e9F;  // sums stay numbers
constexpr std::size_t kMaxPieces = std::size_t{1} << 24;

Error damaged(const std::string& path, const std::string& what) {
  return Error(ErrorCode::tokenizer, path + ": " + what);
}
Error bad_piece(const std::string& path, std::size_t id, std::string_view what) {
  return damaged(path, "piece " + std::to_string(id) + " " + std::string(what));
}

bool read_piece(std::string_view message, SpPiece& piece) {
  piece.message = message;
  WireReader reader(message);
  for (WireField field; reader.next(field);) {
    if (field.number == piece_field::text && field.type == WireField::bytes)
      piece.text = field.text;
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
  if (piece.text.size() > kMaxPiece) return "is longer than 4 KiB";
  if (piece.text.find('\0') != std::string_view::npos) return "has a zero byte";
  if (!utf8::is_valid(piece.text, false)) return "is not UTF-8";
  if (!(std::fabs(piece.score) <= kMaxScore)) return "has a score that is no usable number";
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
  return std::any_of(pieces.begin(), pieces.end(),
                     [type](const SpPiece& piece) { return piece.type == type; });
}

Result<void> check_pieces(const std::vector<SpPiece>& pieces, const std::string& path) {
  if (pieces.empty()) return damaged(path, "not a SentencePiece model: it has no pieces");
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    if (const std::string_view fault = fault_of_piece(pieces[id]); !fault.empty())
      return bad_piece(path, id, fault);
  }
  if (!has(pieces, SpType::normal)) return damaged(path, "none of its pieces is text");
  if (!has(pieces, SpType::unknown)) return damaged(path, "it has no piece for what is unknown");
  if (nested(pieces) > kMaxNested)
    return damaged(path, "too many user-defined pieces that begin each other");
  return {};
}

Result<void> read_trainer(SpModel& model, const std::string& path) {
  WireReader reader(model.trainer);
  for (WireField field; reader.next(field);) {
    if (field.number == trainer_field::algorithm && field.type == WireField::varint) {
      if (field.value < 1 || field.value > 4) return damaged(path, "a model of an unknown kind");
      model.algorithm = static_cast<SpAlgorithm>(field.value);
    }
    if (field.number == trainer_field::byte_fallback && field.type == WireField::varint)
      model.byte_fallback = field.value != 0;
    if (field.number == trainer_field::unk_id && field.type == WireField::varint)
      model.unk_id = field.value < model.pieces.size() ? field.value : 0;
    if (field.type != WireField::bytes || field.text.empty()) continue;
    if (field.number == trainer_field::unk && utf8::is_valid(field.text, false)) model.unk = field.text;
    if (field.number == trainer_field::bos) model.bos = field.text;
    if (field.number == trainer_field::eos) model.eos = field.text;
  }
  return reader.good() ? Result<void>() : damaged(path, "damaged where it says how it was trained");
}

Result<void> read_normalizer(SpModel& model, const std::string& path) {
  WireReader reader(model.normalizer);
  for (WireField field; reader.next(field);) {
    if (field.number == normalizer_field::charsmap && field.type == WireField::bytes)
      model.charsmap = field.text;
    if (field.number == normalizer_field::remove_extra_whitespaces &&
        field.type == WireField::varint)
      model.remove_extra_whitespaces = field.value != 0;
  }
  if (!reader.good()) return damaged(path, "damaged where it says how text is normalised");
  if (const std::string_view fault = fault_of_charsmap(model.charsmap); !fault.empty())
    return damaged(path, "its table of normalisation " + std::string(fault));
  return {};
}

/// The outermost message. A part that comes twice is merged, as protocol buffers are.
Result<void> read_parts(std::string_view bytes, SpModel& model, const std::string& path) {
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.type != WireField::bytes) continue;
    if (field.number == model_field::trainer) model.trainer += field.text;
    if (field.number == model_field::normalizer) model.normalizer += field.text;
    if (field.number != model_field::pieces) continue;
    if (model.pieces.size() == kMaxPieces) return damaged(path, "too many pieces");
    if (!read_piece(field.text, model.pieces.emplace_back()))
      return bad_piece(path, model.pieces.size() - 1, "is damaged");
  }
  if (reader.good()) return {};
  return damaged(
      path, "not a SentencePiece model, or a damaged one: byte " + std::to_string(reader.offset()));
}

}  // namespace

Result<SpModel> read_sp_model(std::string_view bytes, const std::string& path) {
  if (bytes.size() > kMaxSpModel) return damaged(path, "larger than 64 MiB");
  SpModel model;
  if (Result<void> read = read_parts(bytes, model, path); !read) return read.error();
  if (Result<void> read = check_pieces(model.pieces, path); !read) return read.error();
  if (Result<void> read = read_trainer(model, path); !read) return read.error();
  if (Result<void> read = read_normalizer(model, path); !read) return read.error();
  return model;
}

std::string write_sp_model(const SpModel& model, const SpChanges& changes) {
  std::string out;
  std::string message;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    message.assign(model.pieces[id].message);
    if (id < changes.hidden.size() && changes.hidden[id]) {
      append_bytes(message, piece_field::text, "\xFF" + std::to_string(id));
      append_number(message, piece_field::type, static_cast<unsigned>(SpType::control));
    }
    append_bytes(out, model_field::pieces, message);
  }
  if (!changes.anchor.empty()) {
    message.clear();
    append_bytes(message, piece_field::text, changes.anchor);
    append_number(message, piece_field::type, static_cast<unsigned>(SpType::user_defined));
    append_bytes(out, model_field::pieces, message);
  }
  append_bytes(out, model_field::trainer, model.trainer);
  message = model.normalizer;
  if (changes.no_dummy_prefix) append_number(message, normalizer_field::add_dummy_prefix, 0);
  append_bytes(out, model_field::normalizer, message);
  return out;
}

}  // namespace parlance
