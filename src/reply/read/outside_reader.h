// OutsideReader: what stands outside of calls: content, reasoning, headers of turns, and the markers between them.
//
//     outside_reader.cpp   text up to markers, and what each means; white space before one
//     outside_header.cpp   headers of turns, and the calls that a header begins
//
// Begin reading at OutsideReader::read.
#pragma once
#include <string>
#include <string_view>

#include "reply/read/call_reader.h"
#include "reply/read/reading.h"
#include "reply/read/text_reading.h"

namespace parlance::reply {

/// The header of a turn that is held.
struct Header {
  std::uint8_t turn = 0;
  std::uint16_t from = 0;  ///< in what is held: behind the turn's marker
  std::uint16_t to = 0;
  std::uint16_t closed = 0;  ///< how much of what ends the header was read; then where what is held ended
};

/// Refers to a Reading and to the header in it; has no state of its own.
class OutsideReader {
 public:
  OutsideReader(Reading& in, Header& header) : in_(in), header_(header) {}

  /// Reads from `p` on and returns where it stopped: it has moved on, or the place is another one.
  const char* read(const char* p, const char* end);
  /// A marker that ends a call or what remained of it.
  void meet(const Mark& mark, std::string source);
  /// The reply ends here. False when nothing is held.
  bool finish(bool is_ended);
  void say_end(std::string_view source, std::string_view role = {});

 private:
  const MarkerTrie& markers() const;
  const char* read_text(const char* p, const char* end);
  void meet_closing(const Mark& mark, std::string_view source);
  void meet_stray(const Mark& mark, std::string_view source);
  void meet_surplus(const Mark& mark, std::string_view source);
  void meet_turn(const Mark& mark, std::string source);
  void meet_end(const Mark& mark, std::string_view source);
  bool joins_calls(char c) const;
  void end_gap(GapEnd gap);
  void meet_after_gap(const GapEnd& gap);
  bool finish_gap();
  bool is_cut_opener() const;
  void put_cut_opener();

  std::string_view dummy_prefix() const;
  std::string header_text() const;
  bool take_header_byte(char c);
  const char* read_header(const char* p, const char* end);
  void say_turn(std::string_view source, std::string_view header);
  void end_header();
  void refuse_header();
  const char* read_opening(const char* p, const char* end);
  void refuse_opening();
  bool finish_header();

  Reading& in_;
  Header& header_;
};

}  // namespace parlance::reply
