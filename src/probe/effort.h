// What each effort of reasoning sets, by the variables that switch it.
#pragma once
#include "probe/switches.h"

namespace parlance::probe {

/// For each effort in the words of chat requests, what to set; empty where no variable changes the prompt.
std::vector<EffortSetting> efforts_of(const std::vector<ThinkingSwitch>& switches, Syntax syntax);

}  // namespace parlance::probe
