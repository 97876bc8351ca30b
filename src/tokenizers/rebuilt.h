// Where transformers does not prepare texts as the tokenizer.json says: classes that build those parts anew.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "tokenizers/beside.h"

namespace parlance {

/// By the class that the configuration names, and its settings.
std::optional<Rebuilt> rebuilt_parts(const Beside& beside);

/// Says what the class prepares otherwise than the file; "" where it is the same. `shape`: the file's, of
/// hf/src/shape.rs.
std::string note_on_shape(const Rebuilt& rebuilt, std::string_view shape);

}  // namespace parlance
