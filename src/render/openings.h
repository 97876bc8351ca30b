// Openings: where a template's assistant turns begin, and what closes them, learned once from conversations of ours.
//
// To ask the template where a turn begins costs a render of all that stands before it. But how a turn opens hardly ever
// depends on what was said: so fixed conversations are asked about, and what they show is looked for in the text of
// real prompts. Where nothing or more than one thing fits, the template is asked (beginnings.h). What is learned
// depends on the template and on the request's own variables (enable_thinking), never on what was rendered before.
// Begin reading at Openings::begin_of.
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fork_lock.h"
#include "jinja/compile/program.h"
#include "parlance/template.h"
#include "render/turn_header.h"

namespace parlance {

/// Renders a conversation, with these messages in place of its own, and with or without a generation prompt, with
/// spans. Fills `turns` unless that is null. False where that fails.
using OpeningRenderer = std::function<bool(const Conversation& conversation, std::span<const Value> messages,
                                           bool generation_prompt, Rendering& into, std::vector<jinja::Turn>* turns)>;

/// Bounds of each of those renders, so that a stranger's template does not take long over them.
inline constexpr Limits kOpeningLimits{.steps = 50'000, .output_bytes = 1 << 16, .memory_bytes = 1 << 22};

/// What was learned. Immutable then.
class Openings {
 public:
  /// The first byte that the assistant wrote in its turn, behind a message of this role; nothing where the template has
  /// to be asked.
  std::optional<std::uint64_t> begin_of(const Conversation& conversation, const Rendering& prompt,
                                        const jinja::Turn& turn, std::int32_t message, std::string_view role) const;

  /// What the template writes behind each turn of the assistant's, whatever follows: its end, where the loop writes it
  /// with the next message or is over before it. Mostly empty; so it is where the template writes a generation prompt
  /// unasked, since that stands behind each turn too.
  std::string_view closing() const {
    const bool is_asked = alone_ && !alone_->text.empty();
    return is_asked && closing_ ? closing_->text : std::string_view();
  }

  /// Asks about each turn of the assistant's in a conversation.
  void learn(const Conversation& conversation, const OpeningRenderer& render);

 private:
  struct Learned : Situation {
    bool is_sure = true;  ///< all that had a header had the same
  };
  Learned& learned_behind(std::string_view role);
  bool begins_with_header(std::string_view text) const;

  std::vector<Learned> situations_;
  std::optional<Header> alone_;    ///< behind a word of a user's
  std::optional<Header> closing_;  ///< what all turns so far have behind them
};

/// The openings of one template, by the variables that may change them. Threads: any number.
class OpeningStore {
 public:
  OpeningStore() = default;
  ~OpeningStore();
  OpeningStore(const OpeningStore&) = delete;
  OpeningStore& operator=(const OpeningStore&) = delete;

  /// Those for a request with these variables, learned by the first who asks; null if they are not to be told by a few
  /// words. What finds no place any more is learned into `spare`.
  const Openings* find(const jinja::Program& program, const DictObject* variables, const OpeningRenderer& render,
                       std::optional<Openings>& spare) const;

 private:
  static constexpr std::size_t kMost = 16;  ///< a request has a part in what they are kept by
  struct Entry {
    std::string key;
    Openings openings;
    const Entry* next;
  };
  const Openings* look_up(std::string_view key) const;

  mutable BriefMutex mutex_;
  mutable std::size_t count_ = 0;
  mutable std::atomic<const Entry*> entries_ = nullptr;
};

}  // namespace parlance
