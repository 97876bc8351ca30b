// See odd_roles.h.
#include "cli/odd_roles.h"

#include <algorithm>
#include <set>

#include "base/lowered.h"
#include "base/speakers.h"
#include "cli/report.h"

namespace parlance::cli {
namespace {

/// The usual name; "" where this is one, or nobody knows.
std::string_view usual_name(std::string_view role) {
  const std::string small = ascii::lowered(role);
  for (const Speaker& one : kSpeakers)
    if (one.name == small && role != one.role) return one.role;
  return {};
}

}  // namespace

bool OddRoles::is_named(std::string_view role) const {
  return std::ranges::any_of(model_.templates, [role](const NamedTemplate& one) {
    return one.text.find("'" + std::string(role) + "'") != std::string::npos ||
           one.text.find('"' + std::string(role) + '"') != std::string::npos;
  });
}

void OddRoles::add(const Conversation& conversation) {
  std::set<std::string_view> odd;
  for (const Value& message : conversation.messages().items()) {
    const Value role = message["role"];
    if (role.is_string() && !usual_name(role.text()).empty()) odd.insert(role.text());
  }
  if (odd.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const std::string_view role : odd) ++rows_[std::string(role)];
}

void OddRoles::add(const Conversation& conversation, std::size_t turns) {
  add(conversation);
  if (turns != 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  ++without_turns_;
}

void OddRoles::report(std::uint64_t lines) const {
  if (without_turns_ != 0)
    say_note(std::to_string(without_turns_) + " of " + std::to_string(lines) + " lines have no turn of an assistant's");
  for (const auto& [role, rows] : rows_) {
    if (is_named(role)) continue;
    say_note(std::to_string(rows) + " of " + std::to_string(lines) + " lines have messages of the role " +
             in_quotes(role) + ", which the template does not know; is it " + in_quotes(usual_name(role)) + "?");
  }
}

}  // namespace parlance::cli
