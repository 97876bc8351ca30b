// open_tokenizer: which adapter reads a path, and what the files beside it add to what the adapter
// knows. Begin reading at open_tokenizer.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/utf8.h"
#include "sources/files.h"
#include "tokenizers/adapters.h"
#include "tokenizers/beside.h"
#include "tokenizers/sentencepiece_proto.h"

namespace parlance {
namespace {

/// The largest tokenizer.json that is read. Those in use are below 40 MiB.
constexpr std::size_t kMaxJson = std::size_t{256} << 20;
constexpr std::string_view kReads =
    "a Hugging Face tokenizer.json, a SentencePiece .model, or a folder that has one of them; for "
    "another tokenizer there "
    "is CallbackTokenizer";

Error not_read(std::string message, std::string_view hint = kReads) {
  Error::Parts parts;
  parts.code = ErrorCode::tokenizer;
  parts.message = std::move(message);
  parts.hint = std::string("parlance reads ") + std::string(hint);
  return Error(std::move(parts));
}

/// A tokenizer with the facts that its neighbours add.
class WithFacts final : public Tokenizer {
 public:
  WithFacts(std::unique_ptr<Tokenizer> inner, TokenizerFacts facts) : inner_(std::move(inner)) {
    facts_ = std::move(facts);
  }
  Result<void> encode(std::string_view text, const std::vector<ByteSpan>* trusted,
                      std::vector<EncodedToken>& into) const override {
    return inner_->encode(text, trusted, into);
  }
  std::string token_text(TokenId id) const override { return inner_->token_text(id); }

 private:
  std::unique_ptr<Tokenizer> inner_;
};

// ---- which file

Result<std::string> model_in(const std::string& folder) {
  const std::vector<std::string> models = files_in(folder, ".model");
  if (models.size() == 1) return join_path(folder, models[0]);
  if (models.empty()) {
    const bool has_gguf = !files_in(folder, ".gguf").empty();
    return not_read(folder + ": no tokenizer in this folder" +
                    (has_gguf ? "; that of a GGUF file is not read" : ""));
  }
  std::string all;
  for (const std::string& name : models) all += (all.empty() ? "'" : ", '") + name + "'";
  return not_read(folder + ": several SentencePiece models: " + all,
                  "one of them, if it is given by its name");
}

Result<std::string> tokenizer_file(const std::string& path) {
  const bool is_config = file_name_of(path) == "tokenizer_config.json" && is_file(path);
  if (!is_folder(path) && !is_config) return path;
  const std::string folder = is_folder(path) ? path : folder_of(path);
  for (const std::string_view name : {"tokenizer.json", "tokenizer.model"}) {
    if (std::string found = join_path(folder, name); is_file(found)) return found;
  }
  return model_in(folder);
}

bool is_json(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && bytes[first] == '{';
}

// ---- facts

void note(TokenizerFacts& facts, std::string_view what, std::string_view why) {
  facts.notes.push_back(std::string(what) + " " + std::string(why));
}

/// Ids by text: of the added tokens, the last of each text; and of the whole vocabulary, the first
/// of each, which is made only where it is asked for.
class Index {
 public:
  explicit Index(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
    for (const AddedToken& token : tokenizer.facts().added) added_[token.text] = token.id;
  }
  bool is_added(const std::string& text) const { return added_.contains(text); }
  std::optional<TokenId> id_of(const std::string& text) {
    if (const auto found = added_.find(text); found != added_.end()) return found->second;
    if (all_.empty()) read_all();
    const auto found = all_.find(text);
    return found == all_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void read_all() {
    constexpr std::size_t kMost = std::size_t{1} << 22;
    const std::size_t size = std::min(tokenizer_.facts().vocabulary_size, kMost);
    for (std::size_t id = 0; id < size; ++id)
      all_.emplace(tokenizer_.token_text(static_cast<TokenId>(id)), static_cast<TokenId>(id));
  }
  const Tokenizer& tokenizer_;
  std::unordered_map<std::string, TokenId> added_, all_;
};

void set_named(Index& index, const Beside& beside, TokenizerFacts& facts) {
  facts.named = beside.named;
  for (const NamedToken& token : beside.named) {
    const std::optional<TokenId> id = index.id_of(token.text);
    if (!id) note(facts, token.name + " '" + token.text + "'", "is not in the vocabulary");
    if (id && token.name == "bos_token") facts.bos = id;
    if (id && token.name == "eos_token") facts.eos = id;
  }
}

void set_ends(const Beside& beside, const std::string& file, TokenizerFacts& facts) {
  const auto names_eos = [](const NamedToken& token) { return token.name == "eos_token"; };
  const bool named = std::any_of(beside.named.begin(), beside.named.end(), names_eos);
  if (facts.eos)
    facts.ends.push_back({*facts.eos, named ? beside.eos_source : file + ": end of a text"});
  for (const std::int64_t id : beside.ends) {
    if (id >= 0 && static_cast<std::uint64_t>(id) < facts.vocabulary_size) {
      facts.ends.push_back({static_cast<TokenId>(id), "generation_config.json: eos_token_id"});
    } else {
      note(facts, "generation_config.json: eos_token_id " + std::to_string(id),
           "is not in the vocabulary");
    }
  }
}

/// A .model knows nothing of texts that begin with BOS.
void set_puts(const Beside& beside, TokenizerFacts& facts) {
  if (beside.add_bos && facts.bos) facts.puts_before = {*facts.bos};
  if (beside.add_eos && facts.eos) facts.puts_after = {*facts.eos};
}

TokenizerFacts facts_of(const Tokenizer& tokenizer, const Beside& beside, const std::string& file,
                        bool json) {
  TokenizerFacts facts = tokenizer.facts();
  facts.notes.insert(facts.notes.end(), beside.notes.begin(), beside.notes.end());
  Index index(tokenizer);
  set_named(index, beside, facts);
  if (!json) set_puts(beside, facts);
  set_ends(beside, file, facts);
  return facts;
}

/// A model that splits its text may say that only the first part gets a blank in front.
SentencePieceOptions as_configured(SentencePieceOptions options, const Beside& beside) {
  options.prefix_each_run = options.prefix_each_run && beside.legacy.value_or(true);
  return options;
}

/// With the special tokens that the caller wants.
MoreTokens more_tokens(const Beside& beside, const std::vector<std::string>& special_tokens) {
  MoreTokens more = beside.more;
  for (const std::string& text : special_tokens) {
    AddedToken token;
    token.text = text;
    token.special = true;
    more.others.push_back(std::move(token));
  }
  return more;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& path,
                                                  const TokenizerOptions& options) {
  const Result<std::string> file = tokenizer_file(path);
  if (!file) return file.error();
  const Result<std::string> bytes = read_file(*file, kMaxJson);
  if (!bytes) return bytes.error();
  if (bytes->starts_with("GGUF"))
    return not_read(*file + ": the tokenizer in a GGUF file is not read");
  const Result<Beside> beside = read_beside(folder_of(*file));
  if (!beside) return beside.error();
  const bool json = is_json(*bytes);
  if (json && !utf8::is_valid(*bytes, false))
    return Error(ErrorCode::tokenizer, *file + ": not UTF-8");
  Result<std::unique_ptr<Tokenizer>> opened =
      json ? open_hf_json(*bytes, *file, more_tokens(*beside, options.special_tokens))
           : open_sentencepiece(*bytes, *file, as_configured(options.sentencepiece, *beside),
                                beside->added);
  if (!opened) return opened;
  TokenizerFacts facts = facts_of(**opened, *beside, std::string(file_name_of(*file)), json);
  return std::unique_ptr<Tokenizer>(
      std::make_unique<WithFacts>(std::move(*opened), std::move(facts)));
}

}  // namespace parlance
