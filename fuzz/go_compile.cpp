// Fuzz target: any bytes as a Go template. Compiling must end, with a program or with an error that
// can be displayed.
#include <cstdint>
#include <cstdlib>

#include "parlance/parlance.h"
#include "small_limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parlance::CompileOptions options;
  options.syntax = parlance::Syntax::go;
  options.limits = parlance::fuzz::kSmallLimits;
  const auto compiled = parlance::Template::compile({reinterpret_cast<const char*>(data), size}, options);
  if (compiled) return 0;
  const parlance::Location& where = compiled.error().where();
  if (where.end < where.begin || compiled.error().display().empty()) std::abort();
  return 0;
}
