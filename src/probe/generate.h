// Generated turns of an assistant: contents, reasoning and arguments of awkward pieces, the same for the same seed.
#pragma once
#include <cstdint>

#include "probe/scene.h"

namespace parlance::probe {

class Generator {
 public:
  Generator(std::uint64_t seed, const TemplateCapabilities& can, bool parallel) : state_(seed), can_(can), parallel_(parallel) {}
  /// A turn that the template can show, as far as its capabilities tell.
  Scene turn();
  std::size_t below(std::size_t count);

 private:
  std::string text(std::size_t most);
  std::string arguments();

  std::uint64_t state_;
  const TemplateCapabilities& can_;
  bool parallel_;
};

}  // namespace parlance::probe
