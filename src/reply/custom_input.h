// The text of a custom tool's call. The model writes a function with one string: {"input": TEXT}. Begin reading at
// CustomInput::take.
#pragma once
#include <string>
#include <string_view>

namespace parlance::reply {

/// Takes the arguments of such a call while they arrive, and gives the text in them.
///
/// Arguments that do not begin with {"input": and a text are themselves the text, from their first byte on. Of what
/// stands behind a text, nothing is said.
class CustomInput {
 public:
  /// What `json`, the next piece of the arguments, adds to the text. Half an escape, and half of a surrogate pair, wait
  /// for the rest.
  std::string take(std::string_view json);
  /// Whether the arguments were {"input": TEXT}, and that is all they were.
  bool exact() const { return place_ == Place::end; }

 private:
  enum class Place : unsigned char { open, key, colon, value, text, close, end, raw, other };
  void take_head(char c, std::string& out);
  void take_text(char c, std::string& out);
  void take_escape(std::string& out);
  void settle_high(std::string& out);

  Place place_ = Place::open;
  std::string held_;   ///< the head, while it may be one; an escape that is not whole
  char32_t high_ = 0;  ///< the first half of a surrogate pair
};

/// The text of whole arguments, or of what there is of them.
struct CustomText {
  std::string input;
  bool exact = false;
};
CustomText custom_text(std::string_view arguments);

}  // namespace parlance::reply
