// Reads chat requests. Begin reading at read_chat.
#include "serve/fronts/chat_request.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "parlance/json_writer.h"
#include "serve/fronts/answer_form.h"
#include "serve/fronts/block_error.h"
#include "serve/fronts/own_grammar.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/shapes/member_values.h"
#include "serve/fronts/shapes/message_shape.h"
#include "serve/fronts/shapes/tool_shape.h"
#include "serve/fronts/threads.h"
#include "serve/random_id.h"
#include "serve/turn/continuation.h"
#include "serve/turn/reply_begin.h"

namespace parlance::serve {

std::string messages_of_generate(Value body) {
  JsonWriter messages('[');
  if (body["system"].is_string() && !body["system"].text().empty())
    messages.item(JsonWriter('{').text("role", "system").text("content", body["system"].text()).take());
  if (!body["prompt"].text().empty()) {
    JsonWriter user('{');
    user.text("role", "user").text("content", body["prompt"].text());
    if (body["images"].is_sequence()) user.raw("images", json_text(body["images"]));
    messages.item(user.take());
  }
  JsonWriter made('{');
  made.raw("messages", messages.take());
  append_members_without(made, body, {"prompt", "system", "images"});
  return made.take();
}

namespace {

/// How many messages at the beginning the model brings along (add_model).
std::size_t messages_of_model(const ServedModel& model, const Conversation& conversation) {
  const ModelSource& source = model.reader.model();
  const std::span<const Value> messages = conversation.messages().items();
  std::size_t count = 0;
  const auto take = [&](std::string_view role, std::string_view content) {
    if (count >= messages.size()) return;
    const Value message = messages[count];
    if (message["role"].text() == role && whole_text(message["content"]) == content) ++count;
  };
  if (!source.system.empty()) take("system", source.system);
  for (const SourceMessage& one : source.messages) take(one.role, one.content);
  return count;
}

/// Counts what is at the beginning of a conversation. Passes join system messages for some templates.
class HeadCounter {
 public:
  HeadCounter(const ServedModel& model, const Conversation& conversation)
      : messages_(conversation.messages().items()), head_{.messages = messages_of_model(model, conversation)} {}

  /// Is the next message this content, and no more?
  bool take(Value content) {
    if (head_.messages >= messages_.size()) return false;
    const Value found = messages_[head_.messages]["content"];
    if (json_text(found) == json_text(content)) return ++head_.messages, true;
    if (!found.is_string() || !content.is_string()) return false;
    const std::string joined = whole_text(content) + "\n\n";
    if (whole_text(found).starts_with(joined)) head_.bytes = joined.size();
    return false;
  }
  const OwnHead& head() const { return head_; }

 private:
  std::span<const Value> messages_;
  OwnHead head_;
};

std::string behind_bytes(std::string text, std::size_t bytes) { return text.erase(0, std::min(bytes, text.size())); }

/// The messages behind a head, as JSON.
template <class ToJson>
std::vector<std::string> behind(std::span<const Value> messages, const OwnHead& head, ToJson to_json) {
  std::vector<std::string> made;
  for (std::size_t at = head.messages; at < messages.size(); ++at) {
    if (at > head.messages || head.bytes == 0) {
      made.push_back(to_json(messages[at]));
      continue;
    }
    JsonWriter cut('{');
    for (const DictEntry& member : messages[at].members()) {
      if (member.key.text() == "content")
        cut.text("content", behind_bytes(whole_text(member.value), head.bytes));
      else
        cut.raw(member.key.text(), json_text(member.value));
    }
    made.push_back(cut.take());
  }
  return made;
}

std::vector<std::string> behind(std::span<const Value> messages, const OwnHead& head) {
  return behind(messages, head, [](Value message) { return json_text(message); });
}

/// The instructions of a request, each as a message.
std::vector<std::string> instructions_of(const ServedModel& model, Value body) {
  Value said;  // of /api/generate, the system message
  if (body["messages"].is_undefined()) said = is_given(body["instructions"]) ? body["instructions"] : body["system"];
  if (said.is_string() && said.text().empty()) return {};
  if (said.is_string()) return {JsonWriter('{').text("role", "system").text("content", whole_text(said)).take()};
  if (!said.is_sequence()) return {};
  const std::string alone = JsonWriter('{').raw("input", "[]").raw("instructions", json_text(said)).take();
  const Result<ChatRequest> request = model.reader.read(alone, "instructions");
  if (!request) return {};
  return behind(request->conversation.messages().items(),
                {.messages = messages_of_model(model, request->conversation)});
}

}  // namespace

OwnHead own_head_of(const ServedModel& model, const Conversation& conversation, Value body) {
  HeadCounter counter(model, conversation);
  Document message;
  for (const std::string& one : instructions_of(model, body))
    if (!message.parse(one) || !counter.take(message.root()["content"])) break;
  return counter.head();
}

namespace {

/// Passes make ids of a call and of its result alike, but only where they see both. So what is joined with earlier
/// messages has the ids that the request itself has, at the places from which those in `more` were made.
class OwnIds {
 public:
  OwnIds(const Conversation& more, Value body) : more_(more) {
    std::size_t number = 0;
    for (const Value& item : body["input"].items())
      ids_.emplace("input[" + std::to_string(number++) + "].call_id", item["call_id"]);
  }
  /// A message of `more`, as JSON.
  std::string message_json(Value message) const {
    JsonWriter made('{');
    for (const DictEntry& member : message.members()) {
      const std::string_view name = member.key.text();
      if (name == "tool_call_id")
        made.raw(name, id_json(member.value));
      else
        made.raw(name, name == "tool_calls" ? calls_json(member.value) : json_text(member.value));
    }
    return made.take();
  }

 private:
  std::string id_json(Value id) const {
    const auto own = ids_.find(more_.path_of(id));
    return json_text(own != ids_.end() && own->second.is_string() ? own->second : id);
  }
  std::string calls_json(Value calls) const {
    if (!calls.is_sequence()) return json_text(calls);
    JsonWriter list('[');
    for (const Value& call : calls.items()) {
      JsonWriter made('{');
      for (const DictEntry& member : call.members())
        made.raw(member.key.text(), member.key.text() == "id" ? id_json(member.value) : json_text(member.value));
      list.item(made.take());
    }
    return list.take();
  }

  const Conversation& more_;
  std::unordered_map<std::string, Value> ids_;
};

/// A request that goes on from an answer has only what is new. What earlier requests had as input stays; each one's
/// instructions, and what the model brings along, are its own. A thread has its tools from the request that began it.
Result<ChatRequest> behind_response(const ServedModel& model, const Held& held, const Conversation& more, Value given) {
  Conversation reply;
  if (Result<void> added = reply.add(held.reply); !added) return added.error();
  JsonWriter messages('[');
  for (const std::string& message : instructions_of(model, given)) messages.item(message);
  for (const std::string& message : behind(held.session.conversation().messages().items(), held.own))
    messages.item(message);
  messages.item(json_text(reply.messages().items().front()));
  const OwnIds ids(more, given);
  const auto to_json = [&ids](Value message) { return ids.message_json(message); };
  for (const std::string& message : behind(more.messages().items(), own_head_of(model, more, given), to_json))
    messages.item(message);
  JsonWriter body('{');
  body.raw("messages", messages.take());
  const Value of_thread = thread_of(given).empty() ? Value() : held.session.conversation().variables()["tools"];
  const Value tools = is_given(of_thread) ? of_thread : more.variables()["tools"];
  append_members_without(body, more.variables(), {"messages", "tools"});
  if (!tools.is_undefined()) body.raw("tools", json_text(tools));
  return model.reader.consume(body.take(), "the request with the conversation before it");
}

/// The calls before a request, and the results that it has.
EarlierCalls calls_before(const Held& held, const Conversation& more) {
  EarlierCalls found;
  for (const Value& message : held.session.conversation().messages().items())
    for (const Value& call : message["tool_calls"].items()) found.calls.emplace_back(call["id"].text());
  Conversation reply;
  const bool is_read = bool(reply.add(held.reply));
  for (const Value& message : is_read ? reply.messages().items() : std::span<const Value>())
    for (const Value& call : message["tool_calls"].items()) found.calls.emplace_back(call["id"].text());
  for (const Value& message : more.messages().items())
    if (const Value id = message["tool_call_id"]; message["role"].text() == "tool" && id.is_string())
      found.results.emplace(more.path_of(id), id.text());
  return found;
}

Result<ChatRequest> read_with_earlier(const Sessions& sessions, const std::shared_ptr<const ServedModel>& model,
                                      const RequestText& given, const SessionHints& hints, ConversationFacts* facts) {
  const Value body = given.body;
  const auto note = [facts](const Result<ChatRequest>& read) {
    if (facts != nullptr && read) facts->losses = known_losses(read->conversation);
  };
  const bool is_thread = given.api == ReplyApi::anthropic && is_given(body["thread"]);
  const bool has_context = given.api == ReplyApi::ollama && is_given(body["context"]);
  if (hints.response.empty() && !is_thread && !has_context) {
    Result<ChatRequest> read = model->reader.read(given.text, "the request", sent_to(given.api));
    note(read);
    return read;
  }
  // A template must not take them for variables.
  const std::string own =
      members_without(body, {"previous_response_id", "thread", has_context ? "context" : ""}).take();
  Result<ChatRequest> request = model->reader.read(own, "the request", sent_to(given.api));
  note(request);
  if (!request || hints.response.empty()) return request;
  const std::shared_ptr<const Held> held = sessions.by_response(model, hints.response, hints.owner);
  if (held == nullptr) {
    if (given.api == ReplyApi::ollama)
      return Error(ErrorCode::conversation, "the context is of no answer that is known here, or not any more")
          .input("context")
          .hint("leave it out, or send the whole conversation to /api/chat");
    const std::string what = is_thread ? "the message '" : "the response '";
    return Error(ErrorCode::conversation, what + hints.response + "' is not known here, or not any more")
        .input(is_thread ? "thread.previous_message_id" : "previous_response_id")
        .hint("send the whole conversation");
  }
  if (facts != nullptr) facts->earlier = calls_before(*held, request->conversation);
  return behind_response(*model, *held, request->conversation, given.body);
}

}  // namespace

Result<ChatRequest> read_conversation(const Sessions& sessions, const std::shared_ptr<const ServedModel>& model,
                                      const RequestText& given, const SessionHints& hints, ConversationFacts* facts) {
  Result<ChatRequest> request = read_with_earlier(sessions, model, given, hints, facts);
  if (!request && given.api == ReplyApi::anthropic) return with_type_of_block(request.error(), given.body);
  if (!request) return request;
  if (Result<void> said = say_where_reply_begins(request->conversation, given.body, given.api); !said)
    return said.error();
  return request;
}

Result<void> check_input(Value body) {
  const Value input = body["input"];
  if (is_given(input) && !input.is_string() && !input.is_sequence())
    return Error(ErrorCode::conversation, "input must be a string or a list of items").input("input");
  const Value previous = body["previous_response_id"], instructions = body["instructions"];
  if (is_given(previous) && previous.text().empty())
    return Error(ErrorCode::conversation, "previous_response_id must be the id of a response")
        .input("previous_response_id");
  if (is_given(instructions) && !instructions.is_string() && !instructions.is_sequence())
    return Error(ErrorCode::conversation, "instructions must be a string or a list of messages").input("instructions");
  if (is_given(input) || is_given(previous)) return {};
  return Error(ErrorCode::conversation, "input is missing").input("input");
}

namespace {

Result<Turn> plan_turn(const Sessions& sessions, const std::shared_ptr<const ServedModel>& model,
                       const RequestText& given, ChatRequest request, TurnSettings settings) {
  settings.own = own_head_of(*model, request.conversation, given.body);
  Result<Turn> turn = Turn::plan(model, sessions, std::move(request), settings);
  if (turn || turn.error().code() != ErrorCode::undefined) return turn;
  // Of a special token, mostly, that nobody told.
  Result<ChatRequest> again = read_conversation(sessions, model, given, settings.hints);
  if (!again) return again.error();
  if (const Result<ReplyStart> set = model->reader.reply_to(*again, model->render); !set) return set.error();
  return Turn::plan(model, sessions, std::move(*again), settings);
}

/// What a client asks for in vain must not be left out in silence.
Result<void> check_asked(Value body, const ChatApi& api) {
  for (const std::string_view name : {"prompt", "system"}) {
    if (api.generate && is_given(body[name]) && !body[name].is_string())
      return Error(ErrorCode::conversation, std::string(name) + " must be a string").input(std::string(name));
  }
  if (Result<void> given = api.generate ? refuse_suffix(body) : Result<void>(); !given) return given;
  if (api.generate && !body["template"].text().empty())
    return Error(ErrorCode::conversation, "template: the model's own is used; with `raw` there is none")
        .input("template");
  return api.api == ReplyApi::responses ? check_input(body) : Result<void>();
}

/// In /api/generate, the members of the two messages that its request was made to.
std::string path_in_generate(Value body, std::string_view path) {
  if (!path.starts_with("messages[")) return std::string(path);
  const bool has_system = body["system"].is_string() && !body["system"].text().empty();
  if (has_system && path.starts_with("messages[0]")) return "system";
  const std::string_view inside = path.substr(std::min(path.find(']') + 1, path.size()));
  return inside.starts_with(".images") ? std::string(inside.substr(1)) : "prompt";
}

/// What the prompt will lack. Where nobody asks for it, only what is known without a render.
void find_losses(Chat& chat, Value body, const Conversation& conversation) {
  const ServedModel& model = *chat.model;
  if (chat.looks_for_losses) {
    Losses found = model.loss_finders->losses(model.reader, conversation, model.render_now());
    for (Loss& loss : chat.losses) {  // of a request whose conversation was joined with an earlier one
      const bool is_new =
          std::none_of(found.begin(), found.end(), [&](const Loss& one) { return one.path == loss.path; });
      if (is_new) found.push_back(std::move(loss));
    }
    chat.losses = std::move(found);
  }
  chat.losses = without_obeyed(std::move(chat.losses), body);
  if (chat.api.generate)
    for (Loss& loss : chat.losses) loss.path = path_in_generate(body, loss.path);
  add_unserved(model, body, chat.losses);
  add_unserved_in_chats(body, chat.losses);
}

/// What the reply will not be held to.
void find_losses_of_reply(Chat& chat, Value body) {
  const BackendFacts& engine = chat.model->backend->facts();
  const Conversation& conversation = chat.turns.front().prompt().session.conversation();
  const std::vector<GrammarNote>& notes = chat.turns.front().grammar_notes();
  add_loosened(notes, body, chat.losses);
  if (chat.explain) chat.notes = grammar_notes_json(notes, conversation, body);
  if (engine.grammar || !may_constrain(conversation.variables())) return;
  const Result<GrammarOptions> asked = grammar_options(conversation);
  if (asked) add_unenforced(engine, *asked, !conversation.tools().items().empty(), body, chat.losses);
}

Result<void> plan_turns(Call& call, Chat& chat, Value body, std::string_view text, bool may_wait) {
  const RequestLimits& limits = chat.model->limits;
  const bool is_anthropics = chat.api.api == ReplyApi::anthropic;
  SessionHints hints = hints_of(call.exchange.request(), body);
  if (hints.session.empty()) hints.session = chat.conversation;
  if (is_anthropics && is_given(body["thread"])) hints.response = thread_of(body);
  if (chat.api.generate && !body["context"].items().empty()) {
    const Result<std::vector<TokenId>> context = read_ids(body["context"], *chat.model, "context");
    if (!context) return context.error();
    hints.response = context_id(*context);
  }
  const std::int64_t least_tokens = is_anthropics ? 0 : 1;  // 0: only evaluate the prompt
  const Result<TurnSettings> settings = turn_settings(*chat.model, body, std::move(hints), least_tokens);
  if (!settings) return settings.error();
  const Result<unsigned> choices = chat.api.api == ReplyApi::openai ? choices_of(body) : 1U;
  if (!choices) return choices.error();
  const Sessions sessions(call.gateway.sessions(), call.gateway.shared(), may_wait);
  const RequestText given{.api = chat.api.api, .body = body, .text = text};
  ConversationFacts facts;
  Result<ChatRequest> request = read_conversation(sessions, chat.model, given, settings->hints, &facts);
  if (!request) return request.error();
  if (Result<void> known = check_results(body, chat.api.api, facts.earlier); !known) return known;
  chat.losses.insert(chat.losses.end(), std::make_move_iterator(facts.losses.begin()),
                     std::make_move_iterator(facts.losses.end()));
  const std::size_t messages = request->conversation.messages().items().size();
  if (Result<void> fits = check_messages(limits, messages); !fits) return fits;
  if (Result<void> said = check_said(request->conversation); !said) return said;
  chat.logprobs = settings->logprobs.has_value();
  find_losses(chat, body, request->conversation);
  Result<Turn> turn = plan_turn(sessions, chat.model, given, std::move(*request), *settings);
  if (!turn) return turn.error();
  chat.turns.push_back(std::move(*turn));
  find_losses_of_reply(chat, body);
  while (chat.turns.size() < *choices)
    chat.turns.push_back(chat.turns.front().another(static_cast<unsigned>(chat.turns.size())));
  return {};
}

/// An object with members that an answer must have, which are null where the request has none.
std::string with_nulls(Value object, std::initializer_list<std::string_view> names) {
  JsonWriter made('{');
  for (const DictEntry& member : object.members()) made.raw(member.key.text(), json_text(member.value));
  for (const std::string_view name : names)
    if (object[name].is_undefined()) made.null(name);
  return made.take();
}

/// A member of a request as the answers of Responses repeat it: parts that a request may leave out, an answer has.
std::string repeated_json(std::string_view name, Value value) {
  if (name == "reasoning" && value.is(Kind::dict)) return with_nulls(value, {"effort", "summary"});
  if (name != "tools" || !value.is_sequence()) return json_text(value);
  JsonWriter list('[');
  for (const Value& tool : value.items()) {
    const bool is_function = tool["type"].text() == "function";
    list.item(is_function ? with_nulls(tool, {"description", "parameters", "strict"}) : json_text(tool));
  }
  return list.take();
}

/// The members of a request for its answer. The items of its conversation are no part of it.
std::vector<std::pair<std::string, std::string>> members_of(Value body, const KeptBefore& before) {
  std::vector<std::pair<std::string, std::string>> made;
  const auto add = [&made](std::string_view name, std::string json) { made.emplace_back(name, std::move(json)); };
  for (const DictEntry& member : body.members()) {
    const std::string_view name = member.key.text();
    const bool is_whole_input = name == "input" && !before.conversation.empty();
    if (!is_whole_input) {
      add(name, repeated_json(name, member.value));
      continue;
    }
    JsonWriter own('[');
    for (const Value& item : member.value.items().subspan(before.items)) own.item(json_text(item));
    add(name, own.take());
  }
  if (!before.conversation.empty()) add("conversation", JsonWriter('{').text("id", before.conversation).take());
  return made;
}

}  // namespace

Result<TurnSettings> turn_settings(const ServedModel& model, Value body, SessionHints hints,
                                   std::int64_t least_tokens) {
  Result<SamplingSettings> sampling = read_sampling(model.limits, body, least_tokens);
  if (!sampling) return sampling.error();
  if (Result<void> checked = check_ids(model, *sampling); !checked) return checked.error();
  const Result<std::optional<std::int64_t>> reasoning = reasoning_limit(model.limits, body);
  if (!reasoning) return reasoning.error();
  Result<OwnGrammar> grammar = read_own_grammar(model, body);
  if (!grammar) return grammar.error();
  return TurnSettings{.sampling = std::move(*sampling),
                      .hints = std::move(hints),
                      .new_session = random_id("session-"),
                      .logprobs = logprobs_of(body),
                      .reasoning_tokens = *reasoning,
                      .grammar = std::move(*grammar)};
}

Result<Turn> plan_turn(const Sessions& sessions, const std::shared_ptr<const ServedModel>& model,
                       const RequestText& given, const TurnSettings& settings) {
  Result<ChatRequest> request = read_conversation(sessions, model, given, settings.hints);
  if (!request) return request.error();
  return plan_turn(sessions, model, given, std::move(*request), settings);
}

namespace {

/// 0, "0", "0s".
bool is_no_time(Value keep) {
  if (!keep.is_string()) return keep.is_small_int() && keep.integer == 0;
  return keep.text().starts_with('0') && keep.text().find_first_of("123456789") == std::string_view::npos;
}

/// What a request without messages asks Ollama for: that the model is loaded, or no longer; "": it has some. Neither is
/// done by an engine here, which has its model, and is not asked.
Result<std::string> load_asked(Value body, bool generate) {
  const Value images = body["images"], messages = body["messages"];
  const bool says = generate ? !body["prompt"].text().empty() || !images.items().empty()
                             : is_given(messages) && (!messages.is_sequence() || !messages.items().empty());
  if (says) return std::string();
  if (body["model"].text().empty()) return Error(ErrorCode::conversation, "model is required").input("model");
  return std::string(is_no_time(body["keep_alive"]) ? "unload" : "load");
}

Result<std::unique_ptr<Chat>> read_chat_of(Call& call, NamedInput input, const ModelRef& model, const ChatApi& api,
                                           bool may_wait) {
  const auto& [body, text, losses, before] = input;
  const Value stream = body["stream"], usage = body["stream_options"];
  if (is_given(stream) && !stream.is(Kind::boolean))
    return Error(ErrorCode::conversation, "stream must be true or false").input("stream");
  if (is_given(usage) && !usage.is(Kind::dict))
    return Error(ErrorCode::conversation, "stream_options must be an object").input("stream_options");
  if (is_given(usage["include_usage"]) && !usage["include_usage"].is(Kind::boolean))
    return Error(ErrorCode::conversation, "stream_options.include_usage must be true or false")
        .input("stream_options.include_usage");
  const bool streams = flag_of(stream, api.streams_by_default);
  if (Result<void> fits = api.api == ReplyApi::openai ? check_stream_options(usage, streams) : Result<void>(); !fits)
    return fits.error();
  if (Result<void> checked = check_asked(body, api); !checked) return checked.error();
  if (Result<void> checked = check_messages_shape(body, api.api); !checked) return checked.error();
  if (Result<void> checked = check_tools_shape(body); !checked) return checked.error();
  if (Result<void> thread = api.api == ReplyApi::anthropic ? check_thread(*model, body) : Result<void>(); !thread)
    return thread.error();
  if (Result<void> checked = check_member_values(body, api.api); !checked) return checked.error();
  auto chat = std::make_unique<Chat>(api, model);
  chat->model_name = body["model"].text().empty() ? model->name : std::string(body["model"].text());
  chat->id = random_id(api.id_prefix);
  chat->losses = losses;
  chat->stream = streams;
  chat->stream_usage = includes_usage(body);
  chat->explain = flag_of(body["parlance"], false);
  chat->old_functions = api.api == ReplyApi::openai && !body["functions"].items().empty();
  set_answer_form(body, api.api, chat->written);
  chat->written.reasoning_names = model->reasoning_names;
  chat->names_tokens = flag_of(body["return_tokens_as_token_ids"], false);
  chat->returns_ids = api.api == ReplyApi::openai && flag_of(body["return_token_ids"], false);
  // The ids of reasoning that is left out would tell it.
  chat->written.token_ids =
      chat->returns_ids && model->backend->facts().gives_ids && chat->written.reasoning != ShownReasoning::none;
  chat->looks_for_losses = chat->explain || call.gateway.log().takes(LogLevel::debug);
  if (api.api == ReplyApi::responses) chat->members = members_of(body, before);
  chat->conversation = before.conversation;
  if (text.data() != call.exchange.request().body.data()) chat->rewritten = std::string(text);
  Result<std::string> loads = api.api == ReplyApi::ollama ? load_asked(body, api.generate) : std::string();
  if (!loads) return loads.error();
  chat->loads = std::move(*loads);
  if (!chat->loads.empty()) return chat;
  const std::string made = api.generate ? messages_of_generate(body) : std::string();
  if (Result<void> planned = plan_turns(call, *chat, body, api.generate ? made : text, may_wait); !planned) {
    const std::string& path = planned.error().input_path();
    return api.generate ? renamed(planned.error(), path, path_in_generate(body, path)) : planned.error();
  }
  for (Loss& loss : chat->losses) loss.path = own_place(loss.path, before);
  return chat;
}

}  // namespace

Result<std::unique_ptr<Chat>> read_chat(Call& call, const ChatApi& api, bool may_wait) {
  const auto read = [&api, may_wait](Call& of, Value body, const ModelRef& model) {
    const auto whole = [&](NamedInput input) { return read_chat_of(of, std::move(input), model, api, may_wait); };
    if (api.api == ReplyApi::responses) return with_named_items(of, body, model, may_wait, whole);
    return whole({body, of.exchange.request().body, {}});
  };
  return read_request(call, read);
}

}  // namespace parlance::serve
