// Texts between markers (names, ids, what means nothing), and the literals that are due.
//
// Begin reading at read_field and meet_in_call.
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::is_json_space;
using reply::Meaning;
using Part = CallPart::Kind;
using Codec = CallArguments::Codec;

namespace {

/// The name in an id that `pattern` computes, whose ends may be missing.
std::string name_in_id(std::string_view id, std::string_view pattern) {
  const std::size_t at = pattern.find("{name}");
  const std::string_view before = pattern.substr(0, at);
  std::string_view after = pattern.substr(at + 6);
  if (id.starts_with(before)) id.remove_prefix(before.size());
  const std::size_t number = after.find('{');
  const std::string_view rest = number == after.npos ? std::string_view() : after.substr(number + 3);
  after = after.substr(0, number);
  std::string_view name = id;
  if (!rest.empty() && name.ends_with(rest)) name.remove_suffix(rest.size());
  if (number != std::string_view::npos) {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  }
  const bool fits = !after.empty() && name.size() > after.size() && name.ends_with(after);
  return std::string(fits ? name.substr(0, name.size() - after.size()) : id);
}

}  // namespace

// ---- texts

/// Whether the arguments, which follow without a literal, begin with this byte.
bool ReplyParser::State::ends_at(char c) const {
  if (place_ != Place::field) return false;
  const std::size_t next = call_->part + std::size_t{1};
  if (part().kind != Part::name || form().is_literal(next) || call_->word.empty()) return false;
  switch (form().form->call[next].arguments.codec) {
    case Codec::keywords: return c == '(';
    case Codec::tags: return c == '{';
    default: return c == '{' || c == '"';
  }
}

const char* ReplyParser::State::read_field(const char* p, const char* end) {
  if (!held_.empty()) return match_on(p, end);
  const reply::MarkerTrie& markers = trie();
  if (place_ != Place::field) p = put_key(p, end);
  for (; p != end; ++p) {
    if (ends_at(*p)) {
      end_field();
      return p;
    }
    const Found found = markers.begins(*p) ? match({p, end}, here()) : Found{};
    if (found.more) {
      for (const char* q = p; q != end; ++q) markers.step(cursor_, *q);
      held_.assign(p, end);
      return end;
    }
    if (found.size != 0) {
      meet(found.mark, std::string(p, found.size));
      return p + found.size;
    }
    if (!take_field_byte(*p)) return p;
  }
  return p;
}

/// White space at the ends is none of the text; a name has none inside, a key no line's end.
bool ReplyParser::State::take_field_byte(char c) {
  const std::string_view word = call_->word;
  if (place_ != Place::field) return take_key_byte(c);
  const bool name = part().kind == Part::name;
  const bool inside = !word.empty() && is_json_space(word.back()) && !reply::is_blank(word);
  const bool fits = is_json_space(c) || (name ? reply::may_be_in_name(c) && !inside : reply::may_be_in_text(c));
  if (!fits || word.size() >= machine_->limits.name) {
    fail(name ? "a name" : form().is_literal(call_->part + std::size_t{1}) ? form().literal_text(call_->part + std::size_t{1}) : "a shorter text");
    return false;
  }
  put_text({&c, 1});
  return true;
}

/// The text is whole, and so is what ends it, if that is a literal.
void ReplyParser::State::end_field(std::size_t skipped) {
  const std::uint8_t at = call_->part;
  std::string text(reply::trimmed(call_->word));
  call_->word.clear();
  if (part().kind == Part::id) {
    call_->id = std::move(text);
    take_id();
  } else if (part().kind == Part::name && !call_->named) {
    if (!take_callee(text)) return fail(form().form->call[at + std::size_t{1}].arguments.callee);
    call_->name = part().escape == TextEscape::none ? std::move(text) : reply::without_entities(text);
    if (call_->name.empty()) return fail("a name");
  }
  if (!call_->name.empty() && !call_->named && !waits() && !commit()) return;
  if (at == form().last_value) close_call(true);
  call_->part = static_cast<std::uint8_t>(form().is_literal(at + std::size_t{1}) ? at + 2 + skipped : at + 1);
  begin_part();
}

/// Cuts off what stands between a name and the bracket of its arguments, `.call` say.
bool ReplyParser::State::take_callee(std::string& name) const {
  const std::size_t next = call_->part + std::size_t{1};
  if (next >= form().form->call.size()) return true;
  const std::string& callee = form().form->call[next].arguments.callee;
  if (!name.ends_with(callee) || name.size() <= callee.size()) return callee.empty();
  name.resize(name.size() - callee.size());
  return true;
}

void ReplyParser::State::take_id() {
  const std::string& pattern = part().pattern;
  if (pattern.find("{name}") == pattern.npos || call_->named || !call_->name.empty()) return;
  call_->name = name_in_id(call_->id, pattern);
}

// ---- markers inside of a call

void ReplyParser::State::meet_in_call(const Mark& mark, const std::string& source) {
  if (place_ == Place::literal) return meet_literal(mark, source);
  if (place_ == Place::next) {
    if (mark.meaning == Meaning::call_close) {
      put_markup(lead_.take() + source);
      begin_content(Gap::closed);
      return absorb_after(mark.after);
    }
    if (mark.meaning == Meaning::surplus) return meet_surplus_item(source);
    put_frame(source);
    call_->part = 1;
    return begin_part();
  }
  const std::uint8_t at = call_->part;
  const bool literal = form().is_literal(at + std::size_t{1});
  if (mark.meaning == Meaning::end || mark.meaning == Meaning::turn) {
    fail(literal ? form().literal_text(at + std::size_t{1}) : "the arguments");
    return again(source);
  }
  if (literal) {
    if (!heed_content_type(source)) {
      fail(form().form->content_type);
      return again(source);
    }
    put_frame(source);
    end_field(mark.skipped);
    if (place_ != Place::text) absorb_after(mark.after);
    return;
  }
  end_field();  // arguments in tags follow, or none
  if (place_ != Place::tag_between) return again(source);
  meet_in_tags(mark, source);
}

/// The part that is due, or what closes the calls.
std::string_view ReplyParser::State::literal_due() const {
  const bool closes = call_->part == form().form->call.size();
  return closes ? std::string_view(form().form->close.texts.front()) : form().literal_text(call_->part);
}

/// What closes a call of a section, behind one that is closed.
void ReplyParser::State::meet_surplus_item(const std::string& source) {
  if (!call_->committed) {
    fail(form().literal_text(0));
    return again(source);
  }
  const std::string_view closer = reply::trimmed_left(source);
  out_.malformed(source.size() - closer.size(), "'" + std::string(closer) + "' once");
  put_markup(source);
}

/// The literal that is due.
void ReplyParser::State::meet_literal(const Mark& mark, const std::string& source) {
  if (call_->missing && !call_->named) {  // neither a name nor arguments
    fail("the name of a call");
    return again(source);
  }
  const std::string_view due = literal_due();
  const std::size_t fence = source.find("```");
  if (fence != source.npos && due.find("```") == due.npos) out_.malformed(fence, due, Fault::mended);
  put_frame(source);
  if (call_->missing) {
    call_->missing = false;
    put_meant("{}");
    close_call(true);
  }
  const bool closes = call_->part == form().form->call.size();
  if (!closes) ++call_->part;
  if (closes) {
    begin_content(Gap::closed);
  } else {
    begin_part();
  }
  absorb_after(mark.after);
}

/// Something else stands there: the call is cut, or only what closes it is missing.
void ReplyParser::State::refuse_literal(const std::string& held, std::size_t blanks) {
  const bool closes = call_->part == form().form->call.size();
  const std::string_view wanted = call_->missing ? "an object of arguments" : literal_due();
  if (!call_->ended) {
    put_frame(std::string_view(held).substr(0, blanks));
    fail(wanted);
    return again(held.substr(blanks));
  }
  if (!form().form->close_optional && !call_->loose) out_.malformed(blanks, wanted);
  if (closes) {
    begin_content(Gap::after);
  } else {
    end_item();
  }
  again(held);
}

/// Between calls, neither another one nor what closes them.
void ReplyParser::State::refuse_next(const std::string& held, std::size_t blanks, char next) {
  const bool literal = form().is_literal(0);
  if (!literal && begins_item(next)) {
    put_frame(std::string_view(held).substr(0, blanks));
    begin_part();
    return again(held.substr(blanks));
  }
  const CallForm& f = *form().form;
  const std::string_view wanted = f.close.exists() ? std::string_view(f.close.texts.front()) : "a call";
  if (!call_->committed || f.layout == CallLayout::list) {
    put_frame(std::string_view(held).substr(0, blanks));
    fail(call_->committed ? wanted : literal ? form().literal_text(0) : "a call");
    return again(held.substr(blanks));
  }
  if (f.close.exists() && !f.close_optional && !call_->loose) out_.malformed(blanks, wanted);
  begin_content(Gap::after);
  again(held);
}

}  // namespace parlance
