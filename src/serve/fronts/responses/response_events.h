// The events of an answer of the Responses API that is stored, as its stream has or would have said them.
#pragma once
#include <cstdint>
#include <string>

#include "parlance/reply_api.h"
#include "serve/stored/stored_responses.h"

namespace parlance::serve {

/// Notes how an event cuts a text into pieces, for who asks for the events again.
void note_piece(const ReplyApiEvent& event, std::vector<StoredPiece>& into);
/// The events behind the one with the number `after`, as a stream of server-sent events. The numbers are those of the
/// stream that the answer was given by, so that a client can go on where it was cut off; an answer that was given as a
/// whole has one event for each of its texts. The JSON of the answer must be one of this API.
std::string response_events(const StoredResponse& response, std::int64_t after);

}  // namespace parlance::serve
