// What a message of a request has to be before its conversation is read.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parlance/reply_api.h"
#include "parlance/result.h"
#include "parlance/value.h"

namespace parlance::serve {

/// Fails for a member `messages` of which a part would be left out of the prompt without a word, or be an error of the
/// template: a message without a role, a user's without content (but Ollama's, where it is ""), a content that is
/// neither a text nor a list of parts, a part that is no object, a part of text without its text, calls that are no
/// list, a call without its name; and of Anthropic's API for a role that it has not. A request without `messages` is
/// fine.
Result<void> check_messages_shape(Value body, ReplyApi api);

/// What a request that goes on from a response has before it.
struct EarlierCalls {
  std::vector<std::string> calls{};  ///< the ids of the calls in it, which passes may have rewritten
  /// The ids of the request's own results by their paths, as passes have them: they rewrite those of a call and of its
  /// result alike, and may put results into another order.
  std::map<std::string, std::string, std::less<>> results{};
};

/// Fails for a result of a call that is not in the conversation before it, in the APIs that refuse it: Anthropic's and
/// Responses.
Result<void> check_results(Value body, ReplyApi api, const EarlierCalls& earlier = {});

}  // namespace parlance::serve
