// Joints by the properties of the two characters at a border. Begin reading at joints().
#include "tokens/tokenizer/joints.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/utf8.h"

namespace parlance {
namespace {

/// The first and the last character of what NFKD makes of one.
struct Ends {
  explicit Ends(char32_t c) : first(static_cast<utf8proc_int32_t>(c)), last(first) {
    constexpr auto kForm = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
    utf8proc_int32_t made[32];  // the longest is of 18
    int boundary = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(first, made, std::size(made), kForm, &boundary);
    if (count < 1 || count > static_cast<utf8proc_ssize_t>(std::size(made))) return;
    first = made[0];
    last = made[count - 1];
  }
  utf8proc_int32_t first, last;
};

bool begins_with_mark(char32_t c) { return is_mark(static_cast<char32_t>(Ends(c).first)); }

bool joins(char32_t before, char32_t after) {
  if (after < 0x80) return before == '\r' && after == '\n';
  const utf8proc_int32_t first = Ends(after).first;
  return is_mark(static_cast<char32_t>(first)) ||
         !utf8proc_grapheme_break(static_cast<utf8proc_int32_t>(before), static_cast<utf8proc_int32_t>(after)) ||
         !utf8proc_grapheme_break(Ends(before).last, first);
}

/// The joint at a border, if it is one: back to what is no mark, and on to the end of the marks.
bool joint_at(std::string_view text, std::uint32_t at, Joint& joint) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  utf8::Decoded before = utf8::decode_back(begin, begin + at);
  utf8::Decoded after = utf8::decode(begin + at, end);
  if (before.size == 0 || after.size == 0 || !joins(before.code_point, after.code_point)) return false;
  joint = {at - before.size, at, at};
  while (begins_with_mark(before.code_point) && joint.begin > 0) {
    before = utf8::decode_back(begin, begin + joint.begin);
    joint.begin -= before.size;
  }
  do {
    joint.end += after.size;
    after = utf8::decode(begin + joint.end, end);
  } while (after.size != 0 && after.code_point >= 0x80 && begins_with_mark(after.code_point));
  return true;
}

}  // namespace

bool is_mark(char32_t c) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
}

std::vector<Joint> joints(std::string_view text, const std::vector<ByteSpan>& trusted) {
  std::vector<Joint> found;
  for (const ByteSpan range : trusted) {
    for (const std::uint32_t at : {range.begin, range.end}) {
      if (Joint joint; joint_at(text, at, joint)) found.push_back(joint);
    }
  }
  return found;
}

}  // namespace parlance
