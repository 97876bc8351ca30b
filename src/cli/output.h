// Where a command's output goes: standard output, or the file of -o, packed where it ends in .gz or .zst.
//
// The file is opened when the first byte comes, so that a command that fails before leaves an older file as it was.
// A packed file has its name only once it is whole as an archive, with what came before where the command failed on its
// way.
#pragma once
#include <string>
#include <string_view>

#include "parlance/result.h"

namespace parlance::cli {

/// The file of -o; empty or "-": standard output.
std::string& output_path();
/// Is it standard output?
bool output_is_stdout();
/// Is the file of -o to be added to, where it is there?
bool& output_appends();
/// Does what was written stay, where the rest cannot be? An archive that is cut does not.
bool output_is_kept();
/// Is it a terminal that shows the output?
bool output_is_terminal();
/// Is it one that wants colours? The environment may say no (no-color.org, TERM=dumb).
bool output_shows_color();
/// To be called before standard output is written to: from then on it is the file. Fails with file; usage where
/// the file was read as an input, or its name promises another packing.
Result<void> open_output();
/// The error of writing to it, which names it; finish_output() says no more of it then.
Error output_error(int number);
/// The number of that error; 0: there was none.
int output_failure();
/// Writes whole lines, with write() alone. Fails with file; in a file there is none of them then, and what was written
/// before ends with a whole line.
Result<void> write_lines(std::string_view lines);
/// To be called when all is written; the exit code, `code` or that of a failed write.
int finish_output(int code);

}  // namespace parlance::cli
