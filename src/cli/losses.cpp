// Losses for people. Begin reading at render_checked.
#include "cli/losses.h"

#include <cinttypes>
#include <cstdio>

#include "cli/options/option_words.h"
#include "cli/options/options.h"
#include "cli/report.h"

namespace parlance::cli {
namespace {

constexpr std::size_t kMostSaid = 20;  ///< losses, without --verbose

/// What is lost, and with --verbose all else that is known.
void report_losses(const LossWish& wish, const std::vector<Loss>& found) {
  const std::vector<Loss> losses = in_options(found);
  const std::size_t lost = count_lost(losses);
  const std::size_t said = wish.verbose ? losses.size() : std::min(lost, kMostSaid);
  for (std::size_t i = 0; i < said; ++i)
    say(losses[i].kind == LossKind::lost ? "note" : "left out", losses[i].display());
  if (said < lost) say("note", std::to_string(lost - said) + " more; --verbose says all, --quiet none");
}

void report_changes(const LossWish& wish, const Conversation& conversation) {
  if (!wish.verbose) return;
  for (const std::string& note : conversation.notes()) say("changed", note);
}

/// What a list that was filled too late looks like. A prompt with a suffix needs none.
bool lacks_messages(const Template& compiled, const Conversation& conversation) {
  const Value messages = conversation.messages();
  if (!messages.is_sequence() || !messages.items().empty()) return false;
  if (!conversation.variables()["prompt"].is_undefined()) return false;
  const TemplateFacts facts = compiled.facts();
  return facts.syntax == Syntax::go || facts.reads("messages");
}

/// Of --strict, where the notes have said what is lost.
Error named_above(std::size_t lost) {
  const std::string count = std::to_string(lost);
  const std::string how_many =
      lost > kMostSaid ? count + " things, the first of them in the notes" : "the " + count + " notes";
  return Error(ErrorCode::loss, lost == 1 ? "the note above; --strict makes it an error"
                                          : how_many + " above; --strict makes them an error");
}

}  // namespace

std::string list_of(const std::map<std::string_view, std::uint64_t>& counts) {
  std::string out;
  for (const auto& [name, count] : counts)
    out.append(out.empty() ? "" : ", ").append(std::to_string(count)).append(" × ").append(name);
  return out;
}

void declare_losses(Options& app, LossWish& c) {
  app.add_flag("-q,--quiet", c.quiet, "Print no notes but those of lines that failed");
  app.add_flag("-v,--verbose", c.verbose,
               "Also report what templates leave out by design, such as reasoning\nof earlier turns, and what the "
               "passes changed");
  app.add_flag("--strict", c.strict, "Fail if a part of the request is missing from the prompt");
}

void declare_fail_on_error(Options& app, LossWish& c) {
  app.add_flag("--fail-on-error", c.fail_on_error, "For --jsonl: exit code 1 if a line's answer is an error");
}

Result<CheckedRendering> render_checked(const LossWish& wish, const Template& compiled,
                                        const Conversation& conversation, const RenderOptions& options, bool says) {
  CheckedRendering checked;
  Workspace workspace;
  const LossOptions looking{.left_out = wish.verbose || !says};
  const Result<void> done = wish.wanted()
                                ? LossFinder(compiled, looking).render(conversation, options, workspace, checked)
                                : compiled.render(conversation, options, workspace, checked.rendering);
  if (!done) return done.error();
  const Result<void> whole = check_losses(wish, checked.losses, says);
  if (says && !wish.quiet) report_changes(wish, conversation);
  if (says && !wish.quiet && lacks_messages(compiled, conversation))
    say("note", "messages: empty, so the prompt has no message");
  if (!whole) return whole.error();
  return checked;
}

Result<void> check_losses(const LossWish& wish, const std::vector<Loss>& losses, bool says) {
  const bool notes = says && !wish.quiet;
  if (notes) report_losses(wish, losses);
  const std::size_t lost = count_lost(losses);
  if (!wish.strict || lost == 0) return {};
  return notes ? named_above(lost) : error_of(losses);
}

namespace {
/// `line 17 (id 42): messages[0].content: …`
std::string failure_in_line(const BulkFailure& failure) {
  const Error error = in_options(failure.error);
  std::string text = "line " + std::to_string(failure.line);
  if (!failure.id.empty()) text += " (id " + failure.id + ")";
  // In a line of JSON the place is its column; an error of a template names a place of its own.
  if (error.code() == ErrorCode::json && error.where().column != 0)
    text += ", column " + std::to_string(error.where().column);
  const std::string message = error.message();
  return text + ": " + (error.input_path().empty() ? "" : error.input_path() + ": ") +
         message.substr(0, message.find('\n'));
}
}  // namespace

void report_lines(const LossWish& wish, const BulkProgress& done) {
  if (done.failed != 0) {
    std::fprintf(stderr, "note: %" PRIu64 " of %" PRIu64 " lines were answered by an error\n", done.failed, done.lines);
    for (const BulkFailure& one : done.failures) say_note(failure_in_line(one));
  }
  if (wish.quiet || done.lost.lines == 0) return;
  std::fprintf(stderr, "note: %" PRIu64 " of %" PRIu64 " lines have something that is not in the prompt: %s; %s\n",
               done.lost.lines, done.lines, list_of(done.lost.things).c_str(),
               wish.in_lines ? "`losses` of each line names it" : "--json names it");
}

}  // namespace parlance::cli
