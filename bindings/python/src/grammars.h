// Grammars of replies, as Rendering.grammar() gives them.
#pragma once
#include <optional>
#include <string>

#include "parlance/grammar.h"
#include "templates.h"

namespace parlance::python {

/// The grammar of the replies to a prompt.
Grammar grammar_of_reply(const PyRendering& rendering, std::optional<std::string> tool_choice, nb::handle tokenizer);

}  // namespace parlance::python
