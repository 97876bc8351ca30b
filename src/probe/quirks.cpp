// Choosing quirks and adding what they say. Begin reading at add_quirks.
#include "probe/quirks.h"

#include <algorithm>

#include "embedded_quirks.h"
#include "parlance/json.h"
#include "value/dict.h"
#include "value/json.h"
#include "value/runtime.h"

namespace parlance::probe {
namespace {

struct Quirk {
  std::string reason;
  std::vector<std::string> shows;
  bool unless_calls = false;
  ReplyFormat add;
};

Error malformed(std::string_view path, std::string message) {
  Error::Parts parts;
  parts.code = ErrorCode::value;
  parts.input_path = std::string(path);
  parts.message = std::move(message);
  return Error(std::move(parts));
}

std::string json_of(Value value) {
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  std::string out;
  append_json(rt, out, value);
  return out;
}

Result<Quirk> read_quirk(const EmbeddedFile& file) {
  Document document;
  if (Result<void> parsed = document.parse(file.text, file.path); !parsed) return parsed.error();
  if (document.root().kind != Kind::dict) return malformed(file.path, "a quirk is an object");
  const DictObject& members = *document.root().dict;
  Quirk quirk;
  const DictEntry* reason = find_key(members, "reason");
  const DictEntry* shows = find_key(members, "shows");
  const DictEntry* unless = find_key(members, "unless_calls");
  const DictEntry* add = find_key(members, "add");
  if (reason == nullptr || shows == nullptr || add == nullptr || shows->value.kind != Kind::list) {
    return malformed(file.path, "a quirk has a reason, what it shows, and what it adds");
  }
  quirk.reason = std::string(leaf_text(reason->value));
  for (const Value& text : items(shows->value)) quirk.shows.emplace_back(leaf_text(text));
  quirk.unless_calls = unless != nullptr && unless->value.kind == Kind::boolean && unless->value.integer != 0;
  Result<ReplyFormat> format = ReplyFormat::from_json(json_of(add->value), file.path);
  if (!format) return format.error();
  quirk.add = std::move(*format);
  return quirk;
}

bool fits(const Quirk& quirk, const DerivedFormat& derived, std::string_view prompt, std::string_view markers) {
  if (quirk.unless_calls && derived.capabilities.calls) return false;
  return std::all_of(quirk.shows.begin(), quirk.shows.end(), [&](const std::string& text) {
    std::string quoted;
    append_json_string(quoted, text);
    return prompt.find(text) != std::string_view::npos || markers.find(quoted.substr(1, quoted.size() - 2)) != std::string_view::npos ||
           markers.find(text) != std::string_view::npos;
  });
}

void add_texts(ReplyMarker& marker, const ReplyMarker& more) {
  for (const std::string& text : more.texts) {
    if (std::find(marker.texts.begin(), marker.texts.end(), text) == marker.texts.end()) marker.texts.push_back(text);
  }
}

/// The text that a form begins with, for a form that begins alike.
std::string opening_of(const CallForm& form) {
  const ReplyMarker& marker = form.open.exists() ? form.open : form.call.front().literal;
  return marker.exists() ? marker.texts.front() : std::string();
}

void add_format(ReplyFormat& format, const ReplyFormat& add) {
  if (!format.reasoning_close.exists()) {
    format.reasoning_open = add.reasoning_open;
    format.reasoning_close = add.reasoning_close;
  }
  add_texts(format.content_open, add.content_open);
  for (const CallForm& form : add.calls) {  // one that begins alike reads more than what was derived
    const auto same = std::find_if(format.calls.begin(), format.calls.end(), [&](const CallForm& known) { return opening_of(known) == opening_of(form); });
    if (same == format.calls.end()) {
      format.calls.push_back(form);
    } else {
      const CallForm taught = *same;
      *same = form;
      same->separator = taught.separator;
    }
  }
  for (const ReplyMarker& end : add.end) {
    if (std::find(format.end.begin(), format.end.end(), end) == format.end.end()) format.end.push_back(end);
  }
}

}  // namespace

Result<void> add_quirks(DerivedFormat& derived, std::string_view prompt) {
  const std::string markers = derived.format.to_json();
  for (const EmbeddedFile& file : kEmbeddedFiles) {
    const Result<Quirk> quirk = read_quirk(file);
    if (!quirk) return quirk.error();
    if (!fits(*quirk, derived, prompt, markers)) continue;
    add_format(derived.format, quirk->add);
    derived.evidence.push_back({"quirk", std::string(file.path), quirk->reason});
    if (quirk->unless_calls) derived.missing.push_back("calls are a guess: " + quirk->reason);
  }
  return {};
}

}  // namespace parlance::probe
