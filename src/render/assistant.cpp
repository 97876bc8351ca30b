// The assistant's ranges: from tags where there are some.
#include "render/assistant.h"

#include <algorithm>

namespace parlance {

void fill_assistant(const Template&, const Conversation&, const RenderOptions&, Rendering& into) {
  into.assistant_ = into.generation_;
  std::sort(into.assistant_.begin(), into.assistant_.end(),
            [](const TextRange& a, const TextRange& b) { return a.begin < b.begin; });
}

}  // namespace parlance
