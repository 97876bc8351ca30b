// PromptPieces: a run that leaves its pieces, and Provenance over the last of them.
#include "render/prompt_pieces.h"

#include <algorithm>
#include <functional>

#include "base/bytes.h"
#include "conversation/conversation.h"
#include "render/rendering.h"
#include "render/steps.h"
#include "render/template_inside.h"

namespace parlance {

PromptPieces::PromptPieces() : resumption_(std::make_unique<jinja::Resumption>()) {}
PromptPieces::~PromptPieces() = default;

/// What a run fails with after it has left something out, and whether it would have fitted into a memory limit, a whole
/// run tells.
Result<void> PromptPieces::render(const Template& chat_template, const Conversation& conversation,
                                  const RenderOptions& options, const KnownPrompt& known) {
  chat_template_ = chat_template;
  conversation_ = &conversation;
  options_ = options;
  Result<void> done = run(was_near_limit_ ? KnownPrompt{} : known);
  const bool is_sure = resumption_->left_out == 0 || (done && !is_near_memory_limit());
  if (!is_sure) done = run({});
  was_near_limit_ = is_near_memory_limit();
  return done;
}

Result<void> PromptPieces::run(const KnownPrompt& known) {
  is_cut_ = false;
  known_ = known.text;
  resumption_->begin(known.text, known.until);
  WorkspaceState& memory = inside_of(workspace_);
  memory.resumption = resumption_.get();
  const Result<bool> continues = TemplateInside::run(*chat_template_, *conversation_, options_, workspace_, nullptr);
  memory.resumption = nullptr;
  if (!continues) return continues.error();
  memory.arena.sort_log();
  if (!*continues) return {};
  // Where the last message is continued, the spans of the whole say where the prompt ends.
  is_cut_ = true;
  resumption_->begin({}, 0);
  if (Result<void> done = chat_template_->render(*conversation_, options_, workspace_, cut_); !done) return done;
  whole_ = {cut_.text().data(), static_cast<std::uint32_t>(cut_.text().size())};
  return {};
}

/// Chunks of an arena are at most twice what is needed, so this is far on the safe side.
bool PromptPieces::is_near_memory_limit() {
  const std::uint64_t used = inside_of(workspace_).arena.used() + resumption_->memory;
  return used > options_.limits.memory_bytes / 4;
}

void PromptPieces::accept() { resumption_->accept(); }
void PromptPieces::forget() { resumption_->known.clear(); }
std::uint64_t PromptPieces::left_out() const { return resumption_->left_out; }
std::uint64_t PromptPieces::steps() { return steps_of_last(workspace_); }

std::span<const Piece> PromptPieces::pieces() const {
  if (is_cut_) return {&whole_, 1};
  const Output& output = inside_of(const_cast<Workspace&>(workspace_)).output;
  return {output.pieces(), output.piece_count()};
}

/// Whether the piece's bytes outlive this run: those of the template and of the request do, those of the arena do not.
bool PromptPieces::stays(const Piece& piece) const {
  const TemplateBytes known = TemplateInside::bytes(*chat_template_);
  const bool is_templates = static_cast<std::size_t>(piece.data - known.text.data()) < known.text.size() ||
                            known.arena.holds_text(piece.data);
  std::int32_t message = -1;
  return !is_cut_ && (is_templates || find_place(inside_of(*conversation_), piece.data, message));
}

/// Does the piece point to the known text?
bool PromptPieces::is_known(const Piece& piece) const {
  return !std::less<>()(piece.data, known_.data()) && std::less<>()(piece.data, known_.data() + known_.size());
}

bool PromptPieces::reaches(std::size_t byte) const {
  const std::span<const Piece> all = pieces();
  std::size_t begin = is_cut_ ? 0 : inside_of(const_cast<Workspace&>(workspace_)).output.bytes();
  for (std::size_t i = all.size(); i > 0 && begin > byte; begin -= all[--i].size) {
    if (is_known(all[i - 1])) return false;
  }
  return true;
}

Result<PromptEnd> PromptPieces::end_from(std::size_t byte) {
  if (is_cut_) return PromptEnd{&cut_, 0};
  const std::span<const Piece> all = pieces();
  WorkspaceState& memory = inside_of(workspace_);
  std::size_t first = all.size(), begin = memory.output.bytes();
  while (first > 0 && begin > byte) begin -= all[--first].size;
  const RenderingFields fields = fields_of(end_);
  fields.size = memory.output.bytes() - begin;
  if (fields.capacity < fields.size) {
    fields.capacity = fields.size * 2;
    fields.text = std::make_unique_for_overwrite<char[]>(fields.capacity);
  }
  Runtime rt(memory.arena, options_.limits);
  Provenance provenance(TemplateInside::bytes(*chat_template_), inside_of(*conversation_), rt, end_);
  provenance.copy_all(all.subspan(first), fields.text.get(), fields.text.get());
  if (rt.failed()) return Error(rt.failure.code, rt.failure.message);
  provenance.finish();
  const auto impl = TemplateInside::impl(*chat_template_);
  if (fields.source.get() != &impl->any().source) fields.source = {impl, &impl->any().source};
  return PromptEnd{&end_, begin};
}

}  // namespace parlance
