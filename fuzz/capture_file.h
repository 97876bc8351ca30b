// A capture as fuzz targets read it: a file in memory, whose lines count as written by the gateway.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "serve/capture/reader.h"

namespace parlance::fuzz {

/// A file in memory, by its path.
class File {
 public:
  explicit File(std::string_view content) : descriptor_(::memfd_create("capture", 0)) {
    if (descriptor_ < 0) std::abort();
    if (::write(descriptor_, content.data(), content.size()) != static_cast<ssize_t>(content.size())) std::abort();
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

inline std::string sealed_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    out += line.ends_with('}') ? serve::sealed(std::string(line)) : std::string(line);
    if (end == text.npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

inline void must_say(const Error& error) {
  if (error.display().empty()) std::abort();
}

}  // namespace parlance::fuzz
