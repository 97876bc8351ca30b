// What the converters share, and the table of APIs; see api_request.h. Begin reading at kApis.
#include "conversation/api_request.h"

#include <algorithm>
#include <iterator>

#include "conversation/client_tools.h"
#include "conversation/normalise.h"
#include "conversation/sealed_reasoning.h"
#include "json/json.h"
#include "json/read.h"
#include "parlance/conversation.h"
#include "value/string.h"

namespace parlance {
namespace api {
namespace {

constexpr std::string_view kSteers = "not a variable";
constexpr std::string_view kNoText = "says nothing to a model: left out";
constexpr std::string_view kNotConverted = "not converted: left out";

bool has(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

// ---- what cannot be converted, and what is left out

void Request::fail(Value at, std::string message, std::string hint) {
  if (failure) return;
  failure =
      Error(ErrorCode::conversation, std::string(api) + ": " + std::move(message))
          .input(path_of_value(state, at))
          .hint(hint.empty() ? "without the pass " + std::string(name_of(pass)) + " the request is one of OpenAI's chat"
                             : std::move(hint));
}

void Request::note(Value at, std::string_view what, bool loses) {
  Change change{pass, -1, -1, state.arena.copy_text(path_of_value(state, at)), -1, {}};
  change.what = what;
  if (loses)
    change.loses = change.variable == "mcp_servers"       ? "setting"
                   : change.variable.starts_with("tools") ? "tool"
                                                          : "part";
  state.changes.push_back(change);
}

void Request::leave(Value dict, std::span<const std::string_view> taken,
                    std::initializer_list<std::string_view> quiet) {
  if (dict.kind != Kind::dict) return;
  for (const DictEntry& entry : entries(dict)) {
    const std::string_view key = leaf_text(entry.key);
    if (has(taken, key) || entry.value.is_none()) continue;
    const bool empty = entry.value.kind == Kind::list && entry.value.list->size == 0;
    const bool loses = !empty && !has(std::span(quiet.begin(), quiet.size()), key);
    note(entry.value, loses ? kNotConverted : kNoText, loses);
  }
}

Value Request::dict_at(Value at, std::string_view what) {
  if (at.kind == Kind::dict) return at;
  fail(at, std::string(what) + " is not an object", "give an object");
  return {};
}

Value Request::list_at(Value at, std::string_view what) {
  if (at.kind == Kind::list) return at;
  fail(at, std::string(what) + " is not a list", "give a list");
  return {};
}

Value Request::text_at(Value at, std::string_view what) {
  if (at.is_string()) return at;
  fail(at, std::string(what) + " is not a string", at.is_none() ? "leave it out, or give \"\"" : "give a string");
  return {};
}

Value Request::text_in(Value in, std::string_view name) {
  const Value found = member_value(in, name);
  if (!found.is_undefined()) return text_at(found, "`" + std::string(name) + "`");
  fail(in, "`" + std::string(name) + "` is missing");
  return {};
}

// ---- messages

void Request::own(Value value) {
  if (value.is_leaf()) {
    owners_.strings.try_emplace(value.data, next_message());
  } else if (const std::uint32_t origin = origin_of(value); origin != 0) {
    owners_.origins.try_emplace(origin, next_message());
  }
}

Value Request::by_blank_lines(const std::vector<Value>& texts) {
  if (texts.size() == 1) return texts.front();
  StringBuilder all(rt);
  for (const Value& one : texts) {
    if (all.size() != 0) all.append_static("\n\n");
    all.append(one);
  }
  const Value made = all.finish();
  // renders share the string, so it must not be flattened by the first that asks
  if (!made.is_invalid()) text(rt, made);
  return made;
}

void Request::add(const Draft& draft) {
  DictBuilder message(rt, 7);
  message.set("role", Value::view(draft.role));
  if (!draft.id.is_undefined()) message.set("tool_call_id", draft.id);
  if (!draft.name.is_undefined()) message.set("name", draft.name);
  const bool one_text = draft.parts.size() == 1 && word(draft.parts.front(), "type") == "text";
  if (draft.parts.empty()) {
    message.set("content", Value::view(""));
  } else if (one_text) {
    message.set("content", member_value(draft.parts.front(), "text"));
  } else {
    message.set("content", copy_list(rt, draft.parts));
  }
  if (!draft.reasoning.empty()) message.set("reasoning_content", by_blank_lines(draft.reasoning));
  if (!draft.refusals.empty()) message.set("refusal", by_blank_lines(draft.refusals));
  if (!draft.calls.empty()) message.set("tool_calls", copy_list(rt, draft.calls));
  if (!draft.is_error.is_undefined()) message.set("is_error", draft.is_error);
  if (!draft.weight.is_undefined()) message.set("weight", draft.weight);
  for (const Value& value : draft.of) own(value);
  messages_.append(draft.of.empty() ? message.finish() : made(message.finish(), draft.of.front()));
}

void Request::add_text(std::string_view role, Value text) {
  Draft draft{.role = role};
  draft.of.push_back(text);
  draft.parts.push_back(text_part(text, text));
  add(draft);
}

void Request::add_value(Value message, Value of) {
  own(of);
  messages_.append(message);
}

// ---- parts

Value Request::text_part(Value text, Value of) {
  DictBuilder part(rt, 2);
  part.set("type", Value::view("text"));
  part.set("text", text);
  return made(part.finish(), of);
}

Value Request::media_part(std::string_view type, std::string_view name, Value link, Value of, DictEntry more) {
  DictBuilder inner(rt, 2), part(rt, 2);
  inner.set(name, link);
  if (is_given(more.value)) inner.set(more.key, more.value);
  part.set("type", Value::view(type));
  part.set(type, inner.finish());
  return made(part.finish(), of);
}

Value Request::joined(std::span<const Value> pieces) {
  StringBuilder all(rt);
  for (const Value& one : pieces) all.append(one);
  const Value made_of_all = all.finish();
  if (!made_of_all.is_invalid()) text(rt, made_of_all);  // see by_blank_lines
  return made_of_all;
}

Value Request::json_of(Value v) {
  const Value json = write_json(rt, v);
  if (json.is_string())
    text(rt, json);  // see by_blank_lines
  else
    fail(v, "this cannot be written as JSON text");
  return json;
}

Value Request::opened(Value sealed) {
  if (!sealed.is_string()) return {};
  const std::optional<std::string> text = opened_reasoning(leaf_text(sealed));
  return text ? Value::view(state.arena.copy_text(*text)) : Value();
}

Value Request::data_part(Value mime, Value data, Value of) {
  constexpr std::string_view kAudio = "audio/";
  const std::string_view type = leaf_text(mime);
  if (type.starts_with(kAudio)) {
    const Value format = substring(rt, mime, kAudio.size(), mime.size);
    return media_part("input_audio", "data", data, of, {Value::view("format"), format});
  }
  const bool image = type.starts_with("image/");
  if (!image && !type.starts_with("video/")) {
    fail(of, "data of the type " + quoted(type) + " cannot be converted",
         "chat templates show images, sounds and films; give the text of a document");
    return {};
  }
  const Value url = joined({Value::view("data:"), mime, Value::view(";base64,"), data});
  return media_part(image ? "image_url" : "video_url", "url", url, of);
}

Value Request::call(Value id, Value name, Value arguments, Value of) {
  DictBuilder function(rt, 2), made_call(rt, 3);
  function.set("name", name);
  function.set("arguments", arguments);
  if (is_given(id)) made_call.set("id", id);
  made_call.set("type", Value::view("function"));
  made_call.set("function", made(function.finish(), of));
  return made(made_call.finish(), of);
}

Value Request::function_tool(Value of, Value name, Value description, Value parameters, Value strict) {
  const auto given = [](Value v) { return v.is_none() ? Value() : v; };
  const Value schema = given(parameters);
  const Value function = in_order_of(rt, of,
                                     {{"name", "name", name},
                                      {"description", "description", given(description)},
                                      {"parameters", "parameters", schema},
                                      {"input_schema", "parameters", schema},
                                      {"parametersJsonSchema", "parameters", schema},
                                      {"parameters_json_schema", "parameters", schema},
                                      {"strict", "strict", given(strict)}});
  DictBuilder tool(rt, 2);
  const bool type_last = ends_with_member(of, "type");
  if (!type_last) tool.set("type", Value::view("function"));
  tool.set("function", made(function, of));
  if (type_last) tool.set("type", Value::view("function"));
  return made(tool.finish(), of);
}

Value Request::client_tool(const ClientTool& type, Value of) {
  const Value own_name = member_value(of, "name");
  const Result<Value> schema = read_json_into(rt, Value::view(type.schema));
  note(of, "given as a function, with the form that the API's documentation says", false);
  return function_tool(of, own_name.is_string() ? own_name : Value::view(type.name), Value::view(type.description),
                       schema ? *schema : Value(), {});
}

Value Request::choice_of(Value name, Value of) {
  DictBuilder function(rt, 1), choice(rt, 2);
  function.set("name", name);
  choice.set("type", Value::view("function"));
  choice.set("function", function.finish());
  return made(choice.finish(), of);
}

// ---- the request

Value chat_mark(Value request) {
  if (const Value tools = member_value(request, "tools"); tools.kind == Kind::list) {
    for (const Value& tool : items(tools)) {
      if (member_value(tool, "function").kind == Kind::dict) return member_value(tool, "function");
    }
  }
  const Value messages = member_value(request, "messages");
  if (messages.kind != Kind::list) return {};
  for (const Value& message : items(messages)) {
    const Value calls = member_value(message, "tool_calls"), content = member_value(message, "content");
    if (calls.kind == Kind::list && calls.list->size != 0) return calls;
    if (is_one_of(word(message, "role"), {"tool", "developer"})) return member_value(message, "role");
    if (content.kind != Kind::list) continue;
    for (const Value& part : items(content)) {
      if (is_one_of(word(part, "type"), {"image_url", "input_audio", "video_url"})) return part;
    }
  }
  return {};
}

void Request::set(std::string_view name, Value value) {
  if (!value.is_undefined()) set_.push_back({Value::view(name), value});
}

void Request::finish(std::initializer_list<std::string_view> taken, std::initializer_list<std::string_view> steering) {
  if (failure) return;
  DictBuilder variables(rt, given.dict->size + static_cast<std::uint32_t>(set_.size()) + 1);
  const Value list = messages_.finish();
  variables.set("messages", list);
  for (const DictEntry& entry : entries(given)) {
    const std::string_view key = leaf_text(entry.key);
    if (has(taken, key)) continue;
    if (has(steering, key) && !keeps_steering)
      note(entry.value, kSteers, false);
    else
      variables.set(entry.key, entry.value);
  }
  for (const DictEntry& entry : set_) variables.set(entry.key, entry.value);
  state.variables = variables.finish();
  inside_of(state.document).set_owners(owners_);
}

}  // namespace api

namespace {

/// What tells a request of one API, and what converts it.
struct Api {
  std::string_view name;
  Pass pass;
  Value (*mark)(Value request);
  void (*convert)(api::Request&);
};
constexpr Api kApis[] = {
    {"Anthropic Messages", Pass::anthropic_request, api::anthropic_mark, api::convert_anthropic},
    {"OpenAI Responses", Pass::responses_request, api::responses_mark, api::convert_responses},
    {"Gemini", Pass::gemini_request, api::gemini_mark, api::convert_gemini},
    {"ShareGPT", Pass::sharegpt_request, api::sharegpt_mark, api::convert_sharegpt},
    {"OpenAI's old functions", Pass::old_functions, api::old_functions_mark, api::convert_old_functions},
};

bool is_same_value(Value a, Value b) { return a.kind == b.kind && a.data == b.data && a.size == b.size; }

Error mixed(const ConversationState& state, std::string_view one, Value one_mark, std::string_view other,
            Value other_mark) {
  const auto said = [&](std::string_view name, Value mark) {
    return std::string(name) + " (`" + path_of_value(state, mark) + "`)";
  };
  return Error(ErrorCode::conversation, "the request mixes " + said(one, one_mark) + " with " + said(other, other_mark))
      .input(path_of_value(state, other_mark))
      .hint("a request is one API's; without a pass the members that it reads are variables");
}

constexpr std::string_view kChat = "OpenAI's chat";

/// A member that only another API has, beside what only OpenAI's chat has.
Result<void> check_alone(const ConversationState& state, std::size_t chosen, Value mark) {
  if (kApis[chosen].mark == api::old_functions_mark) return {};
  const bool of_messages = kApis[chosen].mark == api::anthropic_mark;
  const Value of_chat = of_messages ? api::chat_mark(state.variables) : member_value(state.variables, "messages");
  if (of_chat.is_undefined() || is_same_value(of_chat, mark)) return {};
  return mixed(state, kApis[chosen].name, mark, kChat, of_chat);
}

/// `system` beside messages that are OpenAI's is no mark of Anthropic's: it stays a variable, which losses speak of
/// where the template does not read it.
bool is_stray(const ConversationState& state, std::size_t row, Value mark) {
  if (kApis[row].mark != api::anthropic_mark || !is_same_value(mark, member_value(state.variables, "system")))
    return false;
  return !api::chat_mark(state.variables).is_undefined();
}

void note_stray(ConversationState& state, std::size_t row) {
  Change change{kApis[row].pass, -1, -1, "system", -1, {}};
  change.what = state.arena.copy_text("a variable, since `" + path_of_value(state, api::chat_mark(state.variables)) +
                                      "` is of " + std::string(kChat));
  state.changes.push_back(change);
}

/// Whose request it is; `row` is behind the last of kApis for OpenAI's chat.
struct Recognised {
  std::size_t row = std::size(kApis);
  Value mark;
  std::optional<std::size_t> stray;  ///< whose mark was none
};

/// A request that has nothing of its API's own, which somebody knows.
bool is_sent_to_anthropic(const ConversationState& state, const ReadOptions& options) {
  return state.sent_to == SentTo::anthropic && !options.passes.skips(Pass::anthropic_request) &&
         member_value(state.variables, "messages").kind == Kind::list && api::chat_mark(state.variables).is_undefined();
}

Recognised of_anthropic(const ConversationState& state) {
  static_assert(kApis[0].pass == Pass::anthropic_request);
  return {.row = 0, .mark = member_value(state.variables, "messages")};
}

/// A `prompt` beside its answer is a row of data: as a request to Ollama's /api/generate it would lose the answer.
Result<void> check_no_pair(const ConversationState& state) {
  const Value prompt = member_value(state.variables, "prompt");
  if (prompt.is_undefined() || member(state.variables, "messages") != nullptr) return {};
  for (const char* const name : {"completion", "response", "answer", "chosen"}) {
    const Value answer = member_value(state.variables, name);
    if (!api::is_given(answer)) continue;
    return Error(ErrorCode::conversation,
                 "a row of `prompt` and `" + std::string(name) + "` is data for training and no chat request")
        .input(path_of_value(state, answer))
        .hint(R"(as a chat: {"messages": [{"role": "user", "content": …}, {"role": "assistant", "content": …}]})");
  }
  return {};
}

/// Data sets of instructions have `input` for what is to be worked on: a record of one is not Responses' `input`.
Result<void> check_no_record(const ConversationState& state) {
  const Value instruction = member_value(state.variables, "instruction");
  const bool has_more =
      member_value(state.variables, "input").is_string() || member_value(state.variables, "output").is_string();
  if (!instruction.is_string() || !has_more || member(state.variables, "messages") != nullptr) return {};
  return Error(ErrorCode::conversation,
               "a record of instructions (`instruction`, `input`, `output`) is data for training and no chat request")
      .input(path_of_value(state, instruction))
      .hint(R"(as a chat: {"messages": [{"role": "user", "content": …}, {"role": "assistant", "content": …}]})");
}

/// A part of Bedrock's Converse, which has no `type`: undefined where there is none in the list.
Value converse_part(Value list, std::initializer_list<std::string_view> names) {
  for (const Value& part : list.kind == Kind::list ? items(list) : std::span<const Value>()) {
    if (part.kind != Kind::dict || member(part, "type") != nullptr) continue;
    for (const std::string_view name : names) {
      if (member(part, name) != nullptr) return part;
    }
  }
  return {};
}

/// What tells a request of Bedrock's Converse: a system's text in a list, or what only its parts and members are
/// called.
Value converse_mark(Value request) {
  const Value messages = member_value(request, "messages");
  if (messages.kind != Kind::list) return {};
  if (const Value config = member_value(request, "inferenceConfig"); config.kind == Kind::dict) return config;
  const Value tools = member_value(request, "toolConfig");
  if (member(tools, "tools") != nullptr) return tools;
  for (const Value& message : items(messages)) {
    const Value part = converse_part(member_value(message, "content"), {"toolUse", "toolResult", "cachePoint"});
    if (!part.is_undefined()) return part;
  }
  const bool has_parts = std::ranges::any_of(items(messages), [](const Value& message) {
    return !converse_part(member_value(message, "content"), {"text", "image", "document"}).is_undefined();
  });
  return has_parts ? converse_part(member_value(request, "system"), {"text"}) : Value();
}

Result<void> check_no_converse(const ConversationState& state) {
  const Value mark = converse_mark(state.variables);
  if (mark.is_undefined()) return {};
  return Error(ErrorCode::conversation, "a request of Amazon Bedrock's Converse, which is not converted")
      .input(path_of_value(state, mark))
      .hint(R"(as a chat: {"messages": [{"role": "system", "content": …}, {"role": "user", "content": …}]})");
}

Result<Recognised> recognise(const ConversationState& state, const ReadOptions& options) {
  if (Result<void> none = check_no_record(state); !none) return none.error();
  if (Result<void> none = check_no_pair(state); !none) return none.error();
  if (Result<void> none = check_no_converse(state); !none) return none.error();
  Recognised chosen;
  for (std::size_t i = 0; i < std::size(kApis); ++i) {
    const Value found = kApis[i].mark(state.variables);
    if (found.is_undefined() || options.passes.skips(kApis[i].pass)) continue;
    if (is_stray(state, i, found)) {
      chosen.stray = i;
      continue;
    }
    if (chosen.row != std::size(kApis)) return mixed(state, kApis[chosen.row].name, chosen.mark, kApis[i].name, found);
    chosen.row = i;
    chosen.mark = found;
  }
  if (chosen.row == std::size(kApis)) return is_sent_to_anthropic(state, options) ? of_anthropic(state) : chosen;
  if (Result<void> alone = check_alone(state, chosen.row, chosen.mark); !alone) return alone.error();
  return chosen;
}

}  // namespace

Result<void> convert_request(ConversationState& state, const ReadOptions& options) {
  if (options.as_transformers || state.recognised || state.variables.kind != Kind::dict) return {};
  state.recognised = true;
  const Result<Recognised> found = recognise(state, options);
  if (!found) return found.error();
  if (found->stray) note_stray(state, *found->stray);
  const std::size_t chosen = found->row;
  if (chosen == std::size(kApis)) return {};
  const Limits limits;
  Runtime rt(state.arena, limits);
  const Pass pass = kApis[chosen].pass;
  state.changes.push_back({pass, -1, -1, "messages", -1, {}});
  api::Request request(state, rt, kApis[chosen].name, pass, options.keep_steering);
  kApis[chosen].convert(request);
  if (request.failure) return *request.failure;
  if (rt.failed()) return Error(ErrorCode::limit_memory, "a text of 2 GiB or more");
  state.converted = state.variables;
  return {};
}

Result<std::optional<Pass>> request_pass(const ConversationState& state) {
  const Result<Recognised> found = recognise(state, {});
  if (!found) return found.error();
  return found->row == std::size(kApis) ? std::nullopt : std::optional(kApis[found->row].pass);
}

std::string_view other_api_of(const ConversationState& state) {
  if (state.variables.kind != Kind::dict) return {};
  const Result<Recognised> found = recognise(state, {});
  return found && found->row != std::size(kApis) ? kApis[found->row].name : std::string_view();
}

}  // namespace parlance
