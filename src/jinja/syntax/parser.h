// parse(): template text to syntax tree, accepting and refusing exactly what Jinja2 3.1's lexer and parser do.
#pragma once
#include "base/source_text.h"
#include "jinja/syntax/ast.h"
#include "parlance/limits.h"
#include "parlance/result.h"
#include "value/runtime.h"

namespace parlance::jinja {

/// Options of Jinja2's Environment that change what the text means. Defaults are transformers'.
struct SyntaxOptions {
  bool trim_blocks = true;
  bool lstrip_blocks = true;
  bool keep_trailing_newline = false;
  bool allow_changes = false;   ///< not of Jinja2's: what the template makes may be changed by its methods
  bool limits_globals = false;  ///< TransformersRelease::limits_globals
};

/// The whole template. Nodes live in `nodes`, which is needed for as long as they are; values of constants in
/// `rt.arena`, or they view `source.text()`.
/// Fails with syntax (first error only, in Jinja2's words, with place and where an open construct began),
/// unknown_builtin is the compiler's. limit_depth for nesting past limits.
Result<Nodes> parse(Runtime& rt, Arena& nodes, const SourceText& source, const SyntaxOptions& options);

/// An expression or template written back as source, fully parenthesised: the parser's test format.
/// Statements stand on lines of their own, and template text in double quotes.
std::string print(const Node* node);
std::string print(const Nodes& nodes);
/// The same with `@line` behind each node: the line that Jinja2 gives it.
std::string print_with_lines(const Nodes& nodes, const SourceText& source);

}  // namespace parlance::jinja
