// Provenance: from the address of a byte of the prompt to the place it came from.
//
// Every piece of the output points at bytes in the template's source, in the conversation's memory, or in text
// that the render (or the compiler) derived and logged. Start at Provenance::append_spans.
#pragma once
#include <string_view>

#include "base/arena.h"
#include "conversation/conversation.h"
#include "json/text_target.h"
#include "parlance/render.h"
#include "render/literal_spans.h"
#include "render/rendering.h"
#include "value/object.h"

namespace parlance {

/// What a template's own bytes are known by.
struct TemplateBytes {
  std::string_view text;         ///< the source
  const Arena& arena;            ///< what the compiler derived from it
  const LiteralSpans& literals;  ///< of its constants; may be empty
};

/// Fills the spans of one rendering, from the first byte of the prompt to the last. The arena is the render's, its log
/// sorted whenever it is asked. Past the memory limit the failure is recorded, and what is appended from there on means
/// nothing.
class Provenance final : public SpanMaker {
 public:
  Provenance(const TemplateBytes& of_template, const ConversationState& conversation, Runtime& rt, Rendering& into)
      : template_(of_template),
        conversation_(conversation),
        storage_(inside_of(conversation.document)),
        rt_(rt),
        arena_(rt.arena),
        special_tokens_(conversation),
        into_(into) {
    storage_.list_messages(messages_);
    next_ = fields_of(into).spans.get();
    end_ = next_ + fields_of(into).span_capacity;
  }

  char* copy_all(std::span<const Piece> pieces, const char* text, char* at) override;
  /// Appends the spans of one piece of output that starts at byte `at` of the prompt.
  void append_spans(const Piece& piece, std::uint32_t at);
  /// Makes what was appended the rendering's.
  void finish() { fields_of(into_).span_count = count(); }

 private:
  std::size_t count() const { return static_cast<std::size_t>(next_ - fields_of(into_).spans.get()); }
  Span* add() {
    if (next_ == end_) grow();
    return next_++;
  }
  Span* add_empty() {
    Span* const span = add();
    *span = {};
    return span;
  }
  void grow();
  void append_from_afar(const char* base, const char* begin, const char* end, TextSource source) override;
  bool find_message(const char* data);
  void append_input(const Piece& piece, std::uint32_t at, std::int32_t message);
  void append_derived(const Piece& piece, std::uint32_t at, bool own);
  struct Rest;
  void append_near(std::span<const Arena::Derived> log, Rest& rest);
  std::size_t first_record(std::span<const Arena::Derived> log, const char* address, std::size_t guess) const;
  void describe(TextSource source, std::string_view bytes, Span& span);
  void describe_byte(const char* address, Span& span);
  void describe_number(std::uint32_t id, Span& span);
  void describe_literal(const char* address, Span& span) const;
  bool in_input(const char* address, std::int32_t& message) {
    auto key = reinterpret_cast<std::uintptr_t>(address);
    if (!near_.hold(key) && !storage_.neighbours(messages_, address, near_))
      return find_place(conversation_, address, message);
    message = near_.message;
    return true;
  }
  bool in_input(std::uint32_t origin, std::int32_t& message) {
    if (!near_id_.hold(origin) && !storage_.neighbours(messages_, origin, near_id_)) {
      return find_place(conversation_, origin, message);
    }
    message = near_id_.message;
    return true;
  }
  bool in_template(const char* address) const {
    return static_cast<std::size_t>(address - template_.text.data()) < template_.text.size();
  }

  TemplateBytes template_;
  const ConversationState& conversation_;
  const DocumentStorage& storage_;
  DocumentStorage::MessageList messages_;
  Runtime& rt_;
  const Arena& arena_;
  SpecialTokenTexts special_tokens_;
  Rendering& into_;
  std::size_t record_ = 0;          // in the log of derived text: where the last piece ended
  const char* last_end_ = nullptr;  // where in memory the last span's bytes ended, if it was input
};

/// Do these bytes hold something shaped like a control token: <|…|> or <｜…｜>?
bool looks_like_control(std::string_view bytes);

}  // namespace parlance
