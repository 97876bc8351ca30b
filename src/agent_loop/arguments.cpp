// The grammar lets a model write only what fits; an engine without grammars lets it write anything.
#include "parlance/agent.h"
#include "parlance/json.h"
#include "reply/arguments_check.h"

namespace parlance {

Result<std::string> fitting_arguments(std::string_view parameters, std::string_view arguments) {
  Document schema, given;
  if (Result<void> parsed = given.parse(arguments, "the arguments"); !parsed) return parsed.error();
  if (!given.root().is(Kind::dict)) return Error(ErrorCode::value, "the arguments must be an object");
  std::string line = json_text(given.root());
  if (!schema.parse(parameters)) return line;
  std::string wrong;
  for (const reply::Misfit& misfit : reply::check_arguments(schema.root(), line, 0))
    wrong.append(wrong.empty() ? "the arguments do not fit: expected " : "; expected ")
        .append(misfit.expected)
        .append(misfit.found);
  if (!wrong.empty()) return Error(ErrorCode::value, wrong);
  return line;
}

}  // namespace parlance
