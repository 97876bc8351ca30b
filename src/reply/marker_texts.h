// Which texts, such as control tokens, stand in the markers of a reply format.
#pragma once
#include <string>
#include <string_view>

#include "json/writer.h"
#include "parlance/reply_format.h"

namespace parlance::reply {

/// A format may come from a model's repository, so what it makes the reader build is bounded.
inline constexpr std::size_t kLongestMarker = 128;

/// Whether a tag is written as control tokens are, so that hardly any text has it inside: it begins with `<|`, or with
/// `<` and a sign that is not of ASCII.
inline bool is_control_tag(std::string_view text) {
  return text.size() > 1 && text[0] == '<' && (text[1] == '|' || static_cast<unsigned char>(text[1]) >= 0x80);
}

/// What opens a call of the form, or the calls.
inline const ReplyMarker& opener_of(const CallForm& form) {
  return form.open.exists() ? form.open : form.call.front().literal;
}

/// The control token that calls of the form begin with, where more than that opens them: alone it is a call that did
/// not come. "" where there is none.
inline std::string_view token_of_opener(const CallForm& form) {
  const ReplyMarker& opener = opener_of(form);
  if (!opener.exists() || form.headed) return {};
  const std::string_view text = opener.texts.front();
  const std::size_t size = text.find('>') + 1;
  return is_control_tag(text) && size < text.size() ? text.substr(0, size) : std::string_view();
}

/// The texts of a format. One is made for many look-ups: a tokenizer may have thousands of control tokens.
class MarkerTexts {
 public:
  explicit MarkerTexts(const ReplyFormat& format) : json_(format.to_json()) {}
  /// Whether the text is, or is a part of, one of them.
  bool have(std::string_view text) const {
    return !text.empty() && text.size() <= kLongestMarker && json_.find(json_inside(text)) != json_.npos;
  }

 private:
  std::string json_;
};

}  // namespace parlance::reply
