// open_tokenizer: which adapter reads a path, and what the files beside it add to what the adapter
// knows. Begin reading at kKinds and open_tokenizer.
#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/packed.h"
#include "base/utf8.h"
#include "sources/files.h"
#include "sources/openers.h"
#include "tokenizers/adapters.h"
#include "tokenizers/beside.h"
#include "tokenizers/rebuilt.h"
#include "tokenizers/sentencepiece_as_json.h"
#include "tokenizers/sentencepiece_proto.h"

namespace parlance {
namespace {

/// The largest tokenizer.json that is read. Those in use are below 40 MiB.
constexpr std::size_t kMaxJson = std::size_t{256} << 20;

Error not_read(std::string message, std::string_view hint) {
  return Error(ErrorCode::tokenizer, std::move(message)).hint("parlance reads " + std::string(hint));
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
  Result<void> encode_and_find_dropped(std::string_view text, const std::vector<ByteSpan>* trusted,
                                       std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const override {
    return inner_->encode_and_find_dropped(text, trusted, into, dropped);
  }
  std::string token_text(TokenId id) const override { return inner_->token_text(id); }

 private:
  std::unique_ptr<Tokenizer> inner_;
};

// ---- which kind

bool is_json(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && bytes[first] == '{';
}

/// A model that splits its text may say that only the first part gets a blank in front.
SentencePieceOptions options_as_configured(SentencePieceOptions options, const Beside& beside) {
  options.prefix_each_run = options.prefix_each_run && beside.legacy.value_or(true);
  return options;
}

/// A .model as transformers reads it: by way of the tokenizer.json that it makes of one.
Result<std::unique_ptr<Tokenizer>> open_converted(std::string_view bytes, const std::string& file, const Beside& beside,
                                                  std::string& reader) {
  const Result<SpModel> model = read_sp_model(bytes, file);
  if (!model) return model.error();
  Result<SpAsJson> made = sentencepiece_as_json(*model, beside, file);
  if (!made) return made.error();
  reader = made->reader;
  return open_hf_json(made->json, file);
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

/// What a tokenizer is opened from, besides the options.
struct Opening {
  std::string_view bytes;
  const std::string& file;
  const Beside& beside;
};
using Opened = Result<std::unique_ptr<Tokenizer>>;

/// A tokenizer.json, as it is or as the class of its configuration takes it.
Opened open_json(const Opening& from, const TokenizerOptions& options) {
  MoreTokens more = more_tokens(from.beside, options.special_tokens);
  std::optional<Rebuilt> rebuilt = rebuilt_parts(from.beside);
  if (!rebuilt) return open_hf_json(from.bytes, from.file, more);
  if (options.sentencepiece.as_transformers) {
    const Result<std::string> made = json_as_rebuilt(from.bytes, from.file, *rebuilt, from.beside, more);
    if (!made) return made.error();
    return open_hf_json(*made, from.file, more);
  }
  more.rebuilt = std::move(rebuilt);
  return open_hf_json(from.bytes, from.file, more);
}

/// A kind of file that is a tokenizer.
struct FileKind {
  std::string_view reads;      ///< what hints call it
  std::string_view name{};     ///< the file of a folder that is one; "": none is called so
  std::string_view ending{};   ///< else the only file that ends so; "": none is known by it
  std::string_view several{};  ///< such files
  /// By its bytes, if none of the kinds above is it; null for a GGUF file, whose header is looked at.
  bool (*is)(std::string_view bytes);
  Opened (*open)(const Opening& from, const TokenizerOptions& options);
  bool is_text = false;
  bool puts_its_own = false;  ///< what stands around a text it says itself, not its configuration
  bool takes_marks = false;   ///< TokenizerOptions::special_tokens
  bool takes_split = false;
  bool takes_reader = false;  ///< SentencePieceOptions::as_transformers
  bool converts = false;      ///< that makes a tokenizer.json of it
};

/// What is none of the others is taken for a SentencePiece model. In a folder, the first name that is there counts,
/// then the first ending.
constexpr FileKind kKinds[] = {
    {.reads = "a Hugging Face tokenizer.json",
     .name = "tokenizer.json",
     .is = [](std::string_view bytes) { return is_json(bytes) && !is_tekken(bytes); },
     .open = open_json,
     .is_text = true,
     .puts_its_own = true,
     .takes_marks = true,
     .takes_reader = true},
    {.reads = "a SentencePiece .model",
     .name = "tokenizer.model",
     .ending = ".model",
     .several = "SentencePiece models",
     .is = [](std::string_view bytes) { return !is_json(bytes) && !is_tiktoken(bytes); },
     .open = [](const Opening& from, const TokenizerOptions& options) -> Opened {
       return open_sentencepiece(from.bytes, from.file, options_as_configured(options.sentencepiece, from.beside),
                                 from.beside.added);
     },
     .takes_marks = true,
     .takes_reader = true,
     .converts = true},
    {.reads = "a tekken.json",
     .name = "tekken.json",
     .is = is_json,
     .open = [](const Opening& from, const TokenizerOptions&) -> Opened { return open_tekken(from.bytes, from.file); },
     .is_text = true},
    {.reads = "a tiktoken file",
     .ending = ".tiktoken",
     .several = "tiktoken files",
     .is = is_tiktoken,
     .open = [](const Opening& from, const TokenizerOptions& options) -> Opened {
       return open_tiktoken(from.bytes, from.file, options.tiktoken, from.beside.added);
     },
     .is_text = true,
     .takes_marks = true,
     .takes_split = true},
    {.reads = "the vocabulary in a GGUF file",
     .ending = ".gguf",
     .several = "GGUF files",
     .is = nullptr,
     .open = [](const Opening& from, const TokenizerOptions&) -> Opened { return open_gguf_vocabulary(from.file); }},
};
constexpr const FileKind& kGgufKind = kKinds[std::size(kKinds) - 1];

const FileKind& kind_of(std::string_view bytes) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [bytes](const FileKind& kind) { return kind.is != nullptr && kind.is(bytes); });
}

/// What a file's name says that it is; null where it says nothing.
const FileKind* kind_named(std::string_view file) {
  const auto named = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const FileKind& kind) {
    return (!kind.name.empty() && file_name_of(file) == kind.name) ||
           (!kind.ending.empty() && file.ends_with(kind.ending));
  });
  return named == std::end(kKinds) ? nullptr : &*named;
}

/// A file that is none of the kinds for a reason that can be told: it is empty, was not downloaded, or is packed.
Result<void> check_bytes(std::string_view bytes, const std::string& file) {
  const std::string_view hint = bytes.empty() ? "the file is empty" : hint_for_bytes(bytes);
  if (hint.empty()) return {};
  const FileKind* named = kind_named(file);
  return Error(ErrorCode::tokenizer, file + ": not " + std::string(named != nullptr ? named->reads : "a tokenizer"))
      .hint(std::string(hint));
}

// ---- which file

Error nothing_read(const std::string& folder) {
  if (is_file(join_path(folder, "vocab.json")) && is_file(join_path(folder, "merges.txt"))) {
    return Error(ErrorCode::tokenizer, folder + ": vocab.json and merges.txt do not say how text is split into words")
        .hint("transformers' AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes a tokenizer.json");
  }
  std::string all;
  for (const FileKind& kind : kKinds) all.append(kind.reads).append(", ");
  return not_read(folder + ": no tokenizer in this folder",
                  all + "or a folder that has one of them; for another tokenizer there is CallbackTokenizer");
}

/// The one file of a folder with this ending; "" where there is none. Fails with tokenizer where there are several.
Result<std::string> only_file(const std::string& folder, const FileKind& kind) {
  const std::vector<std::string> names = &kind == &kGgufKind ? gguf_files_in(folder) : files_in(folder, kind.ending);
  if (names.empty()) return std::string();
  if (names.size() == 1) return join_path(folder, names[0]);
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "'" : ", '") + name + "'";
  return not_read(folder + ": several " + std::string(kind.several) + ": " + all,
                  "one of them, if it is given by its name");
}

Result<std::string> tokenizer_file(const std::string& path) {
  const bool is_config = file_name_of(path) == "tokenizer_config.json" && is_file(path);
  if (!is_folder(path) && !is_config) return path;
  const std::string folder = is_folder(path) ? path : folder_of(path);
  for (const FileKind& kind : kKinds) {
    if (kind.name.empty()) continue;
    if (std::string found = join_path(folder, kind.name); is_file(found)) return found;
  }
  for (const FileKind& kind : kKinds) {
    if (kind.ending.empty()) continue;
    Result<std::string> found = only_file(folder, kind);
    if (!found || !found->empty()) return found;
  }
  return nothing_read(folder);
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
  const std::vector<NamedToken> own = std::exchange(facts.named, beside.named);
  for (const NamedToken& token : own) {
    const auto same = [&](const NamedToken& other) { return other.name == token.name; };
    if (std::none_of(facts.named.begin(), facts.named.end(), same)) facts.named.push_back(token);
  }
  for (const NamedToken& token : facts.named) {
    const std::optional<TokenId> id = index.id_of(token.text);
    if (!id) note(facts, token.name + " '" + token.text + "'", "is not in the vocabulary");
    if (id && token.name == "bos_token") facts.bos = id;
    if (id && token.name == "eos_token") facts.eos = id;
  }
}

void set_ends(const Beside& beside, const std::string& file, TokenizerFacts& facts) {
  const auto names_eos = [](const NamedToken& token) { return token.name == "eos_token"; };
  const bool named = std::any_of(beside.named.begin(), beside.named.end(), names_eos);
  if (facts.eos) facts.ends.push_back({*facts.eos, named ? beside.eos_source : file + ": end of a text"});
  for (const std::int64_t id : beside.ends) {
    if (id >= 0 && static_cast<std::uint64_t>(id) < facts.vocabulary_size) {
      facts.ends.push_back({static_cast<TokenId>(id), "generation_config.json: eos_token_id"});
    } else {
      note(facts, "generation_config.json: eos_token_id " + std::to_string(id), "is not in the vocabulary");
    }
  }
}

/// A .model knows nothing of texts that begin with BOS.
void set_puts(const Beside& beside, TokenizerFacts& facts) {
  if (beside.add_bos.value_or(false) && facts.bos) facts.puts_before = {*facts.bos};
  if (beside.add_eos.value_or(false) && facts.eos) facts.puts_after = {*facts.eos};
}

/// A class that puts the same around a text, whatever the post-processor of a tokenizer.json says.
struct FixedPuts {
  std::string_view class_name;
  bool bos, eos;
};
#define FIXED_PUTS(name, bos, eos) {name, bos, eos},
constexpr FixedPuts kFixedPuts[] = {
#include "transformers_types.def"
};

void note_setting(std::string_view name, const std::optional<bool>& wanted, const std::optional<TokenId>& token,
                  const std::vector<TokenId>& puts, TokenizerFacts& facts) {
  const bool has = token && std::find(puts.begin(), puts.end(), *token) != puts.end();
  if (!wanted || *wanted == has) return;
  note(facts, "tokenizer_config.json: " + std::string(name) + (*wanted ? " is true, but" : " is false, and"),
       std::string("the tokenizer puts ") + (has ? "one" : "none") +
           " all the same, as in transformers: beside a tokenizer.json it does not count");
}

/// transformers passes over the settings where there is a tokenizer.json: its post-processor counts, or what a class
/// makes of it.
void set_json_puts(const Beside& beside, TokenizerFacts& facts) {
  for (const FixedPuts& row : kFixedPuts) {
    if (row.class_name != beside.tokenizer_class) continue;
    facts.puts_before = row.bos && facts.bos ? std::vector{*facts.bos} : std::vector<TokenId>();
    facts.puts_after = row.eos && facts.eos ? std::vector{*facts.eos} : std::vector<TokenId>();
  }
  note_setting("add_bos_token", beside.add_bos, facts.bos, facts.puts_before, facts);
  note_setting("add_eos_token", beside.add_eos, facts.eos, facts.puts_after, facts);
}

/// Options that mean nothing for this kind of file.
void note_unused(const FileKind& kind, const TokenizerOptions& options, TokenizerFacts& facts) {
  if (!options.special_tokens.empty() && !kind.takes_marks)
    note(facts, "special_tokens:", "no effect, since the file itself lists all its control tokens");
  if (!options.tiktoken.split.empty() && !kind.takes_split)
    note(facts, "split:", "no effect, since only a tiktoken file does not say how text is split into words");
  if (options.sentencepiece.as_transformers && !kind.takes_reader)
    note(facts, "as_transformers:", "no effect, since the file is neither a SentencePiece model nor a tokenizer.json");
}

TokenizerFacts facts_beside(const Tokenizer& tokenizer, const Beside& beside, const std::string& file, bool json) {
  TokenizerFacts facts = tokenizer.facts();
  facts.notes.insert(facts.notes.end(), beside.notes.begin(), beside.notes.end());
  facts.files = beside.files;
  Index index(tokenizer);
  set_named(index, beside, facts);
  if (json) {
    set_json_puts(beside, facts);
  } else {
    set_puts(beside, facts);
  }
  set_ends(beside, file, facts);
  return facts;
}

/// All that follows the reading of a file that is no GGUF file.
Opened open_bytes(const Opening& from, const TokenizerOptions& options) {
  if (Result<void> checked = check_bytes(from.bytes, from.file); !checked) return checked.error();
  const FileKind* named = kind_named(from.file);
  const FileKind& kind = named != nullptr && named->is_text && !is_json(from.bytes) ? *named : kind_of(from.bytes);
  if (kind.is_text && !utf8::is_valid(from.bytes, false)) return Error(ErrorCode::tokenizer, from.file + ": not UTF-8");
  std::string reader;
  const bool converts = kind.converts && options.sentencepiece.as_transformers;
  Opened opened = converts ? open_converted(from.bytes, from.file, from.beside, reader) : kind.open(from, options);
  if (!opened) return opened;
  TokenizerFacts facts = facts_beside(**opened, from.beside, std::string(file_name_of(from.file)), kind.puts_its_own);
  note_unused(kind, options, facts);
  if (converts) facts.kind = "SentencePiece, as transformers' " + reader + " reads it";
  return std::unique_ptr<Tokenizer>(std::make_unique<WithFacts>(std::move(*opened), std::move(facts)));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& path, const TokenizerOptions& options) {
  const Result<std::string> file = tokenizer_file(path);
  if (!file) return file.error();
  if (is_gguf({*file, ModelStores()})) {
    const Beside nothing;
    Opened opened = kGgufKind.open({{}, *file, nothing}, options);
    if (!opened) return opened;
    TokenizerFacts facts = (*opened)->facts();
    facts.files = {*file};
    note_unused(kGgufKind, options, facts);
    return std::unique_ptr<Tokenizer>(std::make_unique<WithFacts>(std::move(*opened), std::move(facts)));
  }
  const Result<std::string> bytes = read_file(*file, kMaxJson);
  if (!bytes) return bytes.error();
  Result<Beside> beside = read_beside(folder_of(*file));
  if (!beside) return beside.error();
  beside->files.insert(beside->files.begin(), *file);
  return open_bytes({*bytes, *file, *beside}, options);
}

Result<std::unique_ptr<Tokenizer>> read_tokenizer(std::string_view bytes, const std::string& name,
                                                  const TokenizerOptions& options) {
  const Beside nothing;
  return open_bytes({bytes, name, nothing}, options);
}

}  // namespace parlance
