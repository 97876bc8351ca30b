// Tokenizer: a small interface from text to token ids and back.
//
// open_tokenizer opens files: Hugging Face's tokenizer.json, SentencePiece's .model, the vocabulary of a GGUF file,
// tiktoken's files and tekken.json. CallbackTokenizer wraps a tokenizer that you already have. tokens.h tokenizes
// prompts.
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

/// A token that was added to a tokenizer's vocabulary. The tokenizer searches a prompt for its text before its model
/// splits the rest. The flags mean the same as in Hugging Face's `tokenizers`.
struct AddedToken {
  TokenId id = -1;
  std::string text;
  bool special = false;      ///< declared as markup, not text: `<|im_end|>`
  bool lstrip = false;       ///< also matches the white space before it
  bool rstrip = false;       ///< also matches the white space after it
  bool normalized = false;   ///< the normalised text is searched for it
  bool single_word = false;  ///< matches only if no letter or digit is next to it
  /// Whether it counts as a control token, which only trusted text may contain. False for tokens of white space alone,
  /// and for single characters that a SentencePiece model lists as user-defined.
  bool control = true;
  bool operator==(const AddedToken&) const = default;
};

/// One token of an encoding. The spans of an encoding are in order. White space that an added token also matched, or
/// that a normaliser dropped, is in no span.
struct EncodedToken {
  TokenId id = -1;
  ByteSpan bytes;      ///< of the text; empty for a token that stands for no byte of it (a dummy prefix)
  bool added = false;  ///< an AddedToken found in the text; false: a token of the tokenizer's model
};

/// A name that a tokenizer's configuration gives a token: `bos_token`, `eos_token`, …
struct NamedToken {
  std::string name;
  std::string text;
};

/// A token that ends a reply, and the file that declares it.
struct EndToken {
  TokenId id = -1;
  std::string source;  ///< "tokenizer_config.json: eos_token", "generation_config.json: eos_token_id"
};

/// The facts about a tokenizer.
struct TokenizerFacts {
  std::string kind;                 ///< for people: "tokenizer.json, BPE"
  std::size_t vocabulary_size = 0;  ///< ids are below it, added tokens included; 0: not known
  /// The model scores a whole run of text (Unigram), so it must encode each run from its beginning.
  bool weighs_runs = false;
  /// Nothing is dropped of any text (Tokenizer::encode_and_find_dropped), so nothing has to be looked for.
  bool keeps_text = false;
  std::vector<AddedToken> added;  ///< ascending by id
  std::vector<TokenId> markers;   ///< control tokens of the model's own vocabulary, written <|…|>; ascending
  std::vector<TokenId> symbols;   ///< added tokens that do not split a run: the model itself finds them; ascending
  std::vector<NamedToken> named;  ///< the tokens that its configuration names
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  std::optional<TokenId> unk;        ///< the token for text that the model does not know
  std::vector<TokenId> puts_before;  ///< tokens that the tokenizer puts before a text when asked for special tokens
  std::vector<TokenId> puts_after;   ///< … and after it
  std::vector<EndToken> ends;        ///< tokens that end a reply
  std::vector<std::string> notes;    ///< for people: parts of the file that were ignored
  std::vector<std::string> files;    ///< that it was read from: its own, and those beside it; empty: it has none
};

/// Encodes text to token ids.
///
/// Threads: an implementation must let any number of threads encode() at once; those of parlance do.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Appends the tokens of `text`, without special tokens around it.
  ///
  /// If `trusted` is null, added tokens are recognised in the whole text, as the tokenizer itself does. Otherwise an
  /// added token is recognised only if all bytes of its text are in one of these ranges (sorted, disjoint, not
  /// touching). The text between two recognised tokens is one run, encoded as if the other control tokens were not in
  /// the vocabulary. So no control token ever covers bytes outside `trusted`, even if the model could spell one; and a
  /// normaliser that joins characters across the border of a range neither makes nor hides one.
  /// Fails with value (text is not UTF-8), unencodable (the tokenizer refuses the text), limit_memory.
  virtual Result<void> encode(std::string_view text, const std::vector<ByteSpan>* trusted,
                              std::vector<EncodedToken>& into) const = 0;

  /// The same, and appends to `dropped`, in order, the parts of `text` that are lost: of which no token has anything.
  /// So is a character that a model without an unknown token lacks, what the pattern of a tiktoken file does not match,
  /// and what a normaliser takes away. White space that belongs to how a tokenizer makes words of a text is no loss.
  /// The default goes by the places of the tokens: lost is what stands between them and is not white space alone.
  virtual Result<void> encode_and_find_dropped(std::string_view text, const std::vector<ByteSpan>* trusted,
                                               std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const {
    return encode_and_compare_places(text, trusted, into, dropped);
  }

  /// The bytes of a token that follows another token: " Hello", "<|im_end|>", a single byte of a longer character. ""
  /// for an unknown id.
  virtual std::string token_text(TokenId id) const = 0;

  const TokenizerFacts& facts() const& { return facts_; }
  const TokenizerFacts& facts() const&& = delete;
  /// The texts of the control tokens that are declared special, for RequestOptions::control_tokens and
  /// ReplyFormat::with_control(). Others that were added, such as <tool_call> of many models, are not among them: a
  /// model may also spell them out, above all under a grammar, which goes by text.
  std::vector<std::string> control_texts() const;

 protected:
  TokenizerFacts facts_;

 private:
  // All that is virtual stands in this header: an adapter with RTTI fits a library without it.
  Result<void> encode_and_compare_places(std::string_view text, const std::vector<ByteSpan>* trusted,
                                         std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const;
};

/// Wraps a tokenizer of the caller, such as llama.cpp's: parlance splits a prompt at its control tokens, and the
/// callback encodes the text between them.
///
///     parlance::CallbackTokenizer tokenizer({
///         .added = {{.id = 1, .text = "<|im_start|>", .special = true},
///                   {.id = 2, .text = "<|im_end|>", .special = true}},
///         .encode = [&](std::string_view run, std::vector<parlance::TokenId>& ids) {
///           for (parlance::TokenId id : my_encode(run)) ids.push_back(id);  // with special tokens switched off
///           return parlance::Result<void>();
///         },
///         .token_text = [&](parlance::TokenId id) { return my_piece(id); }});
class CallbackTokenizer : public Tokenizer {
 public:
  struct Parts {
    std::vector<AddedToken> added;
    /// Appends the ids of one run between control tokens, without recognising control tokens in it. Several threads may
    /// call it at once.
    std::function<Result<void>(std::string_view run, std::vector<TokenId>& ids)> encode;
    std::function<std::string(TokenId)> token_text;
    TokenizerFacts facts{};  ///< the other known facts; `added` above replaces its own
  };
  explicit CallbackTokenizer(Parts parts);
  ~CallbackTokenizer() override;
  /// Each token of a run gets the span on which its text (token_text) stands, except for a space in front. Those of
  /// which the texts are not there, of unknown tokens and parts of characters, get the bytes between their neighbours;
  /// behind a place from which no text stands again they get the rest of the run.
  Result<void> encode(std::string_view text, const std::vector<ByteSpan>* trusted,
                      std::vector<EncodedToken>& into) const override;
  std::string token_text(TokenId id) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How to use a SentencePiece model for chat. Its file does not say this.
///
///     field             default  effect
///     special_tokens    none     texts of further control tokens; their ids follow the vocabulary. A built-in format
///                                that needs some lists them in BuiltinFormat::vocabulary_tokens
///     prefix_each_run   true     the model's dummy prefix comes before each run; false: only before the first
///     as_transformers   false    converts the model as transformers 5 does, by the class that tokenizer_config.json
///                                (or config.json) names. Many texts then get other ids than from SentencePiece itself.
///                                The fields above have no effect then. Of a tokenizer.json, takes what that class
///                                takes: some only the vocabulary and the merges (data/rebuilt_classes.def)
struct SentencePieceOptions {
  std::vector<std::string> special_tokens;
  bool prefix_each_run = true;
  bool as_transformers = false;
};

/// What a tiktoken file does not say.
///
///     field             default  effect
///     split             none     how text is split into words: the name of a tiktoken encoding or a value of GGUF's
///                                tokenizer.ggml.pre, or a regular expression in Oniguruma's Java syntax. Without it,
///                                the file must be named after an encoding: cl100k_base.tiktoken
///     special_tokens    none     texts of control tokens; their ids follow the highest rank. Not needed for tokens
///                                that tokenizer_config.json lists, or that the encoding has
struct TiktokenOptions {
  std::string split;
  std::vector<std::string> special_tokens;
};

/// Options of open_tokenizer, by kind of file.
///
///     field           default  effect
///     special_tokens  none     texts of further special tokens of a tokenizer.json; their ids follow the existing
///                              ones. An added token that exists already stays as it is
struct TokenizerOptions {
  SentencePieceOptions sentencepiece;
  TiktokenOptions tiktoken;
  std::vector<std::string> special_tokens;
};

/// Opens a tokenizer: a tokenizer.json, a SentencePiece .model, a tekken.json, a tiktoken file, the vocabulary in a
/// GGUF file, or a folder that has one of them (the first in this order). The bytes of a file decide its kind. Except
/// for a GGUF file, this also reads the files beside it: tokenizer_config.json and special_tokens_map.json (names of
/// tokens, added tokens, add_bos_token, tokenizer_class), generation_config.json (tokens that end a reply).
///
/// TokenizerFacts::notes name options that have no effect for the kind of file.
///
/// Part of the library parlance::tokenizers. A build may lack the code for some kinds; then opening such a file fails.
/// Fails with file; json (place); model_file (a damaged GGUF file); tokenizer (damaged; of a kind that this build does
/// not read; or a tiktoken file without a known split).
Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& path, const TokenizerOptions& options = {});
/// The same of the bytes of a file, except a GGUF file's. No files stand beside it; errors call it `name`.
Result<std::unique_ptr<Tokenizer>> read_tokenizer(std::string_view bytes, const std::string& name,
                                                  const TokenizerOptions& options = {});

}  // namespace parlance
