// Grammars of replies, as Rendering.grammar() gives them.
#pragma once
#include "parlance/grammar.h"
#include "templates.h"

namespace parlance::python {

/// Rendering.grammar(), which takes what grammar() takes but the format.
void bind_grammar_of(nb::class_<PyRendering>& rendering);

}  // namespace parlance::python
