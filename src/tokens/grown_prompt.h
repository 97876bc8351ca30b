// GrownPrompt: the prompt of a session, from turn to turn. Of each render only what is new becomes text.
//
// A render gives pieces that point at the template's and the conversation's bytes (engine/output.h). Those stay where
// they are for as long as the session lives, so that a piece which points to where it did the last time needs no look
// at its bytes. Most of the prompt is not even rendered again (render/prompt_pieces.h). Begin reading at
// GrownPrompt::render.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/template.h"
#include "render/prompt_pieces.h"

namespace parlance {

class GrownPrompt {
 public:
  /// The text that was accepted last.
  std::string_view known() const { return known_; }
  /// A first prompt, or one that does not go on from the last.
  void accept_whole(std::string_view text);

  /// Renders the next prompt. `same`: template and options are those of the prompt that was accepted last, and the
  /// conversation is its conversation, with messages added to it at most; `from`: end_from() will be called with no
  /// byte before this one, else it takes longer. Fails as Template::render() does.
  Result<void> render(const Template& chat_template, const Conversation& conversation, const RenderOptions& options,
                      bool same, std::size_t from);
  /// Does that begin with the text that is known?
  bool goes_on() const { return goes_on_; }
  /// So many bytes of the known text it begins with; never within a character.
  std::size_t common() const { return common_; }
  /// The next prompt from a byte on, or from somewhat before. Until the next call.
  Result<PromptEnd> end_from(std::size_t byte);
  /// The same of the last render, also behind accept(). Unset: it would have to be rendered once more.
  std::optional<PromptEnd> part_from(std::size_t byte);
  /// It is the known one from now on, also if it only begins as that did.
  void accept();

  /// For tests: what was rendered last.
  PromptPieces& pieces() { return next_; }

 private:
  /// A piece of the known text, and whether its bytes stay where they are.
  struct KnownPiece {
    const char* data = nullptr;
    std::uint32_t size = 0;
    bool stays = false;
  };
  void compare(bool same);

  std::string known_;
  std::vector<KnownPiece> pieces_;  ///< of the beginning of known_
  PromptPieces next_;
  std::size_t shared_ = 0;        ///< so many pieces of both are the same,
  std::size_t shared_bytes_ = 0;  ///< which are so many bytes
  std::size_t common_ = 0;
  bool goes_on_ = false;
  // of the last render
  const Template* chat_template_ = nullptr;
  const Conversation* conversation_ = nullptr;
  const RenderOptions* options_ = nullptr;
  bool same_ = false;
};

}  // namespace parlance
