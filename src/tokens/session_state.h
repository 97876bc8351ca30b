// What a Session holds between two turns (session.cpp goes on from it, saved_session.cpp writes and reads it).
#pragma once
#include <optional>
#include <vector>

#include "parlance/session.h"
#include "tokens/grown_prompt.h"
#include "tokens/tail.h"
#include "tokens/trusted_path.h"
#include "tokens/written_behind.h"

namespace parlance {

/// What a prompt that does not begin with the known text may cost.
enum class Effort : std::uint8_t {
  of_new_text,
  of_whole_prompt,  ///< it is rendered and encoded once more: its tokens may go on, and where it differs is said
};

struct Session::State {
  State(Template chat_template_in, const Tokenizer& tokenizer_in, Conversation chat_in,
        const SessionOptions& options_in)
      : chat_template(std::move(chat_template_in)),
        tokenizer(tokenizer_in),
        chat(std::move(chat_in)),
        options(options_in) {
    options.render.want_spans = true;
    options.render.want_assistant = false;
  }

  /// What was rendered is not copied, only its text.
  State(const State& from)
      : chat_template(from.chat_template),
        tokenizer(from.tokenizer),
        chat(from.chat.copy()),
        known_messages(from.known_messages),
        options(from.options),
        trusted(from.trusted),
        ids(from.ids),
        guarded(from.guarded),
        guarded_count(from.guarded_count),
        unknown(from.unknown),
        canonical(from.canonical),
        sampled_from(from.sampled_from),
        start(from.start),
        anchor(from.anchor),
        landmarks(from.landmarks),
        kept(from.kept),
        dropped(from.dropped) {
    prompt.accept_whole(from.prompt.known());
  }

  /// A member of a session; of one that was moved from, an empty one.
  template <auto member>
  static const auto& of(const std::unique_ptr<State>& state) {
    static const std::remove_cvref_t<decltype((*state).*member)> nothing{};
    return state ? (*state).*member : nothing;
  }

  Result<void> begin();
  /// What save() wrote of another; a failure leaves something that must not be used.
  Result<void> take(std::string_view saved);
  Result<void> take(const SavedSession& saved);
  /// The same of the members that save_place() writes, where the ids are there already.
  Result<void> take(Value members, std::string_view conversation, std::string_view known_text);
  Result<Extension> extend(std::span<const Message> messages, std::span<const std::string> trust, const SameReply& same,
                           Effort effort, std::span<const Message> meant);
  Result<void> add(std::span<const Message> messages);
  Result<WrittenBehind> written_behind(std::span<const Message> messages);
  Result<std::string> added_text(const Tail& tail, const Extension& extension);
  /// As grow() with the session's conversation; fails where what it adds is not written behind another form of the
  /// reply.
  Result<Extension> grow_as_meant(Tail& tail, const SameReply& same, Effort effort, const WrittenBehind& meant);
  /// The ids that `whole`, the session's conversation grown, adds.
  Result<Extension> grow(const Conversation& whole, Tail& tail, const SameReply& same, Effort effort);
  Result<Extension> go_on(const Conversation& whole, Tail& tail, const SameReply& same, Effort effort);
  /// Those behind a reply that is the same as the one that the template writes from `byte` on; nothing where it is not.
  std::optional<Extension> keep_sampled(const PromptEnd& prompt, const Conversation& whole, Tail& tail,
                                        std::size_t byte, const SameReply& same);
  /// From this byte of the next prompt on spans are wanted.
  std::size_t rendered_from() const;
  /// Is the last control token so far away that encoding begins at the landmarks?
  bool begins_in_middle() const;
  std::optional<std::size_t> encode_from_middle(const Conversation& whole, Tail& tail, const Known& known);
  /// Counts texts that were kept from becoming control tokens, of which `more` are the listed ones, and lists as many
  /// as there is room for.
  void add_guarded(std::vector<GuardedText> more, std::uint64_t count);
  /// Those ids are there now.
  void accept(const Conversation& whole, const Tail& tail, const Extension& extension);
  /// For a prompt that is another from the end of the last one on: from where a turn is opened for a reply.
  std::optional<Extension> keep_without_opening(const Conversation& whole, Tail& tail, const SameReply& same);
  /// For a prompt that is another from `byte` on (unset: where its text is): its tokens may go on all the same, if the
  /// tokenizer normalises.
  Result<Extension> extend_or_refuse(const Conversation& whole, Tail& tail, std::optional<std::size_t> byte,
                                     PrefixCause cause, const SameReply& same);
  /// The number of the token with this byte of the prompt, or of a kept reply's first one; nothing before the first of
  /// these replies.
  std::optional<std::size_t> token_behind_kept(std::size_t byte) const;
  Error refuse(const Conversation& whole, std::size_t byte, std::size_t token, PrefixCause cause);
  /// Would messages that were refused go on behind the sampled ids, had the switch been set from the first turn on?
  bool keeps(const KeepingSwitch& one, std::span<const Message> messages, std::span<const std::string> trust,
             const SameReply& same) const;

  Template chat_template;
  const Tokenizer& tokenizer;
  Conversation chat;
  std::uint32_t known_messages = 0;  ///< of chat, those that the prompt last accepted has
  SessionOptions options;
  std::vector<TrustedPath> trusted;
  std::vector<TokenId> ids;
  std::vector<GuardedText> guarded;
  std::uint64_t guarded_count = 0;  ///< also of those that are not listed
  std::vector<UnknownText> unknown;
  bool canonical = true;         ///< are the ids what the tokenizer makes of their text?
  std::size_t sampled_from = 0;  ///< number of the first sampled token; ids.size() if there is none
  GrownPrompt prompt;            ///< the text of the tokens before that one: the prompt last rendered
  Anchor start;                  ///< behind what the tokenizer put in front of the prompt
  Anchor anchor;
  Landmarks landmarks;  ///< the last tokens of the prompt that was accepted last
  std::vector<KeptReply> kept;
  /// So many bytes of the last prompt's end the template did not write again: the next one must be known to go on from
  /// before them.
  std::size_t dropped = 0;
  Workspace workspace;
  Rendering rendering;    ///< a prompt that was rendered as a whole once more
  bool is_whole = false;  ///< the last prompt is that one
  /// The last prompt has its spans from this byte on; unset: the conversation that it was rendered from is gone.
  std::optional<std::size_t> has_spans_from;
  std::optional<PrefixDifference> difference;
};

}  // namespace parlance
