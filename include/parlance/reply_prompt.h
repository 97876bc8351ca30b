// Where a reply begins: what a prompt ends with, from the assistant's turn on.
//
//     auto prompt = parlance::reply_prompt(*chat_template, conversation, {}, format);
//     if (!prompt) return report(prompt.error());
//     parlance::ReplyParser parser(format, {.prompt = std::move(*prompt)});
#pragma once
#include <string>

#include "parlance/conversation.h"
#include "parlance/render.h"
#include "parlance/reply_format.h"
#include "parlance/result.h"
#include "parlance/template.h"

namespace parlance {

/// What the prompt of this conversation ends with, from the assistant's turn on: ReplyOptions::prompt of the reply to it.
///
/// That is what asking for a generation prompt adds. Where a template adds nothing then, because it always opens the turn, or
/// goes on with the last message, it begins at the turn's header behind the last byte of all other messages, so that no byte of
/// a message or of a tool's result is ever taken for it. "" where no turn is opened there: the reply begins with nothing said.
/// `options` are those of the prompt's own render. Fails as Template::render does.
Result<std::string> reply_prompt(const Template& chat_template, const Conversation& conversation, const RenderOptions& options,
                                 const ReplyFormat& format);

}  // namespace parlance
