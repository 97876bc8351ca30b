// Reading the configuration beside a tokenizer as transformers does (tokenization_utils_base.py,
// _from_pretrained). What has another type than it should is left out with a note. Begin reading at
// read_beside.
#include "tokenizers/beside.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <unordered_set>

#include "sources/files.h"
#include "sources/special_tokens.h"

namespace parlance {
namespace {

constexpr std::string_view kAdded = "added_tokens.json";
constexpr std::string_view kGeneration = "generation_config.json";
constexpr std::string_view kModel = "config.json";

struct Files {
  explicit Files(const std::string& folder)
      : config(join_path(folder, kTokenizerConfig)),
        map(join_path(folder, kSpecialTokensMap)),
        added(join_path(folder, kAdded)),
        generation(join_path(folder, kGeneration)),
        model(join_path(folder, kModel)) {}
  JsonFile config, map, added, generation, model;
};

bool is_true(const Value* value) { return value != nullptr && value->kind == Kind::boolean && value->integer != 0; }

AddedToken token_of(std::int64_t id, std::string_view text, bool special) {
  AddedToken token{.id = static_cast<TokenId>(id), .text = std::string(text), .special = special};
  token.normalized = !special;
  return token;
}

/// {"content": "<s>", "lstrip": false, …}
AddedToken token_of(std::int64_t id, Value object, bool special) {
  const auto flag = [&](std::string_view name, bool otherwise) {
    const Value* found = json_member(object, name);
    return found == nullptr ? otherwise : is_true(found);
  };
  AddedToken token = token_of(id, json_text(object, "content"), flag("special", special));
  token.lstrip = flag("lstrip", false);
  token.rstrip = flag("rstrip", false);
  token.single_word = flag("single_word", false);
  token.normalized = flag("normalized", !token.special);
  return token;
}

bool is_id(std::int64_t id) { return id >= 0 && id < INT32_MAX; }

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

void note_token(Beside& beside, std::string_view file, std::string_view key) {
  beside.notes.push_back(std::string(file) + ": the added token '" + std::string(key) + "' is not understood");
}

/// tokenizer_config.json's added_tokens_decoder: objects by id.
void add_decoder(Beside& beside, Value decoder) {
  if (decoder.kind != Kind::dict) {
    beside.notes.push_back("tokenizer_config.json: added_tokens_decoder is not an object");
    return;
  }
  for (const DictEntry& entry : entries(decoder)) {
    const std::optional<std::int64_t> id = number_of(leaf_text(entry.key));
    if (id && is_id(*id) && !json_text(entry.value, "content").empty()) {
      beside.added.push_back(token_of(*id, entry.value, false));
    } else {
      note_token(beside, kTokenizerConfig, leaf_text(entry.key));
    }
  }
}

/// added_tokens.json: ids by text. Of those, the named ones are special.
void add_by_text(Beside& beside, Value tokens) {
  if (tokens.kind != Kind::dict) return;
  std::unordered_set<std::string_view> named;
  for (const NamedToken& token : beside.named) named.insert(token.text);
  for (const DictEntry& entry : entries(tokens)) {
    const std::string_view text = leaf_text(entry.key);
    if (entry.value.is_small_int() && is_id(entry.value.integer) && !text.empty()) {
      beside.added.push_back(token_of(entry.value.integer, text, named.contains(text)));
    } else {
      note_token(beside, kAdded, text);
    }
  }
}

void add_special(Beside& beside, const Value* token) {
  const Value text = special_token_text(token);
  if (!text.is_leaf() || text.size == 0) return;
  beside.added.push_back(token->kind == Kind::dict ? token_of(-1, *token, true) : token_of(-1, leaf_text(text), true));
  beside.added.back().special = true;
}

void add_list(Beside& beside, const Value* tokens) {
  if (tokens == nullptr || tokens->kind != Kind::list) return;
  for (const Value& token : items(*tokens)) {
    const std::size_t count = beside.added.size();
    add_special(beside, &token);
    if (beside.added.size() == count) continue;
    beside.more.others.push_back(beside.added.back());
    // A tokenizer.json takes an object's flags as they are.
    if (token.kind == Kind::dict) beside.more.others.back() = token_of(-1, token, false);
  }
}

/// Special tokens of which only the text is known: they are looked up in the vocabulary, before
/// those with an id.
void add_named(Beside& beside, const Files& files) {
  for (const SpecialToken& token : special_tokens_of(files.config, files.map))
    beside.named.push_back({token.name, token.text});
  for (const std::string_view name : kSpecialTokenNames) {
    const JsonFile* from = nullptr;
    const Value* found = find_special_token(files.config, files.map, name, &from);
    add_special(beside, found);
    if (name == "eos_token") beside.eos_source = std::string(file_name_of(from->path())) + ": eos_token";
  }
  // A model's own names: transformers comes to objects first.
  for (const bool objects : {true, false}) {
    for (const NamedToken& token : beside.named) {
      const bool is_standard = std::find(std::begin(kSpecialTokenNames), std::end(kSpecialTokenNames), token.name) !=
                               std::end(kSpecialTokenNames);
      const Value* found = is_standard ? nullptr : find_special_token(files.config, files.map, token.name);
      if (found != nullptr && (found->kind == Kind::dict) == objects) add_special(beside, found);
    }
  }
  if (const Value* more = files.config["extra_special_tokens"]; more != nullptr && more->kind == Kind::dict) {
    for (const DictEntry& entry : entries(*more)) add_special(beside, &entry.value);
  }
  beside.more.named = beside.added;
  for (const std::string_view name : {"additional_special_tokens", "extra_special_tokens"}) {
    const Value* listed = find_special_token(files.config, files.map, name);
    add_list(beside, listed);
    beside.lists_special = beside.lists_special || listed != nullptr;
  }
}

/// The texts that transformers knows to be special when it reads added_tokens.json: objects of the configuration are
/// none to it yet.
std::unordered_set<std::string_view> special_texts(const Files& files) {
  std::unordered_set<std::string_view> texts;
  for (const std::string_view name : kSpecialTokenNames) {
    const JsonFile* from = nullptr;
    const Value* token = find_special_token(files.config, files.map, name, &from);
    const bool counts = token != nullptr && (token->is_leaf() || from == &files.map);
    if (const Value text = counts ? special_token_text(token) : Value{}; text.is_leaf()) texts.insert(leaf_text(text));
  }
  for (const std::string_view name : {"additional_special_tokens", "extra_special_tokens"}) {
    const Value* list = find_special_token(files.config, files.map, name);
    if (list == nullptr || list->kind != Kind::list) continue;
    for (const Value& token : items(*list)) {
      if (token.is_leaf()) texts.insert(leaf_text(token));
    }
  }
  return texts;
}

/// What a tokenizer.json needs of the numbered tokens.
void fill_numbered(const Files& files, Beside& beside) {
  const auto is_numbered = [](const AddedToken& token) { return token.id >= 0; };
  std::copy_if(beside.added.begin(), beside.added.end(), std::back_inserter(beside.more.numbered), is_numbered);
  beside.more.are_legacy = files.config["added_tokens_decoder"] == nullptr;
  if (!beside.more.are_legacy) return;
  const std::unordered_set<std::string_view> special = special_texts(files);
  for (AddedToken& token : beside.more.numbered) {
    token.special = special.contains(token.text);
    token.normalized = !token.special;
  }
}

void add_ends(Beside& beside, const Value* ids) {
  if (ids == nullptr || ids->is_none()) return;
  const std::span<const Value> all = ids->kind == Kind::list ? items(*ids) : std::span(ids, 1);
  for (const Value& id : all) {
    if (id.is_small_int()) {
      beside.ends.push_back(id.integer);
    } else {
      beside.notes.push_back("generation_config.json: eos_token_id is neither a number nor a list of numbers");
    }
  }
}

}  // namespace

Result<Beside> read_beside(const std::string& folder) {
  Files files(folder);
  for (JsonFile* file : {&files.config, &files.map, &files.added, &files.generation, &files.model}) {
    if (Result<void> read = file->read_if_there(); !read) return read.error();
  }
  Beside beside;
  add_named(beside, files);
  if (const Value* decoder = files.config["added_tokens_decoder"]; decoder != nullptr) {
    add_decoder(beside, *decoder);
  } else {
    add_by_text(beside, files.added.root());
  }
  fill_numbered(files, beside);
  for (const auto& [name, flag] :
       {std::pair("legacy", &beside.legacy), std::pair("add_prefix_space", &beside.add_prefix_space),
        std::pair("add_bos_token", &beside.add_bos), std::pair("add_eos_token", &beside.add_eos)}) {
    const Value* found = files.config[name];
    if (found != nullptr && found->kind == Kind::boolean) *flag = found->integer != 0;
  }
  beside.tokenizer_class = json_text(files.config.root(), "tokenizer_class");
  beside.model_type = json_text(files.model.root(), "model_type");
  add_ends(beside, files.generation["eos_token_id"]);
  return beside;
}

}  // namespace parlance
