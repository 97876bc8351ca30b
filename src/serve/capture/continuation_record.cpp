// Writes the records of continuations.
#include "serve/capture/continuation_record.h"

#include "base/sha256.h"
#include "parlance/json_writer.h"
#include "serve/capture/reader.h"

namespace parlance::serve {

namespace {

/// All that was sampled is content, but for the token that ended it.
std::string content_kinds(const Continuation& one) {
  const std::size_t size = one.sampled().size();
  const std::size_t text = size > 0 && one.ended() ? size - 1 : size;
  const auto range = [](std::string_view kind, std::size_t begin, std::size_t end) {
    return JsonWriter('[').item_text(kind).item(std::to_string(begin)).item(std::to_string(end)).take();
  };
  JsonWriter list('[');
  if (text > 0) list.item(range("content", 0, text));
  if (text < size) list.item(range("stop", text, size));
  return list.take();
}

std::string continued_prompt(std::span<const TokenId> ids) {
  return JsonWriter('{')
      .number("tokens", static_cast<std::int64_t>(ids.size()))
      .number("behind", 0)
      .raw("ids", ids_json(ids))
      .take();
}

}  // namespace

std::string continuation_reply(const Continuation& one) {
  return JsonWriter('{').text("text", one.text()).text("finish_reason", one.finish_reason()).take();
}

std::string continuation_record(const ContinuationFacts& facts, const Continuation& one, std::string_view request) {
  JsonWriter made('{');
  made.text("record", "turn").text("time", facts.time).text("session", facts.session);
  made.number("turn", 1)
      .number("choice", one.wish().choice)
      .number("prompt_number", static_cast<std::int64_t>(facts.prompt));
  made.text("model", one.model()->name)
      .text("api", facts.api)
      .text("id", facts.id)
      .text("status", name_of(facts.status));
  if (!facts.error.empty()) made.text("error", facts.error);
  made.text("request", request).raw("hints", JsonWriter('{').flag("named", facts.named).take());
  made.null("from").text("key", "").number("reused", 0).raw("prompt", continued_prompt(one.wish().prompt));
  if (one.wish().grammar) {
    JsonWriter grammar('{');
    grammar.text("syntax", name_of(*one.model()->backend->facts().grammar)).text("sha256", sha256(*one.wish().grammar));
    made.raw("grammar", grammar.take());
  } else {
    made.null("grammar");
  }
  made.raw("sampling", sampling_json(*one.wish().sampling)).raw("sampled", ids_json(one.sampled()));
  if (!one.sampled_text().empty()) made.text("sampled_text", one.sampled_text());
  one.wish().logprobs ? made.raw("logprobs", logprobs_json(one.logprobs())) : made.null("logprobs");
  made.raw("kinds", content_kinds(one)).raw("reply", continuation_reply(one));
  if (one.stop_text()) made.text("stop_text", *one.stop_text());
  made.flag("length", one.end().length);
  one.end().evaluated ? made.number("evaluated", *one.end().evaluated) : made.null("evaluated");
  return sealed(made.null("prefix_break").take());
}

}  // namespace parlance::serve
