// Fuzz target: any bytes as a template (the first byte says in which language), and what is derived from it. Deriving
// ends within its limits; the format reads itself back from JSON; what is called verified is valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "parlance/derive.h"
#include "small_limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace parlance;
  if (size == 0) return 0;
  CompileOptions compiling;
  compiling.syntax = (data[0] & 1) != 0 ? Syntax::go : Syntax::jinja;
  compiling.limits = fuzz::kSmallLimits;
  const Result<Template> compiled = Template::compile({reinterpret_cast<const char*>(data) + 1, size - 1}, compiling);
  if (!compiled) return 0;
  DeriveOptions options;
  options.limits = fuzz::kSmallLimits;
  const Result<DerivedFormat> derived = derive(*compiled, options);
  if (!derived) return 0;
  if (derived->verdict == Verdict::verified && !derived->format.validate()) std::abort();
  if (!derived->format.validate()) return 0;
  const Result<ReplyFormat> again = ReplyFormat::from_json(derived->format.to_json());
  if (!again || !(*again == derived->format)) std::abort();
  if (derived->to_json().empty()) std::abort();
  return 0;
}
