// A packed file that is being written: what ends the program leaves no archive that is cut.
#pragma once
#include <sys/types.h>

#include <string>

namespace parlance::cli {

/// Makes one of these: a file that has its name once it is whole, and stands beside it until then; or what is added to
/// an archive, which is taken back where it does not become whole.
class UnfinishedFile {
 public:
  /// The open file; -1 where it cannot stand there: the folder takes none, it is no file (a pipe, a device), or a file
  /// that a new one would not be: one of several names, or of an owner whom it cannot be given to.
  int open(const std::string& path);
  static constexpr int kTaken = -2;  ///< what open() returns where another run writes it
  /// From now on what is behind the end of this file is what is added to it.
  void add_to(int file);
  /// Gives it its name, or takes it away. What cannot be replaced, such as a file that is a mount point, gets its
  /// bytes. 0, or the failure.
  int finish(bool is_whole);
  /// Where the bytes are that could not be brought to their place; "": there are none.
  const std::string& left() const { return left_; }

 private:
  int copy();
  int finish_added(bool is_whole);
  static void undo(int number);
  static void undo_at_signals();

  std::string path_, unfinished_, left_;
  static inline const char* volatile name_ = nullptr;  ///< for the handler of signals
  static inline volatile int added_to_ = -1;
  static inline volatile off_t size_before_ = 0;
};

}  // namespace parlance::cli
