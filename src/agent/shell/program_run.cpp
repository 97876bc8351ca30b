// Begin reading at run_program.
#include "agent/shell/program_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "agent/sandbox/pipe.h"
#include "agent/sandbox/process_tree.h"
#include "agent/shell/character_border.h"
#include "agent/shell/clock.h"
#include "agent/shell/output_files.h"

namespace parlance::agent {

namespace {

constexpr int kMostRest = 256;  // reads of what is left in a pipe of a program that has ended

/// A file without a name: the program may leave it unread, and we need not wait for it.
Result<Descriptor> input_of(const std::string& text) {
  Descriptor file(memfd_create("input", MFD_CLOEXEC));
  if (!file) return system_error("the input of a program", errno);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = ::write(file.get(), text.data() + done, text.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return system_error("the input of a program", errno);
    done += static_cast<std::size_t>(size);
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

/// One run, from its start to its end.
struct OneRun {
  SandboxedProcess& process;
  const RunOptions& options;
  Pipe out_pipe, err_pipe;
  Capture out, err;
  CharacterBorder out_border{}, err_border{};
  RunEnd reason = RunEnd::finished;
  Clock::time_point begin = Clock::now(), stopped{};
  int stage = 0;  ///< 0: runs; then the signals that it was sent

  bool take(Stream stream) {
    const std::string bytes = read_some((stream == Stream::out ? out_pipe : err_pipe).reader.get());
    if (bytes.empty()) return false;
    (stream == Stream::out ? out : err).add(bytes);
    show(stream, border_of(stream).whole(bytes));
    return true;
  }

  CharacterBorder& border_of(Stream stream) { return stream == Stream::out ? out_border : err_border; }

  void show(Stream stream, const std::string& text) const {
    if (options.on_output && !text.empty()) options.on_output(stream, text);
  }

  void stop(RunEnd why) {
    if (stage != 0) return;
    reason = why;
    stopped = Clock::now();
    signal_all(process.root(), SIGINT);
    stage = 1;
  }

  void look() {
    if (seconds_since(begin) > options.timeout) stop(RunEnd::timed_out);
    if (out.bytes() + err.bytes() > options.output.stop) stop(RunEnd::too_much_output);
    if (stage == 0 || seconds_since(stopped) < options.grace * stage) return;
    if (stage == 1) signal_all(process.root(), SIGTERM);
    if (stage == 2) process.kill();
    ++stage;
  }

  /// False: it has ended.
  bool step() {
    pollfd watched[] = {{out_pipe.reader.get(), POLLIN, 0},
                        {err_pipe.reader.get(), POLLIN, 0},
                        {process.end(), POLLIN, 0},
                        {stage == 0 ? options.cancel : -1, POLLIN, 0}};
    poll(watched, 4, kTick);
    for (const auto& [at, stream] : {std::pair{0, Stream::out}, std::pair{1, Stream::err}}) {
      const bool closed = watched[at].revents != 0 && !take(stream) && (watched[at].revents & POLLHUP) != 0;
      if (closed) (stream == Stream::out ? out_pipe : err_pipe).reader.close();
    }
    if (watched[3].revents != 0) stop(RunEnd::cancelled);
    look();
    return watched[2].revents == 0;
  }

  RunResult finish() {
    for (const Stream stream : {Stream::out, Stream::err})
      for (int round = 0; round < kMostRest && take(stream); ++round) continue;
    for (const Stream stream : {Stream::out, Stream::err}) show(stream, border_of(stream).rest());
    RunResult result;
    result.end = reason;
    result.status = process.status();
    result.seconds = seconds_since(begin);
    result.notes = process.take_notes();
    result.out = out.finish();
    result.err = err.finish();
    return result;
  }
};

}  // namespace

std::vector<std::string> looked_up(const std::vector<std::string>& command) {
  std::vector<std::string> words{"/bin/sh", "-c", "exec \"$@\"", "sh"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::vector<std::string> environment_with(const Sandbox& sandbox, const std::string& home,
                                          const std::vector<std::string>& more) {
  std::vector<std::string> all = sandbox.environment(), given;
  if (!home.empty()) given.push_back("HOME=" + sandbox.home_inside(home));
  given.insert(given.end(), more.begin(), more.end());
  for (const std::string& variable : given) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('=') + 1);
    std::erase_if(all, [name](const std::string& one) { return one.starts_with(name); });
    all.push_back(variable);
  }
  return all;
}

Result<RunResult> run_program(const Sandbox& sandbox, const Program& program, const RunOptions& options) {
  Result<Descriptor> input = input_of(program.input);
  if (!input) return input.error();
  Result<Pipe> out = Pipe::open(), err = Pipe::open();
  if (!out) return out.error();
  if (!err) return err.error();
  Launch launch;
  launch.command = looked_up(program.command);
  launch.environment = environment_with(sandbox, program.home, program.environment);
  launch.home = program.home;
  launch.folder = program.folder.empty() ? sandbox.policy().workspace : program.folder;
  launch.in = input->get();
  launch.out = out->writer.get();
  launch.err = err->writer.get();
  Result<std::unique_ptr<SandboxedProcess>> process = sandbox.start(launch);
  if (!process) return process.error();
  out->writer.close();
  err->writer.close();
  const OutputFiles files(sandbox);
  OneRun run{**process,
             options,
             std::move(*out),
             std::move(*err),
             files.capture(options.output, ".out"),
             files.capture(options.output, ".err")};
  while (run.step()) continue;
  RunResult result = run.finish();
  note_file_size(result, sandbox);
  return result;
}

}  // namespace parlance::agent
