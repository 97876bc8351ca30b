// Which release of Hugging Face transformers to follow: templates do not see the same things in all of them.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace parlance {

/// A release whose `apply_chat_template` parlance can reproduce; transformers.def lists them.
enum class TransformersVersion : std::uint8_t {
#define PARLANCE_TRANSFORMERS(enumerator, release, limits_globals, drops_null_members) enumerator,
#include "parlance/transformers.def"
#undef PARLANCE_TRANSFORMERS
};

/// What a template can see of a release. Plain data; threads: any.
struct TransformersRelease {
  TransformersVersion version;
  std::string_view name;    ///< "5.22.2"
  bool limits_globals;      ///< `dict` can only be called, and namespace() refuses names that begin with `_`
  bool drops_null_members;  ///< members of messages that are null are not given to the template
};

/// All of them, oldest first.
std::span<const TransformersRelease> transformers_releases();
/// The facts of one.
const TransformersRelease& transformers_release(TransformersVersion version);
/// The release of that name, or null. As for Python's packages "5.22" is 5.22.0.
const TransformersRelease* find_transformers(std::string_view name);
/// The default wherever a version is an option.
inline constexpr TransformersVersion kNewestTransformers = TransformersVersion::v5_23_0;
/// The newest whose templates have Jinja2's own `dict` and `namespace`.
inline constexpr TransformersVersion kPlainTransformers = TransformersVersion::v5_22_1;

}  // namespace parlance
