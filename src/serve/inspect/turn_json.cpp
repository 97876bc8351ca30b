// Writes turns for the inspector. Begin reading at turn_json.
#include "serve/inspect/turn_json.h"

#include <charconv>

#include "base/utf8.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "render/hue.h"

namespace parlance::serve {

namespace {

std::int64_t inspected(std::size_t number) { return static_cast<std::int64_t>(number); }

/// The bytes as a list, where they are no whole characters.
void write_text(JsonWriter& into, std::string_view text) {
  into.text("text", text);
  if (utf8::is_valid(text, false)) return;
  JsonWriter bytes('[');
  for (const char byte : text) bytes.item(std::to_string(static_cast<unsigned char>(byte)));
  into.raw("bytes", bytes.take());
}

/// Behind a reply that is another text in the prompt than what its tokens spell, places are the prompt's again.
std::string tokens_json(const InspectedTurn& turn) {
  JsonWriter list('[');
  std::size_t byte = 0;
  const std::span<const TokenId> ids = turn.session->ids().subspan(0, turn.prompt_tokens);
  std::span<const KeptReply> kept = turn.session->kept();
  for (std::size_t at = 0; at < ids.size(); ++at) {
    const std::string text = turn.model->tokenizer->token_text(ids[at]);
    for (; !kept.empty() && kept.front().end <= at; kept = kept.subspan(1))
      byte = static_cast<std::size_t>(kept.front().text.end);
    JsonWriter one('{');
    one.number("id", ids[at]).number("begin", inspected(byte)).number("end", inspected(byte + text.size()));
    write_text(one, text);
    if (turn.model->is_control(ids[at])) one.flag("control", true);
    if (at < turn.reused) one.flag("reused", true);
    list.item(one.take());
    byte += text.size();
  }
  return list.take();
}

std::string sampled_json(const InspectedTurn& turn) {
  JsonWriter list('[');
  std::size_t byte = 0, at = 0;
  for (std::size_t number = 0; number < turn.sampled.size(); ++number) {
    const TokenId id = turn.sampled[number];
    const std::string text = turn.model->tokenizer->token_text(id);
    while (at + 1 < turn.kinds.size() && turn.kinds[at].end <= byte) ++at;
    JsonWriter one('{');
    one.number("id", id).number("begin", inspected(byte)).number("end", inspected(byte + text.size()));
    write_text(one, text);
    one.text("kind", name_of(turn.kinds.empty() ? ReplyKind::marker : turn.kinds[at].kind));
    if (turn.model->is_control(id)) one.flag("control", true);
    if (number < turn.logprobs.size() && turn.logprobs[number]) {
      char shown[32];
      const auto [end, failed] = std::to_chars(shown, shown + sizeof shown, *turn.logprobs[number]);
      if (failed == std::errc()) one.raw("logprob", std::string_view(shown, static_cast<std::size_t>(end - shown)));
    }
    list.item(one.take());
    byte += text.size();
  }
  return list.take();
}

std::string span_json(const Conversation& conversation, const Rendering& rendering, const Span& span) {
  JsonWriter one('{');
  one.number("begin", span.begin).number("end", span.end);
  one.text("text", rendering.text().substr(span.begin, span.end - span.begin));
  one.text("hue", hue_name(hue_of(conversation, span))).text("origin", origin_name(span.origin));
  if (const Location place = place_of_span(rendering, span); place.line > 0)
    one.number("line", inspected(place.line)).number("column", inspected(place.column));
  if (const std::string path = path_of_span(conversation, span); !path.empty()) one.text("path", path);
  if (span.message >= 0) one.number("message", span.message);
  return one.take();
}

/// The prompt's spans; "": the template fails to render it again.
std::string prompt_spans(const InspectedTurn& turn) {
  RenderOptions options = turn.model->render;
  options.now = turn.now;
  options.want_spans = true;
  const Conversation& conversation = turn.session->conversation();
  const Result<Template>& chosen = turn.model->reader.template_for(conversation);
  if (!chosen) return "[]";
  const Result<Rendering> rendering = chosen->render(conversation, options);
  if (!rendering) return "[]";
  JsonWriter list('[');
  for (const Span& span : rendering->spans()) list.item(span_json(conversation, *rendering, span));
  return list.take();
}

/// The list of guarded texts that a record has.
std::string guarded_of(const InspectedTurn& turn) {
  Document parsed;
  if (!parsed.parse(origins_json(*turn.model, *turn.session, turn.now, 0))) return "[]";
  const Value guarded = parsed.root()["guarded"];
  return guarded.is_sequence() ? json_text(guarded) : "[]";
}

void write_figures(JsonWriter& into, const InspectedTurn& turn, std::size_t number) {
  into.number("number", inspected(number)).number("turn", static_cast<std::int64_t>(turn.turn));
  into.number("choice", turn.choice).text("time", turn.facts.time);
  into.number("milliseconds", static_cast<std::int64_t>(turn.seconds * 1000));
  into.text("api", turn.facts.api).text("answer", turn.facts.id).text("status", name_of(turn.facts.status));
  if (!turn.facts.error.empty()) into.text("error", turn.facts.error);
  into.number("prompt_tokens", inspected(turn.prompt_tokens)).number("reused", inspected(turn.reused));
  turn.evaluated ? into.number("evaluated", *turn.evaluated) : into.null("evaluated");
  into.number("sampled", inspected(turn.sampled.size())).text("finish_reason", turn.message.finish_reason());
  turn.broken ? into.raw("prefix_break", break_json(*turn.broken)) : into.null("prefix_break");
}

}  // namespace

std::string turn_summary(const InspectedTurn& turn, std::size_t number) {
  constexpr std::size_t kShown = 120;
  JsonWriter made('{');
  write_figures(made, turn, number);
  made.flag("grammar", turn.grammar != nullptr).number("faults", inspected(turn.message.diagnostics.size()));
  made.text("beginning", utf8::whole_prefix(turn.message.content, kShown));
  JsonWriter calls('[');
  for (const ReplyCall& call : turn.message.calls) calls.item_text(call.name);
  return made.raw("calls", calls.take()).take();
}

std::string turn_json(const InspectedTurn& turn, std::size_t number) {
  JsonWriter made('{');
  write_figures(made, turn, number);
  made.raw("spans", prompt_spans(turn)).raw("tokens", tokens_json(turn)).raw("sampled_tokens", sampled_json(turn));
  made.raw("reply", reply_json(turn.message, turn.facts.call_ids));
  JsonWriter events('[');
  for (const std::string& event : turn.events) events.item(event);
  made.raw("events", events.take());
  turn.grammar ? made.text("grammar", *turn.grammar) : made.null("grammar");
  return made.raw("guarded", guarded_of(turn)).take();
}

}  // namespace parlance::serve
