// Asks on the terminal. Begin reading at Approver::ask.
#include "cli/approval.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>

#include "agent/tools/own_tools.h"
#include "base/ascii.h"
#include "cli/segments.h"
#include "parlance/json.h"

namespace parlance::cli {
namespace {

constexpr std::array<std::string_view, 28> kReaders = {
    "ls",  "cat",   "head", "tail",   "wc",       "pwd",     "echo",     "grep",    "stat", "file",
    "du",  "df",    "date", "whoami", "id",       "uname",   "true",     "false",   "test", "diff",
    "cmp", "which", "env",  "printf", "basename", "dirname", "realpath", "readlink"};
constexpr std::array<std::string_view, 6> kGitReaders = {"status", "log", "diff", "show", "rev-parse", "ls-files"};
/// What could hide another command, or send output into a file.
constexpr std::string_view kUnclear = ";&|<>`$(){}\n\\!*?[]~#'\"";

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

/// What the user types; unset: there is no terminal.
std::optional<std::string> answer_to(const std::string& question) {
  const std::unique_ptr<std::FILE, Close> terminal(std::fopen("/dev/tty", "r+"));
  if (!terminal) return std::nullopt;
  std::fputs(question.c_str(), terminal.get());
  std::fflush(terminal.get());
  char line[512];
  if (std::fgets(line, sizeof line, terminal.get()) == nullptr) return std::string("n");
  std::string text = line;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

bool is_yes(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ascii::lower(c);
  const std::string_view said = ascii::trimmed(lower);
  return said == "y" || said == "yes";
}

std::string call_text(std::string_view name, std::string_view arguments) {
  std::string out;
  append_segment(out, std::string(name) + " " + std::string(arguments), false);
  return out;
}

}  // namespace

bool can_ask() { return std::unique_ptr<std::FILE, Close>(std::fopen("/dev/tty", "r+")) != nullptr; }

bool only_reads(std::string_view command) {
  if (command.find_first_of(kUnclear) != command.npos) return false;
  const std::vector<std::string_view> words = words_of(command);
  if (words.empty()) return false;
  if (words[0] == "env" || words[0] == "printf" || words[0] == "test") return words.size() == 1 || words[0] != "env";
  if (words[0] == "git")
    return words.size() > 1 && std::find(kGitReaders.begin(), kGitReaders.end(), words[1]) != kGitReaders.end() &&
           std::none_of(words.begin(), words.end(), [](std::string_view one) { return one.starts_with("--output"); });
  return std::find(kReaders.begin(), kReaders.end(), words[0]) != kReaders.end();
}

Approval Approver::ask(std::string_view name, std::string_view arguments) const {
  if (when_ == "never") return {};
  Document given;
  if (when_ == "writes" && name == agent::kTerminalTool.name && given.parse(arguments) &&
      only_reads(given.root()[agent::kTerminalTool.argument].text()))
    return {};
  const std::optional<std::string> said = answer_to(call_text(name, arguments) + "\nRun this? [y/N, or say why not] ");
  if (!said) return {.allowed = false, .reason = "nobody could be asked"};
  if (is_yes(*said)) return {};
  return {.allowed = false, .reason = said->size() > 3 ? *said : std::string()};
}

Resolution Approver::resolve(const InterruptedCall& call) const {
  const std::optional<std::string> said = answer_to(
      call_text(call.name, call.arguments) +
      "\nThis had begun when the agent was ended, and nobody knows how far it came. Run it once more? [y/N] ");
  if (said && is_yes(*said)) return {.again = true};
  return {};
}

}  // namespace parlance::cli
