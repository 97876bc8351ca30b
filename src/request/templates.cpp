// The templates of a reader; see templates.h.
#include "request/templates.h"

namespace parlance {

DeriveOptions deriving_for(const ModelSource& model, const Limits& limits) {
  DeriveOptions deriving;
  deriving.limits = limits;
  for (const SpecialToken& token : model.special_tokens) deriving.special_tokens.emplace_back(token.name, token.text);
  return deriving;
}

ModelTemplates::ModelTemplates(const ModelSource& model, const RequestOptions& options)
    : model_(model),
      options_(options),
      adapts_(options.adapt && options.read.normalise && !options.read.as_transformers) {}

ModelTemplates::ModelTemplates(const ModelSource& model, const RequestOptions& options, Template chat_template)
    : ModelTemplates(model, options) {
  given_ = std::move(chat_template);
}

Result<Template> ModelTemplates::compile(bool with_tools) const {
  if (given_) return *given_;
  const std::optional<std::string>& name = options_.template_name;
  const Result<const NamedTemplate*> chosen =
      model_.choose(name ? std::optional<std::string_view>(*name) : std::nullopt, with_tools);
  if (!chosen) return chosen.error();
  CompileOptions options = options_.compile;
  options.name = (*chosen)->origin;
  options.syntax = options_.syntax.value_or((*chosen)->syntax);
  return Template::compile((*chosen)->text, options);
}

void ModelTemplates::adapt(Choice& choice) const {
  const Result<Template>& compiled = *choice.compiled;
  if (!adapts_ || !compiled || compiled->syntax() != Syntax::jinja) return;
  choice.adapter.emplace(*compiled, deriving_for(model_, options_.limits), options_.read, options_.variables);
}

ModelTemplates::Choice& ModelTemplates::choice(bool with_tools) {
  return choices_[with_tools && model_.templates.size() > 1 ? 1 : 0].get([&] {
    auto choice = std::make_unique<Choice>();
    choice->compiled = compile(with_tools);
    adapt(*choice);
    return choice;
  });
}

const ReadOptions& ModelTemplates::options_for(const Conversation& untouched) {
  if (!adapts_) return options_.read;
  std::optional<Adapter>& adapter = choice(has_tools(untouched)).adapter;
  return adapter ? adapter->options_for(untouched) : options_.read;
}

}  // namespace parlance
