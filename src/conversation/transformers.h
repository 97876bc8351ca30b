// What apply_chat_template of transformers does to a request before the template sees it, as passes and a check.
#pragma once
#include <string_view>

#include "conversation/pass.h"
#include "parlance/result.h"

namespace parlance {

/// Members of a request that are lists, or none.
inline constexpr std::string_view kLists[] = {"tools", "documents"};

/// What only ReadOptions::as_transformers asks of a request. Fails with conversation for no messages at all, for tools
/// and documents that are no objects, and for `continue_final_message` that names a member.
/// `of_batch`: no messages are as good as any.
Result<void> check_as_transformers(const Value& variables, bool of_batch);

namespace passes {

/// Parameters of the method are no variables; `continue_final_message` is kept for the render.
void method_parameters(Normaliser& n);
Value null_members(Normaliser& n, Value message);
Value reasoning_aliases(Normaliser& n, Value message);

}  // namespace passes
}  // namespace parlance
