// Filters on characters: case, trimming, replacing, % formatting, counting words.
//
// Source of the rules: Jinja2 3.1.6 filters.py, CPython 3.11 Objects/unicodeobject.c.
// Pieces that stay as they are keep their origin. Begin reading at kTextFilters, at the end.
#include "jinja/filters/common.h"
#include "jinja/filters/tables.h"
#include "value/format.h"
#include "value/markup.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

/// The first code point of text that is not empty, and its bytes.
utf8::Decoded first_of(std::string_view bytes) { return utf8::decode(bytes.data(), bytes.data() + bytes.size()); }

Value filter_upper(Call& call) {
  Value s = call.text_of(0);
  return s.is_invalid() ? s : upper_text(call.rt, s);
}

Value filter_lower(Call& call) {
  Value s = call.text_of(0);
  return s.is_invalid() ? s : lower_text(call.rt, s);
}

/// Head and rest are made apart so that an unchanged one keeps its origin.
Value filter_capitalize(Call& call) {
  Runtime& rt = call.rt;
  Value s = call.text_of(0);
  if (s.is_invalid() || s.size == 0) return s;
  std::string_view bytes = text(rt, s);
  if (rt.failed()) return Value::invalid();
  std::size_t head = first_of(bytes).size;
  std::string title;
  unicode::append_capitalize(title, bytes.substr(0, head));
  Value rest = lower_text(rt, substring(rt, s, head, s.size));
  if (rest.is_invalid()) return rest;
  if (bytes.find("\xCE\xA3") != std::string_view::npos) {  // a final sigma looks back at the first letter
    std::string whole;
    unicode::append_capitalize(whole, bytes);
    return with_markup(make_derived(rt, whole, s), s.is_markup());
  }
  StringBuilder out(rt);
  if (title == bytes.substr(0, head)) {
    out.append(s, 0, head);
  } else {
    out.append_derived(title, s);
  }
  out.append(rest);
  return out.finish(s.is_markup());
}

/// What Jinja2's title() takes for the beginning of a new word.
bool begins_word(char32_t c) {
  return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || unicode::is_space(c);
}

void append_word(Runtime& rt, StringBuilder& out, Cutter& cut, std::string_view bytes, std::size_t begin,
                 std::size_t end) {
  std::size_t head = begin + first_of(bytes.substr(begin)).size;
  StringBuilder first(rt), rest(rt);
  cut.append(first, begin, head);
  cut.append(rest, head, end);
  Value upper = first.finish(), lower = rest.finish();
  if (upper.is_invalid() || lower.is_invalid()) return;
  upper = upper_text(rt, upper);
  lower = lower_text(rt, lower);
  if (upper.is_invalid() || lower.is_invalid()) return;
  out.append(upper);
  out.append(lower);
}

Value filter_title(Call& call) {
  Runtime& rt = call.rt;
  Value s = call.text_of(0);
  if (s.is_invalid()) return s;
  std::string_view bytes = text(rt, s);
  StringBuilder out(rt);
  Cutter cut(s);
  const char *base = bytes.data(), *end = base + bytes.size(), *p = base;
  while (p < end && !rt.failed()) {
    const char* begin = p;
    bool blank = begins_word(utf8::decode(p, end).code_point);
    for (utf8::Decoded d; p < end && begins_word((d = utf8::decode(p, end)).code_point) == blank;) p += d.size;
    std::size_t from = static_cast<std::size_t>(begin - base), to = static_cast<std::size_t>(p - base);
    if (blank) {
      cut.append(out, from, to);
    } else {
      append_word(rt, out, cut, bytes, from, to);
    }
  }
  return out.finish();
}

/// Linear in `chars`, which filter_trim charges for all characters of the text in advance.
bool is_one_of(std::string_view chars, char32_t c) {
  const char *p = chars.data(), *end = p + chars.size();
  for (utf8::Decoded d; p < end; p += d.size) {
    d = utf8::decode(p, end);
    if (d.code_point == c) return true;
  }
  return false;
}

/// str.strip() where `strips` says which characters go.
template <typename Strips>
Value strip(Runtime& rt, Value s, Strips strips) {
  std::string_view bytes = text(rt, s);
  const char *begin = bytes.data(), *end = begin + bytes.size();
  const char* last = end;
  for (utf8::Decoded d; begin < last && strips((d = utf8::decode(begin, last)).code_point);) begin += d.size;
  for (utf8::Decoded d; begin < last && strips((d = utf8::decode_back(begin, last)).code_point);) last -= d.size;
  if (!rt.charge_bytes(bytes.size() - static_cast<std::size_t>(last - begin))) return Value::invalid();
  return substring(rt, s, static_cast<std::size_t>(begin - bytes.data()),
                   static_cast<std::size_t>(last - bytes.data()));
}

Value filter_trim(Call& call) {
  Value s = call.text_of(0);
  if (s.is_invalid()) return s;
  if (call[1].is_none()) return strip(call.rt, s, unicode::is_space);
  if (!call[1].is_string()) return call.fail(ErrorCode::type, "strip arg must be None or str");
  std::string_view chars = text(call.rt, call[1]);
  if (!call.rt.charge(chars.size() / 32 * (1 + s.size / 32))) return Value::invalid();
  return strip(call.rt, s, [&](char32_t c) { return is_one_of(chars, c); });
}

/// str.replace() with an empty `old`: `fresh` in front of each character and at the end.
/// In front of each character, then once at the end if the count allows: 'ab'|replace('', '-') is -a-b-.
Value replace_nothing(Runtime& rt, Value s, Value fresh, std::int64_t count) {
  std::string_view bytes = text(rt, s);
  StringBuilder out(rt);
  Cutter cut(s);
  const char *base = bytes.data(), *end = base + bytes.size(), *p = base;
  for (; count != 0 && p < end && rt.charge(1); --count) {
    std::size_t from = static_cast<std::size_t>(p - base);
    p += utf8::decode(p, end).size;
    out.append(fresh);
    cut.append(out, from, static_cast<std::size_t>(p - base));
  }
  if (count != 0 && p == end) out.append(fresh);
  cut.append(out, static_cast<std::size_t>(p - base), bytes.size());
  return out.finish(s.is_markup());
}

/// str.replace(); a negative count is all.
Value replace_text(Runtime& rt, Value s, Value old, Value fresh, std::int64_t count) {
  if (!rt.charge_bytes(s.size) || count == 0) return rt.failed() ? Value::invalid() : s;
  if (old.size == 0) return replace_nothing(rt, s, fresh, count);
  std::string_view bytes = text(rt, s);
  Needle needle(rt, text(rt, old));
  std::size_t at = needle.find(bytes, 0);
  if (at == std::string_view::npos || rt.failed()) return rt.failed() ? Value::invalid() : s;
  StringBuilder out(rt);
  Cutter cut(s);
  std::size_t from = 0;
  for (; at != std::string_view::npos && count != 0 && rt.charge(1); --count) {
    cut.append(out, from, at);
    out.append(fresh);
    from = at + old.size;
    at = needle.find(bytes, from);
  }
  cut.append(out, from, bytes.size());
  return out.finish(s.is_markup());
}

Value filter_replace(Call& call) {
  Runtime& rt = call.rt;
  std::int64_t count = -1;
  Value s = call.text_of(0), old = call.text_of(1), fresh = call.text_of(2);
  if (s.is_invalid() || old.is_invalid() || fresh.is_invalid()) return Value::invalid();
  // do_replace() calls str() first without autoescape, so a Markup loses its mark there.
  if (!rt.autoescape) {
    s = with_markup(s, false);
  } else if (old.is_markup() || (fresh.is_markup() && !s.is_markup())) {
    s = escape_html(rt, s);
  }
  if (s.is_markup()) fresh = escape_html(rt, fresh);
  if (s.is_invalid() || fresh.is_invalid()) return Value::invalid();
  if (!call[3].is_none() && !size_argument(call, 3, count)) return Value::invalid();
  return replace_text(rt, s, old, fresh, count);
}

Value filter_string(Call& call) { return call.text_of(0); }

Value keyword_dict(Runtime& rt, const PassedArguments& arguments) {
  DictBuilder dict(rt, arguments.keyword_count);
  for (std::uint32_t i = 0; i < arguments.keyword_count; ++i) {
    dict.set(arguments.keywords[i].key, arguments.keywords[i].value);
  }
  return dict.finish();
}

Value filter_format(Call& call) {
  const PassedArguments& rest = call.rest;
  if (rest.positional_count != 0 && rest.keyword_count != 0) {
    return fail_filter(call, "can't handle positional and keyword arguments at the same time");
  }
  Value s = call.text_of(0);
  if (s.is_invalid()) return s;
  Value arguments = rest.keyword_count != 0 ? keyword_dict(call.rt, rest)
                                            : make_list(call.rt, rest.positional, rest.positional_count, Kind::tuple);
  return format_percent(call.rt, s, arguments);
}

Value filter_wordcount(Call& call) {
  Value s = call.text_of(0);
  if (s.is_invalid() || !call.rt.charge_bytes(s.size)) return Value::invalid();
  std::string_view bytes = text(call.rt, s);
  const char *p = bytes.data(), *end = p + bytes.size();
  std::int64_t words = 0;
  bool inside = false;
  while (p < end) {
    utf8::Decoded d = utf8::decode(p, end);
    bool word = d.code_point == '_' || unicode::is_alnum(d.code_point);
    if (word && !inside) ++words;
    inside = word;
    p += d.size;
  }
  return Value::of_int(words);
}

constexpr Builtin kTextFilters[] = {
    {"upper", "", "value", filter_upper, "The string in upper case.", "{{ 'straße'|upper }} -> STRASSE"},
    {"lower", "", "value", filter_lower, "The string in lower case.", "{{ 'ÀB'|lower }} -> àb"},
    {"capitalize", "", "value", filter_capitalize, "The first character in title case, the others in lower case.",
     "{{ 'hELLO wORLD'|capitalize }} -> Hello world"},
    {"title", "", "value", filter_title,
     "The first character of each word in upper case, the others in lower case; words begin after "
     "white space and "
     "any of - ( { [ <.",
     "{{ \"o'neil-smith (jr)\"|title }} -> O'neil-Smith (Jr)"},
    {"trim", "", "value, chars=none", filter_trim,
     "The string stripped of white space, or of any of `chars`, at both ends.", "{{ '--a-b--'|trim('-') }} -> a-b"},
    {"replace", "", "value, old, new, count=none", filter_replace,
     "The string with every `old`, or the first `count` of them, replaced by `new`.",
     "{{ 'aaaargh'|replace('a', 'oh, ', 2) }} -> oh, oh, aargh"},
    {"string", "", "value", filter_string, "The value converted to a string, as Python's str() does.",
     "{{ [1, 2.0]|string|length }} -> 8"},
    {"format", "", "value, *args, **kwargs", filter_format,
     "The string with its % fields filled in, as Python's % operator does.",
     "{{ '%s: %05.1f'|format('x', 3.14159) }} -> x: 003.1"},
    {"wordcount", "", "value", filter_wordcount, "The number of words: runs of letters, digits and underscores.",
     "{{ \"it's two-fold\"|wordcount }} -> 4"},
};

}  // namespace

std::span<const Builtin> text_filters() { return kTextFilters; }

}  // namespace parlance::jinja
