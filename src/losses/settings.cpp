// Begin reading at the table kFeatures.
#include "losses/settings.h"

#include <algorithm>

#include "base/nearest.h"
#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "conversation/normalise.h"
#include "conversation/passes_for_templates.h"
#include "json/json.h"
#include "render/render_with.h"

namespace parlance {
namespace {

/// What chat APIs let a request ask for and only some templates read. `usual` asks for nothing special.
struct Feature {
  std::string_view name;
  std::string_view usual;  ///< as JSON
  bool of_tools;           ///< says nothing where there are none
  std::string_view hint;
};
constexpr Feature kFeatures[] = {
    {"tool_choice", "\"auto\"", true,
     "for none, leave tools out of the request; else parlance grammar --tool-choice makes the model obey it"},
    {"parallel_tool_calls", "true", true, "parlance grammar --no-parallel makes the model obey it"},
    {"response_format", "{\"type\":\"text\"}", false, "parlance grammar --request makes the model obey it"},
    {"functions", "[]", false, "tools is its newer name"},
    {"function_call", "\"auto\"", false, "tool_choice is its newer name"},
    {"system", "\"\"", false, "chat templates take the system's text as a message"},
    {"instructions", "\"\"", false, "chat templates take the system's text as a message"},
    {"system_prompt", "\"\"", false, "chat templates take the system's text as a message"},
    {"prompt", "\"\"", false, "chat templates take it as the user's message"},
    {"suffix", "\"\"", false, "chat templates fill no gaps"},
    {"input", "\"\"", false, "chat templates take it as the user's message"},
    {"images", "[]", false, "they belong to a message"},
    {"image", "null", false, "it belongs into a message's content: {\"type\": \"image\", \"image\": ...}"},
    // How servers other than OpenAI's name the form of a reply.
    {"format", "\"\"", false, "parlance grammar --schema makes the model obey it"},
    {"json_schema", "null", false, "parlance grammar --schema makes the model obey it"},
    {"guided_json", "null", false, "parlance grammar --schema makes the model obey it"},
    {"guided_regex", "null", false, "parlance grammar --regex makes the model obey it"},
    {"guided_choice", "null", false, "parlance grammar --choice makes the model obey it"},
    {"guided_grammar", "null", false, "it is for the engine"},
    {"structured_outputs", "null", false, "parlance grammar --schema makes the model obey it"},
    {"grammar", "\"\"", false, "it is for the engine"},
    {"extra_body", "{}", false, "a client puts its members into the request itself"},
};

/// Variables that every render has, or that speak of reasoning, which the passes note.
constexpr std::string_view kAlways[] = {
    "messages", "tools",    "documents", "add_generation_prompt", "continue_final_message",
    "think",    "thinking", "reasoning", "reasoning_effort"};

/// Variables that passes make of a member of the request, which is what a note has to name.
constexpr std::pair<std::string_view, std::string_view> kMadeOf[] = {{"enable_thinking", "think"}};

/// What Go's templates see of a request besides messages and tools.
constexpr std::string_view kReadByGo[] = {"think", "system", "prompt", "suffix", "images"};

bool reads(const TemplateFacts& facts, std::string_view name) {
  if (facts.syntax != Syntax::go) return facts.reads(name);
  return std::find(std::begin(kReadByGo), std::end(kReadByGo), name) != std::end(kReadByGo);
}

bool has_any(Value list) { return list.is_sequence() && list.list->size != 0; }

class Settings {
 public:
  Settings(const Conversation& conversation, const TemplateFacts& facts, bool left_out, std::vector<Loss>& losses)
      : conversation_(conversation),
        facts_(facts),
        left_out_(left_out),
        losses_(losses),
        variables_(conversation.variables()) {}

  void run() {
    not_an_object("chat_template_kwargs");
    for (const DictEntry& entry : entries(variables_)) given(leaf_text(entry.key), entry.value);
    for (const std::string& name : facts_.variables) missing(name);
  }

 private:
  /// The pass that spreads the members of an object drops whatever else stands in its place, such as JSON in a text.
  void not_an_object(std::string_view name) {
    const Value* given = member(inside_of(conversation_).document.root(), name);
    if (given == nullptr || given->is_none() || given->kind == Kind::dict) return;
    if (member(variables_, name) != nullptr) return;  // no pass took it
    losses_.push_back({LossKind::lost, "setting", std::string(name), "no effect: it is not an object",
                       "write {\"name\": value}, without quotes around it"});
  }

  /// A variable that the request has.
  void given(std::string_view name, Value value) {
    const bool always = std::find(std::begin(kAlways), std::end(kAlways), name) != std::end(kAlways);
    if (always || value.is_none() || reads(facts_, name) || names_token(name)) return;
    const auto feature =
        std::find_if(std::begin(kFeatures), std::end(kFeatures), [&](const Feature& one) { return one.name == name; });
    if (feature != std::end(kFeatures)) return unheeded(*feature, value);
    NearestName nearest(name);
    for (const std::string& one : facts_.variables) offer(nearest, one);
    for (const Feature& one : kFeatures) offer(nearest, one.name);
    const bool meant = !nearest.best().empty() || !is_of_request(name);
    if (!meant && !left_out_) return;
    losses_.push_back({meant ? LossKind::lost : LossKind::left_out, "setting", path_of(name, value),
                       "no effect: the template does not read it", nearest.hint()});
  }

  /// A name that the request does not use: what a pass set to nothing counts as not given.
  void offer(NearestName& nearest, std::string_view name) const {
    const Value* given = member(variables_, name);
    const bool is_empty = given == nullptr || given->is_none() || (given->is_sequence() && !has_any(*given));
    if (is_empty) nearest.offer(name);
  }

  bool is_of_request(std::string_view name) const {
    return member(inside_of(conversation_).document.root(), name) != nullptr;
  }
  std::string as_given(std::string_view name) const {
    constexpr std::string_view kKwargs = "chat_template_kwargs";
    const Value* kwargs = member(inside_of(conversation_).document.root(), kKwargs);
    if (kwargs != nullptr && member(*kwargs, name) != nullptr) return std::string(kKwargs) + "." + std::string(name);
    for (const auto& [made, of] : kMadeOf) {
      if (name == made && !is_of_request(made) && is_of_request(of)) return std::string(of);
    }
    return std::string(name);
  }

  void unheeded(const Feature& feature, Value value) {
    const Value* tools = member(variables_, "tools");
    // given as tools
    if (feature.name.starts_with("function") && inside_of(conversation_).converted.kind == Kind::dict) return;
    if (feature.of_tools && (tools == nullptr || !has_any(*tools))) return;
    if (json_text(value) == feature.usual) return;
    losses_.push_back({LossKind::lost, "setting", path_of(feature.name, value),
                       "no effect: the template does not read it", std::string(feature.hint)});
  }

  /// In a request of another API a setting stands elsewhere, and under another name.
  std::string path_of(std::string_view name, Value value) const {
    const bool converted = inside_of(conversation_).converted.kind == Kind::dict;
    const std::string path = converted ? conversation_.path_of(value) : std::string();
    return path.empty() ? as_given(name) : path;
  }

  /// A variable that the template reads and the request does not have.
  void missing(const std::string& name) {
    if (member(variables_, name) != nullptr) return;
    NearestName nearest(name);
    for (const DictEntry& entry : entries(variables_)) {
      if (!entry.value.is_none() && !facts_.reads(leaf_text(entry.key))) nearest.offer(leaf_text(entry.key));
    }
    if (nearest.best().empty()) return;
    losses_.push_back({LossKind::lost, "variable", name, "read by the template, but not given",
                       "'" + nearest.best() + "' is given, but the template does not read it"});
  }

  const Conversation& conversation_;
  const TemplateFacts& facts_;
  const bool left_out_;
  std::vector<Loss>& losses_;
  const Value variables_;
};

/// A text that no template has, in place of a special token.
std::string stand_in(std::string_view name) { return "<|parlance stands in for " + std::string(name) + "|>"; }

}  // namespace

bool names_token(std::string_view variable) { return variable.ends_with("_token"); }

void find_lost_settings(const Conversation& conversation, const TemplateFacts& facts, bool left_out,
                        std::vector<Loss>& losses) {
  if (conversation.variables().kind == Kind::dict) Settings(conversation, facts, left_out, losses).run();
}

void find_misspelt(const Rendering& rendering, const TemplateFacts& facts, std::vector<Loss>& losses) {
  for (const PrintedUndefined& one : rendering.undefined()) {
    if (one.is_variable || one.nearest.empty() || facts.mentions(one.nearest)) continue;
    const std::string slip = one.path + "." + one.nearest;  // said already, if it is a message's
    if (std::ranges::any_of(losses,
                            [&](const Loss& loss) { return loss.path == slip && loss.hint.starts_with("did you"); }))
      continue;
    losses.push_back({LossKind::lost, "variable", one.path.empty() ? one.name : one.path + "." + one.name,
                      "printed by the template, but undefined", "did you mean '" + one.nearest + "'?"});
  }
}

void find_lost_tokens(const Experiment& experiment, const std::vector<std::string>& names, std::vector<Loss>& losses) {
  const Value variables = experiment.conversation.variables();
  if (variables.kind != Kind::dict) return;
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  std::vector<DictEntry> given;
  for (const std::string& name : names) {
    const Value* value = member(variables, name);
    if (value == nullptr) given.push_back({Value::view(name), Value::view(arena.copy_text(stand_in(name)))});
  }
  if (given.empty()) return;
  RenderOptions options = experiment.options;
  options.want_spans = options.want_assistant = options.want_undefined = false;
  Rendering made;
  const Value changed = with_members(rt, variables, given);
  if (!render_with(experiment.chat_template, experiment.conversation, changed, options, experiment.workspace, made))
    return;
  for (const DictEntry& entry : given) {
    if (made.text().find(leaf_text(entry.value)) == made.text().npos) continue;
    const std::string name(leaf_text(entry.key));
    losses.push_back({LossKind::lost, "special token", name,
                      "written by the template but not given, so the prompt lacks it",
                      "-m MODEL brings its tokens along; or --var " + name + "=TEXT"});
  }
}

void find_lost_by_passes(const Conversation& conversation, std::vector<Loss>& losses) {
  const auto add = [&](std::string_view subject, const std::string& note) {
    const std::size_t colon = std::min(note.find(": "), note.size());
    losses.push_back(
        {LossKind::lost, subject, note.substr(0, colon), note.substr(std::min(colon + 2, note.size())), {}});
  };
  for (const Change& change : inside_of(conversation).changes) {
    if (!change.loses.empty()) add(change.loses, note_of(inside_of(conversation), change));
  }
  for (const std::string& note : passes::notes_of_effort(conversation)) add("setting", note);
}

}  // namespace parlance
