// Rendering a conversation with other variables than its own, to see what a change of the request changes in the
// prompt.
#pragma once
#include "parlance/template.h"

namespace parlance {

/// Renders as Template::render() does, but with `variables`, a dict: mostly a copy of the conversation's with something
/// in it changed. The last message is not cut where it is continued; there are no masks. Spans have places where bytes
/// are the conversation's. Fails as Template::render() does.
Result<void> render_with(const Template& chat_template, const Conversation& conversation, Value variables,
                         const RenderOptions& options, Workspace& workspace, Rendering& into);

/// Does a render go on with the last message? The caller's option wins over the request, which is not asked where the
/// template gets it as it is.
bool continues_final(const Conversation& conversation, const DictObject* variables, const RenderOptions& options);

/// Does a template take it for true? As in Python a text is true that is not empty, also "false".
bool is_true_for_template(Value value);

}  // namespace parlance
