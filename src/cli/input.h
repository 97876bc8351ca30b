// What commands read: a file, or standard input for "-" and for nothing; .gz and .zst are unpacked on the way.
//
// Standard input can be one thing only: who asks for it a second time is told what it is already.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "cli/lines/archive.h"
#include "parlance/result.h"

namespace parlance::cli {

/// What to call an input in errors: its path, or "<stdin>".
std::string input_name(const std::string& path);
/// Is it standard input?
inline bool is_stdin(const std::string& path) { return path.empty() || path == "-"; }

/// All of an input, of an archive at most 256 MiB. `what` it is ("the request"), where two want standard input. Fails
/// with file, usage.
Result<std::string> read_input(const std::string& path, const char* what);

/// Writes all of it. False after a failure; errno says which.
bool write_all(int file, std::string_view bytes);

/// A file that something else reads, or a folder with the files of a model, counts as read too: an output in its place
/// would destroy it.
void count_as_read(const std::string& path);
/// Was the file read as an input, or is it being read, by this or another name?
bool has_read(const std::string& path);
/// The same of a file that is open.
bool has_read(int file);

/// An input piece by piece. An archive is unpacked by a thread of its own.
class InputStream {
 public:
  /// Fails with file, usage.
  static Result<InputStream> open(const std::string& path, const char* what);
  InputStream(InputStream&&) noexcept;
  InputStream& operator=(InputStream&&) noexcept;
  ~InputStream();

  /// Where the bytes come from; belongs to the stream.
  int file() const;
  /// Is it an archive by its name, or was unpack() called?
  bool is_unpacked() const;
  /// From here on, what comes from file() is unpacked; `begin` was read from it. Fails with file where this program has
  /// no library for it.
  Result<void> unpack(Packing packing, std::string begin);
  /// How much of the file was read, from 0 to 1, of an archive in its own bytes; below 0 where it has no size.
  double share() const;
  /// Call it when no more is to be read. Fails with file where an archive was damaged or cut off, so that its bytes
  /// were not all.
  Result<void> finish();

 private:
  struct State;
  explicit InputStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parlance::cli
