// The pool: the calling thread reads batches of lines, workers render them, one thread writes them
// in order.
//
// Batches live in a ring of slots; a slot is free, filled, being rendered, or done. The reader
// waits for a free slot, which bounds the memory. Threads are started as batches come, so a short
// input costs none. Begin at render_jsonl.
#include "bulk/jsonl.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "bulk/line.h"

namespace parlance {
namespace {

constexpr std::size_t kBatchBytes = 64 << 10;
constexpr std::size_t kSlotsPerThread = 4;
constexpr auto kProgressEvery = std::chrono::milliseconds(200);

/// Whole lines, and what became of them.
struct Batch {
  std::string input;
  std::uint64_t first_line = 1;
  std::string output;
  std::uint64_t lines = 0;
  std::uint64_t failed = 0;
  LossCounts lost;
};

/// Cuts a file descriptor into batches of whole lines.
class BatchReader {
 public:
  explicit BatchReader(int file) : file_(file) {}

  /// The next batch: what can be read without waiting, at least one line. False at the end or after
  /// a failure.
  bool next(Batch& batch) {
    batch.input.clear();
    batch.input.swap(rest_);
    batch.first_line = line_;
    bool whole = false;
    while (!ended_ && !(whole && (batch.input.size() >= kBatchBytes || !is_ready()))) {
      const std::size_t searched = batch.input.size();
      read_more(batch.input);
      whole = whole || batch.input.find('\n', searched) != batch.input.npos;
    }
    if (!ended_) {
      const std::size_t end = batch.input.rfind('\n') + 1;
      rest_.assign(batch.input, end);
      batch.input.resize(end);
    }
    line_ += static_cast<std::uint64_t>(std::count(batch.input.begin(), batch.input.end(), '\n'));
    return !batch.input.empty();
  }
  bool ended() const { return ended_ && rest_.empty(); }
  int failure() const { return failure_; }

 private:
  /// Would a read return at once?
  bool is_ready() const {
    pollfd asked{file_, POLLIN, 0};
    return ::poll(&asked, 1, 0) > 0;
  }
  /// One read; of a line that is too long only so much is kept that its renderer can tell.
  void read_more(std::string& text) {
    const std::size_t size = text.size();
    const std::size_t room = std::max(kBatchBytes, std::min(size, kMaxLine / 4));
    text.resize(size + room);
    ssize_t got = 0;
    do {
      got = ::read(file_, text.data() + size, room);
    } while (got < 0 && errno == EINTR);
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) failure_ = errno;
    if (got <= 0) ended_ = true;
    if (size > kMaxLine) drop_middle(text, size);
  }
  /// Of the bytes after `size` keeps what follows the first newline, so that an endless line costs
  /// no more memory.
  static void drop_middle(std::string& text, std::size_t size) {
    const std::size_t newline = text.find('\n', size);
    text.erase(size, (newline == text.npos ? text.size() : newline) - size);
  }

  int file_;
  std::string rest_;
  std::uint64_t line_ = 1;
  bool ended_ = false;
  int failure_ = 0;
};

void render_batch(LineRenderer& renderer, Batch& batch) {
  batch.output.clear();
  batch.lines = batch.failed = 0;
  batch.lost = {};
  std::string_view rest = batch.input;
  for (std::uint64_t number = batch.first_line; !rest.empty(); ++number) {
    const std::size_t newline = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(std::min(newline + 1, rest.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    ++batch.lines;
    if (!renderer.render(line, number, batch.output, batch.lost)) ++batch.failed;
  }
}

/// Writes results and counts them.
class Writer {
 public:
  Writer(int file, const BulkOptions& options) : file_(file), options_(options) {}

  void write(const Batch& batch) {
    std::string_view rest = batch.output;
    while (!rest.empty() && failure_ == 0) {
      const ssize_t done = ::write(file_, rest.data(), rest.size());
      if (done < 0 && errno != EINTR) failure_ = errno;
      if (done > 0) rest.remove_prefix(static_cast<std::size_t>(done));
    }
    progress_.lines += batch.lines;
    progress_.failed += batch.failed;
    progress_.bytes += batch.input.size();
    progress_.lost.add(batch.lost);
    report();
  }
  const BulkProgress& progress() const { return progress_; }
  int failure() const { return failure_; }

 private:
  void report() {
    const auto now = std::chrono::steady_clock::now();
    if (!options_.progress || now - reported_ < kProgressEvery) return;
    reported_ = now;
    options_.progress(progress_);
  }

  int file_;
  const BulkOptions& options_;
  BulkProgress progress_;
  int failure_ = 0;
  std::chrono::steady_clock::time_point reported_ = std::chrono::steady_clock::now();
};

class Pool {
 public:
  Pool(const BulkOptions& options, Writer& writer, unsigned threads)
      : options_(options), writer_(writer), threads_(threads), slots_(threads * kSlotsPerThread) {}
  ~Pool() { finish(); }

  /// Hands over a batch, waiting for a free slot. False when writing has failed.
  bool add(Batch& batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return filled_ - written_ < slots_.size() || stop_; });
    if (stop_) return false;
    Slot& slot = slots_[filled_ % slots_.size()];
    std::swap(slot.batch, batch);
    slot.done = false;
    ++filled_;
    if (!writing_.joinable()) writing_ = std::thread([this] { write_all(); });
    if (workers_.size() < threads_) workers_.emplace_back([this] { work(); });
    changed_.notify_all();
    return true;
  }

  /// Waits until everything is written.
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    if (writing_.joinable()) writing_.join();
  }

 private:
  struct Slot {
    Batch batch;
    bool done = false;
  };

  void work() {
    LineRenderer renderer(options_);
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return taken_ < filled_ || closed_ || stop_; });
      if (stop_ || taken_ == filled_) return;
      Slot& slot = slots_[taken_++ % slots_.size()];
      lock.unlock();
      render_batch(renderer, slot.batch);
      lock.lock();
      slot.done = true;
      changed_.notify_all();
    }
  }

  void write_all() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Slot& slot = slots_[written_ % slots_.size()];
      changed_.wait(lock, [&] {
        return (written_ < filled_ && slot.done) || (closed_ && written_ == filled_);
      });
      if (written_ == filled_) return;
      lock.unlock();
      writer_.write(slot.batch);
      lock.lock();
      ++written_;
      if (writer_.failure() != 0) stop_ = true;
      changed_.notify_all();
      if (stop_) return;
    }
  }

  const BulkOptions& options_;
  Writer& writer_;
  const unsigned threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::uint64_t filled_ = 0;   ///< batches handed over
  std::uint64_t taken_ = 0;    ///< of these, taken by a worker
  std::uint64_t written_ = 0;  ///< of these, written
  bool closed_ = false;
  bool stop_ = false;
  std::vector<std::thread> workers_;
  std::thread writing_;
};

Error io_error(std::string_view what, int number) {
  return Error(ErrorCode::file, std::string(what) + ": " + std::strerror(number));
}

/// The whole input, when it is over after one batch.
void render_alone(const BulkOptions& options, Batch& batch, Writer& writer) {
  LineRenderer renderer(options);
  render_batch(renderer, batch);
  writer.write(batch);
}

}  // namespace

void LossCounts::add(std::span<const Loss> losses) {
  bool any = false;
  for (const Loss& loss : losses) {
    if (loss.kind != LossKind::lost) continue;
    any = true;
    ++things[loss.subject];
  }
  lines += any ? 1 : 0;
}

void LossCounts::add(const LossCounts& other) {
  lines += other.lines;
  for (const auto& [subject, count] : other.things) things[subject] += count;
}

Result<BulkProgress> render_jsonl(int in, int out, const BulkOptions& options) {
  BatchReader reader(in);
  Writer writer(out, options);
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  {
    Pool pool(options, writer, options.threads != 0 ? options.threads : cores);
    Batch batch;
    bool first = true;
    while (reader.next(batch)) {
      if (first && batch.input.size() < kBatchBytes && reader.ended()) {
        render_alone(options, batch, writer);
        break;
      }
      first = false;
      if (!pool.add(batch)) break;
    }
  }
  if (reader.failure() != 0) return io_error("reading the input", reader.failure());
  if (writer.failure() != 0) return io_error("writing the results", writer.failure());
  return writer.progress();
}

}  // namespace parlance
