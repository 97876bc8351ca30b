// SIGINT, SIGTERM and SIGHUP for a run that ends in an orderly way: the first is taken down, the second ends the
// program.
#pragma once

namespace parlance::cli {

/// From its making on a first signal ends nothing but what waits for input. Each signal acts once; a second one of its
/// kind does what it did before. One that was ignored stays so. There is one at a time.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  /// The signal that came first; 0: none.
  int signal() const;
  /// Waits until a read of the file would return. False once a signal came.
  bool wait_for(int file) const;
};

/// Lets a write fail that cannot be done, in place of ending the program: past the limit of a file's size (SIGXFSZ),
/// and where nobody reads (SIGPIPE). Programs that are started get the usual behaviour.
void let_large_writes_fail();
void let_unread_writes_fail();

}  // namespace parlance::cli
