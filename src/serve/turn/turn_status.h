// TurnStatus: what became of a turn, or of a continuation.
#pragma once
#include <cstdint>
#include <string_view>

namespace parlance::serve {

enum class TurnStatus : std::uint8_t { answered, client_gone, engine_failure, not_answered };

/// As records have it.
constexpr std::string_view name_of(TurnStatus status) {
  constexpr std::string_view kNames[] = {"answered", "client_gone", "engine_failure", "not_answered"};
  return kNames[static_cast<std::size_t>(status)];
}

}  // namespace parlance::serve
