// Which span has which hue.
#include "render/hue.h"

namespace parlance {

namespace {

constexpr std::string_view kHueNames[] = {"literal",   "control", "system",   "user",
                                          "assistant", "tool",    "variable", "computed"};

struct RoleHue {
  std::string_view role;
  Hue hue;
};
constexpr RoleHue kRoleHues[] = {
    {"system", Hue::system},       {"developer", Hue::system}, {"user", Hue::user},
    {"assistant", Hue::assistant}, {"tool", Hue::tool},
};

std::string_view role_of_message(const Conversation& conversation, std::int32_t message) {
  const std::span<const Value> messages = conversation.messages().items();
  return static_cast<std::size_t>(message) < messages.size()
             ? messages[static_cast<std::size_t>(message)]["role"].text()
             : std::string_view();
}

}  // namespace

std::string_view hue_name(Hue hue) { return kHueNames[static_cast<std::size_t>(hue)]; }

Hue hue_of(const Conversation& conversation, const Span& span) {
  if (span.control) return Hue::control;
  if (span.origin == Origin::literal) return Hue::literal;
  if (span.origin == Origin::computed) return Hue::computed;
  if (span.message < 0) return Hue::variable;
  const std::string_view role = role_of_message(conversation, span.message);
  for (const RoleHue& row : kRoleHues) {
    if (row.role == role) return row.hue;
  }
  return Hue::variable;
}

}  // namespace parlance
