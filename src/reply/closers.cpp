// Begin reading at closers_once_more.
#include "reply/closers.h"

#include <string>

#include "base/ascii.h"

namespace parlance::reply {
namespace {

/// Whether a text is markup wherever it stands, as a tag is and a fence is not.
bool is_tag(std::string_view text) {
  const std::size_t open = text.find('<');
  const bool tag = open != text.npos && text.find('>', open) != text.npos;
  const bool word = text.size() > 2 && text.front() == '[' && text.back() == ']';
  return tag || word;
}

}  // namespace

std::size_t begin_of_last_tag(std::string_view text) {
  const std::size_t at = text.rfind('<');
  if (at == text.npos || at == 0) return 0;
  const std::size_t before = text.find_last_not_of(" \t\r\n", at - 1);
  return before != text.npos && text[before] == '>' ? at : 0;
}

std::vector<std::string_view> closers_once_more(const ReplyMarker& closer) {
  std::vector<std::string_view> all;
  for (const std::string& whole : closer.texts) {
    const std::string_view text = ascii::trimmed(whole);
    if (!is_tag(text)) continue;
    all.push_back(text);
    const std::size_t last = text.front() == '`' ? text.find('<') : begin_of_last_tag(text);
    if (last != 0) all.push_back(text.substr(last));
  }
  return all;
}

}  // namespace parlance::reply
