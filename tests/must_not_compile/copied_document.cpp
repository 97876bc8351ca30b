// A Document is the only owner of its values: it moves and does not copy.
#include <utility>

#include "parlance/parlance.h"

void keep(parlance::Document& from) {
#ifdef WRONG
  parlance::Document to(from);
#else
  parlance::Document to(std::move(from));
#endif
  (void)to;
}
