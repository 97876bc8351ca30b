// What each effort of reasoning sets, by the variables that switch it.
//
// APIs have one scale from none to max; templates have switches and levels of their own, which rarely fit it. For each
// step of the scale the nearest setting is chosen here, once, so that a request need not know the template.
#pragma once
#include "probe/switches.h"

namespace parlance::probe {

/// For each effort in the words of chat requests, what to set; empty where no variable changes the prompt.
std::vector<EffortSetting> efforts_of(const std::vector<ThinkingSwitch>& switches, Syntax syntax);

}  // namespace parlance::probe
