// The passes of normalisation. Begin reading at the table kPasses; normalise() at the end runs it.
//
// A pass never changes a value: it makes copies that share everything unchanged (edit.h), so that
// every string keeps its address and with that its path in the request.
#include "conversation/normalise.h"

#include <algorithm>
#include <array>

#include "conversation/api_request.h"
#include "conversation/custom_tool.h"
#include "conversation/pass.h"
#include "conversation/passes_for_templates.h"
#include "conversation/transformers.h"
#include "json/json.h"
#include "json/read.h"

namespace parlance {
namespace {

// ---- before everything: a request without messages

/// /api/generate of Ollama: a prompt, perhaps a system text and images, as the messages of a chat. To fill in between a
/// prompt and a suffix no messages are needed.
bool generate_request(Conversation::State& state, Runtime& rt) {
  const Value* prompt = member(state.variables, "prompt");
  if (member(state.variables, "messages") != nullptr || prompt == nullptr || !prompt->is_string()) return false;
  const Value* suffix = member(state.variables, "suffix");
  const bool fills = suffix != nullptr && !is_text(suffix, "");
  ListBuilder messages(rt, 2);
  const auto add = [&](std::string_view role, Value content, Value images) {
    DictBuilder message(rt, 3);
    message.set("role", Value::view(role));
    message.set("content", content);
    if (!images.is_undefined()) message.set("images", images);
    messages.append(message.finish());
  };
  if (!fills) {
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

void chat_template_kwargs(Normaliser& n) {
  const Value kwargs = take_variable(n.state, "chat_template_kwargs");
  if (kwargs.kind != Kind::dict) return;
  const Value chosen = filtered(n.rt, kwargs, [](std::string_view key) { return key != "messages"; });
  const Value before = n.state.variables;
  n.state.variables = with_members(n.rt, before, entries(chosen));
  for (const DictEntry& entry : entries(chosen)) {
    n.variable = leaf_text(entry.key);
    n.note();
    const Value* other = member(before, n.variable);
    const bool differs = other != nullptr && json_text(*other) != json_text(entry.value);
    if (differs) n.state.changes.back().what = "set by chat_template_kwargs, which overrides the request's own value";
  }
}

/// Members of chat requests that steer the server or the sampler. What some template reads is not
/// among them: tool_choice, parallel_tool_calls, response_format, reasoning_effort.
constexpr std::string_view kRequestMembers[] = {
    "audio",
    "chat_template",
    "frequency_penalty",
    "keep_alive",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "min_p",
    "modalities",
    "model",
    "n",
    "options",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "repetition_penalty",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "top_k",
    "top_logprobs",
    "top_p",
    "truncate",
    "user",
};
static_assert(std::is_sorted(std::begin(kRequestMembers), std::end(kRequestMembers)));

bool is_request_member(std::string_view key) {
  return std::binary_search(std::begin(kRequestMembers), std::end(kRequestMembers), key);
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
    return function.is_undefined() ? function : wrap(n, function, {});
  });
}

void defaults(Normaliser& n) {
  for (const std::string_view name : {"tools", "documents"}) {
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
    function.set("arguments", arguments.finish());
    const DictEntry said[] = {{Value::view("type"), Value::view("function")},
                              {Value::view("function"), function.finish()}};
    return with_members(n.rt, filtered(n.rt, call, [](std::string_view key) { return key == "id" || key == "index"; }),
                        said);
  });
}

constexpr std::string_view kBlanks = " \t\r\n";

/// The object that a call's arguments hold as JSON text; undefined if they hold none.
Value object_in(Normaliser& n, Value arguments) {
  if (!arguments.is_leaf()) return {};
  const std::string_view json = leaf_text(arguments);
  const std::size_t first = json.find_first_not_of(kBlanks);
  if (first == json.npos || json[first] != '{') return {};
  const std::uint32_t origin = n.state.add_region(json, n.message, true);
  const Result<Value> read = read_json_into(n.rt, arguments, origin);
  return read.has_value() && read->kind == Kind::dict ? *read : Value{};
}

/// Arguments that are a text and no object: cut off, mostly. The template gets the text.
void note_broken(Normaliser& n, Value arguments) {
  if (!arguments.is_leaf() || leaf_text(arguments).find_first_not_of(kBlanks) == std::string_view::npos) return;
  Document document;
  const Result<void> read = document.parse(leaf_text(arguments), "arguments");
  const std::string why = read ? "JSON, but no object" : "no JSON: " + read.error().message();
  n.note("function.arguments");
  n.state.changes.back().what = n.state.arena.copy_text("stays a text, since it is " + why);
  n.state.changes.back().loses = true;
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
    const bool blank = arguments.is_leaf() && leaf_text(arguments).find_first_not_of(kBlanks) == std::string_view::npos;
    return blank || arguments.is_none() ? DictBuilder(n.rt).finish() : Value{};
  });
}

Value null_content(Normaliser& n, Value message) {
  const Value* content = member(message, "content");
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

constexpr std::string_view kRoles = "ROLES";

/// A pass has one of the two functions; `change` says what it did to the place a note names.
struct PassRow {
  NormalisePass facts;
  std::string_view change;
  void (*on_request)(Normaliser&) = nullptr;
  Value (*on_message)(Normaliser&, Value message) = nullptr;
};

constexpr PassRow of_request(NormalisePass facts, std::string_view change, void (*pass)(Normaliser&)) {
  return {facts, change, pass};
}
constexpr PassRow of_message(NormalisePass facts, std::string_view change, Value (*pass)(Normaliser&, Value)) {
  return {facts, change, nullptr, pass};
}

/// A pass that runs before all others, by convert_request.
constexpr PassRow of_api(std::size_t number) {
  return {{kApiPasses[number].name, kApiPasses[number].sentence}, kApiPasses[number].change};
}

/// Passes that are off by default are for templates that need them: adapt() chooses.
constexpr bool kIfAsked = false;
/// Passes that are the method's own work: with ReadOptions::as_transformers they run, and no others.
constexpr bool kOfTransformers = true;

constexpr PassRow kPasses[] = {
    {{"generate-request",
      "a request of Ollama's /api/generate (prompt, system, images) becomes the messages of a chat"},
     "made of the prompt"},
    of_api(0),
    of_api(1),
    of_api(2),
    of_api(3),
    of_api(4),
    of_request({"unsaid-effort",
                "reasoning_effort and its like are dropped if they are null; a value that is not a string is noted"},
               "null: not given", passes::unsaid_effort),
    of_request({"chat-template-kwargs", "the members of chat_template_kwargs become variables, as servers have it"},
               "set by chat_template_kwargs", chat_template_kwargs),
    of_request(
        {"drop-request-members",
         "members that steer the server or the sampler (model, temperature, ...) are not passed to the template"},
        "not a variable", drop_request_members),
    of_request({"custom-tools",
                "custom tools, which take plain text instead of JSON, become functions with one string, `input`"},
               "a function with the string `input`", custom_tools),
    of_message({"custom-calls", "calls of custom tools become calls of functions with one string, `input`"},
               "a call with the string `input`", custom_calls),
    of_request(
        {"wrap-tools", "tools given as {\"name\", ...} become {\"type\": \"function\", \"function\": {\"name\", ...}}"},
        "wrapped as a function", wrap_tools),
    of_message({"wrap-calls",
                "tool_calls given as {\"name\", \"arguments\"} become {\"type\": \"function\", \"function\": "
                "{\"name\", ...}}"},
               "wrapped as a function", wrap_calls),
    of_message({"parse-arguments",
                "a call's arguments given as a JSON string become the object it holds, since templates loop over it"},
               "parsed from a JSON string", parse_arguments),
    of_message({"empty-arguments", "a call's arguments that are null or a blank string become an empty object"},
               "an empty object", empty_arguments),
    of_message({"null-content",
                "content that is null, or missing beside tool_calls, becomes \"\", since templates would print None"},
               "empty text", null_content),
    of_message({"null-members",
                "other members of messages that are null are left out, as transformers does since 5.23.0; templates "
                "would print None",
                true, "", kOfTransformers},
               "null: left out", passes::null_members),
    of_message({"developer-role", "messages with the role developer get the role system", kIfAsked}, "was developer",
               passes::developer_role),
    of_request({"first-system", "system messages at the beginning get the role user", kIfAsked}, "was the system's",
               passes::first_system),
    of_request(
        {"late-system", "system messages after the beginning get the role user and keep their place", kIfAsked, kRoles},
        "was the system's", passes::late_system),
    of_message({"text-only",
                "content parts that are not text (image_url, input_audio, ...) are left out, and reported as losses",
                kIfAsked, kRoles},
               "left out, since it is no text", passes::text_only),
    of_message({"part-types",
                "content parts that are not text get the type that the template knows: image for image_url; NAMES: "
                "user.image_url=image,...",
                kIfAsked, "NAMES"},
               "under the name that the template knows", passes::part_types),
    of_message({"no-place", "a content part that the template cannot show is an error; NAMES: user.image_url,...",
                kIfAsked, "NAMES"},
               "refused", passes::no_place),
    of_message({"content-parts", "content that is a list of text parts only becomes one string, joined by newlines",
                kIfAsked, kRoles},
               "joined from text parts", passes::content_parts),
    of_message({"one-part", "content that is a list of one text part becomes a string", kIfAsked, kRoles},
               "was a list of one text part", passes::one_part),
    of_request({"join-systems", "system messages at the beginning become one, joined by blank lines", kIfAsked},
               "joined with the message before", passes::join_systems),
    of_request({"gather-systems", "all system messages become one, in the place of the first, joined by blank lines",
                kIfAsked},
               "joined with the first of the system's", passes::gather_systems),
    of_request({"join-users", "consecutive user messages become one, joined by blank lines", kIfAsked},
               "joined with the message before", passes::join_users),
    of_message({"text-parts", "content that is a string becomes a list of one text part", kIfAsked, kRoles},
               "now a list of one text part", passes::text_parts),
    of_message(
        {"reasoning-names",
         "an assistant's `reasoning` (or Ollama's `thinking`) is also given as `reasoning_content`, the name templates "
         "use"},
        "taken from reasoning", passes::reasoning_names),
    of_message({"reasoning-aliases",
                "reasoning under any of its three names is given as both `reasoning_content` and `thinking`, as "
                "transformers does",
                kIfAsked, "", kOfTransformers},
               "the reasoning, under both names", passes::reasoning_aliases),
    of_message(
        {"reasoning-key", "an assistant's reasoning is given under this name only, whatever name the request uses",
         kIfAsked, "NAME"},
        "the reasoning, under the name that the template reads", passes::reasoning_key),
    of_message({"join-reasoning", "beside calls, content is appended to the reasoning of this name, after a blank line",
                kIfAsked, "NAME"},
               "joined to the reasoning", passes::join_reasoning),
    of_message({"reasoning-part", "an assistant's reasoning becomes a content part, {\"type\": TYPE, TYPE: text}",
                kIfAsked, "TYPE"},
               "the reasoning is its first part", passes::reasoning_part),
    of_message({"ollama-names", "the `tool_name` of a tool's message is also given as `name`"}, "taken from tool_name",
               ollama_names),
    of_request({"ollama-think",
                "Ollama's `think` is also given as `enable_thinking` and, if it is a level, as `reasoning_effort`"},
               "taken from think", ollama_think),
    of_request({"reasoning-effort",
                "the effort of reasoning that is asked for, in the words of any API, is also given as the variables "
                "that the template "
                "reads",
                kIfAsked, "SETTINGS"},
               "set for the effort of reasoning", passes::reasoning_effort),
    of_message({"calls-null-content", "empty content beside tool_calls becomes null", kIfAsked}, "null",
               passes::calls_null_content),
    of_message({"calls-no-content", "empty content beside tool_calls is removed", kIfAsked}, "taken away",
               passes::calls_no_content),
    of_message({"arguments-text",
                "a call's arguments become the JSON text of the object, as Python's json.dumps writes it", kIfAsked},
               "written as JSON text", passes::arguments_text),
    of_request({"missing-ids", "calls without an id get one, and so do their results", kIfAsked}, "a new id",
               passes::missing_ids),
    of_request({"short-ids", "ids of calls and results become nine letters and digits", kIfAsked},
               "nine letters and digits in place of the id", passes::short_ids),
    of_request(
        {"named-ids", "ids of calls and their results become functions.NAME:NUMBER, unless they hold the tool's name",
         kIfAsked},
        "functions.NAME:NUMBER in place of the id", passes::named_ids),
    of_request({"method-parameters",
                "parameters of apply_chat_template that are no variables (tokenize, padding, continue_final_message, "
                "...) are taken away",
                kIfAsked, "", kOfTransformers},
               "not a variable", passes::method_parameters),
    of_request({"defaults", "tools and documents are set to none if the request has none, as transformers does", true,
                "", kOfTransformers},
               "none", defaults),
};
constexpr std::size_t kPassCount = std::size(kPasses);

static_assert(kPasses[kFirstApiPass].facts.name == kApiPasses[0].name);
static_assert(std::size(kApiPasses) == 5 && kPasses[kFirstApiPass + 4].facts.name == kApiPasses[4].name);

constexpr auto kPassFacts = [] {
  std::array<NormalisePass, kPassCount> facts{};
  for (std::size_t i = 0; i < kPassCount; ++i) facts[i] = kPasses[i].facts;
  return facts;
}();

/// What transformers goes through before the template sees it.
Result<void> check_lists(const Value& variables) {
  for (const std::string_view name : {"tools", "documents"}) {
    const Value* given = member(variables, name);
    if (given == nullptr || given->is_none() || given->kind == Kind::list) continue;
    return not_a_conversation("`" + std::string(name) + "` is not a list", std::string(name));
  }
  return {};
}

Result<void> check(Value messages) {
  if (messages.is_undefined()) return not_a_conversation("the request has no `messages`", "");
  if (messages.kind != Kind::list) return not_a_conversation("`messages` is not a list", "messages");
  for (std::uint32_t i = 0; i < messages.list->size; ++i) {
    if (messages.list->items[i].kind == Kind::dict) continue;
    return not_a_conversation("a message is not an object", "messages[" + std::to_string(i) + "]");
  }
  return {};
}

/// Whether a pass runs, and its argument, which is text of the arena.
struct Choice {
  bool run = false;
  std::string_view argument;
};
using Choices = std::array<Choice, kPassCount>;
/// What runs where nobody asks for a pass by its name.
Choices unasked(const ReadOptions& options) {
  const bool drops_null = transformers_release(options.transformers).drops_null_members;
  Choices choices{};
  for (std::size_t i = 0; i < kPassCount; ++i) {
    const PassRow& row = kPasses[i];
    choices[i].run = options.as_transformers ? row.facts.of_transformers : row.facts.by_default;
    if (row.on_message == passes::null_members) choices[i].run = drops_null;
  }
  return choices;
}

/// Asked for twice, a pass is for the roles of both; without an argument it is for all.
void ask(Arena& arena, Choice& choice, const NormalisePass& pass, std::string_view argument) {
  const bool adds = choice.run && pass.takes == kRoles && !argument.empty();
  const bool for_all = adds && choice.argument.empty();
  choice.run = true;
  if (for_all) return;
  const std::string both = adds ? std::string(choice.argument) + "," + std::string(argument) : std::string(argument);
  choice.argument = both.empty() ? std::string_view() : arena.copy_text(both);
}

/// "content-parts:user" chooses the pass content-parts.
Result<void> choose_one(Arena& arena, Choices& choices, std::string_view name, bool wanted) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string_view argument = name.substr(std::min(colon + 1, name.size()));
  const auto row = std::find_if(std::begin(kPasses), std::end(kPasses),
                                [&](const PassRow& pass) { return pass.facts.name == name.substr(0, colon); });
  if (row == std::end(kPasses))
    return Error(ErrorCode::usage, "there is no normalisation pass '" + std::string(name) + "'");
  if (!argument.empty() && (row->facts.takes.empty() || !wanted))
    return Error(ErrorCode::usage, "'" + std::string(name) + "': nothing may follow the name of the pass");
  if (argument.empty() && wanted && !row->facts.takes.empty() && row->facts.takes != kRoles)
    return Error(ErrorCode::usage,
                 "'" + std::string(name) + "' needs more: " + std::string(name) + ":" + std::string(row->facts.takes));
  Choice& choice = choices[static_cast<std::size_t>(row - kPasses)];
  if (wanted) {
    ask(arena, choice, row->facts, argument);
  } else {
    choice.run = false;
  }
  return {};
}

/// Which passes run.
Result<Choices> choose(Arena& arena, const ReadOptions& options) {
  Choices choices = unasked(options);
  for (const bool wanted : {true, false}) {
    for (const std::string& name : wanted ? options.extra_passes : options.skip_passes) {
      if (Result<void> one = choose_one(arena, choices, name, wanted); !one) return one.error();
    }
  }
  return choices;
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

std::span<const NormalisePass> normalise_passes() { return kPassFacts; }

Error not_a_conversation(std::string message, std::string path) {
  return Error(ErrorCode::conversation, std::move(message))
      .input(std::move(path))
      .hint("with --as-is any JSON object is taken, its members as the template's variables");
}

Error without_reading_options(const Error& error) {
  const std::string& hint = error.hint();
  const bool names_one = hint.find("--skip-pass") != std::string::npos || hint.find("--as-is") != std::string::npos;
  return names_one ? error.hint({}) : error;
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
std::string place_below(const Conversation::State& state, Value from, std::string_view steps) {
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

std::string place_of(const Conversation::State& state, const Change& change) {
  const std::string place = place_as_chat(change);
  const bool in_list = change.message >= 0 || change.tool >= 0;
  if (!in_list || state.converted.is_undefined()) return place;
  const std::string found = place_below(state, state.converted, place);
  return found.empty() ? place : found;
}

std::string note_of(const Conversation::State& state, const Change& change) {
  std::string note = place_of(state, change);
  const PassRow& pass = kPasses[change.pass];
  note.append(": ")
      .append(change.what.empty() ? pass.change : change.what)
      .append(" (")
      .append(pass.facts.name)
      .append(")");
  return note;
}

Result<void> normalise(Conversation::State& state, const ReadOptions& options) {
  const auto chosen = choose(state.arena, options);
  if (!chosen) return chosen.error();
  const Limits limits;
  Runtime rt(state.arena, limits);
  if (Result<void> converted = convert_request(state, options); !converted) return converted;
  if ((*chosen)[0].run && generate_request(state, rt)) state.changes.push_back({0, -1, -1, "messages", -1, {}});
  if (!options.reasoning_effort.empty()) {
    // other words for it
    for (const std::string_view name : {"think", "thinking", "reasoning"}) take_variable(state, name);
    state.set_variable(Value::view(kEffort), Value::view(state.arena.copy_text(options.reasoning_effort)));
  }
  const Value* messages = member(state.variables, "messages");
  if (Result<void> checked = check(messages == nullptr ? Value{} : *messages); !checked) return checked.error();
  if (Result<void> checked = check_lists(state.variables); !checked) return checked.error();
  state.as_transformers = options.as_transformers;
  if (options.as_transformers) {
    if (Result<void> checked = check_as_transformers(state.variables); !checked) return checked.error();
  }
  const Value given = *messages;
  Normaliser n(state, rt, given);
  for (std::size_t i = 0; i < kPassCount; ++i) {
    n.pass = static_cast<std::uint16_t>(i);
    const Choice& choice = (*chosen)[i];
    if (!choice.run) continue;
    n.argument = choice.argument;
    run_pass(n, kPasses[i]);
    if (n.failure) return *n.failure;
  }
  if (const Value made = n.messages.finish(); made.list != given.list)
    state.set_variable(Value::view("messages"), made);
  return {};
}

}  // namespace parlance
