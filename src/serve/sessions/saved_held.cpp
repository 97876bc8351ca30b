// Writes and reads turns: their SHA-256, a line with the place of the turn before, a line of JSON, then the variables
// of the conversation, its messages, and the text of the prompt. Begin reading at restore.
#include "serve/sessions/saved_held.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/sha256.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "serve/json/members.h"
#include "serve/json/moment.h"
#include "serve/models/probe_text.h"

namespace parlance::serve {

namespace {

constexpr std::int64_t kHeldFormat = 3;
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
  std::string all;
  for (std::size_t id = 0; id < tokenizer.facts().vocabulary_size; ++id) {
    const std::string text = tokenizer.token_text(static_cast<TokenId>(id));
    all.append(std::to_string(text.size())).append(":").append(text);
  }
  std::vector<EncodedToken> tokens;
  if (tokenizer.encode(kProbeText, nullptr, tokens)) {
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
    const std::optional<CivilTime> made = moment_of(from[name]);
    fits = fits && made.has_value();
    return made.value_or(CivilTime());
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
  /// The calls of a reply that is broken, as they were told; "": it is not.
  std::string told_calls() {
    if (from["told_calls"].is_undefined()) return {};
    std::string told = text("told_calls");
    Document calls;
    fits = fits && calls.parse(told) && calls.root().is(Kind::list);
    return told;
  }
};

/// The calls of a reply that is broken (Held::broken).
std::string told_calls_of(const Message& reply) {
  for (const JsonMember& member : reply.members)
    if (member.name == "tool_calls") return member.json;
  return {};
}

/// What the turns up to one have, put together.
struct Together {
  SavedSession session;
  std::string rest;                        ///< the variables besides the messages, as JSON
  std::vector<std::string> messages;       ///< each as JSON
  std::vector<std::string> kept, guarded;  ///< items of the lists of these names in the place, as JSON

  /// False: these bytes do not go on from what is there.
  bool add(HeldReader& head, std::string_view body, bool is_first);
  std::string conversation() const;
  /// session.place with the lists in it.
  std::string place() const;
};

constexpr std::string_view kKept = "kept", kGuarded = "guarded";  // what grows of Session::save_place()

/// The place of a session, with what it has in its growing lists beyond the turn before.
std::string place_behind(const Session& session, std::size_t kept, std::size_t guarded) {
  Document place;
  if (!place.parse(session.save_place(), "the place of a session")) return "{}";
  const auto list_from = [&place](std::string_view name, std::size_t first) {
    const std::span<const Value> all = place.root()[name].items();
    JsonWriter list('[');
    for (const Value& one : all.subspan(std::min(first, all.size()))) list.item(json_text(one));
    return list.take();
  };
  JsonWriter made = members_without(place.root(), {kKept, kGuarded});
  return made.raw(kKept, list_from(kKept, kept)).raw(kGuarded, list_from(kGuarded, guarded)).take();
}

/// A list of items that are JSON.
std::string listed_items(const std::vector<std::string>& items) {
  JsonWriter list('[');
  for (const std::string& item : items) list.item(item);
  return list.take();
}

/// Cut where the turn goes on from the one before, which has all that it says it has.
template <class List>
bool cut(List& list, std::size_t size) {
  if (size > list.size()) return false;
  list.resize(size);
  return true;
}

bool Together::add(HeldReader& head, std::string_view body, bool is_first) {
  const bool is_whole = head.number(head.from["whole"], 1) != 0;
  const auto size = [&](std::string_view name) {
    return static_cast<std::size_t>(head.number(head.from[name], kMostNumber));
  };
  const auto shared = [&](std::string_view name) { return is_whole ? 0 : size(name); };
  const std::size_t rest_size = size("rest"), more_size = size("more"), text_size = size("text");
  const bool fits = head.fits && is_whole == is_first && rest_size <= body.size() &&
                    more_size <= body.size() - rest_size && text_size == body.size() - rest_size - more_size;
  if (!fits || !cut(session.ids, shared("before_ids")) || !cut(session.text, shared("before_text")) ||
      !cut(messages, shared("before_messages")) || !cut(kept, shared("before_kept")) ||
      !cut(guarded, shared("before_guarded")))
    return false;
  if (rest_size > 0) rest = body.substr(0, rest_size);
  Document more;
  if (!more.parse(body.substr(rest_size, more_size), "the shared conversation") || !more.root().is(Kind::list))
    return false;
  for (const Value& message : more.root().items()) messages.push_back(json_text(message));
  session.text += body.substr(rest_size + more_size);
  head.fits = head.fits && head.from["ids"].is(Kind::list);
  for (const Value& id : head.from["ids"].items())
    session.ids.push_back(static_cast<TokenId>(head.number(id, std::numeric_limits<TokenId>::max())));
  const Value place = head.from["place"];
  head.fits = head.fits && place[kKept].is(Kind::list) && place[kGuarded].is(Kind::list);
  for (const Value& one : place[kKept].items()) kept.push_back(json_text(one));
  for (const Value& one : place[kGuarded].items()) guarded.push_back(json_text(one));
  session.place = members_without(place, {kKept, kGuarded}).take();
  return head.fits;
}

std::string Together::conversation() const {
  Document others;
  JsonWriter list('['), made('{');
  for (const std::string& message : messages) list.item(message);
  made.raw("messages", list.take());
  if (others.parse(rest, "the shared conversation")) append_members_without(made, others.root(), {"messages"});
  return made.take();
}

std::string Together::place() const {
  Document others;
  JsonWriter made('{');
  if (others.parse(session.place, "the place of a session")) append_members_without(made, others.root(), {});
  return made.raw(kKept, listed_items(kept)).raw(kGuarded, listed_items(guarded)).take();
}

/// The session of a conversation, with the template and the time that it began with.
Result<Session> restored_session(Together& saved, const ServedModel& model, HeldReader& head) {
  RenderOptions render = model.render;
  render.now = head.moment("now");
  const bool with_tools = head.number(head.from["with_tools"], 1) != 0;
  if (!head.fits) return not_ours("has other members");
  const Result<Template>& chosen = model.reader.chat_template(with_tools);
  if (!chosen) return chosen.error();
  saved.session.conversation = saved.conversation();
  saved.session.place = saved.place();
  return Session::restore(*chosen, *model.tokenizer, saved.session, {.render = render, .tokenize = model.tokenize});
}

/// The lines of a turn that was saved.
struct SavedLines {
  std::string_view hash, before, head, body;
  std::string_view hashed;  ///< all behind the hash
  bool are_there = false;
};

SavedLines lines_of(std::string_view saved) {
  SavedLines lines;
  const auto line = [](std::string_view& rest, std::string_view& into) {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) return false;
    into = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return true;
  };
  std::string_view rest = saved;
  lines.are_there = line(rest, lines.hash);
  lines.hashed = rest;
  lines.are_there = lines.are_there && line(rest, lines.before) && line(rest, lines.head);
  lines.body = rest;
  return lines;
}

std::string rest_of(const Conversation& conversation) {
  return members_without(conversation.variables(), {"messages"}).take();
}

std::int64_t whole_number(std::size_t number) { return static_cast<std::int64_t>(number); }

}  // namespace

std::string shared_place(const ServedModel& model, const TurnName& name) {
  return "parlance:turn:" + sha256(model.fingerprint + name_of_turn(name));
}

std::string_view place_before(std::string_view saved) { return lines_of(saved).before; }

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

std::string save(const Held& held, SavedAs as) {
  const bool is_whole = as == SavedAs::whole || held.behind.name.empty();
  const Behind& behind = held.behind;
  const std::size_t first_id = is_whole ? 0 : behind.ids, first_byte = is_whole ? 0 : behind.text;
  const Conversation& conversation = held.session.conversation();
  const std::span<const Value> messages = conversation.messages().items();
  JsonWriter more('['), ids('[');
  for (const Value& message : messages.subspan(is_whole ? 0 : behind.messages)) more.item(json_text(message));
  for (const TokenId id : held.session.ids().subspan(first_id)) ids.item(std::to_string(id));
  const std::string rest = is_whole ? rest_of(conversation) : "", list = more.take();
  JsonWriter head('{');
  head.number("format", kHeldFormat).text("fingerprint", held.model->fingerprint).text("id", held.id);
  head.text("name", held.name)
      .number("choice", held.choice)
      .number("named", held.named ? 1 : 0)
      .text("response_id", held.response_id);
  head.text("content", held.reply.content).text("reasoning", held.reply.reasoning_content);
  head.raw("calls", calls_json(held.reply.tool_calls)).text("written", held.written).text("key", held.key);
  if (held.broken) head.text("told_calls", told_calls_of(held.reply));
  head.text("key_without_system", held.key_without_system).text("variables", held.variables);
  head.text("previous", held.previous).text("superseded", held.superseded).text("first", held.first);
  head.number("messages", whole_number(held.messages)).number("own_messages", whole_number(held.own.messages));
  head.number("own_bytes", whole_number(held.own.bytes)).number("turn", static_cast<std::int64_t>(held.turn));
  head.raw("now", moment_json(held.now)).number("with_tools", held.with_tools ? 1 : 0);
  head.number("whole", is_whole ? 1 : 0).text("before", behind.name).number("before_ids", whole_number(behind.ids));
  head.number("before_text", whole_number(behind.text)).number("before_messages", whole_number(behind.messages));
  head.number("text", whole_number(held.session.text().size() - first_byte));
  head.number("rest", whole_number(rest.size())).number("more", whole_number(list.size()));
  head.number("before_kept", whole_number(behind.kept)).number("before_guarded", whole_number(behind.guarded));
  head.raw("ids", ids.take());
  head.raw("place", place_behind(held.session, is_whole ? 0 : behind.kept, is_whole ? 0 : behind.guarded));
  std::string all = is_whole ? "" : shared_place(*held.model, behind.name);
  all.append("\n").append(head.take()).append("\n").append(rest).append(list);
  all.append(held.session.text().substr(first_byte));
  return sha256(all).append("\n").append(all);
}

Result<std::shared_ptr<const Held>> restore(std::span<const std::string_view> saved,
                                            const std::shared_ptr<const ServedModel>& model) {
  Together together;
  Document document;
  for (const std::string_view& one : saved) {
    const SavedLines lines = lines_of(one);
    if (!lines.are_there || sha256(lines.hashed) != lines.hash) return not_ours("is damaged");
    document = Document();
    if (Result<void> parsed = document.parse(lines.head, "the shared conversation"); !parsed) return parsed.error();
    HeldReader head{document.root()};
    if (head.number(head.from["format"], kMostNumber) != kHeldFormat) return not_ours("has another format");
    if (head.text("fingerprint") != model->fingerprint) return not_ours("is of another template or tokenizer");
    if (!together.add(head, lines.body, &one == saved.data())) return not_ours("does not go on from the turn before");
  }
  if (saved.empty()) return not_ours("is not there");
  HeldReader head{document.root()};
  Result<Session> session = restored_session(together, *model, head);
  if (!session) return session.error();
  const std::size_t messages = session->conversation().messages().items().size() + 1;
  const auto number = [&head](std::string_view name) {
    return static_cast<std::size_t>(head.number(head.from[name], kMostNumber));
  };
  head.fits = number("messages") == messages;
  auto held = std::make_shared<Held>(Held{.id = head.text("id"),
                                          .response_id = head.text("response_id"),
                                          .model = model,
                                          .session = std::move(*session),
                                          .name = head.text("name"),
                                          .choice = static_cast<unsigned>(number("choice")),
                                          .named = number("named") == 1,
                                          .reply = head.reply(),
                                          .written = head.text("written"),
                                          .key = head.text("key"),
                                          .key_without_system = head.text("key_without_system"),
                                          .variables = head.text("variables"),
                                          .previous = head.text("previous"),
                                          .superseded = head.text("superseded"),
                                          .first = head.text("first"),
                                          .messages = messages});
  held->behind = {.name = head.text("before"),
                  .ids = number("before_ids"),
                  .text = number("before_text"),
                  .messages = number("before_messages"),
                  .kept = number("before_kept"),
                  .guarded = number("before_guarded")};
  if (std::string told = head.told_calls(); !told.empty()) {
    held->reply.members = {{"tool_calls", std::move(told)}};
    held->broken = true;
  }
  held->text_bytes = bytes_of_texts(*model, held->session.ids());
  held->turn = number("turn");
  held->with_tools = number("with_tools") == 1;
  held->now = head.moment("now");
  held->own = {.messages = number("own_messages"), .bytes = number("own_bytes")};
  const Behind& behind = held->behind;
  const bool is_behind = behind.ids <= held->session.ids().size() && behind.text <= held->session.text().size() &&
                         behind.messages < messages && behind.kept <= held->session.kept().size() &&
                         behind.guarded <= held->session.guarded().size();
  const bool is_named = held->name == turn_name(held->id, held->response_id, held->choice, held->key);
  if (!head.fits || !is_behind || !is_named) return not_ours("has other members");
  return std::shared_ptr<const Held>(std::move(held));
}

std::shared_ptr<const Held> restore(const std::shared_ptr<const Past>& past) {
  std::vector<std::string_view> saved;
  for (const Past* one = past.get(); one != nullptr; one = one->before.get()) saved.push_back(one->saved);
  std::reverse(saved.begin(), saved.end());
  const Result<std::shared_ptr<const Held>> restored = restore(saved, past->model);
  if (!restored) return nullptr;
  auto held = std::const_pointer_cast<Held>(*restored);  // nobody else has it yet
  if (past->before == nullptr) held->behind = {};
  held->behind.past = past->before;
  held->captured = past->captured;
  std::call_once(held->own_past->once, [&] { held->own_past->past = past; });
  return held;
}

}  // namespace parlance::serve
