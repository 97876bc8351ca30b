// Capture: writes records without keeping the network waiting: by threads of its own.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "serve/capture/files.h"
#include "serve/capture/ordered_work.h"
#include "serve/http/task.h"

namespace parlance::serve {

/// A record that could not be written.
class CaptureFailure : public std::exception {
 public:
  explicit CaptureFailure(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// When the record of a turn is on the disk.
enum class CaptureSync : std::uint8_t {
  at_once,  ///< before its client is answered
  later,    ///< with the next record that has to be, or at the end
};

/// The records of a file are there in the order in which they were given. Threads: any. It has to end before the
/// context of the coroutines that wait for it.
class Capture {
 public:
  /// `optional`: a turn is answered also if its record cannot be written.
  Capture(std::unique_ptr<CaptureFiles> files, bool optional, CaptureSync turns = CaptureSync::at_once);
  /// Waits until everything is written.
  ~Capture();

  /// A turn's record is written when this returns. Returns why it is not; "": it is.
  Task<std::string> write(CaptureEntry entry);
  /// Any record of a file that this thread alone writes to, keeping the thread waiting.
  std::string write_now(const CaptureEntry& entry) { return append(entry); }
  /// Writes it without anybody waiting for the disk.
  void write_later(CaptureEntry entry);
  /// If the last write failed, tries whether the folder can be written to by now. Returns why it cannot.
  Task<std::string> check();
  /// CaptureFiles::version().
  std::uint64_t version(const std::string& file) { return files_->version(file); }
  /// Is this the version of the file that is there?
  bool has(const std::atomic<std::uint64_t>& version, const std::string& file) {
    const std::uint64_t written = version.load(std::memory_order_acquire);
    return written != 0 && written == files_->version(file);
  }
  /// Waits until no coroutine waits for the disk. Call it before their context ends.
  void wait();
  bool optional() const { return optional_; }
  /// Records that could not be written, since the start.
  std::uint64_t failures() const { return failures_; }

 private:
  std::string append(const CaptureEntry& entry);
  template <typename Work>
  Task<std::string> in_order(const std::string& file, Work& work);

  std::unique_ptr<CaptureFiles> files_;
  const bool optional_;
  const CaptureSync turns_;
  std::atomic<bool> fails_ = false;
  std::atomic<std::uint64_t> failures_ = 0;
  OrderedWork threads_;  // last: it ends before what it uses
};

}  // namespace parlance::serve
