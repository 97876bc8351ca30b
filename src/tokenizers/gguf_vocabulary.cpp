// The vocabulary in a GGUF file, tokenized as llama.cpp does (llama-vocab.cpp): tokenizer.ggml.model says in which way
// (GgufWay).
//
// Begin reading at read_gguf_vocabulary.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <unordered_map>

#include "base/utf8.h"
#include "sources/gguf.h"
#include "tokenizers/adapters.h"
#include "tokenizers/byte_alphabet.h"
#include "tokenizers/gguf_costs.h"
#include "tokenizers/gguf_unigram.h"
#include "tokenizers/merging_tokenizer.h"
#include "tokenizers/piece_trie.h"
#include "tokenizers/pieces.h"
#include "tokenizers/refused.h"
#include "tokenizers/sentencepiece_charsmap.h"
#include "tokenizers/split_names.h"
#include "tokens/tokenizer/control_matcher.h"

namespace parlance {
namespace {

/// llama.cpp's types of tokens.
enum class Type : std::uint32_t { undefined, normal, unknown, control, user_defined, unused, byte };

/// Those in use have 300,000 tokens and as many merges.
constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 22;
constexpr std::uint64_t kMostMerges = std::uint64_t{1} << 23;
/// What llama.cpp takes where a file does not say.
constexpr std::int64_t kListBos = 11, kScoreBos = 1, kScoreEos = 2, kSumsEos = 1, kSumsUnknown = 2;

/// A text of the file in a message.
std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string made = "'";
  for (const char c : text.substr(0, kMost)) made += c >= ' ' && c <= '~' ? c : '?';
  return made + (text.size() > kMost ? "…'" : "'");
}

const GgufModel* model_named(std::string_view name) {
  const std::span<const GgufModel> models = gguf_models();
  const auto found =
      std::find_if(models.begin(), models.end(), [&](const GgufModel& model) { return model.name == name; });
  return found == models.end() ? nullptr : &*found;
}

/// "'a', 'b' and 'c'"
std::string all_models() {
  const std::span<const GgufModel> models = gguf_models();
  std::string all;
  for (std::size_t i = 0; i < models.size(); ++i)
    all += std::string(i == 0 ? "'" : i + 1 == models.size() ? " and '" : ", '") + std::string(models[i].name) + "'";
  return all;
}

/// The byte of "<0x0A>".
std::optional<std::uint8_t> byte_token(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  const std::size_t high = kDigits.find(text[3]), low = kDigits.find(text[4]);
  if (high == kDigits.npos || low == kDigits.npos) return std::nullopt;
  return static_cast<std::uint8_t>(high * 16 + low);
}

/// "0x0A"
std::string byte_in_hex(unsigned byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

/// The bytes of a token that is written as Python writes them: `\xe4`, `\n`, `\'`.
std::string unescaped(std::string_view text) {
  constexpr std::string_view kNames = "tnr", kMeans = "\t\n\r";
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      bytes += text[at];
      continue;
    }
    const char name = text[++at];
    const auto high = name == 'x' && at + 2 < text.size() ? hex_digit(text[at + 1]) : std::nullopt;
    const auto low = high ? hex_digit(text[at + 2]) : std::nullopt;
    const std::size_t known = kNames.find(name);
    if (low) at += 2;
    bytes += low ? static_cast<char>(*high * 16 + *low) : known != kNames.npos ? kMeans[known] : name;
  }
  return bytes;
}

class GgufVocabulary {
 public:
  GgufVocabulary(const GgufHeader& header, const std::string& path) : header_(header), path_(path) {}
  Result<std::unique_ptr<Tokenizer>> open();

 private:
  Result<void> check();
  Result<void> read_tokens();
  Result<void> check_sizes() const;
  void read_types();
  void mark_by_text();
  void set_texts();
  void set_merges();
  void set_scores();
  void set_longest();
  Result<void> set_sums();
  Result<void> set_costs();
  void set_bytes();
  Result<void> set_splitter();
  void set_added();
  void set_facts();
  void set_ends();
  std::optional<std::int64_t> id_named(std::string_view variable) const;
  std::optional<TokenId> id_of(std::string_view text) const;
  Type type(std::size_t id) const { return types_[id]; }
  bool by_scores() const { return way_ == GgufWay::scores; }
  bool by_merges() const { return way_ == GgufWay::merges; }
  bool is_raw() const { return by_scores() || split_.raw; }

  const GgufHeader& header_;
  const std::string& path_;
  std::vector<std::string> tokens_;  ///< as they stand in the file
  std::vector<Type> types_;
  std::unordered_map<std::string_view, TokenId> ids_;
  std::vector<TokenId> ends_by_text_;
  GgufWay way_ = GgufWay::merges;
  std::string_view splitting_;  ///< tokenizer.ggml.pre, or what counts in its place
  GgufSplit split_;
  MergingParts parts_;
};

Result<std::unique_ptr<Tokenizer>> GgufVocabulary::open() {
  if (Result<void> checked = check(); !checked) return checked.error();
  if (Result<void> read = read_tokens(); !read) return read.error();
  if (Result<void> checked = check_sizes(); !checked) return checked.error();
  read_types();
  mark_by_text();
  if (Result<void> set = set_splitter(); !set) return set.error();
  set_texts();
  switch (way_) {
    case GgufWay::merges: set_merges(); break;
    case GgufWay::scores: set_scores(); break;
    case GgufWay::sums:
      if (Result<void> set = set_sums(); !set) return set.error();
      break;
    case GgufWay::costs:
      if (Result<void> set = set_costs(); !set) return set.error();
      break;
    case GgufWay::longest: set_longest(); break;
  }
  set_bytes();
  set_added();
  set_facts();
  return merging_tokenizer(std::move(parts_));
}

// ---- what the file has

Result<void> GgufVocabulary::check() {
  if (header_.tokens.size() == 0) {
    const bool later = header_.split_number.value_or(0) > 0;
    return refused(path_, "no vocabulary in this GGUF file", later ? "it is in the first part of the split model" : "");
  }
  if (header_.tokens.size() > kMostTokens || header_.merges.size() > kMostMerges)
    return refused(path_, "a vocabulary of more than 4194304 tokens or 8388608 merges");
  if (header_.tokenizer.empty()) return refused(path_, "no tokenizer.ggml.model, which says how text becomes tokens");
  const GgufModel* model = model_named(header_.tokenizer);
  if (model == nullptr) {
    return refused(path_, "tokenizer.ggml.model " + shown(header_.tokenizer) + " is not read",
                   all_models() + " are; for another one open the tokenizer's own file");
  }
  way_ = model->way;
  splitting_ = model->split.empty() ? header_.splitting : model->split;
  const std::optional<GgufSplit> split = gguf_split(splitting_);
  if (!by_merges() || header_.merges.size() != 0 || (split && split->may_lack_merges)) return {};
  return refused(path_,
                 "no tokenizer.ggml.merges, which its tokenizer.ggml.model " + shown(header_.tokenizer) + " needs");
}

Result<void> GgufVocabulary::read_tokens() {
  tokens_.reserve(static_cast<std::size_t>(header_.tokens.size()));
  header_.tokens.each([&](std::string_view text) {
    tokens_.push_back(text.empty() ? "[EMPTY_" + std::to_string(tokens_.size()) + "]" : std::string(text));
  });
  ids_.reserve(tokens_.size());
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const auto [found, is_new] = ids_.emplace(tokens_[id], static_cast<TokenId>(id));
    if (!is_new) {
      return refused(path_, "the tokens " + std::to_string(found->second) + " and " + std::to_string(id) +
                                " have the same text " + shown(tokens_[id]));
    }
    if (!utf8::is_valid(tokens_[id], false))
      return refused(path_, "the text of token " + std::to_string(id) + " is not UTF-8");
  }
  return {};
}

/// Of the ways that go through the vocabulary as a trie.
Result<void> GgufVocabulary::check_sizes() const {
  if (by_merges() || by_scores()) return {};
  std::size_t all = 0;
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    all += tokens_[id].size();
    if (tokens_[id].size() > kMaxTrieText)
      return refused(path_,
                     "token " + std::to_string(id) + " is longer than " + std::to_string(kMaxTrieText) + " bytes");
  }
  if (all <= kMaxTrieBytes) return {};
  return refused(path_, "its tokens are longer than " + std::to_string(kMaxTrieBytes >> 20) + " MiB together");
}

void GgufVocabulary::read_types() {
  types_.assign(tokens_.size(), Type::normal);
  for (std::size_t id = 0; id < std::min<std::size_t>(types_.size(), header_.token_type_count()); ++id) {
    const std::uint32_t type = header_.token_type(id);
    types_[id] = type <= static_cast<std::uint32_t>(Type::byte) ? static_cast<Type>(type) : Type::undefined;
  }
}

std::optional<TokenId> GgufVocabulary::id_of(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> GgufVocabulary::id_named(std::string_view variable) const {
  for (const GgufTokenId& token : header_.token_ids) {
    const bool is_there = token.id >= 0 && static_cast<std::uint64_t>(token.id) < tokens_.size();
    if (token.variable == variable && is_there) return token.id;
  }
  return std::nullopt;
}

/// llama.cpp knows some tokens by their text, whatever their type.
void GgufVocabulary::mark_by_text() {
  std::unordered_map<std::string_view, TokenId> first;  // of each use that the file names no token of
  for (const GgufMark& mark : gguf_marks()) {
    const std::optional<TokenId> id = id_of(mark.text);
    if (!id) continue;
    Type& type = types_[static_cast<std::size_t>(*id)];
    if (mark.use == "user") {
      type = Type::user_defined;
    } else if (mark.use == "end") {
      type = Type::control;
      ends_by_text_.push_back(*id);
    } else if (!id_named(mark.use)) {
      const auto [found, is_new] = first.emplace(mark.use, *id);
      if (!is_new) found->second = std::min(found->second, *id);
    }
  }
  for (const auto& [use, id] : first) types_[static_cast<std::size_t>(id)] = Type::control;
  const auto is_end = [&](std::string_view text) { return id_of(text).has_value(); };
  const auto no_end = [&](std::string_view text, Type type) {
    if (const auto id = id_of(text)) {
      types_[static_cast<std::size_t>(*id)] = type;
      std::erase(ends_by_text_, *id);
    }
  };
  const bool calls = is_end("<|call|>") || is_end("<|calls|>");
  if (calls && (is_end("<|return|>") || is_end("<|flush|>"))) no_end("<|end|>", Type::user_defined);
  if (is_end("<|tool_response>")) no_end("</s>", Type::normal);
}

// ---- merging

Result<void> GgufVocabulary::set_splitter() {
  if (!by_merges()) return {};
  const std::optional<GgufSplit> split = gguf_split(splitting_);
  if (!split)
    return refused(path_, "tokenizer.ggml.pre " + shown(splitting_) + " is not known", gguf_split_hint(splitting_));
  split_ = *split;
  Result<Splitter> splitter = Splitter::make(split_.patterns, {});
  if (!splitter) return splitter.error();
  parts_.splitter = std::move(*splitter);
  return {};
}

void GgufVocabulary::set_texts() {
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const std::string& token = tokens_[id];
    const std::optional<std::uint8_t> byte = type(id) == Type::byte ? byte_token(token) : std::nullopt;
    const bool is_text = type(id) == Type::control || type(id) == Type::unknown;
    std::optional<std::string> text;
    if (byte) {
      text = std::string(1, static_cast<char>(*byte));
    } else if (way_ == GgufWay::longest) {
      text = is_text || type(id) == Type::user_defined ? token : unescaped(token);
    } else if ((is_raw() && !is_text) || (way_ == GgufWay::sums && type(id) == Type::normal)) {
      text = with_blanks(token);
    } else if (by_merges() && !is_raw() && type(id) != Type::user_defined && !is_text) {
      text = bytes_of_letters(token);
    }
    parts_.texts.push_back(text.value_or(token));
  }
}

void GgufVocabulary::set_merges() {
  MergerParts& merging = parts_.merging;
  const auto written = [&](std::string_view text) {
    return is_raw() ? std::string(text) : bytes_of_letters(text).value_or("");
  };
  for (const std::string& token : tokens_) merging.texts.push_back(written(token));
  header_.merges.each([&](std::string_view merge) {
    const std::size_t blank = merge.find(' ', 1);
    if (blank == merge.npos) return;
    merging.merges.emplace_back(written(merge.substr(0, blank)), written(merge.substr(blank + 1)));
  });
  merging.by_pair = true;
  merging.from_bytes = !is_raw();
  merging.whole_words = split_.whole_words;
  merging.whole_newlines = split_.whole_newlines;
  parts_.writes_blanks = is_raw();
  parts_.unknown = UnknownBytes::dropped;
}

void GgufVocabulary::set_scores() {
  MergerParts& merging = parts_.merging;
  merging.texts = tokens_;
  merging.priorities.resize(tokens_.size());
  for (std::size_t id = 0; id < std::min<std::size_t>(tokens_.size(), header_.token_score_count()); ++id)
    merging.priorities[id] = header_.token_score(id);
  parts_.writes_blanks = true;
  parts_.blank_in_front = header_.add_space_prefix.value_or(true);
}

/// Control tokens are among those that are looked for. Where the file names an unknown token, it stands for each byte
/// that begins none.
void GgufVocabulary::set_longest() {
  if (const std::optional<std::int64_t> unknown = id_named("unk_token")) {
    parts_.facts.unk = static_cast<TokenId>(*unknown);
    parts_.bytes.fill(*parts_.facts.unk);
  }
  for (const std::string& token : tokens_) parts_.merging.texts.push_back(unescaped(token));
  parts_.merging.takes_longest = true;
}

Result<void> GgufVocabulary::set_sums() {
  if (const std::string_view fault = fault_of_charsmap(header_.charsmap); !fault.empty())
    return refused(path_, "tokenizer.ggml.precompiled_charsmap " + std::string(fault));
  constexpr float kUnknownPenalty = 10, kMaxScore = 1e9F;  // sums stay numbers
  GgufUnigramParts unigram;
  float least = FLT_MAX;
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const float score = id < header_.token_score_count() ? header_.token_score(id) : 0;
    const bool is_user = type(id) == Type::user_defined;
    if (!(std::abs(score) <= kMaxScore))
      return refused(path_, "the score of token " + std::to_string(id) + " is not a usable number");
    if (type(id) == Type::normal) least = std::min(least, score);
    if (is_user) unigram.user_defined.push_back(tokens_[id]);
    unigram.texts.push_back(is_user || type(id) == Type::normal || type(id) == Type::unused ? tokens_[id] : "");
    unigram.scores.push_back(is_user ? 0 : static_cast<double>(score));
  }
  unigram.unknown_score = least - kUnknownPenalty;
  const std::optional<std::int64_t> unknown = id_named("unk_token");
  if (!unknown && tokens_.size() <= kSumsUnknown) return refused(path_, "no token for unknown text");
  unigram.unknown = static_cast<TokenId>(unknown.value_or(kSumsUnknown));
  unigram.charsmap = header_.charsmap;
  unigram.merges_blanks = header_.remove_extra_whitespaces.value_or(false);
  parts_.facts.unk = unigram.unknown;
  parts_.facts.weighs_runs = true;
  parts_.blank_in_front = header_.add_space_prefix.value_or(false);
  parts_.runs = gguf_unigram(std::move(unigram));
  return {};
}

/// Tokens of all types but bytes may come of a text. A score that is no number is a fault of the file here as in
/// set_sums; llama.cpp reads such a token as one that no text becomes.
Result<void> GgufVocabulary::set_costs() {
  constexpr double kScale = 1e4, kUnusable = -20'000'000;  // no text becomes a token with this score or a lower one
  GgufCostsParts costs;
  costs.bytes.fill(-1);
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const std::optional<std::uint8_t> byte = type(id) == Type::byte ? byte_token(tokens_[id]) : std::nullopt;
    const double score = id < header_.token_score_count() ? static_cast<double>(header_.token_score(id)) : 0;
    const double scaled = std::round(score * kScale);
    if (!(std::abs(scaled) <= INT32_MAX))
      return refused(path_, "the score of token " + std::to_string(id) + " is not a usable number");
    if (byte) costs.bytes[*byte] = static_cast<TokenId>(id);
    costs.texts.push_back(type(id) == Type::byte || scaled <= kUnusable ? "" : tokens_[id]);
    costs.scores.push_back(static_cast<std::int32_t>(scaled));
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string name = byte_in_hex(byte);
    if (costs.bytes[byte] < 0) return refused(path_, "no token for the byte " + name);
    if (costs.bytes[byte] == 0)
      return refused(path_, "the token of the byte " + name + " is token 0, which llama.cpp takes for none");
  }
  parts_.facts.unk = static_cast<TokenId>(id_named("unk_token").value_or(0));
  parts_.facts.weighs_runs = true;
  parts_.runs = gguf_costs(std::move(costs));
  return {};
}

/// What stands for a byte that is in no token.
void GgufVocabulary::set_bytes() {
  if (!by_scores() && !by_merges()) return;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    std::optional<TokenId> id = is_raw() ? id_of("<" + byte_in_hex(byte) + ">") : std::nullopt;
    const bool own = by_scores() || (!is_raw() && byte >= 0x21 && byte <= 0x7E);
    if (!id && own) id = id_of({&c, 1});
    parts_.bytes[byte] = id.value_or(-1);
  }
}

// ---- what is known of it

void GgufVocabulary::set_added() {
  const bool strips = strips_after_control(header_.name);
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    if (type(id) != Type::control && type(id) != Type::unknown && type(id) != Type::user_defined) continue;
    AddedToken token{.id = static_cast<TokenId>(id), .text = tokens_[id], .special = type(id) != Type::user_defined};
    token.rstrip = strips && !is_kept_from_stripping(token.text);
    token.control = !is_blank(token.text) && (token.special || is_control_text(token.text));
    parts_.facts.added.push_back(std::move(token));
  }
  parts_.longest_first = true;
}

void GgufVocabulary::set_facts() {
  TokenizerFacts& facts = parts_.facts;
  facts.kind = "GGUF, " + std::string(header_.tokenizer);
  if (by_merges()) facts.kind += " (" + std::string(header_.splitting.empty() ? "default" : header_.splitting) + ")";
  for (const GgufTokenId& token : header_.token_ids) {
    const bool is_there = token.id >= 0 && static_cast<std::uint64_t>(token.id) < tokens_.size();
    if (is_there) facts.named.push_back({std::string(token.variable), tokens_[static_cast<std::size_t>(token.id)]});
  }
  const auto known = [&](std::int64_t id) {
    return static_cast<std::uint64_t>(id) < tokens_.size() ? std::optional<std::int64_t>(id) : std::nullopt;
  };
  auto bos = id_named("bos_token"), eos = id_named("eos_token");
  // else nothing is put around a text, whatever the file says
  const bool adds = way_ != GgufWay::longest && way_ != GgufWay::costs;
  const bool adds_bos =
      adds && (header_.add_bos_token.value_or(by_scores() || split_.begins_with_bos) || split_.always_bos);
  const bool adds_eos = adds && header_.add_eos_token.value_or(way_ == GgufWay::sums);
  if (!bos && adds_bos && way_ != GgufWay::sums) bos = known(by_scores() ? kScoreBos : kListBos);
  const bool as_scores = by_scores() || way_ == GgufWay::costs;
  if (!eos && (adds_eos || as_scores)) eos = known(as_scores ? kScoreEos : way_ == GgufWay::sums ? kSumsEos : kListBos);
  if (bos) facts.bos = static_cast<TokenId>(*bos);
  if (eos) facts.eos = static_cast<TokenId>(*eos);
  if (adds_bos && facts.bos) facts.puts_before = {*facts.bos};
  if (adds_eos && facts.eos) facts.puts_after = {*facts.eos};
  set_ends();
  if (by_merges() && splitting_.empty())
    facts.notes.emplace_back(
        "the GGUF file does not say how to split text into words (tokenizer.ggml.pre); llama.cpp's default is taken");
}

void GgufVocabulary::set_ends() {
  struct Source {
    std::string_view variable, key;
  };
  constexpr Source kSources[] = {{"eos_token", "tokenizer.ggml.eos_token_id"},
                                 {"eot_token", "tokenizer.ggml.eot_token_id"},
                                 {"eom_token", "tokenizer.ggml.eom_token_id"}};
  for (const Source& source : kSources) {
    if (const auto id = id_named(source.variable))
      parts_.facts.ends.push_back({static_cast<TokenId>(*id), std::string(source.key)});
  }
  for (const TokenId id : ends_by_text_) parts_.facts.ends.push_back({id, "llama.cpp, by its text"});
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> read_gguf_vocabulary(std::string_view bytes, const std::string& path) {
  const Result<GgufHeader> header = read_gguf(bytes, path);
  if (!header) return header.error();
  return GgufVocabulary(*header, path).open();
}

Result<std::unique_ptr<Tokenizer>> open_gguf_vocabulary(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path, kMaxGgufHeader);
  if (!file) return file.error();
  const Result<GgufHeader> header = read_gguf(file->bytes(), path, &*file);
  if (!header) return header.error();
  return GgufVocabulary(*header, path).open();
}

}  // namespace parlance
