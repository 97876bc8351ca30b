// What commands share: errors on standard error with the exit code of errors.def, text on standard
// output.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "parlance/error.h"

namespace parlance::cli {

/// Shows an error on standard error; the exit code.
int report(const Error& error);
/// A line on standard error, "WHAT: TEXT", with what a terminal would obey shown as pictures: most texts have data in
/// them.
void say(std::string_view what, std::string_view text);
inline void say_note(std::string_view text) { say("note", text); }
/// In quotation marks, as JSON writes it, with what a terminal would obey or not show escaped too (U+009B, controls of
/// direction).
std::string in_quotes(std::string_view text);
/// Writes to standard output; the exit code, 0 or that of a failed write.
int print(std::string_view text);
/// The same for a text in pieces.
int print(std::span<const std::string_view> pieces);

}  // namespace parlance::cli
