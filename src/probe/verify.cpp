// Reading the probes' own turns back. Begin reading at write_turns and read_turns.
#include "probe/verify.h"

#include <algorithm>

#include "probe/calls.h"
#include "probe/read_back.h"
#include "reply/codec.h"

namespace parlance::probe {
namespace {

void add_sentences(std::vector<std::string>& list, const std::string& name, const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) {
    std::string whole = (name.empty() ? "" : name + ": ") + sentence;
    if (std::find(list.begin(), list.end(), whole) == list.end()) list.push_back(std::move(whole));
  }
}

SceneCall call_with(std::string_view arguments) {
  return {std::string(kTools[0]), std::string(kIds[0]), std::string(arguments)};
}

/// Arguments that are awkward to write, each kind apart, so that a template that loses one is told by name.
struct ArgumentTrial {
  std::string_view name;
  std::string_view arguments;
  std::string_view text = {};  ///< a value as it is: where it stands so between quotes, nobody can read it back
};
constexpr ArgumentTrial kArguments[] = {
    {"no arguments", R"({})"},
    {"one argument", R"({"zqkey_a": "zqval_a1"})"},
    {"a text with quotes", R"({"zqkey_a": "say \"hi\" \\ it's <b> & é 😀"})", R"(say "hi" \ it's <b> & é 😀)"},
    {"a text of lines", R"({"zqkey_a": "one\n  two\nthree", "zqkey_b": "x"})", "one\n  two\nthree"},
    {"a text like a number", R"({"zqkey_a": "42", "zqkey_b": "true"})"},
    {"numbers", R"({"zqkey_i": 42, "zqkey_n": 1.5})"},
    {"a truth", R"({"zqkey_t": true})"},
    {"a list and an object", R"({"zqkey_l": ["a", "b"], "zqkey_o": {"k": "v"}})"},
};

/// One to three calls: what separates them shows from two on, and a third shows whether it stays the same.
void add_calls(std::vector<WrittenTurn>& trials, const DerivedFormat& derived, Next next) {
  if (derived.format.calls.empty()) return;
  trials.push_back({"a call", {.content = {}, .calls = plain_calls(1), .next = next}});
  if (derived.format.parallel) {
    trials.push_back({"two calls", {.content = {}, .calls = plain_calls(2), .next = next}});
    trials.push_back({"three calls", {.content = {}, .calls = plain_calls(3), .next = next}});
  }
  trials.push_back({"an answer and a call", {.calls = plain_calls(1), .next = next}});
  if (derived.capabilities.reasoning_with_calls) {
    trials.push_back({"reasoning and a call",
                      {.content = {},
                       .reasoning = std::string(kReasoning),
                       .reasoning_key = derived.capabilities.reasoning_key,
                       .calls = plain_calls(1),
                       .next = derived.capabilities.reasoning_with_last_calls ? Next::nothing : Next::result}});
  }
  for (const ArgumentTrial& one : kArguments) {
    trials.push_back(
        {std::string(one.name), {.content = {}, .calls = {call_with(one.arguments)}, .next = next}, one.text});
  }
}

/// A text between quotes or in JSON, without the escapes that would tell where it ends.
bool writes_raw(const ReplyFormat& format, std::string_view body, std::string_view text) {
  if (text.empty() || body.find(text) == std::string_view::npos) return false;
  for (const CallForm& form : format.calls) {
    for (const CallPart& part : form.call) {
      const bool arguments = part.kind == CallPart::Kind::arguments || part.kind == CallPart::Kind::object;
      if (arguments && !reply::facts_of(part.arguments.codec).quotes_text) return false;
    }
  }
  return true;
}

/// Whether calls are such only where the answer begins.
bool only_initial(const std::vector<CallForm>& calls) {
  return std::any_of(calls.begin(), calls.end(),
                     [](const CallForm& form) { return form.initial && !form.open_optional; });
}

}  // namespace

std::vector<WrittenTurn> write_turns(Prober& prober, const TurnFacts& turn, const DerivedFormat& derived, Next next) {
  std::vector<WrittenTurn> trials = {{"an answer", {}}};
  if (derived.capabilities.reasoning_with_text) {
    trials.push_back({"reasoning and an answer",
                      {.reasoning = std::string(kReasoning), .reasoning_key = derived.capabilities.reasoning_key}});
  }
  add_calls(trials, derived, next);
  std::vector<WrittenTurn> written;
  for (WrittenTurn& trial : trials) {
    const Shot& shot = prober.take(trial.scene);
    if (!shot) continue;
    trial.body = std::string(body_of(turn, shot).text);
    written.push_back(std::move(trial));
  }
  return written;
}

void read_turns(const std::vector<WrittenTurn>& turns, const TurnFacts& turn, DerivedFormat& derived) {
  const std::vector<CallForm>& calls = derived.format.calls;
  if (only_initial(calls)) {
    add_sentences(derived.notes, "", {"nothing marks a call: it is one only where the answer begins"});
  }
  const ReadBack reader(turn, derived.format);
  for (const WrittenTurn& one : turns) {
    const ReadBack::Difference found = reader.compare(one.scene, one.body, derived.capabilities.call_ids_shown);
    if (!found.wrong.empty() && writes_raw(derived.format, one.body, one.text)) {
      derived.capabilities.escapes_text = false;
      add_sentences(derived.notes, one.name,
                    {"the template writes it between quotes without escapes, so that it cannot be read back"});
      continue;
    }
    if (!found.wrong.empty() && one.scene.content && !one.scene.calls.empty() && only_initial(calls)) {
      derived.capabilities.calls_behind_content = false;
      add_sentences(derived.notes, one.name, {"nothing marks where the call begins, so that it is read as text"});
      continue;
    }
    add_sentences(derived.missing, one.name, found.wrong);
    // a setting may well hide what shows without it
    if (one.scene.variables.empty()) add_sentences(derived.notes, one.name, found.lost);
  }
}

}  // namespace parlance::probe
