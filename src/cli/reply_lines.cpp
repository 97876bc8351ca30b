// Replies by the line. Begin reading at answer.
#include "cli/reply_lines.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "cli/lines.h"
#include "cli/option_words.h"
#include "cli/report.h"
#include "json/json.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"

namespace parlance::cli {
namespace {

Error line_error(std::string message) { return Error(ErrorCode::conversation, std::move(message)); }

/// A request is optional: without it the reply begins where the format says.
Result<ReplyStart> start_of_line(const ReplySource& source, const ReplyWish& wish, Value request) {
  if (request.is_undefined() || request.is_none()) return usual_start(source, wish);
  return start_of_request(source, wish, json_text(request), "request");
}

template <typename Message, typename ToJson>
std::string read_into(Message& message, const ReplyStart& start, std::string_view reply, ToJson to_json) {
  const auto sink = [&message](const ReplyEvent& event) { message.add(event); };
  ReplyParser parser(start.format, start.options);
  parser.feed(reply, sink);
  parser.finish(sink);
  return to_json();
}

/// The object that answers a reply. `number`: of its line.
std::string answer_of(const ReplyStart& start, const ReplyWish& wish, std::string_view reply, std::uint64_t number) {
  const std::optional<ReplyApi> api = reply_api_named(wish.as);
  if (!api) {
    ReplyMessage message;
    return read_into(message, start, reply, [&] { return message.to_json(call_ids(wish), wish.partial); });
  }
  ReplyApiOptions options = wish.answer;
  options.id = options.id.empty() ? reply_api_id(*api, number) : options.id + "-" + std::to_string(number);
  ReplyApiWriter writer(*api, std::move(options));
  return read_into(writer, start, reply, [&] {
    writer.finish();
    return "{\"response\": " + writer.to_json() + "}";
  });
}

/// Of members that are no part of a line, those whose names are near one that is.
std::vector<std::string> misspelt_members(Value line) {
  std::vector<std::string> notes;
  for (const DictEntry& member : line.members()) {
    const std::string_view name = member.key.text();
    NearestName nearest(name);
    for (const std::string_view known : {"id", "reply", "request"}) nearest.offer(known);
    if (nearest.best().empty() || nearest.best() == name) continue;
    notes.push_back(std::string(name) + ": no member of a line; " + nearest.hint());
  }
  return notes;
}

Result<std::string> message_of(const ReplySource& source, const ReplyWish& wish, Value line, std::uint64_t number) {
  if (!line.is(Kind::dict)) return line_error("a line is not an object");
  const Value reply = line["reply"];
  if (!reply.is_string()) return line_error("a line needs `reply`, a text");
  const Result<ReplyStart> start = start_of_line(source, wish, line["request"]);
  if (!start) return start.error();
  std::string json = answer_of(*start, wish, reply.text(), number);
  std::vector<std::string> notes = misspelt_members(line);
  notes.insert(notes.end(), start->notes.begin(), start->notes.end());
  if (notes.empty()) return json;
  json.pop_back();
  char sign = '[';
  json += ", \"notes\": ";
  for (const std::string& note : notes) append_json_string(json += std::exchange(sign, ','), note);
  return json += "]}";
}

/// The error without a hint that names an option of how requests are read, which the command has not.
Error without_reading_options(const Error& error) {
  const std::string hint = in_options(error.hint());
  const bool names_one = hint.find("--skip-pass") != hint.npos || hint.find("--as-is") != hint.npos;
  return names_one ? error.hint({}) : error;
}

Result<void> answer(const ReplySource& source, const ReplyWish& wish, const BulkLine& line, BulkAnswer& answer) {
  Document document;
  if (Result<void> parsed = document.parse(line.text); !parsed) return without_reading_options(parsed.error());
  if (const Value id = document.root()["id"]; !id.is_undefined()) answer.id = strict_json_text(id);
  const Result<std::string> message = message_of(source, wish, document.root(), line.line);
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
