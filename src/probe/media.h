// Which parts that are no text a template shows, and under which name of their type.
//
// Clients say image_url where most templates know image. Dropping such a part silently would change what the user asks,
// so a template that shows it under no name must be known as well: the request is refused then.
#pragma once
#include "probe/message_forms.h"

namespace parlance::probe {

/// The bit of a type of part; 0 for one that no experiment knows.
Needs media_of_type(std::string_view type);

/// Appends to `can.media` what is found for the roles and types that `needs` has.
void find_media(Prober& prober, TemplateCapabilities& can, Needs needs);

}  // namespace parlance::probe
