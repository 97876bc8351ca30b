// McpSession: JSON-RPC 2.0 with an MCP server over its standard input and output, one request at a time. Requests of
// the server are answered: ping, and "method not found" for the rest, as we have no capability of a client.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "agent/mcp/line_process.h"
#include "parlance/json.h"

namespace parlance::agent {

/// What came of a request.
struct McpAnswer {
  LineEnd end = LineEnd::none;  ///< else there is no answer
  Document message{};           ///< the whole of the answer

  Value result() const { return message.root()["result"]; }
  Value error() const { return message.root()["error"]; }
  bool is_result() const { return end == LineEnd::none && result().is(Kind::dict); }
  /// Why there is no result, as a sentence without its full stop.
  std::string reason() const;
};

class McpSession {
 public:
  explicit McpSession(std::unique_ptr<LineProcess> process) : process_(std::move(process)) {}

  /// `parameters` is an object, or "" for none. Where the answer does not come in time, the server is told so, but
  /// for `initialize`.
  McpAnswer request(std::string_view method, const std::string& parameters, const Patience& patience);
  void notify(std::string_view method, const std::string& parameters = {});
  /// Reads what the server has sent by itself, and answers it, for five seconds at most.
  void read_along(const Patience& patience);
  /// Has it said that its tools are others?
  bool take_changed() { return std::exchange(changed_, false); }

  LineProcess& process() { return *process_; }
  const LineProcess& process() const { return *process_; }
  /// Lines that were no message, and the first of them.
  std::size_t garbage() const { return garbage_; }
  const std::string& first_garbage() const { return first_garbage_; }

 private:
  bool take_line(const std::string& line, std::int64_t id, Document& answer, const Patience& patience);
  bool take_message(Value message, std::int64_t id, const Patience& patience);
  void answer_request(Value message, const Patience& patience);
  void leave_out(std::string_view line);

  std::unique_ptr<LineProcess> process_;
  std::int64_t last_id_ = 0;
  bool changed_ = false;
  std::size_t garbage_ = 0;
  std::string first_garbage_;
};

}  // namespace parlance::agent
