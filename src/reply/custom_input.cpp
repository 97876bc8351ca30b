// The text of a custom tool's call, piece by piece. Begin reading at CustomInput::take.
#include "reply/custom_input.h"

#include <charconv>
#include <cstdint>

#include "base/ascii.h"
#include "base/utf8.h"
#include "conversation/custom_tool.h"
#include "json/escape.h"

namespace parlance::reply {

using ascii::is_space;

/// Up to the text: a sign that does not fit makes all there was the text.
void CustomInput::take_head(char c, std::string& out) {
  held_ += c;
  // Compared byte by byte, so an escaped spelling of the key, "\u0069nput", counts as other arguments.
  const std::string key = '"' + std::string(kCustomInput) + '"';
  if (place_ == Place::key && held_.back() != '{' && held_.find('"') != held_.npos) {  // inside of the key
    const std::string_view so_far = std::string_view(held_).substr(held_.find('"'));
    if (so_far == key) return void(place_ = Place::colon);
    if (std::string_view(key).starts_with(so_far)) return;
  } else if (is_space(c)) {
    return;
  } else if (place_ == Place::open && c == '{') {
    return void(place_ = Place::key);
  } else if (place_ == Place::colon && c == ':') {
    return void(place_ = Place::value);
  } else if (place_ == Place::value && c == '"') {
    place_ = Place::text;
    return held_.clear();
  }
  place_ = Place::raw;
  out += held_;
  held_.clear();
}

void CustomInput::settle_high(std::string& out) {
  if (high_ != 0) utf8::append(out, high_);
  high_ = 0;
}

/// An escape that is whole, in held_.
void CustomInput::take_escape(std::string& out) {
  std::uint32_t unit = 0;
  const bool is_unit = held_[1] == 'u';
  if (is_unit) std::from_chars(held_.data() + 2, held_.data() + held_.size(), unit, 16);
  const char letter = held_[1];
  held_.clear();
  // Both halves of a pair are here: the text has one code point for them.
  if (is_unit && high_ != 0 && json_escape::is_low_surrogate(unit)) {
    utf8::append(out, json_escape::join_surrogates(high_, unit));
    high_ = 0;
    return;
  }
  settle_high(out);
  if (!is_unit) {
    out += json_escape::unescaped_or_same(letter);
  } else if (json_escape::is_high_surrogate(unit)) {
    high_ = unit;
  } else {
    utf8::append(out, unit);
  }
}

void CustomInput::take_text(char c, std::string& out) {
  if (!held_.empty() || c == '\\') {
    held_ += c;
    // \n has two bytes, \u0041 has six.
    if (held_.size() == (held_.size() > 1 && held_[1] == 'u' ? 6U : 2U)) take_escape(out);
    return;
  }
  settle_high(out);
  if (c == '"') {
    place_ = Place::close;
  } else {
    out += c;
  }
}

std::string CustomInput::take(std::string_view json) {
  std::string out;
  for (const char c : json) {
    switch (place_) {
      case Place::text: take_text(c, out); break;
      case Place::raw: out += c; break;
      case Place::close:
      case Place::end:
        if (!is_space(c)) place_ = c == '}' && place_ == Place::close ? Place::end : Place::other;
        break;
      case Place::other: break;
      default: take_head(c, out); break;
    }
  }
  return out;
}

CustomText custom_text(std::string_view arguments) {
  CustomInput input;
  std::string text = input.take(arguments);
  return {std::move(text), input.exact()};
}

}  // namespace parlance::reply
