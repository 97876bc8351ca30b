// Values view their Document.
#include "parlance/parlance.h"

parlance::Document read();

bool is_list() {
#ifdef WRONG
  const parlance::Value root = read().root();
  return root.is_sequence();
#else
  const parlance::Document document = read();
  return document.root().is_sequence();
#endif
}
