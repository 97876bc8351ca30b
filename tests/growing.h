// Growing: a conversation that is rendered again each time it has grown, with and without what the last time is known
// for. Begin reading at Growing::render.
#pragma once
#include <string>

#include "render/prompt_pieces.h"

namespace parlance::testing {

/// Holds a prompt that takes over from the last one against one that is rendered as a whole: text, steps and errors
/// must be the same. Every prompt is taken over from, also one that does not go on from the last.
class Growing {
 public:
  Growing(Template chat_template, const RenderOptions& options)
      : chat_template_(std::move(chat_template)), options_(options) {}
  /// Renders the conversation, which is the one of the last call with messages added at most. "" or what is wrong.
  std::string render(const Conversation& chat);
  /// The same for a conversation that is then taken back: its prompt is not taken over from.
  std::string render_in_vain(const Conversation& chat) { return compare(chat, text_.size()); }

  std::uint64_t left_out() const { return left_out_; }  ///< messages, in all renders
  std::size_t rendered() const { return rendered_; }    ///< times that the template did not fail
  /// Text that may not be left out, from the end of the known one.
  std::size_t kept = 0;

 private:
  std::string compare(const Conversation& chat, std::size_t until);

  Template chat_template_;
  RenderOptions options_;
  PromptPieces pieces_;
  PromptPieces whole_;
  std::string text_;
  std::uint64_t left_out_ = 0;
  std::size_t rendered_ = 0;
  bool has_failed_ = false;
};

}  // namespace parlance::testing
