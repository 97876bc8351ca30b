// tekken.json: a vocabulary of ranks whose special tokens come first, with the pattern that splits text. Source:
// mistral-common 1.13.1, tokens/tokenizers/tekken.py. Begin reading at open_tekken.
#include <algorithm>

#include "base/base64.h"
#include "parlance/json.h"
#include "sources/json_file.h"
#include "tokenizers/adapters.h"
#include "tokenizers/refused.h"
#include "tokenizers/split_names.h"
#include "tokenizers/tiktoken.h"
#include "value/dict.h"

namespace parlance {
namespace {

std::optional<std::size_t> size_in(Value dict, std::string_view key) {
  const Value* found = json_member(dict, key);
  if (found == nullptr || !found->is_small_int() || found->integer < 0) return std::nullopt;
  return std::min(static_cast<std::size_t>(found->integer), 2 * kMostRanks);
}

/// mistral-common knows these by their text.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}};

/// Versions that may leave the special tokens out.
bool knows_marks(std::string_view version) {
  constexpr std::string_view kVersions[] = {"v1", "v2", "v3", "v7"};
  return std::find(std::begin(kVersions), std::end(kVersions), version) != std::end(kVersions);
}

class Tekken {
 public:
  Tekken(Value root, const std::string& path) : root_(root), path_(path) {}

  Result<RankParts> read() {
    RankParts parts;
    for (const auto step : {&Tekken::read_config, &Tekken::read_marks, &Tekken::read_ranks}) {
      if (Result<void> done = (this->*step)(parts); !done) return done.error();
    }
    return parts;
  }

 private:
  Result<void> read_config(RankParts& parts) {
    const Value* config = json_member(root_, "config");
    if (config == nullptr || config->kind != Kind::dict) return refused(path_, "no object 'config'");
    const std::string_view pattern = json_text(*config, "pattern");
    if (pattern.empty()) return refused(path_, "config has no text 'pattern'");
    const auto marks = size_in(*config, "default_num_special_tokens"), all = size_in(*config, "default_vocab_size");
    if (!marks || !all)
      return refused(path_, "config must have the numbers 'default_vocab_size' and 'default_num_special_tokens'");
    if (*marks > *all || *all > kMostRanks) return refused(path_, "config: a vocabulary of this size there cannot be");
    parts.patterns = {std::string(pattern)};
    parts.first_id = *marks;
    count_ = *all - *marks;
    version_ = json_text(*config, "version");
    parts.kind = "tekken.json" + (version_.empty() ? "" : ", " + std::string(version_));
    return {};
  }

  Result<void> read_marks(RankParts& parts) {
    const Value* listed = json_member(root_, "special_tokens");
    if (listed != nullptr && listed->kind == Kind::list) {
      for (const Value& token : items(*listed)) {
        const Value* rank = json_member(token, "rank");
        const Value* control = json_member(token, "is_control");
        if (rank == nullptr || !rank->is_small_int() || json_text(token, "token_str").empty())
          return refused(path_, "special_tokens: one without 'rank' or 'token_str'");
        const bool special = control == nullptr || control->kind != Kind::boolean || control->integer != 0;
        parts.marks.push_back({rank->integer, std::string(json_text(token, "token_str")), special});
      }
    } else if (knows_marks(version_)) {
      for (const std::string_view text : tekken_marks())
        parts.marks.push_back({static_cast<std::int64_t>(parts.marks.size()), std::string(text), true});
    } else {
      return refused(path_,
                     "no list 'special_tokens', which a file of version '" + std::string(version_) + "' must have");
    }
    for (const RankMark& mark : parts.marks) {
      for (const auto& [name, text] : kNames) {
        if (mark.text == text) parts.named.push_back({std::string(name), mark.text});
      }
    }
    if (parts.marks.size() > parts.first_id)
      return refused(path_, "more special tokens than 'default_num_special_tokens' says");
    for (std::size_t id = parts.marks.size(); id < parts.first_id; ++id)
      parts.marks.push_back({static_cast<std::int64_t>(id), "<SPECIAL_" + std::to_string(id) + ">", true});
    for (const RankMark& mark : parts.marks) {
      if (mark.id < 0 || static_cast<std::size_t>(mark.id) >= parts.first_id)
        return refused(path_, "the special token '" + mark.text + "' has the rank " + std::to_string(mark.id));
    }
    return {};
  }

  Result<void> read_ranks(RankParts& parts) {
    const Value* vocabulary = json_member(root_, "vocab");
    if (vocabulary == nullptr || vocabulary->kind != Kind::list) return refused(path_, "no list 'vocab'");
    const auto tokens = items(*vocabulary);
    if (tokens.size() < count_)
      return refused(path_,
                     "vocab has " + std::to_string(tokens.size()) + " tokens, config means " + std::to_string(count_));
    for (std::size_t i = 0; i < count_; ++i) {
      const Value* rank = json_member(tokens[i], "rank");
      std::string bytes;
      std::size_t wrong = 0;
      const bool right = rank != nullptr && rank->is_small_int() && rank->integer == static_cast<std::int64_t>(i) &&
                         decode_base64(json_text(tokens[i], "token_bytes"), bytes, wrong) && !bytes.empty();
      if (!right)
        return refused(path_, "vocab: token " + std::to_string(i) + " needs its rank, and token_bytes in base64");
      parts.ranks.push_back(std::move(bytes));
    }
    return {};
  }

  Value root_;
  const std::string& path_;
  std::size_t count_ = 0;
  std::string_view version_;
};

}  // namespace

bool is_tekken(std::string_view bytes) {
  constexpr std::size_t kMost = 65536;
  return bytes.substr(0, kMost).find("\"token_bytes\"") != bytes.npos;
}

Result<std::unique_ptr<Tokenizer>> open_tekken(std::string_view text, const std::string& path) {
  Document document;
  if (auto parsed = document.parse(text, path); !parsed) return parsed.error();
  Result<RankParts> parts = Tekken(document.root(), path).read();
  if (!parts) return parts.error();
  return rank_tokenizer(std::move(*parts), path);
}

}  // namespace parlance
