// Trying a response_template on the template's own turns. Begin reading at take_hint.
#include "probe/response_template_hint.h"

#include "parlance/response_template.h"
#include "probe/prompt_diff.h"
#include "probe/reasoning.h"
#include "probe/verify.h"

namespace parlance::probe {
namespace {

constexpr std::string_view kSource = "response_template of tokenizer_config.json";

void note(DerivedFormat& derived, std::string text) {
  derived.notes.push_back(std::string(kSource) + ": " + std::move(text));
}

std::string in_words(const Error& error) {
  const std::string path(error.input_path());
  return (path.empty() ? "" : path + ": ") + std::string(error.message());
}

std::string first_text(const ReplyMarker& marker) {
  return marker.exists() ? "'" + shortened(marker.texts.front()) + "'" : "nothing";
}

/// Markers that differ in their first text: in white space and in what else is read, two sayings of one format may
/// differ.
void note_conflicts(DerivedFormat& derived, const ReplyFormat& hint) {
  const ReplyFormat& own = derived.format;
  const auto compare = [&](std::string_view what, const ReplyMarker& says, const ReplyMarker& shows) {
    if (first_text(says) != first_text(shows))
      note(derived, std::string(what) + " is " + first_text(says) + ", where the template shows " + first_text(shows));
  };
  compare("reasoning.open", hint.reasoning_open, own.reasoning_open);
  compare("reasoning.close", hint.reasoning_close, own.reasoning_close);
  const auto opener = [](const ReplyFormat& format) {
    if (format.calls.empty()) return ReplyMarker();
    const CallForm& form = format.calls.front();
    return form.open.exists() || form.call.empty() ? form.open : form.call.front().literal;
  };
  compare("calls[0]", opener(hint), opener(own));
  if (!hint.end.empty() && !own.end.empty()) compare("end[0]", hint.end.front(), own.end.front());
}

}  // namespace

namespace {

/// The hint, with what was held against it as it is against a format that is derived.
DerivedFormat try_hint(Prober& prober, const Seen& seen, const DerivedFormat& derived, const ReplyFormat& hint) {
  DerivedFormat tried;
  tried.format = hint;
  tried.capabilities = derived.capabilities;
  tried.starts = derived.starts;
  for (ThinkingStart& start : tried.starts)
    start.in_reasoning = ends_in_reasoning(start.prompt, hint.reasoning_open, hint.reasoning_close);
  read_all(write_all(prober, seen, tried), seen.turn, tried);
  hold(seen.turn, seen.cuts, tried);
  return tried;
}

}  // namespace

void take_hint(Prober& prober, const Seen& seen, DerivedFormat& derived) {
  const std::string& text = prober.options().response_template;
  if (text.empty() || !seen.turn.found) return;
  Result<ReadResponseTemplate> hint = read_response_template(text);
  if (!hint) return note(derived, "not used: " + in_words(hint.error()));
  for (const std::string& one : hint->notes) note(derived, one);
  hint->format.prompt = derived.format.prompt;
  // A format that grammars are made of says all that stands in a reply, and a value is what the template writes.
  hint->format.drops_other_text = false;
  for (CallForm& form : hint->format.calls) {
    for (CallPart& part : form.call) {
      part.arguments.tags.text_between = false;
      part.arguments.tags.style = ArgumentTags::Style::json;
    }
  }
  hint->format.parallel = derived.format.parallel;
  DerivedFormat tried = try_hint(prober, seen, derived, hint->format);
  note_conflicts(derived, hint->format);
  if (!tried.missing.empty() && derived.verdict == Verdict::verified)
    return note(derived, "not used: " + tried.missing.front());
  derived.format = std::move(tried.format);
  derived.missing = std::move(tried.missing);
  derived.tried = std::move(tried.tried);
  derived.starts = std::move(tried.starts);
  derived.verdict = derived.missing.empty() ? Verdict::verified : Verdict::partial;
  derived.evidence.push_back({"all", std::string(kSource), shortened(text)});
}

}  // namespace parlance::probe
