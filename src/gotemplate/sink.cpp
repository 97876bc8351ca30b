// Runs of text in the arena. Begin reading at Sink::extend.
#include "gotemplate/sink.h"

#include <algorithm>

namespace parlance::gotemplate {

/// Notes the origin of the bytes written since the last change of source. Neighbours of one source are one entry, so a
/// string that is escaped byte by byte costs one.
void Sink::log() {
  if (at_ == logged_) return;
  if (source_ != nullptr || id_ != 0) {
    rt_.arena.log_derived(logged_, static_cast<std::size_t>(at_ - logged_), {source_, id_});
  }
  logged_ = at_;
}

/// The run's unused end goes back to the arena, which is possible only while the run is the last thing allocated there.
/// That is why whoever else makes text must pause() first.
void Sink::close() {
  if (begin_ == nullptr) return;
  log();
  rt_.arena.shrink_text(static_cast<std::size_t>(end_ - at_));
  const std::string_view run(begin_, static_cast<std::size_t>(at_ - begin_));
  rt_.charge_bytes(run.size());
  pieces_.append_static(run);
  begin_ = at_ = end_ = logged_ = nullptr;
}

/// A new run. It mostly continues the last one in memory; then the builder makes them one piece.
bool Sink::extend(std::uint64_t bytes) {
  close();
  const std::uint64_t size = std::max<std::uint64_t>(bytes, next_size_);
  next_size_ = std::min(next_size_ * 2, kLargestRun);
  if (rt_.failed() || !rt_.reserve(pieces_.size() + size)) return false;
  begin_ = at_ = logged_ = rt_.arena.allocate_text(size);
  end_ = begin_ + size;
  return true;
}

}  // namespace parlance::gotemplate
