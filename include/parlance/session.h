// Session: tokenizes only the new text of each turn, and explains where and why two prompts differ.
//
//     auto session = parlance::Session::begin(chat_template, tokenizer, std::move(chat));
//     if (!session) return fail(session.error());
//     session->append_sampled(generate(session->ids()));
//     const std::vector<parlance::Message> news = {{.role = "assistant", .content = reply},
//                                                  {.role = "user", .content = "And?"}};
//     auto more = session->extend(news);
//     if (!more) return fail(more.error());  // the template rewrites the past: where, and which input
//     go_on_with(more->ids);                 // ids() has the old ids, unchanged, then these
//
// A template may write a reply with other blanks than the model did. sampled_reply.h goes on behind those too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/tokens.h"

namespace parlance {

/// One of two prompts, at the first byte where they differ.
struct PromptSide {
  std::string excerpt;               ///< the text from there on, shortened; "" at the end of the prompt
  Origin origin = Origin::computed;  ///< of that byte
  std::string path;                  ///< of the input it came from, or of the next input after it; "" for none
  Location place;                    ///< of the template's text it came from, or of the last such text before it
};

/// Why a prompt does not begin with an earlier one.
enum class PrefixCause : std::uint8_t {
  rewritten,      ///< the template writes earlier turns differently, or an earlier input changed (changed_input)
  other_reply,    ///< the assistant's message is not the text that was sampled
  across_border,  ///< the text is the same, but a token of the new prompt crosses the end of the ids so far
};

/// The first difference of two prompts.
struct PrefixDifference {
  PrefixCause cause = PrefixCause::rewritten;
  std::size_t byte = 0;   ///< the first byte that differs; if only tokens differ, where the first such token begins
  std::size_t token = 0;  ///< number of the first token that differs
  PromptSide before;
  PromptSide after;
  /// The path of the first input in which the two requests differ; "" if they do not, so the template is the cause.
  std::string changed_input;

  /// The difference as one sentence for people.
  std::string sentence() const;
};

/// A prompt with its conversation and tokens. A view: all three must outlive it, so none may be a temporary.
struct PromptView {
  std::reference_wrapper<const Rendering> rendering;
  std::reference_wrapper<const Conversation> conversation;
  const PromptTokens* tokens = nullptr;  ///< null: compared by bytes alone
};

/// Says why `after` does not begin with `before`; nothing if it does. If the request of `after` only adds messages,
/// changed_input is empty: then the template is the cause. Both renderings need their spans. Tokens are compared if
/// both have them; where only they differ, the byte is known by TokenizeOptions::want_tokens, else it is the end of
/// `before`.
std::optional<PrefixDifference> compare_prompts(const PromptView& before, const PromptView& after);

/// The end of a prompt, with what its text comes from. Lifetime: the rendering's.
struct PromptPart {
  PromptPart(const Rendering& part, std::size_t first) : rendering(part), begin(first) {}
  PromptPart(const Rendering&& part, std::size_t first) = delete;

  const Rendering& rendering;  ///< its text and spans, which count from its own beginning
  std::size_t begin = 0;       ///< the byte of Session::text() that it begins with
};

/// The result of Session::extend().
struct Extension {
  std::vector<TokenId> ids;  ///< the ids to append
  /// Whether the tokenizer would encode the text so far to the same ids. Sampled ids may differ, and so may ids at the
  /// end of a prompt, after which other text now follows. The ids are kept in any case.
  bool canonical = true;
  /// Text of what was appended that the model cannot read, as in PromptTokens; at most the first 64, by their places in
  /// the new prompt.
  std::vector<UnknownText> unknown{};
  /// Texts of what is new that were kept from becoming control tokens, as in PromptTokens, also in what the model said;
  /// at most the last 1,024, by their places in the new prompt. extend_ids(), which knows no prompt before, has those
  /// behind the ids alone.
  std::vector<GuardedText> guarded{};
  std::uint64_t guarded_count = 0;  ///< how many there were, also of those that are not listed
};

/// Text of a reply, as ReplyParser::feed_token takes it.
struct ReplyPiece {
  std::string text;
  bool control = false;  ///< it is a control token
};

/// A reply that the template writes otherwise than the model did.
struct TwoWritings {
  std::vector<ReplyPiece> sampled;  ///< by the model, token by token
  /// By the template: the new prompt, from where the reply begins in it to its end.
  std::vector<ReplyPiece> written;
  /// So many bytes at the end of the prompt that was sampled behind are not in the new one: `written` stands in their
  /// place too.
  std::size_t dropped = 0;
};

/// Decides whether both are the same reply, and says how many bytes of `written` stand for what was sampled; nothing
/// where they are not. same_when_read() in sampled_reply.h makes one.
using SameReply = std::function<std::optional<std::size_t>(const TwoWritings&)>;

/// A reply in a session whose ids are not those of the template's text for it. What a prompt had opened before such a
/// reply may be in Session::ids() alone.
struct KeptReply {
  std::size_t begin = 0;  ///< its tokens, of Session::ids()
  std::size_t end = 0;
  TextRange text{};  ///< what the template writes for it, of Session::text()
};

/// A variable of a template, and the value with which an extension that was refused would have gone on.
struct KeepingSwitch {
  std::string variable;
  bool value = false;
};
/// The switches as a hint for people; "" for none.
std::string advice_of(std::span<const KeepingSwitch> switches);

/// A session in parts, for callers that store every turn. The three large parts only grow at their ends, so a store can
/// append to them.
struct SavedSession {
  std::string place;           ///< what Session::save_place() gives
  std::vector<TokenId> ids{};  ///< Session::ids()
  std::string conversation{};  ///< the variables of Session::conversation(), as JSON
  std::string text{};          ///< Session::text()
};

struct SessionOptions {
  RenderOptions render;
  TokenizeOptions tokenize;
};

/// A growing conversation with its tokens. The work of a turn, also the tokenizer's, is proportional to the new text,
/// unless extend() is given a whole conversation. The template runs again only for messages whose text may have
/// changed: most templates' loop over messages continues after those that it cannot write differently.
///
/// Movable; what was moved from is empty, takes nothing, and extend() fails with usage. Lifetime: the tokenizer must
/// outlive the session; what its getters give is valid while the session lives. Threads: one at a time.
class Session {
 public:
  /// Renders and tokenizes a conversation. Fails as Template::render and tokenize() do.
  static Result<Session> begin(Template chat_template, const Tokenizer& tokenizer, Conversation conversation,
                               const SessionOptions& options = {});
  static Result<Session> begin(Template chat_template, const Tokenizer&& tokenizer, Conversation conversation,
                               const SessionOptions& options = {}) = delete;  ///< it would be gone too early
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// A session with the same history that goes on by itself. Neither the template nor the tokenizer runs; the time is
  /// that of copying the conversation. The next extend() of the copy renders all of it once.
  Session copy() const;

  /// The session as bytes, for another process: what copy() copies, without the template, the tokenizer and the
  /// options. "" if it was moved from.
  std::string save() const;
  /// A session from what save() gave, with the same template, tokenizer and options. Neither the template nor the
  /// tokenizer runs; the next extend() renders all of it once. The bytes may come from anybody: those of no saved
  /// session fail with json or conversation. Whether they are of this template and tokenizer, the caller has to know.
  static Result<Session> restore(Template chat_template, const Tokenizer& tokenizer, std::string_view saved,
                                 const SessionOptions& options = {});
  static Result<Session> restore(Template chat_template, const Tokenizer&& tokenizer, std::string_view saved,
                                 const SessionOptions& options = {}) = delete;  ///< it would be gone too early

  /// What a SavedSession needs besides ids(), the conversation and text(). It grows with the replies that the template
  /// writes otherwise than they were sampled, and with the guarded texts that the session lists.
  std::string save_place() const;
  /// Restores a session from its parts, as the overload above does from save(). The parts may come from anybody, too.
  static Result<Session> restore(Template chat_template, const Tokenizer& tokenizer, const SavedSession& saved,
                                 const SessionOptions& options = {});
  static Result<Session> restore(Template chat_template, const Tokenizer&& tokenizer, const SavedSession& saved,
                                 const SessionOptions& options = {}) = delete;  ///< it would be gone too early

  /// All tokens so far: those of the first prompt, sampled and appended.
  std::span<const TokenId> ids() const&;
  std::span<const TokenId> ids() const&& = delete;
  const Conversation& conversation() const&;
  const Conversation& conversation() const&& = delete;
  /// The text of the prompt that was rendered last; what was sampled behind it is not in it. It is what ids() spell,
  /// except in kept(). Lifetime: until the next call that is not const.
  std::string_view text() const&;
  std::string_view text() const&& = delete;
  /// Replies that stand in ids() as they were sampled, and in text() as the template writes them; in order. Lifetime:
  /// as text().
  std::span<const KeptReply> kept() const&;
  std::span<const KeptReply> kept() const&& = delete;
  /// The end of text(), with its spans: what the last extend() with messages added, and some text before that. Unset
  /// where something else made the prompt. Neither the template nor the tokenizer runs. Lifetime: as text(). Threads:
  /// one, also beside methods that are const.
  std::optional<PromptPart> last_part() const&;
  std::optional<PromptPart> last_part() const&& = delete;
  /// Texts that were kept from becoming control tokens (PromptTokens::guarded), of the first prompt and of what it was
  /// extended by; at most 1,024. Where another program tokenizes text(), they become control tokens.
  const std::vector<GuardedText>& guarded() const&;
  const std::vector<GuardedText>& guarded() const&& = delete;
  /// How many there were, also of those that are not listed; of a restored session those that are.
  std::uint64_t guarded_count() const;

  /// Text that the model cannot read of what was encoded last, by begin() or extend(): at most the first 64.
  /// Nothing in a session that was restored.
  const std::vector<UnknownText>& unknown() const&;
  const std::vector<UnknownText>& unknown() const&& = delete;

  /// Appends what the model sampled after ids(), with the end-of-turn token if it was sampled. The ids stay unchanged.
  /// Whether they are ids of the tokenizer extend() checks: where it refuses them, drop_sampled() takes them back.
  void append_sampled(std::span<const TokenId> ids);
  /// Takes back all that was appended since begin() or the last extend() that succeeded: the reply is to be sampled
  /// again.
  void drop_sampled();

  /// Adds messages. After append_sampled(), the first must be the assistant's message that was sampled. Appends to
  /// ids() and returns what was appended. After a failure nothing has changed.
  /// Fails with history_rewritten if the new prompt does not begin with the text of ids(), or if a token would cross
  /// the end of that text. The error names the template's line, the input's path and the first differing token;
  /// difference() has the parts. Also fails as Template::render and tokenize() do.
  /// `trust`: paths of these messages that are trusted besides SessionOptions::tokenize, in this call alone: the
  /// content of a reply that was sampled with control tokens in it, say.
  /// `same`: asked where the template writes the reply otherwise than it was sampled. If it is the same reply, the
  /// sampled ids stay in place of the template's text for it, and what stands behind that is appended.
  /// `meant`: the messages in whose place these stand, of which the first is another form of its first one. A template
  /// may write results by the calls before them, or within that turn: what it does not write behind `meant` as well is
  /// not appended, and it fails with history_rewritten. That is one more render of the new text.
  Result<Extension> extend(std::span<const Message> messages, std::span<const std::string> trust = {},
                           const SameReply& same = {}, std::span<const Message> meant = {});
  /// extend() for callers that try several forms of a message. A failure takes no longer than a success: where and why
  /// the prompts differ is not looked for, so difference() is unset, and a prompt whose text is another is not
  /// tokenized to see whether its tokens are the same.
  Result<Extension> try_extend(std::span<const Message> messages, std::span<const std::string> trust = {},
                               const SameReply& same = {}, std::span<const Message> meant = {});
  /// As extend(), with a request that has the whole conversation; it replaces the session's.
  Result<Extension> extend(Conversation conversation, const SameReply& same = {});
  /// The difference of the last extend() that failed with history_rewritten.
  const std::optional<PrefixDifference>& difference() const&;
  const std::optional<PrefixDifference>& difference() const&& = delete;
  /// Which variables of the template would have kept the ids, for an extend() with these arguments that failed with
  /// history_rewritten. Found by trying: each variable that the template reads, and that is not set to something else,
  /// is set to true and to false; it counts if the prompt before the sampled ids then ends as it did, and they go on.
  /// For each it begins a session of the messages before, and goes on once more where the prompt is
  /// another: about as much as two sessions from the beginning for each variable that may be a switch. The session
  /// stays as it is.
  std::vector<KeepingSwitch> keeping_switches(std::span<const Message> messages,
                                              std::span<const std::string> trust = {},
                                              const SameReply& same = {}) const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  template <class Saved>
  static Result<Session> restored(Template chat_template, const Tokenizer& tokenizer, const Saved& saved,
                                  const SessionOptions& options);
  std::unique_ptr<State> state_;
};

/// The next turn, from the ids so far and a request that has the whole conversation. Use this if you store token ids
/// rather than a Session. Fails as Session::extend() does. To find where the prompt differs from `ids`, it renders the
/// conversation up to each assistant turn.
Result<Extension> extend_ids(std::span<const TokenId> ids, const Template& chat_template, const Tokenizer& tokenizer,
                             Conversation conversation, const SessionOptions& options = {});

}  // namespace parlance
