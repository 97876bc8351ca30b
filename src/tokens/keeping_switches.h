// Which variable of a template would have kept the ids: found by trying, never by its name.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parlance/session.h"

namespace parlance {

/// Variables that a template reads and that may be switches, each with the values that it does not have now. What is a
/// list, a text or a number is none.
std::vector<KeepingSwitch> possible_switches(const Template& chat_template, const Conversation& conversation);
/// The conversation with a switch set so.
Conversation switched(const Conversation& conversation, const KeepingSwitch& one);

/// Tells switches that change a prompt from those that do not, which need no further look.
class PromptChange {
 public:
  PromptChange(const Template& chat_template, const Conversation& conversation, const RenderOptions& options);
  bool is_another(const Conversation& conversation);

 private:
  const Template& template_;
  RenderOptions options_;
  Workspace workspace_;
  Rendering rendering_;
  std::optional<std::string> text_;  ///< unset: it does not render
};

}  // namespace parlance
