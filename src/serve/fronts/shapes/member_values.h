// What members that an API knows may be.
#pragma once
#include "parlance/reply_api.h"
#include "parlance/result.h"
#include "parlance/value.h"

namespace parlance::serve {

/// Fails with conversation for a member that the API knows, with a value that the API refuses, whether or not anything
/// here depends on it: a client would take the answer for one to what it asked. Null is as if it were not there, and
/// members that the API does not know are not looked at.
Result<void> check_member_values(Value body, ReplyApi api);

}  // namespace parlance::serve
