// The templates of a command, compiled when first asked for, and how requests are to be read for them.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <optional>

#include "cli/template_choice.h"
#include "probe/adapter.h"

namespace parlance::cli {

/// Threads: any.
class ChosenTemplates {
 public:
  /// Lifetime: `found` and `wish` must outlive it.
  /// `variables` are set in place of the requests'.
  ChosenTemplates(const FoundTemplates& found, const TemplateWish& wish, const Limits& limits, ReadOptions read, probe::Variables variables);

  /// The template for requests with or without tools, compiled once.
  const Result<Template>& compiled(bool with_tools) { return *choice(with_tools).compiled; }
  /// How a request is to be read (RequestOptions::adapt). Lifetime: of this.
  const ReadOptions& options_for(const Conversation& untouched);

 private:
  struct Choice {
    std::once_flag once;
    CompiledTemplate compiled;
    std::optional<probe::Adapter> adapter;  ///< none for templates that are not Jinja
  };
  Choice& choice(bool with_tools);

  const FoundTemplates& found_;
  const TemplateWish& wish_;
  const Limits limits_;
  const ReadOptions read_;
  const probe::Variables variables_;
  std::array<Choice, 2> choices_;
};

}  // namespace parlance::cli
