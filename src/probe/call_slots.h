// Slots: where name, id and arguments of one call stand in a text, and how they are written. Begin reading at
// find_slots.
//
// The notation of arguments is told from where their values stand: inside of JSON, between the quotes of a Python call,
// or each with its own tag. It is what a reader needs to know first, since it decides which scanner reads the call.
#pragma once
#include <optional>
#include <vector>

#include "probe/probe_request.h"

namespace parlance::probe {

struct Slot {
  CallPart part;
  bool bare = false;  ///< keywords whose texts stand there without quotes
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The slots of call number `index` (of the plain calls) in `body`, in order; empty if it does not show. The arguments'
/// tags are found from its two arguments.
std::vector<Slot> find_slots(Stretch body, std::size_t index);

/// Where the JSON value ends that begins at `begin`, if one does.
std::optional<std::size_t> json_end(std::string_view text, std::size_t begin);

}  // namespace parlance::probe
