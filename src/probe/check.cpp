// The laws of a template, tried with generated turns. Begin reading at the table kLaws.
#include "parlance/check.h"

#include <algorithm>
#include <array>

#include "probe/call_convention.h"
#include "probe/calls.h"
#include "probe/generate.h"
#include "probe/grammar_law.h"
#include "probe/held.h"
#include "probe/prompt_diff.h"
#include "probe/read_back.h"

namespace parlance {
namespace probe {
namespace {

/// What the laws look at: generated turns, rendered.
struct Trial {
  Scene scene;
  std::string body;  ///< what the template writes of it, behind the opener
};

/// Whether somebody wants the check to end, which they say once.
class Stop {
 public:
  explicit Stop(const CheckOptions& options) : asked_(options.stopped) {}
  bool operator()() {
    is_wanted_ = is_wanted_ || (asked_ && asked_());
    return is_wanted_;
  }

 private:
  const std::function<bool()>& asked_;
  bool is_wanted_ = false;
};

struct Trials {
  const Template& chat_template;
  const CheckOptions& options;
  const DerivedFormat& derived;
  Prober& prober;
  const TurnFacts& turn;
  ReadBack reader;
  Stop& stop;
  std::vector<Trial> made;
};

using Try = LawResult (*)(const Trials& trials);

LawResult law_holds(std::size_t tried) {
  LawResult result;
  result.outcome = LawResult::Outcome::holds;
  result.tried = tried;
  return result;
}

LawResult not_tried(LawResult::Outcome outcome, std::string why) {
  LawResult result;
  result.outcome = outcome;
  result.example = std::move(why);
  return result;
}

LawResult broken(std::size_t tried, const Trial& trial, const Convention& convention, const std::string& what) {
  LawResult result;
  result.outcome = LawResult::Outcome::broken;
  result.tried = tried;
  Scene scene = trial.scene;
  scene.tools = false;  // they are always the same
  result.example = what + "\n  request: " + request_of(scene, convention) + "\n  reply: " + trial.body;
  return result;
}

/// Tries `fault` on each trial; it gives a sentence where the law is broken.
template <typename Fault>
LawResult try_each(const Trials& trials, Fault fault) {
  if (trials.made.empty()) return not_tried(LawResult::Outcome::untried, "no turn of an assistant renders");
  std::size_t tried = 0;
  for (const Trial& trial : trials.made) {
    if (trials.stop()) break;
    ++tried;
    const std::string what = fault(trial);
    if (!what.empty()) return broken(tried, trial, trials.prober.convention, what);
  }
  return law_holds(tried);
}

LawResult try_read_back(const Trials& trials) {
  return try_each(trials, [&](const Trial& trial) {
    const auto found = trials.reader.compare(trial.scene, trial.body, trials.derived.capabilities.call_ids_shown);
    return found.wrong.empty() ? std::string() : found.wrong.front();
  });
}

/// Sizes of pieces without a common period, so that cuts fall on all places of a marker.
LawResult try_cuts(const Trials& trials) {
  constexpr std::size_t kSizes[] = {1, 2, 3, 5, 8, 13};
  return try_each(trials, [&](const Trial& trial) -> std::string {
    const std::vector<std::string> whole = trials.reader.events(trial.body, {});
    for (const std::size_t size : kSizes) {
      if (trials.reader.events(trial.body, {size}) != whole)
        return "other events in pieces of " + std::to_string(size) + " bytes";
    }
    return {};
  });
}

LawResult try_conservation(const Trials& trials) {
  return try_each(trials, [&](const Trial& trial) -> std::string {
    std::string sources;
    trials.reader.events(trial.body, {7}, &sources);
    return sources == trial.body ? "" : "the events do not give the reply back, but: " + sources;
  });
}

/// Prefixes at growing distances: all of the short ones, where calls begin, and some of the long ones, or a reply of n
/// bytes would be read n times.
LawResult try_truncation(const Trials& trials) {
  return try_each(trials, [&](const Trial& trial) -> std::string {
    // What the whole reply says is the measure: a call that is complete early must be the same in the end.
    const ReplyMessage whole = trials.reader.message(trial.body);
    for (std::size_t size = 0; size < trial.body.size(); size += 1 + size / 16) {
      const ReplyMessage part = trials.reader.message(std::string_view(trial.body).substr(0, size));
      for (std::size_t i = 0; i < part.calls.size(); ++i) {
        if (!part.calls[i].complete) continue;
        if (canonical_json(part.calls[i].arguments).empty())
          return "a complete call without valid arguments in the first " + std::to_string(size) + " bytes";
        if (i >= whole.calls.size() || part.calls[i].arguments != whole.calls[i].arguments) {
          return "a call is said complete in the first " + std::to_string(size) + " bytes, and goes on";
        }
      }
    }
    return {};
  });
}

/// Where tags and origins contradict each other: what the assistant said is outside, or what somebody else said inside.
std::string mask_fault(const Conversation& chat, const Rendering& prompt) {
  constexpr std::int32_t kAssistant = 1;  // of a generated conversation's messages
  for (const Span& span : prompt.spans()) {
    const bool said = span.origin == Origin::input && span.message >= 0 && !path_of_span(chat, span).ends_with(".role");
    if (!said) continue;
    const bool inside =
        std::any_of(prompt.generation().begin(), prompt.generation().end(),
                    [&](const TextRange& range) { return range.begin <= span.begin && span.end <= range.end; });
    if (inside == (span.message == kAssistant)) continue;
    return path_of_span(chat, span) + (inside ? " is inside" : " is outside") + " of the generation tags";
  }
  return {};
}

LawResult try_masks(const Trials& trials) {
  if (!trials.chat_template.has_generation_tag())
    return not_tried(LawResult::Outcome::does_not_apply, "the template has no generation tag");
  return try_each(trials, [&](const Trial& trial) -> std::string {
    const Result<Conversation> chat = Conversation::from_json(request_of(trial.scene, trials.prober.convention));
    RenderOptions rendering;
    rendering.add_generation_prompt = false;
    rendering.limits = trials.options.derive.limits;
    if (!chat) return {};
    const Result<Rendering> prompt = trials.chat_template.render(*chat, rendering);
    return prompt ? mask_fault(*chat, *prompt) : std::string();
  });
}

LawResult try_prompt_ends(const Trials& trials) {
  const std::vector<ThinkingStart>& starts = trials.derived.starts;
  std::vector<ReadBack> readers;
  for (const ThinkingStart& start : starts) readers.emplace_back(trials.derived.format, start.prompt);
  return try_each(trials, [&](const Trial& trial) -> std::string {
    const std::string content = trial.scene.content.value_or("");
    if (content.empty()) return {};
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const ThinkingStart& start = starts[i];
      for (const std::string& reasoning : {std::string(), "zqr " + content}) {
        const std::vector<std::string> faults =
            faults_of_reply(readers[i], trials.derived.format, start, reasoning, content);
        if (!faults.empty()) return "a reply to a prompt (" + name_of_start(start) + "): " + faults.front();
      }
    }
    return {};
  });
}

LawResult try_grammar(const Trials& trials) {
  GrammarLaw law(trials.turn, trials.derived);
  LawResult result = try_each(trials, [&](const Trial& trial) { return law.fault(trial.scene, trial.body); });
  if (result.outcome != LawResult::Outcome::holds) return result;
  result.tried = law.tried();
  return result.tried > 0 ? result
                          : not_tried(LawResult::Outcome::does_not_apply,
                                      "each turn holds markers in its values, or loses something");
}

struct Law {
  LawInfo info;
  Try run;
};
constexpr Law kLaws[] = {
    {{"read-back", "reading what the template writes of a message gives the message"}, try_read_back},
    {{"cuts", "the events of a reply are the same however it is cut"}, try_cuts},
    {{"conservation", "every byte of a reply is in exactly one event"}, try_conservation},
    {{"truncation", "a reply that is cut off has no call that is complete and would not be so in the end"},
     try_truncation},
    {{"prompt-ends", "a reply goes on from whatever prompts leave open, under each setting of thinking"},
     try_prompt_ends},
    {{"grammar", "the grammar of a reply allows what the template writes"}, try_grammar},
    {{"masks", "generation tags hold what the assistant said, and nothing that somebody else said"}, try_masks},
};

constexpr auto kInfos = [] {
  std::array<LawInfo, std::size(kLaws)> infos{};
  for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = kLaws[i].info;
  return infos;
}();

std::vector<Trial> make_trials(Prober& prober, const TurnFacts& turn, const DerivedFormat& derived,
                               const CheckOptions& options, Stop& stop) {
  std::vector<Trial> made;
  if (!turn.found || derived.starts.empty()) return made;
  Generator generator(options.seed, derived.capabilities, derived.capabilities.parallel_calls,
                      markers_of_calls(derived.format));
  for (std::size_t i = 0; i < options.count && !stop(); ++i) {
    Trial trial{generator.turn(), {}};
    const ThinkingStart& start = derived.starts[generator.below(derived.starts.size())];
    // Half of the turns under a setting: a template may write them differently where thinking is off.
    if (!start.variable.empty() && generator.below(2) == 0) trial.scene.variables = {{start.variable, start.value}};
    const Shot shot = prober.take_once(trial.scene);
    if (!shot) continue;
    trial.body = std::string(trial.scene.variables.empty() ? body_of(turn, shot).text : body_under(turn, shot));
    if (trial.body.empty() && !trial.scene.variables.empty()) continue;
    made.push_back(std::move(trial));
  }
  return made;
}

}  // namespace
}  // namespace probe

std::span<const LawInfo> laws() { return probe::kInfos; }

std::string_view name_of(LawResult::Outcome outcome) {
  constexpr std::string_view kNames[] = {"holds", "broken", "does not apply", "untried"};
  return kNames[static_cast<std::size_t>(outcome)];
}

bool CheckReport::holds() const {
  using Outcome = LawResult::Outcome;
  return derived.verdict == Verdict::verified && std::all_of(laws.begin(), laws.end(), [](const LawResult& law) {
           return law.outcome == Outcome::holds || law.outcome == Outcome::does_not_apply;
         });
}

Result<CheckReport> check(const Template& chat_template, const CheckOptions& options) {
  Result<DerivedFormat> derived = derive(chat_template, options.derive);
  if (!derived) return derived.error();
  CheckReport report{std::move(*derived), {}};
  probe::Prober prober(chat_template, options.derive);
  const probe::TurnFacts turn = probe::find_facts(prober);
  probe::Stop stop(options);
  probe::Trials trials{
      chat_template, options, report.derived, prober, turn, probe::ReadBack(turn, report.derived.format), stop, {}};
  trials.made = probe::make_trials(prober, turn, report.derived, options, stop);
  for (const probe::Law& law : probe::kLaws) {
    LawResult result = law.run(trials);
    if (stop()) return Error(ErrorCode::python_runtime, "the check was stopped");
    result.law = law.info.name;
    report.laws.push_back(std::move(result));
  }
  return report;
}

}  // namespace parlance
