// What models write besides what their template renders, whatever the format. Begin reading at tolerate.
#pragma once
#include "parlance/reply_format.h"

namespace parlance::probe {

/// Reads more than was taught: the usual other key of arguments, a call whose outer tag is missing, calls without the section
/// round them. What is taught stays first, so that a grammar allows nothing else.
void tolerate(CallForm& form);

}  // namespace parlance::probe
