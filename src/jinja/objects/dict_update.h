// What dict(source) and dict.update(source) take: a mapping, or an iterable of pairs.
#pragma once
#include "value/dict.h"

namespace parlance::jinja {

/// Sets the keys of `source` in `dict`. False after a failure: `source` is not iterable (type), or an item of it is no
/// pair (type, value).
[[nodiscard]] bool update_dict(Runtime& rt, DictBuilder& dict, Value source);

}  // namespace parlance::jinja
