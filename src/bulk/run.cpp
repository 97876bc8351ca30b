// The pool: the calling thread reads batches of lines, workers answer them, one thread writes the answers in order.
//
// Batches live in a ring of slots; a slot is free, filled, being answered, or done. The reader
// waits for a free slot and for room: together the batches have no more bytes than the options say,
// which bounds the memory where lines are long. Threads are started as batches come, so a short
// input costs none. Begin at answer_lines.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/ascii.h"
#include "base/thread.h"
#include "bulk/keep.h"
#include "parlance/bulk.h"

namespace parlance {
namespace {

constexpr std::size_t kBatchBytes = 64 << 10;
constexpr std::size_t kSlotsPerThread = 4;
constexpr unsigned kMostThreads = 1024;
constexpr std::size_t kMostBytes = 64 << 20, kMostBytesPerThread = 2 << 20;  ///< on their way
constexpr std::size_t kKeptBytes = 1 << 20;  ///< memory of a text that is used again; a long line's is given back
constexpr auto kProgressEvery = std::chrono::milliseconds(200);

/// Of a function that the caller has to give.
Error nothing_to_call(std::string_view what) {
  return Error(ErrorCode::usage, std::string(what) + " is an empty function")
      .hint("answer_lines() calls bulk_input(), bulk_output() or functions of yours");
}

/// Whole lines, and what became of them.
/// Batches are swapped with slots and not copied, so the memory of their strings is used again.
struct Batch {
  std::string input;
  BulkLine first{};  ///< without its text
  std::string output;
  BulkProgress done;

  std::size_t bytes() const { return input.size() + output.size(); }
};

void empty(std::string& text) {
  text.clear();
  if (text.capacity() > kKeptBytes) text.shrink_to_fit();
}

/// Cuts an input into batches of whole lines.
class BatchReader {
 public:
  BatchReader(const BulkInput& input, const BulkOptions& options) : input_(input), options_(options) {}

  /// The next batch: what the input gives at once, at least one line, unless they are skipped. False at the end or
  /// after a failure.
  bool next(Batch& batch) {
    if (!read(batch)) return false;
    batch.done = {};
    batch.done.bytes = batch.input.size();
    skip(batch);
    batch.done.behind = next_.line - 1;
    return true;
  }
  bool ended() const { return ended_ && rest_.empty(); }
  bool stopped() const { return stopped_; }
  const Result<void>& result() const { return result_; }

 private:
  bool read(Batch& batch) {
    empty(batch.input);
    batch.input.swap(rest_);
    batch.first = next_;
    for (bool whole = false; !ended_ && !whole;) {
      if (must_stop()) {
        batch.input.clear();  // the beginning of a line
        break;
      }
      const std::size_t searched = batch.input.size();
      read_more(batch.input);
      whole = batch.input.find('\n', searched) != batch.input.npos;
    }
    if (!ended_) {
      const std::size_t end = batch.input.rfind('\n') + 1;
      rest_.assign(batch.input, end);
      batch.input.resize(end);
    }
    count(batch.input);
    return !batch.input.empty();
  }
  bool must_stop() {
    stopped_ = options_.stop && options_.stop();
    ended_ = ended_ || stopped_;
    return stopped_;
  }
  /// Takes lines that are not wanted from the begin of a batch.
  void skip(Batch& batch) {
    std::string_view rest = batch.input;
    for (; batch.first.line <= options_.skip_lines && !rest.empty(); ++batch.first.line) {
      const std::size_t newline = std::min(rest.find('\n'), rest.size());
      const bool is_request = !ascii::is_blank(rest.substr(0, newline));
      batch.first.request += is_request ? 1 : 0;
      batch.done.skipped += is_request ? 1 : 0;
      rest.remove_prefix(std::min(newline + 1, rest.size()));
    }
    batch.input.erase(0, batch.input.size() - rest.size());
  }
  void count(std::string_view lines) {
    for (std::size_t newline = 0; !lines.empty(); lines.remove_prefix(std::min(newline + 1, lines.size()))) {
      newline = std::min(lines.find('\n'), lines.size());
      ++next_.line;
      if (!ascii::is_blank(lines.substr(0, newline))) ++next_.request;
    }
  }
  /// Once more from the input; of a line that is too long only so much is kept that it can be told.
  void read_more(std::string& text) {
    const std::size_t size = text.size();
    const Result<bool> more = input_(text);
    if (!more) {
      result_ = more.error();
      text.erase(text.rfind('\n') + 1);  // of an input that fails, half a line is no request
    }
    ended_ = !more || !*more;
    if (size > kMostBytesOfLine) drop_middle(text, size);
  }
  /// Of the bytes after `size` keeps what follows the first newline, so that an endless line costs
  /// no more memory.
  static void drop_middle(std::string& text, std::size_t size) {
    const std::size_t newline = text.find('\n', size);
    text.erase(size, (newline == text.npos ? text.size() : newline) - size);
  }

  const BulkInput& input_;
  const BulkOptions& options_;
  std::string rest_;
  BulkLine next_;
  bool ended_ = false;
  bool stopped_ = false;
  Result<void> result_;
};

/// What one thread needs to answer lines.
class Answerer {
 public:
  Answerer(const BulkWorker& worker, const BulkOptions& options)
      : worker_(worker), options_(options), keeper_(options) {}

  void answer(Batch& batch) {
    empty(batch.output);
    std::string_view rest = batch.input;
    for (BulkLine line = batch.first; !rest.empty(); ++line.line) {
      const std::size_t newline = std::min(rest.find('\n'), rest.size());
      line.text = rest.substr(0, newline);
      rest.remove_prefix(std::min(newline + 1, rest.size()));
      if (ascii::is_blank(line.text)) continue;
      answer(line, batch);
      ++line.request;
    }
    if (batch.input.size() > kKeptBytes) empty(answer_.members);
  }

 private:
  void answer(const BulkLine& line, Batch& batch) {
    answer_.id.clear();
    empty(answer_.members);
    answer_.lost = {};
    answer_.dropped = false;
    const bool fits = line.text.size() <= kMostBytesOfLine;
    const Result<void> done = !fits ? too_long() : worker_ ? worker_(line, answer_) : nothing_to_call("a worker");
    if (!done) fail(line, done.error(), batch.done);
    ++batch.done.lines;
    batch.done.lost.add(answer_.lost);
    if (done && answer_.dropped) {
      ++batch.done.dropped;
      return;
    }
    std::string& out = batch.output += '{';
    if (!answer_.id.empty()) out.append("\"id\": ").append(answer_.id).append(", ");
    if (fits) keeper_.append(out, line.text, !answer_.id.empty(), answer_.members, batch.done);
    out.append(answer_.members).append("}\n");
  }
  /// Makes the error the answer.
  void fail(const BulkLine& line, const Error& met, BulkProgress& done) {
    const Error error = options_.reword ? options_.reword(met) : met;
    answer_.members = "\"line\": " + std::to_string(line.line) + ", ";
    append_error(answer_.members, error, is_of_line(error) ? line.line : 1);
    ++done.failed;
    if (done.failures.size() < options_.most_failures)
      done.failures.push_back({line.line, line.request, answer_.id, error});
  }
  /// The place is in the line, which was read by the name that readers give texts without one; else in a template.
  static bool is_of_line(const Error& error) { return error.where().name == "<input>"; }
  // The rest of the line was dropped while it was read, so only its size is known.
  static Error too_long() {
    return Error(ErrorCode::conversation, "a line of more than " + std::to_string(kMostBytesOfLine >> 20) + " MiB");
  }

  const BulkWorker worker_;
  const BulkOptions& options_;
  Keeper keeper_;
  BulkAnswer answer_;
};

/// What a run is made of.
struct Run {
  const BulkInput& input;
  const BulkOutput& output;
  const std::function<BulkWorker()>& make_worker;
  const BulkOptions& options;

  Answerer answerer() const { return Answerer(make_worker(), options); }
};

/// Hands answers over and counts them.
/// Only one thread writes, so answers come in the order of their lines and `output` need not be safe for threads.
class Writer {
 public:
  explicit Writer(const Run& run) : run_(run) {}

  void write(Batch& batch) {
    if (!batch.output.empty() && result_) result_ = run_.output(batch.output);
    if (!result_) return;
    progress_.lines += batch.done.lines;
    progress_.failed += batch.done.failed;
    progress_.dropped += batch.done.dropped;
    progress_.behind = batch.done.behind;
    progress_.skipped += batch.done.skipped;
    progress_.bytes += batch.done.bytes;
    progress_.lost.add(batch.done.lost);
    add(progress_.kept, batch.done.kept);
    add(progress_.hidden, batch.done.hidden);
    for (BulkFailure& failure : batch.done.failures) {
      if (progress_.failures.size() < run_.options.most_failures) progress_.failures.push_back(std::move(failure));
    }
    report();
  }
  BulkProgress& progress() { return progress_; }
  const Result<void>& result() const { return result_; }

 private:
  static void add(std::map<std::string, std::uint64_t>& to, const std::map<std::string, std::uint64_t>& counts) {
    for (const auto& [name, count] : counts) to[name] += count;
  }
  void report() {
    const auto now = std::chrono::steady_clock::now();
    if (!run_.options.progress || now - reported_ < kProgressEvery) return;
    reported_ = now;
    run_.options.progress(progress_);
  }

  const Run& run_;
  BulkProgress progress_;
  Result<void> result_;
  std::chrono::steady_clock::time_point reported_ = std::chrono::steady_clock::now();
};

/// All counters are guarded by mutex_. A slot's batch is touched without it by exactly one thread: the worker that took
/// it (between taken_ and done), then the writer (between done and written_). written_ <= taken_ <= filled_ <= written_
/// + slots. bytes_ are those of the batches between filled_ and written_.
class Pool {
 public:
  Pool(const Run& run, Writer& writer, unsigned threads)
      : run_(run),
        writer_(writer),
        threads_(threads),
        most_bytes_(run.options.most_bytes != 0 ? run.options.most_bytes
                                                : std::max(kMostBytes, threads * kMostBytesPerThread)),
        slots_(threads * kSlotsPerThread) {}
  ~Pool() { finish(); }

  /// Hands over a batch, waiting for a free slot and for room. False when writing has failed.
  bool add(Batch& batch) {
    if (workers_.size() < threads_) start_threads();
    if (workers_.empty()) return answer_here(batch);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return has_room(batch) || stop_; });
    if (stop_) return false;
    bytes_ += batch.bytes();
    Slot& slot = slots_[filled_ % slots_.size()];
    std::swap(slot.batch, batch);
    slot.done = false;
    ++filled_;
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
    for (Thread& worker : workers_) worker.join();
    if (writing_) writing_->join();
  }

 private:
  struct Slot {
    Batch batch;
    bool done = false;
  };

  /// One more worker, and who writes. Where the user may have no more threads, these are all.
  void start_threads() {
    if (!writing_) writing_ = Thread::start([this] { write_all(); });
    const std::optional<Thread> worker = writing_ ? Thread::start([this] { work(); }) : std::nullopt;
    if (worker)
      workers_.push_back(*worker);
    else
      threads_ = workers_.size();
  }
  /// Without any worker. False when writing has failed.
  bool answer_here(Batch& batch) {
    if (!here_) here_.emplace(run_.answerer());
    here_->answer(batch);
    writer_.write(batch);
    return writer_.result().has_value();
  }
  /// What is larger than everything that may be on its way waits until nothing else is.
  bool has_room(const Batch& batch) const {
    if (filled_ == written_) return true;
    return filled_ - written_ < slots_.size() && bytes_ + batch.bytes() <= most_bytes_;
  }

  // Each worker makes its own Answerer, with memory that is kept from line to line and never shared.
  void work() {
    Answerer answerer = run_.answerer();
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return taken_ < filled_ || closed_ || stop_; });
      if (stop_ || taken_ == filled_) return;
      Slot& slot = slots_[taken_++ % slots_.size()];
      lock.unlock();
      answerer.answer(slot.batch);
      lock.lock();
      bytes_ += slot.batch.output.size();
      slot.done = true;
      changed_.notify_all();
    }
  }

  // written_ grows only after writing: until then the reader cannot fill the slot again.
  void write_all() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Slot& slot = slots_[written_ % slots_.size()];
      changed_.wait(lock, [&] { return (written_ < filled_ && slot.done) || (closed_ && written_ == filled_); });
      if (written_ == filled_) return;
      lock.unlock();
      writer_.write(slot.batch);
      const std::size_t bytes = slot.batch.bytes();
      empty(slot.batch.input);
      empty(slot.batch.output);
      lock.lock();
      bytes_ -= bytes;
      ++written_;
      if (!writer_.result()) stop_ = true;
      changed_.notify_all();
      if (stop_) return;
    }
  }

  const Run& run_;
  Writer& writer_;
  std::size_t threads_;  ///< at most so many workers
  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::uint64_t filled_ = 0;   ///< batches handed over
  std::uint64_t taken_ = 0;    ///< of these, taken by a worker
  std::uint64_t written_ = 0;  ///< of these, written
  std::size_t bytes_ = 0;
  bool closed_ = false;
  bool stop_ = false;
  std::optional<Answerer> here_;  ///< where there can be no workers
  std::vector<Thread> workers_;
  std::optional<Thread> writing_;
};

/// The whole input, when it is over after one batch.
void answer_alone(const Run& run, Batch& batch, Writer& writer) {
  run.answerer().answer(batch);
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

Result<BulkProgress> answer_lines(const BulkInput& input, const BulkOutput& output,
                                  const std::function<BulkWorker()>& make_worker, const BulkOptions& options) {
  if (!input) return nothing_to_call("input");
  if (!output) return nothing_to_call("output");
  if (!make_worker) return nothing_to_call("make_worker");
  const Run run{input, output, make_worker, options};
  BatchReader reader(input, options);
  Writer writer(run);
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  {
    Pool pool(run, writer, std::min(options.threads != 0 ? options.threads : cores, kMostThreads));
    Batch batch;
    bool first = true;
    while (reader.next(batch)) {
      if (first && batch.input.size() < kBatchBytes && reader.ended()) {
        answer_alone(run, batch, writer);
        break;
      }
      first = false;
      if (!pool.add(batch)) break;
    }
  }
  writer.progress().stopped = reader.stopped();
  if (options.ended) options.ended(writer.progress());
  if (!reader.result()) return reader.result().error();
  if (!writer.result()) return writer.result().error();
  return std::move(writer.progress());
}

}  // namespace parlance
