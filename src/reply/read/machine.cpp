// Making the tries of a Machine. Begin reading at the constructors of Machine and Form.
#include "reply/read/machine.h"

#include <algorithm>
#include <utility>

#include "reply/closers.h"
#include "reply/marker_texts.h"
#include "reply/read/marker_ways.h"

namespace parlance::reply {
namespace {

using Part = CallPart::Kind;
using Codec = CallArguments::Codec;

void add_closers(MarkerTrie& trie, const ReplyMarker& closer, std::size_t index) {
  for (const std::string_view text : closers_once_more(closer))
    trie.add({}, text, mark_of(closer, Meaning::surplus, index));
}

bool has_closing_tag(std::string_view text) {
  const std::size_t at = text.find("</");
  return at != text.npos && text.find('>', at) != text.npos;
}

/// What stands behind the first closing tag of a text that has one.
std::string_view behind_closing_tag(std::string_view text) {
  return has_closing_tag(text) ? trimmed(text.substr(text.find('>', text.find("</")) + 1)) : std::string_view();
}

}  // namespace

// ---- forms

Form::Form(const ReplyFormat& format, std::size_t index) : form(&format.calls[index]) {
  const CallForm& f = *form;
  literals.resize(f.call.size());
  fields.resize(f.call.size());
  for (std::size_t i = 0; i < f.call.size(); ++i) {
    if (f.call[i].kind != Part::literal) last_value = i;
    if (f.call[i].kind == Part::arguments) arguments_part = i;
    if (f.call[i].kind == Part::object) add_levels(f.call[i].members, 0);
  }
  add_parts(format, index);
  if (f.headed) add(open, f.call.front().literal, Meaning::part, index);
  add_call(begin, format, index);
  add_bare(next, f.close, Meaning::call_close, index);
  if (is_literal(0)) add_bare(next, f.call.front().literal, Meaning::call_item, index);
  if (f.layout == CallLayout::section) add_closers(next, f.call.back().literal, index);
  add_bare(close, f.close, Meaning::call_close, index);
  if (f.layout == CallLayout::list) add_fenced(close, f.close, Meaning::call_close, index);
  add_broken(format, index);
  if (!f.close.exists() && f.layout == CallLayout::list) last_bracket = "]";
  if (!f.close.exists() && f.layout == CallLayout::single && f.call.back().kind == Part::object) last_bracket = "}";
}

/// A tag that has the tool's name as its attribute may close itself, `"/>` for `">`: then the call has no arguments. Of
/// the literal behind those, what follows the closing tag is still due.
void Form::add_closed_tag(std::size_t index, std::size_t part) {
  const ReplyMarker& behind = form->call[part + 1].literal;
  if (part + 2 != arguments_part || !is_literal(part + 3) || part + 4 != form->call.size()) return;
  const ReplyMarker& closing = form->call[part + 3].literal;
  if (!has_closing_tag(closing.texts.front())) return;
  const bool more = !behind_closing_tag(closing.texts.front()).empty();
  Mark mark = mark_of(behind, Meaning::part, index);
  mark.skipped = more ? 1 : 2;
  bool closes = false;
  for (const std::string& text : behind.texts) {
    const std::string_view end = trimmed(text);
    if (end != "\">" && end != "'>") continue;
    fields[part].add({}, std::string(end.substr(0, 1)) + " />", mark);
    closes = true;
  }
  if (!closes || !more) return;
  for (const std::string& text : closing.texts) {
    const std::string_view due = behind_closing_tag(text);
    if (!due.empty()) literals[part + 3].add({}, due, mark_of(closing, Meaning::part, index));
  }
}

void Form::add_levels(const std::vector<CallMember>& members, std::uint8_t parent) {
  const auto level = static_cast<std::uint8_t>(levels.size());
  levels.push_back({&members, std::vector<std::uint8_t>(members.size()), parent, false});
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].role == CallMember::Role::any_name) levels[level].any_name = true;
    if (members[i].role != CallMember::Role::inner) continue;
    levels[level].inner[i] = static_cast<std::uint8_t>(levels.size());
    add_levels(members[i].members, level);
  }
}

void Form::add_parts(const ReplyFormat& format, std::size_t index) {
  for (std::size_t i = 0; i < form->call.size(); ++i) {
    const CallPart& part = form->call[i];
    if (part.kind == Part::literal) add_bare(literals[i], part.literal, Meaning::part, index);
    if (part.kind == Part::literal && i != 0 && form->call[i - 1].kind == Part::object)
      add_fenced(literals[i], part.literal, Meaning::part, index);
    if (part.kind == Part::arguments) add_arguments(format, index, i);
    if (part.kind != Part::name && part.kind != Part::id && part.kind != Part::skip) continue;
    if (is_literal(i + 1)) {
      add_bare(fields[i], form->call[i + 1].literal, Meaning::part, index);
      const bool id_follows = part.kind == Part::name && is_literal(i + 3) && form->call[i + 2].kind == Part::id;
      if (id_follows) add_bare(fields[i], form->call[i + 3].literal, Meaning::part, index, 2);
      if (part.kind == Part::name) add_closed_tag(index, i);
    } else if (form->call[i + 1].arguments.codec == Codec::tags) {
      add_bare(fields[i], form->call[i + 1].arguments.tags.open, Meaning::tag_open, index);
      add_bare(fields[i], form->call[i + 2].literal, Meaning::part, index);
    }
    add_ends(fields[i], format);
  }
}

/// What ends arguments whose end a reader does not see by itself.
void Form::add_arguments(const ReplyFormat& format, std::size_t index, std::size_t part) {
  switch (form->call[part].arguments.codec) {
    case Codec::tags: return add_tags(format, index, part);
    case Codec::code: return add_code(format, part);
    case Codec::json:
    case Codec::keywords:
    case Codec::bare: break;
  }
}

void Form::add_tags(const ReplyFormat& format, std::size_t index, std::size_t part) {
  const ArgumentTags& t = form->call[part].arguments.tags;
  const ReplyMarker& end = form->call[part + 1].literal;
  add_bare(tags.between, t.open, Meaning::tag_open, index);
  add_bare(tags.between, t.whole, Meaning::tag_whole, index);
  add_bare(tags.between, end, Meaning::part, index);
  add_bare(tags.between, t.close, Meaning::tag_close, index);
  add_ends(tags.between, format);
  add_behind(format, index, part);
  add_bare(tags.key, t.key_close, Meaning::part, index);
  add_bare(tags.key, t.type_close, Meaning::part, index, 1);  // a key without its type
  add_ends(tags.key, format);
  add_bare(tags.type, t.type_close, Meaning::part, index);
  add_ends(tags.type, format);
  add_with_returns(tags.value, t.close, Meaning::tag_close, index);
  add_with_returns(tags.value, end, Meaning::part, index);
  for (const std::string& text : end.texts) tags.value.add(t.close.before, text, mark_of(end, Meaning::part, index));
  // A tag that opens says that the end is missing: on a line of its own, where tags have one and text may hold them.
  for (const std::string& text : t.open.texts) {
    if (!t.item.empty()) continue;
    const Mark mark = mark_of(t.open, Meaning::tag_open, index);
    tags.value.add(t.open.before.empty() ? t.close.before : t.open.before, text, mark);
    if (is_control_tag(text)) tags.value.add({}, text, mark);
  }
  if (!t.item.empty()) {
    add_bare(tags.begin, t.open, Meaning::tag_open, index);
    add_bare(tags.begin, t.close, Meaning::tag_close, index);
  }
  if (t.escape == ArgumentTags::Escape::cdata) tags.begin.add({}, "<![CDATA[", {Meaning::part});
  tags.cdata.add({}, "]]>", {Meaning::part});
  tags.key_end.add({}, t.close_end, {Meaning::part});
  add_ends(tags.key_end, format);
}

/// What may follow a value, whether its own tag is there (behind) or the call's end in its place (over).
void Form::add_behind(const ReplyFormat& format, std::size_t index, std::size_t part) {
  const ReplyMarker& end = form->call[part + 1].literal;
  const bool section = form->layout == CallLayout::section;
  if (part + 2 == form->call.size()) {
    if (section) add_bare(tags.between, form->close, Meaning::call_close, index);
    for (const std::string& text : end.texts) {
      const std::size_t last = section ? 0 : begin_of_last_tag(text);
      if (last != 0)
        tags.between.add({}, std::string_view(text).substr(last), mark_of(end, Meaning::call_close, index));
    }
  }
  tags.behind = tags.between;
  add_bare(tags.over, form->close, Meaning::call_close, index);
  for (MarkerTrie* trie : {&tags.behind, &tags.over}) {
    if (section && is_literal(0)) add_bare(*trie, form->call.front().literal, Meaning::call_item, index);
    add_calls(*trie, format);
  }
  add_ends(tags.over, format);
}

void Form::add_code(const ReplyFormat& format, std::size_t part) {
  const ReplyMarker none;  // the reply's end is the program's
  const ReplyMarker& end = is_literal(part + 1) ? form->call[part + 1].literal : none;
  for (const std::string& text : end.texts) {
    for (std::size_t skipped = 0; skipped <= end.before.size(); ++skipped)
      add_ends(code, format, end.before.substr(skipped) + text);
    if (form->close_optional) code.add(end.before, text, {Meaning::part});  // no fence: it ends the program by itself
  }
  add_ends(code, format);
  // Control tokens that begin another call or an answer are none of a program.
  for (std::size_t i = 0; i < format.calls.size(); ++i) {
    const CallForm& other = format.calls[i];
    const ReplyMarker& opening = opener_of(other);
    if (opening.exists() && opening.texts.front().starts_with("<|")) add_call(code, format, i);
  }
  const bool framed = format.content_open.exists() && format.content_open.texts.front().starts_with("<|");
  if (framed) add(code, format.content_open, Meaning::content_open, 0);
}

/// What ends a program, and what begins another call: behind JSON it says that this was all.
void Form::add_proof(const ReplyFormat& format, std::size_t index) {
  if (is_literal(arguments_part + 1)) add_bare(proof, form->call[arguments_part + 1].literal, Meaning::part, index);
  for (std::size_t i = 0; i < format.turns.size(); ++i) add_bare(proof, format.turns[i].open, Meaning::turn, i);
  for (std::size_t i = 0; i < format.end.size(); ++i) add_bare(proof, format.end[i], Meaning::end, i);
  add_bare(proof, format.content_open, Meaning::content_open, 0);
  add_calls(proof, format);
}

void Form::add_broken(const ReplyFormat& format, std::size_t index) {
  add(broken, form->close, Meaning::call_close, index);
  if (is_literal(form->call.size() - 1)) {
    const bool single = form->layout == CallLayout::single;
    add(broken, form->call.back().literal, single ? Meaning::call_close : Meaning::part, index);
  }
  if (form->layout == CallLayout::section && is_literal(0))
    add(broken, form->call.front().literal, Meaning::call_item, index);
  add_calls(broken, format);
  add_ends(broken, format);
}

void Form::settle() {
  for (std::vector<MarkerTrie>* tries : {&literals, &fields}) {
    for (MarkerTrie& trie : *tries) trie.settle();
  }
  for (MarkerTrie* trie : {&begin, &open, &next, &close, &code, &proof, &broken}) trie->settle();
  for (MarkerTrie* trie : {&tags.between, &tags.key, &tags.type, &tags.value, &tags.behind, &tags.over}) trie->settle();
}

// ---- the whole

namespace {

/// What is too long for a marker is none, and of more than a format may have the first count (ReplyFormat::validate).
bool is_new_end(const ReplyFormat& format, const std::string& text) {
  constexpr std::size_t kLongest = 128;
  constexpr std::size_t kMost = 16;
  const auto same = [&](const ReplyMarker& end) {
    return std::find(end.texts.begin(), end.texts.end(), text) != end.texts.end();
  };
  if (text.empty() || text.size() > kLongest || format.end.size() >= kMost) return false;
  return std::none_of(format.end.begin(), format.end.end(), same);
}

/// Whether the prompt leaves reasoning open. A format without a text that opens it cannot tell.
bool opens_reasoning(const ReplyFormat& format, std::string_view prompt) {
  if (!format.reasoning_open.exists()) return true;
  const auto last = [&](const ReplyMarker& marker) {
    std::size_t behind = 0;
    for (const std::string& text : marker.texts) {
      const std::size_t at = prompt.rfind(text);
      if (at != prompt.npos) behind = std::max(behind, at + text.size());
    }
    return behind;
  };
  const std::size_t opened = last(format.reasoning_open);
  return opened != 0 && opened > last(format.reasoning_close);
}

/// Line ends next to what begins and ends reasoning are none of its text nor of the answer's, whether a model was
/// taught them or not.
void loosen(ReplyMarker& marker, std::string_view before, std::string_view after) {
  if (before.ends_with(marker.before)) marker.before = before;
  if (after.starts_with(marker.after)) marker.after = after;
}

/// The text that calls of the form begin with; "" where none does.
std::string_view opening_of(const CallForm& form) {
  const ReplyMarker& marker = opener_of(form);
  return marker.exists() && !form.headed ? std::string_view(marker.texts.front()) : std::string_view();
}

/// What a call's opening begins has at least its framing before it, or that of the call would be found first.
void widen(ReplyMarker& marker, const std::vector<CallForm>& calls) {
  for (const CallForm& form : calls) {
    const ReplyMarker& opening = opener_of(form);
    if (form.headed || !opening.exists() || !opening.before.ends_with(marker.before)) continue;
    const bool begins = std::any_of(marker.texts.begin(), marker.texts.end(), [&](const std::string& text) {
      return std::any_of(opening.texts.begin(), opening.texts.end(),
                         [&](const std::string& start) { return text.starts_with(start); });
    });
    if (begins) marker.before = opening.before;
  }
}

/// Whether arguments stand in the call by themselves, written so.
bool reads(const CallForm& form, Codec codec) {
  return std::any_of(form.call.begin(), form.call.end(), [codec](const CallPart& part) {
    return part.kind == Part::arguments && part.arguments.codec == codec;
  });
}

}  // namespace

bool Machine::is_changed_by(const ReplyFormat& format, const std::vector<std::string>& ends) {
  return std::any_of(ends.begin(), ends.end(), [&](const std::string& text) { return is_new_end(format, text); });
}

Machine::Machine(const ReplyFormat& given, const std::vector<std::string>& ends) : format(given), last(given.last) {
  for (const std::string& text : ends) {
    if (is_new_end(format, text)) format.end.push_back({{text}, {}, {}});
  }
  if (format.reasoning_open.exists()) loosen(format.reasoning_open, format.reasoning_open.before, "\n");
  if (format.reasoning_close.exists()) loosen(format.reasoning_close, "\n", "\n\n");
  widen(format.content_open, format.calls);
  for (std::size_t i = 0; i < format.turns.size() && assistant_turn == kNone; ++i) {
    if (format.turns[i].role == "assistant") assistant_turn = i;
  }
  add(content, format.reasoning_open, Meaning::reasoning_open, 0);
  add(content, format.content_open, Meaning::content_open, 0);
  add(content, format.content_close, Meaning::content_close, 0);
  add(content, format.reasoning_close, Meaning::reasoning_close, 0);
  add_calls(content, format);
  add_reasoning();
  for (MarkerTrie* trie : {&content, &reasoning, &calls_reasoning, &turns}) add_ends(*trie, format);
  behind_calls = content;
  add_forms();
  for (MarkerTrie* trie : {&content, &behind_calls}) add_strays(*trie, format);
  for (Form& form : forms) form.settle();
  for (MarkerTrie* trie : {&content, &behind_calls, &reasoning, &calls_reasoning, &turns}) trie->settle();
  for (const std::string& text : format.last) {
    for (MarkerTrie* trie : {&content, &reasoning, &calls_reasoning}) trie->add_held(text.front());
  }
}

void Machine::add_reasoning() {
  add_with_returns(reasoning, format.reasoning_close, Meaning::reasoning_close, 0);
  add(reasoning, format.content_open, Meaning::content_open, 0);
  add(reasoning, format.reasoning_open, Meaning::reasoning_open, 0);
  calls_reasoning = reasoning;
  add_calls(calls_reasoning, format);
}

bool Machine::has_calls_in_reasoning(std::string_view prompt, bool begins_in_reasoning) const {
  if (format.calls_end_reasoning) return true;
  return format.calls_end_opened_reasoning && (begins_in_reasoning || opens_reasoning(format, prompt));
}

void Machine::add_forms() {
  forms.reserve(format.calls.size());
  for (std::size_t i = 0; i < format.calls.size(); ++i) {
    forms.emplace_back(format, i);
    for (std::size_t later = i + 1; later < format.calls.size(); ++later) {
      const std::string_view opening = opening_of(format.calls[later]);
      if (opening.empty() || opening != opening_of(format.calls[i])) continue;
      forms[i].has_sibling = true;
      forms[i].has_program = forms[i].has_program || reads(format.calls[later], Codec::code);
    }
    forms[i].may_be_program = forms[i].has_program && reads(format.calls[i], Codec::json);
    if (forms[i].may_be_program) forms[i].add_proof(format, i);
    add_closers(behind_calls, format.calls[i].close, i);
    add_closers(behind_calls, format.calls[i].call.back().literal, i);
    behind_calls.add({}, forms[i].last_bracket, {.meaning = Meaning::surplus, .index = static_cast<std::uint16_t>(i)});
    has_initial = has_initial || format.calls[i].initial ||
                  (format.calls[i].open_optional && format.calls[i].layout == CallLayout::list);
  }
}

LastTexts::LastTexts(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    first_[static_cast<unsigned char>(text.front())] = true;
    if (text.size() > 1) second_[static_cast<unsigned char>(text[1])] = true;
    longest_ = std::max(longest_, text.size());
  }
}

bool LastTexts::is_beginning(const std::vector<std::string>& texts, std::string_view bytes) const {
  return bytes.size() <= longest_ &&
         std::any_of(texts.begin(), texts.end(), [bytes](std::string_view text) { return text.starts_with(bytes); });
}

/// Behind a byte that begins one, all that follows must be it.
std::size_t LastTexts::size_of_beginning(const std::vector<std::string>& texts, std::string_view bytes) const {
  std::size_t at = bytes.size() - std::min(bytes.size(), longest_);
  for (; at < bytes.size(); ++at) {
    if (begins(bytes[at]) && is_beginning(texts, bytes.substr(at))) return bytes.size() - at;
  }
  return 0;
}

std::size_t Machine::form_of_header(std::string_view header) const {
  std::size_t any = kNone;
  for (std::size_t i = 0; i < format.calls.size(); ++i) {
    const CallForm& form = format.calls[i];
    if (!form.headed) continue;
    if (form.header == header) return i;
    if (form.header.empty() && any == kNone) any = i;
  }
  return header.empty() ? kNone : any;
}

}  // namespace parlance::reply
