// Members that a JSON text gives twice in one object, of which only the last counts: told from what settle_keys left.
//
// Nothing is noted of them while a text is read but that there are some. Begin reading at repeated_members.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "parlance/value.h"

namespace parlance {

struct RepeatedMember {
  std::string path;  ///< below the value that was asked about: "messages[0].content"
  std::uint32_t times;
};

/// The members below `root` whose names stood more than once in their object; of outer objects before those of inner
/// ones. Of very many the first: no more once their paths take 16 KiB, since a long name may hold many objects, and
/// each path has it. `root` must be as a reader of JSON made it, since dicts that were built have room behind their
/// entries too.
std::vector<RepeatedMember> repeated_members(Value root);
/// "given twice: the last counts".
std::string sentence_of(const RepeatedMember& member);

}  // namespace parlance
