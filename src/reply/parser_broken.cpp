// A call that went wrong: what follows is broken, up to its end, behind which other calls may stand.
//
// Where calls have markers of their own, the next marker is the end. In a section or list without such markers, brackets tell
// where the item ends: those of texts in quotes do not count, and where they do not come out even, no item follows, since a
// piece of an argument must not become a call. Begin reading at fail.
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::Wreck;
using Part = CallPart::Kind;
using Codec = CallArguments::Codec;

Wreck::Step Wreck::feed(char c, bool list) {
  if (quote != 0) {
    if (!escape && c == quote) quote = 0;
    escape = !escape && c == '\\';
    return Step::more;
  }
  if (c == '"' || (python && c == '\'')) quote = c;
  if (c == (python ? '(' : '{')) ++depth;
  if (c == (python ? ')' : '}') && depth != 0) return --depth == 0 ? Step::over : Step::more;
  return list && depth == 0 && (c == ',' || c == ']') ? Step::over_before : Step::more;
}

/// The next byte cannot stand here: without a name it was text, else the call remains incomplete.
void ReplyParser::State::fail(std::string_view expected) {
  const std::string wanted(expected);
  if (!call_->committed && begin_sibling()) return;
  const std::string lead = lead_.take();
  absorb_ = {};
  if (!call_->silent || call_->committed) out_.malformed(lead.size(), wanted);
  call_->spoilt = !call_->committed && is_item();
  if (!call_->committed && !call_->spoilt) {
    call_.reset();
    place_ = Place::text;
    gap_ = Gap::none;
    return put_text(lead);
  }
  if (call_->named) close_call(false);
  begin_wreck();
  place_ = Place::broken;
  put_lost(lead);
}

/// What went wrong before its name was known may be a call of another form that begins with the same text.
bool ReplyParser::State::begin_sibling() {
  const std::size_t size = std::exchange(call_->opening, std::uint16_t{0});
  if (size == 0) return false;
  const std::string_view source = lead_.view().substr(0, size);
  for (std::size_t i = form_ + std::size_t{1}; i < machine_->forms.size(); ++i) {
    const Found found = match_in(machine_->forms[i].begin, source, out_.place());
    if (found.size != size) continue;
    const std::string lead = lead_.take();
    place_ = Place::text;
    begin_call(found.mark, lead.substr(0, size));
    again(lead.substr(size));
    return true;
  }
  return false;
}

/// Whether an item of a section or list went wrong whose end can be told, so that others may follow.
bool ReplyParser::State::is_item() const {
  const bool inside = place_ == Place::object || place_ == Place::python || (place_ == Place::field && !form().is_literal(0));
  return inside && form().form->layout != CallLayout::single && !call_->silent && !call_->loose && !call_->open_list;
}

/// Of a call that went wrong; where it had no name, it is text.
void ReplyParser::State::put_lost(std::string_view bytes) {
  if (call_->spoilt || !call_->named) return put_answer(bytes);
  out_.text(Kind::broken, bytes);
}

/// How far into the item it went wrong.
void ReplyParser::State::begin_wreck() {
  const bool object = form().form->call.back().kind == Part::object;
  const bool python = !object && form().arguments_part != reply::Form::kNone && codec().codec == Codec::keywords && !form().is_literal(0);
  if (form().form->layout == CallLayout::single || !(object || python)) return call_->codec.reset();
  Wreck wreck;
  wreck.python = python;
  if (place_ == Place::python) {
    wreck.depth = static_cast<std::uint16_t>(call_->python().open_brackets());
    wreck.quote = call_->python().open_quote();
  }
  if (place_ == Place::object && call_->at != Call::At::object_open) measure_object(wreck);
  call_->codec.make(wreck);
}

void ReplyParser::State::measure_object(Wreck& wreck) const {
  if (call_->at == Call::At::mended) {
    wreck.depth = static_cast<std::uint16_t>(1 + call_->python().open_braces());
    wreck.quote = call_->python().open_quote();
    for (std::size_t level = call_->level; level != 0; level = form().levels[level].parent) ++wreck.depth;
    return;
  }
  const bool value = call_->at == Call::At::value;
  const reply::JsonScanner& scanner = call_->json().scanner;
  wreck.depth = static_cast<std::uint16_t>(1 + (value ? scanner.objects() : 0));
  for (std::size_t level = call_->level; level != 0; level = form().levels[level].parent) ++wreck.depth;
  const bool text = value && call_->role == Call::Role::arguments && call_->shape == Call::Shape::text;
  if (text || ((value || call_->at == Call::At::in_key) && scanner.inside_string())) wreck.quote = '"';
}

/// The item is over; its call is not complete.
void ReplyParser::State::end_broken_item() {
  out_.flush();
  end_item();
}

/// One byte that is no marker's, or all where no brackets are counted.
void ReplyParser::State::put_broken(std::string_view bytes) {
  const bool list = form().form->layout == CallLayout::list;
  Wreck* const wreck = bytes.size() == 1 ? call_->wreck() : nullptr;
  const Wreck::Step step = wreck == nullptr ? Wreck::Step::more : wreck->feed(bytes.front(), list);
  if (step == Wreck::Step::over_before) {
    end_broken_item();
    return again(std::string(bytes));
  }
  put_lost(bytes);
  if (step == Wreck::Step::over) end_broken_item();
}

const char* ReplyParser::State::read_broken(const char* p, const char* end) {
  Wreck* const wreck = call_->wreck();
  if (wreck == nullptr) return read_text(p, end);
  if (!held_.empty()) return match_on(p, end);
  const reply::MarkerTrie& markers = trie();
  const bool list = form().form->layout == CallLayout::list;
  for (const char* begin = p; p != end; ++p) {
    const Found found = markers.begins(*p) ? match({p, end}, here() + static_cast<std::size_t>(p - begin)) : Found{};
    const bool marker = found.more || found.size != 0;
    const Wreck::Step step = marker ? Wreck::Step::more : wreck->feed(*p, list);
    if (!marker && step == Wreck::Step::more && p + 1 != end) continue;
    const bool taken = !marker && step != Wreck::Step::over_before;
    put_lost({begin, p + (taken ? 1 : 0)});
    if (found.more) {
      for (const char* q = p; q != end; ++q) markers.step(cursor_, *q);
      held_.assign(p, end);
      return end;
    }
    if (marker) {
      meet(found.mark, std::string(p, found.size));
      return p + found.size;
    }
    if (step != Wreck::Step::more) end_broken_item();
    return p + (taken ? 1 : 0);
  }
  return p;
}

}  // namespace parlance
