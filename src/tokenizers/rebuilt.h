// Where transformers does not prepare texts as the tokenizer.json says: classes that build those parts anew.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "parlance/result.h"
#include "tokenizers/beside.h"

namespace parlance {

/// By the class that the configuration names, and its settings.
std::optional<Rebuilt> rebuilt_parts(const Beside& beside);

/// A tokenizer.json as the class makes it: the file's vocabulary and merges, all else its own. `more` gets the
/// file's own tokens. Fails with json, tokenizer (no BPE; a class whose tokens are not known here).
Result<std::string> json_as_rebuilt(std::string_view json, const std::string& path, const Rebuilt& rebuilt,
                                    const Beside& beside, MoreTokens& more);

/// Says what the class prepares otherwise than the file; "" where it is the same. `shape`: the file's, of
/// hf/src/shape.rs.
std::string note_on_shape(const Rebuilt& rebuilt, std::string_view shape);

}  // namespace parlance
