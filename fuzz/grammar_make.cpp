// Fuzz target: any JSON as a schema, as tools of each built-in format, and as both printed in each syntax. The first
// byte chooses the format, the second the options. Nothing fails but what is no JSON, and what comes of it is bounded.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parlance/grammar.h"
#include "parlance/source.h"

namespace {

using namespace parlance;

void print(const Grammar& grammar, std::string_view text) {
  for (const std::string_view name : grammar_syntax_names()) {
    if (grammar.to_text(*find_grammar_syntax(name)).size() > std::size_t{64} << 20) std::abort();
  }
  grammar.accepts(text.substr(0, 200));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (const auto values = make_value_grammar(text, {.open = (data[1] & 1) != 0, .any_order = (data[1] & 16) != 0}))
    print(*values, text);
  const auto formats = builtin_formats();
  const auto format = ReplyFormat::from_json(formats[data[0] % formats.size()].reply);
  if (!format) std::abort();
  GrammarOptions options;
  options.tools = R"([{"name": "f", "parameters": )" + std::string(text) + "}]";
  options.open = (data[1] & 1) != 0;
  options.any_order = (data[1] & 16) != 0;
  options.text_around_calls = (data[1] & 32) != 0;
  options.parallel = (data[1] & 2) != 0;
  options.reasoning = (data[1] & 4) != 0;
  options.choice = (data[1] & 8) != 0 ? ToolChoice::required : ToolChoice::automatic;
  if (const auto grammar = make_grammar(*format, options)) print(*grammar, text);
  return 0;
}
