// Members that a template knows by name, and prints nothing of: it may ask for them, which only a render without them
// tells.
#pragma once
#include <span>
#include <vector>

#include "losses/experiment.h"

namespace parlance {

/// Says of each whether the prompt, `rendering`, is the same without it; of the first `most`.
void find_doubtful(const Experiment& experiment, std::span<const Doubt> doubts, std::size_t most,
                   const Rendering& rendering, std::vector<Loss>& losses);

}  // namespace parlance
