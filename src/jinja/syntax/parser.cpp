// parse(): the door to the lexer and the parser. The rules are in statement_parser.cpp and
// expression_parser.cpp; here the first problem becomes an Error with its place.
#include "jinja/syntax/parser.h"

#include "jinja/syntax/statement_parser.h"

namespace parlance::jinja {

Result<Nodes> parse(Runtime& rt, Arena& nodes, const SourceText& source, const SyntaxOptions& options) {
  if (source.text().size() >= Runtime::kMaxText) {  // offsets in nodes and tokens have 32 bits
    return Error(ErrorCode::limit_memory, "the template is too long");
  }
  StatementParser parser(rt, nodes, source, options);
  const Nodes parsed = parser.parse_template();
  const Problem& problem = parser.problem();
  if (!problem.happened) return parsed;
  return Error(problem.code, problem.message).at(source.locate(problem.begin, problem.end)).hint(problem.hint);
}

}  // namespace parlance::jinja
