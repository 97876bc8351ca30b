// McpServer: a server of the Model Context Protocol in the sandbox, and its tools. It is started once more where it has
// ended. Begin reading at McpServer::call.
//
// The revisions with a handshake are spoken (2024-11-05 to 2025-11-25), and the one without (2026-07-28) with servers
// that refuse the handshake.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/mcp/session.h"
#include "agent/mcp/tool_list.h"
#include "agent/sandbox/sandbox.h"
#include "parlance/result.h"

namespace parlance::agent {

struct McpServerSpec {
  std::string name{};
  std::vector<std::string> command{};
  std::vector<std::string> environment{};  ///< NAME=value
  std::string folder{};                    ///< where it starts; "": the workspace
  double timeout = 0;                      ///< seconds of a call; 0: the agent's own
  double start_timeout = 60;               ///< seconds until it has told its tools
};

/// What came of a call.
struct McpOutcome {
  std::string text{};
  bool succeeded = false;
  bool cut_off = false;  ///< nobody knows whether it was carried out
};

class McpServer {
 public:
  /// `log` gets what it writes to its standard error. `sandbox` must outlive it.
  McpServer(const Sandbox& sandbox, McpServerSpec spec, std::function<void(std::string_view)> log);
  McpServer(const McpServer&) = delete;
  McpServer& operator=(const McpServer&) = delete;
  ~McpServer();

  /// Starts it, and asks for its tools; in its start_timeout, and no longer than `patience`.
  /// Fails with: file; usage (it does not start, or speaks another protocol; with what it said).
  Result<void> start(const Patience& patience);
  const McpServerSpec& spec() const { return spec_; }
  const std::vector<McpTool>& tools() const { return tools_; }
  /// The revision that is spoken.
  const std::string& revision() const { return revision_; }
  /// What is wrong with its tools as it told them last, or that it did not tell them, as sentences.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

  /// `arguments` is an object on one line.
  McpOutcome call(const std::string& tool, const std::string& arguments, const Patience& patience);
  /// Asks for its tools once more where it has said that they are others. True: they are. Where it does not tell them,
  /// those before stay.
  bool look_for_changes(const Patience& patience);
  /// What the sandbox's limits did, as sentences.
  std::vector<std::string> take_notes();

  /// Asks it to end, without waiting.
  void begin_close();

 private:
  Result<void> open();
  Result<void> shake_hands(const Patience& patience);
  Result<void> discover(const Patience& patience, const std::string& refusal);
  Result<ToolList> list(const Patience& patience);
  void take(ToolList told);
  std::string with_metadata(const std::string& parameters) const;
  Error failure(const std::string& what);
  McpOutcome failed_call(const McpAnswer& answer);

  const Sandbox& sandbox_;
  const McpServerSpec spec_;
  const std::function<void(std::string_view)> log_;
  std::unique_ptr<McpSession> session_;
  std::vector<McpTool> tools_;
  std::vector<std::string> warnings_;
  std::string revision_;
  bool has_handshake_ = true;
  bool has_tools_ = true;  ///< as it says of itself
  bool changed_ = false;
  int starts_ = 0;
};

}  // namespace parlance::agent
