// Fuzz target: a Go template and a request, divided by the first zero byte. Rendering must end
// within its limits, and what it says about the prompt must fit the prompt. What is held is in
// check_rendering.h.
#include <cstdint>
#include <string_view>

#include "check_rendering.h"

namespace {

constexpr std::string_view kRequest =
    R"({"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": " Hi <b> é "}, {"role": )"
    R"("assistant", "content": "", "thinking": "t", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": )"
    R"({"x": [1, 2.5, true], "y": "z"}}}]}, {"role": "tool", "content": "r", "images": ["aGk="]}], "think": "low", )"
    R"("tools": [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"x": {"type": ["a", )"
    R"("b"], )"
    R"("properties": {"y": {}}}}}}}]})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace parlance;
  fuzz::render_and_check({reinterpret_cast<const char*>(data), size}, Syntax::go, kRequest);
  return 0;
}
