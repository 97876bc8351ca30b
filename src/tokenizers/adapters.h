// The adapters: each opens one kind of tokenizer. Begin reading at open_tokenizer (open.cpp), which has the table of
// them.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/tokenizer.h"

namespace parlance {

/// What a class of transformers builds in place of a file's parts.
struct Rebuilt {
  std::string class_name;
  std::string normalizer;  ///< as JSON, in the spelling of hf/src/shape.rs
  std::string pre_tokenizer;
  std::string model;  ///< as JSON: settings of BPE that are not false or null
  bool is_followed;   ///< all that it does is known here
};

/// Tokens that files beside a tokenizer.json add to it.
struct MoreTokens {
  std::vector<AddedToken> numbered;  ///< with an id: of added_tokens_decoder, else of added_tokens.json
  bool are_legacy = false;           ///< `numbered` are of added_tokens.json
  std::vector<AddedToken> named;     ///< special by a name: eos_token; without an id, as the others
  std::vector<AddedToken> others;    ///< of lists: additional_special_tokens
  std::vector<AddedToken> of_file;   ///< the file's own, where it is read without them: no news
  std::optional<Rebuilt> rebuilt;    ///< what transformers builds in place of the file's parts: for a note
};

/// Reads a tokenizer.json. Fills facts() as far as the file says: kind, vocabulary_size, added, unk, puts_before,
/// puts_after. `path` is for errors. `more` is added as transformers adds it; ids are the crate's. Fails with json,
/// tokenizer.
Result<std::unique_ptr<Tokenizer>> open_hf_json(std::string_view text, const std::string& path,
                                                const MoreTokens& more = {});

/// Reads a SentencePiece model, the bytes of a .model file, and fills facts() as far as they say. `added`: tokens that
/// files beside it add, by id; those whose id belongs to another text are left out with a note. Fails with tokenizer.
Result<std::unique_ptr<Tokenizer>> open_sentencepiece(std::string_view bytes, const std::string& path,
                                                      const SentencePieceOptions& options,
                                                      std::span<const AddedToken> added);

/// Do these bytes begin as a tiktoken file does?
bool is_tiktoken(std::string_view bytes);
/// Reads a tiktoken file. `added`: tokens that files beside it add, by id. Fails with tokenizer (damaged; nobody says
/// how text is split into words).
Result<std::unique_ptr<Tokenizer>> open_tiktoken(std::string_view text, const std::string& path,
                                                 const TiktokenOptions& options, std::span<const AddedToken> added);

/// Is this JSON that of a tekken.json?
bool is_tekken(std::string_view bytes);
/// Reads a tekken.json. Fails with json, tokenizer.
Result<std::unique_ptr<Tokenizer>> open_tekken(std::string_view text, const std::string& path);

/// The vocabulary in a GGUF file, as llama.cpp uses it. Fails with file, model_file (a damaged header), tokenizer (no
/// vocabulary, or of a kind that is not read).
Result<std::unique_ptr<Tokenizer>> open_gguf_vocabulary(const std::string& path);
/// The same of the bytes of a file.
Result<std::unique_ptr<Tokenizer>> read_gguf_vocabulary(std::string_view bytes, const std::string& path);

}  // namespace parlance
