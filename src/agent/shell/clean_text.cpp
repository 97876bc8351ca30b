// Begin reading at clean_text: control sequences first, then lines, then bytes that are no text.
#include "agent/shell/clean_text.h"

#include <algorithm>
#include <set>

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

/// The letters of a text: what stays the same in the states of a progress bar.
std::string letters_of(std::string_view text) {
  std::string letters;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\xe2')
      at += 2;  // of three bytes: arrows, lines, blocks
    else if (between(text[at], 'a', 'z') || between(text[at], 'A', 'Z') || between(text[at], 0x80, 0xff))
      letters += text[at];
  }
  return letters;
}

/// Are most of the texts between the carriage returns of a line other ones? Those of a progress bar are the same again
/// and again.
bool loses_text(std::string_view line) {
  std::set<std::string> kinds;
  std::size_t texts = 0;
  while (!line.empty()) {
    const std::string_view text = line.substr(0, line.find('\r'));
    line.remove_prefix(std::min(text.size() + 1, line.size()));
    if (text.find_first_not_of(" \t") == std::string_view::npos) continue;
    ++texts;
    kinds.insert(letters_of(text));
  }
  return kinds.size() > 1 && kinds.size() * 2 > texts;
}

/// What stays of a line: what was written last where the cursor went back to its begin, and no erased characters.
void add_line(std::string_view line, std::string& text, bool& overwritten) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (const std::size_t back = line.rfind('\r'); back != std::string_view::npos) {
    overwritten = overwritten || loses_text(line);
    line.remove_prefix(back + 1);
  }
  const std::size_t begin = text.size();
  for (const char byte : line) {
    if (byte == '\b') {
      // A character of several bytes goes whole.
      while (text.size() > begin && between(text.back(), 0x80, 0xbf)) text.pop_back();
      if (text.size() > begin) text.pop_back();
    } else if (byte == '\f' || byte == '\v') {
      text += '\n';
    } else if (byte != '\a') {
      text += byte;
    }
  }
}

std::string folded(std::string_view output, bool& overwritten) {
  std::string text;
  text.reserve(output.size());
  for (std::size_t from = 0; from <= output.size();) {
    const std::size_t to = output.find('\n', from);
    add_line(output.substr(from, to == std::string_view::npos ? to : to - from), text, overwritten);
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
  CleanText clean;
  const std::string text = folded(without_sequences(output), clean.overwritten);
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
