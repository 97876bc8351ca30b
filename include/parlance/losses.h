// Losses: finds everything in a request that did not reach its prompt.
//
//     parlance::LossFinder finder(chat_template);
//     auto prompt = finder.render(chat, {}, workspace);        // the rendering and its losses
//     for (const parlance::Loss& loss : prompt->losses) std::puts(loss.display().c_str());
//
// A template may silently drop a message, an image, a tool or an argument, and it prints nothing for a misspelt
// variable. The origins of the prompt's bytes show which parts of the request are there. Some parts leave no bytes of
// their own (an image, a special token). They are tested by a render without them: if the prompt stays the same, the
// part is lost.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/template.h"

namespace parlance {

/// How much a loss matters.
enum class LossKind : std::uint8_t {
  lost,      ///< the model will not know what the request says
  left_out,  ///< templates leave it out by design: reasoning of earlier turns, ids, details of a tool's schema
};
std::string_view name_of(LossKind kind);  ///< "lost", "left out"

/// One part of a request that is not in the prompt.
struct Loss {
  LossKind kind = LossKind::lost;
  /// The kind of part. Lost: "message", "part", "call", "argument", "tool", "document", "setting" (a member of the
  /// request that the template ignores), "variable", "special token", "character" (parlance tokens), "data" (a list or
  /// dict printed as Python prints it), "order" (results that stand in another order than their calls), "mask" (an
  /// assistant's words that are in none of its ranges). Left out: "reasoning", "text" (an assistant's content before a
  /// cut), "id", "detail".
  std::string_view subject;
  std::string path;      ///< in the request: "messages[2].content[1]"; a variable's name
  std::string sentence;  ///< "not in the prompt"
  std::string hint;      ///< what may help; may be empty
  /// "messages[2].content[1]: not in the prompt; HINT"
  std::string display() const;
};

/// Bytes of the prompt that stand for an image, audio or video of the request. Only text that the template itself wrote
/// for that part counts, not the same text typed by a user.
struct Placeholder {
  TextRange range;
  std::string path;  ///< of the part: "messages[2].content[1]"
  std::string type;  ///< of the part, as the template gets it: "image"
};

/// A rendering and its losses.
struct CheckedRendering {
  Rendering rendering;
  std::vector<Loss> losses;               ///< in the order of the request, those of the kind `lost` first
  std::vector<Placeholder> placeholders;  ///< in the order of the prompt
};

/// Options of one search.
///
///     field          default  effect
///     experiments    32       how many parts without text (images, audio), and how many members that the template
///                             mentions and does not print, are tested one by one; the rest are tested together. How
///                             many texts for true or false, and pairs of results in another order than their calls,
///                             are tested. With a Go template also how many values of
///                             `think` are tried, of five; one that is not tried counts as seen. Below 3 nothing is
///                             said of a generation prompt that nobody wants
///     left_out       true     also report what is left out by design; this takes half of the search's time
struct LossOptions {
  std::size_t experiments = 32;
  bool left_out = true;
};

/// Renders a request and finds its losses.
/// Threads: any; one finder serves all requests of a template.
class LossFinder {
 public:
  explicit LossFinder(Template chat_template, const LossOptions& options = {});
  LossFinder(LossFinder&&) noexcept;
  LossFinder& operator=(LossFinder&&) noexcept;
  ~LossFinder();

  /// Renders as Template::render() does, with spans, and finds the losses. Fails as Template::render() does; a failed
  /// experiment is ignored.
  Result<CheckedRendering> render(const Conversation& conversation, const RenderOptions& options,
                                  Workspace& workspace) const;
  /// The same, reusing the memory of `into`.
  Result<void> render(const Conversation& conversation, const RenderOptions& options, Workspace& workspace,
                      CheckedRendering& into) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

/// What is lost whatever the template does, known without a render: what passes left out of the request, members that
/// it gives twice. LossFinder finds it, too.
std::vector<Loss> known_losses(const Conversation& conversation);
/// The losses of the subject "order" alone, as far as messages from number `first` on cause them: results that stand in
/// another order than their calls, where the prompt does not show which call each of them answers. Renders nothing if
/// all stand in the order of their calls, else a few times.
std::vector<Loss> losses_of_order(const Template& chat_template, const Conversation& conversation,
                                  const RenderOptions& options, Workspace& workspace, std::size_t first = 0);
/// An error for callers that do not accept losses: code `loss`, with the path and hint of the first loss. `losses` must
/// contain one of the kind `lost`.
Error error_of(std::span<const Loss> losses);
/// The number of losses of the kind `lost`.
std::size_t count_lost(std::span<const Loss> losses);

}  // namespace parlance
