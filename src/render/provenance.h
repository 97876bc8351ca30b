// Provenance: from the address of a byte of the prompt to the place it came from.
//
// Every piece of the output points at bytes in the template's source, in the conversation's memory, or in text
// that the render (or the compiler) derived and logged. Start at Provenance::append_spans.
#pragma once
#include <array>

#include "conversation/conversation.h"
#include "jinja/program.h"
#include "parlance/render.h"
#include "value/object.h"

namespace parlance {

class Provenance {
 public:
  Provenance(const jinja::Program& program, const Conversation::State& conversation, Arena& arena)
      : program_(program), conversation_(conversation), arena_(arena) {}

  /// Appends the spans of one piece of output that starts at byte `at` of the prompt.
  void append_spans(const Piece& piece, std::uint64_t at, std::vector<Span>& spans);
  /// The place of one address; begin and end are not filled in.
  Span place_of(const char* address);

 private:
  void append(Span span, std::uint64_t begin, std::uint64_t size, const char* address, std::vector<Span>& spans);
  void append_derived(const Piece& piece, std::uint64_t at, std::vector<Span>& spans);
  Span place_of_source(TextSource source);
  Span literal(const char* address, std::size_t size);
  bool in_template(const char* address) const {
    std::string_view text = program_.source.text();
    return address >= text.data() && address < text.data() + text.size();
  }

  struct Known {
    const char* address = nullptr;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
  };
  const jinja::Program& program_;
  const Conversation::State& conversation_;
  Arena& arena_;
  std::array<Known, 64> known_{};       // lines of literals seen lately
  const char* last_end_ = nullptr;      // where in memory the last span's bytes ended
};

/// Do these bytes hold something shaped like a control token: <|…|> or <｜…｜>?
bool looks_like_control(std::string_view bytes);

}  // namespace parlance
