// Images, sounds and films of a request: what the prompt has in their place, told by leaving them out one after the
// other.
//
// A placeholder such as <|image_pad|> is the text of the template, so origins cannot tell which image it stands for, or
// whether a user typed it. What the prompt lacks when the image is missing is certain.
#pragma once
#include <vector>

#include "losses/experiment.h"

namespace parlance {

/// Says of each part whether the prompt, `rendering`, changes with it, and where. The first `most` are tried one by
/// one, with one to four renders each.
void find_placeholders(const Experiment& experiment, const std::vector<MediaPart>& media, std::size_t most,
                       const Rendering& rendering, std::vector<Loss>& losses, std::vector<Placeholder>& placeholders);

}  // namespace parlance
