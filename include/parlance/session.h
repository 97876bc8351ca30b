// Session: tokenizes only what is new in the next turn, and explains why two prompts stop sharing a prefix.
//
//     auto session = parlance::Session::begin(chat_template, tokenizer, std::move(chat));
//     session->append_sampled(generate(session->ids()));
//     const std::vector<parlance::Message> news = {{.role = "assistant", .content = reply},
//                                                  {.role = "user", .content = "And?"}};
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
  std::string excerpt;               ///< the text from there on, cut; "" at the end of the prompt
  Origin origin = Origin::computed;  ///< of that byte
  std::string path;                  ///< of the input it came from, or of the next input behind it; "" for none
  Location place;                    ///< of the template's text it came from, or of the last before it
};

/// Why a prompt does not go on from another.
enum class PrefixCause : std::uint8_t {
  rewritten,      ///< the template now writes the past differently, or an input of the past changed (changed_input)
  other_reply,    ///< the assistant's message is not the text that was sampled
  across_border,  ///< the text is the same, but a token of the new prompt straddles the end of the ids so far
};

/// Where two prompts stop being the same.
struct PrefixDifference {
  PrefixCause cause = PrefixCause::rewritten;
  std::size_t byte = 0;   ///< the first byte that differs; if only tokens differ, the begin of the first such token
  std::size_t token = 0;  ///< number of the first token that differs
  PromptSide before;
  PromptSide after;
  /// The first input in which the two requests themselves differ, if they do: then the template is not to blame.
  std::string changed_input;

  /// One sentence for people.
  std::string sentence() const;
};

/// A prompt with its conversation and tokens. A view: all three must outlive it.
struct PromptView {
  const Rendering& rendering;
  const Conversation& conversation;
  const PromptTokens* tokens = nullptr;  ///< null: compared by bytes alone
};

/// Says why `after` does not begin with `before`; nothing if it does. If the request of `after` only adds messages,
/// changed_input is empty: then the template is to blame. Both renderings need their spans.
std::optional<PrefixDifference> compare_prompts(const PromptView& before, const PromptView& after);

/// What a session's extend() gives.
struct Extension {
  std::vector<TokenId> ids;  ///< to be appended
  /// Whether the tokenizer would encode the text so far into the same ids. Sampled ids may differ, and so may those at
  /// the end of a prompt that goes on in another way. The ids are kept all the same.
  bool canonical = true;
};

struct SessionOptions {
  RenderOptions render;
  TokenizeOptions tokenize;
};

/// A growing conversation with its tokens. What a turn costs is for what is new, the tokenizer's work too (not with a
/// whole conversation). The template is run for the messages whose text may have changed: most templates' loop over
/// messages goes on behind those that it cannot write differently.
///
/// Movable. Lifetime: the tokenizer must outlive it. Threads: one at a time.
class Session {
 public:
  /// Renders and tokenizes a conversation. Fails as Template::render and tokenize() do.
  static Result<Session> begin(Template chat_template, const Tokenizer& tokenizer, Conversation conversation,
                               const SessionOptions& options = {});
  static Result<Session> begin(Template chat_template, const Tokenizer&& tokenizer, Conversation conversation,
                               const SessionOptions& options = {}) = delete;  ///< it would be gone at once
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// All tokens so far: given, sampled and appended.
  std::span<const TokenId> ids() const;
  const Conversation& conversation() const;

  /// What the model sampled after ids(), end-of-turn token included if it was sampled. Kept verbatim.
  void append_sampled(std::span<const TokenId> ids);

  /// Adds messages. After append_sampled(), the first must be the assistant's message that was sampled.
  /// Appends to ids() and returns what was appended. After a failure nothing has changed.
  /// Fails with history_rewritten if the text of the new prompt does not begin with the text of ids(), or if a token
  /// would straddle the border between them. The error names the template's line, the input's path and the first
  /// differing token; difference() has the parts. Also fails as Template::render and tokenize() do.
  Result<Extension> extend(std::span<const Message> messages);
  /// The same with a request that holds the whole conversation, which replaces the session's.
  Result<Extension> extend(Conversation conversation);
  /// The difference of the last extend() that failed with history_rewritten.
  const std::optional<PrefixDifference>& difference() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The next turn, given the ids so far and a request that holds the whole conversation. Use this if you store token ids
/// rather than a Session. Fails as Session::extend() does; to say where the prompt departs from `ids`, it renders the
/// conversation up to each assistant turn.
Result<Extension> extend_ids(std::span<const TokenId> ids, const Template& chat_template, const Tokenizer& tokenizer,
                             Conversation conversation, const SessionOptions& options = {});

}  // namespace parlance
