// The words of each API: which members its requests have, and what is set over a request that was written. Begin
// reading at is_word_of.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "value/dict.h"

namespace parlance::apis {

/// The APIs whose words requests steer the server and the sampler with.
enum class Words : std::uint8_t {
  chat,
  anthropic,
  responses,
  gemini,
};
inline constexpr std::size_t kSetsOfWords = 4;

/// Whether requests of the API have a member of that name.
bool is_word_of(Words api, std::string_view name);
/// Whether the value is what the API has under that name, where others have something else: of `tools` and
/// `tool_choice`.
bool is_in_form_of(Words api, std::string_view name, Value value);
/// The paths of what a member sets: those of the members of `output_config`, `text` and `reasoning`, and all words for
/// the same.
std::vector<std::string> paths_set_by(Words api, std::string_view name, Value value);
/// The request with the member over its own.
Value with_set(Runtime& rt, Value request, Words api, std::string_view name, Value value);
/// Does a member say more than what holds where it is not there?
bool asks_for_something(std::string_view path, Value value);

}  // namespace parlance::apis
