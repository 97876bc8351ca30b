// The parts of one call, from its slots and the texts between them. Begin reading at make_parts.
//
// What lies between two slots is a literal of the format, unless it is the frame of a JSON object that the template
// wrote by hand ({"name": "{{ name }}", …): then the reader should expect an object, whose keys may come in any order.
#pragma once
#include <string_view>
#include <vector>

#include "probe/call_slots.h"

namespace parlance::probe {

/// What a call begins and ends with, outside of its slots.
struct CallEnds {
  std::string_view begin;
  std::string_view end;
};

/// The parts of the call with these slots in `turn`; `others` are those of a second call, from which numbers that count
/// are told (or the same). An object that the template writes by hand becomes one.
std::vector<CallPart> make_parts(std::string_view turn, const std::vector<Slot>& slots, const std::vector<Slot>& others,
                                 CallEnds ends);

}  // namespace parlance::probe
