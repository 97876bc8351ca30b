// Choosing quirks and adding what they say. Begin reading at add_quirks.
#include "probe/quirks.h"

#include <algorithm>

#include "embedded_quirks.h"
#include "json/writer.h"
#include "parlance/json.h"
#include "probe/lenient_forms.h"
#include "value/dict.h"
#include "value/runtime.h"

namespace parlance::probe {
namespace {

struct Quirk {
  std::string_view path{};
  std::string reason{};
  std::vector<std::string> shows{};
  bool unless_calls = false;
  bool unless_end = false;
  std::string add{};  ///< a format as JSON, read where the quirk fits
};

Error malformed(std::string_view path, std::string message) {
  return Error(ErrorCode::value, std::move(message)).input(std::string(path));
}

Result<Quirk> read_quirk(const EmbeddedFile& file) {
  Document document;
  if (Result<void> parsed = document.parse(file.text, file.path); !parsed) return parsed.error();
  if (document.root().kind != Kind::dict) return malformed(file.path, "a quirk is an object");
  const DictObject& members = *document.root().dict;
  Quirk quirk{.path = file.path};
  const DictEntry* reason = find_key(members, "reason");
  const DictEntry* shows = find_key(members, "shows");
  const auto flag = [&](std::string_view name) {
    const DictEntry* found = find_key(members, name);
    return found != nullptr && found->value.kind == Kind::boolean && found->value.integer != 0;
  };
  const DictEntry* add = find_key(members, "add");
  if (reason == nullptr || shows == nullptr || add == nullptr || shows->value.kind != Kind::list) {
    return malformed(file.path, "a quirk has a reason, what it shows, and what it adds");
  }
  quirk.reason = std::string(leaf_text(reason->value));
  for (const Value& text : items(shows->value)) quirk.shows.emplace_back(leaf_text(text));
  quirk.unless_calls = flag("unless_calls");
  quirk.unless_end = flag("unless_end");
  quirk.add = json_text(add->value);
  return quirk;
}

Result<std::vector<Quirk>> read_quirks() {
  std::vector<Quirk> all;
  for (const EmbeddedFile& file : kEmbeddedFiles) {
    Result<Quirk> quirk = read_quirk(file);
    if (!quirk) return quirk.error();
    all.push_back(std::move(*quirk));
  }
  return all;
}

/// By what the template shows, never by its name. All texts of a quirk must stand in the prompt or in the markers
/// found.
bool fits(const Quirk& quirk, const DerivedFormat& derived, const QuirkFacts& facts, std::string_view markers) {
  if (quirk.unless_calls && derived.capabilities.calls) return false;
  if (quirk.unless_end && !facts.end_unknown) return false;
  return std::all_of(quirk.shows.begin(), quirk.shows.end(), [&](const std::string& text) {
    return facts.prompt.find(text) != std::string_view::npos ||
           markers.find(json_inside(text)) != std::string_view::npos || markers.find(text) != std::string_view::npos;
  });
}

/// The first ones count: a marker is written in at most twelve ways (ReplyFormat::validate).
void add_texts(ReplyMarker& marker, const ReplyMarker& more) {
  constexpr std::size_t kMost = 12;
  for (const auto ways : {&ReplyMarker::texts, &ReplyMarker::loose, &ReplyMarker::faulty}) {
    std::vector<std::string>& known = marker.*ways;
    for (const std::string& text : more.*ways) {
      if (known.size() < kMost && std::find(known.begin(), known.end(), text) == known.end()) known.push_back(text);
    }
  }
}

ReplyMarker& opener_of(CallForm& form) { return form.open.exists() ? form.open : form.call.front().literal; }

/// The text that a form begins with, for a form that begins alike.
std::string opening_of(CallForm form) {
  const ReplyMarker& marker = opener_of(form);
  return marker.exists() ? marker.texts.front() : std::string();
}

/// Made of the same parts, but for a text at the end that only one of them has.
bool same_parts(const CallForm& a, const CallForm& b) {
  const std::vector<CallPart>& longer = a.call.size() < b.call.size() ? b.call : a.call;
  const std::size_t shared = std::min(a.call.size(), b.call.size());
  if (a.layout != b.layout || a.name != b.name || longer.size() > shared + 1) return false;
  if (longer.size() > shared && longer.back().kind != CallPart::Kind::literal) return false;
  return std::equal(
      a.call.begin(), a.call.begin() + static_cast<std::ptrdiff_t>(shared), b.call.begin(),
      [](const CallPart& x, const CallPart& y) { return x.kind == y.kind && x.arguments.codec == y.arguments.codec; });
}

/// What was derived stays what is written; the texts of the other form are read besides, part by part.
void join_form(CallForm& form, const CallForm& more) {
  add_texts(form.open, more.open);
  add_texts(form.close, more.close);
  for (std::size_t i = 0; i < more.call.size(); ++i) {
    if (i == form.call.size()) {
      form.call.push_back(more.call[i]);
    } else {
      add_texts(form.call[i].literal, more.call[i].literal);
    }
  }
  form.open_optional = form.open_optional || more.open_optional;
  form.close_optional = form.close_optional || more.close_optional;
  form.commas_optional = form.commas_optional || more.commas_optional;
}

/// A form that begins as one that was derived reads more of it, if it is made of the same parts; else it is read where
/// that does not fit.
void add_form(ReplyFormat& format, const CallForm& form) {
  const auto known = std::find_if(format.calls.begin(), format.calls.end(), [&](const CallForm& one) {
    return opening_of(one) == opening_of(form) && same_parts(one, form);
  });
  if (known != format.calls.end()) return join_form(*known, form);
  format.calls.push_back(form);
  for (CallForm& one : format.calls) {  // with the same framing, so that both are found at the same byte
    if (opener_of(one).exists() && opening_of(one) == opening_of(form)) {
      opener_of(format.calls.back()).before = opener_of(one).before;
      break;
    }
  }
}

void add_format(ReplyFormat& format, const ReplyFormat& add) {
  if (format.reasoning_close.exists()) {
    add_texts(format.reasoning_open, add.reasoning_open);
    add_texts(format.reasoning_close, add.reasoning_close);
  } else {
    format.reasoning_open = add.reasoning_open;
    format.reasoning_close = add.reasoning_close;
  }
  const bool reasons_so = add.reasoning_open.exists() && format.reasoning_open.exists() &&
                          format.reasoning_open.texts.front() == add.reasoning_open.texts.front();
  if (reasons_so) add_texts(format.reasoning_open, add.reasoning_open);
  add_texts(format.content_open, add.content_open);
  format.calls_end_reasoning = format.calls_end_reasoning || add.calls_end_reasoning;
  for (const CallForm& form : add.calls) add_form(format, form);
  for (const ReplyMarker& end : add.end) {
    if (std::find(format.end.begin(), format.end.end(), end) == format.end.end()) format.end.push_back(end);
  }
  for (const std::string& text : add.last) {
    const auto ends_so = [&](const ReplyMarker& end) {
      return std::find(end.texts.begin(), end.texts.end(), text) != end.texts.end();
    };
    const bool known = std::any_of(format.end.begin(), format.end.end(), ends_so) ||
                       std::find(format.last.begin(), format.last.end(), text) != format.last.end();
    if (!known) format.last.push_back(text);
  }
}

}  // namespace

// Each quirk is tried on a copy: one that contradicts what was seen is dropped with a note, and the others still count.
Result<void> add_quirks(DerivedFormat& derived, const QuirkFacts& facts) {
  static const Result<std::vector<Quirk>> kQuirks = read_quirks();
  if (!kQuirks) return kQuirks.error();
  const std::string markers = derived.format.to_json();
  for (const Quirk& quirk : *kQuirks) {
    if (!fits(quirk, derived, facts, markers)) continue;
    Result<ReplyFormat> add = ReplyFormat::from_json(quirk.add, quirk.path);
    if (!add) return add.error();
    for (CallForm& form : add->calls) tolerate_objects(form);
    ReplyFormat format = derived.format;
    add_format(format, *add);
    if (const std::string why = facts.breaks(format); !why.empty()) {
      derived.notes.push_back(std::string(quirk.path) + " is not used: " + why);
      continue;
    }
    derived.format = std::move(format);
    derived.evidence.push_back({"quirk", std::string(quirk.path), quirk.reason});
    if (quirk.unless_calls) derived.missing.push_back("calls are a guess: " + quirk.reason);
  }
  return {};
}

}  // namespace parlance::probe
