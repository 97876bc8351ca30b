// What closes a call, once more behind it.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "parlance/reply_format.h"

namespace parlance::reply {

/// Where the last of several tags begins, 0 where there is but one.
std::size_t begin_of_last_tag(std::string_view text);

/// The texts that a reader takes for a marker's, where that closes calls and they are closed already: the whole and its
/// last tag alone, of markers that are markup wherever they stand, as a tag is and a fence is not. They live as long as
/// the marker.
std::vector<std::string_view> closers_once_more(const ReplyMarker& closer);

}  // namespace parlance::reply
