// The templates of a reader, compiled when first asked for, and how requests are to be read for them.
#pragma once
#include <array>
#include <optional>

#include "base/fork_lock.h"
#include "parlance/request.h"
#include "request/adapter.h"

namespace parlance {

/// What experiments for a model go by, beside the variables of a request.
DeriveOptions deriving_for(const ModelSource& model, const Limits& limits);

/// Threads: any.
class ModelTemplates {
 public:
  /// Lifetime: both must outlive it.
  ModelTemplates(const ModelSource& model, const RequestOptions& options);
  /// One template for all requests.
  ModelTemplates(const ModelSource& model, const RequestOptions& options, Template chat_template);

  bool are_there() const { return given_ || !model_.templates.empty(); }
  /// The template for requests with or without tools, compiled once.
  const Result<Template>& compiled(bool with_tools) { return *choice(with_tools).compiled; }
  /// How a request is to be read. Lifetime: of this, or of the options.
  const ReadOptions& options_for(const Conversation& untouched);

 private:
  struct Choice {
    std::optional<Result<Template>> compiled;
    std::optional<Adapter> adapter;  ///< none for templates that are not Jinja
  };
  Choice& choice(bool with_tools);
  Result<Template> compile(bool with_tools) const;
  void adapt(Choice& choice) const;

  const ModelSource& model_;
  const RequestOptions& options_;
  const bool adapts_;
  std::optional<Template> given_;
  std::array<MadeOnce<Choice>, 2> choices_;
};

}  // namespace parlance
