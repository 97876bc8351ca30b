// Where a command's output goes: standard output, or the file of -o, packed where it ends in .gz or .zst.
//
// The file is opened when the first byte comes, so that a command that fails before leaves an older file as it was.
// A packed file has its name only once it is whole as an archive, with what came before where the command failed on its
// way.
#pragma once
#include <string>

#include "parlance/result.h"

namespace parlance::cli {

/// The file of -o; empty or "-": standard output.
std::string& output_path();
/// Is it a terminal that shows the output?
bool output_is_terminal();
/// Is it one that wants colours? The environment may say no (no-color.org, TERM=dumb).
bool output_shows_color();
/// To be called before standard output is written to: from then on it is the file. Fails with file; usage where it is
/// the file that is being read piece by piece.
Result<void> open_output();
/// To be called when all is written; the exit code, `code` or that of a failed write.
int finish_output(int code);

}  // namespace parlance::cli
