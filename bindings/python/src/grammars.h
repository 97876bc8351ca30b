// Grammars of replies, as Rendering.grammar() gives them.
#pragma once
#include "parlance/grammar.h"
#include "templates.h"

namespace parlance::python {

/// Raises ValueError, which lists the syntaxes, for a name that is none.
GrammarSyntax grammar_syntax_named(const std::string& name);

/// Rendering.grammar(), which takes what grammar() takes but the format.
void bind_grammar_of(nb::class_<PyRendering>& rendering);

}  // namespace parlance::python
