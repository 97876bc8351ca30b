// Where two prompts stop being the same.
#pragma once
#include "parlance/session.h"
#include "prompt.h"

namespace parlance::python {

/// A difference as a dict: cause, byte, token, before, after, changed_input, sentence.
nb::dict difference_to_dict(const PrefixDifference& difference);

}  // namespace parlance::python
