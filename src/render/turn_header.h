// What a template writes where an assistant's turn begins, and how it is found in a prompt. Begin reading at header_end
// and Lead.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/machine/turns.h"
#include "parlance/render.h"
#include "value/dict.h"

namespace parlance {

std::size_t common_prefix(std::string_view a, std::string_view b);

/// A message's role; "" where it is no text.
std::string_view role_of(const DictObject& message);
/// The role of the message before this one; "" for the first.
std::string_view role_before(std::span<const Value> messages, std::int32_t message);

enum class Speaker { assistant, other, unknown };
/// Some call the assistant otherwise (model, bot).
Speaker speaker_of(std::string_view role);

bool is_assistant(Value message);

/// What the template writes to make the model speak.
struct Header {
  std::string text;
  std::vector<std::size_t> joints;  ///< where one of its spans ends and the next begins; the end of the text too

  /// The longest part of `text`, up to a joint, that `turn` begins with.
  std::size_t match(std::string_view turn) const;
};

/// What the prompt `with` a generation prompt has that the one `without` does not.
Header difference(const Rendering& with, const Rendering& without);
/// The same of a template that writes its generation prompt whether it is asked to or not: of what stands behind the
/// last message's bytes the part that the turn begins with.
Header ending(const Rendering& with, std::string_view turn);

/// What a prompt has from this byte on, up to where text of a message stands.
Header own_behind(const Rendering& prompt, std::uint64_t byte);
/// What both begin with, in whole spans of one of them: different control tokens may begin with the same bytes.
Header in_common(Header a, const Header& b);

/// Is the span a part of its message's role?
bool is_of_role(const Conversation& conversation, const Span& span, std::string_view role);
/// Where the turn's own text begins: at the first byte that came from its message, its role apart.
std::size_t own_text(const Conversation& conversation, const Rendering& prompt, std::int32_t message,
                     const jinja::Turn& turn);
/// The byte of the prompt where the header of a turn ends.
std::size_t header_end(const Header& header, const Rendering& prompt, const jinja::Turn& turn, std::size_t own);

/// How far from a turn's begin the prompt for it ended, and by what that can be told of another turn.
struct Lead {
  std::int64_t distance = 0;  ///< below 0: before the turn's begin
  std::string between;        ///< the text between the two places
  std::string tail;           ///< the template's own text that the prompt ended with

  /// The prompt for `turn` ended at byte `end` of this one, with `tail`.
  static Lead of(std::string_view prompt, const jinja::Turn& turn, std::size_t end, std::string_view tail);
  /// Where the prompt for this turn ended, if the texts there are the same.
  std::optional<std::uint64_t> end_in(std::string_view prompt, const jinja::Turn& turn) const;
};

/// What is known of turns behind a message of one role.
struct Situation {
  std::string role;
  std::vector<Lead> leads{};
  Header header{};  ///< where the prompt does not begin with what ends in the generation prompt
};

/// Where the prompt for this turn ended, by the first of the leads that fits.
std::optional<std::uint64_t> behind_lead(const Situation& situation, std::string_view prompt, const jinja::Turn& turn);

}  // namespace parlance
