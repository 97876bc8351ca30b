// ResidentRun: one run of a resident program, from the line that is typed to the program's answer.
//
// It reads what comes, and looks between two ticks at what may have gone wrong: a limit, a program that waits for
// somebody who types, one that has stopped itself, a report that was cut off. Begin reading at follow().
#pragma once
#include <optional>
#include <string>

#include "agent/shell/answer.h"
#include "agent/shell/character_border.h"
#include "agent/shell/clock.h"
#include "agent/shell/output_files.h"
#include "agent/shell/resident.h"

namespace parlance::agent {

/// What a run writes: it is kept, and shown as it comes.
class RunOutput {
 public:
  RunOutput(const RunOptions& options, const OutputFiles& files)
      : options_(options), out_(files.capture(options.output, ".out")), err_(files.capture(options.output, ".err")) {}
  void add(Stream stream, const std::string& bytes);
  std::uint64_t bytes() const { return out_.bytes() + err_.bytes(); }
  /// At the end: shows what is no character, and gives both to the result.
  void finish(RunResult& result);

 private:
  void show(Stream stream, const std::string& text) const;

  const RunOptions& options_;
  Capture out_, err_;
  CharacterBorder out_border_{}, err_border_{};
};

/// How a run is being stopped: why, and which signal is next.
class Stop {
 public:
  bool has_begun() const { return signals_ > 0; }
  RunEnd why() const { return why_; }
  double seconds() const { return seconds_since(since_); }
  /// The first signal is sent now.
  void begin(RunEnd why) {
    why_ = why;
    signals_ = 1;
    since_ = Clock::now();
  }
  /// Where each signal had so many seconds, the next one, once: SIGKILL is the last, and behind it comes kAll.
  std::optional<int> next_signal(double grace);
  /// Whatever it was stopped for, it never began.
  void never_ran() { why_ = RunEnd::never_ran; }

  static constexpr int kAll = 0;  ///< all of the sandbox is to be ended

 private:
  RunEnd why_ = RunEnd::finished;
  int signals_ = 0;  ///< that were sent
  Clock::time_point since_{};
};

/// How long something has been so; it is looked at again and again.
class Lasting {
 public:
  void end() { since_ = {}; }
  /// It is so now. The seconds for which it has been; 0 where it was not so before.
  double seconds() {
    if (since_ != Clock::time_point{}) return seconds_since(since_);
    since_ = Clock::now();
    return 0;
  }

 private:
  Clock::time_point since_{};
};

class ResidentRun {
 public:
  ResidentRun(Resident& resident, const RunOptions& options, std::string token);
  /// Until the program has answered, or has ended.
  void follow();
  RunResult finish();

 private:
  void take(Stream stream, const std::string& bytes);
  void take_answers();
  void read_pipes();
  void stop(RunEnd why);
  void check_limits();
  void check_waiting();
  void keep_going();
  void go_on_stopping();
  std::optional<Answer> answer() const;
  bool is_over() const;
  void ask_for_report();
  bool is_without_report();
  bool is_lost();
  void drain_terminal();
  void drain_errors();
  void add_answer(RunResult& result);
  void add_notes(RunResult& result) const;
  void clean_errors(RunResult& result) const;

  Resident& resident_;
  const RunOptions& options_;
  std::string token_, after_line_;
  RunOutput output_;
  std::string received_{};  ///< at the pipe of answers
  Clock::time_point begin_ = Clock::now();
  Before before_;
  Stop stop_{};
  Clock::time_point quiet_since_ = begin_, looked_ = begin_;
  Lasting waiting_{};    ///< for somebody who types
  Lasting stopped_{};    ///< the program itself
  Lasting at_prompt_{};  ///< without a report
  Clock::time_point asked_{};
  int times_asked_ = 0;  ///< for a report that was cut off
  bool was_stopped_ = false;
  bool was_flooded_ = false;  ///< at the pipe of answers
  bool was_lost_ = false;     ///< it was ended by us, as it could report nothing any more
};

}  // namespace parlance::agent
