// Begin reading at McpSession::request.
#include "agent/mcp/session.h"

#include "base/utf8.h"
#include "parlance/json_writer.h"

namespace parlance::agent {

namespace {

constexpr double kToAnswer = 5;  // seconds in which a server takes what we answer
constexpr std::int64_t kNoSuchMethod = -32601;
constexpr std::size_t kMostReason = 2000;       // bytes of an error's message
constexpr std::size_t kMostGarbage = 10'000;    // lines before an answer
constexpr std::size_t kMostShownGarbage = 200;  // bytes of the first of them
constexpr int kMostAlong = 1000;                // messages between two turns

std::string line_of(std::string_view method, const std::string& parameters, std::int64_t id) {
  JsonWriter made('{');
  made.text("jsonrpc", "2.0");
  if (id > 0) made.number("id", id);
  made.text("method", method);
  if (!parameters.empty()) made.raw("params", parameters);
  return made.take();
}

/// JSON has one kind of number: 3.0 is 3.
bool is_number(Value value, std::int64_t number) {
  if (value.is(Kind::real)) return value.real == static_cast<double>(number);
  return value.is_small_int() && value.integer == number;
}

}  // namespace

std::string McpAnswer::reason() const {
  switch (end) {
    case LineEnd::none: break;
    case LineEnd::timed_out: return "it has not answered in time";
    case LineEnd::cancelled: return "the user interrupted it";
    case LineEnd::ended: return "it has ended";
    case LineEnd::too_long: return "it sent a line that does not end within 8 MiB";
    case LineEnd::given_up:
      return "it wrote more than " + std::to_string(kMostGarbage) + " lines to standard output that are no messages";
  }
  std::string text(utf8::whole_prefix(whole_text(error()["message"]), kMostReason));
  if (text.empty()) text = "its answer has neither a result nor the message of an error";
  if (error()["code"].is_small_int()) text += " (" + std::to_string(error()["code"].integer) + ")";
  return text;
}

void McpSession::notify(std::string_view method, const std::string& parameters) {
  process_->write(line_of(method, parameters, 0), Patience::seconds(kToAnswer));
}

void McpSession::answer_request(Value message, const Patience& patience) {
  JsonWriter made('{');
  made.text("jsonrpc", "2.0").raw("id", json_text(message["id"]));
  const std::string method = whole_text(message["method"]);
  if (method == "ping")
    made.raw("result", "{}");
  else
    made.raw("error", JsonWriter('{').number("code", kNoSuchMethod).text("message", "Method not found").take());
  process_->write(made.take(), patience.at_most(kToAnswer));
}

void McpSession::leave_out(std::string_view line) {
  if (garbage_++ == 0) first_garbage_ = utf8::whole_prefix(line, kMostShownGarbage);
}

/// Is it the answer to the request of this id? What else it is, is done.
bool McpSession::take_message(Value message, std::int64_t id, const Patience& patience) {
  if (message["method"].is_string()) {
    if (!message["id"].is_undefined() && !message["id"].is_none()) answer_request(message, patience);
    if (message["method"].text() == "notifications/tools/list_changed") changed_ = true;
    return false;
  }
  const Value of = message["id"];
  if (is_number(of, id)) return id > 0;
  // An answer to an earlier request may come late. We never ask by an id that is no number, so this is no message.
  if (!of.is_small_int()) leave_out(json_text(message));
  return false;
}

bool McpSession::take_line(const std::string& line, std::int64_t id, Document& answer, const Patience& patience) {
  if (line.find_first_not_of(" \t\r") == line.npos) return false;
  const bool is_json = bool(answer.parse(line));
  const Value root = is_json ? answer.root() : Value::none();
  if (root.is(Kind::dict)) return take_message(root, id, patience);
  if (!root.is_sequence()) {
    leave_out(line);
    return false;
  }
  // Messages may come as a list (protocol 2025-03-26).
  std::string found;
  for (const Value& item : root.items())
    if (item.is(Kind::dict) && take_message(item, id, patience)) found = json_text(item);
  return !found.empty() && answer.parse(found);
}

McpAnswer McpSession::request(std::string_view method, const std::string& parameters, const Patience& patience) {
  const std::int64_t id = ++last_id_;
  McpAnswer answer;
  answer.end = process_->write(line_of(method, parameters, id), patience);
  const bool is_asked = answer.end == LineEnd::none;
  const std::size_t before = garbage_;
  std::string line;
  while (answer.end == LineEnd::none) {
    answer.end = process_->read(line, patience);
    if (answer.end == LineEnd::none && take_line(line, id, answer.message, patience)) return answer;
    if (garbage_ - before <= kMostGarbage) continue;
    process_->give_up();
    answer.end = LineEnd::given_up;
  }
  const bool goes_on = answer.end == LineEnd::timed_out || answer.end == LineEnd::cancelled;
  if (is_asked && goes_on && method != "initialize") {
    const char* const reason = answer.end == LineEnd::cancelled ? "The user interrupted it" : "Its time is over";
    notify("notifications/cancelled", JsonWriter('{').number("requestId", id).text("reason", reason).take());
  }
  return answer;
}

void McpSession::read_along(const Patience& patience) {
  const Patience together = patience.at_most(kToAnswer);  // a server may ask on and on, and read no answer
  Document unused;
  std::string line;
  for (int count = 0; count < kMostAlong && !together.is_over(); ++count) {
    if (process_->read_now(line))
      take_line(line, 0, unused, together);
    else if (!process_->take_written())
      return;
  }
}

}  // namespace parlance::agent
