// The text by which tokenizers are compared: with an engine's own, and with that of another gateway.
#pragma once
#include <string_view>

namespace parlance::serve {

/// Words, digits, letters of two bytes, a sign of four: what tokenizers differ in. Gateways that share sessions must
/// have the same one (saved_held.h).
constexpr std::string_view kProbeText = "Hello, world! The year 2026, 3.14 metres. Köln über\n\n  x_y don't 🙂 日本";

}  // namespace parlance::serve
