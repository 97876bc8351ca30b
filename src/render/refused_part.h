// A template that fails because of one part of a message's content, mostly one of a type that it does not know.
#pragma once
#include "parlance/template.h"

namespace parlance {

/// `error`, which rendering the conversation gave, with the place of the part that it came of and a hint; as it is
/// where the request fails without its parts too, or the error names a place already. Found by rendering without parts,
/// so only where there are such that are no plain text.
Error with_refused_part(const Template& chat_template, const Conversation& conversation, const RenderOptions& options,
                        const Error& error);

}  // namespace parlance
