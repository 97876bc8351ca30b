// `dict` and `namespace` as transformers has them since 5.22.2 (TransformersRelease::limits_globals): what a stranger's
// template could reach Python through is not there.
#pragma once
#include <span>

#include "value/object.h"

namespace parlance::jinja {

/// The object that `dict` is: it can be called, and has `fromkeys`.
Value make_limited_dict(Runtime& rt);
/// May all of these be in a namespace? Fails with security for a name that begins with an underscore, if the template's
/// globals are limited.
bool check_namespace_names(Runtime& rt, std::span<const DictEntry> entries);
bool check_namespace_name(Runtime& rt, Value name);

/// What an attribute is that is there and that the sandbox refuses: undefined, and a SecurityError on use.
Value refused_attribute(Runtime& rt, Value object, std::string_view name);

/// dict(*args, **kwargs). In globals.cpp.
Value build_dict(Runtime& rt, const PassedArguments& in);

}  // namespace parlance::jinja
