// bash's scripts. Begin reading at PersistentShell::run.
//
// bash is interactive, as only then SIGINT ends a loop of its own and not bash, and as only then background jobs have
// groups of their own. It reads the lines that we type; a command is read from a file, so that a quote that is not
// closed in it ends with it.
#include "agent/shell/shell.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace parlance::agent {

namespace {

// What we type and what our scripts do shall not show, whatever a command has set: the lines that we type send bash's
// own errors nowhere, and the command has redirections of its own. Traces (`set -x`, `set -v`) are on for the command
// alone, each builtin of ours has its own redirection, as traps of DEBUG print before it is made, and `\builtin` and
// `\.` are no aliases.

/// What bash knows of a text that was not closed (`echo $(`) outlives its file, and damages its heap where a later one
/// has a here-document that is not closed: after another error of syntax it knows nothing of it. Such an error ends a
/// shell with `set -e`, so that this is off for as long.
/// Reports to the pipe, in the form of Resident's answers. A trap of DEBUG ends with its command: bash has none within
/// the files that it is given, so no later command could take it away. One of RETURN would run behind each such file.
/// Once the whole report is there, nothing of ours is left to run. Whatever fails in it does not end a shell with `set
/// -e`.
constexpr const char* kReport = R"({
\builtin printf '%s\0' {} "$?" "$-" >@answers
\builtin set -
\builtin set +o history
\builtin trap - DEBUG RETURN
case $- in
*e*) \builtin set +e; \builtin eval ')' 2>/dev/null; \builtin set -e ;;
*) \builtin eval ')' 2>/dev/null
esac
\builtin unset PROMPT_COMMAND PS0 TMOUT
\builtin declare PS1= PS2=
\builtin pwd >@answers
\builtin printf '\0' >@answers
\builtin jobs -rp >@answers
\builtin jobs -sp >@answers
\builtin printf '\0' >@answers
} >/dev/null || \builtin :
)";

/// At the start, in a file that is gone before the first command: @control is the folder of the pipes, @state the one
/// for what stays, @processes the limit.
constexpr const char* kStartScript = R"(PS1= PS2=
unset HISTFILE MAILCHECK PROMPT_COMMAND PS0 TMOUT
set +o history +H
if [[ -r @state/shell.saved ]]; then
  . @state/shell.saved; rm -f -- @state/shell.saved; \builtin declare PS1= PS2=
fi 2>/dev/null
\ulimit -u @processes 2>/dev/null
\trap '{ \. @control/shell.leave {}; } >/dev/null 2>&1' EXIT
\builtin printf '%s\0' {} "$$" '' '' '' >@answers
)";

/// When it ends by `exit`, `set -e` or a signal that it can take: what the next shell begins with. Its folder is the
/// one that it starts in, and what would end it while it waits is not for it. $1 is the token that it was started with,
/// which nothing but its own memory has by now.
/// Variables named as ours are left out, as one that is readonly would keep the next shell, too, from being told what
/// to run. bash lists all or those that are named, so the other names are, and go by way of the file: that needs no
/// process.
constexpr const char* kLeave =
    R"(\builtin printf '%s\0' "$1" "$?" '' >@answers
\builtin set -
\builtin trap - DEBUG ERR RETURN
\builtin pwd >@answers
\builtin printf '\0ends\0' >@answers
\builtin unset PWD OLDPWD PROMPT_COMMAND PS0 TMOUT
\builtin trap '' XFSZ
{ \builtin declare -p parlance_token || \builtin declare -p parlance_kept; } &&
\builtin compgen -v -X 'parlance_*' >@state/shell.saved && \builtin mapfile -t parlance_names <@state/shell.saved
{ \builtin declare -p "${parlance_names[@]}" && \builtin declare -f && \builtin alias -p && \builtin printf '# whole\n'
} >@state/shell.saved && \builtin printf '%ssaved\0' "$1" >@answers
)";

constexpr const char* kRun = R"({
\builtin unset -v parlance_token parlance_kept
\builtin set -{kept}
\. @control/shell.command </dev/null >/dev/tty 2>@control/shell.errors
@report
}
)";

constexpr const char* kAfter = "@report";

// The files of the scripts can be read by all that runs in the sandbox, also by what an earlier command has left in the
// background, which could forge the report of a later one if it had its token. So a token comes with the line that we
// type, as a variable; `eval` puts it into the text of the script, which bash has in its memory alone; and the variable
// is gone before the command runs.

std::string with_variables(std::string_view script) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"{}", "'\"$parlance_token\"'"}, {"{kept}", "'\"$parlance_kept\"'"}, {"'", "'\\''"}};
  std::string made = "\\builtin eval '";
  while (!script.empty()) {
    const auto* const word =
        std::ranges::find_if(kWords, [&](const auto& one) { return script.starts_with(one.first); });
    const bool is_word = word != std::end(kWords);
    made += is_word ? word->second : script.substr(0, 1);
    script.remove_prefix(is_word ? word->first.size() : 1);
  }
  return made + "'\n";
}

std::string line_for(const std::string& script) {
  return "{ parlance_token={} parlance_kept={kept}; \\. " + script + "; } 2>/dev/null";
}

/// Behind a command that was cut off its trap of DEBUG is the shell's own, which a file cannot take away. An assignment
/// of its own would be a command that has succeeded: what is reported is the status before.
std::string line_after(const std::string& script) {
  return "{ parlance_token={} \\. " + script + "; \\builtin trap - DEBUG RETURN; } >/dev/null 2>&1";
}

std::string filled(std::string text, const Sandbox& sandbox) {
  const std::pair<std::string, std::string> words[] = {{"@report", kReport},
                                                       {"@answers", "@control/shell.answers"},
                                                       {"@control", sandbox.control_inside()},
                                                       {"@state", sandbox.control_inside() + "/state"},
                                                       {"@processes", std::to_string(sandbox.process_limit())}};
  for (const auto& [word, value] : words) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + value.size())) {
      text.replace(at, word.size(), value);
    }
  }
  return text;
}

ResidentKind bash(const Sandbox& sandbox) {
  const std::string control = sandbox.control_inside();
  ResidentKind kind;
  kind.name = "shell";
  kind.title = "The shell";
  kind.command = {"/bin/bash", "--noprofile", "--noediting", "--rcfile", control + "/shell.start", "-i"};
  kind.run_line = line_for(control + "/shell.run");
  kind.after_line = line_after(control + "/shell.after");
  kind.kept = "xv";
  kind.has_prompt = true;
  kind.scripts = {{"start", filled(kStartScript, sandbox)},
                  {"run", with_variables(filled(kRun, sandbox))},
                  {"after", with_variables(filled(kAfter, sandbox))},
                  {"leave", filled(kLeave, sandbox)}};
  return kind;
}

}  // namespace

PersistentShell::PersistentShell(const Sandbox& sandbox) : sandbox_(sandbox), folder_(sandbox.policy().workspace) {}

namespace {

/// The end of what bash has saved.
constexpr std::string_view kWhole = "# whole\n";

/// Commands can put anything in its place: a pipe, at which we would wait, or a link to a file of ours.
bool is_whole(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!file || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  std::string end(kWhole.size(), '\0');
  const off_t from = facts.st_size - static_cast<off_t>(end.size());
  return from >= 0 && pread(file.get(), end.data(), end.size(), from) == static_cast<ssize_t>(end.size()) &&
         end == kWhole;
}

}  // namespace

/// With `restores_saved` it has what the last one saved. A start may fail as the last folder has gone, or cannot be
/// entered any more, or as a function of the last shell keeps a new one from starting. In the third case what was saved
/// is gone as well, since a start removes it once it has been read. From / a command can give the workspace its rights
/// again.
Result<void> PersistentShell::start(CommandResult& result, bool restores_saved) {
  const std::string saved = sandbox_.folder().state() + "/shell.saved";
  std::vector<std::string> folders;
  for (const std::string& folder : {folder_, sandbox_.policy().workspace, std::string("/")})
    if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
  bash_.reset();
  Result<std::unique_ptr<Resident>> started = Error(ErrorCode::file, "");
  for (const bool restores : {true, false}) {
    for (const std::string& folder : folders) {
      if (restores && !(restores_saved && is_whole(saved))) break;
      if (!restores) unlink(saved.c_str());
      started = Resident::start(sandbox_, bash(sandbox_), folder);
      if (!started) continue;
      bash_ = std::move(*started);
      ++shells_;
      result.restored = restores;
      result.elsewhere = folder == folder_ ? "" : folder;
      folder_ = folder;
      return {};
    }
  }
  return started.error();
}

Result<void> PersistentShell::begin() {
  CommandResult result;
  return bash_ ? Result<void>() : start(result, false);
}

/// What the command did stays said where no new shell starts behind it. What a shell has saved counts where it said so
/// itself within the command: programs can write to that file, too, and whoever is asked before a command has to know
/// by then what names stand for.
Result<CommandResult> PersistentShell::run(const std::string& command, const RunOptions& options) {
  CommandResult result;
  // It may have ended since the last command, by a job in the background, or not have started again behind that.
  if (!bash_ || bash_->ended()) {
    result.restarted = bash_ != nullptr || was_lost_;
    if (Result<void> started = start(result, false); !started) return started.error();
    was_lost_ = false;
  }
  Result<RunResult> run = bash_->run(command + "\n", options);
  if (!run) return run.error();
  result.run = std::move(*run);
  if (!result.run.folder.empty()) folder_ = result.run.folder;
  if (!bash_->ended()) return result;
  const Result<void> started = start(result, result.run.saved);
  result.restarted = bool(started);
  was_lost_ = !started;
  if (!started) result.not_started = started.error().message();
  result.run.folder = folder_;
  result.run.background_jobs.clear();
  return result;
}

}  // namespace parlance::agent
