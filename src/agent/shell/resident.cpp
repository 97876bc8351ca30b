// Begin reading at Resident::run.
#include "agent/shell/resident.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "agent/sandbox/pipe.h"
#include "agent/sandbox/process_tree.h"
#include "agent/shell/character_border.h"
#include "agent/shell/output_files.h"

namespace parlance::agent {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kStart = 20;   // seconds in which the program must be ready
constexpr double kLook = 0.25;  // seconds between two looks at whether it waits for input
constexpr double kLost = 0.5;   // seconds at the prompt without a report
constexpr double kBack = 0.1;   // seconds between a report and the prompt
constexpr double kDrain = 2;    // seconds for output that is on its way
constexpr int kTick = 50;       // milliseconds
constexpr int kNoPipe = -1;     // in the place of the program's standard error
constexpr std::string_view kStartFile = "start";

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Nobody can guess it.
std::string random_token() {
  unsigned char bytes[16];
  while (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) continue;
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

std::string with_words(std::string text, std::string_view word, const std::string& value) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + value.size()))
    text.replace(at, word.size(), value);
  return text;
}

std::string with_token(std::string text, const std::string& token) { return with_words(std::move(text), "{}", token); }

Result<Descriptor> open_pipe(const std::string& path) {
  unlink(path.c_str());
  if (mkfifo(path.c_str(), 0600) != 0) return system_error(path, errno);
  // Both ends are ours as well, so that it never ends, whoever closes his.
  Descriptor pipe(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!pipe) return system_error(path, errno);
  return pipe;
}

/// An answer, as resident.h has it.
struct Answer {
  std::string status, letters, folder, jobs;
  bool ends() const { return jobs == "ends"; }
};

/// The last one with this token: an interruption may have cut off those before. Unset: it has not come, or not whole.
std::optional<Answer> answer_in(const std::string& received, const std::string& token) {
  std::size_t from = received.rfind(token + '\0');
  if (from == std::string::npos) return std::nullopt;
  from += token.size() + 1;
  Answer answer;
  for (std::string* field : {&answer.status, &answer.letters, &answer.folder, &answer.jobs}) {
    const std::size_t to = received.find('\0', from);
    if (to == std::string::npos) return std::nullopt;
    *field = received.substr(from, to - from);
    from = to + 1;
  }
  if (answer.folder.ends_with('\n')) answer.folder.pop_back();
  return answer;
}

std::vector<int> numbers_in(const std::string& lines) {
  std::vector<int> numbers;
  for (const char* at = lines.c_str(); *at != 0;) {
    char* end = nullptr;
    const long number = std::strtol(at, &end, 10);
    if (end == at) break;
    numbers.push_back(static_cast<int>(number));
    at = end;
  }
  return numbers;
}

}  // namespace

const char* name_of(RunEnd end) {
  constexpr const char* kNames[] = {"finished",        "timed_out",     "cancelled", "waits_for_input",
                                    "too_much_output", "program_ended", "never_ran"};
  return kNames[static_cast<std::size_t>(end)];
}

std::string Resident::path(const std::string& ending) const {
  return sandbox_.folder().control() + "/" + kind_.name + "." + ending;
}

Result<void> Resident::open_pipes() {
  Result<Terminal> terminal = Terminal::open();
  if (!terminal) return terminal.error();
  terminal_ = std::move(*terminal);
  for (const auto& [ending, pipe] : {std::pair{"errors", &errors_}, std::pair{"answers", &answers_}}) {
    Result<Descriptor> opened = open_pipe(path(ending));
    if (!opened) return opened.error();
    *pipe = std::move(*opened);
  }
  return kind_.has_lines ? open_lines() : Result<void>();
}

Result<void> Resident::open_lines() {
  Result<Descriptor> opened = open_pipe(path("lines"));
  if (!opened) return opened.error();
  lines_ = std::move(*opened);
  return {};
}

/// The program has opened it. Whoever opens it now, also by way of the program's descriptors, could read the tokens.
void Resident::hide_lines() const {
  if (!lines_) return;
  fchmod(lines_.get(), 0);
  unlink(path("lines").c_str());
}

/// What was typed and not read is gone.
void Resident::type(const std::string& line) const {
  terminal_.reset();
  if (!lines_) {
    terminal_.type(line);
    return;
  }
  while (!read_some(lines_.get()).empty()) continue;
  const std::string text = line + "\n";
  // It is empty, and a pipe takes a short line whole.
  [[maybe_unused]] const ssize_t written = ::write(lines_.get(), text.data(), text.size());
}

Result<void> Resident::write_scripts() {
  Result<void> done;
  for (const auto& [ending, script] : kind_.scripts)
    if (done) done = write_file(path(ending), ending == kStartFile ? with_token(script, token_of_start_) : script);
  return done;
}

std::string Resident::line_of(const std::string& line, const std::string& token) const {
  return with_token(with_words(line, "{kept}", kept_), token);
}

/// One run, from the typed line to the program's answer.
struct Resident::Run {
  Resident& resident;
  const RunOptions& options;
  std::string token, after_line;
  Capture out, err;
  CharacterBorder out_border{}, err_border{};
  std::string received{};  ///< at the pipe of answers
  RunEnd reason = RunEnd::finished;
  Clock::time_point begin = Clock::now();
  Before before = resident.before_run();
  Clock::time_point quiet_since = begin, waits_since{}, looked = begin, interrupted{}, typed{};
  Clock::time_point stopped_since{};  ///< the program itself; none while it is not
  int stage = 0;                      ///< 0: runs; then the signals that it was sent
  Clock::time_point at_prompt_since{};
  int times_typed = 0;  ///< the line after an interruption
  bool was_stopped = false;
  bool was_lost = false;  ///< it was ended by us, as it could report nothing any more

  void take(Stream stream, const std::string& bytes) {
    if (bytes.empty()) return;
    (stream == Stream::out ? out : err).add(bytes);
    quiet_since = Clock::now();
    waits_since = {};
    show(stream, (stream == Stream::out ? out_border : err_border).whole(bytes));
  }

  void show(Stream stream, const std::string& text) const {
    if (options.on_output && !text.empty()) options.on_output(stream, text);
  }

  /// Waits for one of the pipes, for a tick at most.
  void read_pipes() {
    pollfd watched[] = {{resident.terminal_.ours(), POLLIN, 0},
                        {resident.errors_.get(), POLLIN, 0},
                        {resident.answers_.get(), POLLIN, 0},
                        {resident.process_->end(), POLLIN, 0},
                        {stage == 0 ? options.cancel : -1, POLLIN, 0}};
    if (poll(watched, 5, kTick) <= 0) return;
    if ((watched[0].revents & POLLIN) != 0) take(Stream::out, read_some(resident.terminal_.ours()));
    if ((watched[1].revents & POLLIN) != 0) take(Stream::err, read_some(resident.errors_.get()));
    if ((watched[2].revents & POLLIN) != 0) received += read_some(resident.answers_.get());
    if (watched[4].revents != 0) stop(RunEnd::cancelled);
  }

  void stop(RunEnd why) {
    if (stage != 0) return;
    reason = why;
    stage = 1;
    interrupted = Clock::now();
    resident.interrupt(SIGINT, before);
  }

  void check_limits() {
    if (seconds_since(begin) > options.timeout) stop(RunEnd::timed_out);
    if (out.bytes() + err.bytes() > options.output.stop) stop(RunEnd::too_much_output);
    if (seconds_since(quiet_since) < 1 || seconds_since(looked) < kLook) return;
    looked = Clock::now();
    if (!resident.somebody_should_type(before)) {
      waits_since = {};
    } else if (waits_since == Clock::time_point{}) {
      waits_since = looked;
    } else if (seconds_since(waits_since) > options.patience) {
      stop(RunEnd::waits_for_input);
    }
  }

  /// A program that has stopped itself would come back for nobody. The watchdog stops all processes too, for as long as
  /// it takes to end them.
  void keep_going() {
    constexpr double kLongest = 2;  // seconds
    if (resident.group_ <= 0 || state_of(resident.group_) != 'T') {
      stopped_since = {};
    } else if (stopped_since == Clock::time_point{}) {
      stopped_since = Clock::now();
    } else if (seconds_since(stopped_since) > kLongest) {
      kill(resident.group_, SIGCONT);
      was_stopped = true;
      stopped_since = {};
    }
  }

  /// An interruption that has not helped yet.
  void go_on_stopping() {
    constexpr int kSignals[] = {SIGINT, SIGTERM, SIGKILL};
    const double since = seconds_since(interrupted);
    if (since > options.grace * stage) {
      if (stage == 3) return resident.process_->kill();
      resident.interrupt(kSignals[stage++], before);
    }
    // Where the program is back at its own loop, the interruption has cut off its report.
    const bool idle = resident.terminal_.foreground() == resident.group_ && since > 0.2;
    const bool may_ask = idle && !resident.kind_.after_line.empty() && seconds_since(typed) > 0.4;
    if (may_ask && !resident.has_left_readers(before)) ask_for_report();
  }

  /// The last report. How the program ends counts more.
  std::optional<Answer> answer() const {
    const std::optional<Answer> end = answer_in(received, resident.token_of_start_);
    return end ? end : answer_in(received, token);
  }

  /// The report of a command; of one that was interrupted it counts once no program of it waits at the terminal any
  /// more, where it would read what is typed for the next one. Nobody else can read lines that come by a pipe.
  bool is_over() const {
    const std::optional<Answer> last = answer();
    if (!last || last->ends()) return false;  // else wait for that
    return stage == 0 || resident.lines_ || !resident.has_left_readers(before);
  }

  void ask_for_report() {
    typed = Clock::now();
    ++times_typed;
    resident.type(after_line);
  }

  /// Is the program at its prompt, and has not reported? Then the command was cut off by other means than ours (a
  /// program of it has died of SIGINT, on which bash leaves all of the command), or what it runs and reports by is
  /// broken. Between the line that was typed and its read() it does not wait, however busy the machine is.
  bool is_without_report() {
    if (!resident.kind_.has_prompt || !waits_at_terminal_input(resident.group_)) {
      at_prompt_since = {};
      return false;
    }
    if (at_prompt_since == Clock::time_point{}) at_prompt_since = Clock::now();
    return seconds_since(at_prompt_since) > kLost;
  }

  /// Where it is broken, it is asked in vain. A run that is being stopped is asked by go_on_stopping().
  bool is_lost(bool has_begun) {
    constexpr int kTries = 3;  // an interruption cuts off a report that is whole
    if (!is_without_report()) return false;
    const bool may_answer = has_begun && !resident.kind_.after_line.empty() && times_typed < kTries;
    if (stage != 0 || !may_answer) return stage == 0 || times_typed >= kTries;
    ask_for_report();
    at_prompt_since = {};
    return false;
  }

  /// What was written before the answer, and has not come out yet: a terminal hands on later than a pipe. So we write a
  /// mark behind it, and read up to there.
  void drain() {
    const std::string mark = "\x1b]" + token;
    std::size_t written = 0, at = std::string::npos;
    std::string held;
    const Clock::time_point since = Clock::now();
    while (at == std::string::npos && seconds_since(since) < kDrain) {
      const ssize_t size = ::write(resident.terminal_.behind(), mark.data() + written, mark.size() - written);
      if (size > 0) written += static_cast<std::size_t>(size);
      pollfd watched{resident.terminal_.ours(), POLLIN, 0};
      if (poll(&watched, 1, 5) <= 0) continue;
      held += read_some(resident.terminal_.ours());
      at = held.find(mark);
      const std::size_t sure = at != std::string::npos ? at : held.size() - std::min(held.size(), mark.size());
      take(Stream::out, held.substr(0, sure));
      held.erase(0, sure);
    }
    if (at != std::string::npos) held.erase(0, mark.size());
    take(Stream::out, held);
    for (int round = 0; round < 64; ++round) {
      const std::string bytes = read_some(resident.errors_.get());
      if (bytes.empty()) break;
      take(Stream::err, bytes);
    }
  }
};

Before Resident::before_run() const {
  Before before;
  for (const ProcessFacts& facts : processes_below(process_->root(), own_)) before.processes.insert(facts.pid);
  before.ticks = ticks_now();
  return before;
}

/// The programs that have the terminal, without the program itself. In its own group these are what the run has
/// started: others are there from before, in the background, and so is what those start.
std::vector<ProcessFacts> Resident::in_foreground(const Before& before) const {
  const int foreground = terminal_.foreground();
  const int group = foreground > 0 ? foreground : group_;
  std::vector<ProcessFacts> found = processes_below(process_->root(), own_);
  std::set<int> old;
  for (const ProcessFacts& facts : found)  // parents come before what they have started
    if (facts.pid != group_ && (before.has(facts) || old.contains(facts.parent))) old.insert(facts.pid);
  std::erase_if(found, [&](const ProcessFacts& facts) {
    const bool is_old = group == group_ && old.contains(facts.pid);
    return facts.group != group || facts.pid == group_ || facts.state == 'Z' || is_old;
  });
  return found;
}

/// Who only runs there takes no line: in the shell's own group are also the programs in the background that a command
/// substitution or a shell without job control has started.
bool Resident::has_left_readers(const Before& before) const {
  return std::ranges::any_of(in_foreground(before),
                             [](const ProcessFacts& facts) { return waits_for_input(facts.pid, kNoPipe); });
}

/// In the program's own group who waits at the terminal is in the foreground, and gets the signal. The others get
/// SIGINT, but not those that have lost their parent in a shell: a command substitution that has ended left them in the
/// background. Those behind `set +m` ignore it.
void Resident::interrupt(int signal, const Before& before) const {
  // The program itself is told, too, or it would go on with the next line of the command.
  if (group_ > 0) kill(group_, SIGCONT);
  if (group_ > 0) kill(group_, SIGINT);
  const int group = terminal_.foreground();
  if (group > 0 && group != group_) kill(-group, signal);  // all at once, as some may begin others
  std::set<int> tree{group_};
  for (const ProcessFacts& facts : in_foreground(before)) {
    if (facts.group != group_) continue;
    const bool is_reader = waits_for_input(facts.pid, kNoPipe);
    const bool is_below = tree.contains(facts.parent);
    if (is_below) tree.insert(facts.pid);
    if (is_reader || is_below || !kind_.has_prompt) kill(facts.pid, is_reader ? signal : SIGINT);
  }
}

/// At its prompt the program waits for us.
bool Resident::somebody_should_type(const Before& before) const {
  const bool is_at_prompt = kind_.has_prompt && waits_at_terminal_input(group_);
  const bool is_itself = terminal_.foreground() == group_ && !is_at_prompt && waits_for_input(group_, errors_.get());
  return is_itself || std::ranges::any_of(in_foreground(before), [this](const ProcessFacts& facts) {
           return waits_for_input(facts.pid, errors_.get());
         });
}

Result<void> Resident::launch(const std::string& folder) {
  const std::string token = token_of_start_ = random_token();
  if (Result<void> written = write_scripts(); !written) return written;
  Launch launch;
  for (const std::string& part : kind_.command) launch.command.push_back(with_token(part, token));
  launch.environment = sandbox_.environment();
  launch.folder = folder;
  launch.in = launch.out = terminal_.theirs();
  launch.err = errors_.get();
  launch.terminal = true;
  // The program has its own end of the pipe, as ours does not wait.
  const Descriptor errors(open(path("errors").c_str(), O_RDWR | O_CLOEXEC));
  if (errors) launch.err = errors.get();
  Result<std::unique_ptr<SandboxedProcess>> process = sandbox_.start(launch);
  if (!process) return process.error();
  process_ = std::move(*process);
  std::string received, said;
  const Clock::time_point begin = Clock::now();
  while (!answer_in(received, token)) {
    pollfd watched[] = {{answers_.get(), POLLIN, 0}, {process_->end(), POLLIN, 0}};
    poll(watched, 2, kTick);
    received += read_some(answers_.get());
    said += read_some(errors_.get());
    if (ended() || seconds_since(begin) > kStart) {
      return Error(ErrorCode::usage,
                   kind_.name + " does not start in the sandbox: " + (said.empty() ? "it said nothing" : said));
    }
  }
  group_ = outer_pid(process_->root(), std::atoi(answer_in(received, token)->status.c_str()));
  for (const ProcessFacts& facts : processes_below(process_->root())) own_.insert(facts.pid);
  read_some(errors_.get());
  hide_lines();
  unlink(path(std::string(kStartFile)).c_str());
  return {};
}

bool Resident::has_others() const {
  return std::ranges::any_of(processes_below(process_->root(), own_),
                             [](const ProcessFacts& facts) { return facts.state != 'Z'; });
}

Result<std::unique_ptr<Resident>> Resident::start(const Sandbox& sandbox, ResidentKind kind,
                                                  const std::string& folder) {
  std::unique_ptr<Resident> resident(new Resident(sandbox, std::move(kind)));
  if (Result<void> opened = resident->open_pipes(); !opened) return opened.error();
  if (Result<void> launched = resident->launch(folder); !launched) return launched.error();
  return resident;
}

std::string how_it_ended(std::string_view program, const RunResult& run) {
  std::string text = std::string(program) + " ended";
  if (!run.status) return text;
  text += " with exit status " + std::to_string(*run.status);
  constexpr int kBySignal = 128, kMostSignals = 64;
  const int signal = *run.status - kBySignal;
  if (signal > 0 && signal <= kMostSignals)
    text += " (128 + signal " + std::to_string(signal) + ", " + ::strsignal(signal) + ")";
  return text;
}

void note_file_size(RunResult& run, const Sandbox& sandbox) {
  if (run.status != 128 + SIGXFSZ) return;
  run.notes.push_back("A program was ended: a file would have become larger than " +
                      std::to_string(sandbox.policy().limits.file_size >> 20U) + " MiB, which is the limit.");
}

Result<RunResult> Resident::run(const std::string& text, const RunOptions& options) {
  const std::string token = random_token();
  if (Result<void> written = write_file(path("command"), text); !written) return written.error();
  const OutputFiles files(sandbox_);
  read_some(answers_.get());
  Run run{*this,
          options,
          token,
          line_of(kind_.after_line, token),
          files.capture(options.output, ".out"),
          files.capture(options.output, ".err")};
  command_.begin(path("command"));
  type(line_of(kind_.run_line, token));
  while (!ended()) {
    run.read_pipes();
    if (run.is_over()) break;
    run.check_limits();
    if (run.stage != 0) run.go_on_stopping();
    run.keep_going();
    if (!run.is_lost(command_.was_opened())) continue;
    run.was_lost = command_.was_opened();
    process_->kill();
  }
  if (ended() && !command_.was_opened()) run.reason = RunEnd::never_ran;
  wait_for_prompt();
  return finish(run);
}

/// What ends it right behind its report (`kill -9 $$ &`) belongs to this run, and not to the next one.
void Resident::wait_for_prompt() {
  const Clock::time_point since = Clock::now();
  while (kind_.has_prompt && !ended() && seconds_since(since) < kBack && !waits_at_terminal_input(group_)) {
    pollfd watched{process_->end(), POLLIN, 0};
    poll(&watched, 1, 1);
  }
}

RunResult Resident::finish(Run& run) {
  RunResult result;
  result.seconds = seconds_since(run.begin);
  run.drain();
  run.received += read_some(answers_.get());
  const std::optional<Answer> answer = run.answer();
  result.end = run.reason;
  if (ended()) {
    result.end = run.reason == RunEnd::finished ? RunEnd::program_ended : run.reason;
    result.status = process_->status();
  }
  if (answer) {
    // What it said as it ended counts, whatever a limit did to it behind that. Another signal had come before, and what
    // it said then is the status of the command before.
    const bool by_signal = result.status && *result.status > 128 && *result.status != 128 + SIGKILL;
    if (!result.status || (answer->ends() && !by_signal)) result.status = std::atoi(answer->status.c_str());
    result.saved =
        ended() && answer->ends() && run.received.find(token_of_start_ + "saved" + '\0') != std::string::npos;
    result.folder = answer->folder;
    result.background_jobs = ended() ? std::vector<int>() : numbers_in(answer->jobs);
    kept_ = answer->letters;
    std::erase_if(kept_, [this](char letter) { return kind_.kept.find(letter) == std::string::npos; });
  }
  result.notes = process_->take_notes();
  note_file_size(result, sandbox_);
  if (run.stage == 0 && run.times_typed > 0 && result.status == 128 + SIGINT)
    result.notes.push_back("A program was ended by SIGINT, and the rest of the command was left out.");
  if (run.was_lost) result.notes.push_back(kind_.title + " could run nothing any more behind that, and was ended.");
  if (run.was_stopped) result.notes.push_back(kind_.title + " had stopped itself, and was told to go on.");
  run.show(Stream::out, run.out_border.rest());
  run.show(Stream::err, run.err_border.rest());
  result.out = run.out.finish();
  result.err = run.err.finish();
  // With `set -v` bash shows what was typed behind an interruption.
  if (run.times_typed > 0) result.err.text = with_words(std::move(result.err.text), run.after_line + "\n", "");
  // It ends its line at each one.
  const bool was_interrupted = run.stage != 0 || run.times_typed > 0;
  const bool is_blank = result.err.text.find_first_not_of("\r\n") == std::string::npos;
  if (was_interrupted && is_blank) result.err.text.clear();
  return result;
}

}  // namespace parlance::agent
