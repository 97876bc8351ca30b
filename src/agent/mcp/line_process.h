// LineProcess: a program in the sandbox that is spoken to in lines, over its standard input and output. What it writes
// is not trusted: lines are bounded, and no call waits longer than it may.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/sandbox/pipe.h"
#include "agent/sandbox/sandbox.h"

namespace parlance::agent {

/// How long somebody waits.
struct Patience {
  std::chrono::steady_clock::time_point until{};
  int cancel = -1;  ///< a descriptor; waiting ends when it can be read

  static Patience seconds(double seconds, int cancel = -1);
  /// The same for something that may take so long at most.
  Patience at_most(double seconds) const;
  bool is_cancelled() const;
  /// Cancelled, or the time is over.
  bool is_over() const;
};

/// Why a line has not come, or was not taken.
enum class LineEnd : std::uint8_t {
  none,  ///< it has
  timed_out,
  cancelled,
  ended,     ///< the program has ended, or closed its output
  too_long,  ///< it writes a line past the limit: nothing more is read of it
  given_up,  ///< by who reads it
};

class LineProcess {
 public:
  /// `log` gets the program's standard error as it comes. `sandbox` must outlive it.
  /// Fails with: file.
  static Result<std::unique_ptr<LineProcess>> start(const Sandbox& sandbox, const Launch& launch,
                                                    std::function<void(std::string_view)> log);

  /// Writes a line; what the program writes meanwhile is kept. Where a line is torn, as its time is over or somebody
  /// cancels it, the process is done with: nobody could read what came behind it.
  LineEnd write(std::string line, const Patience& patience);
  /// The next line, without its end. Once the time is over, only of what was taken before.
  LineEnd read(std::string& line, const Patience& patience);
  /// A line that was taken already.
  bool read_now(std::string& line);
  /// Takes some of what is there, without waiting. False: there is nothing more.
  bool take_written();

  /// What it writes is of no use: it is done with.
  void give_up() { over_ = LineEnd::given_up; }
  /// It may still run, but is done with: its output has ended or is too long, or it was given up.
  bool is_over() const { return over_ != LineEnd::none; }
  /// The last of its standard error.
  const std::string& last_errors() const { return errors_tail_; }
  /// Its exit status once it has ended, and what the sandbox's limits did.
  std::optional<int> status() { return process_->status(); }
  std::vector<std::string> take_notes() { return process_->take_notes(); }

  /// Closes its standard input, which asks it to end.
  void begin_close() { input_.writer.close(); }
  /// Waits for its end a while, then sends SIGTERM, then SIGKILL.
  void close();

 private:
  LineProcess() = default;
  void wait(const Patience& patience, bool to_write);
  void take_output();
  void take_errors();
  void drain_until(double seconds);

  std::unique_ptr<SandboxedProcess> process_;
  Pipe input_, output_, errors_;
  std::function<void(std::string_view)> log_;
  std::string pending_;  ///< of its output; from begin_ on nothing was read yet
  std::size_t begin_ = 0;
  std::size_t searched_ = 0;  ///< of pending_, for the end of a line
  std::string errors_tail_;
  LineEnd over_ = LineEnd::none;
};

}  // namespace parlance::agent
