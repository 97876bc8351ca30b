// Making the requests of experiments, and rendering them. Begin reading at request_of.
#include "probe/scene.h"

#include <algorithm>
#include <numeric>

#include "render/steps.h"
#include "value/dict.h"
#include "value/json.h"

namespace parlance::probe {
namespace {

/// Stand in for special tokens that nobody told: many templates raise where they are missing.
constexpr std::pair<std::string_view, std::string_view> kUnknownTokens[] = {
    {"bos_token", kUnknownToken}, {"eos_token", kUnknownToken}, {"unk_token", kUnknownToken}, {"pad_token", kUnknownToken}};

/// Bytes of all that is kept: the requests, the prompts, and of each byte its place. A hundred and eleven
/// real templates have at most two and a half million.
constexpr std::size_t kMostKept = std::size_t{16} << 20;

std::size_t size_of(std::string_view request, const Shot& shot) {
  return request.size() + shot.text.size() * (1 + sizeof(std::uint32_t)) + shot.literals.size() * sizeof(Shot::Literal);
}

/// What one experiment may use of what all may.
Limits share_of(Limits all) {
  constexpr std::uint64_t kExperiments = 64;
  constexpr std::uint64_t kLongestPrompt = std::uint64_t{1} << 20;
  all.steps /= kExperiments;
  all.memory_bytes = std::max(all.memory_bytes / kExperiments, std::uint64_t{1} << 20);
  all.output_bytes = std::min(all.output_bytes, kLongestPrompt);
  return all;
}

/// The variable that a render has missed: 'name' is undefined.
std::string undefined_variable(const TemplateFacts& facts, const Error& error) {
  constexpr std::string_view kEnd = "' is undefined";
  const std::string_view message = error.message();
  if (error.code() != ErrorCode::undefined || !message.starts_with('\'') || !message.ends_with(kEnd)) return {};
  std::string name(message.substr(1, message.size() - 1 - kEnd.size()));
  return facts.reads(name) ? name : std::string();
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

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
    if (name == kTools[0]) out += R"(,
      "zqkey_i": {"type": "integer", "description": "A number."}, "zqkey_n": {"type": "number", "description": "A number."},
      "zqkey_t": {"type": "boolean", "description": "A truth."}, "zqkey_l": {"type": "array", "items": {"type": "string"}, "description": "A list."},
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

std::string id_member(const SceneCall& call, std::size_t index, std::string_view key, const Convention& convention) {
  if (convention.ids == Convention::Ids::none) return {};
  const std::string id = convention.ids == Convention::Ids::named ? "functions." + call.name + ":" + std::to_string(index) : call.id;
  return "\"" + std::string(key) + "\": " + in_quotes(id) + ", ";
}

std::string call_json(const SceneCall& call, std::size_t index, const Convention& convention) {
  std::string out = "{" + id_member(call, index, "id", convention);
  out += R"("type": "function", "function": {"name": )" + in_quotes(call.name) + ", \"arguments\": ";
  out += convention.text_arguments ? in_quotes(call.arguments) : call.arguments;
  return out + "}}";
}

std::string calls_json(const std::vector<SceneCall>& calls, const Convention& convention) {
  std::string out = "[";
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i > 0) out += ", ";
    out += call_json(calls[i], i, convention);
  }
  return out + "]";
}

std::string content_of(std::string_view text, const Convention& convention) {
  if (!convention.parts) return in_quotes(text);
  return "[{\"type\": \"text\", \"text\": " + in_quotes(text) + "}]";
}

/// ", \"content\": …", or nothing.
std::string content_member(const Scene& scene, const Convention& convention) {
  using Content = Convention::Content;
  std::string json = scene.content_json;
  if (json.empty() && !scene.reasoning.empty()) json = content_with_reasoning(scene.reasoning_key, scene.reasoning, scene.content);
  if (json.empty() && scene.content) json = content_of(*scene.content, convention);
  if (json.empty()) {
    switch (convention.beside_calls) {
      case Content::empty: json = "\"\""; break;
      case Content::null: json = "null"; break;
      case Content::absent: return "";
      case Content::text: json = content_of(kContent, convention); break;
    }
  }
  return ", \"content\": " + json;
}

std::string assistant_json(const Scene& scene, const Convention& convention) {
  std::string out = R"({"role": "assistant")" + content_member(scene, convention);
  const bool in_content = scene.reasoning_key.starts_with(kPartKey) || scene.reasoning_key.starts_with(kBlockKey);
  if (!scene.reasoning.empty() && !in_content) out += ", " + in_quotes(scene.reasoning_key) + ": " + in_quotes(scene.reasoning);
  if (!scene.calls.empty()) out += ", \"tool_calls\": " + calls_json(scene.calls, convention);
  return out + "}";
}

std::string result_json(const SceneCall& call, std::size_t index, std::string_view text, const Convention& convention) {
  return "{" + id_member(call, index, "tool_call_id", convention) + R"("role": "tool", "name": )" + in_quotes(kResultName) +
         ", \"content\": " + in_quotes(text) + "}";
}

std::string user_json(std::string_view text, const Convention& convention) {
  return R"({"role": "user", "content": )" + content_of(text, convention) + "}";
}

void append_next(std::string& out, const Scene& scene, const Convention& convention) {
  if (scene.next == Next::user) out += ", " + user_json(kNextUser, convention);
  if (scene.next != Next::result) return;
  for (std::size_t i = 0; i < scene.calls.size(); ++i) out += ", " + result_json(scene.calls[i], i, kResult, convention);
}

}  // namespace

std::vector<SceneCall> plain_calls(std::size_t count) {
  std::vector<SceneCall> calls;
  for (std::size_t i = 0; i < count; ++i) {
    std::string arguments = "{";
    arguments.append(in_quotes(kKeyA)).append(": ").append(in_quotes(kValuesA[i])).append(", ");
    arguments.append(in_quotes(kKeyB)).append(": ").append(in_quotes(kValuesB[i])).append("}");
    calls.push_back({std::string(kTools[i]), std::string(kIds[i]), arguments});
  }
  return calls;
}

std::string content_with_reasoning(std::string_view key, std::string_view reasoning, const std::optional<std::string>& content) {
  const bool blocks = key.starts_with(kBlockKey);
  if (!blocks && !key.starts_with(kPartKey)) return {};
  const std::string type = in_quotes(key.substr(blocks ? kBlockKey.size() : kPartKey.size()));
  std::string parts = "[{\"type\": " + type + ", " + type + ": " + in_quotes(reasoning) + ", \"text\": " + in_quotes(reasoning) + "}";
  if (content) parts.append(", {\"type\": ").append(blocks ? "\"response\"" : "\"text\"").append(", \"text\": ").append(in_quotes(*content)).append("}");
  parts += "]";
  return blocks ? "{\"blocks\": " + parts + "}" : parts;
}

std::string request_of(const Scene& scene, const Convention& convention) {
  std::string out = "{\"messages\": [";
  if (scene.earlier_turn) {
    const SceneCall call{std::string(kTools[2]), "zqcall009", "{\"zqkey_a\": \"zqval_early\"}"};
    out += user_json("zq asks early", convention) + ", " + assistant_json({.content = {}, .calls = {call}}, convention) + ", ";
    out += result_json(call, 0, "zq early result", convention) + ", ";
    out += assistant_json({.content = "zq early answer"}, convention) + ", ";
  }
  out += user_json(kUser, convention);
  if (scene.assistant) out += ", " + assistant_json(scene, convention);
  append_next(out, scene, convention);
  out += "]";
  if (scene.tools && (scene.calls.empty() ? convention.tools : convention.tools_called)) out += ", \"tools\": " + tools_json();
  for (const auto& [name, json] : scene.variables) out += ", " + in_quotes(name) + ": " + json;
  return out + "}";
}

std::size_t end_of_messages(std::string_view request) {
  const std::size_t tools = request.find("], \"tools\"");
  return tools != std::string_view::npos ? tools : request.size() - std::string_view("]}").size();
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

void Prober::set_variables(Conversation& chat) const {
  for (const auto& [name, json] : options_.variables) {
    const Value all = chat.variables();
    const bool told = all.kind == Kind::dict && find_key(*all.dict, name) != nullptr;  // by the experiment, or as a message
    if (!told) (void)chat.set_json(name, json);
  }
  for (const auto& [name, text] : options_.special_tokens) chat.set_default_string(name, text);
  for (const auto& [name, text] : kUnknownTokens) chat.set_default_string(name, text);
  for (const std::string& name : stand_ins_) chat.set_default_string(name, "zq_" + name);
}

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
    if (span.origin == Origin::literal) shot.literals.push_back({span.begin, span.end, 1 + span.template_begin});
  }
  const std::size_t user = shot.text.rfind(kUser);
  shot.tail_from = user == std::string::npos ? shot.text.size() : user + kUser.size();
}

}  // namespace parlance::probe
