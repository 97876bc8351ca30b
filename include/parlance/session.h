// Session: the next turn's tokens without tokenizing the past again, and why two prompts stop sharing a prefix.
//
//     auto session = parlance::Session::begin(chat_template, tokenizer, std::move(chat));
//     session->append_sampled(generate(session->ids()));
//     const std::vector<parlance::Message> news = {{.role = "assistant", .content = reply}, {.role = "user", .content = "And?"}};
//     auto more = session->extend(news);
//     if (more) go_on_with(more->ids);                       // ids() is what was there, verbatim, then these
//     else std::puts(more.error().display().c_str());        // the template rewrites the past: where, and which input
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parlance/tokens.h"

namespace parlance {

/// One prompt at the byte where it differs from another.
struct PromptSide {
  std::string excerpt;                ///< the text from there on, cut; "" at the end of the prompt
  Origin origin = Origin::computed;   ///< of that byte
  std::string path;                   ///< of the input it came from, or of the next input behind it; "" for none
  Location place;                     ///< of the template's text it came from, or of the last before it
};

/// Why a prompt does not go on from another.
enum class PrefixCause : std::uint8_t {
  rewritten,     ///< the template writes the past in another way, or an input of it changed (changed_input)
  other_reply,   ///< the message is not what was sampled
  across_border, ///< the text is the same, but a token of it lies across the end of the ids so far
};

/// Where two prompts stop being the same.
struct PrefixDifference {
  PrefixCause cause = PrefixCause::rewritten;
  std::size_t byte = 0;    ///< the first that differs; where the texts do not, the begin of the first token that does
  std::size_t token = 0;   ///< number of the first token that differs
  PromptSide before;
  PromptSide after;
  /// The first input in which the two requests themselves differ, if they do: then the template is not to blame.
  std::string changed_input;

  /// One sentence for people.
  std::string sentence() const;
};

/// A prompt with what it was made of. Lifetime: of all four.
struct PromptView {
  const Rendering& rendering;
  const Conversation& conversation;
  const PromptTokens* tokens = nullptr;  ///< null: compared by bytes alone
};

/// Why `after` does not begin with `before`; nothing if it does. An `after` that only has more messages than `before` is
/// expected to: then changed_input is empty. Renderings need their spans.
std::optional<PrefixDifference> compare_prompts(const PromptView& before, const PromptView& after);

/// What a session's extend() gives.
struct Extension {
  std::vector<TokenId> ids;  ///< to be appended
  /// Are all ids so far what a tokenizer makes of the same text? Sampled ones may not be, nor those at the end of a prompt
  /// that goes on in another way; they are kept all the same.
  bool canonical = true;
};

struct SessionOptions {
  RenderOptions render;
  TokenizeOptions tokenize;
};

/// A conversation that grows, with its tokens. The template is asked for the whole prompt at each turn, which is cheap and
/// proves that the past stays as it is; only what is new goes through the tokenizer.
///
/// Movable. Lifetime: the tokenizer must outlive it. Threads: one at a time.
class Session {
 public:
  /// Renders and tokenizes a conversation. Fails as Template::render and tokenize() do.
  static Result<Session> begin(Template chat_template, const Tokenizer& tokenizer, Conversation conversation,
                               const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// All tokens so far: given, sampled and appended.
  std::span<const TokenId> ids() const;
  const Conversation& conversation() const;

  /// What the model sampled after ids(), end-of-turn token included if it was sampled. Kept verbatim.
  void append_sampled(std::span<const TokenId> ids);

  /// The conversation goes on: after sampled tokens with the assistant's message that they are, then what is new.
  /// Appends to ids() and returns what was appended. After a failure nothing has changed.
  /// Fails with history_rewritten when the prompt with these messages does not begin with ids(), as text: the error names
  /// the template's line, the input's path and the first differing token (difference() has the parts), or when a token of
  /// the new text would reach back into the old; also as Template::render and tokenize() do.
  Result<Extension> extend(std::span<const Message> messages);
  /// The same with a request that holds the whole conversation, which replaces the session's.
  Result<Extension> extend(Conversation conversation);
  /// Of the last extend() that failed with history_rewritten.
  const std::optional<PrefixDifference>& difference() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The next turn from nothing but the ids so far and a request that holds the whole conversation: for who keeps ids and
/// not sessions. Where the prompt does not go on from `ids`, the error says why as Session::extend() does, found by
/// rendering the conversation up to each assistant's turn.
Result<Extension> extend_ids(std::span<const TokenId> ids, const Template& chat_template, const Tokenizer& tokenizer,
                             Conversation conversation, const SessionOptions& options = {});

}  // namespace parlance
