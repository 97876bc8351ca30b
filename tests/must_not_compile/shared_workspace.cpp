// A Workspace is one thread's: it cannot be copied into another's.
#include <utility>

#include "parlance/parlance.h"

void hand_over(parlance::Workspace& mine) {
#ifdef WRONG
  parlance::Workspace theirs = mine;
#else
  parlance::Workspace theirs = std::move(mine);
#endif
  (void)theirs;
}
