// Events of replies as JSON, as `parlance read --stream` prints them.
#pragma once
#include "parlance/json_writer.h"
#include "parlance/reply.h"

namespace parlance {

/// Writes `type`, `position` and the members that have a meaning for the event's kind: `call`, `name`, `id`, `text`,
/// `complete`, `kind` and `expected` of a fault, `role` and `header` of a turn; `source` if it is not the text.
void write_event(JsonWriter& into, const ReplyEvent& event);

}  // namespace parlance
