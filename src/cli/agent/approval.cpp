// Asks on the terminal. Begin reading at Approver::ask.
#include "cli/agent/approval.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>

#include "agent/tools/own_tools.h"
#include "base/ascii.h"
#include "base/lowered.h"
#include "base/utf8.h"
#include "cli/agent/marked_text.h"
#include "parlance/json.h"

namespace parlance::cli {
namespace {

/// Programs that neither write a file nor start another program, whatever their options are. Not among them: git (its
/// settings name programs), file (-C writes), printf (-v and %n set variables), date (it sets the clock), env, find,
/// sort, awk, sed, less, man, tee and xargs.
constexpr std::string_view kReaders[] = {"ls",   "cat", "head",  "tail",     "wc",      "pwd",      "echo",    "grep",
                                         "stat", "du",  "df",    "id",       "whoami",  "true",     "test",    "false",
                                         "diff", "cmp", "which", "basename", "dirname", "realpath", "readlink"};
/// Programs that do so where they have no arguments.
constexpr std::string_view kReadersAlone[] = {"date", "env", "uname"};
/// What could hide another command, or send output into a file.
constexpr std::string_view kUnclear = ";&|<>`$(){}\n\\!*?[]~#'\"";

/// What bash does itself and that may change which program a name stands for, or what a command does besides: by
/// variables, functions, aliases, options, traps. And its words of syntax, behind which anything may stand.
constexpr std::string_view kChangesShell[] = {
    ".",         ":",        "alias",   "bind",   "builtin", "case",    "command",  "compgen", "complete", "compopt",
    "coproc",    "declare",  "dirs",    "do",     "done",    "elif",    "else",     "enable",  "esac",     "eval",
    "exec",      "exit",     "export",  "fc",     "fi",      "for",     "function", "getopts", "hash",     "history",
    "if",        "in",       "let",     "local",  "logout",  "mapfile", "popd",     "printf",  "pushd",    "read",
    "readarray", "readonly", "return",  "select", "set",     "shift",   "shopt",    "source",  "suspend",  "then",
    "time",      "trap",     "typeset", "ulimit", "umask",   "unalias", "unset",    "until",   "wait",     "while"};

template <std::size_t kCount>
bool is_among(std::string_view word, const std::string_view (&list)[kCount]) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t", at);
    if (begin == text.npos) break;
    at = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

constexpr const char* kStillAsks =
    "\nCtrl-C: this waits for an answer. Once more within two seconds ends the agent; --resume asks again\n";

/// What the user types to a question.
struct Answer {
  bool was_asked = true;  ///< false: there is no terminal
  bool stops = false;     ///< a signal has ended the agent, or the terminal is gone
  std::string said{};
};

void say_at(std::FILE* terminal, const std::string& text) {
  std::fputs(text.c_str(), terminal);
  std::fflush(terminal);
}

/// Waits for a line, or for the end.
Answer read_answer(std::FILE* terminal, const std::string& question, const QuestionSignals& signals) {
  const int descriptor = ::fileno(terminal);
  while (true) {
    pollfd waits[] = {{descriptor, POLLIN, 0}, {signals.descriptor, POLLIN, 0}};
    const int ready = ::poll(waits, 2, -1);
    if (signals.want_end()) return {.stops = true};
    if (ready < 0) continue;
    if (waits[1].revents != 0) {
      signals.clear();
      say_at(terminal, kStillAsks + question + " ");
      continue;
    }
    char line[4096];  // the most that a terminal's line has
    const ssize_t size = ::read(descriptor, line, sizeof line);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 || (waits[0].revents & POLLHUP) != 0) return {.stops = true};
    std::string said(line, static_cast<std::size_t>(size));
    while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
    return {.said = utf8::repair(said)};
  }
}

/// What was typed before the question was there answers something else, so it is thrown away, and so is a Ctrl-C.
Answer answer_to(const std::string& asked_of, const std::string& question, const QuestionSignals& signals) {
  const std::unique_ptr<std::FILE, Close> terminal(std::fopen("/dev/tty", "r+"));
  if (!terminal) return {.was_asked = false};
  const int descriptor = ::fileno(terminal.get());
  ::tcflush(descriptor, TCIFLUSH);
  signals.clear();
  say_at(terminal.get(),
         MarkedText().add(asked_of, MarkedText::Line::own, columns_of(descriptor)) + "\n" + question + " ");
  return read_answer(terminal.get(), question, signals);
}

bool is_yes(std::string_view text) {
  const std::string said = ascii::lowered(ascii::trimmed(text));
  return said == "y" || said == "yes";
}

/// The & of 2>&1 and &>file; not that of `a &<file b`.
bool is_of_redirection(std::string_view line, std::size_t at) {
  const char before = at > 0 ? line[at - 1] : '\0', after = at + 1 < line.size() ? line[at + 1] : '\0';
  return line[at] == '&' && (before == '>' || before == '<' || after == '>');
}

/// The simple commands of a line: where no expansion, no group, no comment and no text of several lines makes it hard
/// to say.
std::optional<std::vector<std::string_view>> simple_commands(std::string_view line) {
  std::vector<std::string_view> commands;
  char quote = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
      if (quote == '"' && (c == '$' || c == '`' || c == '\\')) return std::nullopt;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (std::string_view("$`(){}\\!#").find(c) != std::string_view::npos || line.substr(at, 2) == "<<") {
      return std::nullopt;
    } else if (std::string_view(";&|\n").find(c) != std::string_view::npos && !is_of_redirection(line, at)) {
      commands.push_back(line.substr(begin, at - begin));
      begin = at + 1;
    }
  }
  if (quote != 0) return std::nullopt;
  commands.push_back(line.substr(begin));
  return commands;
}

std::string call_text(std::string_view name, std::string_view arguments) {
  return std::string(name).append(" ").append(arguments);
}

}  // namespace

bool can_ask() { return std::unique_ptr<std::FILE, Close>(std::fopen("/dev/tty", "r+")) != nullptr; }

bool only_reads(std::string_view command) {
  if (command.find_first_of(kUnclear) != command.npos) return false;
  const std::vector<std::string_view> words = words_of(command);
  if (words.empty()) return false;
  const auto may_paginate = [](std::string_view word) {
    return word.starts_with("--p") || (word.starts_with('-') && word.find('l') != word.npos);
  };
  if (words[0] == "diff" && std::any_of(words.begin(), words.end(), may_paginate)) return false;  // by pr
  return is_among(words[0], kReaders) || (words.size() == 1 && is_among(words[0], kReadersAlone));
}

bool keeps_shell(std::string_view command) {
  const auto commands = simple_commands(command);
  return commands && std::all_of(commands->begin(), commands->end(), [](std::string_view one) {
           const std::vector<std::string_view> words = words_of(one);
           const bool is_plain = words.empty() || words[0].find_first_of("=<>'\"*?[]~#") == std::string_view::npos;
           return is_plain && (words.empty() || !is_among(words[0], kChangesShell));
         });
}

Approval Approver::ask(std::string_view name, std::string_view arguments) {
  if (when_ == "never") return {};
  Document given;
  const bool is_command = name == agent::kTerminalTool.name && given.parse(arguments);
  const std::string command(is_command ? given.root()[agent::kTerminalTool.argument].text() : std::string_view());
  const bool reads = is_command && only_reads(command);
  // It has what the one before it saved, into a file that any program in the sandbox could write to.
  shell_may_differ_ = shell_may_differ_ || shell_was_replaced_();
  if (when_ == "writes" && reads && !shell_may_differ_) return {};
  std::string question = "Run this? [y/N, or say why not]";
  if (when_ == "writes" && reads)
    question = "It only reads, unless an earlier command has changed what its name stands for.\n" + question;
  const Answer answer = answer_to(call_text(name, arguments), question, signals_);
  if (!answer.was_asked) return {.allowed = false, .reason = "nobody could be asked"};
  if (answer.stops) return {.allowed = false, .stops = true};
  if (!is_yes(answer.said)) return {.allowed = false, .reason = answer.said.size() > 3 ? answer.said : std::string()};
  shell_may_differ_ = shell_may_differ_ || (is_command && !reads && !keeps_shell(command));
  return {};
}

Resolution Approver::resolve(const InterruptedCall& call) const {
  const Answer answer = answer_to(
      call_text(call.name, call.arguments),
      "This had begun when the agent was ended, and nobody knows how far it came. Run it once more? [y/N]", signals_);
  return {.again = is_yes(answer.said), .stops = answer.stops};
}

}  // namespace parlance::cli
