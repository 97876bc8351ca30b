// Messages that were read, for the loop, which weighs, shortens and answers what stands in fields.
#pragma once
#include "parlance/conversation.h"

namespace parlance {

/// Moves the texts and the calls that `members` have into the message's own fields. What the fields cannot say stays a
/// member: parts, null, calls whose arguments are no object.
void move_to_fields(Message& message);

}  // namespace parlance
