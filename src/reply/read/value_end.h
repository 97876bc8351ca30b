// ValueEnd: whether a closing tag in a value closes it, or is text that looks like one.
//
//     <p=text>the tag </p> is text here</p><p=days>3</p>
//
// What follows decides: behind a value stands another argument, or the end of the call. Where the value's own tag is
// missing and another one ends it, more must follow, since the tag may still come. Until it is decided, all is held:
// white space up to a gap's length, a key, and the markers themselves. Begin reading at decide; match asks it.
#pragma once
#include "reply/read/reading.h"
#include "reply/read/tag_value.h"

namespace parlance::reply {

/// What decides about a tag in a value that is held: while that is on its way, a byte more changes nothing, and what is
/// held need not be looked at anew. Small, since it is part of a state that is copied.
struct Waiting {
  enum class For : std::uint8_t { nothing, blanks, text, marker, anything };
  enum class Among : std::uint8_t { behind, over, content, key };  ///< whose markers
  std::uint16_t own = 0;     ///< in the value's own markers: the place of a longer one that begins as the tag does
  std::uint16_t place = 0;   ///< for a marker: its place; for blanks or a text: how many bytes there may still be
  std::uint16_t marked = 0;  ///< the size of the first of its own markers that what is held begins with, 0 if unknown
  std::uint16_t marked_at = 0;   ///< its place
  std::uint16_t ahead_from = 0;  ///< for a marker: where in what is held it begins
  std::uint16_t ahead_to = 0;    ///< and what of it `place` has gone through; 0 where it is to be matched anew
  std::uint8_t own_blanks = 0;
  std::uint8_t blanks = 0;
  For what = For::nothing;
  Among among = Among::behind;
};

/// The value that is open.
struct OpenValue {
  const TagValue& value;
  Types::Node schema;    ///< of what it is a member of
  std::size_t depth;     ///< how many values it nests in
  std::string_view key;  ///< where its closing tag repeats it
};

/// Lives while a value's bytes are read. Refers to all that it is made of.
class ValueEnd {
 public:
  ValueEnd(const Reading& in, const OpenValue& open, Waiting& waiting)
      : in_(in), tags_(in.arguments().tags), open_(open), waiting_(waiting) {}

  /// The markers that may end the value.
  static const MarkerTrie& own(const Reading& in, const TagValue& value) {
    return value.is_raw() ? in.form().tags.cdata : in.form().tags.value;
  }
  const MarkerTrie& own() const { return own(in_, open_.value); }
  /// The longest marker that `bytes` begin with and that ends the value. `last`: the reply ends behind them.
  Found match(std::string_view bytes, std::uint64_t place, bool last) {
    waiting_ = {};
    return match_again(bytes, place, last);
  }
  /// The same for bytes that begin with those of the last match.
  Found match_again(std::string_view bytes, std::uint64_t place, bool last);
  /// Up to where what is held depends on the same as without these bytes; behind that, it is to be matched again.
  const char* wait(const char* p, const char* end);

 private:
  enum class Verdict : std::uint8_t { no, more, yes };
  struct Ahead {
    Verdict verdict = Verdict::no;
    std::size_t size = 0;  ///< up to the marker's end
    Mark mark{};
  };
  const MarkerTrie& markers(Waiting::Among among) const;
  const char* wait_ahead(const char* p, const char* end);
  void wait_for(Waiting::For what, std::size_t place = 0, Waiting::Among among = {}, std::uint8_t blanks = 0);
  Ahead look_ahead(Waiting::Among among, std::string_view rest, std::uint64_t place);
  Verdict decide(const Mark& mark, std::string_view bytes, std::size_t size, std::uint64_t place, bool last);
  Verdict decide_open(std::string_view rest, std::uint64_t place, bool declared);
  Verdict decide_close(std::string_view rest, std::uint64_t place, bool last);
  Verdict decide_end(std::string_view source, std::string_view rest, std::uint64_t place, bool last);
  bool may_be_key(std::string_view key, bool declared) const;

  const Reading& in_;
  const ArgumentTags& tags_;
  const OpenValue open_;
  Waiting& waiting_;
  Waiting before_{};         ///< match_again: what the last match waited for
  std::uint64_t start_ = 0;  ///< match_again: where what is matched begins
};

}  // namespace parlance::reply
