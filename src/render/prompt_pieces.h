// PromptPieces: one prompt as the pieces it is made of, of which as much becomes text with spans as somebody asks for.
// Begin reading at PromptPieces::render.
#pragma once
#include <optional>
#include <span>

#include "parlance/template.h"
#include "value/object.h"

namespace parlance {

/// The end of a prompt, with its spans.
struct PromptEnd {
  const Rendering* rendering;
  std::size_t begin = 0;  ///< the byte of the prompt that its text begins with

  /// The text from that byte of the prompt on.
  std::string_view text_from(std::size_t byte) const { return rendering->text().substr(byte - begin); }
};

/// Lifetime: the template and the conversation of the last render must live.
class PromptPieces {
 public:
  /// Fails as Template::render() does. `options` as for that; spans are made by text_from() alone.
  Result<void> render(const Template& chat_template, const Conversation& conversation, const RenderOptions& options);

  /// Until the next render.
  std::span<const Piece> pieces() const;
  /// Are the bytes of a piece the template's or the conversation's, which outlive the render?
  bool stays(const Piece& piece) const;
  /// Text and spans from a byte on, or from where the piece begins that holds it. Until the next call. Fails with
  /// limit_memory.
  Result<PromptEnd> end_from(std::size_t byte);

 private:
  std::optional<Template> chat_template_;  ///< of the last render
  const Conversation* conversation_ = nullptr;
  Workspace workspace_;
  Limits limits_;
  Rendering end_;
  Rendering cut_;  ///< the whole prompt, where the last message is continued,
  Piece whole_{};  ///< which is one piece then
  bool is_cut_ = false;
};

}  // namespace parlance
