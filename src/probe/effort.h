// Which variables ask a template for more reasoning, for less, or for none.
#pragma once
#include "probe/scene.h"

namespace parlance::probe {

/// For each effort in the words of chat requests, what to set; empty where no variable changes the prompt.
std::vector<EffortSetting> find_efforts(Prober& prober);

}  // namespace parlance::probe
