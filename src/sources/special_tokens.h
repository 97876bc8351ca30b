// The special tokens that a model's configuration names, or its class has by itself, with the precedence of
// transformers.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/source.h"
#include "sources/json_file.h"

namespace parlance {

/// The files that name them.
inline constexpr std::string_view kTokenizerConfig = "tokenizer_config.json";
inline constexpr std::string_view kSpecialTokensMap = "special_tokens_map.json";

/// The variables that special tokens become: transformers' SPECIAL_TOKENS_ATTRIBUTES that are
/// strings.
inline constexpr std::string_view kSpecialTokenNames[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                          "pad_token", "cls_token", "mask_token"};

/// A token's text: a string, or an object with `content`; undefined for everything else.
Value special_token_text(const Value* token);

/// A token as a file, or the class, says it.
struct NamedValue {
  std::string_view name;
  Value value;         ///< a text or an object with `content`
  std::string source;  ///< "tokenizer_config.json", "transformers' LlamaTokenizer", or "tokenizer.model"
};

/// What a model's folder says of its special tokens. All it gives lives as long as it does.
class SpecialTokenFiles {
 public:
  explicit SpecialTokenFiles(const std::string& folder);

  /// Fails with file; json (place); model_file (a file that is no JSON object). Each file may be missing.
  Result<void> read();

  /// tokenizer_config.json.
  const JsonFile& config() const { return config_; }
  /// special_tokens_map.json.
  const JsonFile& map() const { return map_; }
  /// config.json.
  const JsonFile& model() const { return model_; }
  /// By which transformers reads the tokenizer; "": not said.
  const std::string& class_name() const { return class_name_; }

  /// Those that have a text: the names above, then the model's own, as transformers adds them. special_tokens_map.json
  /// overrides the configuration unless that has its tokens decoded (added_tokens_decoder).
  const std::vector<NamedValue>& named() const { return named_; }
  /// Names that are said to have none, be it by null or by "".
  const std::vector<std::string>& unset() const { return unset_; }
  /// Those that have no name, or nothing where no list is given, be it empty.
  const std::optional<std::vector<Value>>& others() const { return others_; }
  /// The texts that transformers knows to be special when it reads added_tokens.json: objects of the configuration are
  /// none to it yet.
  std::vector<std::string_view> known_early() const;
  /// Are others() known before a .model is read? What it lists takes the place of those that are not.
  bool others_come_early() const { return early_.has_value(); }
  /// Does the source of a token mean the .model itself?
  bool is_of_model(const NamedValue& token) const { return owner_ == kModelFile && token.source == owner_; }
  /// Says what is no token though its name says so.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  static constexpr std::string_view kModelFile = "tokenizer.model";

  void note_unread(const Error& error);
  Result<void> read_own();
  bool map_counts() const { return config_["added_tokens_decoder"] == nullptr; }
  const Value* in_files(std::string_view name, const JsonFile** from) const;
  void add(std::string_view name, const Value* value, std::string source);
  void add_usual();
  void find_lists();
  void add_own();
  bool add_members(const JsonFile& file, bool objects, bool texts);
  void add_all(const Value* tokens, const JsonFile& file);
  Result<bool> is_mistaken() const;

  std::string folder_;
  JsonFile config_, map_, model_;
  Document own_;       ///< tokens that nobody names: the class's, else those of a .model
  std::string owner_;  ///< whose they are
  std::string class_name_;
  std::vector<NamedValue> named_;
  std::vector<std::string> unset_;
  std::optional<std::vector<Value>> others_, early_;
  const Value* config_named_ = nullptr;  ///< extra_special_tokens where they are an object
  const Value* map_named_ = nullptr;
  std::vector<std::string> notes_;
};

/// named() as variables.
std::vector<SpecialToken> special_tokens_of(const SpecialTokenFiles& files);

}  // namespace parlance
