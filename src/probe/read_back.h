// Reading a turn back, and saying what is other than it was given. Begin reading at ReadBack.
//
// A difference has two causes, which must not be confused. If the prompt does not hold what was given (the template
// dropped or changed it), the template lost it: a note. If the prompt holds it and the reader does not find it, the
// format is wrong.
#pragma once
#include <string>
#include <vector>

#include "parlance/reply.h"
#include "probe/turn.h"

namespace parlance::probe {

/// Reads turns that a template wrote with a format of replies.
class ReadBack {
 public:
  /// `format` is copied; where the template writes a special token that nobody told, a turn ends too.
  ReadBack(const TurnFacts& turn, const ReplyFormat& format);
  /// The same for replies to a prompt that ends with `prompt`. With a format that is refused, all is text.
  ReadBack(const ReplyFormat& format, std::string prompt);

  /// The events of a turn, fed in pieces of `sizes` bytes, over and over; all at once without sizes.
  std::vector<std::string> events(std::string_view body, const std::vector<std::size_t>& sizes,
                                  std::string* sources = nullptr) const;
  /// `end`: where what ends the reply begins, if something does; what stands behind it is another turn's.
  ReplyMessage message(std::string_view body, std::size_t* end = nullptr) const;

  /// What the message that `body` was made of has lost in it, and what is read back otherwise, as sentences.
  struct Difference {
    std::vector<std::string> wrong;
    std::vector<std::string> lost;
    bool answer_in_reasoning = false;  ///< where the template puts it; one of `lost`
  };
  Difference compare(const Scene& scene, std::string_view body, bool ids_shown) const;

 private:
  ReplyParser start_;  ///< where each reply begins; a copy reads one
};

/// JSON with sorted keys, so that equal values are equal texts; "" of what is no JSON.
std::string canonical_json(std::string_view json);

}  // namespace parlance::probe
