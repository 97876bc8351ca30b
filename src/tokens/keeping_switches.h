// Which variable of a template would have kept the ids: found by trying, never by its name.
#pragma once
#include <functional>
#include <vector>

#include "parlance/session.h"

namespace parlance {

/// The conversation with a switch set so.
Conversation switched(const Conversation& conversation, const KeepingSwitch& one);

/// Whether the ids go on with a switch, of which the conversation is that of the new prompt.
using KeepsIds = std::function<bool(const KeepingSwitch& one, const Conversation& conversation)>;
/// Of the variables that may switch something and that change the prompt of `conversation`, those that keep the ids;
/// each with the first value that does. What is a list, a text or a number is no switch. Costs a render for each value,
/// and `keeps` for those that change something.
std::vector<KeepingSwitch> switches_that_keep(const Template& chat_template, const Conversation& conversation,
                                              const RenderOptions& options, const KeepsIds& keeps);

}  // namespace parlance
