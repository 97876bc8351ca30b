// The conversations that openings are learned from.
#pragma once
#include <span>
#include <string_view>

namespace parlance {

/// Lists of messages as JSON. %WORDS% stands for the template's own words.
std::span<const std::string_view> opening_probes();
/// The tools of those for requests that have tools.
std::string_view probe_tools();

}  // namespace parlance
