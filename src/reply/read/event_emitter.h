// EventEmitter: sends events to the sink, counts their bytes, and cuts text only between code points.
//
// What belongs to the prompt is counted, and left out of events. Begin reading at EventEmitter::take in
// event_emitter.cpp.
#pragma once
#include <array>

#include "parlance/reply.h"

namespace parlance::reply {

class EventEmitter {
 public:
  using Kind = ReplyEvent::Kind;
  using Fault = ReplyEvent::Fault;
  void open(const ReplySink& sink) { sink_ = &sink; }
  void close() { sink_ = nullptr; }

  /// Text that is its own source.
  void text(Kind kind, std::string_view bytes) { put(kind, false, bytes); }
  /// The same as the inside of a JSON string.
  void program(std::string_view bytes) { put(Kind::arguments, true, bytes); }
  /// Bytes that mean `meant`.
  void piece(Kind kind, std::string_view source, std::string_view meant = {});
  /// Fills in where it stands and of which call it is. By reference: a copy of an event takes longer than sending it.
  void say(ReplyEvent& event);
  /// Something else should have stood `ahead` bytes from here.
  void malformed(std::size_t ahead, std::string_view expected, Fault fault = Fault::syntax);
  void end_call(bool complete, std::string_view id);
  void flush() {
    if (carry_size_ != 0) flush_carry();
  }

  /// The reply begins `ahead` bytes from here: positions and calls count from there.
  void begin_reply(std::size_t ahead);
  /// Takes bytes of the prompt that nobody needs to see.
  void drop(std::size_t size) { place_ += size; }
  void next_call() { ++call_; }
  std::size_t held() const { return carry_size_; }
  /// All bytes taken so far, the prompt's too.
  std::uint64_t place() const { return place_ + carry_size_; }
  /// Of bytes that are held, taken from `place` on, how many belong to the reply.
  std::size_t in_reply(std::size_t size) const;
  std::uint64_t origin() const { return origin_; }

 private:
  std::uint32_t current() const { return call_ == 0 ? 0 : call_ - 1; }
  std::uint64_t position(std::uint64_t place) const { return place < origin_ ? 0 : place - origin_; }
  void put(Kind kind, bool escaped, std::string_view bytes) {
    const bool whole = carry_size_ == 0 && !bytes.empty() && static_cast<unsigned char>(bytes.back()) < 0x80;
    return whole ? give(kind, escaped, bytes) : take(kind, escaped, bytes);
  }
  void take(Kind kind, bool escaped, std::string_view bytes);
  bool complete_carry(std::string_view& bytes);
  void give(Kind kind, bool escaped, std::string_view bytes);
  void give_escaped(std::string_view bytes);
  void send(ReplyEvent& event);
  void flush_carry();

  const ReplySink* sink_ = nullptr;
  std::uint64_t place_ = 0;   ///< behind the last source
  std::uint32_t origin_ = 0;  ///< where the reply begins: a prompt's end has less than 4 GiB
  std::uint32_t call_ = 0;
  Kind carry_kind_ = Kind::content;
  bool carry_escaped_ = false;
  std::uint8_t carry_size_ = 0;
  std::array<char, 4> carry_{};
};

}  // namespace parlance::reply
