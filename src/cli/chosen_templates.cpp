// The templates of a command; see chosen_templates.h.
#include "cli/chosen_templates.h"

namespace parlance::cli {

ChosenTemplates::ChosenTemplates(const FoundTemplates& found, const TemplateWish& wish, const Limits& limits, ReadOptions read,
                                 probe::Variables variables)
    : found_(found), wish_(wish), limits_(limits), read_(std::move(read)), variables_(std::move(variables)) {}

ChosenTemplates::Choice& ChosenTemplates::choice(bool with_tools) {
  Choice& choice = choices_[with_tools && found_.is_model ? 1 : 0];
  std::call_once(choice.once, [&] {
    choice.compiled = compile_chosen(found_, wish_, with_tools);
    const Result<Template>& compiled = *choice.compiled;
    if (!compiled || compiled->syntax() != Syntax::jinja) return;
    DeriveOptions deriving;
    deriving.limits = limits_;
    for (const SpecialToken& token : found_.source.special_tokens) deriving.special_tokens.emplace_back(token.name, token.text);
    choice.adapter.emplace(*compiled, std::move(deriving), read_, variables_);
  });
  return choice;
}

const ReadOptions& ChosenTemplates::options_for(const Conversation& untouched) {
  std::optional<probe::Adapter>& adapter = choice(has_tools(untouched)).adapter;
  return adapter ? adapter->options_for(untouched) : read_;
}

}  // namespace parlance::cli
