// The form of an answer, as far as the request says it.
#pragma once
#include "parlance/reply_api.h"
#include "parlance/value.h"

namespace parlance::serve {

/// Sets what the answer has of its reasoning, and in what form; sessions keep all of it, whatever is shown. And which
/// calls of Responses are items of their own.
///
/// Anthropic's clients that did not ask for thinking read the first block as text, so it has thinking only where the
/// request has `thinking`, and not `disabled`.
void set_answer_form(Value body, ReplyApi api, ReplyApiOptions& options);

}  // namespace parlance::serve
