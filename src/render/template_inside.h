// The inside of a Template and of a Workspace, for what renders.
#pragma once
#include <atomic>
#include <memory>
#include <optional>

#include "base/fork_lock.h"
#include "base/inside.h"
#include "jinja/compile/program.h"
#include "jinja/machine/turns.h"
#include "jinja/machine/vm.h"
#include "parlance/template.h"
#include "render/go_run.h"
#include "render/literal_spans.h"
#include "render/openings.h"
#include "render/provenance.h"

namespace parlance {

struct Template::Impl {
  Impl(std::unique_ptr<jinja::Program> program_in, std::unique_ptr<gotemplate::Program> go_in,
       const CompileOptions& options_in)
      : program(std::move(program_in)), go(std::move(go_in)), options(options_in) {}
  const EngineProgram& any() const { return go != nullptr ? static_cast<const EngineProgram&>(*go) : *program; }
  /// What Provenance knows the template's bytes by.
  TemplateBytes bytes() const {
    const LiteralSpans* known = literals_.load(std::memory_order_acquire);
    return {any().source.text(), any().arena, known != nullptr ? *known : find_literals()};
  }

  std::unique_ptr<jinja::Program> program;  ///< of the two programs one is there
  std::unique_ptr<gotemplate::Program> go;
  CompileOptions options;
  OpeningStore openings;  ///< of a Jinja template's turns

 private:
  /// The spans of Jinja's constants; made by the first render that asks.
  [[gnu::cold]] const LiteralSpans& find_literals() const {
    const std::lock_guard lock(mutex_);
    if (!made_) {
      const std::span<const Value> constants = program == nullptr ? std::span<const Value>() : program->constants;
      literals_.store(&made_.emplace(constants, any().source.text(), any().arena), std::memory_order_release);
    }
    return *made_;
  }

  mutable BriefMutex mutex_;
  mutable std::optional<LiteralSpans> made_;
  mutable std::atomic<const LiteralSpans*> literals_ = nullptr;
};

struct Workspace::State {
  Arena arena;
  Output output;
  jinja::FrameStack frames;
  jinja::TurnRecorder turns;
  jinja::Resumption* resumption = nullptr;  ///< of a run that may leave out what another has made
  GoMemory go;
  std::optional<Provenance> provenance;  ///< of the render that runs; here since setting aside room for it costs time
  Rendering cut;                         ///< of render_pieces, when the last message is continued
  std::uint64_t steps = 0;               ///< that the last render took
};

using WorkspaceState = Inside<Workspace>::Type;

/// The doors that are not everybody's.
struct TemplateInside {
  static std::shared_ptr<const Template::Impl> impl(const Template& chat_template) { return chat_template.impl_; }
  static TemplateBytes bytes(const Template& chat_template) { return chat_template.impl_->bytes(); }
  /// Template::run.
  static Result<bool> run(const Template& chat_template, const Conversation& conversation, const RenderOptions& options,
                          Workspace& workspace, Rendering* into, const ListObject* first_messages = nullptr) {
    return chat_template.run(conversation, conversation.variables(), options, workspace, true, into, first_messages);
  }
};

}  // namespace parlance
