// What a message of a request has to be before its conversation is read.
#pragma once
#include "parlance/reply_api.h"
#include "parlance/result.h"
#include "parlance/value.h"

namespace parlance::serve {

/// Fails for a member `messages` of which a part would be left out of the prompt without a word, or be an error of the
/// template: a message without a role, a user's without content, a content that is neither a text nor a list of parts,
/// a part that is no object, a part of text without its text, calls that are no list, a call without its name; and of
/// Anthropic's API for a role that it has not. A request without `messages` is fine.
Result<void> check_messages_shape(Value body, ReplyApi api);

/// Fails for a result of a call that is not in the conversation, in the APIs that refuse it: Anthropic's and Responses.
/// `has_earlier_calls`: calls are in what the request goes on from, so a result may be of one of these.
Result<void> check_results(Value body, ReplyApi api, bool has_earlier_calls = false);

}  // namespace parlance::serve
