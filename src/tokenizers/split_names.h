// The rows of data/splits.def: ways to split text into words by their names in files.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parlance {

/// How tokens come of a text with the vocabulary of a GGUF file.
enum class GgufWay : std::uint8_t {
  merges,  ///< pairs are merged by a list of merges, within words
  scores,  ///< pairs are merged by the scores of what they become, in each run between added tokens
  sums,    ///< the tokens whose scores have the largest sum, in each run (gguf_unigram.h)
  costs,   ///< the same with whole numbers, from the end of a run on (gguf_costs.h)
  longest  ///< nothing is merged: the longest token that fits comes next
};
/// A kind of vocabulary: tokenizer.ggml.model.
struct GgufModel {
  std::string_view name;
  GgufWay way;
  std::string_view split;  ///< in place of the file's own tokenizer.ggml.pre; "" for that
};
std::span<const GgufModel> gguf_models();

/// One way to split, and what else a GGUF file means by its name.
struct GgufSplit {
  std::vector<std::string> patterns;
  bool whole_words = false;
  bool begins_with_bos = false;
  bool always_bos = false;
  bool raw = false;
  bool whole_newlines = false;
  bool may_lack_merges = false;
};
std::optional<GgufSplit> gguf_split(std::string_view name);
std::vector<std::string_view> gguf_split_names();
/// The nearest name to one that there is not, as a hint; "" where none is near.
std::string gguf_split_hint(std::string_view name);

/// The patterns that a name means, of tiktoken's encodings or of GGUF files; none for a name that there is not.
std::vector<std::string> split_patterns(std::string_view name);
bool is_tiktoken_name(std::string_view name);
std::span<const std::string_view> tiktoken_names();

/// A special token of one of tiktoken's own encodings.
struct TiktokenMark {
  std::string_view encoding, text;
  std::int32_t id;
};
std::span<const TiktokenMark> tiktoken_marks();
/// Those of a tekken.json that lists none, by id.
std::span<const std::string_view> tekken_marks();

/// A token that llama.cpp knows by its text, and what as: "end", "user", or the use that it has where the file names
/// none.
struct GgufMark {
  std::string_view text;
  std::string_view use;
};
std::span<const GgufMark> gguf_marks();
/// Do control tokens of a model of this name take the white space after them along?
bool strips_after_control(std::string_view model_name);
/// … but for these texts.
bool is_kept_from_stripping(std::string_view text);

}  // namespace parlance
