// What a file is after all that is not what its name says, for the hint of an error: compressed, in another encoding,
// not downloaded.
#pragma once
#include <string_view>

namespace parlance {

/// "" where nothing is recognised.
inline std::string_view hint_for_bytes(std::string_view bytes) {
  constexpr std::string_view kGzip = "\x1F\x8B", kZstd = "\x28\xB5\x2F\xFD", kMark = "\xEF\xBB\xBF";
  constexpr std::string_view kLittle = "\xFF\xFE", kBig = "\xFE\xFF";
  if (bytes.starts_with(kGzip))
    return "this is compressed by gzip: a request's file is unpacked if its name ends in .gz; others need gzip -dc";
  if (bytes.starts_with(kZstd))
    return "this is compressed by zstd: a request's file is unpacked if its name ends in .zst; others need zstd -dc";
  if (bytes.starts_with(kMark)) return "it begins with a byte order mark (EF BB BF): save it as UTF-8 without one";
  if (bytes.starts_with("version https://git-lfs"))
    return "it is a Git LFS pointer: the file itself was not downloaded";
  if (bytes.starts_with("<!DOCTYPE") || bytes.starts_with("<html")) return "it is a web page";
  if (bytes.starts_with(kLittle) || bytes.starts_with(kBig)) return "this is UTF-16: save it as UTF-8";
  return {};
}

}  // namespace parlance
