// TextRun: where its text begins and ends.
#include "json/text_run.h"

#include <algorithm>

namespace parlance {
namespace {
constexpr std::size_t kFirstRun = 256;
constexpr std::size_t kLargestRun = std::size_t{64} << 10;
}  // namespace

TextRun::TextRun(Runtime& rt, TextTarget* target) : rt_(rt), next_size_(kFirstRun), pieces_(rt) { open(target); }

/// Goes on in the target if it takes text now.
void TextRun::open(TextTarget* target) {
  target_ = target != nullptr && target->open(rt_) ? target : nullptr;
  spans_ = target_ != nullptr ? target_->spans() : nullptr;
  logging_ = target_ != nullptr ? spans_ != nullptr : rt_.arena.logging();
  if (target_ == nullptr) return;
  begin_ = target_->begin();
  at_ = logged_ = target_->at();
  end_ = target_->end();
  offset_ = static_cast<std::size_t>(at_ - begin_);
}

// Apart from their callers, so that what calls them with nothing to log stays small.

void TextRun::log() {
  const bool by_id = spans_ != nullptr && source_data_ == nullptr;  // of a number, or of what is around items
  if (!by_id || !spans_->append_near(begin_, logged_, at_, source_id_)) return log_slowly();
  logged_ = at_;
}

void TextRun::log_slowly() {
  if (spans_ != nullptr) {
    spans_->append_derived(begin_, logged_, at_, {source_data_, source_id_});
  } else if (source_data_ != nullptr || source_id_ != 0) {
    rt_.arena.log_in_run(logged_, static_cast<std::size_t>(at_ - logged_), {source_data_, source_id_});
  }
  logged_ = at_;
}

void TextRun::log_two(const char* begin, const char* data) {
  if (spans_ != nullptr) {
    if (begin != logged_) spans_->append_derived(begin_, logged_, begin, {source_data_, source_id_});
    spans_->append_derived(begin_, begin, at_, {data, 0});
  } else if (begin != logged_ && (source_data_ != nullptr || source_id_ != 0)) {
    rt_.arena.log_two_in_run(logged_, {source_data_, source_id_}, begin, at_, {data, 0});
  } else {
    rt_.arena.log_in_run(begin, static_cast<std::size_t>(at_ - begin), {data, 0});
  }
}

/// A new run in the arena mostly continues the last one in memory; then the builder makes them one piece.
bool TextRun::extend(std::size_t bytes) {
  if (target_ != nullptr && begin_ == nullptr) {  // after a pause
    open(target_);
    if (target_ != nullptr && static_cast<std::size_t>(end_ - at_) >= bytes) return true;
  }
  if (target_ != nullptr) {
    const std::ptrdiff_t open = at_ - logged_;
    if (!target_->extend(rt_, at_, bytes)) return false;
    begin_ = target_->begin();
    at_ = target_->at();
    end_ = target_->end();
    logged_ = at_ - open;
    return true;
  }
  close();
  const std::size_t size = std::max(bytes, next_size_);
  next_size_ = std::min(next_size_ * 2, kLargestRun);
  if (rt_.failed() || !rt_.reserve(pieces_.size() + size)) return false;
  begin_ = at_ = logged_ = rt_.arena.allocate_text(size);
  offset_ = 0;
  if (logging_) rt_.arena.begin_run(begin_);
  end_ = begin_ + size;
  return true;
}

void TextRun::close() {
  if (begin_ == nullptr) return;
  if (logging_ && at_ != logged_) log();
  rt_.charge_bytes(static_cast<std::size_t>(at_ - begin_) - offset_);
  if (target_ != nullptr) {
    target_->close(rt_, at_);
  } else {
    if (logging_) rt_.arena.end_run();
    rt_.arena.shrink_text(static_cast<std::size_t>(end_ - at_));
    pieces_.append(Value::view({begin_, static_cast<std::size_t>(at_ - begin_)}));
  }
  begin_ = at_ = end_ = logged_ = nullptr;
}

Value TextRun::finish() {
  close();
  return pieces_.finish();
}

}  // namespace parlance
