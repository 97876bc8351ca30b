// How a template wants messages handed over: shapes of content, roles and their order, ids, names of reasoning.
//
// What adapt() goes by. Begin reading at find_shapes.
#pragma once
#include "probe/scene.h"

namespace parlance::probe {

/// Finds it by rendering with the convention of `prober`, which shows all that can be shown; `derived` has the
/// capabilities found so far.
void find_shapes(Prober& prober, DerivedFormat& derived);

/// Does the text of a user's message show? One small render.
bool shows_text(const Template& chat_template, const DeriveOptions& options);

}  // namespace parlance::probe
