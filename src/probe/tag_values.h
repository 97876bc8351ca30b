// How values stand in tags: a type beside them, escapes, literals of Python, tags inside tags. Begin reading at
// refine_tags.
//
// Two plain texts show where a tag begins and ends, and no more. Whether `true` is written True, whether `<` is escaped
// and whether a list becomes tags of its own depends on the value, so a value of each kind is rendered, one by one.
#pragma once
#include "probe/turn.h"

namespace parlance::probe {

/// Looks at values of each type in the tags of `form`, and completes ArgumentTags.
void refine_tags(Prober& prober, const TurnFacts& turn, CallForm& form, Next next);

}  // namespace parlance::probe
