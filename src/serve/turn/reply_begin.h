// Where a reply begins if the last message is the assistant's: an engine never samples behind a closed message.
#pragma once
#include "parlance/conversation.h"
#include "parlance/reply_api.h"

namespace parlance::serve {

/// The API whose server reads messages as the clients of this one expect.
SentTo sent_to(ReplyApi api);

/// Has the reply go on with a last message of the assistant, or begin a turn of its own. What the request says of that
/// (`add_generation_prompt`, `continue_final_message`, or `prefix` in the message) is heeded; where it says nothing,
/// the reply goes on in Anthropic's and Ollama's APIs if the message ends with text, and in OpenAI's it begins a turn.
/// `body` is the request in its API. Fails with conversation as set_json() does.
Result<void> say_where_reply_begins(Conversation& conversation, Value body, ReplyApi api);

/// A request whose conversation has no messages has said nothing: no template is asked what it makes of that. Fails
/// with conversation.
Result<void> check_said(const Conversation& conversation);

}  // namespace parlance::serve
