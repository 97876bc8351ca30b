// The fields of a Rendering, for what fills it.
#pragma once
#include "base/inside.h"
#include "parlance/render.h"

namespace parlance {

/// References to all of a Rendering's fields.
struct RenderingFields {
  std::unique_ptr<char[]>& text;
  std::size_t& size;
  std::size_t& capacity;
  std::unique_ptr<Span[]>& spans;
  std::size_t& span_count;
  std::size_t& span_capacity;
  std::vector<TextRange>& generation;
  std::vector<TextRange>& assistant;
  std::vector<std::string>& notes;
  std::vector<PrintedUndefined>& undefined;
  std::shared_ptr<const SourceText>& source;
};

template <>
struct Inside<Rendering> {
  static RenderingFields of(Rendering& r) {
    return {r.text_,       r.size_,      r.capacity_, r.spans_,     r.span_count_, r.span_capacity_,
            r.generation_, r.assistant_, r.notes_,    r.undefined_, r.source_};
  }
};
inline RenderingFields fields_of(Rendering& rendering) { return Inside<Rendering>::of(rendering); }

}  // namespace parlance
