// Reading a GGUF header pair by pair. Begin at read_gguf; GgufReader::value() says which keys
// count.
#include "sources/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/packed.h"
#include "base/utf8.h"

namespace parlance {
namespace {

/// Numbers of the specification's gguf_metadata_value_type.
enum Type : std::uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
  kTypeCount,
};

struct TypeFacts {
  std::string_view name;
  std::uint8_t size;  ///< of a value in bytes; of the shortest for texts and arrays
  bool is_integer = false;
  bool is_signed = false;
};
constexpr TypeFacts kTypes[kTypeCount] = {
    {"uint8", 1, true},  {"int8", 1, true, true},
    {"uint16", 2, true}, {"int16", 2, true, true},
    {"uint32", 4, true}, {"int32", 4, true, true},
    {"float32", 4},      {"bool", 1},
    {"string", 8},       {"array", 12},
    {"uint64", 8, true}, {"int64", 8, true, true},
    {"float64", 8},
};

constexpr std::uint32_t kDeepestArray = 8;
constexpr std::uint64_t kLongestKey = 65535;  // the specification's
constexpr std::uint64_t kShortestPair = 8 + 4 + 1;
constexpr std::size_t kMostTemplates = 1000;
constexpr std::size_t kMostTemplateBytes = std::size_t{64} << 20;

constexpr std::string_view kTemplateKey = "tokenizer.chat_template";
constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kCharsmapKey = "tokenizer.ggml.precompiled_charsmap";
constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";

/// Keys that hold a text; of another type they say nothing.
struct TextKey {
  std::string_view key;
  std::string_view GgufHeader::*text;
};
constexpr TextKey kTextKeys[] = {
    {"tokenizer.ggml.model", &GgufHeader::tokenizer},
    {"tokenizer.ggml.pre", &GgufHeader::splitting},
    {"general.name", &GgufHeader::name},
    {"general.architecture", &GgufHeader::architecture},
    {"general.size_label", &GgufHeader::size_label},
};

/// The keys that hold a number of the vocabulary, and the variable that its token becomes. The
/// writer spells one of them `seperator`, the specification `separator`.
struct TokenKey {
  std::string_view key;
  std::string_view variable;
};
constexpr TokenKey kTokenKeys[] = {
    {"tokenizer.ggml.bos_token_id", "bos_token"},         {"tokenizer.ggml.eos_token_id", "eos_token"},
    {"tokenizer.ggml.eot_token_id", "eot_token"},         {"tokenizer.ggml.eom_token_id", "eom_token"},
    {"tokenizer.ggml.unknown_token_id", "unk_token"},     {"tokenizer.ggml.seperator_token_id", "sep_token"},
    {"tokenizer.ggml.separator_token_id", "sep_token"},   {"tokenizer.ggml.padding_token_id", "pad_token"},
    {"tokenizer.ggml.cls_token_id", "cls_token"},         {"tokenizer.ggml.mask_token_id", "mask_token"},
    {"tokenizer.ggml.fim_pre_token_id", "fim_pre_token"}, {"tokenizer.ggml.fim_suf_token_id", "fim_suf_token"},
    {"tokenizer.ggml.fim_mid_token_id", "fim_mid_token"}, {"tokenizer.ggml.fim_pad_token_id", "fim_pad_token"},
    {"tokenizer.ggml.fim_rep_token_id", "fim_rep_token"}, {"tokenizer.ggml.fim_sep_token_id", "fim_sep_token"},
};

struct FlagKey {
  std::string_view key;
  std::optional<bool> GgufHeader::*flag;
};
constexpr FlagKey kFlagKeys[] = {
    {"tokenizer.ggml.add_bos_token", &GgufHeader::add_bos_token},
    {"tokenizer.ggml.add_eos_token", &GgufHeader::add_eos_token},
    {"tokenizer.ggml.add_space_prefix", &GgufHeader::add_space_prefix},
    {"tokenizer.ggml.remove_extra_whitespaces", &GgufHeader::remove_extra_whitespaces},
};

struct NumberKey {
  std::string_view key;
  std::optional<std::int64_t> GgufHeader::*number;
};
constexpr NumberKey kNumberKeys[] = {
    {"general.file_type", &GgufHeader::file_type},
    {"split.no", &GgufHeader::split_number},
    {"split.count", &GgufHeader::split_count},
};

/// What else a file may be that is called .gguf, by its first bytes.
struct OtherMagic {
  std::string_view bytes;
  std::string_view hint;
};
constexpr OtherMagic kOtherMagics[] = {
    {"lmgg", "it is of the format before GGUF"},
    {"fmgg", "it is of the format before GGUF"},
    {"tjgg", "it is of the format before GGUF"},
};

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size, bool big_endian) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t from = big_endian ? at + i : at + size - 1 - i;
    number = number << 8 | static_cast<unsigned char>(bytes[from]);
  }
  return number;
}

/// The length that stands before a text: the hot part of walking a vocabulary, so one load.
inline std::uint64_t length_at(std::string_view bytes, std::size_t at, bool big_endian) {
  std::uint64_t length;
  std::memcpy(&length, bytes.data() + at, sizeof length);
  return big_endian == (std::endian::native == std::endian::big) ? length : __builtin_bswap64(length);
}

/// Can it be shown as it is? Names end up in errors and on terminals.
bool is_clean(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  return utf8::is_valid(text, false) && std::none_of(text.begin(), text.end(), is_control);
}

/// A key for a message: it may be anything.
std::string shown(std::string_view key) {
  constexpr std::size_t kMost = 80;
  std::string text = "'";
  for (const char c : key.substr(0, kMost)) text += c >= ' ' && c <= '~' ? c : '?';
  return text += key.size() > kMost ? "...'" : "'";
}

}  // namespace

/// The walk through the file. Every step says false when it failed; the first failure is kept.
class GgufReader {
 public:
  GgufReader(std::string_view bytes, const std::string& path, const MappedFile* file)
      : bytes_(bytes), path_(path), file_(file) {}

  Result<GgufHeader> read() {
    if (begin() && pairs()) return std::move(header_);
    return *failure_;
  }

 private:
  // ---- failing

  bool fail(std::size_t offset, std::string message, std::string hint = {}) {
    failure_ = Error(ErrorCode::model_file, "at byte " + std::to_string(offset) + ": " + std::move(message))
                   .at({.name = path_, .begin = offset, .end = offset})
                   .hint(std::move(hint));
    return false;
  }
  std::size_t left() const { return bytes_.size() - at_; }
  bool need(std::size_t size, std::string_view what) {
    if (size <= left()) return true;
    return cut_off(std::string(what) + " of " + std::to_string(size) + " bytes");
  }
  /// A length that reaches past the end: the file is cut off, or the length is nonsense.
  bool cut_off(const std::string& what) {
    std::string message = what + (key_.empty() ? "" : " in " + shown(key_)) + ", but ";
    if (file_ != nullptr && file_->file_size() > bytes_.size()) {
      return fail(at_, message + "a header may have " + std::to_string(kMaxGgufHeader >> 20) + " MiB at most");
    }
    return fail(at_, message + std::to_string(left()) + " bytes are left",
                "the file is damaged or was not downloaded to its end");
  }

  // ---- parts of the format

  bool number(std::size_t size, std::string_view what, std::uint64_t& value) {
    if (!need(size, what)) return false;
    value = number_at(bytes_, at_, size, header_.big_endian);
    at_ += size;
    return true;
  }
  bool text(std::string_view what, std::string_view& value) {
    std::uint64_t size = 0;
    if (!number(8, "the length of a text", size)) return false;
    if (size > left()) return cut_off(std::string(what) + " of " + std::to_string(size) + " bytes");
    value = bytes_.substr(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return true;
  }
  bool type(std::uint32_t& value) {
    std::uint64_t read = 0;
    const std::size_t offset = at_;
    if (!number(4, "a type", read)) return false;
    if (read >= kTypeCount) return fail(offset, shown(key_) + " has the unknown type " + std::to_string(read));
    value = static_cast<std::uint32_t>(read);
    return true;
  }

  bool begin();
  bool pairs();
  bool pair();
  bool value(std::uint32_t type);
  bool skip(std::uint32_t type, std::uint32_t depth);
  bool skip_array(std::uint32_t depth, GgufTexts* keep = nullptr);
  bool skip_texts(std::uint64_t count, GgufTexts* keep);
  void forget_behind();

  bool general_type();
  bool numbers(std::string_view& into, std::uint32_t& item);
  bool numbers_of(std::uint32_t kind, std::uint32_t unsigned_kind, std::string_view& into);
  bool token_types();
  bool token_scores();
  bool charsmap();
  bool chat_template(std::uint32_t type);
  bool token_id(const TokenKey& row, std::uint32_t type);
  bool flag(std::optional<bool>& into, std::uint32_t type);
  bool integer(std::optional<std::int64_t>& into, std::uint32_t type);
  bool wanted(std::uint32_t met, std::string_view want) {
    return fail(value_at_, shown(key_) + " is of type " + std::string(kTypes[met].name) + ", not " + std::string(want));
  }
  bool twice() { return fail(value_at_, shown(key_) + " stands there twice"); }

  std::string_view bytes_;
  const std::string& path_;
  const MappedFile* file_;
  std::size_t at_ = 0;
  std::size_t forgotten_ = 0;  ///< what lies before was given back
  std::string_view key_;       ///< of the pair that is being read
  std::size_t value_at_ = 0;   ///< where its value begins
  std::size_t template_bytes_ = 0;
  GgufHeader header_;
  std::optional<Error> failure_;
};

std::optional<std::string_view> GgufTexts::at(std::uint64_t number) const {
  if (number >= size_) return std::nullopt;
  std::size_t at = steps_[static_cast<std::size_t>(number / kStep)];
  for (std::uint64_t i = number % kStep; i > 0; --i)
    at += 8 + static_cast<std::size_t>(length_at(bytes_, at, big_endian_));
  return text_at(at);
}

std::string_view GgufTexts::text_at(std::size_t place) const {
  return bytes_.substr(place + 8, static_cast<std::size_t>(length_at(bytes_, place, big_endian_)));
}

float GgufHeader::token_score(std::uint64_t number) const {
  const std::uint64_t bits = number_at(token_scores, static_cast<std::size_t>(number) * 4, 4, big_endian);
  const auto read = static_cast<std::uint32_t>(bits);
  return scores_are_integers ? static_cast<float>(static_cast<std::int32_t>(read)) : std::bit_cast<float>(read);
}

std::uint32_t GgufHeader::token_type(std::uint64_t number) const {
  return static_cast<std::uint32_t>(number_at(token_types, static_cast<std::size_t>(number) * 4, 4, big_endian));
}

/// Magic, version, counts. A version whose low half is empty is one in the other byte order, as
/// gguf-py has it.
bool GgufReader::begin() {
  if (!bytes_.starts_with("GGUF")) {
    std::string hint(hint_for_bytes(bytes_));
    for (const OtherMagic& other : kOtherMagics) {
      if (bytes_.starts_with(other.bytes)) hint = other.hint;
    }
    return fail(0, "not a GGUF file: it does not begin with 'GGUF'", std::move(hint));
  }
  at_ = 4;
  std::uint64_t version = 0;
  if (!number(4, "the version", version)) return false;
  if ((version & 0xffff) == 0) {
    header_.big_endian = true;
    version = number_at(bytes_, 4, 4, true);
  }
  if (version != 2 && version != 3) {
    return fail(4, "version " + std::to_string(version) + " of GGUF; 2 and 3 are read",
                version == 1 ? "convert the model again: version 1 was in use for weeks only" : "");
  }
  header_.version = static_cast<std::uint32_t>(version);
  std::uint64_t tensors = 0;
  return number(8, "the number of tensors", tensors) && number(8, "the number of pairs", header_.pair_count);
}

bool GgufReader::pairs() {
  if (header_.pair_count > left() / kShortestPair) {
    at_ -= 8;
    return cut_off(std::to_string(header_.pair_count) + " pairs of key and value");
  }
  for (std::uint64_t i = 0; i < header_.pair_count; ++i) {
    if (!pair()) return false;
  }
  return true;
}

bool GgufReader::pair() {
  key_ = {};
  const std::size_t offset = at_;
  std::string_view key;
  if (!text("a key", key)) return false;
  if (key.size() > kLongestKey)
    return fail(offset, "a key of " + std::to_string(key.size()) + " bytes; 65535 are allowed");
  key_ = key;
  std::uint32_t met = 0;
  if (!type(met)) return false;
  value_at_ = at_;
  return value(met);
}

/// The keys that count; all others are walked over.
bool GgufReader::value(std::uint32_t met) {
  if (key_.starts_with(kTemplateKey)) {
    const std::string_view rest = key_.substr(kTemplateKey.size());
    if (rest.empty() || (rest.size() > 1 && rest[0] == '.')) return chat_template(met);
  }
  if (key_ == kTokensKey) {
    if (met != kArray) return wanted(met, "array");
    if (header_.tokens.size() != 0) return twice();
    return skip_array(1, &header_.tokens);
  }
  if (key_ == kMergesKey && met == kArray) return header_.merges.size() != 0 ? twice() : skip_array(1, &header_.merges);
  if (key_ == kTypesKey && met == kArray) return token_types();
  if (key_ == kScoresKey && met == kArray) return token_scores();
  if (key_ == kCharsmapKey && met == kArray) return charsmap();
  if (key_ == "general.type" && met == kString) return general_type();
  for (const TextKey& row : kTextKeys) {
    if (row.key == key_ && met == kString) return text("a text", header_.*row.text);
  }
  for (const TokenKey& row : kTokenKeys) {
    if (row.key == key_) return token_id(row, met);
  }
  for (const FlagKey& row : kFlagKeys) {
    if (row.key == key_) return flag(header_.*row.flag, met);
  }
  for (const NumberKey& row : kNumberKeys) {
    if (row.key == key_) return integer(header_.*row.number, met);
  }
  return skip(met, 1);
}

// ---- walking over values

/// Memory of what was walked over is given back megabyte by megabyte.
void GgufReader::forget_behind() {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  if (file_ == nullptr || at_ - forgotten_ < kStep) return;
  file_->release(forgotten_, at_);
  forgotten_ = at_;
}

bool GgufReader::skip_texts(std::uint64_t count, GgufTexts* keep) {
  const bool big_endian = header_.big_endian;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % GgufTexts::kStep == 0) {
      if (keep != nullptr) keep->steps_.push_back(at_);
      forget_behind();
    }
    if (left() < 8) return cut_off("the length of text " + std::to_string(i));
    const std::uint64_t size = length_at(bytes_, at_, big_endian);
    if (size > left() - 8) return cut_off("text " + std::to_string(i) + " of " + std::to_string(size) + " bytes");
    at_ += 8 + static_cast<std::size_t>(size);
  }
  return true;
}

/// `keep`: the array must be one of texts, which are remembered there.
bool GgufReader::skip_array(std::uint32_t depth, GgufTexts* keep) {
  if (depth > kDeepestArray)
    return fail(at_, shown(key_) + " has arrays in arrays, more than " + std::to_string(kDeepestArray) + " deep");
  const std::size_t offset = at_;
  std::uint32_t item = 0;
  std::uint64_t count = 0;
  if (!type(item)) return false;
  if (keep != nullptr && item != kString)
    return fail(offset, shown(key_) + " is an array of " + std::string(kTypes[item].name) + ", not of texts");
  if (!number(8, "the size of an array", count)) return false;
  if (count > left() / kTypes[item].size) {
    at_ -= 8;
    return cut_off("an array of " + std::to_string(count) + " values of type " + std::string(kTypes[item].name));
  }
  if (item == kString) {
    if (keep != nullptr) {
      keep->bytes_ = bytes_;
      keep->big_endian_ = header_.big_endian;
      keep->size_ = count;
    }
    return skip_texts(count, keep);
  }
  if (item != kArray) {
    at_ += static_cast<std::size_t>(count) * kTypes[item].size;
    forget_behind();
    return true;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!skip_array(depth + 1)) return false;
  }
  return true;
}

bool GgufReader::skip(std::uint32_t met, std::uint32_t depth) {
  if (met == kArray) return skip_array(depth);
  if (met == kString) return skip_texts(1, nullptr);
  if (!need(kTypes[met].size, "a value")) return false;
  at_ += kTypes[met].size;
  return true;
}

// ---- the values that count

bool GgufReader::general_type() {
  constexpr std::size_t kMost = 40;
  std::string_view read;
  if (!text("a text", read)) return false;
  if (read.size() <= kMost && is_clean(read)) header_.type = read;
  return true;
}

/// An array of numbers, as its bytes, and the type of its items.
bool GgufReader::numbers(std::string_view& into, std::uint32_t& item) {
  const std::size_t begin = at_;
  if (!skip_array(1)) return false;
  item = static_cast<std::uint32_t>(number_at(bytes_, begin, 4, header_.big_endian));
  into = bytes_.substr(begin + 12, at_ - begin - 12);
  return true;
}

/// Numbers of one of two kinds. Of another kind they say nothing.
bool GgufReader::numbers_of(std::uint32_t kind, std::uint32_t unsigned_kind, std::string_view& into) {
  std::string_view read;
  std::uint32_t item = 0;
  if (!numbers(read, item)) return false;
  if (item == kind || item == unsigned_kind) into = read;
  return true;
}

bool GgufReader::token_types() { return numbers_of(kI32, kU32, header_.token_types); }

bool GgufReader::charsmap() { return numbers_of(kI8, kU8, header_.charsmap); }

bool GgufReader::token_scores() {
  std::string_view read;
  std::uint32_t item = 0;
  if (!numbers(read, item)) return false;
  if (item == kI32 || item == kF32) header_.token_scores = read;
  header_.scores_are_integers = item == kI32;
  return true;
}

bool GgufReader::chat_template(std::uint32_t met) {
  if (met != kString) return wanted(met, "string");
  std::string_view read;
  if (!text("a template", read)) return false;
  if (!utf8::is_valid(read, false)) return fail(value_at_ + 8, shown(key_) + " is not UTF-8");
  const std::string_view name = key_.size() == kTemplateKey.size() ? "default" : key_.substr(kTemplateKey.size() + 1);
  if (!is_clean(name)) return fail(value_at_, "the name of a template is not text");
  for (const GgufTemplate& other : header_.templates) {
    if (other.key == key_ || other.name == name) return twice();
  }
  template_bytes_ += read.size();
  if (header_.templates.size() == kMostTemplates || template_bytes_ > kMostTemplateBytes)
    return fail(value_at_, "more than 1000 templates, or more than 64 MiB of them");
  header_.templates.push_back({key_, name, read});
  return true;
}

bool GgufReader::integer(std::optional<std::int64_t>& into, std::uint32_t met) {
  const TypeFacts& facts = kTypes[met];
  if (!facts.is_integer) return wanted(met, "an integer");
  if (into) return twice();
  std::uint64_t read = 0;
  if (!number(facts.size, "a number", read)) return false;
  const std::uint64_t sign = std::uint64_t{1} << (8 * facts.size - 1);
  if (facts.is_signed && (read & sign) != 0) read |= ~(sign - 1);
  into = static_cast<std::int64_t>(read);
  // An unsigned number beyond what is signed is none of the vocabulary's either way.
  if (!facts.is_signed && *into < 0) into = std::int64_t{-1};
  return true;
}

bool GgufReader::token_id(const TokenKey& row, std::uint32_t met) {
  std::optional<std::int64_t> id;
  if (!integer(id, met)) return false;
  for (const GgufTokenId& other : header_.token_ids) {
    if (other.variable == row.variable) return twice();
  }
  header_.token_ids.push_back({row.key, row.variable, *id, value_at_});
  return true;
}

bool GgufReader::flag(std::optional<bool>& into, std::uint32_t met) {
  if (met != kBool) return wanted(met, "bool");
  if (into) return twice();
  std::uint64_t read = 0;
  if (!number(1, "a truth value", read)) return false;
  if (read > 1) return fail(value_at_, shown(key_) + " is " + std::to_string(read) + ", neither 0 nor 1");
  into = read == 1;
  return true;
}

Result<GgufHeader> read_gguf(std::string_view bytes, const std::string& path, const MappedFile* file) {
  return GgufReader(bytes, path, file).read();
}

}  // namespace parlance
