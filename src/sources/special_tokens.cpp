// Source: transformers tokenization_utils_base.py (_from_pretrained, special_tokens_map). Begin
// reading at special_tokens_of.
#include "sources/special_tokens.h"

#include <algorithm>

namespace parlance {
namespace {

void add_token(std::vector<SpecialToken>& tokens, std::string_view name, Value token) {
  if (token.is_leaf() && token.size != 0) tokens.push_back({std::string(name), std::string(leaf_text(token))});
}

/// A model may have special tokens of its own: each other member that is called `…_token` and is a token.
void add_others(std::vector<SpecialToken>& tokens, Value file) {
  if (file.kind != Kind::dict) return;
  for (const DictEntry& entry : entries(file)) {
    const std::string_view name = leaf_text(entry.key);
    const bool is_known =
        std::any_of(tokens.begin(), tokens.end(), [&](const SpecialToken& t) { return t.name == name; }) ||
        std::find(std::begin(kSpecialTokenNames), std::end(kSpecialTokenNames), name) != std::end(kSpecialTokenNames);
    if (name.ends_with("_token") && !is_known) add_token(tokens, name, special_token_text(&entry.value));
  }
}

}  // namespace

const Value* find_special_token(const JsonFile& config, const JsonFile& map, std::string_view name,
                                const JsonFile** from) {
  const bool map_counts = config["added_tokens_decoder"] == nullptr;
  const Value* in_map = map_counts ? map[name] : nullptr;
  if (from != nullptr) *from = in_map != nullptr ? &map : &config;
  return in_map != nullptr ? in_map : config[name];
}

Value special_token_text(const Value* token) {
  if (token != nullptr && token->kind == Kind::dict) token = json_member(*token, "content");
  return token != nullptr && token->is_leaf() ? *token : Value{};
}

std::vector<SpecialToken> special_tokens_of(const JsonFile& config, const JsonFile& map) {
  std::vector<SpecialToken> tokens;
  for (const std::string_view name : kSpecialTokenNames)
    add_token(tokens, name, special_token_text(find_special_token(config, map, name)));
  add_others(tokens, config.root());
  if (config["added_tokens_decoder"] == nullptr) add_others(tokens, map.root());
  const Value* more = config["extra_special_tokens"];
  if (more == nullptr || more->kind != Kind::dict) return tokens;
  const std::size_t count = tokens.size();
  for (const DictEntry& entry : entries(*more)) {
    // Keys come once each, so only the tokens above can be overwritten.
    const auto same = [&](const SpecialToken& t) { return t.name == leaf_text(entry.key); };
    const auto last = tokens.begin() + static_cast<std::ptrdiff_t>(count);
    const auto found = std::find_if(tokens.begin(), last, same);
    if (found != last) found->text.clear();
    add_token(tokens, leaf_text(entry.key), special_token_text(&entry.value));
  }
  std::erase_if(tokens, [](const SpecialToken& t) { return t.text.empty(); });
  return tokens;
}

}  // namespace parlance
