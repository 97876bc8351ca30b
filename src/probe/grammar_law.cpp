// Holding grammars against what templates write. Begin reading at GrammarLaw::fault.
#include "probe/grammar_law.h"

#include <algorithm>

#include "json/writer.h"
#include "probe/generate.h"
#include "probe/prompt_diff.h"
#include "probe/reasoning.h"
#include "value/dict.h"

namespace parlance::probe {
namespace {

/// What a grammar is asked takes time for the text's size times its rules.
constexpr std::size_t kLongest = 16 * 1024;

/// Whether a call is one that its tool's schema allows, and whose texts hold no marker: a grammar keeps those out of
/// values.
bool is_plain(const SceneCall& call, const std::vector<std::string>& markers) {
  const auto holds = [&](const std::string& marker) {
    return call.arguments.find(json_inside(marker)) != std::string::npos;
  };
  return call.arguments.find(kKeyA) != std::string::npos && std::none_of(markers.begin(), markers.end(), holds);
}

/// The schema that allows what the calls give an argument, and no other text.
std::string schema_of(const Scene& scene, std::string_view key) {
  std::string values;
  for (const SceneCall& call : scene.calls) {
    Document arguments;
    if (!arguments.parse(call.arguments)) continue;
    const Value value = member_value(arguments.root(), key);
    if (value.is_string()) values.append(values.empty() ? "" : ", ").append(json_text(value));
  }
  return values.empty() ? R"({"type": "string"})" : "{\"enum\": [" + values + "]}";
}

/// Settings of a grammar that allow a message.
std::vector<GrammarOptions> settings_for(const ReplyMessage& message) {
  GrammarOptions automatic;
  automatic.tools = tools_json();
  std::vector<GrammarOptions> all = {automatic};
  const auto add = [&](ToolChoice choice, bool parallel, const std::string& name) {
    all.push_back(automatic);
    all.back().choice = choice;
    all.back().parallel = parallel;
    all.back().name = name;
  };
  if (message.calls.empty()) {
    add(ToolChoice::none, true, {});
    return all;
  }
  if (message.calls.size() == 1) add(ToolChoice::automatic, false, {});
  if (!is_blank(message.content)) return all;
  add(ToolChoice::required, true, {});
  const std::string& name = message.calls.front().name;
  const auto same = [&](const ReplyCall& call) { return call.name == name; };
  if (std::all_of(message.calls.begin(), message.calls.end(), same)) add(ToolChoice::named, true, name);
  return all;
}

std::string about(const GrammarOptions& options) {
  switch (options.choice) {
    case ToolChoice::automatic: return options.parallel ? "any number of calls" : "at most one call";
    case ToolChoice::required: return "at least one call";
    case ToolChoice::none: return "no call";
    case ToolChoice::named: break;
  }
  return "calls of " + options.name;
}

}  // namespace

GrammarLaw::GrammarLaw(const TurnFacts& turn, const DerivedFormat& derived)
    : turn_(turn), derived_(derived), reader_(turn, derived.format), markers_(markers_of_calls(derived.format)) {}

/// Where a turn begins by closing reasoning: how much of that the prompt has said already; npos where it does not begin
/// so.
std::size_t GrammarLaw::closing_of(std::string_view prompt, std::string_view body) const {
  const ReplyMarker& close = derived_.format.reasoning_close;
  const std::string_view begin = trimmed_left(body);
  if (!close.exists() || !begin.starts_with(close.texts[0])) return std::string_view::npos;
  return trimmed_right(prompt).ends_with(close.texts[0]) ? body.size() - begin.size() + close.texts[0].size() : 0;
}

/// A turn begins as the prompt for it ends, or closes at once the reasoning that the prompt opens; else it begins
/// behind the turn's opener: prompts may open reasoning that a turn without it never shows.
GrammarLaw::Reply GrammarLaw::reply_of(const Scene& scene, std::string_view body) const {
  const auto is_set = [&](const ThinkingStart& start) {
    if (start.variable.empty() || scene.variables.empty()) return start.variable.empty() && scene.variables.empty();
    return start.variable == scene.variables.front().first && start.value == scene.variables.front().second;
  };
  const auto start = std::find_if(derived_.starts.begin(), derived_.starts.end(), is_set);
  if (start != derived_.starts.end()) {
    const std::string_view end = behind_opener(turn_, start->prompt);
    if (body.starts_with(end)) return {start->prompt, body.substr(end.size())};
    if (const std::size_t shared = closing_of(start->prompt, body); shared != std::string_view::npos)
      return {start->prompt, body.substr(shared)};
  }
  return {behind_last_end(turn_, turn_.opener), body};
}

/// Once more with schemas that allow the texts of these calls and no others, which a grammar writes otherwise than any
/// text.
std::string GrammarLaw::narrow_fault(const Scene& scene, const Reply& reply) const {
  GrammarOptions options;
  options.tools = tools_with_texts(schema_of(scene, kKeyA), schema_of(scene, kKeyB));
  options.prompt = reply.prompt;
  const Result<Grammar> grammar = make_grammar(derived_.format, options);
  if (!grammar) return "there is no grammar of these texts alone: " + grammar.error().message();
  return grammar->accepts(reply.text) ? "" : "the grammar of these texts alone refuses it";
}

const Result<Grammar>& GrammarLaw::grammar_of(const GrammarOptions& options) {
  const std::string key = about(options) + '\n' + *options.prompt;
  const auto known = made_.find(key);
  return known != made_.end() ? known->second
                              : made_.emplace(key, make_grammar(derived_.format, options)).first->second;
}

std::string GrammarLaw::fault(const Scene& scene, std::string_view body) {
  const auto plain = [this](const SceneCall& call) { return is_plain(call, markers_); };
  if (body.size() > kLongest || !std::all_of(scene.calls.begin(), scene.calls.end(), plain)) return {};
  const ReadBack::Difference read = reader_.compare(scene, body, derived_.capabilities.call_ids_shown);
  if (!read.wrong.empty() || read.answer_in_reasoning) return {};
  std::size_t end = body.size();
  const ReplyMessage message = reader_.message(body, &end);
  if (!message.diagnostics.empty()) return {};  // what a reader mends
  const bool ended = end < body.size();
  const Reply reply = reply_of(scene, ended ? body.substr(0, end) : trimmed_right(body));
  ++tried_;
  for (GrammarOptions& options : settings_for(message)) {
    options.prompt = reply.prompt;
    const Result<Grammar>& grammar = grammar_of(options);
    if (!grammar) return "there is no grammar of " + about(options) + ": " + grammar.error().message();
    if (!grammar->accepts(reply.text)) return "the grammar of " + about(options) + " refuses it";
  }
  return message.calls.empty() ? std::string() : narrow_fault(scene, reply);
}

}  // namespace parlance::probe
