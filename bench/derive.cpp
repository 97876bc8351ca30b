// How long derive() takes: the processor's time of one derivation, the best of ten, for each template that is named, or
// for the built-in ones. Prints a table. Begin reading at main.
#include "parlance/derive.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include "parlance/source.h"

namespace {

using namespace parlance;

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void measure(const std::string& name, std::string_view text, Syntax syntax) {
  CompileOptions options;
  options.syntax = syntax;
  const Result<Template> compiled = Template::compile(text, options);
  if (!compiled) {
    std::printf("| %s | does not compile | | |\n", name.c_str());
    return;
  }
  double best = 1e9;
  std::size_t renders = 0;
  std::string_view verdict;
  for (int i = 0; i < 10; ++i) {
    const double begin = seconds();
    const Result<DerivedFormat> derived = derive(*compiled);
    best = std::min(best, seconds() - begin);
    if (!derived) return;
    renders = derived->renders;
    verdict = name_of(derived->verdict);
  }
  std::printf("| %s | %.1f KB | %zu | %.2f ms | %s |\n", name.c_str(), static_cast<double>(text.size()) / 1e3, renders,
              best * 1e3, std::string(verdict).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("| template | size | renders | derive() | verdict |\n|---|---|---|---|---|\n");
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    std::stringstream text;
    text << file.rdbuf();
    measure(std::string(argv[i]).substr(std::string(argv[i]).rfind('/') + 1), text.str(), syntax_of_file(argv[i]));
  }
  if (argc > 1) return 0;
  for (const BuiltinFormat& builtin : builtin_formats())
    measure(std::string(builtin.name), builtin.text, builtin.syntax);
}
