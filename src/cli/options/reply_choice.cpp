// Finding how replies are written, and where one begins. Begin reading at open_reply_source and start_of_request.
#include "cli/options/reply_choice.h"

#include <random>

#include "cli/input.h"
#include "cli/report.h"
#include "parlance/json.h"
#include "parlance/response_template.h"
#include "parlance/source.h"

namespace parlance::cli {
namespace {

/// A ReplyFormat, or transformers' response_template: that has `fields`, which the other has not.
Result<ReplyFormat> given_format(const std::string& text, const std::string& name) {
  Document document;
  const bool read = static_cast<bool>(document.parse(text, name));
  if (!read || document.root()["fields"].is_undefined()) return ReplyFormat::from_json(text, name);
  Result<ReadResponseTemplate> found = read_response_template(text, name);
  if (!found) return found.error();
  for (const std::string& note : found->notes) say_note(note);
  return std::move(found->format);
}

/// What stands in a file is wrong input, whatever the reader of its kind calls it.
Error of_input(const Error& error, const std::string& path) {
  if (error.code() != ErrorCode::value) return error;
  Error::Parts parts = error.parts();
  parts.code = ErrorCode::conversation;
  if (parts.where.name.empty()) parts.message = path + ": " + parts.message;
  return Error(std::move(parts));
}

}  // namespace

Result<ReplyFormat> replies_of(const BuiltinFormat& format) {
  return ReplyFormat::from_json(format.reply, std::string(format.name) + ".reply.json");
}

namespace {

/// What is said of replies without a look at the template.
Result<ReplyFormat> known_format(const ReplyWish& wish) {
  if (!wish.reply_format.empty()) {
    Result<std::string> text = read_input(wish.reply_format, "the format of replies");
    if (!text) return text.error();
    Result<ReplyFormat> format = given_format(*text, wish.reply_format);
    return format ? format : Result<ReplyFormat>(of_input(format.error(), wish.reply_format));
  }
  const TemplateWish& chosen = wish.prompt.wish;
  if (chosen.format.empty())
    return usage("whose reply? give -t TEMPLATE, -m MODEL or -f FORMAT", "parlance list formats shows them");
  const BuiltinFormat* builtin = find_format(chosen.format);
  if (builtin == nullptr) return open_format(chosen.format).error();
  return replies_of(*builtin);
}

/// The start with what the command's own options say. What is not certain is said on standard error, each sentence
/// once.
Result<ReplyStart> with_wish(const ReplySource& source, const ReplyWish& wish, Result<ReplyStart> start) {
  if (!start) return start;
  source.doubts->say(start->doubt);
  if (wish.begin_in_reasoning && !start->format.source().reasoning_close.exists() &&
      !start->format.source().content_open.exists()) {
    return usage("--begin-in-reasoning: replies of this format have no reasoning",
                 "parlance read --show-format shows how they are written");
  }
  start->options.begin_in_reasoning = wish.begin_in_reasoning;
  start->options.no_calls_in_reasoning = wish.no_calls_in_reasoning;
  if (source.tools.known()) start->options.tools = source.tools;
  return start;
}

}  // namespace

void Doubts::say(const std::string& doubt) {
  constexpr std::size_t kMostSaid = 64;
  if (doubt.empty()) return;
  const std::lock_guard lock(mutex_);
  if (said_.size() < kMostSaid && said_.insert(doubt).second) say_note(doubt);
}

Result<ReplySource> open_reply_source(ReplyWish& wish) {
  ReplySource source;
  if (Result<void> prepared = prepare(wish.prompt, false, source.setup); !prepared) return prepared.error();
  const TemplateWish& chosen = wish.prompt.wish;
  if (wish.reply_format.empty() && (!chosen.file.empty() || !chosen.model.empty())) {
    const Result<Template>& compiled = source.setup.reader->chat_template(true);
    if (!compiled) return compiled.error();
  } else {
    Result<ReplyFormat> format = known_format(wish);
    if (!format) return format.error();
    source.setup.request.reply_format = std::move(*format);
    source.setup.open_reader();
  }
  if (wish.tools.empty()) return source;
  const Result<std::string> text = read_input(wish.tools, "the tools");
  if (!text) return text.error();
  Result<ReplyTools> tools = ReplyTools::from_json(*text, wish.tools);
  if (!tools) return tools.error();
  source.tools = std::move(*tools);
  return source;
}

Result<ReplyStart> usual_start(const ReplySource& source, const ReplyWish& wish, Value request) {
  return with_wish(source, wish, source.setup.reader->reply(request));
}

Result<ReplyStart> start_of_request(const ReplySource& source, const ReplyWish& wish, std::string request,
                                    const std::string& name) {
  Result<ChatRequest> read = source.setup.reader->consume(std::move(request), name);
  if (!read) return read.error();
  return with_wish(source, wish, source.setup.reader->reply_to(*read, source.setup.render));
}

std::function<std::string()> call_ids(const ReplyWish& wish) {
  if (wish.number_calls) return {};
  return [] {
    static thread_local std::mt19937_64 random(std::random_device{}() + (std::uint64_t{std::random_device{}()} << 32));
    constexpr char kDigits[] = "0123456789abcdef";
    std::string id = "call_";
    for (int i = 0; i < 24; ++i) id += kDigits[random() % 16];
    return id;
  };
}

}  // namespace parlance::cli
