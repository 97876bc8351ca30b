// Replies by the line. Begin reading at answer.
#include "cli/lines/reply_lines.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/sha256.h"
#include "cli/lines/lines.h"
#include "cli/lines/row.h"
#include "cli/options/option_words.h"
#include "cli/report.h"
#include "json/json.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"

namespace parlance::cli {
namespace {

Error line_error(std::string message) { return Error(ErrorCode::conversation, std::move(message)); }

bool is_given(Value value) { return !value.is_undefined() && !value.is_none(); }

/// A request is optional: without it the reply begins where the format says. It stands in `request`, or the row is one
/// itself, by its `messages`; `tools` alone give types.
Result<ReplyStart> start_of_line(const ReplySource& source, const ReplyWish& wish, Value line) {
  if (const Value request = line["request"]; is_given(request))
    return start_of_request(source, wish, json_text(request), "request");
  if (is_given(line["messages"]))
    return start_of_request(source, wish, request_of_row(line, {"reply", "request"}), "the row");
  Result<ReplyStart> start = usual_start(source, wish);
  const Value tools = line["tools"];
  if (!start || !is_given(tools) || source.tools.known()) return start;
  Result<ReplyTools> known = ReplyTools::from_json(json_text(tools), "tools");
  if (!known) return known.error();
  start->options.tools = std::move(*known);
  return start;
}

/// Ids for calls that have none: the same for each run over this line, others for any other line.
std::function<std::string()> ids_of_calls(const ReplyWish& wish, const BulkLine& line) {
  if (wish.number_calls) return {};
  return [&line, of_line = std::string(), number = 0]() mutable {
    constexpr std::size_t kDigits = 24;
    if (of_line.empty()) of_line = sha256(line.text);  // once: a hostile line has calls without end
    const std::string place = std::to_string(line.line) + ":" + std::to_string(number++) + ":";
    return "call_" + sha256(place + of_line).substr(0, kDigits);
  };
}

template <typename Message, typename ToJson>
std::string read_into(Message& message, const ReplyStart& start, std::string_view reply, ToJson to_json) {
  const auto sink = [&message](const ReplyEvent& event) { message.add(event); };
  ReplyParser parser(start.format, start.options);
  parser.feed(reply, sink);
  parser.finish(sink);
  return to_json();
}

/// The object that answers a reply.
std::string answer_of(const ReplyStart& start, const ReplyWish& wish, std::string_view reply, const BulkLine& line) {
  const std::optional<ReplyApi> api = reply_api_named(wish.as);
  if (!api) {
    ReplyMessage message;
    return read_into(message, start, reply, [&] { return message.to_json(ids_of_calls(wish, line), wish.partial); });
  }
  ReplyApiOptions options = wish.answer;
  options.id = options.id.empty() ? reply_api_id(*api, line.line) : options.id + "-" + std::to_string(line.line);
  ReplyApiWriter writer(*api, std::move(options));
  return read_into(writer, start, reply, [&] {
    writer.finish();
    return "{\"response\": " + writer.to_json() + "}";
  });
}

/// Of members that are no part of a line, those whose names are near one that is; and those that count for nothing.
std::vector<std::string> idle_members(Value line) {
  std::vector<std::string> notes;
  for (const DictEntry& member : line.members()) {
    const std::string_view name = member.key.text();
    NearestName nearest(name);
    for (const std::string_view known : {"id", "reply", "request", "messages", "tools"}) nearest.offer(known);
    if (nearest.best().empty() || nearest.best() == name) continue;
    notes.push_back(std::string(name) + ": no member of a line; " + nearest.hint());
  }
  for (const std::string_view name : {"messages", "tools"}) {
    if (is_given(line["request"]) && is_given(line[name]))
      notes.push_back(std::string(name) + ": not read, since `request` stands beside it");
  }
  return notes;
}

Result<std::string> message_of(const ReplySource& source, const ReplyWish& wish, Value line, const BulkLine& bytes) {
  const Value reply = line["reply"];
  if (!reply.is_string()) return line_error("a line needs `reply`, a text");
  const Result<ReplyStart> start = start_of_line(source, wish, line);
  if (!start) return start.error();
  std::string json = answer_of(*start, wish, reply.text(), bytes);
  std::vector<std::string> notes = idle_members(line);
  notes.insert(notes.end(), start->notes.begin(), start->notes.end());
  if (notes.empty()) return json;
  json.pop_back();
  char sign = '[';
  json += ", \"notes\": ";
  for (const std::string& note : notes) append_json_string(json += std::exchange(sign, ','), note);
  return json += "]}";
}

Result<void> answer(const ReplySource& source, const ReplyWish& wish, const BulkLine& line, BulkAnswer& answer) {
  Document document;
  const Result<Value> row = open_row(document, line, answer);
  if (!row) return without_reading_options(row.error());
  const Result<std::string> message = message_of(source, wish, *row, line);
  if (!message) return without_reading_options(message.error());
  answer.members.assign(*message, 1, message->size() - 2);  // of an object
  return {};
}

}  // namespace

int run_reply_lines(const std::string& input, const ReplySource& source, const ReplyWish& wish, const LineWish& lines,
                    const LossWish& losses) {
  const BulkWorker worker = [&](const BulkLine& line, BulkAnswer& to) { return answer(source, wish, line, to); };
  return run_lines(input, lines, losses, each_line(worker));
}

}  // namespace parlance::cli
