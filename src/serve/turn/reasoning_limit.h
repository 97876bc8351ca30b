// A limit of reasoning: the gateway closes a reply's reasoning itself, and the model goes on with its answer.
#pragma once
#include <string>
#include <vector>

#include "serve/models/model.h"

namespace parlance::serve {

/// The tokens that close reasoning as the format's model was trained to close it: the mark, and the white space around
/// it. Empty where the format has no such mark, or no tokenizer can write it.
std::vector<TokenId> closing_of_reasoning(const ServedModel& model, const ReplyFormat& format);

/// The end of a prompt behind which reasoning is closed, for GrammarOptions::prompt. `prompt` is that of the reply.
std::string prompt_behind_reasoning(const ReplyFormat& format, std::string prompt);

}  // namespace parlance::serve
