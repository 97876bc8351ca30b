// Begin reading at clean_text: control sequences first, then lines, then bytes that are no text.
#include "agent/shell/clean_text.h"

#include <algorithm>

#include "base/utf8.h"

namespace parlance::agent {

namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kUnknown = "\xef\xbf\xbd";  // U+FFFD

bool between(char byte, unsigned char low, unsigned char high) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= low && value <= high;
}

/// The end of the sequence that begins at `at` with ESC, by ECMA-48.
std::size_t end_of_sequence(std::string_view text, std::size_t at) {
  std::size_t next = at + 1;
  if (next >= text.size()) return next;
  const char kind = text[next++];
  if (kind == '[') {  // CSI: parameters, intermediates, a final byte
    while (next < text.size() && between(text[next], 0x20, 0x3f)) ++next;
    return next < text.size() && between(text[next], 0x40, 0x7e) ? next + 1 : next;
  }
  if (kind == ']' || kind == 'P' || kind == '_' || kind == '^' ||
      kind == 'X') {  // a string, up to BEL or ESC backslash
    constexpr std::size_t kMost = 4096;
    for (std::size_t end = next; end < text.size() && end < next + kMost; ++end) {
      if (text[end] == '\a') return end + 1;
      if (text[end] == kEscape && end + 1 < text.size() && text[end + 1] == '\\') return end + 2;
    }
    return next;
  }
  if (between(kind, 0x20, 0x2f)) {  // intermediates and a final byte, such as ESC ( B
    while (next < text.size() && between(text[next], 0x20, 0x2f)) ++next;
    return next < text.size() ? next + 1 : next;
  }
  return next;
}

std::string without_sequences(std::string_view output) {
  std::string text;
  text.reserve(output.size());
  for (std::size_t at = 0; at < output.size();) {
    if (output[at] == kEscape) {
      at = end_of_sequence(output, at);
    } else {
      text += output[at++];
    }
  }
  return text;
}

/// What stays of a line: what was written last where the cursor went back to its begin, and no erased characters.
void add_line(std::string_view line, std::string& text) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (const std::size_t back = line.rfind('\r'); back != std::string_view::npos) line.remove_prefix(back + 1);
  const std::size_t begin = text.size();
  for (const char byte : line) {
    if (byte == '\b') {
      // A character of several bytes goes whole.
      while (text.size() > begin && between(text.back(), 0x80, 0xbf)) text.pop_back();
      if (text.size() > begin) text.pop_back();
    } else if (byte != '\a') {
      text += byte;
    }
  }
}

std::string folded(std::string_view output) {
  std::string text;
  text.reserve(output.size());
  for (std::size_t from = 0; from <= output.size();) {
    const std::size_t to = output.find('\n', from);
    add_line(output.substr(from, to == std::string_view::npos ? to : to - from), text);
    if (to == std::string_view::npos) break;
    text += '\n';
    from = to + 1;
  }
  return text;
}

/// The bytes of the character at the begin; 0: it is none, or a control character.
std::size_t character_size(std::string_view text) {
  const utf8::Decoded found = utf8::decode(text.data(), text.data() + text.size());
  const char32_t character = found.code_point;
  const bool malformed = found.size == 1 && character == utf8::kReplacement;
  const bool control = (character < 0x20 && character != '\n' && character != '\t') || between(text[0], 0x7f, 0x7f) ||
                       (character > 0x7f && character < 0xa0);
  return malformed || control || utf8::is_surrogate(character) ? 0 : found.size;
}

/// Is this the begin of a character whose other bytes were cut off?
bool is_half(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
  return text.size() < size && std::all_of(text.begin() + 1, text.end(), utf8::is_continuation);
}

}  // namespace

CleanText clean_text(std::string_view output, bool begins, bool ends) {
  if (!begins) {
    for (int half = 0; half < 3 && !output.empty() && between(output[0], 0x80, 0xbf); ++half) output.remove_prefix(1);
  }
  const std::string text = folded(without_sequences(output));
  CleanText clean;
  bool in_run = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t size = character_size(rest);
    if (size == 0 && !ends && is_half(rest)) break;
    if (size > 0) {
      clean.text.append(rest.substr(0, size));
    } else {
      ++clean.replaced;
      if (!in_run) clean.text += kUnknown;
    }
    in_run = size == 0;
    rest.remove_prefix(size > 0 ? size : 1);
  }
  return clean;
}

}  // namespace parlance::agent
