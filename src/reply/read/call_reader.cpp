// The parts of a call in order, and what stands between calls. Begin reading at CallReader::begin and begin_part.
#include "reply/read/call_reader.h"

#include <algorithm>
#include <utility>

#include "reply/marker_texts.h"
#include "reply/read/fence.h"

namespace parlance::reply {

using Part = CallPart::Kind;

namespace {

bool is_same_but_for_blanks(std::string_view one, std::string_view other) {
  const auto drop_blanks = [](std::string_view& text) {
    while (!text.empty() && is_json_space(text.front())) text.remove_prefix(1);
  };
  for (;; one.remove_prefix(1), other.remove_prefix(1)) {
    drop_blanks(one);
    drop_blanks(other);
    if (one.empty() || other.empty()) return one.empty() && other.empty();
    if (one.front() != other.front()) return false;
  }
}

/// Whether a call begins by a text that its model was not taught, and that is no control token: it may well be quoted.
bool is_other_way(const CallForm& form, std::string_view source) {
  const ReplyMarker& opening = opener_of(form);
  if ((opening.texts.size() < 2 && opening.faulty.empty()) || is_shaped(source)) return false;
  return !is_same_but_for_blanks(source, opening.texts.front());
}

/// Whether the text begins with all that opens calls of another form, which says by itself that a call is meant.
bool begins_with_other(const ReplyFormat& format, std::string_view source) {
  source = trimmed_left(source);
  return std::any_of(format.calls.begin(), format.calls.end(), [source](const CallForm& form) {
    const ReplyMarker& opening = opener_of(form);
    if (!opening.exists() || form.headed || form.declared_only) return false;
    const std::string_view text = trimmed(opening.texts.front());
    return !text.empty() && text.size() < source.size() && source.starts_with(text);
  });
}

/// An object behind that of another call, where a comma is due.
bool lacks_comma(const Reading& in, char c) {
  const CallForm& form = *in.form().form;
  const bool due = in.call->in_list == Call::InList::next && !form.commas_optional && !in.call->open_list;
  return due && c == '{' && in.call->committed && form.call.front().kind == Part::object;
}

}  // namespace

/// What stands around the parts that have a reader of their own.
const char* CallReader::read_around(const char* p, const char* end) {
  switch (in_.place) {
    case Place::literal:
    case Place::next: return read_between(p, end);
    case Place::list: return read_list(p, end);
    case Place::field: return read_field(p, end);
    default: return read_broken(p, end);
  }
}

// ---- beginning

void CallReader::open(std::size_t form, std::string_view lead) {
  in_.absorb = {};
  in_.form_index = static_cast<std::uint8_t>(form);
  in_.lead.assign(lead);
  in_.gap = Gap::none;
  in_.call.make();
  in_.called_in_prompt = in_.called_in_prompt || in_.in_prompt;
}

void CallReader::begin(const Mark& mark, std::string_view source) {
  const bool behind = in_.place == Place::broken && in_.call && (in_.call->committed || in_.call->spoilt);
  const bool goes_on = behind && mark.index == in_.form_index && mark.meaning == Meaning::call_item;
  const bool loose = mark.meaning == Meaning::call_item && !(goes_on && !in_.call->loose);
  const bool committed = goes_on && in_.call->committed, spoilt = goes_on && in_.call->spoilt;
  const std::size_t opening = source.size();
  if (in_.place == Place::broken) in_.begin_content(Gap::none);
  open(mark.index, source);
  const CallForm& form = *in_.form().form;
  Call& call = *in_.call;
  call.name.assign(form.name);
  call.opening = static_cast<std::uint16_t>(opening);
  call.committed = committed;
  call.spoilt = spoilt;
  call.loose = loose;
  const bool other_way = is_other_way(form, in_.lead);
  call.meant = mark.faulty && other_way && begins_with_other(in_.machine->format, in_.lead);
  call.faulty = mark.faulty && !call.meant;
  call.silent = form.declared_only || (other_way && !call.meant);
  if (form.layout == CallLayout::list) {
    in_.place = Place::list;
  } else if (form.layout == CallLayout::section && mark.meaning == Meaning::call_open) {
    in_.place = Place::next;
  } else {
    call.part = 1;
    begin_part();
  }
}

void CallReader::begin_headed(std::string name) {
  const std::string_view after = in_.absorb;
  in_.answer.region = Region::content;
  open(in_.form_index, in_.held.take());
  in_.call->name = std::move(name);
  in_.call->part = 1;
  if (!commit()) return;
  begin_part();
  absorb_after(after);
}

bool CallReader::begin_initial(const std::string& held, std::size_t blanks, char next) {
  if (!in_.machine->has_initial || !in_.answer.fresh || in_.answer.region != Region::content || in_.conversation)
    return false;
  for (std::size_t i = 0; i < in_.machine->forms.size(); ++i) {
    const CallForm& form = *in_.machine->forms[i].form;
    const bool list = form.layout == CallLayout::list;
    const bool called = in_.called_in_prompt;
    const bool bare = form.initial && (list ? !form.open.exists() : form.call.front().kind != Part::literal);
    if (!bare && !(list && form.open_optional)) continue;
    open(i, held.substr(0, blanks));
    in_.call->silent = in_.call->loose = true;
    in_.answer.fresh = false;
    in_.place = list ? Place::list : Place::next;
    if (list ? next == '[' : begins_item(next)) {
      if (!list) begin_part();
      in_.give_back(std::string_view(held).substr(blanks));
      return true;
    }
    in_.begin_content(Gap::none);
    in_.called_in_prompt = called;
    in_.lead.clear();
    in_.answer.fresh = true;
  }
  return false;
}

/// The next call of a section or list.
void CallReader::next_item() {
  const Call& call = *in_.call;
  const bool committed = call.committed, loose = call.loose, open_list = call.open_list;
  const bool silent = call.silent, spoilt = call.spoilt;
  Call& next = in_.call.make();
  next.name.assign(in_.form().form->name);
  next.committed = committed;
  next.loose = loose;
  next.open_list = open_list;
  next.silent = silent;
  next.spoilt = spoilt;
}

/// Behind the object of a call that stands alone between two markers, the second is due.
bool CallReader::is_behind_object() const {
  const CallForm& form = *in_.form().form;
  const bool alone = form.layout == CallLayout::single && form.call.size() == 3 && in_.form().is_literal(0);
  return alone && in_.call->part == 2 && in_.call->ended && form.call[1].kind == Part::object;
}

/// Another object between the same two markers: a call of its own.
void CallReader::begin_another(const std::string& between) {
  in_.put_frame(between);
  next_item();
  in_.call->part = 1;
  begin_part();
}

// ---- parts

void CallReader::begin_part() {
  if (in_.call->part == in_.form().form->call.size()) return end_item();
  switch (in_.part().kind) {
    case Part::literal: in_.place = Place::literal; return;
    case Part::object:
      in_.place = Place::part;
      begin_reader(in_.call->reader, in_.part(), in_);
      return;
    case Part::arguments: return begin_arguments();
    default:
      in_.place = Place::field;
      in_.call->word.clear();
      return;
  }
}

void CallReader::begin_arguments() {
  if (!in_.form().form->name.empty() && !in_.waits() && !in_.call->named && !commit()) return;
  begin_reader(in_.call->reader, in_.part(), in_);
  in_.place = Place::part;
}

/// What comes next once a part's reader stands so.
void CallReader::take(Step step) {
  switch (step.what) {
    case Step::What::more: return;
    case Step::What::done: return end_part(step.literal);
    case Step::What::missing:
      in_.call->missing = true;
      ++in_.call->part;
      in_.place = Place::literal;
      return;
    case Step::What::object: in_.call->reader = object_reader(in_, false); return;
    case Step::What::over: close(step.complete); return in_.begin_content(step.literal ? Gap::closed : Gap::after);
    case Step::What::failed: {
      const std::string expected = std::exchange(in_.handed->expected, {}), lost = std::exchange(in_.handed->lost, {});
      fail(expected);
      if (!lost.empty()) put_lost(lost);
      return;
    }
  }
}

/// A part that has its own end is over.
void CallReader::end_part(bool with_literal) {
  if (in_.call->part == in_.form().last_value) close(true);
  in_.call->part = static_cast<std::uint8_t>(in_.call->part + (with_literal ? 2 : 1));
  begin_part();
}

/// False where the name may not be called.
bool CallReader::commit() {
  if (in_.commit()) return true;
  fail("a declared tool");
  return false;
}

void CallReader::close(bool complete) {
  if (in_.call->ended) return;
  in_.call->ended = true;
  in_.out.flush();
  in_.out.end_call(complete, in_.call->id);
}

/// All parts of a call are there.
void CallReader::end_item() {
  const CallForm& form = *in_.form().form;
  switch (form.layout) {
    case CallLayout::single:
      in_.answer.fresh = form.initial || !is_blank(form.separator);  // another may follow at once
      return in_.begin_content(Gap::closed);
    case CallLayout::section:
      next_item();
      in_.place = Place::next;
      return;
    case CallLayout::list:
      next_item();
      in_.place = Place::list;
      in_.call->in_list = Call::InList::next;
      return;
  }
}

/// What opened the calls is closed, but for a marker that may follow.
void CallReader::end_calls(std::string_view source) {
  in_.put_frame(source);
  if (in_.call->spoilt) {
    in_.begin_content(Gap::none);
    return in_.put_answer(in_.lead.take());
  }
  in_.put_markup(in_.lead.take());
  if (!in_.form().form->close.exists()) return in_.begin_content(Gap::closed);
  in_.call->ended = in_.call->committed = true;
  in_.call->part = static_cast<std::uint8_t>(in_.form().form->call.size());
  in_.place = Place::literal;
}

/// Framing behind a marker is its own event where text or arguments follow; elsewhere in a call white space means
/// nothing.
void CallReader::absorb_after(std::string_view framing) {
  const bool inside = in_.place == Place::part && in_.call->reader->takes_framing() && in_.call->named;
  in_.absorb = in_.place == Place::text || inside ? framing : std::string_view();
}

// ---- lists

bool CallReader::begins_item(char c) const {
  switch (in_.form().form->call.front().kind) {
    case Part::object: return c == '{';
    case Part::literal: return in_.form().next.begins(c);
    default: return may_be_in_name(c);
  }
}

/// A call of the list; a comma is missing before one that is not `due`.
void CallReader::begin_listed(bool due) {
  if (!due) in_.out.malformed(in_.lead.size(), "','", Fault::mended);
  in_.place = in_.form().is_literal(0) ? Place::next : Place::list;
  if (!in_.form().is_literal(0)) begin_part();
}

/// Its bracket stands at `p`.
const char* CallReader::end_list(const char* p) {
  if (in_.call->silent && !in_.call->committed) {
    fail("a call");
    return p;
  }
  end_calls({p, 1});
  return p + 1;
}

const char* CallReader::read_list(const char* p, const char* end) {
  using At = Call::InList;
  const CallForm& form = *in_.form().form;
  for (; p != end; ++p) {
    const char c = *p;
    Call& call = *in_.call;
    const At at = call.in_list;
    const bool space = is_json_space(c);
    if (in_.lead.size() >= in_.limits().pending) {
      fail("the name of the call sooner");
      return p;
    }
    const Fence before(in_);
    const bool loose = form.commas_optional || call.open_list;
    const bool due = at == At::first || at == At::item || (at == At::next && loose);
    const bool item = (due && !space && begins_item(c)) || lacks_comma(in_, c);
    const bool trailing = c == ']' && at == At::item && !loose && call.committed;
    const bool close = trailing || (c == ']' && (at == At::first || at == At::next || (at == At::item && loose)));
    const bool comma = c == ',' && at == At::next;
    const bool open = c == '[' && at == At::open && before.is_whole();
    const bool fence = at == At::open && before.goes_on(c);
    if (at == At::open && !fence && !call.loose && !form.declared_only && begins_item(c) && before.is_whole()) {
      call.open_list = true;  // one call, without the brackets
      call.in_list = At::first;
      return p;
    }
    if (call.open_list && at == At::next && !space && !comma && !item) {
      end_calls({});
      return p;
    }
    if (item) return begin_listed(due), p;
    if (!(space || close || comma || open || fence)) {
      fail(list_due());
      return p;
    }
    if (trailing) in_.out.malformed(in_.lead.size(), "a call", Fault::mended);
    if (close) return end_list(p);
    in_.put_frame({&c, 1});
    if (open) call.in_list = At::first;
    if (comma) call.in_list = At::item;
  }
  return p;
}

std::string_view CallReader::list_due() const {
  const bool object = in_.form().form->call.front().kind == Part::object;
  switch (in_.call->in_list) {
    case Call::InList::open: return "'['";
    case Call::InList::first: return object ? "'{' or ']'" : "a call";
    case Call::InList::item: return object ? "'{'" : "a call";
    case Call::InList::next: break;
  }
  return "',' or ']'";
}

}  // namespace parlance::reply
