// Results that stand in another order than their calls, in a prompt that does not say which call each answers. A model
// reads them in the order of the calls, and takes each for another's.
#pragma once
#include <vector>

#include "losses/experiment.h"

namespace parlance {

/// Says it of the first such result of each row of results that messages from number `first` on bring out of order.
/// `most`: pairs of results that may be tried, each with two renders. Without any out of order nothing is rendered.
void find_disorder(const Experiment& experiment, std::size_t most, std::size_t first, std::vector<Loss>& losses);

}  // namespace parlance
