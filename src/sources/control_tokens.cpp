// The control tokens of a model's tokenizer, without opening the tokenizer: a tokenizer.json and the configuration
// beside it list what was added, a GGUF file tells the type of each token. Begin reading at control_tokens.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <unordered_map>

#include "base/ascii.h"
#include "parlance/json.h"
#include "sources/files.h"
#include "sources/gguf.h"
#include "sources/openers.h"
#include "value/dict.h"

namespace parlance {
namespace {

constexpr std::string_view kTokenizer = "tokenizer.json";
constexpr std::string_view kConfig = "tokenizer_config.json";
constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of a tokenizer.json; the largest in use are below 40 MiB

Error nothing_there(const std::string& path) {
  return Error(ErrorCode::tokenizer, path + ": no control tokens are told here")
      .hint("a tokenizer.json or its folder, or a GGUF file");
}

/// Tokens as they are told. One that was told before is told better now: configuration is read last, as transformers
/// has it.
class Told {
 public:
  void add(TokenId id, std::string_view text, bool special) {
    if (text.empty() || ascii::is_blank(text)) return;
    const auto [place, is_new] = places_.try_emplace(std::string(text), tokens.size());
    if (is_new) {
      AddedToken token;
      token.id = id;
      token.text = text;
      tokens.push_back(std::move(token));
    }
    tokens[place->second].special = special;
  }
  void add(TokenId id, Value entry) {
    const Value content = member_value(entry, "content"), special = member_value(entry, "special");
    if (content.is_string()) add(id, leaf_text(content), special.is(Kind::boolean) && special.integer != 0);
  }
  std::vector<AddedToken> tokens{};

 private:
  std::unordered_map<std::string, std::size_t> places_{};
};

Error no_tokenizer(const std::string& path) {
  return Error(ErrorCode::tokenizer,
               path + ": JSON, but no tokenizer: it has no `model`, no `added_tokens` and no `added_tokens_decoder`")
      .hint("a tokenizer.json or its folder, or a GGUF file");
}

bool is_tokenizer(Value root) {
  return member_value(root, "model").is(Kind::dict) || member_value(root, "added_tokens").is_sequence() ||
         member_value(root, "added_tokens_decoder").is(Kind::dict);
}

/// Whether it is a tokenizer's file at all.
Result<bool> add_json(Told& told, const std::string& path) {
  const Result<std::string> text = read_file(path, kMostBytes);
  if (!text) return text.error();
  Document document;
  if (auto parsed = document.parse(*text, path); !parsed) return parsed.error();
  if (!is_tokenizer(document.root())) return false;
  if (const Value listed = member_value(document.root(), "added_tokens"); listed.is_sequence()) {
    for (const Value entry : items(listed)) {
      const Value id = member_value(entry, "id");
      if (id.is_small_int()) told.add(static_cast<TokenId>(id.integer), entry);
    }
  }
  const Value decoder = member_value(document.root(), "added_tokens_decoder");
  if (!decoder.is(Kind::dict)) return true;
  for (const DictEntry& entry : entries(decoder)) {
    const std::string_view key = leaf_text(entry.key);
    TokenId id = -1;
    const auto read = std::from_chars(key.data(), key.data() + key.size(), id);
    if (read.ec == std::errc() && read.ptr == key.data() + key.size()) told.add(id, entry.value);
  }
  return true;
}

/// Types of llama.cpp's vocabulary: control tokens, and those that its user defined.
Result<std::vector<AddedToken>> of_gguf(const std::string& path) {
  constexpr std::uint32_t kControl = 3, kUserDefined = 4;
  const Result<MappedFile> file = MappedFile::open(path, kMaxGgufHeader);
  if (!file) return file.error();
  const Result<GgufHeader> header = read_gguf(file->bytes(), path, &*file);
  if (!header) return header.error();
  Told told;
  for (std::uint64_t i = 0; i < std::min(header->tokens.size(), header->token_type_count()); ++i) {
    const std::uint32_t type = header->token_type(i);
    if (type != kControl && type != kUserDefined) continue;
    if (const auto text = header->tokens.at(i)) told.add(static_cast<TokenId>(i), *text, type == kControl);
  }
  return std::move(told.tokens);
}

}  // namespace

Result<std::vector<AddedToken>> control_tokens(const std::string& path) {
  const ModelStores nowhere;
  if (is_gguf({path, nowhere})) return of_gguf(path);
  Told told;
  if (!is_folder(path)) {
    if (!path.ends_with(".json")) return is_there(path) ? nothing_there(path) : file_error(path, ENOENT);
    const Result<bool> added = add_json(told, path);
    if (!added) return added.error();
    return *added ? Result<std::vector<AddedToken>>(std::move(told.tokens)) : no_tokenizer(path);
  }
  bool any = false, is_one = false;
  for (const std::string_view name : {kTokenizer, kConfig}) {
    const std::string file = join_path(path, name);
    if (!is_file(file)) continue;
    any = true;
    const Result<bool> added = add_json(told, file);
    if (!added) return added.error();
    is_one = is_one || *added;
  }
  if (is_one) return std::move(told.tokens);
  if (any) return no_tokenizer(path);
  const std::vector<std::string> files = gguf_files_in(path);
  return files.size() == 1 ? of_gguf(join_path(path, files[0])) : Result<std::vector<AddedToken>>(nothing_there(path));
}

}  // namespace parlance
