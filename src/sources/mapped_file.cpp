// Mapping files by POSIX's mmap.
#include "sources/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sources/files.h"

namespace parlance {

Result<MappedFile> MappedFile::open(const std::string& path, std::size_t limit) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return file_error(path, errno);
  struct stat facts = {};
  const bool known = ::fstat(descriptor, &facts) == 0;
  int problem = !known ? errno : S_ISDIR(facts.st_mode) ? EISDIR : !S_ISREG(facts.st_mode) ? EINVAL : 0;
  MappedFile file;
  if (problem == 0 && facts.st_size > 0) {
    file.file_size_ = static_cast<std::uint64_t>(facts.st_size);
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(file.file_size_, limit));
    void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (at == MAP_FAILED) {
      problem = errno;
    } else {
      file.data_ = static_cast<const char*>(at);
      file.size_ = size;
    }
  }
  ::close(descriptor);
  if (problem != 0) return file_error(path, problem);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(file_size_, other.file_size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

void MappedFile::release(std::size_t begin, std::size_t end) const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = std::min(end, size_) / page * page;
  if (begin < end) ::madvise(const_cast<char*>(data_ + begin), end - begin, MADV_DONTNEED);
}

}  // namespace parlance
