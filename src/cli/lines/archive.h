// Compressed bytes, .gz and .zst, packed and unpacked piece by piece, so that no more than a piece of either side is in
// memory.
//
// Begin reading at make_filter.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "parlance/result.h"

namespace parlance::cli {

enum class Packing { none, gzip, zstd };
/// What the ending of a file's name says: .gz, .zst.
Packing packing_of(std::string_view path);
/// What the bytes say that a file begins with.
Packing packing_of_bytes(std::string_view begin);

/// Takes a piece; false where nobody wants more.
using Pour = std::function<bool(std::string_view)>;

/// One way through: packed bytes in and bytes out, or the other way round.
class Filter {
 public:
  virtual ~Filter() = default;
  /// Fails with file, and the number of the byte: data that is damaged, or asks for more memory than an archive may
  /// (128 MiB).
  virtual Result<void> feed(std::string_view bytes, const Pour& pour) = 0;
  /// There is no more. Fails with file where packed data ends in the middle.
  virtual Result<void> finish(const Pour& pour) = 0;
};

enum class Direction { pack, unpack };
/// `name` is for errors. Fails with file where this program has no library for it.
Result<std::unique_ptr<Filter>> make_filter(Packing packing, Direction direction, std::string name);

}  // namespace parlance::cli
