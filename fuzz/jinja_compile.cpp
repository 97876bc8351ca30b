// Fuzz target: any bytes as a template. Compiling must end, with a program or with an error that can be displayed.
#include <cstdint>
#include <cstdlib>

#include "parlance/parlance.h"
#include "small_limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  parlance::CompileOptions options;
  options.limits = parlance::fuzz::kSmallLimits;
  options.trim_blocks = size % 2 == 0;
  options.lstrip_blocks = size % 3 == 0;
  const auto compiled = parlance::Template::compile(text, options);
  if (!compiled) {
    const parlance::Location& where = compiled.error().where();
    if (where.end < where.begin || compiled.error().display().empty()) std::abort();
    return 0;
  }
  if (compiled->list_code().empty()) std::abort();
  return 0;
}
