// The passes of normalisation. Begin reading at the table kPasses; normalise() at the end runs it.
// Names and sentences of the passes are in parlance/passes.def.
//
// A pass never changes a value: it makes copies that share everything unchanged (edit.h), so that
// every string keeps its address and with that its path in the request.
#include "conversation/normalise.h"

#include <algorithm>
#include <bit>

#include "base/ascii.h"
#include "base/nearest.h"
#include "conversation/api_request.h"
#include "conversation/custom_tool.h"
#include "conversation/json_text.h"
#include "conversation/media_parts.h"
#include "conversation/pass.h"
#include "conversation/passes_for_templates.h"
#include "conversation/request_hint.h"
#include "conversation/request_members.h"
#include "conversation/transformers.h"
#include "json/json.h"

namespace parlance {
namespace {

// ---- before everything: a request without messages

/// /api/generate of Ollama: a prompt, perhaps a system text and images, as the messages of a chat. To fill in between a
/// prompt and a suffix no messages are needed.
bool generate_request(ConversationState& state, Runtime& rt) {
  const Value* prompt = member(state.variables, "prompt");
  if (member(state.variables, "messages") != nullptr || prompt == nullptr || !prompt->is_string()) return false;
  ListBuilder messages(rt, 2);
  const auto add = [&](std::string_view role, Value content, Value images) {
    DictBuilder message(rt, 3);
    message.set("role", Value::view(role));
    message.set("content", content);
    if (!images.is_undefined()) message.set("images", images);
    messages.append(message.finish());
  };
  if (!fills_gap(state.variables)) {
    const Value system = take_variable(state, "system");
    if (system.is_string() && !is_text(&system, "")) add("system", system, {});
    const Value images = take_variable(state, "images");
    add("user", take_variable(state, "prompt"), images);
  }
  state.set_variable(Value::view("messages"), messages.finish());
  return true;
}

// ---- passes over the request

/// Ollama's `think` under the names that templates for transformers use.
void ollama_think(Normaliser& n) {
  const Value* given = member(n.state.variables, "think");
  if (given == nullptr || (given->kind != Kind::boolean && !given->is_leaf())) return;
  if (passes::is_overruled(n.state, "think")) return;
  const Value think = *given;
  const bool is_level = think.is_leaf() && leaf_text(think) != "none";
  const auto set = [&n](std::string_view name, Value value) {
    if (member(n.state.variables, name) != nullptr) return;
    n.state.set_variable(Value::view(name), value);
    n.variable = name;
    n.note();
  };
  set("enable_thinking", Value::boolean(is_level || (think.kind == Kind::boolean && think.integer != 0)));
  if (is_level) set("reasoning_effort", think);
}

/// What a member of the request is a thing of, as losses have it.
std::string_view subject_of(std::string_view name) {
  return name == "messages" ? "message" : name == "tools" ? "tool" : name == "documents" ? "document" : "setting";
}

void chat_template_kwargs(Normaliser& n) {
  const Value kwargs = take_variable(n.state, "chat_template_kwargs");
  if (kwargs.kind != Kind::dict) return;
  if (!says_nothing(member_value(kwargs, "messages"))) {
    n.variable = "chat_template_kwargs.messages";
    n.note();
    n.state.changes.back().what = "no effect: the messages are those of the request";
    n.state.changes.back().loses = "setting";
  }
  const Value chosen = filtered(n.rt, kwargs, [](std::string_view key) { return key != "messages"; });
  const Value before = n.state.variables;
  n.state.variables = with_members(n.rt, before, entries(chosen));
  for (const DictEntry& entry : entries(chosen)) {
    n.variable = leaf_text(entry.key);
    n.note();
    const Value other = member_value(before, n.variable);
    if (other.is_undefined() || json_text(other) == json_text(entry.value)) continue;
    n.state.changes.back().what = "set by chat_template_kwargs, which overrides the request's own value";
    if (!says_nothing(other)) n.state.changes.back().loses = subject_of(n.variable);
  }
}

void drop_request_members(Normaliser& n) {
  bool any = false;
  for (const DictEntry& entry : entries(n.state.variables)) {
    if (!is_request_member(leaf_text(entry.key))) continue;
    n.variable = leaf_text(entry.key);
    n.note();
    any = true;
  }
  if (!any) return;
  n.state.variables = filtered(n.rt, n.state.variables, [](std::string_view key) { return !is_request_member(key); });
}

/// {"name", …} as {"type": "function", "function": {"name", …}}; members in `outside` stay
/// outside.
Value wrap(Normaliser& n, Value flat, std::span<const std::string_view> outside) {
  const auto is_outside = [&](std::string_view key) {
    return std::find(outside.begin(), outside.end(), key) != outside.end();
  };
  const Value function = filtered(n.rt, flat, [&](std::string_view key) { return key != "type" && !is_outside(key); });
  const Value rest = filtered(n.rt, flat, is_outside);
  const DictEntry added[] = {{Value::view("type"), Value::view("function")}, {Value::view("function"), function}};
  return with_members(n.rt, rest, added);
}

bool is_flat(Value v) {
  const Value* type = member(v, "type");
  const Value* name = member(v, "name");
  return name != nullptr && name->is_string() && member(v, "function") == nullptr &&
         (type == nullptr || is_text(type, "function"));
}

/// Changes each of the request's tools to what `change` returns unless that is undefined.
template <typename ChangeTool>
void map_tools(Normaliser& n, ChangeTool change) {
  const Value* tools = member(n.state.variables, "tools");
  if (tools == nullptr || tools->kind != Kind::list) return;
  ListEditor list(n.rt, *tools);
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Value made = change(list[i]);
    if (made.is_undefined()) continue;
    list.set(i, made);
    n.tool = static_cast<std::int32_t>(i);
    n.note();
  }
  if (list.changed()) n.state.set_variable(Value::view("tools"), list.finish());
}

void wrap_tools(Normaliser& n) {
  map_tools(n, [&n](Value tool) { return is_flat(tool) ? wrap(n, tool, {}) : Value(); });
}

void custom_tools(Normaliser& n) {
  map_tools(n, [&n](Value tool) {
    const Value function = function_of_custom(n.rt, tool);
    if (function.is_undefined()) return function;
    const Value beside = filtered(n.rt, tool, [&](std::string_view key) {
      return inside_custom(tool).dict != tool.dict && key != "type" && key != "custom";
    });
    return with_members(n.rt, wrap(n, function, {}), entries(beside));
  });
}

void defaults(Normaliser& n) {
  for (const std::string_view name : kLists) {
    if (member(n.state.variables, name) != nullptr) continue;
    n.state.set_variable(Value::view(name), Value::none());
    n.variable = name;
    n.note();
  }
  constexpr std::string_view kPrompt = "add_generation_prompt";
  if (!n.state.as_transformers || member(n.state.variables, kPrompt) != nullptr) return;
  n.state.set_variable(Value::view(kPrompt), Value::boolean(false));
  n.variable = kPrompt;
  n.note();
  n.state.changes.back().what = "false";
}

// ---- passes over each message

Value wrap_calls(Normaliser& n, Value message) {
  static constexpr std::string_view kOutside[] = {"id", "index"};
  return map_calls(n, message, [&n](Value call) {
    if (!is_flat(call)) return call;
    n.note();
    return wrap(n, call, kOutside);
  });
}

/// The text that a custom tool is called with is an argument of the function that stands for it.
Value custom_calls(Normaliser& n, Value message) {
  return map_calls(n, message, [&n](Value call) {
    const Value custom = inside_custom(call);
    const Value* input = member(custom, kCustomInput);
    const Value* name = member(custom, "name");
    if (input == nullptr || name == nullptr) return call;
    n.note();
    DictBuilder arguments(n.rt, 1), function(n.rt, 2);
    arguments.set(kCustomInput, *input);
    function.set("name", *name);
    function.set("arguments", with_origin(arguments.finish(), custom.dict->origin));
    const bool is_wrapped = custom.dict != call.dict;
    const auto is_outside = [](std::string_view key) { return key == "id" || key == "index"; };
    for (const DictEntry& entry : entries(custom)) {  // what else it says stays said
      const std::string_view key = leaf_text(entry.key);
      const bool is_more = key != "type" && key != "name" && key != kCustomInput && (is_wrapped || !is_outside(key));
      if (is_more) function.set(entry.key, entry.value);
    }
    const DictEntry said[] = {{Value::view("type"), Value::view("function")},
                              {Value::view("function"), function.finish()}};
    const auto stays = [&](std::string_view key) {
      return is_wrapped ? key != "custom" && key != "type" : is_outside(key);
    };
    return with_members(n.rt, filtered(n.rt, call, stays), said);
  });
}

/// The object that a call's arguments hold as JSON text; undefined if they hold none.
Value object_in(Normaliser& n, Value arguments) {
  if (!arguments.is_leaf()) return {};
  const std::string_view json = leaf_text(arguments);
  if (!ascii::trimmed_left(json).starts_with('{')) return {};
  n.state.add_region(json, n.message, true);
  const auto place = [&n] {
    return place_of(n.state, {n.pass, n.given_message(), -1, {}, n.call, "function.arguments"});
  };
  // An argument without words, such as false, is known to be printed by its own id alone.
  const Result<Value> read = read_numbered_text(n.state, n.rt, arguments, place);
  return read.has_value() && read->kind == Kind::dict ? *read : Value();
}

/// Arguments that are a text and no object: cut off, mostly. The template gets the text.
void note_broken(Normaliser& n, Value arguments) {
  if (!arguments.is_leaf() || ascii::is_blank(leaf_text(arguments))) return;
  Document document;
  const Result<void> read = document.parse(leaf_text(arguments), "arguments");
  const std::string why = read ? "not a JSON object" : why_unread(read.error());
  n.note("function.arguments");
  n.state.changes.back().what = n.state.arena.copy_text("given to the template as text: it is " + why);
  n.state.changes.back().loses = "argument";
}

Value parse_arguments(Normaliser& n, Value message) {
  return map_arguments(n, message, [&n](Value arguments) {
    const Value object = object_in(n, arguments);
    if (object.is_undefined()) note_broken(n, arguments);
    return object;
  });
}

Value empty_arguments(Normaliser& n, Value message) {
  return map_arguments(n, message, [&n](Value arguments) {
    const bool blank = arguments.is_leaf() && ascii::is_blank(leaf_text(arguments));
    return blank || arguments.is_none() ? DictBuilder(n.rt).finish() : Value{};
  });
}

/// A part of content whose text is null: text that is empty. In a part that is no text the member says nothing.
Value null_text(Normaliser& n, Value part, std::uint32_t number) {
  const Value* text = part.kind == Kind::dict ? member(part, "text") : nullptr;
  if (text == nullptr || !text->is_none()) return part;
  n.note(n.state.arena.copy_text("content[" + std::to_string(number) + "].text"));
  const Value* type = member(part, "type");
  const bool is_text_part =
      type == nullptr || (type->is_leaf() && std::ranges::find(kTextTypes, leaf_text(*type)) != std::end(kTextTypes));
  if (is_text_part) return with_member(n.rt, part, "text", Value::view(""));
  n.state.changes.back().what = "null: left out";
  return filtered(n.rt, part, [](std::string_view key) { return key != "text"; });
}

Value null_texts(Normaliser& n, Value message, Value content) {
  ListEditor parts(n.rt, content);
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    const Value old = parts[i];
    const Value made = null_text(n, old, i);
    if (made.dict != old.dict) parts.set(i, made);
  }
  return parts.changed() ? with_member(n.rt, message, "content", parts.finish()) : message;
}

Value null_content(Normaliser& n, Value message) {
  const Value* content = member(message, "content");
  if (content != nullptr && content->kind == Kind::list) return null_texts(n, message, *content);
  const bool may_lack = content == nullptr && member(message, "tool_calls") != nullptr;
  if (!may_lack && (content == nullptr || !content->is_none())) return message;
  n.note("content");
  return with_member(n.rt, message, "content", Value::view(""));
}

Value ollama_names(Normaliser& n, Value message) {
  const Value* name = member(message, "tool_name");
  if (name == nullptr || !name->is_string() || member(message, "name") != nullptr) return message;
  n.note("name");
  return with_member(n.rt, message, "name", *name);
}

// ---- the table

constexpr std::string_view kEffort = "reasoning_effort";

/// What a pass does: it has one of the two functions; `change` says what it did to the place a note names. All else
/// about it is in passes.def.
struct PassRow {
  Pass pass;
  std::string_view change;
  void (*on_request)(Normaliser&) = nullptr;
  Value (*on_message)(Normaliser&, Value message) = nullptr;
};

constexpr PassRow of_request(Pass pass, std::string_view change, void (*function)(Normaliser&)) {
  return {pass, change, function};
}
constexpr PassRow of_message(Pass pass, std::string_view change, Value (*function)(Normaliser&, Value)) {
  return {pass, change, nullptr, function};
}
/// A pass that has run when the others begin: by generate_request or convert_request.
constexpr PassRow before_all(Pass pass, std::string_view change) { return {pass, change}; }

constexpr PassRow kPasses[] = {
    before_all(Pass::generate_request, "made of the prompt"),
    before_all(Pass::anthropic_request, "made of a request of Anthropic Messages"),
    before_all(Pass::responses_request, "made of a request of OpenAI Responses"),
    before_all(Pass::gemini_request, "made of a request of Gemini"),
    before_all(Pass::sharegpt_request, "made of a line of ShareGPT"),
    before_all(Pass::old_functions, "made of functions and function_call"),
    of_request(Pass::unsaid_effort, "null: not given", passes::unsaid_effort),
    of_request(Pass::drop_request_members, "not a variable", drop_request_members),
    of_request(Pass::chat_template_kwargs, "set by chat_template_kwargs", chat_template_kwargs),
    of_request(Pass::custom_tools, "a function with the string `input`", custom_tools),
    of_message(Pass::custom_calls, "a call with the string `input`", custom_calls),
    of_request(Pass::wrap_tools, "wrapped as a function", wrap_tools),
    of_message(Pass::wrap_calls, "wrapped as a function", wrap_calls),
    of_request(Pass::null_columns, "without the nulls of a table", passes::null_columns),
    of_message(Pass::parse_arguments, "parsed from a JSON string", parse_arguments),
    of_message(Pass::empty_arguments, "an empty object", empty_arguments),
    of_message(Pass::null_content, "empty text", null_content),
    of_message(Pass::null_members, "null: left out", passes::null_members),
    of_request(Pass::join_turns, "joined with the message before", passes::join_turns),
    of_message(Pass::developer_role, "was developer", passes::developer_role),
    of_request(Pass::first_system, "was the system's", passes::first_system),
    of_request(Pass::late_system, "was the system's", passes::late_system),
    of_message(Pass::image_parts, "now content parts", passes::image_parts),
    of_message(Pass::text_only, "left out, since it is not text", passes::text_only),
    of_message(Pass::part_types, "under the name that the template knows", passes::part_types),
    of_message(Pass::no_place, "refused", passes::no_place),
    of_message(Pass::content_parts, "joined from text parts", passes::content_parts),
    of_message(Pass::one_part, "was a list of one text part", passes::one_part),
    of_request(Pass::join_systems, "joined with the message before", passes::join_systems),
    of_request(Pass::gather_systems, "joined with the first of the system's", passes::gather_systems),
    of_request(Pass::join_users, "joined with the message before", passes::join_users),
    of_message(Pass::text_parts, "now a list of one text part", passes::text_parts),
    of_message(Pass::reasoning_names, "taken from reasoning", passes::reasoning_names),
    of_message(Pass::reasoning_aliases, "the reasoning, under both names", passes::reasoning_aliases),
    of_message(Pass::reasoning_key, "the reasoning, under the name that the template reads", passes::reasoning_key),
    of_request(Pass::join_reasoning, "joined to the reasoning", passes::join_reasoning),
    of_message(Pass::reasoning_part, "the reasoning is its first part", passes::reasoning_part),
    of_message(Pass::ollama_names, "taken from tool_name", ollama_names),
    of_request(Pass::ollama_think, "taken from think", ollama_think),
    of_request(Pass::reasoning_effort, "set for the effort of reasoning", passes::reasoning_effort),
    of_message(Pass::calls_null_content, "null", passes::calls_null_content),
    of_message(Pass::calls_no_content, "taken away", passes::calls_no_content),
    of_message(Pass::arguments_text, "written as JSON text", passes::arguments_text),
    of_request(Pass::order_results, "moved, in the order of the calls", passes::order_results),
    of_request(Pass::missing_ids, "a new id", passes::missing_ids),
    of_request(Pass::short_ids, "nine letters and digits in place of the id", passes::short_ids),
    of_request(Pass::named_ids, "functions.NAME:NUMBER in place of the id", passes::named_ids),
    of_request(Pass::empty_tools, "an empty list", passes::empty_tools),
    of_request(Pass::method_parameters, "not a variable", passes::method_parameters),
    of_request(Pass::defaults, "none", defaults),
};
constexpr std::size_t kPassCount = std::size(kPasses);

/// A row for each pass, at its number.
constexpr bool are_in_order() {
  for (std::size_t i = 0; i < kPassCount; ++i) {
    if (kPasses[i].pass != static_cast<Pass>(i)) return false;
  }
  return kPasses[kPassCount - 1].pass == Pass::defaults;
}
static_assert(are_in_order());

/// What transformers goes through before the template sees it. Documents of a batch may be anything that Python goes
/// through, which the binding has done: templates get what cannot be JSON as a text with its type.
Result<void> check_lists(const Value& variables, bool of_batch) {
  for (const std::string_view name : kLists) {
    const Value* given = member(variables, name);
    if (given == nullptr || given->is_none() || given->is_sequence()) continue;
    if (of_batch && name == "documents") continue;
    return not_a_conversation("`" + std::string(name) + "` is not a list", std::string(name));
  }
  return {};
}

/// What a request without messages may mean by them: a member of a name near to it, or a line of a batch, whose request
/// stands in `body`.
Error no_messages(Value variables) {
  const std::string message = "the request has no `messages`";
  const auto is_list = [](const Value* value) { return value != nullptr && value->kind == Kind::list; };
  const Value body = member_value(variables, "body");
  if (is_list(member(body, "messages")) || member(body, "input") != nullptr) {
    return Error(ErrorCode::conversation, message)
        .input("body")
        .hint("a line of a batch has its request in `body`: give that alone");
  }
  for (const DictEntry& entry : entries(variables)) {
    const std::string_view key = leaf_text(entry.key);
    NearestName nearest(key);
    nearest.offer("messages");
    const bool near = is_list(&entry.value) && !nearest.best().empty();
    if (near) return Error(ErrorCode::conversation, message).input(std::string(key)).hint(nearest.hint());
  }
  for (std::string hint : {hint_of_no_request(variables), hint_of_row(variables)})
    if (!hint.empty()) return Error(ErrorCode::conversation, message).hint(std::move(hint));
  // A template of chats renders nothing of other members, so this is no way out for most.
  return Error(ErrorCode::conversation, message)
      .hint(
          "a conversation is `messages`, a list of objects with role and content; a template that reads other members "
          "gets them by the option normalise off");
}

Result<void> check_messages(Value messages, Value variables) {
  if (messages.is_undefined()) return no_messages(variables);
  if (messages.kind != Kind::list) return not_a_conversation("`messages` is not a list", "messages");
  for (std::uint32_t i = 0; i < messages.list->size; ++i) {
    if (messages.list->items[i].kind == Kind::dict) continue;
    return not_a_conversation("a message is not an object", "messages[" + std::to_string(i) + "]");
  }
  return {};
}

/// The passes that run unasked: by default, and as transformers reads requests.
struct UsualPasses {
  Passes::Set by_default = 0, of_transformers = 0;

  UsualPasses() {
    for (const NormalisePass& pass : normalise_passes()) {
      if (pass.by_default) by_default |= Passes::bit(pass.pass);
      if (pass.of_transformers) of_transformers |= Passes::bit(pass.pass);
    }
  }
};

/// Skipping wins over asking.
Passes::Set running_passes(const ReadOptions& options, SentTo sent_to) {
  static const UsualPasses kUsual;
  Passes::Set usual = options.as_transformers ? kUsual.of_transformers : kUsual.by_default;
  if (sent_to == SentTo::ollama) usual |= Passes::bit(Pass::join_turns);
  usual &= ~Passes::bit(Pass::null_members);
  if (transformers_release(options.transformers).drops_null_members) usual |= Passes::bit(Pass::null_members);
  return options.passes.running(usual);
}

void run_pass(Normaliser& n, const PassRow& pass) {
  n.message = n.tool = n.call = -1;
  n.variable = {};
  if (pass.on_request != nullptr) return pass.on_request(n);
  if (pass.on_message == nullptr) return;  // generate_request or convert_request, which has run
  for (std::uint32_t i = 0; i < n.messages.size(); ++i) {
    n.message = static_cast<std::int32_t>(i);
    const Value old = n.messages[i];
    const Value made = pass.on_message(n, old);
    if (made.dict != old.dict) n.messages.set(i, made);
  }
}

}  // namespace

bool says_nothing(Value given) {
  const bool is_empty_list = given.is_sequence() && given.list->size == 0;
  return given.is_undefined() || given.is_none() || is_empty_list || is_text(&given, "");
}

bool has_gap(Value request) {
  return member_value(request, "prompt").is_string() && !says_nothing(member_value(request, "suffix"));
}

bool fills_gap(Value request) { return has_gap(request) && member(request, "messages") == nullptr; }

Error not_a_conversation(std::string message, std::string path) {
  return Error(ErrorCode::conversation, std::move(message))
      .input(std::move(path))
      .hint("with the option normalise off any JSON object is taken, its members as the template's variables");
}

Error without_reading_options(const Error& error) {
  constexpr std::string_view kOptions[] = {"the option normalise", "without the pass ", "without a pass "};
  const auto is_named = [&](std::string_view option) { return error.hint().find(option) != std::string::npos; };
  return std::any_of(std::begin(kOptions), std::end(kOptions), is_named) ? error.hint({}) : error;
}

namespace {

std::string place_as_chat(const Change& change) {
  std::string place(change.variable);
  if (change.message >= 0) place += "messages[" + std::to_string(change.message) + "]";
  if (change.tool >= 0) place += "tools[" + std::to_string(change.tool) + "]";
  if (change.call >= 0) place += ".tool_calls[" + std::to_string(change.call) + "]";
  if (!change.member.empty()) place.append(".").append(change.member);
  return place;
}

Value item_of(Value list, std::int32_t number) {
  const bool has = list.is_sequence() && number >= 0 && static_cast<std::uint32_t>(number) < list.list->size;
  return has ? list.list->items[number] : Value();
}

/// What stands at the place "function.arguments" or "content[2]" below a value, or what it is in, as far as the request
/// as it was given has it.
std::string place_below(const ConversationState& state, Value from, std::string_view steps) {
  std::string place = path_of_value(state, from);
  while (!steps.empty() && !from.is_undefined()) {
    const std::size_t end = std::min(steps.find_first_of(".["), steps.size());
    if (steps.front() == '[') {
      from = item_of(from, std::atoi(steps.data() + 1));
      steps.remove_prefix(std::min(steps.find(']') + 1, steps.size()));
    } else {
      from = member_value(from, steps.substr(0, end));
      steps.remove_prefix(end);
    }
    if (steps.starts_with('.')) steps.remove_prefix(1);
    if (std::string own = path_of_value(state, from); !own.empty()) place = std::move(own);
  }
  return place;
}

}  // namespace

std::string place_of(const ConversationState& state, const Change& change) {
  const std::string place = place_as_chat(change);
  const bool in_list = change.message >= 0 || change.tool >= 0;
  if (!in_list || state.converted.is_undefined()) return place;
  const std::string found = place_below(state, state.converted, place);
  return found.empty() ? place : found;
}

std::string note_of(const ConversationState& state, const Change& change) {
  std::string note = place_of(state, change);
  const PassRow& pass = kPasses[static_cast<std::size_t>(change.pass)];
  note.append(": ").append(change.what.empty() ? pass.change : change.what);
  note.append(" (").append(name_of(change.pass)).append(")");
  return note;
}

void note_replaced(ConversationState& state, std::string_view variable, std::string_view json) {
  const std::string_view subject = subject_of(variable);
  const Value before = member_value(state.variables, variable);
  if (subject == "setting" || says_nothing(before)) return;  // to overrule a setting is what such variables are for
  Document other;
  if (!other.parse(json, variable) || json_text(other.root()) == json_text(before)) return;
  std::string path = path_of_value(state, before);
  state.replaced.push_back({subject, path.empty() ? std::string(variable) : std::move(path)});
}

Result<void> normalise(ConversationState& state, const ReadOptions& options) {
  state.passes = options.passes;  // whose settings become values of the conversation
  const Limits limits;
  Runtime rt(state.arena, limits);
  if (Result<void> converted = convert_request(state, options); !converted) return converted;
  Passes::Set running = running_passes(options, state.sent_to);
  if ((running & Passes::bit(Pass::generate_request)) != 0 && generate_request(state, rt))
    state.changes.push_back({Pass::generate_request, -1, -1, "messages", -1, {}});
  if (!options.reasoning_effort.empty()) {
    // other words for it
    for (const std::string_view name : {"think", "thinking", "reasoning"}) take_variable(state, name);
    state.set_variable(Value::view(kEffort), Value::view(state.arena.copy_text(options.reasoning_effort)));
  }
  const Value* messages = member(state.variables, "messages");
  if (Result<void> checked = check_messages(messages == nullptr ? Value{} : *messages, state.variables); !checked)
    return checked.error();
  if (Result<void> checked = check_lists(state.variables, options.as_transformers && options.of_batch); !checked)
    return checked.error();
  state.as_transformers = options.as_transformers;
  if (options.as_transformers) {
    if (Result<void> checked = check_as_transformers(state.variables, options.of_batch); !checked)
      return checked.error();
  }
  const Value given = *messages;
  Normaliser n(state, rt, given);
  for (; running != 0; running &= running - 1) {
    const PassRow& row = kPasses[std::countr_zero(running)];
    n.pass = row.pass;
    n.setting = &state.passes.setting(row.pass);
    run_pass(n, row);
    if (n.failure) return *n.failure;
  }
  if (const Value made = n.messages.finish(); made.list != given.list)
    state.set_variable(Value::view("messages"), made);
  return {};
}

}  // namespace parlance
