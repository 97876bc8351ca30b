// Quirks: what no experiment shows, as data with reasons (data/quirks). Begin reading at add_quirks.
//
// A few facts are only in a model's training, such as a call that it writes without its template ever showing one. They
// are files and not code, are chosen by what the template wrote and not by a name, and are left out where they would
// break what was read back before.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "parlance/derive.h"

namespace parlance::probe {

/// What quirks are chosen by, besides the format.
struct QuirkFacts {
  std::string_view prompt;   ///< one with tools
  bool end_unknown = false;  ///< turns end with a token that nobody told, or nothing was found that ends them
  /// What a format does not read back any more, in a sentence; "" if nothing. A quirk that gives such a format is left
  /// out with a note.
  std::function<std::string(const ReplyFormat&)> breaks;
};

/// Adds what the quirks say that fit what the template wrote.
/// Fails with json, value where a file of data/quirks is not well made.
Result<void> add_quirks(DerivedFormat& derived, const QuirkFacts& facts);

}  // namespace parlance::probe
