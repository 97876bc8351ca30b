// The releases of Hugging Face transformers that parlance can follow: they do not give templates the same things.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace parlance {

/// A release whose `apply_chat_template` parlance can reproduce; transformers.def lists them.
enum class TransformersVersion : std::uint8_t {
#define PARLANCE_TRANSFORMERS(enumerator, release, limits_globals, drops_null_members, takes_objects, masks_overlaps) \
  enumerator,
#include "parlance/transformers.def"
#undef PARLANCE_TRANSFORMERS
};

/// The differences between releases that a template or a caller of the method can see. Plain data; threads: any.
struct TransformersRelease {
  TransformersVersion version;
  std::string_view name;    ///< "5.22.2"
  bool limits_globals;      ///< `dict` can only be called, and namespace() refuses names that begin with `_`
  bool drops_null_members;  ///< the template does not get members of messages that are null
  bool takes_objects;       ///< from Python: messages may be dataclasses and models of pydantic
  bool masks_overlaps;      ///< from Python: a mask has each token of which a part was generated
};

/// All releases, oldest first.
std::span<const TransformersRelease> transformers_releases();
/// The facts of one release.
const TransformersRelease& transformers_release(TransformersVersion version);
/// The release with this version number, or null. As for Python packages, "5.22" means 5.22.0.
const TransformersRelease* find_transformers(std::string_view name);
/// The default of every option for a release.
inline constexpr TransformersVersion kNewestTransformers = TransformersVersion::v5_24_0;
/// The newest release whose templates have Jinja2's own `dict` and `namespace`.
inline constexpr TransformersVersion kPlainTransformers = TransformersVersion::v5_22_1;

}  // namespace parlance
