// Reading more than was taught. Begin reading at tolerate.
#include "probe/lenient_forms.h"

#include <algorithm>

#include "probe/prompt_diff.h"
#include "reply/codec.h"

namespace parlance::probe {
namespace {

constexpr std::size_t kMostMarkerTexts = 12;  // of a marker (ReplyFormat::validate)
constexpr std::string_view kArgumentKeys[] = {"arguments", "parameters"};

/// Models take one of the two keys of arguments for the other.
void other_keys(std::vector<CallMember>& members) {
  const auto has = [&](std::string_view key) {
    return std::any_of(members.begin(), members.end(), [&](const CallMember& member) { return member.key == key; });
  };
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].role == CallMember::Role::inner) other_keys(members[i].members);
    if (members[i].role != CallMember::Role::arguments) continue;
    if (std::find(std::begin(kArgumentKeys), std::end(kArgumentKeys), members[i].key) == std::end(kArgumentKeys))
      continue;
    for (const std::string_view key : kArgumentKeys) {
      if (!has(key)) members.push_back({CallMember::Role::arguments, std::string(key)});
    }
  }
}

/// Models write a call as clients do, in an object of its own beside its type.
void wrapped_too(std::vector<CallMember>& members) {
  constexpr std::string_view kWrapper = "function";
  CallMember wrapper{CallMember::Role::inner, std::string(kWrapper)};
  for (const CallMember& member : members) {
    const bool said = member.role == CallMember::Role::name || member.role == CallMember::Role::arguments;
    if (said) wrapper.members.push_back(member);
    if (member.role == CallMember::Role::inner || member.key == kWrapper) return;
  }
  if (wrapper.members.size() > 1) members.push_back(std::move(wrapper));
}

/// `<a>\n<b=` is also read as `<b=`, and `</b>\n</a>` as `</b>`: the outer tag is what models forget.
void without_outer_tag(CallForm& form) {
  CallPart& first = form.call.front();
  CallPart& last = form.call.back();
  if (form.layout != CallLayout::single || first.kind != CallPart::Kind::literal ||
      last.kind != CallPart::Kind::literal)
    return;
  const std::string open = first.literal.texts.front();
  const std::string close = last.literal.texts.front();
  const std::vector<Tag> opened = tags_of(open);
  const std::vector<Tag> closed = tags_of(close);
  if (opened.size() != 1 || opened[0].begin != 0 || closed.size() != 2 || closed[0].begin != 0) return;
  const std::string_view inner = trimmed(std::string_view(open).substr(opened[0].end));
  if (inner.size() < 3 || inner.front() != '<') return;
  first.literal.texts.emplace_back(inner);
  last.literal.texts.emplace_back(close.substr(0, closed[0].end));
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

/// Whether the arguments tell where they end, so that nothing needs to close the call.
bool ends_by_itself(const CallForm& form) {
  return std::none_of(form.call.begin(), form.call.end(), [](const CallPart& part) {
    return part.kind == CallPart::Kind::arguments &&
           reply::facts_of(part.arguments.codec).end != reply::ArgumentsEnd::bracket;
  });
}

}  // namespace

/// Whether no ordinary text holds it: only then may a call begin without the marker of its section.
bool is_distinctive(std::string_view opener) {
  constexpr std::size_t kShortest = 5;
  return !tags_of(opener).empty() || (opener.starts_with('<') && opener.size() >= kShortest);
}

/// Some tokens have a fullwidth bar and a block for a blank, and models that were not given the token itself spell them
/// with ASCII. The taught spelling stays first, which is the one that is written.
void add_look_alikes(ReplyMarker& marker) {
  constexpr std::string_view kBar = "\xEF\xBD\x9C", kBlank = "\xE2\x96\x81";  // U+FF5C, U+2581
  constexpr std::string_view kWays[][2] = {{"|", kBlank}, {kBar, "_"}, {"|", "_"}};
  if (!marker.exists()) return;
  const std::string taught = marker.texts.front();
  for (const auto& [bar, blank] : kWays) {
    std::string text = taught;
    replace_all(text, kBar, bar);
    replace_all(text, kBlank, blank);
    if (marker.texts.size() < kMostMarkerTexts &&
        std::find(marker.texts.begin(), marker.texts.end(), text) == marker.texts.end())
      marker.texts.push_back(text);
  }
}

void tolerate_objects(CallForm& form) {
  for (CallPart& part : form.call) {
    if (part.kind != CallPart::Kind::object) continue;
    other_keys(part.members);
    wrapped_too(part.members);
  }
}

void tolerate(CallForm& form) {
  add_look_alikes(form.open);
  add_look_alikes(form.close);
  for (CallPart& part : form.call) {
    add_look_alikes(part.literal);
    for (ReplyMarker* tag : {&part.arguments.tags.open, &part.arguments.tags.close}) add_look_alikes(*tag);
  }
  tolerate_objects(form);
  without_outer_tag(form);
  const bool distinctive =
      form.call.front().kind == CallPart::Kind::literal && is_distinctive(form.call.front().literal.texts.front());
  if (form.layout == CallLayout::list) form.open_optional = form.open.exists();
  if (form.layout == CallLayout::section) {
    form.open_optional = distinctive;
    form.close_optional = form.close.exists() && ends_by_itself(form);
  }
}

}  // namespace parlance::probe
