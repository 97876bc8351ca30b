// Source: transformers 5.24.0, tokenization_utils_base.py (_from_pretrained, __init__, special_tokens_map). Begin
// reading at SpecialTokenFiles::read.
#include "sources/special_tokens.h"

#include <algorithm>
#include <utility>

#include "sources/files.h"
#include "sources/sentencepiece_names.h"
#include "sources/tokenizer_class.h"

namespace parlance {
namespace {

constexpr std::string_view kTokenizerJson = "tokenizer.json";
constexpr std::size_t kMostJson = std::size_t{256} << 20;  // of a tokenizer.json; the largest in use are below 40 MiB
constexpr std::string_view kNamed = "model_specific_special_tokens";
constexpr std::string_view kMore = "additional_special_tokens", kExtra = "extra_special_tokens";

bool is_usual(std::string_view name) {
  return std::find(std::begin(kSpecialTokenNames), std::end(kSpecialTokenNames), name) != std::end(kSpecialTokenNames);
}

/// Python's truth of what a file may say.
bool is_given(const Value* value) {
  if (value == nullptr || value->is_none()) return false;
  if (value->kind == Kind::list) return !items(*value).empty();
  if (value->kind == Kind::dict) return !entries(*value).empty();
  return !value->is_leaf() || value->size != 0;
}

std::vector<Value> list_of(const Value& value) {
  if (value.kind != Kind::list) return {};
  return {items(value).begin(), items(value).end()};
}

std::string name_of(const JsonFile& file) { return std::string(file_name_of(file.path())); }

}  // namespace

Value special_token_text(const Value* token) {
  if (token != nullptr && token->kind == Kind::dict) token = json_member(*token, "content");
  return token != nullptr && token->is_leaf() ? *token : Value{};
}

SpecialTokenFiles::SpecialTokenFiles(const std::string& folder)
    : folder_(folder),
      config_(join_path(folder, kTokenizerConfig)),
      map_(join_path(folder, kSpecialTokensMap)),
      model_(join_path(folder, "config.json")) {}

Result<void> SpecialTokenFiles::read() {
  for (JsonFile* file : {&config_, &map_}) {
    if (Result<void> read = file->read_if_there(); !read) return read.error();
  }
  // What only tells of the class must not stop who renders.
  if (Result<void> read = model_.read_if_there(); !read) note_unread(read.error());
  class_name_ = tokenizer_class_of(config_, model_);
  const Result<bool> mistaken = is_mistaken();
  if (!mistaken) note_unread(mistaken.error());
  if (mistaken && *mistaken) class_name_.clear();
  if (Result<void> own = read_own(); !own) note_unread(own.error());
  add_usual();
  find_lists();
  add_own();
  const auto is_unset = [](const NamedValue& token) {
    const Value text = special_token_text(&token.value);
    return !text.is_leaf() || text.size == 0;
  };
  for (const NamedValue& token : named_) {
    if (is_unset(token)) unset_.emplace_back(token.name);
  }
  std::erase_if(named_, is_unset);
  return {};
}

void SpecialTokenFiles::note_unread(const Error& error) {
  const Location& where = error.where();
  std::string place(file_name_of(where.name));
  if (where.line != 0) place += ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
  notes_.push_back((place.empty() ? "" : place + ": ") + error.message() +
                   "; special tokens that only the tokenizer's class has are not known");
}

Result<void> SpecialTokenFiles::read_own() {
  std::string own(tokens_of_class(class_name_));
  owner_ = "transformers' " + class_name_;
  const std::string model = join_path(folder_, kModelFile);
  if (own == kNoTokens && is_file(model) && !is_file(join_path(folder_, kTokenizerJson))) {
    Result<std::string> names = names_of_sentencepiece(model);
    if (!names) return names.error();
    own = std::move(*names);
    owner_ = kModelFile;
  }
  return own_.parse(own, owner_);
}

/// A tokenizer.json is large: it is looked at only if the class would matter.
Result<bool> SpecialTokenFiles::is_mistaken() const {
  const std::string path = join_path(folder_, kTokenizerJson);
  const bool is_named = config_["tokenizer_class"] != nullptr || model_["tokenizer_class"] != nullptr;
  if (!is_named || !may_be_mistaken(class_name_) || !is_file(path)) return false;
  const Result<std::string> json = read_file(path, kMostJson);
  if (!json) return json.error();
  return is_mistaken_class(class_name_, *json);
}

/// What the files say of one name, text or object, or null.
const Value* SpecialTokenFiles::in_files(std::string_view name, const JsonFile** from) const {
  const Value* in_map = map_counts() ? map_[name] : nullptr;
  *from = in_map != nullptr ? &map_ : &config_;
  return in_map != nullptr ? in_map : config_[name];
}

/// The last of a name counts, at the place of the first.
void SpecialTokenFiles::add(std::string_view name, const Value* value, std::string source) {
  const bool is_token = value->is_none() || special_token_text(value).is_leaf();
  if (!is_token) {
    notes_.push_back(source + ": " + std::string(name) +
                     " is left out, as it is neither a text nor an object with `content`; transformers refuses it");
  }
  NamedValue token{name, is_token ? *value : Value{}, std::move(source)};
  const auto same = std::find_if(named_.begin(), named_.end(), [&](const NamedValue& t) { return t.name == name; });
  if (same == named_.end()) {
    named_.push_back(std::move(token));
  } else {
    *same = std::move(token);
  }
}

void SpecialTokenFiles::add_usual() {
  for (const std::string_view name : kSpecialTokenNames) {
    const JsonFile* from = nullptr;
    if (const Value* found = in_files(name, &from); found != nullptr) {
      add(name, found, name_of(*from));
    } else if (const Value* own = json_member(own_.root(), name); own != nullptr) {
      add(name, own, owner_);
    }
  }
}

/// Both spellings of one list: the newer counts where it is given, and says nothing otherwise.
void SpecialTokenFiles::find_lists() {
  const Value *extra = config_[kExtra], *more = config_[kMore];
  if (more != nullptr && !is_given(extra)) extra = std::exchange(more, nullptr);
  if (extra != nullptr && extra->kind == Kind::dict) config_named_ = std::exchange(extra, nullptr);
  if (extra != nullptr) others_ = list_of(*extra);
  const Value* extra_of_map = map_counts() ? map_[kExtra] : nullptr;
  if (extra_of_map != nullptr && extra_of_map->kind == Kind::dict) {
    map_named_ = extra_of_map;
    others_.reset();
  } else if (extra_of_map != nullptr) {
    std::vector<Value> all = others_.value_or(std::vector<Value>());
    for (const Value& token : list_of(*extra_of_map)) all.push_back(token);
    others_ = std::move(all);
  }
  early_ = others_;
  if (const Value* of_map = map_counts() ? map_[kMore] : nullptr; of_map != nullptr) more = of_map;
  if (more != nullptr && !others_) others_ = list_of(*more);
}

/// The model's own tokens: those that are called `…_token`, and those that stand in an object by name, where the latter
/// count. transformers comes to objects first.
void SpecialTokenFiles::add_own() {
  if (own_.root().kind == Kind::dict) {
    for (const DictEntry& entry : entries(own_.root())) {
      if (const std::string_view name = leaf_text(entry.key); !is_usual(name)) add(name, &entry.value, owner_);
    }
  }
  add_members(config_, true, false);
  if (map_counts()) add_members(map_, true, true);
  const bool any = add_members(config_, false, true);
  if (!any && !is_given(config_named_)) add_all(config_[kNamed], config_);
  add_all(config_named_, config_);
  add_all(map_named_, map_);
}

/// Are there any?
bool SpecialTokenFiles::add_members(const JsonFile& file, bool objects, bool texts) {
  if (file.root().kind != Kind::dict) return false;
  bool any = false;
  for (const DictEntry& entry : entries(file.root())) {
    const std::string_view name = leaf_text(entry.key);
    const bool wanted = entry.value.kind == Kind::dict ? objects : texts;
    if (!wanted || !name.ends_with("_token") || is_usual(name)) continue;
    const bool is_token = special_token_text(&entry.value).is_leaf();
    const bool takes_away = entry.value.is_none() && json_member(own_.root(), name) != nullptr;
    if (is_token || takes_away) add(name, &entry.value, name_of(file));
    any = any || is_token;
  }
  return any;
}

void SpecialTokenFiles::add_all(const Value* tokens, const JsonFile& file) {
  if (tokens == nullptr || tokens->kind != Kind::dict) return;
  for (const DictEntry& entry : entries(*tokens)) add(leaf_text(entry.key), &entry.value, name_of(file));
}

std::vector<std::string_view> SpecialTokenFiles::known_early() const {
  std::vector<std::string_view> texts;
  for (const std::string_view name : kSpecialTokenNames) {
    const JsonFile* from = nullptr;
    const Value* token = in_files(name, &from);
    const bool counts = token != nullptr && (token->is_leaf() || from == &map_);
    if (const Value text = counts ? special_token_text(token) : Value{}; text.is_leaf())
      texts.push_back(leaf_text(text));
  }
  for (const Value& token : early_.value_or(std::vector<Value>())) {
    if (token.is_leaf()) texts.push_back(leaf_text(token));
  }
  return texts;
}

std::vector<SpecialToken> special_tokens_of(const SpecialTokenFiles& files) {
  std::vector<SpecialToken> tokens;
  for (const NamedValue& token : files.named())
    tokens.push_back({std::string(token.name), std::string(leaf_text(special_token_text(&token.value)))});
  return tokens;
}

}  // namespace parlance
