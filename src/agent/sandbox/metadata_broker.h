// Changes the mode, owner or times of files for commands under Landlock, which knows no such right: the filter of
// system calls holds each such call until we have answered it. We look at the file ourselves, and change it ourselves:
// what the command does meanwhile to names in memory or in folders changes nothing.
#pragma once
#include <string>
#include <vector>

namespace parlance::agent {

/// Answers one call that waits at the filter's descriptor. `writable` are the folders in which it may change files.
void answer_metadata_call(int filter, const std::vector<std::string>& writable);

}  // namespace parlance::agent
