// What transformers makes of a .model: the pieces by number, merges out of the pieces, and steps that depend on the
// class. Source: transformers 5.24.0, convert_slow_tokenizer.py (SentencePieceExtractor,
// SpmConverter.build_tokenizer_from_spm_proto), tokenization_utils_tokenizers.py (_convert_from_sentencepiece),
// tokenization_utils_base.py (generate_merges), models/llama/tokenization_llama.py. Begin reading at
// sentencepiece_as_json.
#include "tokenizers/sentencepiece_as_json.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <unordered_set>

#include "base/utf8.h"
#include "tokenizers/sentencepiece_steps.h"

namespace parlance {
namespace {

/// Classes that are followed.
constexpr std::string_view kBlankFirst =
#define BLANK_FIRST(name) name
#include "transformers_types.def"
    ;
constexpr std::string_view kGeneric[] = {"TokenizersBackend", "PreTrainedTokenizer"};
constexpr std::string_view kGenericName = "TokenizersBackend";
constexpr std::size_t kLongestPiece = 512;

Error refused_as_json(const std::string& path, const std::string& what) {
  return Error(ErrorCode::tokenizer, path + ": " + what)
      .hint("without the option as_transformers it is read as SentencePiece itself does");
}

const char* truth(bool value) { return value ? "true" : "false"; }

class Maker {
 public:
  Maker(const SpModel& model, const Beside& beside, bool generic) : model_(model), beside_(beside), generic_(generic) {}

  std::string make() {
    number_pieces();
    std::string json = R"({"version":"1.0","added_tokens":[)";
    add_tokens(json);
    json += "],";
    add_steps(json);
    json += R"("post_processor":null,"model":{)";
    if (generic_ && model_.algorithm == SpAlgorithm::unigram) {
      add_unigram(json);
    } else {
      add_bpe(json);
    }
    return json + "}}";
  }

 private:
  /// Of pieces of one text the last counts.
  void number_pieces() {
    for (const SpPiece& piece : model_.pieces) texts_.emplace_back(piece.text);
    for (std::size_t id = 0; id < texts_.size(); ++id) ids_[texts_[id]] = id;
    if (generic_ && model_.algorithm == SpAlgorithm::bpe) rename_pieces();
    for (std::size_t id = 0; id < texts_.size(); ++id) {
      if (model_.pieces[id].type == SpType::user_defined && counts(id)) user_defined_.push_back(texts_[id]);
    }
  }

  /// Where the configuration has another text for a piece's number, the generic class takes that, unless it is the text
  /// of a piece that keeps its own.
  void rename_pieces() {
    std::unordered_map<std::size_t, std::string> names;
    for (const AddedToken& token : beside_.added) {
      const auto id = static_cast<std::size_t>(token.id);
      if (token.id >= 0 && id < texts_.size() && counts(id) && !token.text.empty()) names[id] = token.text;
    }
    std::erase_if(names, [&](const auto& name) {
      const auto found = ids_.find(name.second);
      return found != ids_.end() && !names.contains(found->second);
    });
    for (const auto& name : names) ids_.erase(texts_[name.first]);
    for (auto& [id, name] : names) ids_[texts_[id] = name] = id;
  }

  /// Whether the piece with this number is in the vocabulary: it is not where another one has its text.
  bool counts(std::size_t id) const {
    const auto found = ids_.find(texts_[id]);
    return found != ids_.end() && found->second == id;
  }

  // ---- added tokens: of the configuration, control and user-defined pieces, and what has a name

  void add_tokens(std::string& json) {
    for (const AddedToken& token : beside_.added) {
      if (token.id < 0) continue;
      AddedToken added = token;
      added.normalized = added.normalized && !(generic_ && model_.add_dummy_prefix);
      add_token(json, added);
    }
    for (const SpPiece& piece : model_.pieces) {
      if (beside_.lists_special) break;  // then transformers takes the configuration's in their place
      const bool control = piece.type == SpType::control;
      if (control || (piece.type == SpType::user_defined && !generic_))
        add_token(json, {.text = std::string(piece.text), .special = control});
    }
    for (std::size_t i = 0; i < beside_.added.size(); ++i) {
      AddedToken special = beside_.added[i];
      special.normalized = false;
      const bool counts = beside_.lists_special || i < beside_.more.named.size();
      if (special.id < 0 && counts) add_token(json, special);
    }
    const auto is_said = [&](std::string_view name) {
      return std::any_of(beside_.named.begin(), beside_.named.end(),
                         [&](const NamedToken& token) { return token.name == name; }) ||
             std::find(beside_.unset.begin(), beside_.unset.end(), name) != beside_.unset.end();
    };
    const std::pair<std::string_view, std::string> kDefaults[] = {
        {"bos_token", model_.bos}, {"eos_token", model_.eos}, {"unk_token", model_.unk}};
    for (const auto& [name, text] : kDefaults) {
      if (generic_ && !is_said(name)) add_token(json, {.text = text, .special = true});
    }
  }

  void add_token(std::string& json, const AddedToken& token) {
    if (token.text.empty() || !added_.insert(token.text).second) return;
    const auto found = ids_.find(token.text);
    const std::size_t id = found != ids_.end() ? found->second : texts_.size() + beyond_++;
    if (added_.size() > 1) json += ',';
    json += R"({"id":)" + std::to_string(id) + R"(,"content":)";
    append_json_text(json, token.text);
    json += std::string(R"(,"single_word":)") + truth(token.single_word) + R"(,"lstrip":)" + truth(token.lstrip) +
            R"(,"rstrip":)" + truth(token.rstrip) + R"(,"normalized":)" + truth(token.normalized) + R"(,"special":)" +
            truth(token.special) + "}";
  }

  // ---- steps around the model

  void add_steps(std::string& json) {
    if (generic_) {
      const bool is_legacy = beside_.legacy.value_or(true);
      json += R"("normalizer":)" + normalizer_of(model_, is_legacy) + R"(,"pre_tokenizer":)" +
              pre_tokenizer_of(model_, is_legacy, user_defined_) + ",";
    } else {
      const bool first = beside_.add_prefix_space.value_or(true);
      json += R"("normalizer":null,"pre_tokenizer":)" + blank_in_front(!first                           ? "never"
                                                                       : beside_.legacy.value_or(false) ? "always"
                                                                                                        : "first");
      json += ',';
    }
    json += R"("decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "})";
    const bool strips = generic_ && model_.add_dummy_prefix, reads_bytes = !generic_ || model_.byte_fallback;
    if (reads_bytes) json += R"(,{"type":"ByteFallback"})";
    if (reads_bytes || strips) json += R"(,{"type":"Fuse"})";
    if (strips) json += R"(,{"type":"Strip","content":" ","start":1,"stop":0})";
    json += "]},";
  }

  // ---- the model

  void add_bpe(std::string& json) {
    json += R"("type":"BPE","dropout":null,"continuing_subword_prefix":null,"end_of_word_suffix":null,)"
            R"("fuse_unk":true,"ignore_merges":)";
    json += std::string(truth(generic_ && !user_defined_.empty())) + ",";
    json += std::string(R"("byte_fallback":)") + truth(!generic_ || model_.byte_fallback) + R"(,"unk_token":)";
    if (generic_) {
      append_json_text(json, model_.unk);
    } else {
      json += "null";
    }
    json += R"(,"vocab":{)";
    bool first = true;
    for (std::size_t id = 0; id < texts_.size(); ++id) {
      if (!counts(id)) continue;
      if (!std::exchange(first, false)) json += ',';
      append_json_text(json, texts_[id]);
      json += ":" + std::to_string(id);
    }
    json += R"(},"merges":[)";
    if (generic_) {
      add_ranked_merges(json);
    } else {
      add_merges(json);
    }
    json += ']';
  }

  /// Each piece is a merge of any two pieces that make it: by the piece's number, then the shorter left part first.
  void add_merges(std::string& json) {
    std::unordered_set<std::string_view> pieces;
    for (const SpPiece& piece : model_.pieces) pieces.insert(piece.text);
    bool first = true;
    for (const SpPiece& piece : model_.pieces) {
      for_each_split(piece.text, [&](std::string_view left, std::string_view right) {
        if (pieces.contains(left) && pieces.contains(right)) add_merge(json, left, right, first);
      });
    }
  }

  /// For the generic class only normal pieces are merged, into that of the best score first.
  void add_ranked_merges(std::string& json) {
    struct Ranked {
      float cost;
      std::size_t id;
      std::string_view left, right;
      auto operator<=>(const Ranked&) const = default;
    };
    std::unordered_set<std::string_view> normal;
    const auto is_normal = [&](std::size_t id) { return model_.pieces[id].type == SpType::normal && counts(id); };
    for (std::size_t id = 0; id < texts_.size(); ++id) {
      if (is_normal(id)) normal.insert(texts_[id]);
    }
    std::vector<Ranked> ranked;
    for (std::size_t id = 0; id < texts_.size(); ++id) {
      if (!is_normal(id)) continue;
      for_each_split(texts_[id], [&](std::string_view left, std::string_view right) {
        if (normal.contains(left) && normal.contains(right))
          ranked.push_back({-model_.pieces[id].score, id, left, right});
      });
    }
    std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) { return (a <=> b) < 0; });
    bool first = true;
    for (const Ranked& merge : ranked) add_merge(json, merge.left, merge.right, first);
  }

  template <typename Visit>
  static void for_each_split(std::string_view text, const Visit& visit) {
    if (text.size() > kLongestPiece) return;
    for (std::size_t at = utf8::decode(text.data(), text.data() + text.size()).size; at < text.size();
         at += utf8::decode(text.data() + at, text.data() + text.size()).size)
      visit(text.substr(0, at), text.substr(at));
  }

  static void add_merge(std::string& json, std::string_view left, std::string_view right, bool& first) {
    json += std::exchange(first, false) ? "[" : ",[";
    append_json_text(json, left);
    json += ',';
    append_json_text(json, right);
    json += ']';
  }

  void add_unigram(std::string& json) {
    json += R"("type":"Unigram","unk_id":)" + std::to_string(model_.unk_id) + R"(,"byte_fallback":)" +
            truth(model_.byte_fallback) + R"(,"vocab":[)";
    for (std::size_t id = 0; id < model_.pieces.size(); ++id) {
      char score[32];
      std::snprintf(score, sizeof score, "%.17g", static_cast<double>(model_.pieces[id].score));
      json += id == 0 ? "[" : ",[";
      append_json_text(json, model_.pieces[id].text);
      json += std::string(",") + score + "]";
    }
    json += ']';
  }

  const SpModel& model_;
  const Beside& beside_;
  bool generic_;
  std::vector<std::string> texts_;  ///< by number
  std::unordered_map<std::string, std::size_t> ids_;
  std::vector<std::string> user_defined_;  ///< texts of these pieces
  std::unordered_set<std::string> added_;
  std::size_t beyond_ = 0;  ///< added tokens that are no pieces
};

}  // namespace

Result<SpAsJson> sentencepiece_as_json(const SpModel& model, const Beside& beside, const std::string& path) {
  const std::string_view named = beside.tokenizer_class;
  const bool generic = std::find(std::begin(kGeneric), std::end(kGeneric), named) != std::end(kGeneric);
  if (!generic && named != kBlankFirst) {
    return refused_as_json(
        path, named.empty() ? "neither tokenizer_config.json nor config.json says by which class transformers reads it"
                            : "how transformers' class '" + std::string(named) + "' reads it is not known here");
  }
  const bool merges = model.algorithm == SpAlgorithm::bpe, weighs = model.algorithm == SpAlgorithm::unigram;
  if (!merges && !weighs)
    return refused_as_json(path, "a model of words or characters, which transformers does not read so");
  return SpAsJson{Maker(model, beside, generic).make(), std::string(generic ? kGenericName : kBlankFirst)};
}

}  // namespace parlance
