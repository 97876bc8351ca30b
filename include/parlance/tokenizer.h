// Tokenizer: text to token ids and back, behind one small interface.
//
// Those of files are opened by open_tokenizer: Hugging Face's tokenizer.json, SentencePiece's .model, the vocabulary of a GGUF
// file, tiktoken's files and tekken.json. CallbackTokenizer is for whoever has a tokenizer already. What a prompt's tokens are is
// in tokens.h.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"

namespace parlance {

using TokenId = std::int32_t;

/// Half-open range of bytes of a text.
struct ByteSpan {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// A token that was added to a tokenizer's vocabulary: its text is looked for in a prompt before the model of the
/// tokenizer sees it. The flags mean what they mean in Hugging Face's `tokenizers`.
struct AddedToken {
  TokenId id = -1;
  std::string text;
  bool special = false;      ///< says of itself that it is no text: <s>, <|im_end|>
  bool lstrip = false;       ///< takes the white space before it along
  bool rstrip = false;       ///< takes the white space after it along
  bool normalized = false;   ///< is looked for in the normalised text
  bool single_word = false;  ///< only where no letter or digit is beside it
  /// Is its place in a prompt a matter of trust? All are but those of nothing but white space, which are a way to write
  /// white space in fewer tokens, and single letters, digits and signs that a SentencePiece model lists as its user's.
  bool control = true;
};

/// One token of an encoding. Spans of an encoding's tokens are in order; white space that an added token took along, or
/// that a normaliser dropped, is in none.
struct EncodedToken {
  TokenId id = -1;
  ByteSpan bytes;      ///< of the text; empty for a token that stands for no byte of it (a dummy prefix)
  bool added = false;  ///< an AddedToken found in the text; false: made by the tokenizer's model
};

/// A name that a tokenizer's configuration gives a token: `bos_token`, `eos_token`, …
struct NamedToken {
  std::string name;
  std::string text;
};

/// A token that ends a reply, and who says so.
struct EndToken {
  TokenId id = -1;
  std::string source;  ///< "tokenizer_config.json: eos_token", "generation_config.json: eos_token_id"
};

/// What is known of a tokenizer beside its ways.
struct TokenizerFacts {
  std::string kind;                  ///< for people: "tokenizer.json, BPE"
  std::size_t vocabulary_size = 0;   ///< ids are below it, added tokens included; 0: not known
  /// The model weighs a run of text as a whole (Unigram), so that its tokens are known only from a run's begin on.
  bool weighs_runs = false;
  std::vector<AddedToken> added;     ///< ascending by id
  std::vector<TokenId> markers;      ///< control tokens that nobody added: a model's own pieces written <|…|>; ascending
  std::vector<TokenId> symbols;      ///< added tokens that split no text: the model finds them within its run; ascending
  std::vector<NamedToken> named;     ///< as its configuration names them
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  std::optional<TokenId> unk;        ///< what the model makes of text it does not know
  std::vector<TokenId> puts_before;  ///< what the tokenizer puts before a text by itself when asked for special tokens
  std::vector<TokenId> puts_after;   ///< … and after it
  std::vector<EndToken> ends;        ///< tokens that end a reply
  std::vector<std::string> notes;    ///< what was met and left out, for people
};

/// Text to token ids.
///
/// Threads: an implementation must let any number of threads encode() at once; those of parlance do.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Appends the tokens of `text`, without anything in front or behind.
  ///
  /// `trusted` null: the tokenizer's own way, added tokens are recognised wherever their text is. Otherwise an added token
  /// is recognised only where all bytes of its text lie in one of these ranges (sorted, disjoint, not touching). The text
  /// between two recognised ones is encoded as one run, as if the other control tokens were not in the vocabulary: no
  /// control token stands for bytes outside `trusted`, even where the model could spell one, and none is made or lost because a
  /// normaliser joins characters across the border of a range.
  /// Fails with value (text is not UTF-8), tokenizer (the tokenizer refuses the text), limit_memory.
  virtual Result<void> encode(std::string_view text, const std::vector<ByteSpan>* trusted,
                              std::vector<EncodedToken>& into) const = 0;

  /// The bytes a token stands for when it follows another: " Hello", "<|im_end|>", a lone byte of a longer character.
  /// "" for an id that there is not.
  virtual std::string token_text(TokenId id) const = 0;

  const TokenizerFacts& facts() const { return facts_; }

 protected:
  TokenizerFacts facts_;
};

/// A tokenizer of the caller's, such as llama.cpp's: parlance splits a prompt at its control tokens, the callback encodes
/// what is between.
///
///     parlance::CallbackTokenizer tokenizer({
///         .added = {{.id = 1, .text = "<|im_start|>", .special = true}, {.id = 2, .text = "<|im_end|>", .special = true}},
///         .encode = [&](std::string_view run, std::vector<parlance::TokenId>& ids) {
///           for (parlance::TokenId id : my_encode(run)) ids.push_back(id);  // with special tokens switched off
///           return parlance::Result<void>();
///         },
///         .token_text = [&](parlance::TokenId id) { return my_piece(id); }});
class CallbackTokenizer : public Tokenizer {
 public:
  struct Parts {
    std::vector<AddedToken> added;
    /// Appends the ids of one run between control tokens, with control tokens switched off. Called from several threads
    /// at once if the tokenizer is used so.
    std::function<Result<void>(std::string_view run, std::vector<TokenId>& ids)> encode;
    std::function<std::string(TokenId)> token_text;
    TokenizerFacts facts{};  ///< whatever else is known; `added` of it is overwritten
  };
  explicit CallbackTokenizer(Parts parts);
  ~CallbackTokenizer() override;
  /// Spans of a run's tokens come from token_text where the texts give the run, a blank in front apart; where they do not,
  /// each token of the run has the span of the whole run.
  Result<void> encode(std::string_view text, const std::vector<ByteSpan>* trusted,
                      std::vector<EncodedToken>& into) const override;
  std::string token_text(TokenId id) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How a SentencePiece model that knows nothing of chat is used.
///
///     field             default  effect
///     special_tokens    none     texts of further control tokens, numbered from the end of the vocabulary on; a format
///                                that needs some names them (BuiltinFormat::vocabulary_tokens)
///     prefix_each_run   true     the dummy blank of the model comes before each run; false: only at the very beginning
///     as_transformers   false    reads the model as transformers 5 does, by the class that tokenizer_config.json (and config.json)
///                                names: as a tokenizer.json made of its pieces. The ids of many texts are others than
///                                SentencePiece's own. The fields above then say nothing
struct SentencePieceOptions {
  std::vector<std::string> special_tokens;
  bool prefix_each_run = true;
  bool as_transformers = false;
};

/// What a tiktoken file leaves open.
///
///     field             default  effect
///     split             none     how text is split into words: a name (an encoding of tiktoken's, or a value of GGUF's
///                                tokenizer.ggml.pre), or a regular expression, of Oniguruma's syntax for Java. Without it
///                                the file's name must be that of an encoding: cl100k_base.tiktoken
///     special_tokens    none     texts of control tokens, numbered from the highest rank on; those that
///                                tokenizer_config.json lists, or the encoding has, need not be given
struct TiktokenOptions {
  std::string split;
  std::vector<std::string> special_tokens;
};

///     field           default  effect
///     special_tokens  none     texts of further special tokens of a tokenizer.json, numbered behind those there are; one that is an
///                              added token already stays what it is
struct TokenizerOptions {
  SentencePieceOptions sentencepiece;
  TiktokenOptions tiktoken;
  std::vector<std::string> special_tokens;
};

/// Opens a tokenizer: a tokenizer.json, a SentencePiece .model, the vocabulary in a GGUF file, a tiktoken file, a tekken.json,
/// or a folder that has one of them (the first of these in this order, but tekken.json before tiktoken files and GGUF). Of which
/// kind a file is, its bytes say. What stands beside it is read as well, but of a GGUF file: tokenizer_config.json and
/// special_tokens_map.json (names of tokens, added tokens, add_bos_token, tokenizer_class), generation_config.json (tokens that
/// end a reply).
///
/// Of the library parlance::tokenizers, which a build without the libraries that read some kinds has too: opening then fails.
/// Fails with file; json (place); model_file (a damaged GGUF file); tokenizer (damaged, or of a kind that this build does not
/// read, or a tiktoken file of which nobody says how text is split).
Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& path, const TokenizerOptions& options = {});

}  // namespace parlance
