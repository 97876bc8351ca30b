// Writes records. Begin reading at turn_record.
#include "serve/capture/record.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/sha256.h"
#include "parlance/json_writer.h"
#include "parlance/version.h"
#include "serve/backends/ids_json.h"
#include "serve/capture/reader.h"
#include "serve/json/moment.h"
#include "serve/json/plain.h"

namespace parlance::serve {

namespace {

std::int64_t whole(std::size_t number) { return static_cast<std::int64_t>(number); }

/// The file of a GGUF model is hashed by its beginning, where its vocabulary is.
std::string file_json(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  std::ifstream file(path, std::ios::binary);
  std::string bytes(failed ? 0 : static_cast<std::size_t>(std::min<std::uintmax_t>(size, kMost)), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  JsonWriter made('{');
  made.text("path", path).text("sha256", sha256(bytes));
  if (bytes.size() == kMost) made.number("first_bytes", whole(kMost));
  return made.take();
}

std::string templates_json(const ModelSource& source) {
  JsonWriter list('[');
  for (const NamedTemplate& one : source.templates)
    list.item(
        JsonWriter('{').text("name", one.name).text("origin", one.origin).text("sha256", sha256(one.text)).take());
  return list.take();
}

/// Is there a control token's text that touches bytes which are not the template's? Of those that begin at one place
/// the longest touches what any of them does.
bool may_be_guarded(const ServedModel& model, const Rendering& rendering, std::size_t from) {
  const std::vector<AddedToken>& added = model.tokenizer->facts().added;
  const std::span<const Span> spans = rendering.spans();
  for (auto found = model.added_texts.find(rendering.text(), from); found;
       found = model.added_texts.find(rendering.text(), found->begin + 1)) {
    const std::size_t end = found->begin + added[found->number].text.size();
    const auto first =
        std::partition_point(spans.begin(), spans.end(), [&](const Span& span) { return span.end <= found->begin; });
    for (auto span = first; span != spans.end() && span->begin < end; ++span)
      if (span->origin != Origin::literal) return true;
  }
  return false;
}

std::string guarded_json(const ServedModel& model, const Session& session, const Rendering& rendering,
                         std::size_t from) {
  JsonWriter list('[');
  if (!may_be_guarded(model, rendering, from)) return list.take();
  const Result<PromptTokens> tokens = tokenize(rendering, session.conversation(), *model.tokenizer, model.tokenize);
  if (!tokens) return list.take();
  for (const GuardedText& one : tokens->guarded) {
    if (one.bytes.end <= from) continue;
    JsonWriter made('{');
    made.number("begin", whole(one.bytes.begin)).number("end", whole(one.bytes.end)).number("id", one.id);
    made.text("text", rendering.text().substr(one.bytes.begin, one.bytes.end - one.bytes.begin));
    list.item(made.text("path", one.path).take());
  }
  return list.take();
}

/// The spans of a prompt, or of the part of it that begins with byte `begin`.
std::string spans_json(const Conversation& conversation, const Rendering& rendering, std::size_t from,
                       std::size_t begin = 0) {
  JsonWriter list('[');
  for (const Span& span : rendering.spans()) {
    if (begin + span.end <= from) continue;
    JsonWriter one('[');
    one.item(std::to_string(begin + span.begin)).item(std::to_string(begin + span.end));
    one.item_text(origin_name(span.origin));
    const Location place = place_of_span(rendering, span);
    one.item_text(place.line > 0 ? place.name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column)
                                 : path_of_span(conversation, span));
    list.item(one.item(std::to_string(span.message)).take());
  }
  return list.take();
}

/// The same as of the whole prompt, where the session has all of it that the record needs: a long prompt is not
/// rendered once more for the few spans that are new.
std::optional<std::string> origins_of_part(const ServedModel& model, const Session& session, std::size_t from) {
  const std::optional<PromptPart> part = session.last_part();
  if (!part || part->begin > from) return std::nullopt;
  const std::span<const Span> spans = part->rendering.spans();
  const auto first = std::partition_point(spans.begin(), spans.end(),
                                          [&](const Span& span) { return part->begin + span.end <= from; });
  const bool is_cut = part->begin > 0 && first == spans.begin();  // it may have begun earlier
  if (is_cut || may_be_guarded(model, part->rendering, from - part->begin)) return std::nullopt;
  JsonWriter made('{');
  made.number("from_byte", whole(from)).number("bytes", whole(session.text().size()));
  made.raw("spans", spans_json(session.conversation(), part->rendering, from, part->begin));
  return made.raw("guarded", "[]").take();
}

std::string prompt_json(const Turn& turn, const Session& session, std::size_t behind) {
  const std::span<const TokenId> ids = session.ids().subspan(0, turn.prompt_tokens());
  JsonWriter made('{');
  made.number("tokens", whole(ids.size())).number("behind", whole(behind)).raw("ids", ids_json(ids.subspan(behind)));
  return made.take();
}

std::string grammar_json(const Turn& turn) {
  return JsonWriter('{')
      .text("syntax", name_of(*turn.model()->backend->facts().grammar))
      .text("sha256", sha256(*turn.grammar()))
      .take();
}

std::string from_json(const Held& held) {
  JsonWriter made('{');
  made.text("session", held.id).text("id", held.response_id).text("key", held.key);
  return made.text("name", held.name).take();
}

std::string hints_json(const Turn& turn) {
  const SessionHints& hints = turn.settings().hints;
  JsonWriter made('{');
  made.flag("named", !hints.session.empty());
  if (!hints.response.empty()) made.text("response", hints.response);
  return made.take();
}

/// Where a token begins in the prompt's text, behind the last reply before it that is another text there.
std::size_t byte_of_token(const ServedModel& model, const Session& session, std::size_t token) {
  KeptReply last;
  for (const KeptReply& one : session.kept())
    if (one.end <= token) last = one;
  return static_cast<std::size_t>(last.text.end) +
         bytes_of_texts(model, session.ids().subspan(last.end, token - last.end));
}

}  // namespace

std::string logprobs_json(const std::vector<std::optional<double>>& logprobs) {
  JsonWriter list('[');
  for (const std::optional<double>& one : logprobs) list.item(one ? real_json(*one) : "null");
  return list.take();
}

std::string sampling_json(const SamplingSettings& sampling) {
  JsonWriter made('{');
  for (const auto& [setting, json] : sampling.values) made.raw(name_of(setting), json);
  JsonWriter stops('[');
  for (const std::string& stop : sampling.stop) stops.item_text(stop);
  if (!sampling.stop.empty()) made.raw("stop", stops.take());
  if (!sampling.stop_ids.empty()) made.raw("stop_token_ids", ids_json(sampling.stop_ids));
  return made.take();
}

void write_break(JsonWriter& json, const PrefixBreak& broken) {
  json.text("cause", broken.cause).text("template", broken.template_place).text("input", broken.path);
  json.number("kept", whole(broken.kept)).number("lost", whole(broken.lost));
  json.flag("volatile_line", broken.volatile_line);
}

std::string break_json(const PrefixBreak& broken) {
  JsonWriter json('{');
  write_break(json, broken);
  return json.text("sentence", broken.sentence).take();
}

std::string kinds_json(const Tokenizer& tokenizer, std::span<const TokenId> sampled, std::span<const KindRange> kinds) {
  JsonWriter list('[');
  std::size_t byte = 0, at = 0, begin = 0;
  const auto add = [&](std::string_view kind, std::size_t end) {
    JsonWriter one('[');
    one.item_text(kind).item(std::to_string(begin)).item(std::to_string(end));
    list.item(one.take());
    begin = end;
  };
  std::string_view last;
  for (std::size_t number = 0; number < sampled.size(); ++number) {
    while (at + 1 < kinds.size() && kinds[at].end <= byte) ++at;
    const std::string_view kind = name_of(kinds.empty() ? ReplyKind::marker : kinds[at].kind);
    if (number > 0 && kind != last) add(last, number);
    last = kind;
    byte += tokenizer.token_text(sampled[number]).size();
  }
  if (!sampled.empty()) add(last, sampled.size());
  return list.take();
}

std::string reply_json(const ReplyMessage& message, const std::vector<std::string>& call_ids) {
  std::size_t next = 0;
  return message.to_json([&] { return next < call_ids.size() ? call_ids[next++] : std::string(); });
}

std::string origins_json(const ServedModel& model, const Session& session, CivilTime now, std::size_t from,
                         bool alone) {
  if (std::optional<std::string> made = alone ? origins_of_part(model, session, from) : std::nullopt) return *made;
  RenderOptions options = model.render;
  options.now = now;
  options.want_spans = true;
  options.want_assistant = false;
  JsonWriter made('{');
  const Result<Template>& chosen = model.reader.template_for(session.conversation());
  const Result<Rendering> rendering =
      chosen ? chosen->render(session.conversation(), options) : Result<Rendering>(chosen.error());
  if (!rendering) return made.take();
  made.number("from_byte", whole(from)).number("bytes", whole(rendering->text().size()));
  made.raw("spans", spans_json(session.conversation(), *rendering, from));
  return made.raw("guarded", guarded_json(model, session, *rendering, from)).take();
}

namespace {

std::string hashes_of(Value list) {
  std::string all;
  for (const Value& one : list.items()) all.append(one["sha256"].text()).append(" ");
  return all;
}

std::string_view name_in(Value file) {
  const std::string_view path = file["path"].text();
  return path.substr(path.rfind('/') + 1);
}

/// Of a name that both lists have, the contents are the same; and there is such a name.
bool agree(Value files, Value others) {
  bool have_one = false;
  for (const Value& file : files.items()) {
    for (const Value& other : others.items()) {
      if (name_in(file) != name_in(other)) continue;
      if (file["sha256"].text() != other["sha256"].text()) return false;
      have_one = true;
    }
  }
  return have_one;
}

}  // namespace

bool have_same_templates(Value head, Value other) {
  return hashes_of(head["templates"]) == hashes_of(other["templates"]);
}

// Heads of earlier versions list other files, not all that were read: there, what only one lists says nothing.
bool have_same_tokenizer(Value head, Value other) {
  const Value a = head["tokenizer"], b = other["tokenizer"];
  if (a["kind"].text() != b["kind"].text() || json_text(a["vocabulary"]) != json_text(b["vocabulary"])) return false;
  if (hashes_of(a["files"]) == hashes_of(b["files"])) return true;
  const bool are_whole = !a["complete"].is_undefined() && !b["complete"].is_undefined();
  return !are_whole && agree(a["files"], b["files"]);
}

std::string head_record(const ServedModel& model, std::string_view source, const std::vector<std::string>& files) {
  if (!model.backend) return {};  // it has no turns
  JsonWriter hashed('[');
  for (const std::string& file : files) hashed.item(file_json(file));
  const TokenizerFacts& facts = model.tokenizer->facts();
  const std::string tokenizer = JsonWriter('{')
                                    .text("kind", facts.kind)
                                    .number("vocabulary", static_cast<std::int64_t>(facts.vocabulary_size))
                                    .raw("files", hashed.take())
                                    .raw("complete", "true")
                                    .take();
  JsonWriter made('{');
  made.text("record", "head").number("format", kCaptureFormat).text("parlance", PARLANCE_VERSION);
  made.text("model", model.name).text("engine", model.backend->facts().name);
  const std::optional<GrammarSyntax> syntax = model.backend->facts().grammar;
  syntax ? made.text("grammars", name_of(*syntax)) : made.null("grammars");
  made.raw("templates", templates_json(model.reader.model())).raw("tokenizer", tokenizer);
  return sealed(made.raw("source", source.empty() ? "{}" : source).take());
}

std::string grammar_record(std::string_view syntax, std::string_view text, std::string_view hash) {
  JsonWriter made('{');
  made.text("record", "grammar").text("sha256", hash).text("syntax", syntax);
  return sealed(made.text("text", text).take());
}

std::string turn_record(const TurnFacts& facts, const Turn& turn, const Session& session, std::string_view request,
                        std::size_t behind) {
  const PreparedPrompt& prompt = turn.prompt();
  const Tokenizer& tokenizer = *turn.model()->tokenizer;
  JsonWriter made('{');
  made.text("record", "turn").text("time", facts.time).text("session", prompt.id);
  made.number("turn", static_cast<std::int64_t>(prompt.from ? prompt.from->turn + 1 : 1))
      .number("choice", turn.choice());
  made.text("model", turn.model()->name).text("api", facts.api);
  if (facts.generate) made.flag("generate", true);
  made.text("id", facts.id).text("status", name_of(facts.status));
  if (!facts.error.empty()) made.text("error", facts.error);
  made.text("request", request).raw("hints", hints_json(turn)).raw("now", moment_json(prompt.now));
  prompt.from ? made.raw("from", from_json(*prompt.from)) : made.null("from");
  made.text("key", facts.key);
  if (!facts.name.empty()) made.text("name", facts.name);
  made.number("reused", whole(prompt.reused)).raw("prompt", prompt_json(turn, session, behind));
  const bool is_known =
      behind > 0 && prompt.from && behind == prompt.reused;  // a long session has many ids to ask for their texts
  const std::size_t from =
      is_known && session.kept().empty() ? prompt.from->text_bytes : byte_of_token(*turn.model(), session, behind);
  made.raw("origins", origins_json(*turn.model(), session, prompt.now, from, prompt.alone));
  turn.grammar() ? made.raw("grammar", grammar_json(turn)) : made.null("grammar");
  made.raw("sampling", sampling_json(turn.settings().sampling)).raw("sampled", ids_json(turn.sampled()));
  if (!turn.sampled_text().empty()) made.text("sampled_text", turn.sampled_text());
  if (const TokenRange written = turn.written(); written.end > 0)
    made.raw("written", "[" + std::to_string(written.begin) + ", " + std::to_string(written.end) + "]");
  const auto& logprobs = turn.logprobs();
  const bool has_logprobs =
      std::any_of(logprobs.begin(), logprobs.end(), [](const auto& one) { return one.has_value(); });
  has_logprobs ? made.raw("logprobs", logprobs_json(logprobs)) : made.null("logprobs");
  made.raw("kinds", kinds_json(tokenizer, turn.sampled(), turn.kinds()));
  made.raw("reply", reply_json(turn.message(), facts.call_ids));
  JsonWriter call_ids('[');
  for (const std::string& id : facts.call_ids) call_ids.item_text(id);
  made.raw("call_ids", call_ids.take());
  if (turn.stop_text()) made.text("stop_text", *turn.stop_text());
  made.flag("length", turn.length());
  turn.end().evaluated ? made.number("evaluated", *turn.end().evaluated) : made.null("evaluated");
  prompt.broken ? made.raw("prefix_break", break_json(*prompt.broken)) : made.null("prefix_break");
  return sealed(made.take());
}

}  // namespace parlance::serve
