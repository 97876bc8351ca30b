// Templates stay with their reader.
#include "parlance/parlance.h"

bool compiles(parlance::ModelSource model) {
#ifdef WRONG
  const auto& compiled = parlance::RequestReader(model).chat_template(false);
#else
  const parlance::RequestReader reader(model);
  const auto& compiled = reader.chat_template(false);
#endif
  return compiled.has_value();
}
