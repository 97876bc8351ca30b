// Resident: a program that stays in the sandbox and runs one text after the other: bash, or Python with our driver.
//
// How it and we talk, so that no output can pass for the end of a command:
//
//   NAME.command   a file: the text to run
//   terminal       we type one line, which makes the program run the file; the text's standard output comes here
//   NAME.lines     for a program that shares its group with those that it starts, which would read from the terminal
//                  what we type: a pipe that the line comes through instead. It opens it once, at its start, and
//                  then nobody can open it any more. The first line is the token that it is started with
//   NAME.errors    a pipe with a name: its standard error
//   NAME.answers   a pipe with a name: at the end the program writes the token of this command and four fields, each
//                  with a zero behind it: the status; letters, of which some are kept for the next run; the folder,
//                  with the end of a line; the numbers of the jobs that run, a line each. If the program itself ends,
//                  it does so with the token that it was started with, and the last field is "ends"; behind that
//                  comes this token with "saved" at its end, if it has saved its state
//
// A token is in no file and in no command line, so that what an earlier command has left cannot have that of a later
// one: it comes with the line that we type, and the program keeps it in its memory alone.
//
// All lie in the session's folder `control`, which programs cannot change, and but for NAME.lines are opened by name
// for each command: so the command has no descriptor of ours that it could close, and none stays with what it starts in
// the background.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/sandbox/process_tree.h"
#include "agent/sandbox/sandbox.h"
#include "agent/shell/capture.h"
#include "agent/shell/open_watch.h"
#include "agent/shell/terminal.h"

namespace parlance::agent {

/// How a run came to its end.
enum class RunEnd : std::uint8_t {
  finished,
  timed_out,
  cancelled,
  waits_for_input,  ///< it read from the terminal, where nobody types
  too_much_output,
  program_ended,  ///< the shell itself has ended, and with it all that ran in it
  never_ran,      ///< the program ended, or was ended, before it could even begin it
};

/// "finished", "timed_out"…
const char* name_of(RunEnd end);

enum class Stream : std::uint8_t { out, err };

struct RunOptions {
  double timeout = 120;  ///< seconds
  double grace = 1.5;    ///< seconds between SIGINT, SIGTERM and SIGKILL
  double patience = 5;   ///< seconds that it may wait for somebody who types
  OutputLimits output{};
  /// Is given the output as it comes, raw, in pieces that end with a whole character.
  std::function<void(Stream, std::string_view)> on_output{};
  int cancel = -1;  ///< a descriptor; the run is interrupted when it can be read
};

/// What a run left.
struct RunResult {
  RunEnd end = RunEnd::finished;
  std::optional<int> status{};  ///< of the last command; 128 and a signal's number where a signal ended it
  Output out{};
  Output err{};
  double seconds = 0;
  bool saved = false;                  ///< it ended, and said that it has saved what the next one is to have
  std::string folder{};                ///< where the program is now; "": unknown
  std::vector<int> background_jobs{};  ///< processes that it has left, by the numbers it knows them by
  std::vector<std::string> notes{};    ///< what the sandbox's limits did, in sentences
};

/// "Python ended with exit status 3", of a run that ended with its program.
std::string how_it_ended(std::string_view program, const RunResult& run);

/// A sentence among the run's notes, where the limit of a file's size has ended its last program.
void note_file_size(RunResult& run, const Sandbox& sandbox);

/// What program it is.
struct ResidentKind {
  std::string name{};                  ///< of its files in the folder
  std::string title{};                 ///< for people: "Python"
  std::vector<std::string> command{};  ///< with arguments
  /// The line that makes it run the command. `{}` stands for the token, `{kept}` for letters of the last answer.
  std::string run_line{};
  /// Typed where the run's own report was cut off, by an interruption or a program that died of SIGINT; "": it never
  /// is.
  std::string after_line{};
  /// Those of these letters that are in an answer's second field stand for `{kept}` in the line of the next run.
  std::string kept{};
  /// Its lines come through NAME.lines, and not from the terminal.
  bool has_lines = false;
  /// Its commands have another standard input than itself: where it reads its own, it is at its prompt.
  bool has_prompt = false;
  /// Files to write before it starts, as name and text. The one that is called "start" has `{}` for the token that it
  /// starts with, and is gone once it has.
  std::vector<std::pair<std::string, std::string>> scripts{};
};

/// What was there before a run. The clock alone is too coarse: what the command just before has started may have begun
/// within the same tick.
struct Before {
  std::uint64_t ticks = 0;
  std::set<int> processes{};
  bool has(const ProcessFacts& facts) const {
    return facts.begun < ticks || (facts.begun == ticks && processes.contains(facts.pid));  // numbers come again
  }
};

class Resident {
 public:
  /// Starts the program, and waits until it is ready.
  /// Fails with: file; usage (it does not start; with what it said).
  static Result<std::unique_ptr<Resident>> start(const Sandbox& sandbox, ResidentKind kind, const std::string& folder);

  /// Fails with: file.
  Result<RunResult> run(const std::string& text, const RunOptions& options);

  bool ended() { return process_->status().has_value(); }
  /// Do programs run beside it, which it has started and which may have left it?
  bool has_others() const;

 private:
  friend class ResidentRun;
  explicit Resident(const Sandbox& sandbox, ResidentKind kind) : sandbox_(sandbox), kind_(std::move(kind)) {}
  Result<void> open_pipes();
  Result<void> launch(const std::string& folder);
  Result<void> open_lines();
  void hide_lines() const;
  void type(const std::string& line) const;
  Result<void> write_scripts();
  std::string line_of(const std::string& line, const std::string& token) const;
  std::string path(const std::string& ending) const;
  void keep_letters(const std::string& letters);
  Before before_run() const;
  std::vector<ProcessFacts> in_foreground(const Before& before) const;
  bool has_left_readers(const Before& before) const;
  void interrupt(int signal, const Before& before) const;
  bool somebody_should_type(const Before& before) const;
  void wait_for_prompt();

  const Sandbox& sandbox_;
  ResidentKind kind_;
  Terminal terminal_;
  Descriptor errors_, answers_, lines_;
  OpenWatch command_;  ///< of the file with the run's text
  std::unique_ptr<SandboxedProcess> process_;
  int group_ = 0;      ///< of the program itself, in the terminal's foreground when nothing else is
  std::set<int> own_;  ///< processes: the program, and what keeps it in the sandbox
  std::string kept_;   ///< of the last answer: ResidentKind::kept
  std::string token_of_start_;
};

}  // namespace parlance::agent
