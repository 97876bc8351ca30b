// What each byte of a reply is, or of the assistant's turns in a prompt: reasoning, content, calls. For training masks
// by kind.
//
//     auto prompt = reader.render(*request, {.want_assistant = true});
//     auto kinds = reader.reply_kinds(request->conversation, *prompt);
//     if (!kinds) return fail(kinds.error());
//     for (const parlance::KindRange& range : *kinds)
//       if (range.kind == parlance::ReplyKind::reasoning) learn(range.begin, range.end);
//
// Markup is of the kind of what it encloses: `<think>` and `</think>` are reasoning, `<tool_call>` is calls.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/conversation.h"
#include "parlance/render.h"
#include "parlance/reply.h"
#include "parlance/tokens.h"

namespace parlance {

/// A part of a model's reply.
enum class ReplyKind : std::uint8_t {
  none,  ///< no part of a reply: the prompt of it
  content,
  reasoning,
  calls,
  marker,  ///< markup that encloses neither reasoning nor calls, such as the header of a channel
  stop,    ///< the marker that ends the reply
};
inline constexpr std::size_t kReplyKinds = 6;
/// "prompt", "content", "reasoning", "calls", "marker", "stop", in the order of ReplyKind.
std::span<const std::string_view> reply_kind_names();
std::string_view name_of(ReplyKind kind);
std::optional<ReplyKind> reply_kind_named(std::string_view name);

/// Bytes [begin, end) of a prompt or of a reply that are of one kind.
struct KindRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  ReplyKind kind = ReplyKind::none;
};

/// Says what the bytes of one reply are, from its events.   Threads: one at a time.
class ReplyKinds {
 public:
  /// `begin` is where the reply begins in the text in which the ranges count.
  explicit ReplyKinds(const CompiledReplyFormat& format, std::size_t begin = 0) : format_(format), at_(begin) {}

  void add(const ReplyEvent& event);
  /// The ranges of all events so far, without gaps. Markup counts as that of what is around it up to here.
  std::vector<KindRange> ranges() const;

 private:
  void append(std::size_t size, ReplyKind kind);
  void settle(ReplyKind next);

  CompiledReplyFormat format_;
  std::size_t at_;
  std::string markup_{};  ///< that stands between what ranges_ ends with and what comes next
  bool in_call_ = false;
  std::vector<KindRange> ranges_{};
};

/// Reads the assistant's turns of prompts whose replies have one format.   Threads: any.
class PromptKinds {
 public:
  /// `ends` as in ReplyOptions.
  explicit PromptKinds(const CompiledReplyFormat& format, std::vector<std::string> ends = {});

  /// Reads each range of Rendering::assistant() as a reply, and says what its bytes are. The ranges are sorted;
  /// together they are those of assistant(). What a message only quotes of the marker that ends a turn is text. The
  /// rendering needs want_assistant and its spans.
  std::vector<KindRange> ranges(const Rendering& rendering, const Conversation& conversation,
                                const ReplyTools& tools = {}) const;

 private:
  CompiledReplyFormat format_;
  std::vector<std::string> ends_;
};

/// The kind of each token: of the first of its bytes that is in a range; `none` if none is, or if training does not
/// learn it.
std::vector<ReplyKind> token_kinds(std::span<const PromptToken> tokens, std::span<const KindRange> ranges);

/// Takes the tokens of other kinds out of the assistant mask: their PromptToken::trained becomes false.
void train_only(PromptTokens& tokens, std::span<const KindRange> ranges, std::span<const ReplyKind> kinds);

}  // namespace parlance
