// The nearest name to one that a template has wrong, for the hint of an UndefinedError.
//
// Asked only once a render has failed, so it may take its time. Begin reading at misspelt_hint.
#pragma once
#include <string>

#include "jinja/compile/program.h"
#include "jinja/machine/vm.h"

namespace parlance::jinja {

/// "did you mean 'content'?", or "": among the variables of the render and the names that the template assigns, or the
/// keys and methods of the value that was asked.
std::string misspelt_hint(const UndefinedInfo& undefined, const Program& program, const Variables& variables);
/// The name alone: "content", or "".
std::string nearest_name(const UndefinedInfo& undefined, const Program& program, const Variables& variables);

}  // namespace parlance::jinja
