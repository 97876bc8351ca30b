// Provenance: from the address of a byte of the prompt to the place it came from.
//
// Every piece of the output points at bytes in the template's source, in the conversation's memory, or in text
// that the render (or the compiler) derived and logged. Start at Provenance::append_spans.
#pragma once
#include "conversation/conversation.h"
#include "jinja/program.h"
#include "parlance/render.h"
#include "value/object.h"

namespace parlance {

class Provenance {
 public:
  Provenance(const jinja::Program& program, const Conversation::State& conversation, Arena& arena)
      : program_(program),
        conversation_(conversation),
        storage_(conversation.document.storage()),
        arena_(arena),
        template_text_(program.source.text()) {}

  /// Appends the spans of one piece of output that starts at byte `at` of the prompt.
  void append_spans(const Piece& piece, std::uint64_t at, std::vector<Span>& spans);
 private:
  // Spans are filled where they stand in the vector: copying one that was just put together field by field costs more
  // than finding out what to put there.
  static Span& add(std::vector<Span>& spans, std::uint64_t begin, std::uint64_t size) {
    Span& span = spans.emplace_back();
    span.begin = static_cast<std::uint32_t>(begin);
    span.end = static_cast<std::uint32_t>(begin + size);
    return span;
  }
  void append_derived(const Piece& piece, std::uint64_t at, std::vector<Span>& spans);
  void fill_from_source(TextSource source, Span& span);
  void fill_from_address(const char* address, Span& span, int hops);
  void fill_input(const char* address, Span& span);
  void fill_literal(const char* address, Span& span) const;
  bool in_input(const char* address, std::int32_t& message) {
    auto key = reinterpret_cast<std::uintptr_t>(address);
    if (!near_.hold(key) && !storage_.neighbours(address, near_)) return find_place(conversation_, address, message);
    message = near_.message;
    return true;
  }
  bool in_input(std::uint32_t origin, std::int32_t& message) {
    if (!near_id_.hold(origin) && !storage_.neighbours(origin, near_id_)) {
      return find_place(conversation_, origin, message);
    }
    message = near_id_.message;
    return true;
  }
  bool in_template(const char* address) const {
    return static_cast<std::size_t>(address - template_text_.data()) < template_text_.size();
  }

  const jinja::Program& program_;
  const Conversation::State& conversation_;
  const Document::Storage& storage_;
  Arena& arena_;
  std::string_view template_text_;
  // The stretches of input looked at last: neighbours in the prompt are mostly neighbours in the input.
  Document::Storage::Neighbours near_;
  Document::Storage::Neighbours near_id_;
  std::size_t record_ = 0;          // in the log of derived text: where the last piece ended
  const char* last_end_ = nullptr;  // where in memory the last span's bytes ended
};

/// Do these bytes hold something shaped like a control token: <|…|> or <｜…｜>?
bool looks_like_control(std::string_view bytes);

}  // namespace parlance
