// What `parlance agent` shows: for people on a terminal or in a log, or a JSON object a line for programs.
#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "parlance/agent.h"

namespace parlance::cli {

/// Threads: one.
class AgentScreen {
 public:
  virtual ~AgentScreen() = default;
  /// Before the first turn: what it runs with, as sentences.
  virtual void begin(std::string_view goal, const std::vector<std::string>& facts) = 0;
  /// A piece of a reply may wait until something else is shown, or for flush_screen().
  virtual void show(const AgentEvent& event) = 0;
  /// Output of a command that runs, as it comes.
  virtual void output(std::string_view bytes, bool is_error) = 0;
  /// All of it has come. `file` is where commands find the whole of a long one; "": it has none.
  virtual void output_end(bool is_error, std::string_view file) = 0;
  /// A sentence that is no event of the loop.
  virtual void note(std::string_view text) = 0;
  virtual void end(const AgentEnd& end) = 0;
};

/// What people read of a call: the command or the code alone of the agent's own tools, where it has no more; else the
/// name and the arguments.
std::string command_of(std::string_view name, std::string_view arguments);
/// On standard output, with colours and a line of figures where that is a terminal.
std::unique_ptr<AgentScreen> screen_for_people(bool colors);
/// Behind the pieces of a reply that came together: one system call for all of them.
void flush_screen();
/// The errno of the first piece of output that could not be written; 0: all was.
int screen_failure();
/// {"event": "reply", …}
std::unique_ptr<AgentScreen> screen_for_programs();

}  // namespace parlance::cli
