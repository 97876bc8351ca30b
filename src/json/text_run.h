// TextRun: text that a writer makes bit by bit, each bit with what it was made from.
//
// It goes into the prompt at once where there is a TextTarget that takes it, and into the arena otherwise.
#pragma once
#include <cstring>
#include <string_view>

#include "json/text_target.h"
#include "value/runtime.h"
#include "value/string.h"

namespace parlance {

/// Whatever is put comes from the latest from(). Nobody else may make text in the arena but after pause().
class TextRun {
 public:
  /// `target` may be null.
  TextRun(Runtime& rt, TextTarget* target);

  void from(const char* data, std::uint32_t id = 0) {
    if (!logging_ || (data == source_data_ && id == source_id_)) return;
    if (at_ != logged_) log();
    source_data_ = data;
    source_id_ = id;
  }
  void from_id(std::uint32_t id) { from(nullptr, id); }
  void from(TextSource source) { from(source.data, source.id); }
  bool logs() const { return logging_; }
  /// Says that what was put since `begin` comes from `data`, and that what follows comes again from what came before
  /// it.
  void was_from(const char* begin, const char* data) {
    const bool is_item = spans_ != nullptr && begin != logged_ && source_data_ == nullptr;
    if (!is_item || !spans_->append_item(begin_, logged_, begin, at_, source_id_, data)) log_two(begin, data);
    logged_ = at_;
  }
  /// Room for `bytes` at at(). False (recorded) past a limit.
  bool make_room(std::size_t bytes) { return static_cast<std::size_t>(end_ - at_) >= bytes || extend(bytes); }
  char* at() const { return at_; }
  void advance_to(char* at) { at_ = at; }
  /// Only for text that make_room was asked for.
  void put(char c) { *at_++ = c; }
  void put(std::string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  /// Ends what was begun, giving unused bytes back. Needed before anybody else makes text in the arena.
  void pause() { close(); }
  /// The text, but for what went into a target, which comes before.
  Value finish();

 private:
  void open(TextTarget* target);
  bool extend(std::size_t bytes);
  void close();
  /// The latest from() holds up to here.
  void log();
  void log_slowly();
  /// The latest from() holds up to `begin`, and from there on it was `data`.
  void log_two(const char* begin, const char* data);

  Runtime& rt_;
  TextTarget* target_ = nullptr;  ///< null: the arena
  SpanMaker* spans_ = nullptr;
  bool logging_ = false;
  const char* source_data_ = nullptr;
  std::uint32_t source_id_ = 0;
  char* begin_ = nullptr;
  char* at_ = nullptr;
  char* end_ = nullptr;
  char* logged_ = nullptr;
  std::size_t offset_ = 0;  ///< of the first byte that is put, from begin_
  std::size_t next_size_;
  StringBuilder pieces_;
};

}  // namespace parlance
