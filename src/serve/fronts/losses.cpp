// Losses of requests. Begin reading at add_unserved.
#include "serve/fronts/losses.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "parlance/json_writer.h"
#include "parlance/request.h"
#include "serve/fronts/client_words.h"
#include "serve/fronts/request_parts.h"
#include "serve/json/members.h"

namespace parlance::serve {

namespace {

/// Settings of samplers and of replies that servers of these APIs have, and no engine here is asked for.
constexpr std::string_view kUnserved[] = {
    "allowed_token_ids",
    "audio",
    "bad_words",
    "cache_salt",
    "custom_logit_processor",
    "custom_params",
    "dry_multiplier",
    "dynatemp_range",
    "epsilon_cutoff",
    "guided_json_object",
    "include_stop_str_in_output",
    "kv_transfer_params",
    "length_penalty",
    "logits_processors",
    "logprob_start_len",
    "logprob_token_ids",
    "lora",
    "lora_path",
    "max_new_tokens",
    "mcp_servers",
    "min_new_tokens",
    "mirostat",
    "mirostat_eta",
    "mirostat_tau",
    "modalities",
    "n_predict",
    "n_probs",
    "no_repeat_ngram_size",
    "num_beams",
    "post_sampling_probs",
    "prompt_embeds",
    "prompt_logprob_token_ids",
    "prompt_logprobs",
    "repeat_last_n",
    "repetition_detection",
    "return_hidden_states",
    "return_logprob",
    "return_meta_info",
    "return_progress",
    "return_prompt_text",
    "return_prompt_token_ids",
    "return_routed_experts",
    "return_sampling_mask",
    "return_token_offsets",
    "return_weight_versions",
    "samplers",
    "sampling_seed",
    "smoothing_factor",
    "stop_regex",
    "tfs_z",
    "timings_per_token",
    "top_a",
    "top_logprobs_num",
    "top_n_sigma",
    "truncate_prompt_tokens",
    "use_beam_search",
    "vllm_xargs",
    "watermarking",
    "web_search_options",
    "xtc_probability",
    "xtc_threshold",
};
static_assert(std::is_sorted(std::begin(kUnserved), std::end(kUnserved)));

/// Members that ask for what is not done where they have this value, as JSON.
struct UnservedValue {
  std::string_view name, json, why;
};
constexpr UnservedValue kUnservedValues[] = {
    {"background", "true", "no effect: the answer comes when it is whole, or as a stream"},
    {"prompt_logprobs", "0", "no effect: no engine is asked for it here"},
    {"truncation", "\"auto\"", "no effect: nothing is left out of a conversation that is too long, which is an error"}};

/// What these have where they ask for nothing: one beam, factors of 1, and -1 where there is no limit or it is off.
struct NeutralValue {
  std::string_view name;
  std::int64_t value;
};
constexpr NeutralValue kNeutral[] = {{"length_penalty", 1}, {"logprob_start_len", -1},
                                     {"n_predict", -1},     {"num_beams", 1},
                                     {"tfs_z", 1},          {"top_n_sigma", -1}};

/// Ids of a prompt, under the names of routes and clients that take some. A chat makes its prompt of messages.
constexpr std::string_view kIdsOfPrompts[] = {"prompt_token_ids", "tokens", "token_ids", "input_ids"};

/// Members that a reply's grammar obeys, whatever the template does with them.
constexpr std::string_view kObeyed[] = {"tool_choice",    "parallel_tool_calls",
                                        "max_tool_calls", "response_format",
                                        "text.format",    "output_config.format",
                                        "output_format",  "format",
                                        "json_schema",    "structured_outputs",
                                        "guided_json",    "guided_regex",
                                        "guided_choice",  "regex",
                                        "function_call",  "guided_grammar",
                                        "grammar",        "ebnf",
                                        "structural_tag"};

constexpr std::size_t kMostInLog = 16;
constexpr std::size_t kMostOfPath = 128;  // bytes: a member may have any name, which is the client's text

/// Is it this number, written as a whole one or as a real?
bool is_number(Value given, std::int64_t number) {
  return given.is(Kind::real) ? given.real == static_cast<double>(number)
                              : given.is_small_int() && given.integer == number;
}

bool is_neutral(std::string_view name, Value given) {
  return std::any_of(std::begin(kNeutral), std::end(kNeutral),
                     [&](const NeutralValue& one) { return one.name == name && is_number(given, one.value); });
}

/// Asks for nothing.
bool says_nothing(Value given) {
  if (given.is_undefined() || given.is_none() || is_number(given, 0)) return true;
  if (given.is(Kind::boolean)) return given.integer == 0;
  if (given.is_string()) return given.text().empty();
  return given.is(Kind::dict) ? given.members().empty() : given.is_sequence() && given.items().empty();
}

void add(Losses& into, std::string_view subject, std::string path, std::string sentence) {
  into.push_back({LossKind::lost, subject, std::move(path), std::move(sentence), {}});
}

bool is_told(std::string_view path, const Losses& losses) {
  return std::any_of(losses.begin(), losses.end(), [path](const Loss& loss) { return loss.path == path; });
}

void add_unserved_members(Value object, const std::string& before, Losses& into) {
  for (const DictEntry& member : object.members()) {
    const std::string_view name = member.key.text();
    const bool is_known = std::binary_search(std::begin(kUnserved), std::end(kUnserved), name);
    const bool only_text = name == "modalities" && json_text(member.value) == R"(["text"])";
    if (!is_known || only_text || is_neutral(name, member.value) || says_nothing(member.value)) continue;
    const std::string path = before + std::string(name);
    if (!is_told(path, into)) add(into, "setting", path, "no effect: no engine is asked for it here");
  }
}

/// A path or a member below it.
bool is_below(std::string_view path, std::string_view member) {
  if (!path.starts_with(member)) return false;
  return path.size() == member.size() || path[member.size()] == '.' || path[member.size()] == '[';
}

/// The tool as the request has it: converted tools are in other places, and hosted ones are left out.
std::string place_of_tool(Value tool, std::size_t number, const Conversation& conversation) {
  constexpr std::string_view kName = ".name";
  const Value function = tool["function"].is(Kind::dict) ? tool["function"] : tool;
  std::string path = conversation.path_of(function["name"]);
  if (path.ends_with(kName)) path.resize(path.size() - kName.size());
  return path.empty() ? "tools[" + std::to_string(number) + "]" : path;
}

/// "[2].function.parameters.properties.a" of the tools, or "response_format: .properties.a" of the form.
std::string path_of_note(std::string_view path, const Conversation& conversation, Value body) {
  constexpr std::string_view kForm = "response_format", kParameters = ".parameters";
  if (path.starts_with(kForm)) {
    const std::size_t colon = path.find(": ");
    return own_path(body, kForm) + (colon == path.npos ? "" : "." + std::string(path.substr(colon + 2)));
  }
  const std::span<const Value> tools = conversation.tools().items();
  std::size_t number = 0;
  const bool is_tool = path.starts_with('[');
  const auto [end, failed] = std::from_chars(path.data() + (is_tool ? 1 : 0), path.data() + path.size(), number);
  if (!is_tool || failed != std::errc() || number >= tools.size()) return "tools" + std::string(path);
  const std::string place = place_of_tool(tools[number], number, conversation);
  const std::size_t at = path.find(kParameters);
  if (at == path.npos) return place;
  const std::span<const Value> given = body["tools"].items();
  const bool is_anthropic =
      place.find(".function") == place.npos &&
      std::any_of(given.begin(), given.end(), [](Value one) { return !one["input_schema"].is_undefined(); });
  return place + (is_anthropic ? ".input_schema" : std::string(kParameters)) +
         std::string(path.substr(at + kParameters.size()));
}

/// "special token": labels have no blanks.
std::string label_of_kind(std::string_view kind) {
  std::string text(kind);
  std::replace(text.begin(), text.end(), ' ', '_');
  return "kind=\"" + text + "\"";
}

/// Ollama loads a model with the context that a request asks for; an engine here has the one that it was started with.
void add_context(const Backend& backend, Value wanted, Losses& into) {
  const std::shared_ptr<const EngineInfo> info = backend.info();
  if (!wanted.is_small_int() || !info || !info->context || *info->context == wanted.integer) return;
  add(into, "setting", "options.num_ctx", "no effect: the engine's context is " + std::to_string(*info->context));
}

/// What is not had in full (limit_reply in models/limits.cpp).
void add_lowered(const RequestLimits& limits, Value settings, Losses& into) {
  const std::string path = member_of(settings, Setting::max_tokens);
  if (path.empty() || limits.reply_tokens == 0) return;
  const Value asked = path.starts_with("options.") ? settings["options"]["num_predict"] : settings[path];
  if (asked.is_small_int() && asked.integer > limits.reply_tokens)
    add(into, "setting", path, "lowered to " + std::to_string(limits.reply_tokens) + ", the limit here");
}

}  // namespace

void add_unserved(const ServedModel& model, Value settings, Losses& into) {
  const Backend& backend = *model.backend;
  const BackendFacts& engine = backend.facts();
  add_lowered(model.limits, settings, into);
  add_unserved_members(settings, "", into);
  add_unserved_members(settings["options"], "options.", into);
  for (const UnservedValue& one : kUnservedValues)
    if (is_given(settings[one.name]) && json_text(settings[one.name]) == one.json)
      add(into, "setting", std::string(one.name), std::string(one.why));
  add_context(backend, settings["options"]["num_ctx"], into);
  for (const std::string_view name : {"stop_token_ids", "return_token_ids", "return_tokens_as_token_ids"})
    if (!engine.gives_ids && !says_nothing(settings[name]))
      add(into, "setting", std::string(name), "no effect: the engine gives no ids");
  if (const std::string_view limit = member_limiting_reasoning(settings); !engine.gives_ids && !limit.empty())
    add(into, "setting", std::string(limit), "nothing limits the reasoning: the engine gives no ids");
  for (std::size_t number = 0; number < engine.settings.size(); ++number) {
    if (!engine.settings[number].empty()) continue;
    const std::string path = member_of(settings, static_cast<Setting>(number));
    if (!path.empty()) add(into, "setting", path, "no effect: the engine has no such setting");
  }
}

void add_unserved_in_chats(Value settings, Losses& into) {
  if (flag_of(settings["echo"], false)) add(into, "setting", "echo", "no effect: a chat's answer has the reply alone");
  if (!flag_of(settings["skip_special_tokens"], true))
    add(into, "setting", "skip_special_tokens", "no effect: control tokens are read, and are no text");
  if (const Value best = settings["best_of"]; best.is_small_int() && best.integer > 1)
    add(into, "setting", "best_of", "no effect: no more choices are sampled than n");
  for (const std::string_view name : kIdsOfPrompts)
    if (settings[name].is_sequence() && !says_nothing(settings[name]) && !is_told(name, into))
      add(into, "setting", std::string(name),
          "no effect: the prompt is made of the messages; /v1/completions and /inference/v1/generate take ids");
}

bool may_constrain(Value variables) {
  return std::any_of(std::begin(kObeyed), std::end(kObeyed),
                     [&](std::string_view name) { return !variables[name].is_undefined(); });
}

void add_unenforced(const BackendFacts& engine, const GrammarOptions& asked, bool has_calls, Value body, Losses& into) {
  if (engine.grammar) return;
  constexpr std::string_view kNot = "the engine takes no grammar, so the reply is not held to it";
  const ResponseFormat::Kind form = asked.response.kind;
  const bool is_json = form == ResponseFormat::Kind::json_object || form == ResponseFormat::Kind::json_schema;
  const bool calls = has_calls && asked.choice != ToolChoice::none;
  const bool by_schema = engine.takes_schema && is_json && !calls;
  if (form != ResponseFormat::Kind::text && !by_schema)
    add(into, "constraint", own_path(body, "response_format"), std::string(kNot));
  if (asked.choice == ToolChoice::required || asked.choice == ToolChoice::named)
    add(into, "constraint", own_path(body, "tool_choice"), std::string(kNot));
  // of `functions` nobody asks for more, and the choice of one tool is told already
  const bool says_one = body["functions"].items().empty() && asked.choice != ToolChoice::named;
  if (calls && !asked.parallel && says_one) add(into, "constraint", "parallel_tool_calls", std::string(kNot));
  if (calls && asked.max_calls > 0) add(into, "constraint", "max_tool_calls", std::string(kNot));
}

void add_loosened(const std::vector<GrammarNote>& notes, Value body, Losses& into) {
  constexpr std::string_view kForm = "response_format";
  for (const GrammarNote& note : notes) {
    if (!note.path.starts_with(kForm)) continue;
    const std::string keyword = note.keyword.empty() ? "" : note.keyword + ": ";
    const std::string what = note.left_out ? "the grammar leaves out more: " : "the grammar allows more: ";
    add(into, "constraint", own_path(body, kForm), what + keyword + note.why);
  }
}

Losses without_obeyed(Losses losses, Value body) {
  std::erase_if(losses, [body](const Loss& loss) {
    if (loss.subject != "setting") return false;
    return limits_reasoning(body, loss.path) ||
           std::any_of(std::begin(kObeyed), std::end(kObeyed),
                       [&](std::string_view name) { return is_below(loss.path, name); });
  });
  return losses;
}

void say_losses(Gateway& gateway, const LossesOf& of, const Losses& losses) {
  if (losses.empty()) return;
  for (const Loss& loss : losses) gateway.metrics().losses.add(label_of_kind(loss.subject));
  const LogLevel level = of.looked_for ? LogLevel::warning : LogLevel::info;
  gateway.log().say(level, "losses", [&](JsonWriter& line) {
    line.text("session", of.session).text("request", of.request).text("model", of.model).text("id", of.id);
    line.number("count", static_cast<std::int64_t>(losses.size()));
    JsonWriter list('[');
    for (std::size_t number = 0; number < std::min(losses.size(), kMostInLog); ++number) {
      const std::string_view path = utf8::whole_prefix(losses[number].path, kMostOfPath);
      list.item(JsonWriter('{').text("kind", losses[number].subject).text("path", path).take());
    }
    line.raw("losses", list.take());
  });
}

std::string grammar_notes_json(const std::vector<GrammarNote>& notes, const Conversation& conversation, Value body) {
  JsonWriter list('[');
  for (const GrammarNote& note : notes) {
    JsonWriter one('{');
    one.text("path", path_of_note(note.path, conversation, body)).text("keyword", note.keyword).text("why", note.why);
    list.item(one.flag("left_out", note.left_out).take());
  }
  return list.take();
}

std::string losses_json(const Losses& losses) {
  JsonWriter list('[');
  for (const Loss& loss : losses) {
    JsonWriter one('{');
    one.text("path", loss.path).text("kind", loss.subject).text("what", loss.sentence);
    if (const std::string hint = hint_for_client(loss.hint); !hint.empty()) one.text("hint", hint);
    list.item(one.take());
  }
  return list.take();
}

}  // namespace parlance::serve
