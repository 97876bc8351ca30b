// Replies by the line. Begin reading at answer.
#include "cli/reply_lines.h"

#include <optional>
#include <utility>

#include "bulk/jsonl.h"
#include "bulk/result_json.h"
#include "cli/lines.h"
#include "cli/report.h"
#include "value/dict.h"
#include "value/json.h"
#include "value/string.h"

namespace parlance::cli {
namespace {

Error line_error(std::string message) { return Error(ErrorCode::conversation, std::move(message)); }

/// A request is optional: without it the reply begins where the format says.
Result<ReplyStart> start_of_line(const ReplySource& source, const ReplyWish& wish, const Value* request) {
  if (request == nullptr || request->is_none()) return usual_start(source, wish);
  Arena arena;
  Limits limits;
  limits.depth = 2000;
  Runtime rt(arena, limits);
  std::string text;
  if (!append_json(rt, text, *request)) return line_error("`request` cannot be written as JSON");
  return start_of_request(source, wish, std::move(text), "request");
}

template <typename Message, typename ToJson>
std::string read_into(Message& message, const ReplyStart& start, std::string_view reply, ToJson to_json) {
  const ReplySink sink = [&message](const ReplyEvent& event) { message.add(event); };
  ReplyParser parser(*start.format, start.options);
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

Result<std::string> message_of(const ReplySource& source, const ReplyWish& wish, Value line, std::uint64_t number) {
  if (!line.is(Kind::dict)) return line_error("a line is not an object");
  const Value* reply = member(line, "reply");
  if (reply == nullptr || !reply->is_string()) return line_error("a line needs `reply`, a text");
  const Result<ReplyStart> start = start_of_line(source, wish, member(line, "request"));
  if (!start) return start.error();
  std::string json = answer_of(*start, wish, leaf_text(*reply), number);
  if (start->notes.empty()) return json;
  json.pop_back();
  char sign = '[';
  json += ", \"notes\": ";
  for (const std::string& note : start->notes) append_json_string(json += std::exchange(sign, ','), note);
  return json += "]}";
}

bool answer(const ReplySource& source, const ReplyWish& wish, std::string_view line, std::uint64_t number, std::string& out) {
  Document document;
  Result<std::string> message = line_error("a line of more than " + std::to_string(kMaxLine >> 20) + " MiB");
  Value id;
  if (line.size() <= kMaxLine) {
    if (Result<void> parsed = document.parse(line); !parsed) {
      message = parsed.error();
    } else {
      const Value* named = document.root().is(Kind::dict) ? member(document.root(), "id") : nullptr;
      if (named != nullptr) id = *named;
      message = message_of(source, wish, document.root(), number);
    }
  }
  out += '{';
  append_id(out, id);
  if (message) {
    out.append(*message, 1, message->npos);  // members of an object
  } else {
    append_error(out, message.error(), message.error().code() == ErrorCode::json ? number : 0);
    out += '}';
  }
  out += '\n';
  return message.has_value();
}

}  // namespace

int run_reply_lines(const std::string& input, const ReplySource& source, const ReplyWish& wish, unsigned threads) {
  BulkOptions bulk;
  bulk.threads = threads;
  bulk.answer = [&](std::string_view line, std::uint64_t number, std::string& out) { return answer(source, wish, line, number, out); };
  const Result<BulkProgress> done = run_bulk(input, bulk);
  return done ? 0 : report(done.error());
}

}  // namespace parlance::cli
