// Looking for an example of a call in a prompt. Begin reading at find_prose.
#include "probe/prompt_example.h"

#include <algorithm>
#include <string>

#include "probe/prompt_diff.h"

namespace parlance::probe {
namespace {

constexpr std::size_t kLongestExample = 400;

/// The key of the two that stands in `example`, with quotes of either kind.
std::string_view key_in(std::string_view example, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const std::size_t at = example.find(key);
    if (at == kNone || at == 0 || at + key.size() >= example.size()) continue;
    const char quote = example[at - 1];
    if ((quote == '"' || quote == '\'') && example[at + key.size()] == quote) return key;
  }
  return {};
}

CallForm form_of(std::string_view open, std::string_view example, std::string_view close, std::string_view name,
                 std::string_view arguments) {
  CallPart object;
  object.kind = CallPart::Kind::object;
  object.members = {{CallMember::Role::name, std::string(name)}, {CallMember::Role::arguments, std::string(arguments)}};
  CallForm form;
  form.separator = "\n";
  const std::string_view lead = example.substr(0, example.find_first_not_of(" \n\r\t"));
  if (trimmed(example).starts_with('[')) {
    form.layout = CallLayout::list;
    form.open = marker_of(std::string(open) + std::string(lead));
    form.close = marker_of(std::string(lead) + std::string(close));
    form.call = {object};
  } else {
    form.call = {literal_part(std::string(open) + std::string(lead)), object,
                 literal_part(std::string(lead) + std::string(close))};
  }
  return form;
}

}  // namespace

// An example counts only between a tag and its closing tag, not far apart, and with keys that sound like a name and its
// arguments. It is what the template tells the model, not what it writes of a call, so the format stays partial.
std::optional<CallForm> find_prose(std::string_view prompt) {
  for (const Tag& tag : tags_of(prompt)) {
    const std::string_view open = prompt.substr(tag.begin, tag.end - tag.begin);
    if (open.size() < 3 || open[1] == '/') continue;
    const std::string close = std::string(1, open[0]) + "/" + std::string(open.substr(1));
    const std::string_view behind = prompt.substr(tag.end);
    const std::size_t end = behind.find(close);
    if (end == kNone || end > kLongestExample) continue;
    const std::string_view example = behind.substr(0, end);
    const std::string_view name = key_in(example, {"name", "tool_name", "function"});
    const std::string_view arguments = key_in(example, {"arguments", "parameters", "args"});
    const std::string_view inner = trimmed(example);
    if (name.empty() || arguments.empty() || (!inner.starts_with('{') && !inner.starts_with('['))) continue;
    return form_of(open, example, close, name, arguments);
  }
  return std::nullopt;
}

namespace {

bool sounds_like(std::string_view tag, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return tag.find(word) != kNone; });
}

/// A tag that is about one of the words, and the one that closes it not far behind.
bool find_pair(std::string_view text, std::initializer_list<std::string_view> words, ReplyMarker& open,
               ReplyMarker& close) {
  for (const Tag& tag : tags_of(text)) {
    const std::string_view opening = text.substr(tag.begin, tag.end - tag.begin);
    if (opening.size() < 3 || opening[1] == '/' || !sounds_like(opening, words)) continue;
    const std::string closing = std::string(1, opening[0]) + "/" + std::string(opening.substr(1));
    const std::size_t end = text.substr(tag.end, kLongestExample).find(closing);
    if (end == kNone) continue;
    open = marker_of(opening);
    close = marker_of(closing);
    return true;
  }
  return false;
}

}  // namespace

std::optional<ToldTags> find_told_tags(std::string_view words) {
  ToldTags told;
  if (!find_pair(words, {"think", "thought", "reason"}, told.reasoning_open, told.reasoning_close)) return std::nullopt;
  find_pair(words, {"response", "answer"}, told.content_open, told.content_close);
  return told;
}

}  // namespace parlance::probe
