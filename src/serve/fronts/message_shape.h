// What a message of a request has to be before its conversation is read.
#pragma once
#include "parlance/result.h"
#include "parlance/value.h"

namespace parlance::serve {

/// Fails for a member `messages` of which a part would be left out of the prompt without a word, or be an error of the
/// template: a message without a role, a user's without content, a content that is neither a text nor a list of parts,
/// a part that is no object, a part of text without its text, calls that are no list, a call without its name. A
/// request without `messages` is fine.
Result<void> check_messages_shape(Value body);

}  // namespace parlance::serve
