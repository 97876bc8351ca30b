// The releases of transformers: the table of transformers.def.
#include "parlance/transformers.h"

#include <iterator>
#include <string>

namespace parlance {
namespace {

constexpr TransformersRelease kReleases[] = {
#define PARLANCE_TRANSFORMERS(enumerator, release, limits_globals, drops_null_members, takes_objects, masks_overlaps) \
  {TransformersVersion::enumerator, release, limits_globals, drops_null_members, takes_objects, masks_overlaps},
#include "parlance/transformers.def"
#undef PARLANCE_TRANSFORMERS
};
static_assert(std::rbegin(kReleases)->version == kNewestTransformers);

constexpr TransformersVersion newest_plain() {
  TransformersVersion found = kReleases[0].version;
  for (const TransformersRelease& row : kReleases) {
    if (!row.limits_globals) found = row.version;
  }
  return found;
}
static_assert(newest_plain() == kPlainTransformers);

}  // namespace

std::span<const TransformersRelease> transformers_releases() { return kReleases; }

const TransformersRelease& transformers_release(TransformersVersion version) {
  return kReleases[static_cast<std::size_t>(version)];
}

const TransformersRelease* find_transformers(std::string_view name) {
  for (const TransformersRelease& row : kReleases) {
    if (row.name == name || row.name == std::string(name) + ".0") return &row;
  }
  return nullptr;
}

}  // namespace parlance
