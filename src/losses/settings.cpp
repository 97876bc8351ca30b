// Begin reading at the table kFeatures.
#include "losses/settings.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/nearest.h"
#include "conversation/api_request.h"
#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "conversation/json_text.h"
#include "conversation/normalise.h"
#include "conversation/passes_for_templates.h"
#include "json/json.h"
#include "losses/bookkeeping.h"
#include "losses/text_search.h"

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
     "for none, leave tools out of the request; else a grammar makes the model obey it"},
    {"parallel_tool_calls", "true", true, "a grammar makes the model obey it"},
    {"response_format", "{\"type\":\"text\"}", false, "a grammar makes the model obey it"},
    {"functions", "[]", false, "tools is its newer name"},
    {"function_call", "\"auto\"", false, "tool_choice is its newer name"},
    {"system", "\"\"", false, "chat templates take the system's text as a message"},
    {"instructions", "\"\"", false, "chat templates take the system's text as a message"},
    {"system_message", "\"\"", false, "chat templates take the system's text as a message"},
    {"system_prompt", "\"\"", false, "chat templates take the system's text as a message"},
    {"systemInstruction", "null", false, "chat templates take the system's text as a message"},
    {"system_instruction", "null", false, "chat templates take the system's text as a message"},
    {"history", "[]", false, "earlier turns belong into messages"},
    {"chat_history", "[]", false, "earlier turns belong into messages"},
    {"context", "\"\"", false, "chat templates take it as a message or as documents"},
    {"prompt", "\"\"", false, "chat templates take it as the user's message"},
    {"suffix", "\"\"", false, "chat templates fill no gaps"},
    {"input", "\"\"", false, "chat templates take it as the user's message"},
    {"images", "[]", false, "they belong to a message"},
    {"image", "null", false, "it belongs into a message's content: {\"type\": \"image\", \"image\": ...}"},
    // How servers other than OpenAI's name the form of a reply.
    {"format", "\"\"", false, "a grammar makes the model obey it"},
    {"json_schema", "null", false, "a grammar makes the model obey it"},
    {"guided_json", "null", false, "a grammar makes the model obey it"},
    {"guided_regex", "null", false, "a grammar makes the model obey it"},
    {"guided_choice", "null", false, "a grammar makes the model obey it"},
    {"guided_grammar", "null", false, "it is for the engine"},
    {"structured_outputs", "null", false, "a grammar makes the model obey it"},
    {"grammar", "\"\"", false, "it is for the engine"},
    {"regex", "null", false, "a grammar makes the model obey it"},
    {"ebnf", "null", false, "it is for the engine"},
    // Another prompt than the template's.
    {"chat_template", "null", false, "another template is given beside the request"},
    {"template", "\"\"", false, "another template is given beside the request"},
    {"raw", "false", false, "a raw prompt goes through no template"},
    {"extra_body", "{}", false, "a client puts its members into the request itself"},
};

/// Members of requests of other APIs, whose conversion was switched off where they are variables. Chats may have some
/// of them for something else: they are the API's where the request is its.
struct OfOtherApi {
  std::string_view name;
  std::string_view api;
  bool is_its_alone = false;
};
constexpr OfOtherApi kOfOtherApis[] = {
    {"contents", "Gemini", true},
    {"systemInstruction", "Gemini"},
    {"system_instruction", "Gemini"},
    {"conversations", "ShareGPT", true},
    {"input", "OpenAI Responses"},
    {"instructions", "OpenAI Responses"},
    {"previous_response_id", "OpenAI Responses"},
    {"system", "Anthropic Messages"},
};

constexpr std::string_view kClosed = "no effect: the message is closed, and the reply does not go on with it";

/// What parlance heeds itself, and takes for a wish if it is true and nothing else.
constexpr std::string_view kContinue = "continue_final_message";

/// Variables that every render has.
constexpr std::string_view kAlways[] = {"messages", "tools", "documents", "add_generation_prompt", kContinue};

/// Texts that clients and forms write for a boolean, in small letters.
constexpr std::string_view kWordsForTrue[] = {"true", "yes", "on", "1", "enabled"};
constexpr std::string_view kWordsForFalse[] = {"false", "no", "off", "0", "disabled"};

/// Variables that are a boolean wherever a template reads them, and Ollama for a Go template.
constexpr std::string_view kSwitches[] = {"enable_thinking", "thinking", "add_generation_prompt"};

/// What else requests say of reasoning: passes make other variables of it.
constexpr std::string_view kOfReasoning[] = {"think", "thinking", "reasoning", "reasoning_effort"};
/// Members of these that only say what the server shows of it.
constexpr std::string_view kShown[] = {"summary", "generate_summary", "exclude", "display"};

/// Variables that passes make of a member of the request, which is what a note has to name.
constexpr std::pair<std::string_view, std::string_view> kMadeOf[] = {{"enable_thinking", "think"},
                                                                     {"reasoning_effort", "think"}};

/// What Ollama takes for its `.Think`, `.ThinkLevel` and `.IsThinkSet`.
constexpr std::string_view kThinkForGo[] = {"think", "reasoning_effort", "enable_thinking"};

/// Does a Go template see how much is to be thought? Tried, since the prompt may be the same with what was asked for,
/// with `most` renders. What could not be tried it may see.
bool sees_think(Trial& trial, std::size_t most, const Rendering& rendering) {
  for (const Value think :
       {Value::none(), Value::boolean(false), Value::boolean(true), Value::view("low"), Value::view("high")}) {
    if (most-- == 0) return true;
    const DictEntry changes[] = {{Value::view("think"), think},
                                 {Value::view("reasoning_effort"), Value::none()},
                                 {Value::view("enable_thinking"), Value::none()}};
    const bool is_same =
        trial.is_same(rendering, [&](Runtime& rt, Value variables) { return with_members(rt, variables, changes); });
    if (!is_same) return true;
  }
  return false;
}

const Feature* find_feature(std::string_view name) {
  const auto* const found = std::ranges::find(kFeatures, name, &Feature::name);
  return found == std::end(kFeatures) ? nullptr : found;
}

constexpr std::string_view kKwargs = "chat_template_kwargs";

bool asks_for_effort(std::string_view name, Value value) { return !passes::effort_said(name, value).empty(); }

bool has_any(Value list) { return list.is_sequence() && list.list->size != 0; }

constexpr std::size_t kMostNames = 512;

class Settings {
 public:
  Settings(const Experiment& experiment, std::size_t most, TextSearch& search, const Rendering& rendering,
           const TemplateFacts& facts, std::vector<Loss>& losses)
      : experiment_(experiment),
        trial_(experiment),
        most_(most),
        search_(search),
        rendering_(rendering),
        conversation_(experiment.conversation),
        facts_(facts),
        left_out_(search.left_out()),
        losses_(losses),
        variables_(experiment.conversation.variables()),
        known_(facts.variables.begin(), facts.variables.end()) {
    std::ranges::sort(known_);
  }

  void run() {
    not_an_object(kKwargs);
    for (const DictEntry& entry : entries(variables_)) given(leaf_text(entry.key), entry.value);
    const std::vector<std::string_view> unread = unread_names();
    for (const std::string& name : first_names()) missing(name, unread);
    contradictions();
    wish_to_go_on();
  }

 private:
  /// Of what a request says of the effort of reasoning, what another member of it overrules. In Go's templates Ollama's
  /// own word counts first, and the words of other APIs are no variables.
  void contradictions() {
    std::vector<passes::EffortSaid> said = passes::efforts_said(inside_of(conversation_));
    if (facts_.syntax == Syntax::go) {
      std::erase_if(said, [](const passes::EffortSaid& one) { return !is_one_of(one.name, kThinkForGo); });
      std::stable_partition(said.begin(), said.end(),
                            [](const passes::EffortSaid& one) { return one.name == "think"; });
    }
    for (std::size_t i = 1; i < said.size(); ++i) {
      if (!passes::contradict(said[0].effort, said[i].effort)) continue;
      std::erase_if(losses_, [&](const Loss& loss) {  // that nothing reads it is said better by this
        return loss.subject == "setting" && said[i].path.starts_with(loss.path);
      });
      const bool any = said[0].effort == passes::kAnyEffort;
      losses_.push_back({LossKind::lost, "setting", said[i].path,
                         "no effect: " + said[0].path + " asks for " +
                             (any ? "reasoning" : "the effort '" + std::string(said[0].effort) + "'"),
                         "give one of them"});
    }
  }

  /// The pass that spreads the members of an object drops whatever else stands in its place, such as JSON in a text.
  void not_an_object(std::string_view name) {
    const Value* given = member(inside_of(conversation_).document.root(), name);
    if (given == nullptr || given->is_none() || given->kind == Kind::dict) return;
    if (member(variables_, name) != nullptr) return;  // no pass took it
    losses_.push_back({LossKind::lost, "setting", std::string(name), "no effect: it is not an object",
                       "write {\"name\": value}, without quotes around it"});
  }

  bool reads(std::string_view name) {
    if (is_one_of(name, kAlways)) return true;
    return facts_.syntax == Syntax::go ? reads_in_go(name) : is_known(name);
  }
  bool is_known(std::string_view name) const { return std::ranges::binary_search(known_, name); }

  /// Those of the template's variables that others are compared with: each with each takes its time, and where there
  /// are more of them nobody has misspelt one.
  std::span<const std::string> first_names() const {
    return std::span(facts_.variables).first(std::min(facts_.variables.size(), kMostNames));
  }
  /// Names of the request that the template does not read. One token is no slip for another: what is said of tokens
  /// says it.
  std::vector<std::string_view> unread_names() const {
    std::vector<std::string_view> names;
    for (const DictEntry& entry : entries(variables_)) {
      const std::string_view name = leaf_text(entry.key);
      if (names.size() < kMostNames && !entry.value.is_none() && !names_token(name) && !is_known(name))
        names.push_back(name);
    }
    return names;
  }

  /// Ollama fills a template's data from few variables: from the prompt only if a suffix is beside it.
  bool reads_in_go(std::string_view name) {
    if (name == "prompt" || name == "suffix") return search_.is_reached(member_value(variables_, name));
    if (!is_one_of(name, kThinkForGo)) return false;
    if (!sees_think_) sees_think_ = sees_think(trial_, most_, rendering_);
    return *sees_think_;
  }

  /// Did a model's files set it? Templates need not read all tokens of their model.
  bool is_of_model(std::string_view name) const {
    return std::ranges::find(inside_of(conversation_).of_model, name) != inside_of(conversation_).of_model.end();
  }

  /// A variable that the request has.
  void given(std::string_view name, Value value) {
    if (says_nothing(value) || names_token(name) || is_of_model(name)) return;
    if (name == kContinue) return unheeded_wish_to_go_on(value);
    if (reads(name)) return meant_by(value) ? misread(name, value) : doubt(name, value);
    if (is_one_of(name, kOfReasoning)) return of_reasoning(name, value);
    const std::string_view of = source_of(name);
    const Value made_of = member_value(variables_, of);
    if (!of.empty() && (reads(of) || is_effort(of, made_of))) return;
    if (!of.empty() && switches_off(of, made_of)) return no_effect(std::string(of), true, {});
    if (const std::string_view api = other_api_with(name); !api.empty())
      return no_effect(path_of(name, value), false,
                       "it is of " + std::string(api) + ", whose requests are converted if no option forbids it");
    if (const Feature* feature = find_feature(name)) return unheeded(*feature, value);
    if (name == kKwargs && is_of_kwargs(name))
      return no_effect(path_of(name, value), false, "its members belong into the outer one");
    NearestName nearest(name);
    if (++compared_ <= kMostNames)
      for (const std::string& one : first_names()) offer(nearest, one);
    for (const Feature& one : kFeatures) offer(nearest, one.name);
    offer_own(nearest, value);
    const bool is_near = !nearest.best().empty();
    const bool meant = is_near || !is_of_request(name) || belongs_into_prompt(name, value);
    no_effect(path_of(name, value), !meant, is_near ? nearest.hint() : hint_for_messages(value));
  }

  /// The API whose member it is, in a request of that API; "" if none.
  std::string_view other_api_with(std::string_view name) const {
    const auto* const row = std::ranges::find(kOfOtherApis, name, &OfOtherApi::name);
    const bool is_one =
        row != std::end(kOfOtherApis) && (row->is_its_alone || other_api_of(inside_of(conversation_)) == row->api);
    return is_one ? row->api : std::string_view();
  }

  /// Words that the template reads, and that are not in the prompt: it may set the variable anew (system_message).
  void doubt(std::string_view name, Value value) {
    if (facts_.syntax == Syntax::go || is_one_of(name, kAlways) || is_one_of(name, kOfReasoning)) return;
    const Feature* const feature = find_feature(name);
    const bool is_choice = feature != nullptr && feature->usual != "\"\"" && feature->usual != "[]";
    if (is_choice || !is_of_request(name) || !belongs_into_prompt(name, value) || search_.is_any_reached(value)) return;
    Tally tally = search_.tally();
    search_.lose_member("setting", value, {nullptr, name}, tally, std::string(feature != nullptr ? feature->hint : ""));
  }

  /// Words of a request to a chat template, which reads messages, under a name that says nothing of a server.
  bool belongs_into_prompt(std::string_view name, Value value) const {
    const bool is_chat = facts_.syntax == Syntax::go || is_known("messages");
    return is_chat && has_data(value) && !is_bookkeeping_of_request(name);
  }

  /// For messages under another name, and for a line of a batch.
  std::string hint_for_messages(Value value) const {
    if (has_content(conversation_.messages())) return {};
    if (member(value, "messages") != nullptr) return "the request is what stands in it: give that alone";
    const bool is_list = has_any(value) && value.list->items[0].kind == Kind::dict;
    return is_list ? "chat templates read 'messages'" : "";
  }

  /// Some APIs have the wish to go on with the last message in the message itself.
  void wish_to_go_on() {
    constexpr std::string_view kGoOn[] = {"prefix", "partial"};
    const Value messages = conversation_.messages();
    if (!has_any(messages) || continues_final(conversation_, variables_.dict, experiment_.options)) return;
    const std::uint32_t last = messages.list->size - 1;
    if (!is_text(member(messages.list->items[last], "role"), "assistant")) return;
    for (const std::string_view name : kGoOn) {
      const Value given = member_value(messages.list->items[last], name);
      const std::optional<bool> meant = given.kind == Kind::boolean ? is_true(given) : meant_by(given);
      if (!meant || facts_.mentions(name)) continue;
      const Place list{nullptr, "messages"}, message = list[last];
      const std::string path = search_.path_of(given, message[name]);
      std::erase_if(losses_, [&](const Loss& loss) { return loss.path == path; });
      if (!*meant) continue;
      losses_.push_back({LossKind::lost, "setting", path, std::string(kClosed),
                         "continue_final_message in the request leaves it open"});
    }
  }

  /// The wish in other words than true, or the name of a member to go on with, as transformers takes it. As it is, the
  /// request says it to the template alone. A prompt that ends with words of the request is open all the same.
  void unheeded_wish_to_go_on(Value value) {
    const RenderOptions& options = experiment_.options;
    if (options.continue_final || continues_final(conversation_, variables_.dict, options)) return;
    const std::optional<bool> meant = value.kind == Kind::boolean ? is_true(value) : meant_by(value);
    const bool is_open = !rendering_.spans().empty() && rendering_.spans().back().origin == Origin::input;
    if (!meant.value_or(has_content(value)) || is_open || (options.as_is && is_known(kContinue))) return;
    const bool is_word = meant && value.is_leaf();
    losses_.push_back({LossKind::lost, "setting", path_of(kContinue, value), std::string(kClosed),
                       options.as_is ? "the option continue_final leaves it open"
                       : is_word     ? "write true, without quotes"
                                     : "write true"});
  }

  /// A text or a number that says true or false, where the template does otherwise with the value itself. Of a variable
  /// that may be more than a boolean the prompt has to be as if nothing or the opposite were said.
  void misread(std::string_view name, Value value) {
    const std::optional<bool> meant = meant_by(value);
    const bool may_be = facts_.syntax != Syntax::go || is_one_of(name, kSwitches);
    const bool is_told = is_one_of(name, kSwitches) || !is_one_of(name, kAlways);
    if (!meant || !may_be || !is_told || search_.is_reached(value)) return;
    if (misread_++ >= most_) return;
    const std::optional<std::string> now = prompt_with(name, value), right = prompt_with(name, Value::boolean(*meant));
    if (!now || !right || *now == *right) return;
    if (!is_switch(name, value) && now != prompt_with(name, {}) && now != prompt_with(name, Value::boolean(!*meant)))
      return;
    const std::string word = *meant ? "true" : "false";
    losses_.push_back(
        {LossKind::lost, "setting", path_of(name, value),
         (value.is_leaf() ? "a text, which" : "a number, which") + (" the template does not take for " + word),
         "write " + word + (value.is_leaf() ? ", without quotes" : "")});
  }

  static bool is_true(Value value) { return value.kind == Kind::boolean && value.integer != 0; }

  /// Is it true or false, and nothing else? A template that has the very word may ask for it.
  bool is_switch(std::string_view name, Value value) const {
    return is_one_of(name, kSwitches) && !(value.is_leaf() && facts_.mentions(leaf_text(value)));
  }

  /// The prompt where a variable has another value; undefined: where it is not given. None if it cannot be rendered.
  std::optional<std::string> prompt_with(std::string_view name, Value value) {
    const auto made = trial_.text([&](Runtime& rt, Value variables) {
      if (value.is_undefined()) return filtered(rt, variables, [&](std::string_view key) { return key != name; });
      return with_member(rt, variables, name, value);
    });
    return made ? std::optional<std::string>(*made) : std::nullopt;
  }

  /// What the request says of reasoning, where no pass made use of it.
  void of_reasoning(std::string_view name, Value value) {
    if (!only_shows(value) && !is_used(name, value)) no_effect(path_of(name, value), switches_off(name, value), {});
  }

  /// `by_design`: nobody misses it.
  void no_effect(std::string path, bool by_design, std::string hint) {
    if (by_design && !left_out_) return;
    losses_.push_back({by_design ? LossKind::left_out : LossKind::lost, "setting", std::move(path),
                       "no effect: the template does not read it", std::move(hint)});
  }

  /// Asks for no reasoning, where the passes have found nothing to switch off.
  bool switches_off(std::string_view name, Value value) const {
    const bool is_given = name == "reasoning_effort" || is_of_request(name) || is_of_kwargs(name);
    return is_given && asks_for_effort(name, value) && passes::effort_asked_for(variables_) == "none";
  }

  /// Does it say no more than what of the reasoning the server shows?
  static bool only_shows(Value value) {
    return value.kind == Kind::dict && std::ranges::all_of(entries(value), [](const DictEntry& one) {
             return one.value.is_none() || is_one_of(leaf_text(one.key), kShown);
           });
  }

  /// Did a pass make other variables of it, or note that it cannot?
  bool is_used(std::string_view name, Value value) {
    if (name == "reasoning_effort" && !source_of(name).empty()) return true;  // said of enable_thinking
    const bool is_given = name == "reasoning_effort" || is_of_request(name) || is_of_kwargs(name);
    if (!is_given) return false;  // set when the passes were through
    return (name == "think" && has_change(inside_of(conversation_).changes, Pass::ollama_think)) ||
           is_effort(name, value);
  }
  bool is_effort(std::string_view name, Value value) {
    const ConversationState& state = inside_of(conversation_);
    if (!asks_for_effort(name, value)) return false;
    return (name == "think" && value.is_leaf() && reads("reasoning_effort")) ||
           has_change(state.changes, Pass::reasoning_effort) ||
           has_change(state.kept_for_effort, Pass::reasoning_effort);
  }
  static bool has_change(const std::vector<Change>& changes, Pass pass) {
    return std::ranges::any_of(changes, [&](const Change& change) { return change.pass == pass; });
  }

  /// A name that the request does not use: what a pass set to nothing counts as not given.
  void offer(NearestName& nearest, std::string_view name) const {
    const Value* given = member(variables_, name);
    const bool is_empty = given == nullptr || given->is_none() || (given->is_sequence() && !has_any(*given));
    if (is_empty) nearest.offer(name);
  }

  /// Names that parlance reads itself, whatever the template does, also where the request uses them: a slip beside
  /// the right name loses as much. A value without content (a row's empty column) loses nothing.
  static void offer_own(NearestName& nearest, Value value) {
    if (value.kind != Kind::boolean && !has_content(value)) return;
    nearest.offer(kKwargs);
    for (const std::string_view name : kAlways) nearest.offer(name);
    for (const std::string_view name : kOfReasoning) nearest.offer(name);
  }

  bool is_of_request(std::string_view name) const {
    return member(inside_of(conversation_).document.root(), name) != nullptr;
  }
  /// The member of the request that a pass made the variable of; "" if it made none. An effort is made of a level
  /// alone.
  std::string_view source_of(std::string_view name) const {
    const Value root = inside_of(conversation_).document.root();
    for (const auto& [made, of] : kMadeOf) {
      const bool makes_it = is_of_request(of) && (made != "reasoning_effort" || member_value(root, of).is_leaf());
      if (name == made && !is_of_request(made) && !is_of_kwargs(made) && makes_it) return of;
    }
    return {};
  }
  bool is_of_kwargs(std::string_view name) const {
    const Value* kwargs = member(inside_of(conversation_).document.root(), kKwargs);
    return kwargs != nullptr && member(*kwargs, name) != nullptr;
  }
  std::string as_given(std::string_view name) const {
    if (is_of_kwargs(name)) return std::string(kKwargs) + "." + std::string(name);
    const std::string_view of = source_of(name);
    return std::string(of.empty() ? name : of);
  }

  void unheeded(const Feature& feature, Value value) {
    // Ollama renders both, if both are given, in place of the messages.
    const bool is_of_gap = feature.name == "prompt" || feature.name == "suffix";
    if (facts_.syntax == Syntax::go && is_of_gap && has_gap(variables_) &&
        !says_nothing(member_value(variables_, "prompt"))) {
      losses_.push_back({LossKind::lost, "setting", path_of(feature.name, value), "not in the prompt",
                         "prompt and suffix are rendered in place of the messages"});
      return;
    }
    const Value* tools = member(variables_, "tools");
    // given as tools
    if (feature.name.starts_with("function") && inside_of(conversation_).converted.kind == Kind::dict &&
        api::is_given_as_tools(variables_, feature.name))
      return;
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
  void missing(const std::string& name, std::span<const std::string_view> unread) {
    if (member(variables_, name) != nullptr) return;
    NearestName nearest(name);
    for (const std::string_view other : unread) nearest.offer(other);
    if (nearest.best().empty()) return;
    losses_.push_back({LossKind::lost, "variable", name, "read by the template, but not given",
                       "'" + nearest.best() + "' is given, but the template does not read it"});
  }

  const Experiment& experiment_;
  Trial trial_;
  const std::size_t most_;   ///< renders to find out something
  std::size_t misread_ = 0;  ///< values that may be
  TextSearch& search_;
  const Rendering& rendering_;
  const Conversation& conversation_;
  const TemplateFacts& facts_;
  std::optional<bool> sees_think_;  ///< of a Go template, once it was asked
  const bool left_out_;
  std::vector<Loss>& losses_;
  const Value variables_;
  std::vector<std::string_view> known_;  ///< the template's variables, sorted
  std::size_t compared_ = 0;             ///< names that are not known, with those
};

/// A text that no template has, in place of a special token.
std::string stand_in(std::string_view name) { return "<|parlance stands in for " + std::string(name) + "|>"; }

}  // namespace

bool names_token(std::string_view variable) { return variable.ends_with("_token"); }

std::optional<bool> meant_by(Value value) {
  if (value.is_small_int() && value.kind != Kind::boolean && (value.integer == 0 || value.integer == 1))
    return value.integer == 1;
  if (value.kind == Kind::real && (value.real == 0 || value.real == 1)) return value.real == 1;
  if (!value.is_leaf()) return {};
  std::string word(ascii::trimmed(leaf_text(value)));
  std::ranges::transform(word, word.begin(), ascii::lower);
  if (is_one_of(word, kWordsForTrue)) return true;
  if (is_one_of(word, kWordsForFalse)) return false;
  return {};
}

void find_lost_settings(const Experiment& experiment, std::size_t most, TextSearch& search, const Rendering& rendering,
                        const TemplateFacts& facts, std::vector<Loss>& losses) {
  if (experiment.conversation.variables().kind == Kind::dict)
    Settings(experiment, most, search, rendering, facts, losses).run();
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
  std::vector<std::pair<std::string, std::string>> missing;  // and what stands in for it
  for (const std::string& name : names) {
    if (member(variables, name) == nullptr) missing.emplace_back(name, stand_in(name));
  }
  if (missing.empty()) return;
  Trial trial(experiment);
  const auto made = trial.text([&](Runtime& rt, Value all) {
    std::vector<DictEntry> given;
    for (const auto& [name, text] : missing) given.push_back({Value::view(name), Value::view(text)});
    return with_members(rt, all, given);
  });
  if (!made) return;
  const bool has_model = inside_of(experiment.conversation).has_model;
  for (const auto& [name, text] : missing) {
    if (made->find(text) == made->npos) continue;
    losses.push_back({LossKind::lost, "special token", name,
                      "written by the template but not given, so the prompt lacks it",
                      (has_model ? "the model's files have none; set the variable "
                                 : "open the model to have its tokens; or set the variable ") +
                          name});
  }
}

void find_repeated(const Conversation& conversation, std::vector<Loss>& losses) {
  for (const RepeatedMember& one : repeated_members_of(inside_of(conversation)))
    losses.push_back({LossKind::lost, "member", one.path, sentence_of(one), {}});
}

/// What passes leave out by design: one loss, as each row of a table may have many such calls.
void find_left_out_by_passes(const Conversation& conversation, std::vector<Loss>& losses) {
  const ConversationState& state = inside_of(conversation);
  const auto first = std::ranges::find_if(state.changes, &Change::by_design);
  if (first == state.changes.end()) return;
  const auto more = std::ranges::count_if(first + 1, state.changes.end(), &Change::by_design);
  const std::string path = place_of(state, *first), note = note_of(state, *first);
  const std::string others = more == 0 ? "" : ", and " + std::to_string(more) + " more";
  losses.push_back({LossKind::left_out, first->loses, path, note.substr(path.size() + 2) + others, {}});
}

void find_lost_by_passes(const Conversation& conversation, std::vector<Loss>& losses) {
  const auto add = [&](std::string_view subject, const std::string& note) {
    const std::size_t colon = std::min(note.find(": "), note.size());
    losses.push_back(
        {LossKind::lost, subject, note.substr(0, colon), note.substr(std::min(colon + 2, note.size())), {}});
  };
  for (const auto& [subject, path] : inside_of(conversation).replaced) {
    losses.push_back({LossKind::lost, subject, path, "replaced by the variable that is set outside the request",
                      "give one of them"});
  }
  for (const Change& change : inside_of(conversation).changes) {
    if (!change.loses.empty() && !change.by_design) add(change.loses, note_of(inside_of(conversation), change));
  }
  constexpr std::string_view kVariable = "reasoning_effort: ";
  for (const std::string& note : passes::notes_of_effort(conversation)) {
    const bool is_general = std::string_view(note).starts_with(kVariable);
    add("setting",
        is_general ? passes::place_of_effort(inside_of(conversation)) + note.substr(kVariable.size() - 2) : note);
  }
}

}  // namespace parlance
