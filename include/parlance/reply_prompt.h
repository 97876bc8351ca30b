// Where a reply begins: the end of the prompt, from the assistant's turn on.
//
//     auto prompt = parlance::reply_prompt(*chat_template, conversation, {}, format);
//     if (!prompt) return report(prompt.error());
//     auto parser = parlance::ReplyParser::make(format, {.prompt = std::move(*prompt)});
#pragma once
#include <string>
#include <string_view>

#include "parlance/conversation.h"
#include "parlance/render.h"
#include "parlance/reply_format.h"
#include "parlance/result.h"
#include "parlance/template.h"

namespace parlance {

/// The end of this conversation's prompt, from the assistant's turn on. Pass it as ReplyOptions::prompt when reading
/// the reply.
///
/// This is the text that a generation prompt adds. Some templates add nothing then, because they always open the turn
/// or continue the last message. For those it is the text from the turn's header on, after the last byte of all other
/// messages, so no byte of a message or of a tool's result is ever part of it. "" if the prompt opens no turn.
/// `options` must be those of the prompt's own render. Fails as Template::render does.
Result<std::string> reply_prompt(const Template& chat_template, const Conversation& conversation,
                                 const RenderOptions& options, const ReplyFormat& format);

/// The same where the prompt was rendered already, with these options: `prompt` is its text.
Result<std::string> reply_prompt(const Template& chat_template, const Conversation& conversation,
                                 const RenderOptions& options, const ReplyFormat& format, std::string_view prompt);

}  // namespace parlance
