// Beginnings: where turns begin that the assistant wrote, asked of the template by renders. Begin reading at
// Beginnings::of.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "parlance/template.h"
#include "render/turn_end.h"
#include "render/turn_header.h"

namespace parlance {

/// Renders the conversation with these messages in place of its own, with or without a generation prompt, with spans.
/// False where that fails, as templates may refuse a conversation that ends there.
using BeginningRenderer = std::function<bool(std::span<const Value> messages, bool generation_prompt, Rendering& into)>;

/// The template is asked for each turn, with the messages before it and a generation prompt, until that has cost some
/// times the prompt; what it has said of turns behind a message of the same role has to do for the others.
class Beginnings {
 public:
  Beginnings(const Conversation& conversation, const BeginningRenderer& render, const Rendering& prompt);

  /// The first byte that the assistant wrote in the turn of this message. The turn's end if nothing shows that it is an
  /// assistant's.
  std::uint64_t of(const jinja::Turn& turn, std::int32_t message, bool is_assistant);

  /// Where the turn of this message ends, which begins at `begin` and holds text of a later message at `other`: as in
  /// the prompt that ends with the message. Once the budget is spent, by what stood there in the turns before.
  std::uint64_t end_before(std::uint64_t other, std::uint64_t begin, std::int32_t message);

  /// What the template says of one turn.
  struct Answer {
    std::optional<std::uint64_t> begin{};  ///< where the prompt begins with the prompt for the turn
    Lead lead{};                           ///< then: how that is told of other turns
    Header header{};                       ///< else: what the turn is to be looked through for
    bool is_plain = true;                  ///< the header does not depend on what the turn holds
  };
  Answer ask(const jinja::Turn& turn, std::int32_t message);

  /// Is no more asked?
  bool is_spent() const { return budget_ == 0; }
  /// What the assistant wrote of a message that has no turn, because the template does not go through the messages in a
  /// loop, or not to the last one.
  std::optional<TextRange> without_turn(std::uint32_t message);

  /// What the template writes to make the model speak behind a word of a user's.
  const Header& alone();

 private:
  static constexpr std::size_t kTimes = 8, kAtLeast = std::size_t{1} << 18;  // bytes
  static constexpr std::size_t kMostRoles = 16;                              // roles are a request's
  static constexpr std::size_t kMostGaps = 16, kMoreEnds = 4;

  std::span<const Value> messages() const { return items(conversation_.messages()); }
  std::string_view text_of(const jinja::Turn& turn) const;
  Situation& situation_before(std::int32_t message);
  bool render(std::uint32_t count, bool generation_prompt, Rendering& into);
  std::optional<std::uint64_t> remember(Situation& situation, const jinja::Turn& turn, Answer answer);
  std::optional<std::uint64_t> ask_end(TextRange turn, std::int32_t message);
  std::optional<std::uint64_t> behind_gap(TextRange turn, std::int32_t message) const;
  std::uint64_t behind_header(std::uint64_t begin, const jinja::Turn& turn, std::int32_t message);

  const Conversation& conversation_;
  const BeginningRenderer& render_;
  const Rendering& prompt_;
  std::size_t budget_;
  std::optional<Header> alone_;
  std::vector<Situation> situations_;
  std::vector<Gap> gaps_;
  std::size_t more_ends_ = 0;  ///< asked for behind the budget
};

}  // namespace parlance
