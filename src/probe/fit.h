// What of a derived format does not fit into a ReplyFormat is left out, so that one fact too many does not cost the
// others: a format that no parser can be made of reads no calls at all. Begin reading at fit.
#pragma once
#include <string>
#include <vector>

#include "parlance/reply_format.h"

namespace parlance::probe {

/// Leaves out as little of `format` as makes it valid, and says what, a sentence for each. Where nothing helps, the
/// format stays as it is, and the sentence says why it contradicts itself.
std::vector<std::string> fit(ReplyFormat& format);

}  // namespace parlance::probe
