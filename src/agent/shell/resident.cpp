// Begin reading at Resident::run.
#include "agent/shell/resident.h"

#include <fcntl.h>
#include <poll.h>
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
#include "agent/sandbox/random_token.h"
#include "agent/shell/answer.h"
#include "agent/shell/clock.h"
#include "agent/shell/resident_run.h"

namespace parlance::agent {

namespace {

constexpr double kStart = 20;  // seconds in which the program must be ready
constexpr double kBack = 0.1;  // seconds between a report and the prompt
constexpr int kNoPipe = -1;    // in the place of the program's standard error
constexpr std::string_view kStartFile = "start";

std::string with_token(std::string text, const std::string& token) { return with_words(std::move(text), "{}", token); }

Result<Descriptor> open_pipe(const std::string& path) {
  unlink(path.c_str());
  if (mkfifo(path.c_str(), 0600) != 0) return system_error(path, errno);
  // Both ends are ours as well, so that it never ends, whoever closes his.
  Descriptor pipe(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!pipe) return system_error(path, errno);
  return pipe;
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

Before Resident::before_run() const {
  Before before;
  for (const ProcessFacts& facts : processes_below(process_->root(), own_)) before.processes.insert(facts.pid);
  before.ticks = ticks_now();
  return before;
}

/// The programs that have the terminal, without the program itself. In its own group these are what the run has
/// started: others are there from before, in the background, and so is what those start.
std::vector<ProcessFacts> Resident::in_foreground(const Before& before) const {
  std::vector<ProcessFacts> found = processes_below(process_->root(), own_);
  const int foreground = terminal_.foreground();
  // The terminal goes on giving the number of a group that has ended.
  const bool is_there =
      std::ranges::any_of(found, [&](const ProcessFacts& facts) { return facts.group == foreground; });
  const int group = is_there ? foreground : group_;
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
  if (group > 0 && group != group_) signal_group_below(process_->root(), group, signal);
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
  launch.command = kind_.command;
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
  if (lines_) type(token);
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
  read_some(answers_.get());
  ResidentRun run(*this, options, token);
  command_.begin(path("command"));
  type(line_of(kind_.run_line, token));
  run.follow();
  wait_for_prompt();
  return run.finish();
}

/// What ends it right behind its report (`kill -9 $$ &`) belongs to this run, and not to the next one.
void Resident::wait_for_prompt() {
  const Clock::time_point since = Clock::now();
  while (kind_.has_prompt && !ended() && seconds_since(since) < kBack && !waits_at_terminal_input(group_)) {
    pollfd watched{process_->end(), POLLIN, 0};
    poll(&watched, 1, 1);
  }
}

void Resident::keep_letters(const std::string& letters) {
  kept_ = letters;
  std::erase_if(kept_, [this](char letter) { return kind_.kept.find(letter) == std::string::npos; });
}

}  // namespace parlance::agent
