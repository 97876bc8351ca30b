// Template and Rendering, as the other parts of the extension see them.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "prompt.h"

namespace parlance::python {

/// Characters [first, second) of a prompt.
using Range = std::pair<std::size_t, std::size_t>;

/// A compiled template. Threads: any.
struct PyTemplate {
  std::shared_ptr<const Engine> engine;
  nb::dict reading{};  ///< the keyword arguments that say how requests are read, for pickles
};

/// A prompt. Its ranges count characters.
struct PyRendering {
  std::shared_ptr<Prompt> prompt;
  nb::object chat_template{};        ///< the Template, for pickles
  std::vector<std::string> notes{};  ///< of one that was pickled: what was changed before
  MadeOnce<nb::str> text{};

  Range range(std::size_t begin, std::size_t end) const {
    const Characters& characters = prompt->characters();
    return {characters.before(begin), characters.before(end)};
  }
  std::vector<Range> ranges(const std::vector<TextRange>& of) const {
    std::vector<Range> all;
    for (const TextRange& one : of) all.push_back(range(one.begin, one.end));
    return all;
  }
};

}  // namespace parlance::python
