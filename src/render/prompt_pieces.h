// PromptPieces: one prompt as the pieces it is made of, of which as much becomes text with spans as somebody asks for.
//
// Prompt after prompt of a conversation that grows, what the last one is known to have in common with the next need not
// be rendered again (jinja/machine/resume.h): it is one piece then, which points to the known text. Begin reading at
// PromptPieces::render.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "parlance/template.h"
#include "value/object.h"

namespace parlance {

namespace jinja {
struct Resumption;
}

/// The end of a prompt, with its spans.
struct PromptEnd {
  const Rendering* rendering;
  std::size_t begin = 0;  ///< the byte of the prompt that its text begins with

  /// The text from that byte of the prompt on.
  std::string_view text_from(std::size_t byte) const { return rendering->text().substr(byte - begin); }
};

/// Text that the next prompt may take over: that of the prompt that was accepted last, which was rendered from the same
/// conversation with fewer messages, the same template and the same options. Empty: nothing.
struct KnownPrompt {
  std::string_view text;
  std::size_t until = 0;  ///< spans will be asked for from this byte of the new prompt on
};

/// Lifetime: the template and the conversation of the last render must live, and the known text.
class PromptPieces {
 public:
  PromptPieces();
  ~PromptPieces();

  /// Fails as Template::render() does. `options` as for that; spans are made by end_from() alone.
  Result<void> render(const Template& chat_template, const Conversation& conversation, const RenderOptions& options,
                      const KnownPrompt& known = {});
  /// The last prompt is the one whose text is known from now on; or none is.
  void accept();
  void forget();

  /// Until the next render.
  std::span<const Piece> pieces() const;
  /// Are the bytes of a piece the template's or the conversation's, which outlive the render?
  bool stays(const Piece& piece) const;
  /// Are the spans from a byte on to be had without rendering once more, as a whole?
  bool reaches(std::size_t byte) const;
  /// Text and spans from a byte on, or from where the piece begins that holds it. Until the next call. Fails with
  /// limit_memory.
  Result<PromptEnd> end_from(std::size_t byte);

  /// So many messages were left out by the last render.
  std::uint64_t left_out() const;
  /// That it took, or would have taken as a whole.
  std::uint64_t steps();

 private:
  Result<void> run(const KnownPrompt& known);
  bool is_known(const Piece& piece) const;
  bool is_near_memory_limit();

  std::optional<Template> chat_template_;  ///< of the last render
  const Conversation* conversation_ = nullptr;
  RenderOptions options_;
  Workspace workspace_;
  std::unique_ptr<jinja::Resumption> resumption_;
  std::string_view known_;  ///< that the last render took over from
  Rendering end_;
  Rendering cut_;  ///< the whole prompt, where the last message is continued,
  Piece whole_{};  ///< which is one piece then
  bool is_cut_ = false;
  bool was_near_limit_ = false;  ///< of memory: the next prompt is rendered as a whole at once, and not twice
};

}  // namespace parlance
