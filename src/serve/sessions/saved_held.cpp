// Writes and reads conversations: their SHA-256, a line of JSON, then the session as Session::save() gives it. Begin
// reading at restore.
#include "serve/sessions/saved_held.h"

#include <array>

#include "base/sha256.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"

namespace parlance::serve {

namespace {

constexpr std::int64_t kHeldFormat = 1;
constexpr std::int64_t kMostNumber = std::int64_t{1} << 40;

std::string added_json(const TokenizerFacts& facts) {
  JsonWriter list('[');
  for (const AddedToken& token : facts.added) {
    JsonWriter one('{');
    one.number("id", token.id).text("text", token.text).flag("special", token.special).flag("control", token.control);
    list.item(one.take());
  }
  return list.take();
}

/// Of what each id stands for, and of how some text is encoded.
std::string vocabulary_hash(const Tokenizer& tokenizer) {
  constexpr std::string_view kText = "Hello, world! The year 2026, 3.14 metres. Köln über\n\n  x_y don't 🙂 日本";
  std::string all;
  for (std::size_t id = 0; id < tokenizer.facts().vocabulary_size; ++id) {
    const std::string text = tokenizer.token_text(static_cast<TokenId>(id));
    all.append(std::to_string(text.size())).append(":").append(text);
  }
  std::vector<EncodedToken> tokens;
  if (tokenizer.encode(kText, nullptr, tokens)) {
    for (const EncodedToken& token : tokens) all.append(",").append(std::to_string(token.id));
  }
  return sha256(all);
}

std::string options_json(const ServedModel& model) {
  const TokenizeOptions& tokens = model.tokenize;
  const RenderOptions& render = model.render;
  JsonWriter trust('[');
  for (const std::string& path : tokens.trust) trust.item_text(path);
  JsonWriter made('{');
  made.raw("trust", trust.take()).flag("protect", tokens.protect).flag("plain_added", tokens.plain_added);
  made.flag("add_special_tokens", tokens.add_special_tokens).flag("as_is", render.as_is);
  made.flag("add_generation_prompt", render.add_generation_prompt).flag("continue_final", render.continue_final);
  return made.take();
}

std::string moment(const CivilTime& now) {
  JsonWriter list('[');
  for (const int part : {now.year, now.month, now.day, now.hour, now.minute, now.second, now.microsecond})
    list.item(std::to_string(part));
  return list.take();
}

std::string calls_json(const std::vector<ToolCall>& calls) {
  JsonWriter list('[');
  for (const ToolCall& call : calls)
    list.item(
        JsonWriter('{').text("id", call.id).text("name", call.name).text("arguments", call.arguments_json).take());
  return list.take();
}

Error not_ours(std::string_view why) {
  return Error(ErrorCode::conversation, "a shared conversation " + std::string(why));
}

/// Reads members; after the first that is not as save() writes it, all is wrong.
struct HeldReader {
  Value from;
  bool fits = true;

  std::string text(Value value) {
    fits = fits && value.is_string();
    return fits ? whole_text(value) : std::string();
  }
  std::string text(std::string_view name) { return text(from[name]); }
  std::int64_t number(Value value, std::int64_t most) {
    fits = fits && value.is_small_int() && value.integer >= 0 && value.integer <= most;
    return fits ? value.integer : 0;
  }
  CivilTime moment(std::string_view name) {
    CivilTime made;
    const std::array parts = {&made.year, &made.month, &made.day, &made.hour, &made.minute, &made.second};
    const std::array<std::int64_t, 6> most = {9999, 12, 31, 23, 59, 59};
    const std::span<const Value> items = from[name].items();
    fits = fits && items.size() == parts.size() + 1;
    for (std::size_t i = 0; fits && i < parts.size(); ++i) *parts[i] = static_cast<int>(number(items[i], most[i]));
    if (fits) made.microsecond = static_cast<int>(number(items[parts.size()], 999'999));
    fits = fits && made.month > 0 && made.day > 0;
    return made;
  }
  Message reply() {
    Message made{.role = "assistant", .content = text("content"), .reasoning_content = text("reasoning")};
    fits = fits && from["calls"].is(Kind::list);
    for (const Value& call : from["calls"].items()) {
      made.tool_calls.push_back(
          {.id = text(call["id"]), .name = text(call["name"]), .arguments_json = text(call["arguments"])});
      Document arguments;
      fits = fits && arguments.parse(made.tool_calls.back().arguments_json) && arguments.root().is(Kind::dict);
    }
    return made;
  }
};

/// The session of a conversation, with the template and the time that it began with.
Result<Session> restored_session(std::string_view saved, const ServedModel& model, HeldReader& head) {
  RenderOptions render = model.render;
  render.now = head.moment("now");
  const bool with_tools = head.number(head.from["with_tools"], 1) != 0;
  if (!head.fits) return not_ours("has other members");
  const Result<Template>& chosen = model.reader.chat_template(with_tools);
  if (!chosen) return chosen.error();
  return Session::restore(*chosen, *model.tokenizer, saved, {.render = render, .tokenize = model.tokenize});
}

}  // namespace

std::string fingerprint_of(const ServedModel& model) {
  JsonWriter templates('[');
  for (const NamedTemplate& one : model.reader.model().templates)
    templates.item(JsonWriter('{').text("name", one.name).text("sha256", sha256(one.text)).take());
  const TokenizerFacts& facts = model.tokenizer->facts();
  JsonWriter made('{');
  made.number("format", kHeldFormat).text("model", model.name).raw("templates", templates.take());
  made.text("tokenizer", facts.kind).number("vocabulary", static_cast<std::int64_t>(facts.vocabulary_size));
  made.raw("added", added_json(facts)).text("texts", vocabulary_hash(*model.tokenizer));
  return sha256(made.raw("options", options_json(model)).take());
}

std::string save(const Held& held) {
  JsonWriter head('{');
  head.number("format", kHeldFormat).text("fingerprint", held.model->fingerprint).text("id", held.id);
  head.text("response_id", held.response_id).text("content", held.reply.content);
  head.text("reasoning", held.reply.reasoning_content).raw("calls", calls_json(held.reply.tool_calls));
  head.text("written", held.written).text("key", held.key).text("key_without_system", held.key_without_system);
  head.text("variables", held.variables).text("previous", held.previous).text("superseded", held.superseded);
  head.text("first", held.first).number("messages", static_cast<std::int64_t>(held.messages));
  head.number("own_messages", static_cast<std::int64_t>(held.own.messages));
  head.number("own_bytes", static_cast<std::int64_t>(held.own.bytes));
  head.number("turn", static_cast<std::int64_t>(held.turn)).raw("now", moment(held.now));
  head.number("with_tools", held.with_tools ? 1 : 0);
  const std::string all = head.take().append("\n").append(held.session.save());
  return sha256(all).append("\n").append(all);
}

Result<std::shared_ptr<const Held>> restore(std::string_view saved, const std::shared_ptr<const ServedModel>& model) {
  constexpr std::size_t kHash = 64;
  const std::string_view hash = saved.substr(0, kHash);
  saved.remove_prefix(std::min(kHash + 1, saved.size()));
  const std::size_t line = saved.find('\n');
  if (line == saved.npos || sha256(saved) != hash) return not_ours("is damaged");
  Document document;
  if (Result<void> parsed = document.parse(saved.substr(0, line), "the shared conversation"); !parsed)
    return parsed.error();
  HeldReader head{document.root()};
  if (head.number(head.from["format"], kMostNumber) != kHeldFormat) return not_ours("has another format");
  if (head.text("fingerprint") != model->fingerprint) return not_ours("is of another template or tokenizer");
  Result<Session> session = restored_session(saved.substr(line + 1), *model, head);
  if (!session) return session.error();
  const std::size_t messages = session->conversation().messages().items().size() + 1;
  head.fits = head.number(head.from["messages"], kMostNumber) == static_cast<std::int64_t>(messages);
  auto held = std::make_shared<Held>(Held{.id = head.text("id"),
                                          .response_id = head.text("response_id"),
                                          .model = model,
                                          .session = std::move(*session),
                                          .reply = head.reply(),
                                          .written = head.text("written"),
                                          .key = head.text("key"),
                                          .key_without_system = head.text("key_without_system"),
                                          .variables = head.text("variables"),
                                          .previous = head.text("previous"),
                                          .superseded = head.text("superseded"),
                                          .first = head.text("first"),
                                          .messages = messages});
  held->text_bytes = bytes_of_texts(*model, held->session.ids());
  held->turn = static_cast<std::uint64_t>(head.number(head.from["turn"], kMostNumber));
  held->with_tools = head.number(head.from["with_tools"], 1) != 0;
  held->now = head.moment("now");
  if (!head.from["own_messages"].is_undefined()) {  // older gateways do not tell
    held->own.messages = static_cast<std::size_t>(head.number(head.from["own_messages"], kMostNumber));
    held->own.bytes = static_cast<std::size_t>(head.number(head.from["own_bytes"], kMostNumber));
  }
  if (!head.fits) return not_ours("has other members");
  return std::shared_ptr<const Held>(std::move(held));
}

}  // namespace parlance::serve
