// A call that went wrong: what follows is broken, up to its end, behind which other calls may stand; and the end of the
// reply.
//
// Where calls have markers of their own, the next marker is the end. In a section or list without such markers,
// brackets tell where the item ends: those of texts in quotes do not count, and where they do not come out even, no
// item follows, since a piece of an argument must not become a call. Begin reading at CallReader::fail.
#include <algorithm>
#include <utility>

#include "reply/codec.h"
#include "reply/read/call_reader.h"
#include "reply/tools.h"

namespace parlance::reply {

using Part = CallPart::Kind;

namespace {

constexpr std::string_view kDeclaredInReasoning = "a declared tool: inside of reasoning no others are called";

/// Whether an item of a section or list went wrong whose end can be told, so that others may follow.
bool is_item(const Reading& in) {
  Recovery recovery;
  const bool measured = in.place == Place::part && in.call->reader->measure(recovery, in);
  const bool inside = measured || (in.place == Place::field && !in.form().is_literal(0));
  return inside && in.form().form->layout != CallLayout::single && !in.call->silent && !in.call->loose &&
         !in.call->open_list;
}

/// Whether the next call of a section or list has begun, of which no part is there yet.
bool has_begun_item(const Reading& in) {
  if (in.place == Place::list) return in.call->in_list == Call::InList::item;
  if (in.place != Place::next || in.held.bytes.size() <= in.held.blanks) return false;
  const MarkerTrie& markers = in.form().next;
  const auto leads = [&](Meaning meaning) { return markers.leads_to(meaning, in.held.cursor); };
  return leads(Meaning::call_item) && !leads(Meaning::call_close) && !leads(Meaning::surplus);
}

/// Whether what was cut off behind an opening marker of another spelling, or without one, may become a tool's call.
bool may_be_of_tool(const Reading& in) {
  const Call& call = *in.call;
  const bool in_name = in.place == Place::field && in.part().kind == Part::name;
  if (in.form().form->declared_only || (!in_name && call.name.empty())) return false;
  if (!in.tools().known()) return !call.loose;
  return in_name ? declares_beginning(in.tools(), trimmed(call.word)) : in.tools().declares(call.name);
}

}  // namespace

/// The next byte cannot stand here: without a name it was text, else the call remains incomplete.
void CallReader::fail(std::string_view expected) {
  const bool refused = in_.call->refused && !in_.call->committed;
  const std::string wanted(refused ? kDeclaredInReasoning : expected);
  if (!in_.call->committed && begin_sibling()) return;
  const std::string lead = in_.lead.take();
  in_.absorb = {};
  if (!in_.call->silent || in_.call->committed) in_.out.malformed(lead.size(), wanted);
  in_.call->spoilt = !in_.call->committed && is_item(in_);
  if (!in_.call->committed && !in_.call->spoilt) {
    in_.call.reset();
    in_.place = Place::text;
    in_.gap = Gap::none;
    return in_.put_answer(lead);
  }
  if (in_.call->named) close(false);
  begin_recovery();
  in_.place = Place::broken;
  put_lost(lead);
}

/// What went wrong before its name was known may be a call of another form that begins with the same text. `held` is
/// read behind it.
bool CallReader::begin_sibling(std::string_view held) {
  const std::size_t size = std::exchange(in_.call->opening, std::uint16_t{0});
  if (size == 0) return false;
  const std::string_view source = in_.lead.view().substr(0, size);
  const bool refused = in_.call->refused;
  for (std::size_t i = in_.form_index + std::size_t{1}; i < in_.machine->forms.size(); ++i) {
    const Found found = in_.match(in_.machine->forms[i].begin, source, in_.out.place());
    if (found.size != size) continue;
    const std::string lead = in_.lead.take();
    in_.place = Place::text;
    in_.give_back(held);
    in_.give_back(std::string_view(lead).substr(size));
    begin(found.mark, lead.substr(0, size));
    if (in_.call) in_.call->refused = refused;
    return true;
  }
  return false;
}

/// Of a call that went wrong; where it had no name, it is text.
void CallReader::put_lost(std::string_view bytes) {
  if (!in_.call || in_.call->spoilt || !in_.call->named) return in_.put_answer(bytes);
  in_.out.text(Kind::broken, bytes);
}

/// How far into the item it went wrong.
void CallReader::begin_recovery() {
  const Form& form = in_.form();
  const bool object = form.form->call.back().kind == Part::object;
  const bool keywords = form.arguments_part != Form::kNone && facts_of(in_.arguments().codec).counts_round_brackets;
  const bool python = !object && keywords && !form.is_literal(0);
  in_.call->recovery.reset();
  if (form.form->layout != CallLayout::single && (object || python)) {
    Recovery& recovery = in_.call->recovery.make();
    recovery.python = python;
    if (in_.place == Place::part) in_.call->reader->measure(recovery, in_);
  }
}

/// The item is over; its call is not complete.
void CallReader::end_broken_item() {
  in_.out.flush();
  end_item();
}

void CallReader::end_broken(std::string_view source) {
  if (in_.call && in_.call->spoilt) {
    in_.put_answer(source);
  } else {
    in_.put_markup(source);
  }
  end_item();
}

/// One byte that is no marker's, or all where no brackets are counted.
void CallReader::put_broken(std::string_view bytes) {
  const bool list = in_.form().form->layout == CallLayout::list;
  Recovery* const recovery = bytes.size() == 1 && in_.call->recovery ? &*in_.call->recovery : nullptr;
  const Recovery::Next next = recovery == nullptr ? Recovery::Next::more : recovery->feed(bytes.front(), list);
  if (next == Recovery::Next::over_before) {
    in_.give_back(bytes);
    return end_broken_item();
  }
  put_lost(bytes);
  if (next == Recovery::Next::over) end_broken_item();
}

const char* CallReader::read_broken(const char* p, const char* end) {
  const MarkerTrie& markers = in_.form().broken;
  if (!in_.call->recovery || !in_.held.bytes.empty()) {
    meet(read_to_marker(in_, markers, p, end, [this](std::string_view bytes) { put_broken(bytes); }));
    return p;
  }
  Recovery& recovery = *in_.call->recovery;
  const bool list = in_.form().form->layout == CallLayout::list;
  for (const char* begin = p; p != end; ++p) {
    const Found found =
        markers.begins(*p) ? in_.match(markers, {p, end}, in_.here() + static_cast<std::size_t>(p - begin)) : Found{};
    const bool marker = found.more || found.size != 0;
    const Recovery::Next next = marker ? Recovery::Next::more : recovery.feed(*p, list);
    if (!marker && next == Recovery::Next::more && p + 1 != end) continue;
    const bool taken = !marker && next != Recovery::Next::over_before;
    put_lost({begin, p + (taken ? 1 : 0)});
    if (found.more) return hold_marker(in_, markers, p, end), p;
    if (marker) {
      meet({found.mark, std::string(p, found.size)});
      return p + found.size;
    }
    if (next != Recovery::Next::more) end_broken_item();
    return p + (taken ? 1 : 0);
  }
  return p;
}

/// What ends a call that went wrong is for those outside to read.
void CallReader::meet(Met met) {
  if (met) in_.to_driver().met = std::move(met);
}

bool CallReader::settle_broken() {
  if (in_.held.bytes.empty()) return false;
  meet(settle_marker(in_, in_.form().broken, [this](std::string_view bytes) { put_broken(bytes); }));
  return true;
}

// ---- the end of the reply

void CallReader::finish() {
  if (finish_part() || meet_shorter()) return;
  const bool begun = has_begun_item(in_);
  std::string held = in_.held.take();
  // which may be a program
  const bool is_word = in_.place == Place::field && in_.form().has_program && !in_.call->committed;
  if (is_word && begin_sibling(held)) return;
  cut_off(std::move(held), begun);
}

/// What a part's reader holds may be settled.
bool CallReader::finish_part() {
  if (in_.place != Place::part) return false;
  const std::optional<Step> step = in_.call->reader->finish(in_);
  if (step) take(*step);
  return step.has_value();
}

/// What is held may be a marker that another one begins with.
bool CallReader::meet_shorter() {
  const bool waits = in_.place == Place::literal || in_.place == Place::next;
  if (!waits || in_.held.bytes.size() <= in_.held.blanks) return false;
  const std::size_t blanks = in_.held.blanks;
  if (in_.match(due(), std::string_view(in_.held.bytes).substr(blanks), in_.here() + blanks).size == 0) return false;
  end_gap(end_of_gap(in_, due(), '\0'));
  return true;
}

/// The arguments are all there, and what closes the call, or the calls, is not. A control token may be missing: servers
/// take those away that end a reply.
void CallReader::note_unclosed(std::string_view held) {
  const CallForm& form = *in_.form().form;
  const bool whole = in_.call->ended || (in_.call->committed && !in_.call->named);
  if (!whole || in_.call->spoilt || in_.call->loose || form.close_optional) return;
  std::string_view due;
  if (in_.place == Place::literal) due = literal_due();
  if (in_.place == Place::next && form.close.exists()) due = form.close.texts.front();
  if (in_.place == Place::list && !in_.call->open_list) due = list_due();
  if (due.empty() || is_shaped(due)) return;
  in_.out.malformed(in_.lead.size() + held.size() - trimmed_left(held).size(), due);
}

/// A call that has begun is incomplete; what is none yet was text.
void CallReader::cut_off(std::string held, bool begun) {
  const bool between = in_.place == Place::list || in_.place == Place::next || in_.place == Place::literal;
  if (in_.call->named || in_.call->ended || (in_.call->committed && between)) {
    const bool inside = in_.call->named && !in_.call->ended && in_.place == Place::part;
    if (inside) in_.call->reader->cut_off(held, in_);
    if (begun && !in_.call->spoilt) {
      in_.out.malformed(in_.lead.size() + held.size(), "the name of a call", Fault::cut);
    } else {
      note_unclosed(held);
    }
    if (in_.call->named) close(false);
    in_.put_markup(in_.lead.take() + held);
    return in_.begin_content(Gap::none);
  }
  const CutName cut = in_.place == Place::part ? in_.call->reader->cut_name() : CutName();
  const std::string lead = in_.lead.take();
  const std::string_view text = lead;
  const std::string behind = lead.substr(std::min<std::size_t>(in_.call->opening, lead.size())) + held;
  const bool is_quoted = behind.starts_with('`') && !behind.starts_with("```");  // as `<tool_call>`
  const bool is_placed = !is_quoted && in_.is_placed(lead + held);
  // What follows a marker that lacks a part may go on an answer that speaks of it, unless it came as control tokens.
  const bool is_spoken_of = in_.call->faulty && !in_.is_certain(text.substr(0, in_.call->opening));
  const bool is_named = in_.place == Place::field && !is_spoken_of && !is_blank(in_.call->word);
  begun = begun || (cut.begun && !is_quoted) || is_placed || is_named;
  const std::string_view expected = cut.in_text ? cut.expected : "the name of a call";
  const bool is_told = !in_.call->silent || in_.call->committed || (is_placed && may_be_of_tool(in_));
  if (is_told) in_.out.malformed(lead.size() + held.size(), expected, begun ? Fault::cut : Fault::syntax);
  in_.place = in_.call->committed ? Place::broken : Place::text;
  in_.gap = Gap::none;
  in_.put_answer(lead);
  in_.put_answer(held);
}

}  // namespace parlance::reply
