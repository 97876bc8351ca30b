// See odd_roles.h.
#include "cli/odd_roles.h"

#include <algorithm>
#include <set>
#include <utility>

#include "cli/report.h"

namespace parlance::cli {
namespace {

/// What data sets call the roles of a chat; in small letters.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"human", "user"},
                                                                    {"prompter", "user"},
                                                                    {"user", "user"},
                                                                    {"gpt", "assistant"},
                                                                    {"bot", "assistant"},
                                                                    {"ai", "assistant"},
                                                                    {"chatbot", "assistant"},
                                                                    {"model", "assistant"},
                                                                    {"chatgpt", "assistant"},
                                                                    {"assistant", "assistant"},
                                                                    {"system", "system"},
                                                                    {"observation", "tool"},
                                                                    {"function_call", "assistant"}};

/// The usual name; "" where this is one, or nobody knows.
std::string_view usual_name(std::string_view role) {
  std::string small(role);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [name, usual] : kNames)
    if (name == small && role != usual) return usual;
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
    say_note(std::to_string(without_turns_) + " of " + std::to_string(lines) + " rows have no turn of an assistant's");
  for (const auto& [role, rows] : rows_) {
    if (is_named(role)) continue;
    say_note(std::to_string(rows) + " of " + std::to_string(lines) + " lines have messages of the role " +
             in_quotes(role) + ", which the template does not know; is it " + in_quotes(usual_name(role)) + "?");
  }
}

}  // namespace parlance::cli
