// Tokens: encodes a rendered prompt so that no content can forge a control token; makes training masks, and finds the
// tokens that end a reply.
//
//     auto prompt = chat_template.render(chat, {.want_assistant = true});
//     auto tokens = parlance::tokenize(*prompt, chat, tokenizer);
//     send(tokens->ids);
//
// The rule: a control token (an added token of the tokenizer, special or not) is recognised only if all of its bytes
// are trusted. Four things are trusted: the template's own text; a role that is one of standard_roles(); the model's
// special tokens; and numbers that the template computes. Everything else in a request is plain text, whatever it looks
// like: contents, names, ids, tool schemas, arguments, results, documents, keyword arguments.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/render.h"
#include "parlance/result.h"
#include "parlance/source.h"
#include "parlance/template.h"
#include "parlance/tokenizer.h"

namespace parlance {

/// The label of a token that training ignores, as in PyTorch's loss functions.
inline constexpr TokenId kIgnoredLabel = -100;

/// One token of a prompt.
struct PromptToken {
  TokenId id = -1;
  ByteSpan bytes;                    ///< of the prompt; empty for a token that stands for no byte of it
  Origin origin = Origin::computed;  ///< of the span that has most of its bytes; if two are equal, of the first
  bool control = false;              ///< a control token, recognised as one
  /// The assistant mask: should training learn this token? True if any of its bytes is in Rendering::assistant(). So a
  /// token that lies partly in an assistant's text is in the mask, as in transformers.
  bool trained = false;
  std::int32_t message = -1;  ///< index of the message of the same span as `origin`; -1 for none

  TokenId label() const { return trained ? id : kIgnoredLabel; }
};

/// Text of the input that looks like a control token and was encoded as plain text.
struct GuardedText {
  ByteSpan bytes;    ///< of the prompt; may begin or end in trusted bytes
  TokenId id = -1;   ///< the control token that it would have been
  std::string path;  ///< of the first input it came from: "messages[3].content"
};

/// Text that the model cannot read: for which the tokenizer has no token, so that it became the unknown token or none.
struct UnknownText {
  ByteSpan bytes;        ///< of the prompt: adjacent characters
  std::string path;      ///< of the first input it came from; "": the template's own
  bool dropped = false;  ///< it became no token at all
  std::string text{};    ///< its beginning, at most 64 bytes
};

/// Options of tokenize().
///
///     field              default  effect
///     trust              none     inputs whose text may contain control tokens, such as a prompt with examples written
///                                 out: "messages[0].content". "messages" or "tools[2]" trusts everything inside it,
///                                 "messages[*].content" that member of every message, "messages[assistant]" all
///                                 messages of that role
///     protect            true     false: everything is trusted, as with the tokenizer alone
///     plain_added        false    added tokens that are not special (`special: false`, such as Gemma's `h1`) may come
///                                 from any text. Wrong for models whose markers are such tokens (tool_call)
///     add_special_tokens false    adds the tokens that the tokenizer itself puts around a text, unless they are there
///     want_tokens        true     false: PromptTokens::tokens stays empty, which is quicker where only ids are needed
struct TokenizeOptions {
  std::vector<std::string> trust;
  bool protect = true;
  bool plain_added = false;
  bool add_special_tokens = false;
  bool want_tokens = true;
};

/// Fails with usage if `trust` has an invalid path: brackets that do not close, an empty name, an invalid number.
Result<void> validate(const TokenizeOptions& options);

/// Checks `trust` against one request. Fails with usage, and the nearest path as a hint, for a path at which the
/// request has nothing, or that is invalid. A path through [*], or into a member that is null, may lead nowhere, since
/// not every chat has calls, unless a name in it looks misspelt. With `grows`, the messages of a session may follow:
/// messages[7] need not be there yet.
Result<void> check_trust(const Conversation& conversation, const std::vector<std::string>& trust, bool grows = false);

/// A prompt as tokens.
struct PromptTokens {
  std::vector<TokenId> ids;
  std::vector<PromptToken> tokens;   ///< one for each id; none without TokenizeOptions::want_tokens
  std::vector<GuardedText> guarded;  ///< texts that could not become control tokens, in order
  std::vector<UnknownText> unknown;  ///< texts that became the unknown token, or none, in order
  /// Tokens that the tokenizer itself would put in front, if the prompt does not begin with them. Add them, or set
  /// add_special_tokens. Empty if the template wrote them already, so that they never come twice.
  std::vector<TokenId> missing_before;
  /// Texts of the template that look like control tokens but are none of this tokenizer, each once, at most eight:
  /// marks like <|im_start|>, the values of variables for special tokens (bos_token), and marks like <start_of_turn>
  /// or [INST] where turns begin and end, if no control token stands at any such place. They suggest that the tokenizer
  /// belongs to another model.
  std::vector<std::string> plain_marks;
  /// Notes for people: what `trust` changed, control tokens that a combining mark after them would
  /// have hidden, and those that are text within a word.
  std::vector<std::string> notes;

  /// The token's id if training should learn it, else kIgnoredLabel; one for each of `tokens`.
  std::vector<TokenId> labels() const;
};

/// The roles whose names are trusted: such a name may be part of a control token.
std::span<const std::string_view> standard_roles();

/// Encodes a rendering. It needs its spans (RenderOptions::want_spans), and want_assistant for the mask.
///
/// If no control token's text touches untrusted bytes, the tokenizer encodes the whole prompt, and the ids are its own.
/// Otherwise tokenize() encodes the prompt again, and control tokens are recognised in trusted bytes only. It does the
/// same if a combining mark joins trusted and untrusted text, since a normaliser might compose them; if that changes
/// nothing, it keeps the tokenizer's own ids.
/// Notes say which paths of `trust` lead nowhere in this request; check_trust() makes errors of them.
/// Fails with usage (no spans; `trust` has an invalid path), unicode_encode (the prompt has half a
/// surrogate pair), unencodable (the tokenizer refuses the text), tokenizer (it gives a control token for untrusted
/// bytes all the same), limit_memory.
Result<PromptTokens> tokenize(const Rendering& rendering, const Conversation& conversation, const Tokenizer& tokenizer,
                              const TokenizeOptions& options = {});

/// Fails with conversation, naming the id, where one of the ids is negative or past the end of the tokenizer's
/// vocabulary. Where its size is not known, only negative ones are found. `first` is the number that errors give the
/// first of the ids.
Result<void> check_ids(const Tokenizer& tokenizer, std::span<const TokenId> ids, std::size_t first = 0);

/// A token that ends a reply.
struct StopToken {
  TokenId id = -1;  ///< -1: the tokenizer has no such token; stop at the text instead
  std::string text{};
  std::vector<std::string> sources{};  ///< "template.jinja:12", "generation_config.json: eos_token_id", …
  bool declared = false;               ///< the tokenizer's or the model's files declare it
  bool after_calls = false;  ///< the template ends turns with calls alone by it: who samples it waits for a result
};

/// Is the last of these ids one that the template writes behind calls alone?
bool awaits_result(std::span<const StopToken> stops, std::span<const TokenId> sampled);

/// Finds the tokens that end a reply, each with its sources: what the template writes after an assistant's turn (found
/// by rendering a few small conversations), and what the tokenizer and the model declare.
///
/// `variables` are special tokens that the template reads, besides those the tokenizer names. If the template refuses
/// every conversation, only the tokenizer's and the model's tokens are returned. It goes by control tokens, and may
/// take for one what only closes a call or content; RequestReader::stop_tokens() knows the reply format too. Fails with
/// tokenizer.
Result<std::vector<StopToken>> stop_set(const Template& chat_template, const Tokenizer& tokenizer,
                                        std::span<const SpecialToken> variables = {},
                                        const RenderOptions& options = {});

}  // namespace parlance
