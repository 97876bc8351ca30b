// Finds losses with the template that a request is rendered by.
#include "serve/models/loss_finders.h"

namespace parlance::serve {

std::shared_ptr<const LossFinder> LossFinders::finder_for(const Template& chat_template, const void* key) {
  // A wish for no generation prompt takes three renders. What nobody misses, as ids of calls, is not looked for.
  constexpr LossOptions kOptions{.experiments = 4, .left_out = false};
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const LossFinder>& finder = finders_[key];
  if (finder == nullptr) finder = std::make_shared<const LossFinder>(chat_template, kOptions);
  return finder;
}

std::vector<Loss> LossFinders::losses(const RequestReader& reader, const Conversation& conversation,
                                      const RenderOptions& options) {
  const Result<Template>& chosen = reader.template_for(conversation);
  if (!chosen) return known_losses(conversation);
  Workspace workspace;
  Result<CheckedRendering> made = finder_for(*chosen, &chosen)->render(conversation, options, workspace);
  return made ? std::move(made->losses) : known_losses(conversation);
}

}  // namespace parlance::serve
