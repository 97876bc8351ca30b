// Rendering: the prompt, and where every byte of it came from.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/civil_time.h"
#include "parlance/conversation.h"
#include "parlance/limits.h"
#include "parlance/span.h"

namespace parlance {

class SourceText;

/// Options of one render.
///
///     field                  default       effect
///     add_generation_prompt  by the input  adds the opening of an assistant turn; unset: as the input says, else true
///                                          unless the last message is the assistant's
///     continue_final         by the input  leaves the last (assistant) message open: the prompt ends after it
///     now                    1970-01-01    what strftime_now prints; no such moment: the render fails with usage
///     limits                 see Limits    limits of this render
///     want_spans             true          fill Rendering::spans (a sixth to a third of a render more)
///     want_assistant         false         fill Rendering::assistant (a tenth more than spans, without tags a half)
///     want_undefined         false         fill Rendering::undefined
///     ignore_tags            false         derive Rendering::assistant from provenance even if the template has tags
///     random_seed            0             seed of the filter `random`
struct RenderOptions {
  std::optional<bool> add_generation_prompt;
  std::optional<bool> continue_final;
  bool as_is = false;  ///< give the template the conversation's variables unchanged, without add_generation_prompt
  CivilTime now;
  Limits limits;
  bool want_spans = true;
  bool want_assistant = false;  ///< a template's first such render takes 1 ms more; some need renders for each turn
  bool want_undefined = false;
  bool ignore_tags = false;
  std::uint64_t random_seed = 0;
};

/// An undefined variable or member that a Jinja template printed. It prints as nothing.
struct PrintedUndefined {
  std::string name;
  bool is_variable = false;
  std::string path;     ///< of the value without that member, if it is from the input: "messages[0]"
  std::string nearest;  ///< an existing variable or member with a similar name; "" for none
};

/// The result of a render. It owns its text; spans refer to the conversation for their paths.
///
/// Lifetime: only path_of_span needs the Conversation alive. Threads: plain data.
class Rendering {
 public:
  Rendering() = default;
  /// A moved-from rendering is empty, and can be filled again.
  Rendering(Rendering&& other) noexcept { swap(other); }
  Rendering& operator=(Rendering&& other) noexcept {
    Rendering taken(std::move(other));
    taken.swap(*this);
    return *this;
  }
  ~Rendering() = default;
  void swap(Rendering& other) noexcept;

  std::string_view text() const& { return {text_.get(), size_}; }
  std::string_view text() const&& = delete;
  std::span<const Span> spans() const& { return {spans_.get(), span_count_}; }
  std::span<const Span> spans() const&& = delete;
  /// Spans of {% generation %} blocks, in the order in which the blocks end, as in transformers.
  const std::vector<TextRange>& generation() const& { return generation_; }
  const std::vector<TextRange>& generation() const&& = delete;
  /// The text that an assistant wrote or should learn to write: the spans of the generation tags, or, for templates
  /// without tags, ranges derived from the origins of the bytes (without the turn's header, with the end-of-turn
  /// token). Sorted.
  const std::vector<TextRange>& assistant() const& { return assistant_; }
  const std::vector<TextRange>& assistant() const&& = delete;
  /// Where the assistant's ranges are asked for: each of its messages of which the prompt has words and no range has
  /// any, "messages[3]: what the assistant said is in no mask, …". LossFinder makes losses of them.
  const std::vector<std::string>& notes() const& { return notes_; }
  const std::vector<std::string>& notes() const&& = delete;
  /// The undefined variables and members that the template printed, each once, in order of first use.
  const std::vector<PrintedUndefined>& undefined() const& { return undefined_; }
  const std::vector<PrintedUndefined>& undefined() const&& = delete;

 private:
  template <typename Class>
  friend struct Inside;  // for parlance's own modules
  friend Location place_of_span(const Rendering& rendering, const Span& span);
  std::unique_ptr<char[]> text_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::unique_ptr<Span[]> spans_;
  std::size_t span_count_ = 0;
  std::size_t span_capacity_ = 0;
  std::vector<TextRange> generation_;
  std::vector<TextRange> assistant_;
  std::vector<std::string> notes_;
  std::vector<PrintedUndefined> undefined_;
  std::shared_ptr<const SourceText> source_;  ///< the template's text, for place_of_span
};

/// Line, column and excerpt in the template for a literal span; an empty Location for others.
Location place_of_span(const Rendering& rendering, const Span& span);
/// "messages[3].content" for a span that came from the input; "" for others.
std::string path_of_span(const Conversation& conversation, const Span& span);

}  // namespace parlance
