// Names, ids and what means nothing between two markers; the literals that are due.
//
// Begin reading at CallReader::read_field and read_between.
#include <utility>

#include "reply/codec.h"
#include "reply/read/call_reader.h"

namespace parlance::reply {

using Part = CallPart::Kind;

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

/// The last word of a header: `json` of `<|constrain|>json<|message|>`.
std::string_view last_word(std::string_view header) {
  header = header.substr(0, header.rfind('<'));
  return header.substr(header.find_last_of("> \t\n") + 1);
}

}  // namespace

// ---- names and ids

/// Whether the arguments, which follow without a literal, begin with this byte.
bool CallReader::ends_at(char c) const {
  if (in_.part().kind != Part::name || in_.has_literal_behind() || in_.call->word.empty()) return false;
  const CallPart& next = in_.form().form->call[in_.call->part + std::size_t{1}];
  return facts_of(next.arguments.codec).begins.find(c) != std::string_view::npos;
}

const char* CallReader::read_field(const char* p, const char* end) {
  bool ended = false;
  const auto stops = [&](char c) { return ended = ends_at(c); };
  const MarkerTrie& markers = in_.form().fields[in_.call->part];
  const WordEnd word = read_word(in_, markers, p, end, stops, [this](char c) { return take_field_byte(c); });
  if (ended) {
    end_field();
  } else if (word.refused) {
    fail(in_.part().kind == Part::name ? "a name" : in_.has_literal_behind() ? in_.literal_behind() : "a shorter text");
  } else if (word.met) {
    meet_in_field(word.met.mark, word.met.source);
  }
  return p;
}

/// White space at the ends is none of the text; a name has none inside, an id no newline.
bool CallReader::take_field_byte(char c) {
  const std::string_view word = in_.call->word;
  const bool inside = !word.empty() && is_json_space(word.back()) && !is_blank(word);
  const bool belongs = in_.part().kind == Part::name ? may_be_in_name(c) && !inside : may_be_in_text(c);
  if (!(is_json_space(c) || belongs) || word.size() >= in_.limits().name) return false;
  in_.call->word += {&c, 1};
  in_.put_frame({&c, 1});
  return true;
}

/// The text is whole, and so is what ends it, if that is a literal.
void CallReader::end_field(std::size_t skipped) {
  Call& call = *in_.call;
  const std::size_t at = call.part;
  std::string text(trimmed(call.word));
  call.word.clear();
  if (in_.part().kind == Part::id) {
    call.id = std::move(text);
    take_id();
  } else if (in_.part().kind == Part::name) {
    if (!call.named && !take_callee(text)) return fail(in_.form().form->call[at + 1].arguments.callee);
    take_name(in_.part().escape == TextEscape::none ? std::move(text) : without_entities(text));
    if (call.name.empty()) return fail("a name");
  }
  const std::size_t next = in_.form().is_literal(at + 1) ? at + 2 + skipped : at + 1;
  const bool closed = at < in_.form().arguments_part && in_.form().arguments_part < next;  // without arguments
  if (closed && !may_close_itself()) {
    call.silent = true;
    return fail("a declared tool");
  }
  const bool waits = awaits_name() || (in_.waits() && !closed);
  if (!call.name.empty() && !call.named && !waits && !commit()) return;
  if (closed) in_.put_meant("{}");
  if (closed || at == in_.form().last_value) close(true);
  in_.call->part = static_cast<std::uint8_t>(next);
  begin_part();
}

/// A tag that closes itself and stands outside of a section may well be a word of prose or code. So it is a call only
/// outside of reasoning, and with the name of a tool; where no tools are known, at the beginning of the answer.
bool CallReader::may_close_itself() const {
  const Call& call = *in_.call;
  const bool inside = in_.form().form->layout != CallLayout::single && !call.loose;
  if (inside || call.committed || is_shaped(in_.lead) || in_.has_control(in_.lead)) return true;
  if (in_.answer.region == Region::reasoning) return false;
  return in_.tools().known() ? in_.tools().declares(call.name) : !in_.answer.answers;
}

/// Where a call says its name twice, the first counts, unless only the second is a tool's.
void CallReader::take_name(std::string name) {
  Call& call = *in_.call;
  if (call.name.empty()) {
    call.name = std::move(name);
  } else if (call.name.view() != name) {
    in_.out.malformed(in_.lead.size(), "the name '" + std::string(call.name) + "' again");
    if (!call.named && in_.tools().declares(name) && !in_.tools().declares(call.name)) call.name = std::move(name);
  }
}

/// No tool has the name, and another one follows before the arguments, which a tool may have.
bool CallReader::awaits_name() const {
  if (!in_.tools().known() || in_.tools().declares(in_.call->name)) return false;
  const std::vector<CallPart>& parts = in_.form().form->call;
  for (std::size_t i = in_.call->part + std::size_t{1}; i < in_.form().arguments_part && i < parts.size(); ++i) {
    if (parts[i].kind == Part::name) return true;
  }
  return false;
}

/// Cuts off what stands between a name and the bracket of its arguments, `.call` say.
bool CallReader::take_callee(std::string& name) const {
  const std::size_t next = in_.call->part + std::size_t{1};
  if (next >= in_.form().form->call.size()) return true;
  const std::string& callee = in_.form().form->call[next].arguments.callee;
  if (!name.ends_with(callee) || name.size() <= callee.size()) return callee.empty();
  name.resize(name.size() - callee.size());
  return true;
}

void CallReader::take_id() {
  const std::string& pattern = in_.part().pattern;
  if (pattern.find("{name}") == pattern.npos || in_.call->named || !in_.call->name.empty()) return;
  in_.call->name = name_in_id(in_.call->id, pattern);
}

void CallReader::meet_in_field(const Mark& mark, const std::string& source) {
  const bool literal = in_.has_literal_behind();
  if (mark.meaning == Meaning::end || mark.meaning == Meaning::turn) {
    in_.give_back(source);
    return fail(literal ? in_.literal_behind() : "the arguments");
  }
  if (!literal) {  // arguments in tags follow, or none
    in_.give_back(source);
    return end_field();
  }
  if (!heed_content_type(source)) {
    in_.give_back(source);
    return fail(in_.form().form->content_type);
  }
  in_.put_frame(source);
  end_field(mark.skipped);
  if (in_.place != Place::text) absorb_after(mark.after);
}

/// False where the marker before the arguments says that they are of another form that begins alike.
bool CallReader::heed_content_type(std::string_view source) {
  const CallForm& form = *in_.form().form;
  const std::size_t next = in_.call->part + std::size_t{2};
  const bool behind = next < form.call.size() && form.call[next].kind == Part::arguments;
  if (!behind || !in_.form().has_sibling || in_.call->named) return true;
  const std::string_view word = last_word(source);
  if (word.empty()) return true;
  in_.call->sure = word == form.content_type;
  if (in_.call->sure) return true;
  for (std::size_t i = in_.form_index + std::size_t{1}; i < in_.machine->forms.size(); ++i) {
    const CallForm& later = *in_.machine->forms[i].form;
    if (later.content_type == word && later.call.front() == form.call.front()) return false;
  }
  return true;
}

// ---- literals, and what stands between calls

/// The markers that are due.
const MarkerTrie& CallReader::due() const {
  const Form& form = in_.form();
  if (in_.place == Place::next) return form.next;
  return in_.call->ended && in_.call->part == form.form->call.size() ? form.close : form.literals[in_.call->part];
}

const char* CallReader::read_between(const char* p, const char* end) {
  const MarkerTrie& markers = due();
  const bool literal = in_.place == Place::literal;
  const auto is_blank = [&](char c) {  // but for a literal that is white space itself
    return (is_json_space(c) || is_surplus(c)) && !(literal && markers.begins(c));
  };
  end_gap(read_gap(in_, markers, p, end, is_blank));
  return p;
}

void CallReader::end_gap(const GapEnd& gap) {
  if (gap.what == GapEnd::What::more) return;
  if (gap.what == GapEnd::What::marker) {
    const std::size_t surplus =
        in_.place == Place::literal ? gap.held.substr(0, gap.blanks).find_first_of("}];,") : gap.held.npos;
    if (surplus != gap.held.npos) in_.out.malformed(surplus, literal_due());
    return in_.place == Place::literal ? meet_literal(gap.mark, gap.held) : meet_between(gap.mark, gap.held);
  }
  if (in_.place == Place::next) return refuse_next(gap.held, gap.blanks, gap.next);
  if (gap.next == '{' && gap.held.size() == gap.blanks && is_behind_object()) return begin_another(gap.held);
  refuse_literal(gap.held, gap.blanks);
}

/// Behind a call's object or a list of calls: a bracket too many, or a sign before another object.
bool CallReader::is_surplus(char c) const {
  const bool brace = c == '}' || c == ']', sign = c == ';' || c == ',';
  if (!(brace || sign) || in_.place != Place::literal) return false;
  const CallForm& form = *in_.form().form;
  const bool behind_list = c == ']' && form.layout == CallLayout::list && in_.call->part == form.call.size();
  if (!behind_list && !is_behind_object()) return false;
  return in_.held.bytes.find_first_of("}];,") == std::string::npos;
}

/// The part that is due, or what closes the calls.
std::string_view CallReader::literal_due() const {
  const bool closes = in_.call->part == in_.form().form->call.size();
  return closes ? std::string_view(in_.form().form->close.texts.front()) : in_.form().literal_text(in_.call->part);
}

void CallReader::meet_between(const Mark& mark, const std::string& source) {
  if (mark.meaning == Meaning::call_close) {
    in_.put_markup(in_.lead.take() + source);
    in_.begin_content(Gap::closed);
    return absorb_after(mark.after);
  }
  if (mark.meaning == Meaning::surplus) return meet_surplus_item(source);
  in_.put_frame(source);
  in_.call->part = 1;
  begin_part();
}

/// What closes a call of a section, behind one that is closed.
void CallReader::meet_surplus_item(const std::string& source) {
  if (!in_.call->committed) {
    in_.give_back(source);
    return fail(in_.form().literal_text(0));
  }
  const std::string_view closer = trimmed_left(source);
  in_.out.malformed(source.size() - closer.size(), "'" + std::string(closer) + "' once");
  in_.put_markup(source);
}

void CallReader::meet_literal(const Mark& mark, const std::string& source) {
  if (in_.call->missing && !in_.call->named) {  // neither a name nor arguments
    in_.give_back(source);
    return fail("the name of a call");
  }
  const std::string_view due = literal_due();
  const std::size_t fence = source.find("```");
  if (fence != source.npos && due.find("```") == due.npos) in_.out.malformed(fence, due, Fault::mended);
  in_.put_frame(source);
  if (in_.call->missing) {
    in_.call->missing = false;
    in_.put_meant("{}");
    close(true);
  }
  if (in_.call->part == in_.form().form->call.size()) {
    in_.begin_content(Gap::closed);
  } else {
    ++in_.call->part;
    begin_part();
  }
  absorb_after(mark.after);
}

/// Something else stands there: the call is cut, or only what closes it is missing.
void CallReader::refuse_literal(const std::string& held, std::size_t blanks) {
  const bool closes = in_.call->part == in_.form().form->call.size();
  const std::string_view wanted = in_.call->missing ? "an object of arguments" : literal_due();
  if (!in_.call->ended) {
    in_.put_frame(std::string_view(held).substr(0, blanks));
    in_.give_back(std::string_view(held).substr(blanks));
    return fail(wanted);
  }
  in_.give_back(held);
  if (!in_.form().form->close_optional && !in_.call->loose) in_.out.malformed(blanks, wanted);
  if (closes) return in_.begin_content(Gap::after);
  end_item();
}

/// Between calls, neither another one nor what closes them.
void CallReader::refuse_next(const std::string& held, std::size_t blanks, char next) {
  const bool literal = in_.form().is_literal(0);
  const CallForm& form = *in_.form().form;
  const std::string_view wanted = form.close.exists() ? std::string_view(form.close.texts.front()) : "a call";
  const bool begins = !literal && begins_item(next);
  if (begins || !in_.call->committed || form.layout == CallLayout::list) {
    in_.put_frame(std::string_view(held).substr(0, blanks));
    in_.give_back(std::string_view(held).substr(blanks));
    if (begins) return begin_part();
    return fail(in_.call->committed ? wanted : literal ? in_.form().literal_text(0) : "a call");
  }
  if (form.close.exists() && !form.close_optional && !in_.call->loose) in_.out.malformed(blanks, wanted);
  in_.begin_content(Gap::after);
  in_.give_back(held);
}

}  // namespace parlance::reply
