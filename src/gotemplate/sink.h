// Sink: text under construction, with its provenance: what fmt and encoding/json write into.
//
// Short texts are copied into one run, each part noting what it was made from; whole strings of the
// input can be shared instead, so that they stay input. Begin reading at Sink::from.
#pragma once
#include <cstring>
#include <string_view>

#include "value/string.h"

namespace parlance::gotemplate {

class Sink {
 public:
  explicit Sink(Runtime& rt) : rt_(rt), pieces_(rt), logging_(rt.arena.logging()) {}

  /// What the texts to come are made from: a leaf's bytes, or anything else's place in the input.
  void from(Value source) {
    if (!logging_) return;
    if (source.kind == Kind::string) {
      set_source(source.is_leaf() ? source.data : first_piece(source), 0);
    } else {
      set_source(nullptr, origin(source));
    }
  }
  void from_nothing() { set_source(nullptr, 0); }

  void put(char c) {
    if (room(1)) *at_++ = c;
  }
  void put(std::string_view text) {
    if (text.empty() || !room(text.size())) return;
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void pad(char c, std::uint64_t count) {
    if (count == 0 || !room(count)) return;
    std::memset(at_, c, count);
    at_ += count;
  }
  /// Room for `bytes` at the returned place, to be ended by advance_to(); null past a limit.
  char* reserve(std::size_t bytes) { return room(bytes) ? at_ : nullptr; }
  void advance_to(char* at) { at_ = at; }

  /// Ends the run for now. Needed before anybody else makes text in the arena: the run gives its
  /// unused bytes back.
  void pause() { close(); }
  /// The bytes of a string in one run. To be asked here rather than of text(), which may make text.
  std::string_view flat(Value s) {
    if (!s.is_leaf()) close();
    return text(rt_, s);
  }
  /// Appends a string and shares its bytes.
  void share(Value s) {
    close();
    pieces_.append(s);
  }
  /// The text; invalid (recorded) past a limit.
  Value finish() {
    close();
    return rt_.failed() ? Value::invalid() : pieces_.finish();
  }

 private:
  static constexpr std::size_t kFirstRun = 256;
  static constexpr std::size_t kLargestRun = std::size_t{64} << 10;

  static std::uint32_t origin(Value v) {
    if (v.kind == Kind::string || v.kind == Kind::undefined) return 0;
    if (v.origin != 0) return v.origin;
    if (v.kind == Kind::list) return v.list->origin;
    return v.kind == Kind::dict ? v.dict->origin : 0;
  }
  static const char* first_piece(Value rope) { return rope.rope->count == 0 ? nullptr : rope.rope->pieces[0].data; }
  void set_source(const char* data, std::uint32_t id) {
    if (!logging_ || (data == source_ && id == id_)) return;
    log();
    source_ = data;
    id_ = id;
  }
  bool room(std::uint64_t bytes) { return static_cast<std::uint64_t>(end_ - at_) >= bytes || extend(bytes); }
  // extend() is the cold path of room(); everything else writes into [at_, end_) without asking anybody.
  bool extend(std::uint64_t bytes);
  void log();
  void close();

  Runtime& rt_;
  StringBuilder pieces_;
  // What the bytes from logged_ to at_ are made from: an address of the input, or the number of a place in it; both
  // zero where they are nobody's.
  const char* source_ = nullptr;
  std::uint32_t id_ = 0;
  char* begin_ = nullptr;
  char* at_ = nullptr;
  char* end_ = nullptr;
  // begin_ <= logged_ <= at_ <= end_, or all null where no run is open.
  char* logged_ = nullptr;
  std::size_t next_size_ = kFirstRun;
  bool logging_;
};

}  // namespace parlance::gotemplate
