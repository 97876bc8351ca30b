// LossFinder: a render, and what was lost in it. Begin reading at LossFinder::render.
#include <algorithm>
#include <iterator>

#include "losses/doubts.h"
#include "losses/media.h"
#include "losses/order.h"
#include "losses/settings.h"

namespace parlance {

std::string_view name_of(LossKind kind) { return kind == LossKind::lost ? "lost" : "left out"; }

std::string Loss::display() const { return path + ": " + sentence + (hint.empty() ? "" : "; " + hint); }

struct LossFinder::State {
  State(Template chat_template_in, const LossOptions& options_in)
      : chat_template(std::move(chat_template_in)),
        options(options_in),
        facts(chat_template.facts()),
        marks(facts.texts) {
    std::copy_if(facts.variables.begin(), facts.variables.end(), std::back_inserter(tokens), names_token);
  }
  const Template chat_template;
  const LossOptions options;
  const TemplateFacts facts;
  const Marks marks;
  std::vector<std::string> tokens;  ///< variables for special tokens that it reads
};

namespace {

/// What the render noted of masks, where they were asked for.
void take_notes(const Rendering& rendering, std::vector<Loss>& losses) {
  for (const std::string& note : rendering.notes()) {
    const std::size_t colon = note.find(": ");
    losses.push_back({LossKind::lost, "mask", note.substr(0, colon), note.substr(colon + 2), {}});
  }
}

}  // namespace

LossFinder::LossFinder(Template chat_template, const LossOptions& options)
    : state_(std::make_unique<const State>(std::move(chat_template), options)) {}
LossFinder::LossFinder(LossFinder&&) noexcept = default;
LossFinder& LossFinder::operator=(LossFinder&&) noexcept = default;
LossFinder::~LossFinder() = default;

Result<CheckedRendering> LossFinder::render(const Conversation& conversation, const RenderOptions& options,
                                            Workspace& workspace) const {
  CheckedRendering made;
  if (Result<void> done = render(conversation, options, workspace, made); !done) return done.error();
  return made;
}

Result<void> LossFinder::render(const Conversation& conversation, const RenderOptions& options, Workspace& workspace,
                                CheckedRendering& into) const {
  into.losses.clear();
  into.placeholders.clear();
  RenderOptions all = options;
  all.want_spans = all.want_undefined = true;
  if (state_ == nullptr) return Error(ErrorCode::usage, "the finder was moved from");
  const State& s = *state_;
  if (Result<void> done = s.chat_template.render(conversation, all, workspace, into.rendering); !done) return done;
  Reached reached;
  reached.take(into.rendering.spans(), into.rendering.text());
  std::vector<Loss>& losses = into.losses;
  std::vector<MediaPart> media;
  TextSearch search(conversation, reached, s.facts, s.marks, s.options.left_out, losses);
  find_lost_messages(search, conversation.messages(), media);
  find_lost_tools(search, conversation.variables());
  find_lost_documents(search, conversation.variables());
  const Experiment experiment{s.chat_template, conversation, options, workspace};
  if (!media.empty())
    find_placeholders(experiment, media, s.options.experiments, into.rendering, losses, into.placeholders);
  find_lost_settings(experiment, s.options.experiments, search, into.rendering, s.facts, losses);
  find_unheeded_end(experiment, s.options.experiments, into.rendering, losses);
  find_doubtful(experiment, search.doubts(), s.options.experiments, into.rendering, losses);
  find_disorder(experiment, s.options.experiments, 0, losses);
  find_misspelt(into.rendering, s.facts, losses);
  find_lost_tokens(experiment, s.tokens, losses);
  find_repeated(conversation, losses);
  find_lost_by_passes(conversation, losses);
  if (s.options.left_out) find_left_out_by_passes(conversation, losses);
  take_notes(into.rendering, losses);
  std::stable_sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) { return a.kind < b.kind; });
  return {};
}

std::vector<Loss> known_losses(const Conversation& conversation) {
  std::vector<Loss> losses;
  find_repeated(conversation, losses);
  find_lost_by_passes(conversation, losses);
  return losses;
}

std::size_t count_lost(std::span<const Loss> losses) {
  return static_cast<std::size_t>(
      std::count_if(losses.begin(), losses.end(), [](const Loss& loss) { return loss.kind == LossKind::lost; }));
}

Error error_of(std::span<const Loss> losses) {
  const std::size_t lost = count_lost(losses);
  const Loss& first = losses.front();
  const std::string more = lost > 1 ? ", and " + std::to_string(lost - 1) + " more" : "";
  return Error(ErrorCode::loss, first.path + ": " + first.sentence + more).input(first.path).hint(first.hint);
}

}  // namespace parlance
