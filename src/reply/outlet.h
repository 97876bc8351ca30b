// Outlet: gives events to the sink, counts their bytes, and cuts text only between code points.
#pragma once
#include <array>

#include "parlance/reply.h"

namespace parlance::reply {

class Outlet {
 public:
  using Kind = ReplyEvent::Kind;
  void open(const ReplySink& sink) { sink_ = &sink; }
  void close() { sink_ = nullptr; }

  /// Text that is its own source.
  void text(Kind kind, std::string_view bytes) { take(kind, false, bytes); }
  /// The same as the inside of a JSON string.
  void program(std::string_view bytes) { take(Kind::arguments, true, bytes); }
  /// Bytes that mean `meant`.
  void piece(Kind kind, std::string_view source, std::string_view meant = {});
  void say(ReplyEvent event);
  /// Something else should have stood `ahead` bytes from here.
  void malformed(std::size_t ahead, std::string_view expected);
  void end_call(bool complete, std::string_view id);
  void flush();

  /// The next `before` bytes of sources still belong to the prompt, and are left out; positions count from behind them.
  void begin_reply(std::size_t before);
  void next_call() { ++call_; }
  std::size_t held() const { return carry_size_; }
  std::size_t before() const { return before_; }

 private:
  std::uint32_t current() const { return call_ == 0 ? 0 : call_ - 1; }
  void take(Kind kind, bool escaped, std::string_view bytes);
  bool complete_carry(std::string_view& bytes);
  void give(Kind kind, bool escaped, std::string_view bytes);
  void give_escaped(std::string_view bytes);
  void place(ReplyEvent& event);
  std::string_view cut(std::string_view source);

  const ReplySink* sink_ = nullptr;
  std::uint64_t position_ = 0;
  std::size_t before_ = 0;
  std::uint32_t call_ = 0;
  Kind carry_kind_ = Kind::content;
  bool carry_escaped_ = false;
  std::uint8_t carry_size_ = 0;
  std::array<char, 4> carry_{};
};

}  // namespace parlance::reply
