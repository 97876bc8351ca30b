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

namespace parlance {

class SourceText;

/// Where bytes came from.
enum class Origin : std::uint8_t {
  literal,   ///< text of the template itself
  input,     ///< bytes of the input, unchanged
  derived,   ///< made from the input: JSON escapes, changed case, a number printed
  computed,  ///< made by the template from nothing but itself: loop.index, True
};
std::string_view origin_name(Origin origin);

/// Bytes [begin, end) of the prompt that came from one place. The spans of a rendering cover it without gaps, in order.
/// 32 bytes: `line` and the like are worked out when asked for (place_of_span, path_of_span).
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  Origin origin = Origin::computed;
  bool control = false;             ///< a literal shaped like a control token (<|…|>), or a special-token variable
  std::int32_t message = -1;        ///< index into messages the bytes belong to; -1 for none
  std::uint32_t template_begin = 0; ///< literal: byte offset in the template's text
  /// Derived from a number or container: its origin id. The three highest ids say that the bytes were made of more than
  /// the place named here (also of a literal's: by a filter while rendering); that a number of the template's was printed;
  /// that they are a constant of parlance.
  std::uint32_t input_id = 0;
  const char* input = nullptr;      ///< input, derived: an address that Conversation knows
};
static_assert(sizeof(Span) == 32);

/// Half-open byte range of the prompt.
struct TextRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Options of one render.
///
///     field                  default       effect
///     add_generation_prompt  by the input  adds the opening of an assistant turn; unset: what the input says, else on
///                                          unless the last message is the assistant's
///     continue_final         by the input  leaves the last (assistant) message open: cut after its last byte
///     now                    1970-01-01    what strftime_now prints
///     limits                 see Limits    bounds of this render
///     want_spans             true          fill Rendering::spans (costs a tenth to a fifth of a render)
///     want_assistant         false         fill Rendering::assistant
///     want_undefined         false         fill Rendering::undefined
///     ignore_tags            false         derive Rendering::assistant from provenance even where tags say it
///     random_seed            0             what the filter `random` draws from
struct RenderOptions {
  std::optional<bool> add_generation_prompt;
  std::optional<bool> continue_final;
  bool as_is = false;  ///< pass the conversation's variables untouched: no add_generation_prompt, nothing added
  CivilTime now;
  Limits limits;
  bool want_spans = true;
  bool want_assistant = false;
  bool want_undefined = false;
  bool ignore_tags = false;  ///< derive the assistant's ranges even where the template has generation tags
  std::uint64_t random_seed = 0;
};

/// Something undefined that a Jinja template printed, which prints as nothing: a variable, or a member of a value.
struct PrintedUndefined {
  std::string name;
  bool is_variable = false;
  std::string path;     ///< of the value that has no such member, where it is of the input: "messages[0]"
  std::string nearest;  ///< a variable or member there is that is spelt nearly so; "" for none
};

/// What a render gives. Owns its text; spans refer to the conversation for their paths.
///
/// Lifetime: path_of_span needs the Conversation alive; everything else stands alone. Threads: plain data.
class Rendering {
 public:
  Rendering() = default;
  /// What was moved from is empty, and can be filled again.
  Rendering(Rendering&& other) noexcept { swap(other); }
  Rendering& operator=(Rendering&& other) noexcept {
    Rendering(std::move(other)).swap(*this);
    return *this;
  }
  ~Rendering() = default;
  void swap(Rendering& other) noexcept;

  std::string_view text() const { return {text_.get(), size_}; }
  std::span<const Span> spans() const { return {spans_.get(), span_count_}; }
  /// Spans of {% generation %} blocks, in order of closing, as transformers counts them.
  const std::vector<TextRange>& generation() const { return generation_; }
  /// What an assistant wrote or is to learn to write: the generation tags' spans, or, for templates without the tag,
  /// derived from provenance (turn header excluded, end-of-turn token included). Sorted.
  const std::vector<TextRange>& assistant() const { return assistant_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// What the template printed and is undefined, each name once, in the order of the first time.
  const std::vector<PrintedUndefined>& undefined() const { return undefined_; }

  // Filled by render(); public so that results can be assembled and tested.
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
/// "messages[3].content" for a span with input; "" for others.
std::string path_of_span(const Conversation& conversation, const Span& span);

}  // namespace parlance
