// The calls of the system that change a file's mode, owner or times, which Landlock does not cover: the filter asks the
// supervisor about each of them (seccomp_filter.cpp), and the supervisor reads its arguments (metadata_broker.cpp).
#pragma once
#include <fcntl.h>
#include <sys/syscall.h>

#include <cstdint>

namespace parlance::agent {

enum class MetadataChange : std::uint8_t { mode, owner, times };

/// In what a call gives the times.
enum class TimeForm : std::uint8_t { nanoseconds, microseconds, seconds };

/// Where a call has what: the positions of its arguments; -1: it has none.
struct MetadataCall {
  int number;
  MetadataChange change;
  int folder;  ///< the descriptor of a folder, or of the file where there is no path
  int path;
  int first;  ///< the mode, the user, or the times
  int flags;
  int fixed_flags = 0;
  TimeForm times = TimeForm::nanoseconds;
};

/// fchmodat2(), whose number is the same on every processor, and which older headers lack.
constexpr int kFchmodat2 = 452;

constexpr MetadataCall kMetadataCalls[] = {
    {SYS_fchmod, MetadataChange::mode, 0, -1, 1, -1},
    {SYS_fchmodat, MetadataChange::mode, 0, 1, 2, -1},
    {kFchmodat2, MetadataChange::mode, 0, 1, 2, 3},
    {SYS_fchown, MetadataChange::owner, 0, -1, 1, -1},
    {SYS_fchownat, MetadataChange::owner, 0, 1, 2, 4},
    {SYS_utimensat, MetadataChange::times, 0, 1, 2, 3},
#if defined(__x86_64__)
    {SYS_chmod, MetadataChange::mode, -1, 0, 1, -1},
    {SYS_chown, MetadataChange::owner, -1, 0, 1, -1},
    {SYS_lchown, MetadataChange::owner, -1, 0, 1, -1, AT_SYMLINK_NOFOLLOW},
    {SYS_utime, MetadataChange::times, -1, 0, 1, -1, 0, TimeForm::seconds},
    {SYS_utimes, MetadataChange::times, -1, 0, 1, -1, 0, TimeForm::microseconds},
    {SYS_futimesat, MetadataChange::times, 0, 1, 2, -1, 0, TimeForm::microseconds},
#endif
};

}  // namespace parlance::agent
