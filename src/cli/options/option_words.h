// The command line's words for what the library's hints name.
//
// The library names its own things, such as `the option split` and `the pass text-only`, which are true in every
// language. Who runs a command is told its options.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/losses.h"

namespace parlance::cli {

/// A hint with the command's options.
std::string in_options(std::string_view hint);
/// The same of an error's hint, and of those of losses.
Error in_options(const Error& error);
std::vector<Loss> in_options(std::vector<Loss> losses);

}  // namespace parlance::cli
