// What models write besides what their template renders, whatever the format. Begin reading at tolerate.
//
// These are facts about models in general and not about one: letters that look alike in rare markers, an outer tag that
// is forgotten, another usual key for the arguments. They are read and never written: a grammar allows only what was
// found.
#pragma once
#include <string_view>

#include "parlance/reply_format.h"

namespace parlance::probe {

/// A tag, or the beginning of one.
bool is_distinctive(std::string_view opener);
/// Models write common letters for the rare ones in their markers: a fullwidth bar, a lower block for a blank.
void add_look_alikes(ReplyMarker& marker);
/// Reads an object that names its arguments by the usual other key, or that stands in another one as clients write it.
void tolerate_objects(CallForm& form);
/// Reads more than was taught: the usual other key of arguments, a call whose outer tag is missing, calls without the
/// section round them. What is taught stays first, so that a grammar allows nothing else.
void tolerate(CallForm& form);

}  // namespace parlance::probe
