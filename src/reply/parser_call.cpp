// A call: its parts in order, alone, in a section or in a list; how it begins, fails and ends.
//
// Until its name is known and may begin a call, all of it is kept in lead_, the opening marker included, since what is no
// call after all is text. Begin reading at begin_call and begin_part.
#include <algorithm>
#include <utility>

#include "reply/parser.h"
#include "value/json.h"

namespace parlance {

using reply::is_json_space;
using reply::Meaning;
using Part = CallPart::Kind;
using Codec = CallArguments::Codec;

namespace {

const std::string kNoCallee;  // it was read with the name

}  // namespace

// ---- beginning

void ReplyParser::State::open_call(std::size_t form, std::string lead) {
  absorb_ = {};
  form_ = static_cast<std::uint8_t>(form);
  lead_ = std::move(lead);
  gap_ = Gap::none;
  call_.make();
}

void ReplyParser::State::begin_call(const Mark& mark, std::string source) {
  const bool behind = place_ == Place::broken && call_ && (call_->committed || call_->spoilt);
  const bool goes_on = behind && mark.index == form_ && mark.meaning == Meaning::call_item;
  const bool loose = mark.meaning == Meaning::call_item && !(goes_on && !call_->loose);
  const bool committed = goes_on && call_->committed, spoilt = goes_on && call_->spoilt;
  const std::size_t opening = source.size();
  if (place_ == Place::broken) begin_content(Gap::none);
  open_call(mark.index, std::move(source));
  call_->name = form().form->name;
  call_->opening = static_cast<std::uint16_t>(opening);
  call_->committed = committed;
  call_->spoilt = spoilt;
  call_->loose = loose;
  call_->silent = form().form->declared_only || is_other_way(lead_);
  if (form().form->layout == CallLayout::list) {
    place_ = Place::list;
    call_->at = Call::At::list_open;
  } else if (form().form->layout == CallLayout::section && mark.meaning == Meaning::call_open) {
    place_ = Place::next;
  } else {
    call_->part = 1;
    begin_part();
  }
}

/// Header and marker are there.
void ReplyParser::State::begin_headed() {
  const std::string name = held_.substr(header_from_, header_to_ - header_from_);
  const std::string_view after = absorb_;
  header_from_ = 0;
  region_ = Region::content;
  open_call(form_, std::exchange(held_, {}));
  call_->name = name;
  call_->part = 1;
  if (!commit()) return;
  begin_part();
  absorb_after(after);
}

/// Framing behind a marker is its own event where text or arguments follow; elsewhere in a call white space means nothing.
void ReplyParser::State::absorb_after(std::string_view framing) {
  const bool inside = place_ == Place::object || place_ == Place::python || place_ == Place::bare || place_ == Place::program;
  absorb_ = place_ == Place::text || (inside && call_->named) ? framing : std::string_view();
}

/// The next call of a section or list.
void ReplyParser::State::next_item() {
  const bool committed = call_->committed, loose = call_->loose, silent = call_->silent, open_list = call_->open_list, spoilt = call_->spoilt;
  call_.make();
  call_->name = form().form->name;
  call_->spoilt = spoilt;
  call_->open_list = open_list;
  call_->committed = committed;
  call_->loose = loose;
  call_->silent = silent;
}

/// Behind the object of a call that stands alone between two markers, the second is due.
bool ReplyParser::State::is_behind_object() const {
  const bool alone = form().form->layout == CallLayout::single && form().form->call.size() == 3 && form().is_literal(0);
  return alone && call_->part == 2 && call_->ended && form().form->call[1].kind == Part::object;
}

/// Another object between the same two markers: a call of its own.
void ReplyParser::State::begin_another(const std::string& between) {
  put_frame(between);
  next_item();
  call_->part = 1;
  begin_part();
}

void ReplyParser::State::begin_part() {
  Call& call = *call_;
  if (call.part == form().form->call.size()) return end_item();
  switch (part().kind) {
    case Part::literal: place_ = Place::literal; return;
    case Part::object:
      place_ = Place::object;
      call.at = Call::At::object_open;
      call.codec.make(reply::JsonReader(machine_->limits.depth));
      return;
    case Part::arguments: return begin_arguments_part();
    default:
      place_ = Place::field;
      call.word.clear();
      return;
  }
}

void ReplyParser::State::begin_arguments_part() {
  const ReplyLimits& limits = machine_->limits;
  const bool named_before = call_->part > 0 && form().form->call[call_->part - 1].kind == Part::name;
  if (!form().form->name.empty() && !waits() && !call_->named && !commit()) return;
  switch (part().arguments.codec) {
    case Codec::json:
      place_ = Place::object;
      call_->at = Call::At::arguments_only;
      call_->role = Call::Role::arguments;
      call_->codec.make(reply::JsonReader(limits.depth));
      return;
    case Codec::keywords:
      place_ = Place::python;
      call_->codec.make(reply::PythonScanner(named_before ? kNoCallee : part().arguments.callee, limits.depth, limits.pending));
      return;
    case Codec::bare:
      place_ = Place::bare;
      call_->codec.make(reply::BareScanner(part().arguments.quote, limits.depth));
      return;
    case Codec::tags: return begin_tags();
    case Codec::code: {
      std::string open = "{";
      append_json_string(open, code_argument());
      place_ = Place::program;
      return put_meant(open.append(": \""));
    }
  }
}

/// A part that has its own end is over.
void ReplyParser::State::end_part() {
  call_->codec.reset();
  if (call_->part == form().last_value) close_call(true);
  ++call_->part;
  begin_part();
}

void ReplyParser::State::close_call(bool complete) {
  if (call_->ended) return;
  call_->ended = true;
  out_.flush();
  out_.end_call(complete, call_->id);
}

/// All parts of a call are there.
void ReplyParser::State::end_item() {
  switch (form().form->layout) {
    case CallLayout::single:
      fresh_ = form().form->initial || !reply::is_blank(form().form->separator);  // another may follow at once
      return begin_content(Gap::closed);
    case CallLayout::section:
      next_item();
      place_ = Place::next;
      return;
    case CallLayout::list:
      next_item();
      place_ = Place::list;
      call_->at = Call::At::list_next;
      return;
  }
}

/// What opened the calls is closed, but for a marker that may follow.
void ReplyParser::State::end_calls(std::string_view source) {
  put_frame(source);
  if (call_->spoilt) {
    begin_content(Gap::none);
    return put_text(lead_.take());
  }
  put_markup(lead_.take());
  if (!form().form->close.exists()) return begin_content(Gap::closed);
  call_->ended = call_->committed = true;
  call_->part = static_cast<std::uint8_t>(form().form->call.size());
  place_ = Place::literal;
}

/// Bytes between values: part of the call's beginning while it has none.
void ReplyParser::State::put_frame(std::string_view bytes) {
  if (call_->named || (call_->committed && place_ == Place::literal)) {
    put_markup(bytes);
  } else {
    lead_ += bytes;
  }
}

// ---- sections and lists

bool ReplyParser::State::begins_item(char c) const {
  switch (form().form->call.front().kind) {
    case Part::object: return c == '{';
    case Part::literal: return form().next.begins(c);
    default: return reply::may_be_in_name(c);
  }
}

const char* ReplyParser::State::read_list(const char* p, const char* end) {
  using At = Call::At;
  for (; p != end; ++p) {
    const char c = *p;
    const At at = call_->at;
    const bool space = is_json_space(c);
    if (lead_.size() >= machine_->limits.pending) {
      fail("the name of the call sooner");
      return p;
    }
    const bool loose = form().form->commas_optional || call_->open_list;
    const bool item = (at == At::list_first || at == At::list_item || (at == At::list_next && loose)) && !space && begins_item(c);
    const bool trailing = c == ']' && at == At::list_item && !loose && call_->committed;
    const bool close = trailing || (c == ']' && (at == At::list_first || at == At::list_next || (at == At::list_item && loose)));
    const bool comma = c == ',' && at == At::list_next;
    const bool open = c == '[' && at == At::list_open && fence_ends();
    const bool fence = at == At::list_open && continues_fence(c);
    if (at == At::list_open && !fence && !call_->loose && !form().form->declared_only && begins_item(c) && fence_ends()) {
      call_->open_list = true;  // one call, without the brackets
      call_->at = At::list_first;
      return p;
    }
    if (call_->open_list && at == At::list_next && !space && !comma && !item) {
      end_calls({});
      return p;
    }
    if (item) {
      place_ = form().is_literal(0) ? Place::next : Place::list;
      if (!form().is_literal(0)) begin_part();
      return p;
    }
    if (!(space || close || comma || open || fence)) {
      const bool object = form().form->call.front().kind == Part::object;
      const std::string_view wanted = object ? "'{'" : "a call";
      fail(at == At::list_first && object ? "'{' or ']'" : at == At::list_next ? "',' or ']'" : at == At::list_open ? "'['" : wanted);
      return p;
    }
    if (trailing) out_.malformed(lead_.size(), "a call", Fault::mended);
    if (close) {
      if (call_->silent && !call_->committed) {
        fail("a call");
        return p;
      }
      end_calls({&c, 1});
      return p + 1;
    }
    put_frame({&c, 1});
    if (open) call_->at = At::list_first;
    if (comma) call_->at = At::list_item;
  }
  return p;
}

}  // namespace parlance
