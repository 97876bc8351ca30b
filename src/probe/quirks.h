// Quirks: what no experiment shows, as data with reasons (data/quirks). Begin reading at add_quirks.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "parlance/derive.h"

namespace parlance::probe {

/// Adds what the quirks say that fit what the template wrote: `prompt` is a prompt with tools. A quirk with which the
/// format `breaks`, which is told in a sentence, is left out with a note.
/// Fails with json, value where a file of data/quirks is not well made.
Result<void> add_quirks(DerivedFormat& derived, std::string_view prompt, const std::function<std::string(const ReplyFormat&)>& breaks);

}  // namespace parlance::probe
