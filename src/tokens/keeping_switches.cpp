// Sets each variable that may be a switch to true and to false, and looks whether the ids then go on. Begin reading at
// switches_that_keep.
#include "tokens/keeping_switches.h"

#include <algorithm>
#include <optional>
#include <string>

#include "tokens/session_state.h"

namespace parlance {
namespace {

constexpr std::size_t kMostVariables = 16;  ///< that are tried; each is a render or two
/// What a request says, and a render goes by, is no switch of the template.
constexpr std::string_view kOfRequests[] = {"messages", "tools", "documents", "add_generation_prompt",
                                            "continue_final_message"};

const char* json_of(bool value) { return value ? "true" : "false"; }

/// Variables that a template reads and that may be switches, each with the values that it does not have now.
std::vector<KeepingSwitch> possible_switches(const Template& chat_template, const Conversation& conversation) {
  std::vector<KeepingSwitch> found;
  std::size_t tried = 0;
  const Value now = conversation.variables();
  for (const std::string& name : chat_template.facts().variables) {
    const Value value = now[name];
    const bool is_set = value.kind == Kind::boolean;
    const bool is_said = std::find(std::begin(kOfRequests), std::end(kOfRequests), name) != std::end(kOfRequests);
    if (is_said || !(is_set || value.is_undefined() || value.kind == Kind::none)) continue;
    if (++tried > kMostVariables) break;
    for (const bool other : {true, false})
      if (!is_set || (value.integer != 0) != other) found.push_back({name, other});
  }
  return found;
}

/// Tells switches that change a prompt from those that do not, which need no further look.
class PromptChange {
 public:
  PromptChange(const Template& chat_template, const Conversation& conversation, const RenderOptions& options)
      : template_(chat_template), options_(options) {
    options_.want_spans = options_.want_assistant = false;
    if (template_.render(conversation, options_, workspace_, rendering_)) text_.emplace(rendering_.text());
  }

  bool is_another(const Conversation& conversation) {
    if (!template_.render(conversation, options_, workspace_, rendering_)) return false;
    return !text_ || rendering_.text() != *text_;
  }

 private:
  const Template& template_;
  RenderOptions options_;
  Workspace workspace_;
  Rendering rendering_;
  std::optional<std::string> text_;  ///< unset: it does not render
};

}  // namespace

Conversation switched(const Conversation& conversation, const KeepingSwitch& one) {
  Conversation made = conversation.copy();
  (void)made.set_json(one.variable, json_of(one.value));
  return made;
}

std::vector<KeepingSwitch> switches_that_keep(const Template& chat_template, const Conversation& conversation,
                                              const RenderOptions& options, const KeepsIds& keeps) {
  PromptChange change(chat_template, conversation, options);
  std::vector<KeepingSwitch> found;
  for (const KeepingSwitch& one : possible_switches(chat_template, conversation)) {
    const bool is_known = !found.empty() && found.back().variable == one.variable;
    if (is_known) continue;
    const Conversation other = switched(conversation, one);
    if (change.is_another(other) && keeps(one, other)) found.push_back(one);
  }
  return found;
}

std::string advice_of(std::span<const KeepingSwitch> switches) {
  std::string names;
  for (const KeepingSwitch& one : switches)
    names += (names.empty() ? "" : ", or ") + one.variable + " = " + json_of(one.value);
  return names.empty() ? names
                       : "a variable of the template keeps the ids, if it is set from the first turn on: " + names;
}

/// The prompt before what was sampled is made anew with the switch. A reply is sampled as before only where that prompt
/// ends as the known one does, from its last control token on: a switch that opens the reply otherwise is none that
/// keeps it.
bool Session::State::keeps(const KeepingSwitch& one, std::span<const Message> messages,
                           std::span<const std::string> trust, const SameReply& same) const {
  Result<Session> begun = Session::begin(chat_template, tokenizer, switched(chat, one), options);
  if (!begun) return false;
  const State& other = *begun->state_;
  if (!prompt.known().ends_with(other.prompt.known().substr(other.anchor.byte))) return false;
  begun->append_sampled(std::span(ids).subspan(sampled_from));
  return begun->try_extend(messages, trust, same).has_value();
}

std::vector<KeepingSwitch> Session::keeping_switches(std::span<const Message> messages,
                                                     std::span<const std::string> trust, const SameReply& same) const {
  if (!state_) return {};
  const State& state = *state_;
  Conversation whole = state.chat.copy();
  for (const Message& message : messages)
    if (!whole.add(message)) return {};
  return switches_that_keep(
      state.chat_template, whole, state.options.render,
      [&](const KeepingSwitch& one, const Conversation&) { return state.keeps(one, messages, trust, same); });
}

}  // namespace parlance
