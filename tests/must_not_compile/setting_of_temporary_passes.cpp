// What a pass was told goes with the passes.
#include "parlance/parlance.h"

bool asks(const parlance::Passes& passes) {
#ifdef WRONG
  const parlance::PassSetting& setting = parlance::Passes(passes).setting(parlance::Pass::content_parts);
#else
  const parlance::PassSetting& setting = passes.setting(parlance::Pass::content_parts);
#endif
  return setting.roles.empty();
}
