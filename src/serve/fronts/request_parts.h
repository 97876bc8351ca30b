// What the fronts read of a request besides its conversation.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "parlance/json.h"
#include "serve/gateway.h"
#include "serve/sessions/go_on.h"

namespace parlance::serve {

/// The body as values. Fails with json (place), conversation if it is no object.
Result<Document> parsed_body(const std::string& body);
/// Fails with no_template if there is no model of this name.
Result<std::shared_ptr<const ServedModel>> model_of(const Offer& offer, Value body);
/// Fails with no_template also if nobody runs it.
Result<std::shared_ptr<const ServedModel>> model_with_engine(const Offer& offer, Value body);
/// The client's name of its session: a header, or a member of the body.
SessionHints hints_of(const HttpRequest& request, Value body);
/// What a client asks for in vain must not be left out in silence. Fails with conversation.
Result<void> refuse_suffix(Value body);
/// `n`: 1, or as many choices as are asked for. Fails with conversation, naming the member behind `before`.
Result<unsigned> choices_of(Value settings, const std::string& before);
/// How many alternatives of each token are asked for; unset: no logprobs.
std::optional<unsigned> logprobs_of(Value body);
/// A member that is true or false.
bool flag_of(Value member, bool otherwise);
/// A part of a path or a query, where signs may be written as %2F.
std::string unescaped(std::string_view text);

}  // namespace parlance::serve
