// Needs: what of a request templates treat differently, and the experiments that tell how one template does.
#pragma once
#include "parlance/derive.h"
#include "probe/message_forms.h"

namespace parlance::probe {

/// What the request, read as it is, has of what templates treat differently: an effort of reasoning that it asks for,
/// calls, results, reasoning, lists as content, a message of the system or a developer behind the first, two of the
/// user in a row.
Needs needs_of(const Conversation& untouched);

/// What of a template's capabilities adapt() goes by for a request with these needs; all else is as where nothing is
/// needed. Experiments that `prober` has made already are not made again.
TemplateCapabilities find_needed(Prober& prober, Needs needs);

}  // namespace parlance::probe
