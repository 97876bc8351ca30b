// Making the requests of experiments, and rendering them. Begin reading at request_of.
#include "probe/probe_request.h"

#include <algorithm>
#include <numeric>

#include "json/writer.h"
#include "render/steps.h"
#include "value/dict.h"

namespace parlance::probe {
namespace {

/// Stand in for special tokens that nobody told: many templates raise where they are missing.
constexpr std::pair<std::string_view, std::string_view> kUnknownTokens[] = {{"bos_token", kUnknownToken},
                                                                            {"eos_token", kUnknownToken},
                                                                            {"unk_token", kUnknownToken},
                                                                            {"pad_token", kUnknownToken}};

/// Bytes of all that is kept: the requests, the prompts, and of each byte its place. A hundred and eleven
/// real templates have at most two and a half million.
constexpr std::size_t kMostKept = std::size_t{16} << 20;

/// As it is stored: a byte of text, its place, and the literals that the places are made of.
std::size_t size_of(std::string_view request, const Shot& shot) {
  return request.size() + shot.text.size() * (1 + sizeof(std::uint32_t)) + shot.literals.size() * sizeof(Shot::Literal);
}

/// What one experiment may use of what all may.
/// A template may be hostile or just slow: one experiment that never ends must leave steps for the others.
Limits share_of(Limits all) {
  constexpr std::uint64_t kExperiments = 64;
  constexpr std::uint64_t kLongestPrompt = std::uint64_t{1} << 20;
  all.steps /= kExperiments;
  all.memory_bytes = std::max(all.memory_bytes / kExperiments, std::uint64_t{1} << 20);
  all.output_bytes = std::min(all.output_bytes, kLongestPrompt);
  return all;
}

/// The variable that a render has missed: 'name' is undefined.
/// Only names that the template reads: an attribute's message ends with other words, and a stand-in would not help.
std::string undefined_variable(const TemplateFacts& facts, const Error& error) {
  constexpr std::string_view kEnd = "' is undefined";
  const std::string_view message = error.message();
  if (error.code() != ErrorCode::undefined || !message.starts_with('\'') || !message.ends_with(kEnd)) return {};
  std::string name(message.substr(1, message.size() - 1 - kEnd.size()));
  return facts.reads(name) ? name : std::string();
}

}  // namespace

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

namespace {

constexpr std::string_view kText = R"({"type": "string", "description": "A text."})";

}  // namespace

std::string tools_with_texts(std::string_view of_a, std::string_view of_b) {
  std::string out = "[";
  for (const std::string_view name : kTools) {
    if (out.size() > 1) out += ", ";
    out += R"({"type": "function", "function": {"name": ")";
    out += name;
    out += R"(", "description": "Does a thing.", "parameters": {"type": "object", "properties": {
      "zqkey_a": )";
    out.append(of_a).append(R"(, "zqkey_b": )").append(of_b);
    if (name == kTools[0])
      out += R"(,
      "zqkey_i": {"type": "integer", "description": "A number."},
      "zqkey_n": {"type": "number", "description": "A number."},
      "zqkey_t": {"type": "boolean", "description": "A truth."},
      "zqkey_l": {"type": "array", "items": {"type": "string"}, "description": "A list."},
      "zqkey_o": {"type": "object", "properties": {"k": {"type": "string"}}, "description": "An object."})";
    out += R"(}, "required": ["zqkey_a"]}}})";
  }
  return out + "]";
}

const std::string& tools_json() {
  static const std::string kMade = tools_with_texts(kText, kText);
  return kMade;
}

namespace {

void add_id(Json& json, const SceneCall& call, std::size_t index, std::string_view key, const Convention& convention) {
  if (convention.ids == Convention::Ids::none) return;
  const bool named = convention.ids == Convention::Ids::named;
  json.text(key, named ? "functions." + call.name + ":" + std::to_string(index) : call.id);
}

std::string call_json(const SceneCall& call, std::size_t index, const Convention& convention) {
  Json function('{'), json('{');
  function.text("name", call.name);
  function.raw("arguments", convention.text_arguments ? json_string(call.arguments) : call.arguments);
  add_id(json, call, index, "id", convention);
  return json.text("type", "function").raw("function", function.take()).take();
}

/// Some templates take content as a list of parts only.
std::string content_of(std::string_view text, const Convention& convention) {
  return convention.parts ? Json('[').item(text_part(text)).take() : json_string(text);
}

/// "" for none.
std::string content_json(const Scene& scene, const Convention& convention) {
  using Content = Convention::Content;
  if (!scene.content_json.empty()) return scene.content_json;
  const std::string with_reasoning =
      scene.reasoning.empty() ? "" : content_with_reasoning(scene.reasoning_key, scene.reasoning, scene.content);
  if (!with_reasoning.empty()) return with_reasoning;
  if (scene.content) return content_of(*scene.content, convention);
  switch (convention.beside_calls) {
    case Content::empty: return "\"\"";
    case Content::null: return "null";
    case Content::absent: break;
    case Content::text: return content_of(kContent, convention);
  }
  return {};
}

std::string assistant_json(const Scene& scene, const Convention& convention) {
  Json json('{');
  json.text("role", "assistant");
  if (const std::string content = content_json(scene, convention); !content.empty()) json.raw("content", content);
  const bool in_content = scene.reasoning_key.starts_with(kPartKey) || scene.reasoning_key.starts_with(kBlockKey);
  if (!scene.reasoning.empty() && !in_content) json.text(scene.reasoning_key, scene.reasoning);
  if (!scene.calls.empty()) json.raw("tool_calls", calls_json(scene.calls, convention));
  return json.take();
}

std::string result_json(const SceneCall& call, std::size_t index, std::string_view text, const Convention& convention) {
  Json json('{');
  add_id(json, call, index, "tool_call_id", convention);
  return json.text("role", "tool").text("name", kResultName).text("content", text).take();
}

std::string user_json(std::string_view text, const Convention& convention) {
  return Json('{').text("role", "user").raw("content", content_of(text, convention)).take();
}

void add_next(Json& messages, const Scene& scene, const Convention& convention) {
  if (scene.next == Next::user) messages.item(user_json(kNextUser, convention));
  if (scene.next != Next::result) return;
  for (std::size_t i = 0; i < scene.calls.size(); ++i) {
    messages.item(result_json(scene.calls[i], i, kResult, convention));
  }
}

}  // namespace

std::string calls_json(const std::vector<SceneCall>& calls, const Convention& convention) {
  Json list('[');
  for (std::size_t i = 0; i < calls.size(); ++i) list.item(call_json(calls[i], i, convention));
  return list.take();
}

std::string other_words(std::string_view text) {
  std::string other(text);
  for (char& c : other) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>('a' + (c - 'a' + 1) % 26);
  }
  return other;
}

std::string text_part(std::string_view text) { return Json('{').text("type", "text").text("text", text).take(); }

std::vector<SceneCall> plain_calls(std::size_t count) {
  std::vector<SceneCall> calls;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string arguments = Json('{').text(kKeyA, kValuesA[i]).text(kKeyB, kValuesB[i]).take();
    calls.push_back({std::string(kTools[i]), std::string(kIds[i]), arguments});
  }
  return calls;
}

std::string content_with_reasoning(std::string_view key, std::string_view reasoning,
                                   const std::optional<std::string>& content) {
  const bool blocks = key.starts_with(kBlockKey);
  if (!blocks && !key.starts_with(kPartKey)) return {};
  const std::string_view type = key.substr(blocks ? kBlockKey.size() : kPartKey.size());
  Json parts('[');
  parts.item(Json('{').text("type", type).text(type, reasoning).text("text", reasoning).take());
  if (content) parts.item(Json('{').text("type", blocks ? "response" : "text").text("text", *content).take());
  return blocks ? Json('{').raw("blocks", parts.take()).take() : parts.take();
}

std::string request_of(const Scene& scene, const Convention& convention) {
  Json messages('['), json('{');
  if (scene.earlier_turn) {
    const SceneCall call{std::string(kTools[2]), "zqcall009", "{\"zqkey_a\": \"zqval_early\"}"};
    messages.item(user_json("zq asks early", convention));
    messages.item(assistant_json({.content = {}, .calls = {call}}, convention));
    messages.item(result_json(call, 0, "zq early result", convention));
    messages.item(assistant_json({.content = "zq early answer"}, convention));
  }
  messages.item(user_json(kUser, convention));
  if (scene.assistant) messages.item(assistant_json(scene, convention));
  add_next(messages, scene, convention);
  if (!scene.last_message.empty()) messages.item(scene.last_message);
  json.raw("messages", messages.take());
  const bool shown = scene.calls.empty() ? convention.tools : convention.tools_called;
  if (scene.tools && shown) json.raw("tools", tools_json());
  for (const auto& [name, value] : scene.variables) json.raw(name, value);
  return json.take();
}

std::string answer_json(std::string_view role, std::string_view content_json) {
  Json json('{');
  json.text("role", role).text("name", kTools[0]).text("tool_call_id", kIds[0]);
  return json.raw("content", content_json).take();
}

Stretch Shot::whole() const {
  if (places_.size() != text.size()) {
    places_.assign(text.size(), 0);
    for (const Literal& one : literals) std::iota(places_.begin() + one.begin, places_.begin() + one.end, one.place);
  }
  return {text, places_};
}

const Shot& Prober::take(const Scene& scene) { return take_json(request_of(scene, convention), scene.generation); }

/// All experiments together have the steps of the limits.
Result<void> Prober::run(const Template& one, const Conversation& chat, RenderOptions rendering, Rendering& prompt) {
  rendering.limits.steps = std::min(rendering.limits.steps, options_.limits.steps - steps_);
  Result<void> done = one.render(chat, rendering, workspace_, prompt);
  steps_ += steps_of_last(workspace_);
  return done;
}

/// A template that changes lists fails in the sandbox as transformers has it. Once one such render succeeds with
/// changes allowed, all further ones are made so: a mixture would compare two templates.
Result<void> Prober::render_once(const Conversation& chat, const RenderOptions& rendering, Rendering& prompt) {
  Result<void> done = run(changing_ ? *changing_ : template_, chat, rendering, prompt);
  if (done || changing_ || done.error().code() != ErrorCode::security) return done;
  Result<Template> changing = template_.with_changes();
  if (!changing) return done;
  Result<void> again = run(*changing, chat, rendering, prompt);
  if (again || again.error().code() != ErrorCode::security) changing_ = std::move(*changing);
  return again;
}

/// A text for each variable that turns out to be missing, which is better than to know nothing.
Result<void> Prober::render(Conversation& chat, const RenderOptions& rendering, Rendering& prompt) {
  constexpr std::size_t kMostStandIns = 8;
  for (;;) {
    Result<void> done = render_once(chat, rendering, prompt);
    const std::string name = done ? std::string() : undefined_variable(facts_, done.error());
    const bool known = std::find(stand_ins_.begin(), stand_ins_.end(), name) != stand_ins_.end();
    if (name.empty() || known || stand_ins_.size() == kMostStandIns) return done;
    stand_ins_.push_back(name);
    set_variables(chat);
  }
}

/// What cannot be set, such as a token that is not UTF-8, is not told: a template that needs it gets a stand-in.
void Prober::set_variables(Conversation& chat) const {
  for (const auto& [name, json] : options_.variables) {
    const Value all = chat.variables();
    // by the experiment, or as a message
    const bool told = all.kind == Kind::dict && find_key(*all.dict, name) != nullptr;
    if (!told) (void)chat.set_json(name, json);
  }
  for (const auto& [name, text] : options_.special_tokens) (void)chat.set_default_string(name, text);
  for (const auto& [name, text] : kUnknownTokens) (void)chat.set_default_string(name, text);
  for (const std::string& name : stand_ins_) (void)chat.set_default_string(name, "zq_" + name);
}

/// The key has the flag at its end, since the same request renders differently for a generation.
const Shot& Prober::take_json(std::string request, bool generation) {
  request += generation ? '+' : '-';
  const auto [known, is_new] = shots_.try_emplace(std::move(request));
  Shot& shot = known->second;
  if (!is_new) return shot;
  if (kept_ > kMostKept) {
    shot.problem = "the prompts of experiments are too long together";
    return shot;
  }
  fill(shot, std::string_view(known->first).substr(0, known->first.size() - 1), generation);
  kept_ += size_of(known->first, shot);
  return shot;
}

/// For generated turns, of which none comes twice: kept, they would only fill the memory. Their steps do not count, so
/// a check of any length fits the limits.
Shot Prober::take_once(const Scene& scene) {
  Shot shot;
  const std::uint64_t before = steps_;
  fill(shot, request_of(scene, convention), scene.generation);
  steps_ = before;
  return shot;
}

/// Experiments choose how things are handed over: no pass runs.
namespace {
constexpr int kLimitReached = 4;  // errors.def: what all limit_* have, and nothing else
}  // namespace

void Prober::fill(Shot& shot, std::string_view request, bool generation) {
  ++count_;
  ReadOptions reading;
  reading.normalise = false;
  if (Result<void> read = chat_.read(request, reading, "<probe>"); !read) {
    shot.problem = std::string(read.error().message());
    return;
  }
  set_variables(chat_);
  RenderOptions rendering;
  rendering.add_generation_prompt = generation;
  rendering.continue_final = false;
  rendering.limits = share_of(options_.limits);
  if (Result<void> done = render(chat_, rendering, prompt_); !done) {
    shot.problem = std::string(done.error().message());
    shot.error = done.error();
    shot.refused = done.error().code() == ErrorCode::raised;
    if (!limit_ && parlance::facts(done.error().code()).exit_code == kLimitReached) limit_ = done.error();
    return;
  }
  shot.rendered = true;
  shot.text = std::string(prompt_.text());
  for (const Span& span : prompt_.spans()) {
    // One more than the offset, as 0 says that a byte is not the template's.
    if (span.origin == Origin::literal) shot.literals.push_back({span.begin, span.end, 1 + span.template_begin});
  }
  const std::size_t user = shot.text.rfind(kUser);
  shot.tail_from = user == std::string::npos ? shot.text.size() : user + kUser.size();
}

}  // namespace parlance::probe
