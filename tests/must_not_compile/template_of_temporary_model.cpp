// A model owns the templates that it chooses from.
#include "parlance/parlance.h"

std::size_t size(parlance::ModelSource model) {
#ifdef WRONG
  auto chosen = parlance::ModelSource(model).choose({}, false);
#else
  auto chosen = model.choose({}, false);
#endif
  return chosen ? (*chosen)->text.size() : 0;
}
