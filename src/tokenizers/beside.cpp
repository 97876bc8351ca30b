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

struct Files {
  explicit Files(const std::string& folder)
      : special(folder), added(join_path(folder, kAdded)), generation(join_path(folder, kGeneration)) {}
  SpecialTokenFiles special;
  JsonFile added, generation;
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

void add_list(Beside& beside, const std::vector<Value>& tokens) {
  for (const Value& token : tokens) {
    const std::size_t count = beside.added.size();
    add_special(beside, &token);
    if (beside.added.size() == count) {
      beside.notes.push_back("an additional special token is neither a text nor an object with one: " +
                             json_text(token));
      continue;
    }
    beside.more.others.push_back(beside.added.back());
    // A tokenizer.json takes an object's flags as they are.
    if (token.kind == Kind::dict) beside.more.others.back() = token_of(-1, token, false);
  }
}

/// Special tokens of which only the text is known: they are looked up in the vocabulary, before
/// those with an id.
void add_named(Beside& beside, const SpecialTokenFiles& files) {
  for (const NamedValue& token : files.named()) {
    if (files.is_of_model(token)) continue;  // its adapter knows them
    beside.named.push_back({std::string(token.name), std::string(leaf_text(special_token_text(&token.value)))});
    add_special(beside, &token.value);
    if (token.name == "eos_token") beside.eos_source = token.source + ": eos_token";
  }
  beside.unset = files.unset();
  beside.more.named = beside.added;
  beside.lists_special = files.others_come_early();
  if (files.others()) add_list(beside, *files.others());
}

/// What a tokenizer.json needs of the numbered tokens.
void fill_numbered(const Files& files, Beside& beside) {
  const auto is_numbered = [](const AddedToken& token) { return token.id >= 0; };
  std::copy_if(beside.added.begin(), beside.added.end(), std::back_inserter(beside.more.numbered), is_numbered);
  beside.more.are_legacy = files.special.config()["added_tokens_decoder"] == nullptr;
  if (!beside.more.are_legacy) return;
  const std::vector<std::string_view> early = files.special.known_early();
  const std::unordered_set<std::string_view> special(early.begin(), early.end());
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

std::vector<std::string> found_files(const Files& files) {
  std::vector<std::string> paths;
  for (const JsonFile* file :
       {&files.special.config(), &files.added, &files.special.map(), &files.generation, &files.special.model()})
    if (file->was_there()) paths.push_back(file->path());
  return paths;
}

}  // namespace

Result<Beside> read_beside(const std::string& folder) {
  Files files(folder);
  if (Result<void> read = files.special.read(); !read) return read.error();
  for (JsonFile* file : {&files.added, &files.generation}) {
    if (Result<void> read = file->read_if_there(); !read) return read.error();
  }
  const JsonFile& config = files.special.config();
  Beside beside;
  beside.notes = files.special.notes();
  beside.files = found_files(files);
  add_named(beside, files.special);
  if (const Value* decoder = config["added_tokens_decoder"]; decoder != nullptr) {
    add_decoder(beside, *decoder);
  } else {
    add_by_text(beside, files.added.root());
  }
  fill_numbered(files, beside);
  for (const auto& [name, flag] :
       {std::pair("legacy", &beside.legacy), std::pair("add_prefix_space", &beside.add_prefix_space),
        std::pair("add_bos_token", &beside.add_bos), std::pair("add_eos_token", &beside.add_eos)}) {
    const Value* found = config[name];
    if (found != nullptr && found->kind == Kind::boolean) *flag = found->integer != 0;
  }
  beside.tokenizer_class = files.special.class_name();
  add_ends(beside, files.generation["eos_token_id"]);
  return beside;
}

}  // namespace parlance
