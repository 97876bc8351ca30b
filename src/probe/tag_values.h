// How values stand in tags: a type beside them, escapes, literals of Python, tags inside tags. Begin reading at
// refine_tags.
#pragma once
#include "probe/turn.h"

namespace parlance::probe {

/// Looks at values of each type in the tags of `form`, and completes ArgumentTags.
void refine_tags(Prober& prober, const TurnFacts& turn, CallForm& form, Next next);

}  // namespace parlance::probe
