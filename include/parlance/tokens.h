// Tokens: a rendered prompt as token ids that no content can forge, with masks, and the tokens that end a reply.
//
//     auto prompt = chat_template.render(chat, {.want_assistant = true});
//     auto tokens = parlance::tokenize(*prompt, chat, tokenizer);
//     send(tokens->ids);
//
// The rule: a control token (one that was added to the tokenizer's vocabulary, special or not) is recognised only where
// all of its bytes are trusted. Trusted are the template's own text; a role that is one of standard_roles(); the special
// tokens of the model; and numbers that the template computes. All else of a request is text, whatever it looks
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

/// The value of a label that is not to be learnt, as PyTorch's losses have it.
inline constexpr TokenId kIgnoredLabel = -100;

/// One token of a prompt.
struct PromptToken {
  TokenId id = -1;
  ByteSpan bytes;                    ///< of the prompt; empty for a token that stands for no byte of it
  Origin origin = Origin::computed;  ///< of the span that most of its bytes are in, the first of equals
  bool control = false;              ///< a control token, recognised as one
  /// The assistant mask: is it to be learnt? Yes where any of its bytes is in Rendering::assistant(), so a token that
  /// straddles the begin or the end of what an assistant wrote is in, as in transformers.
  bool trained = false;
  std::int32_t message = -1;         ///< index into messages, of the same span as `origin`; -1 for none

  TokenId label() const { return trained ? id : kIgnoredLabel; }
};

/// Text of the input that has the shape of a control token and is text all the same.
struct GuardedText {
  ByteSpan bytes;    ///< of the prompt; may begin or end in trusted bytes
  TokenId id = -1;   ///< the control token that it would have been
  std::string path;  ///< of the first input it came from: "messages[3].content"
};

/// Options of tokenize().
///
///     field              default  effect
///     trust              none     inputs whose text may hold control tokens, for few-shot prompts that are written out:
///                                 "messages[0].content"; "messages" and "tools[2]" mean all that is in there, and
///                                 "messages[*].content" that member of every message
///     protect            true     false: the tokenizer's own way, everything is trusted
///     plain_added        false    added tokens that are not special (`special: false`) are spelling and may come from any text: Gemma's
///                                 <h1>. Of some models they are marks, <tool_call> for one: not for those
///     add_special_tokens false    adds what the tokenizer by itself puts around a text, apart from what is there already
struct TokenizeOptions {
  std::vector<std::string> trust;
  bool protect = true;
  bool plain_added = false;
  bool add_special_tokens = false;
};

/// A prompt as tokens.
struct PromptTokens {
  std::vector<TokenId> ids;
  std::vector<PromptToken> tokens;   ///< one for each id
  std::vector<GuardedText> guarded;  ///< what was kept from being a control token, in order
  /// What the tokenizer by itself would put in front and the prompt does not begin with: add it, or set
  /// add_special_tokens. Empty where the template wrote it already, so nothing is ever there twice.
  std::vector<TokenId> missing_before;
  /// Marks of the template that are written like control tokens (<|im_start|>) and are text for this tokenizer, each once, at most
  /// eight: is it another model's?
  std::vector<std::string> plain_marks;
  /// What trust was given and used, and control tokens that a mark behind them would have taken away; for people.
  std::vector<std::string> notes;

  /// The ids where a token is to be learnt, else kIgnoredLabel.
  std::vector<TokenId> labels() const;
};

/// The roles whose names are trusted: what a template makes of one may be part of a control token.
std::span<const std::string_view> standard_roles();

/// A rendering as tokens. It needs its spans (RenderOptions::want_spans), and want_assistant for the mask.
///
/// Where no control token's text touches untrusted bytes, the whole prompt goes to the tokenizer as it is, and the ids are
/// its own. Else it is encoded a second time with control tokens recognised in trusted bytes only; so it is where a combining mark
/// joins trusted and untrusted text, which a normaliser might compose, and the ids are its own if that makes no difference.
/// Fails with usage (no spans; a path of `trust` that is none), value (the prompt is not UTF-8), tokenizer (it gives a
/// control token for untrusted bytes even so), limit_memory.
Result<PromptTokens> tokenize(const Rendering& rendering, const Conversation& conversation, const Tokenizer& tokenizer,
                              const TokenizeOptions& options = {});

/// A token that ends a reply.
struct StopToken {
  TokenId id = -1;                   ///< -1: no token of the tokenizer, to be stopped at as text
  std::string text;
  std::vector<std::string> sources;  ///< "template.jinja:12", "generation_config.json: eos_token_id", …
};

/// What ends a reply: what the template writes after an assistant's turn (found by rendering a few small conversations),
/// the tokenizer's and the model's own, each with who says so.
///
/// `variables` are the special tokens that the template sees, beside those the tokenizer names. A conversation that the
/// template refuses says nothing; a template that refuses all leaves what the tokenizer says.
/// Fails with tokenizer.
Result<std::vector<StopToken>> stop_set(const Template& chat_template, const Tokenizer& tokenizer,
                                        std::span<const SpecialToken> variables = {}, const RenderOptions& options = {});

}  // namespace parlance
