// Begin reading at ResidentRun::follow.
#include "agent/shell/resident_run.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "agent/sandbox/pipe.h"
#include "agent/sandbox/process_tree.h"

namespace parlance::agent {

namespace {

constexpr double kLook = 0.25;  // seconds between two looks at whether it waits for input
constexpr double kLost = 0.5;   // seconds at the prompt without a report
constexpr double kDrain = 2;    // seconds for output that is on its way

}  // namespace

void RunOutput::add(Stream stream, const std::string& bytes) {
  const bool is_out = stream == Stream::out;
  (is_out ? out_ : err_).add(bytes);
  show(stream, (is_out ? out_border_ : err_border_).whole(bytes));
}

void RunOutput::show(Stream stream, const std::string& text) const {
  if (options_.on_output && !text.empty()) options_.on_output(stream, text);
}

void RunOutput::finish(RunResult& result) {
  show(Stream::out, out_border_.rest());
  show(Stream::err, err_border_.rest());
  result.out = out_.finish();
  result.err = err_.finish();
}

std::optional<int> Stop::next_signal(double grace) {
  constexpr int kSignals[] = {SIGINT, SIGTERM, SIGKILL, kAll};
  if (seconds() <= grace * signals_) return std::nullopt;
  const int next = kSignals[signals_];
  if (next != kAll) ++signals_;
  return next;
}

ResidentRun::ResidentRun(Resident& resident, const RunOptions& options, std::string token)
    : resident_(resident),
      options_(options),
      token_(std::move(token)),
      after_line_(resident.line_of(resident.kind_.after_line, token_)),
      output_(options, OutputFiles(resident.sandbox_)),
      before_(resident.before_run()) {}

void ResidentRun::follow() {
  while (!resident_.ended()) {
    read_pipes();
    if (is_over()) break;
    check_limits();
    if (stop_.has_begun()) go_on_stopping();
    keep_going();
    if (!is_lost()) continue;
    was_lost_ = resident_.command_.was_opened();
    resident_.process_->kill();
  }
  if (resident_.ended() && !resident_.command_.was_opened()) stop_.never_ran();
}

void ResidentRun::take(Stream stream, const std::string& bytes) {
  if (bytes.empty()) return;
  output_.add(stream, bytes);
  quiet_since_ = Clock::now();
  waiting_.end();
}

/// Waits for one of the pipes, for a tick at most.
void ResidentRun::read_pipes() {
  pollfd watched[] = {{resident_.terminal_.ours(), POLLIN, 0},
                      {resident_.errors_.get(), POLLIN, 0},
                      {resident_.answers_.get(), POLLIN, 0},
                      {resident_.process_->end(), POLLIN, 0},
                      {stop_.has_begun() ? -1 : options_.cancel, POLLIN, 0}};
  if (poll(watched, 5, kTick) <= 0) return;
  if ((watched[0].revents & POLLIN) != 0) take(Stream::out, read_some(resident_.terminal_.ours()));
  if ((watched[1].revents & POLLIN) != 0) take(Stream::err, read_some(resident_.errors_.get()));
  if ((watched[2].revents & POLLIN) != 0) take_answers();
  if (watched[4].revents != 0) stop(RunEnd::cancelled);
}

/// A report is short. What is older than so many bytes is none: programs write to that pipe, too.
void ResidentRun::take_answers() {
  constexpr std::size_t kMost = 64 << 10;
  received_ += read_some(resident_.answers_.get());
  if (received_.size() <= kMost) return;
  received_.erase(0, received_.size() - kMost);
  was_flooded_ = true;
}

void ResidentRun::stop(RunEnd why) {
  if (stop_.has_begun()) return;
  stop_.begin(why);
  resident_.interrupt(SIGINT, before_);
}

void ResidentRun::check_limits() {
  if (seconds_since(begin_) > options_.timeout) stop(RunEnd::timed_out);
  if (output_.bytes() > options_.output.stop || was_flooded_) stop(RunEnd::too_much_output);
  if (seconds_since(quiet_since_) >= 1 && seconds_since(looked_) >= kLook) check_waiting();
}

void ResidentRun::check_waiting() {
  looked_ = Clock::now();
  if (!resident_.somebody_should_type(before_)) {
    waiting_.end();
  } else if (waiting_.seconds() > options_.patience) {
    stop(RunEnd::waits_for_input);
  }
}

/// A program that has stopped itself would come back for nobody. The watchdog stops all processes too, for as long as
/// it takes to end them.
void ResidentRun::keep_going() {
  constexpr double kLongest = 2;  // seconds
  if (resident_.group_ <= 0 || state_of(resident_.group_) != 'T') {
    stopped_.end();
  } else if (stopped_.seconds() > kLongest) {
    kill(resident_.group_, SIGCONT);
    was_stopped_ = true;
    stopped_.end();
  }
}

/// An interruption that has not helped yet.
void ResidentRun::go_on_stopping() {
  const std::optional<int> next = stop_.next_signal(options_.grace);
  if (next == Stop::kAll) return resident_.process_->kill();
  if (next) resident_.interrupt(*next, before_);
  // Where the program is back at its own loop, the interruption has cut off its report.
  const bool idle = resident_.terminal_.foreground() == resident_.group_ && stop_.seconds() > 0.2;
  const bool may_ask = idle && !resident_.kind_.after_line.empty() && seconds_since(asked_) > 0.4;
  if (may_ask && !resident_.has_left_readers(before_)) ask_for_report();
}

/// The last report. How the program ends counts more.
std::optional<Answer> ResidentRun::answer() const {
  const std::optional<Answer> end = answer_in(received_, resident_.token_of_start_);
  return end ? end : answer_in(received_, token_);
}

/// The report of a command; of one that was interrupted it counts once no program of it waits at the terminal any more,
/// where it would read what is typed for the next one. Nobody else can read lines that come by a pipe.
bool ResidentRun::is_over() const {
  const std::optional<Answer> last = answer();
  if (!last || last->ends()) return false;  // else wait for that
  return !stop_.has_begun() || resident_.lines_ || !resident_.has_left_readers(before_);
}

void ResidentRun::ask_for_report() {
  asked_ = Clock::now();
  ++times_asked_;
  resident_.type(after_line_);
}

/// Is the program at its prompt, and has not reported? Then the command was cut off by other means than ours (a program
/// of it has died of SIGINT, on which bash leaves all of the command), or what it runs and reports by is broken.
/// Between the line that was typed and its read() it does not wait, however busy the machine is.
bool ResidentRun::is_without_report() {
  if (resident_.kind_.has_prompt && waits_at_terminal_input(resident_.group_)) return at_prompt_.seconds() > kLost;
  at_prompt_.end();
  return false;
}

/// Where it is broken, it is asked in vain. A run that is being stopped is asked by go_on_stopping().
bool ResidentRun::is_lost() {
  constexpr int kTries = 3;  // an interruption cuts off a report that is whole
  if (!is_without_report()) return false;
  if (stop_.has_begun()) return times_asked_ >= kTries;
  const bool may_answer =
      resident_.command_.was_opened() && !resident_.kind_.after_line.empty() && times_asked_ < kTries;
  if (!may_answer) return true;
  ask_for_report();
  at_prompt_.end();
  return false;
}

/// What was written before the answer, and has not come out yet: a terminal hands on later than a pipe. So we write a
/// mark behind it, and read up to there.
void ResidentRun::drain_terminal() {
  const std::string mark = "\x1b]" + token_;
  std::size_t written = 0, at = std::string::npos;
  std::string held;
  const Clock::time_point since = Clock::now();
  while (at == std::string::npos && seconds_since(since) < kDrain) {
    const ssize_t size = ::write(resident_.terminal_.behind(), mark.data() + written, mark.size() - written);
    if (size > 0) written += static_cast<std::size_t>(size);
    pollfd watched{resident_.terminal_.ours(), POLLIN, 0};
    if (poll(&watched, 1, 5) <= 0) continue;
    held += read_some(resident_.terminal_.ours());
    at = held.find(mark);
    const std::size_t sure = at != std::string::npos ? at : held.size() - std::min(held.size(), mark.size());
    take(Stream::out, held.substr(0, sure));
    held.erase(0, sure);
  }
  if (at != std::string::npos) held.erase(0, mark.size());
  take(Stream::out, held);
}

void ResidentRun::drain_errors() {
  for (int round = 0; round < 64; ++round) {
    const std::string bytes = read_some(resident_.errors_.get());
    if (bytes.empty()) return;
    take(Stream::err, bytes);
  }
}

RunResult ResidentRun::finish() {
  RunResult result;
  result.seconds = seconds_since(begin_);
  drain_terminal();
  drain_errors();
  take_answers();
  result.end = stop_.why();
  if (resident_.ended()) {
    if (result.end == RunEnd::finished) result.end = RunEnd::program_ended;
    result.status = resident_.process_->status();
  }
  add_answer(result);
  add_notes(result);
  output_.finish(result);
  clean_errors(result);
  return result;
}

/// What it said as it ended counts, whatever a limit did to it behind that. Another signal had come before, and what it
/// said then is the status of the command before.
void ResidentRun::add_answer(RunResult& result) {
  const std::optional<Answer> last = answer();
  if (!last) return;
  const bool has_ended = resident_.ended();
  const bool by_signal = result.status && *result.status > 128 && *result.status != 128 + SIGKILL;
  if (!result.status || (last->ends() && !by_signal)) result.status = std::atoi(last->status.c_str());
  const std::string saved = resident_.token_of_start_ + "saved" + '\0';
  result.saved = has_ended && last->ends() && received_.find(saved) != std::string::npos;
  result.folder = last->folder;
  if (!has_ended) result.background_jobs = last->job_numbers();
  resident_.keep_letters(last->letters);
}

void ResidentRun::add_notes(RunResult& result) const {
  const std::string& title = resident_.kind_.title;
  result.notes = resident_.process_->take_notes();
  note_file_size(result, resident_.sandbox_);
  if (!stop_.has_begun() && times_asked_ > 0 && result.status == 128 + SIGINT)
    result.notes.push_back("A program was ended by SIGINT, and the rest of the command was left out.");
  if (was_flooded_)
    result.notes.push_back(title + " tells the end of a command by a pipe, and a program wrote too much to it.");
  if (was_lost_) result.notes.push_back(title + " could run nothing any more behind that, and was ended.");
  if (was_stopped_) result.notes.push_back(title + " had stopped itself, and was told to go on.");
}

/// With `set -v` bash shows what was typed behind an interruption, and it ends its line at each one.
void ResidentRun::clean_errors(RunResult& result) const {
  std::string& text = result.err.text;
  if (times_asked_ > 0) text = with_words(std::move(text), after_line_ + "\n", "");
  const bool was_interrupted = stop_.has_begun() || times_asked_ > 0;
  const bool is_blank = text.find_first_not_of("\r\n") == std::string::npos;
  if (was_interrupted && is_blank) text.clear();
}

}  // namespace parlance::agent
