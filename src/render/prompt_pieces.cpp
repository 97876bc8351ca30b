// PromptPieces: a run that leaves its pieces, and Provenance over the last of them.
#include "render/prompt_pieces.h"

#include <algorithm>

#include "base/bytes.h"
#include "conversation/conversation.h"
#include "render/rendering.h"
#include "render/template_inside.h"

namespace parlance {

Result<void> PromptPieces::render(const Template& chat_template, const Conversation& conversation,
                                  const RenderOptions& options) {
  chat_template_ = chat_template;
  conversation_ = &conversation;
  limits_ = options.limits;
  is_cut_ = false;
  const Result<bool> continues = TemplateInside::run(chat_template, conversation, options, workspace_, nullptr);
  if (!continues) return continues.error();
  WorkspaceState& memory = inside_of(workspace_);
  memory.arena.sort_log();
  if (!*continues) return {};
  // Where the last message is continued, the spans of the whole say where the prompt ends.
  is_cut_ = true;
  if (Result<void> done = chat_template.render(conversation, options, workspace_, cut_); !done) return done;
  whole_ = {cut_.text().data(), static_cast<std::uint32_t>(cut_.text().size())};
  return {};
}

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
  Runtime rt(memory.arena, limits_);
  Provenance provenance(TemplateInside::bytes(*chat_template_), inside_of(*conversation_), rt, end_);
  provenance.copy_all(all.subspan(first), fields.text.get(), fields.text.get());
  if (rt.failed()) return Error(rt.failure.code, rt.failure.message);
  provenance.finish();
  return PromptEnd{&end_, begin};
}

}  // namespace parlance
