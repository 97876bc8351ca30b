// Loops that settle: from some iteration on, none of them does anything.
//
//     {% for m in messages[::-1] %}
//       {% set index = messages|length - 1 - loop.index0 %}
//       {% if ns.searching and m.role == 'user' %}{% set ns.searching = false %}{% set ns.last = index %}{% endif %}
//     {% endfor %}
//
// A chat template that looks for the last question walks on to the first message after it has found it. Once
// ns.searching is false nothing makes it true again, so that the rest needs no walk.
#pragma once
#include "jinja/syntax/ast.h"

namespace parlance::jinja {

/// The only statement of the loop that does something: an `if` whose test begins with a member of a namespace, which
/// nothing outside of its own body changes. Null where there is none, or where anything else could be noticed.
const If* settling_if(const For& node);
/// What the test begins with.
const Node* settling_test(const If& node);

}  // namespace parlance::jinja
