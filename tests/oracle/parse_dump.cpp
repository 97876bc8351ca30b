// Parses templates for parse_oracle.py: what src/jinja/syntax/parser.h makes of each, as text.
//
// Reads "<options> <bytes>\n" and that many bytes of template, again and again; options are three
// digits for trim_blocks, lstrip_blocks, keep_trailing_newline. Answers "tree <bytes>\n" with the
// printed tree, or "<class> <line> <bytes>\n" with the error's message. Begin reading at main.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "jinja/syntax/parser.h"

namespace parlance {
namespace {

void answer(const std::string& source_bytes, const char* options) {
  const SourceText source("<template>", source_bytes, true);
  const jinja::SyntaxOptions syntax{options[0] == '1', options[1] == '1', options[2] == '1'};
  Arena arena, nodes;
  const Limits limits;
  Runtime rt(arena, limits);
  const Result<jinja::Nodes> parsed = jinja::parse(rt, nodes, source, syntax);
  std::string text;
  if (parsed) {
    text = jinja::print_with_lines(*parsed, source);
    std::printf("tree %zu\n", text.size());
  } else {
    const Error& error = parsed.error();
    text = error.message();
    std::printf("%.*s %u %zu\n", static_cast<int>(error.python_class().size()), error.python_class().data(),
                error.where().line, text.size());
    (void)error.display();
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace
}  // namespace parlance

int main() {
  char options[4];
  std::size_t size = 0;
  while (std::scanf("%3s %zu", options, &size) == 2) {
    std::getchar();
    std::string bytes(size, '\0');
    if (std::fread(bytes.data(), 1, size, stdin) != size) return 1;
    parlance::answer(bytes, options);
  }
  return 0;
}
