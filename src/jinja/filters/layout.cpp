// Filters that arrange lines: center, indent, truncate, wordwrap.
//
// Source of the rules: Jinja2 3.1.6 filters.py; CPython 3.11 Lib/textwrap.py for wordwrap, whose
// chunk grammar is next_chunk. All measures are code points. Begin reading at kLayoutFilters, at
// the end.
#include <algorithm>
#include <vector>

#include "jinja/filters/common.h"
#include "jinja/filters/tables.h"
#include "jinja/objects/methods.h"
#include "jinja/objects/rare/bytes.h"
#include "value/markup.h"
#include "value/number.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

Value filter_center(Call& call) {
  Runtime& rt = call.rt;
  Value s = call.text_of(0);
  std::int64_t width;
  if (s.is_invalid() || !size_argument(call, 1, width)) return Value::invalid();
  auto size = static_cast<std::int64_t>(length(rt, s));
  if (width <= size || rt.failed()) return rt.failed() ? Value::invalid() : s;
  std::int64_t margin = width - size;
  std::int64_t left = margin / 2 + (margin & width & 1);                         // CPython's choice of the longer side
  if (!rt.reserve(static_cast<std::uint64_t>(margin))) return Value::invalid();  // both sides at once
  Value before = spaces(rt, static_cast<std::uint64_t>(left));
  Value after = spaces(rt, static_cast<std::uint64_t>(margin - left));
  if (before.is_invalid() || after.is_invalid()) return Value::invalid();
  StringBuilder out(rt);
  out.append(before);
  out.append(s);
  out.append(after);
  return out.finish(s.is_markup());
}

// ---- indent

/// The `width` argument as the text that goes in front of lines.
Value indention_of(Call& call) {
  if (call[1].is_string()) return with_markup(call[1], false);
  if (call[1].is_undefined()) return fail_undefined(call.rt, call[1]);
  if (!call[1].is(Kind::integer) && !call[1].is(Kind::boolean)) {
    return call.fail(ErrorCode::type,
                     "can't multiply sequence by non-int of type '" + std::string(type_name(call[1])) + "'");
  }
  std::int64_t width;
  if (!size_argument(call, 1, width)) return Value::invalid();
  return spaces(call.rt, width < 0 ? 0 : static_cast<std::uint64_t>(width));
}

Value fail_indent(Call& call) {
  Value v = call[0];
  if (v.is_undefined() || v.is(Kind::list)) return fail_attribute(call.rt, v, "splitlines");
  return call.fail(ErrorCode::type, v.is(Kind::tuple) ? "can only concatenate tuple (not \"str\") to tuple"
                                                      : "unsupported operand type(s) for +=: '" +
                                                            std::string(type_name(v)) + "' and 'str'");
}

Value filter_indent(Call& call) {
  Runtime& rt = call.rt;
  Value s = call[0];
  Value indention = indention_of(call);
  if (indention.is_invalid()) return indention;
  if (!s.is_string()) return fail_indent(call);
  bool blank = call.truth(3), first = call.truth(2);
  if (rt.failed() || !rt.charge_bytes(s.size)) return Value::invalid();
  std::string_view bytes = text(rt, s);
  StringBuilder out(rt);
  Cutter cut(s);
  bool started = false;
  auto add = [&](std::size_t begin, std::size_t end) {
    if (started) out.append_static("\n");
    if (started ? blank || begin != end : first) out.append(indention);
    started = true;
    cut.append(out, begin, end);
  };
  for_each_line(bytes, add);
  // One line end more is counted in front of splitting: text that ends in one has an empty last
  // line, except that a final "\r" joins it.
  bool ended =
      bytes.empty() || unicode::is_line_break(utf8::decode_back(bytes.data(), bytes.data() + bytes.size()).code_point);
  if (ended && (bytes.empty() || bytes.back() != '\r')) add(bytes.size(), bytes.size());
  return out.finish(s.is_markup());
}

// ---- truncate

/// value[:stop] as Python would cut it.
Value head_of(Runtime& rt, Value v, Value stop) {
  if (v.is(Kind::dict)) return rt.fail(ErrorCode::type, "unhashable type: 'slice'", v);
  if (v.is_undefined()) return fail_undefined(rt, v);
  return slice(rt, v, Value::none(), stop, Value::none());
}

Value fail_assertion(Call& call, std::string_view least, Value got) {
  Value shown = to_text(call.rt, got);
  if (shown.is_invalid()) return shown;
  return call.fail(ErrorCode::assertion,
                   "expected " + std::string(least) + ", got " + std::string(text(call.rt, shown)));
}

/// The part of `s` in front of its last blank, or all of it.
Value before_last_blank(Runtime& rt, Value s) {
  if (!s.is_string()) return fail_attribute(rt, s, "rsplit");
  std::size_t blank = text(rt, s).rfind(' ');
  return blank == std::string_view::npos ? s : substring(rt, s, 0, blank);
}

Value filter_truncate(Call& call) {
  Runtime& rt = call.rt;
  constexpr std::int64_t kLeeway = 5;  // Jinja2's policy truncate.leeway
  Value most = call[1], leeway = call[4].is_none() ? Value::of_int(kLeeway) : call[4];
  std::int64_t end_size = length_of(rt, call[3]);
  if (end_size < 0) return Value::invalid();
  if (!compare(rt, Comparison::greater_equal, most, Value::of_int(end_size))) {
    if (rt.failed()) return Value::invalid();
    return fail_assertion(call, "length >= " + std::to_string(end_size), most);
  }
  if (!compare(rt, Comparison::greater_equal, leeway, Value::of_int(0))) {
    return rt.failed() ? Value::invalid() : fail_assertion(call, "leeway >= 0", leeway);
  }
  std::int64_t size = length_of(rt, call[0]);
  Value room = size < 0 ? Value::invalid() : binary(rt, BinaryOperator::add, most, leeway);
  if (room.is_invalid()) return room;
  if (compare(rt, Comparison::less_equal, Value::of_int(size), room)) return call[0];
  Value stop = rt.failed() ? Value::invalid() : binary(rt, BinaryOperator::subtract, most, Value::of_int(end_size));
  if (stop.is_invalid()) return stop;
  Value head = head_of(rt, call[0], stop);
  if (!head.is_invalid() && !call.truth(2)) head = before_last_blank(rt, head);
  return head.is_invalid() ? head : binary(rt, BinaryOperator::add, head, call[3]);
}

// ---- wordwrap

/// One line of text as code points, with the byte offset of each (and of the end).
struct Line {
  std::vector<char32_t> chars;
  std::vector<std::uint32_t> offsets;

  std::size_t size() const { return chars.size(); }
  char32_t at(std::size_t i) const { return i < chars.size() ? chars[i] : 0; }
};

void read_line(std::string_view bytes, std::size_t begin, std::size_t end, Line& line) {
  line.chars.clear();
  line.offsets.clear();
  const char *p = bytes.data() + begin, *stop = bytes.data() + end;
  while (p < stop) {
    utf8::Decoded d = utf8::decode(p, stop);
    line.chars.push_back(d.code_point);
    line.offsets.push_back(static_cast<std::uint32_t>(p - bytes.data()));
    p += d.size;
  }
  line.offsets.push_back(static_cast<std::uint32_t>(end));
}

bool is_wrap_space(char32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_wrap_letter(char32_t c) { return is_word_character(c) && !unicode::is_decimal(c); }
bool is_word_or_mark(char32_t c) {
  return is_word_character(c) || c == '!' || c == '"' || c == '\'' || c == '&' || c == '.' || c == ',' || c == '?';
}

/// The end of two or more dashes at `i` with a word character after them; 0 if there are none.
std::size_t dash_end(const Line& line, std::size_t i) {
  std::size_t end = i;
  while (line.at(end) == '-') ++end;
  return end - i >= 2 && end < line.size() && is_word_character(line.at(end)) ? end : 0;
}

/// May a word be cut after the hyphen at `i`? Two letters before it (or letter, hyphen, letter) and
/// two after.
bool cuts_at_hyphen(const Line& line, std::size_t i) {
  if (line.at(i) != '-' || i < 2 || !is_wrap_letter(line.at(i - 1))) return false;
  bool before = is_wrap_letter(line.at(i - 2)) || (i >= 3 && line.at(i - 2) == '-' && is_wrap_letter(line.at(i - 3)));
  if (!before || i + 1 >= line.size() || !is_wrap_letter(line.at(i + 1))) return false;
  std::size_t next = line.at(i + 2) == '-' ? i + 3 : i + 2;
  return next < line.size() && is_wrap_letter(line.at(next));
}

/// The end of the chunk that begins at `i`: white space, dashes between words, or a word up to
/// where it may be cut.
std::size_t next_chunk(const Line& line, std::size_t i, bool hyphens) {
  std::size_t end = i;
  if (is_wrap_space(line.at(i))) {
    while (end < line.size() && is_wrap_space(line.at(end))) ++end;
    return end;
  }
  if (hyphens && i > 0 && is_word_or_mark(line.at(i - 1))) {
    std::size_t dashes = dash_end(line, i);
    if (dashes != 0) return dashes;
  }
  for (++end; end < line.size() && !is_wrap_space(line.at(end)); ++end) {
    if (!hyphens) continue;
    if (cuts_at_hyphen(line, end)) return end + 1;
    if (is_word_or_mark(line.at(end - 1)) && dash_end(line, end) != 0) return end;
  }
  return end;
}

struct Wrap {
  std::size_t width;
  bool is_real;  ///< the width is a float: Python cannot cut a word with it
  bool break_words;
  bool hyphens;        ///< may a long word be cut after a hyphen
  bool split_hyphens;  ///< are hyphens cut at all: textwrap wants True itself
};

/// Where a word longer than the line is cut, `room` characters being left.
std::size_t cut_long_word(const Line& line, std::size_t begin, std::size_t end, std::size_t room, const Wrap& wrap) {
  if (!wrap.hyphens || end - begin <= room) return std::min(end, begin + room);
  for (std::size_t i = begin + room; i-- > begin;) {
    if (line.chars[i] != '-') continue;
    bool only_dashes =
        std::all_of(line.chars.begin() + static_cast<std::ptrdiff_t>(begin),
                    line.chars.begin() + static_cast<std::ptrdiff_t>(i), [](char32_t c) { return c == '-'; });
    if (i > begin && !only_dashes) return i + 1;
    break;
  }
  return begin + room;
}

bool is_blank(const Line& line, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (!unicode::is_space(line.chars[i])) return false;
  }
  return true;
}

/// Calls emit(begin, end) for the wrapped lines of one line, in code points.
template <typename Emit>
void wrap_line(Runtime& rt, const Line& line, const Wrap& wrap, Emit emit) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < line.size();) ends.push_back(i = next_chunk(line, i, wrap.split_hyphens));
  std::size_t begin = 0, chunk = 0;
  bool any = false;
  while (chunk < ends.size()) {
    if (any && is_blank(line, begin, ends[chunk])) begin = ends[chunk++];
    std::size_t from = begin, last = begin;  // `last` begins the last chunk on the line
    while (chunk < ends.size() && ends[chunk] - from <= wrap.width) {
      last = begin;
      begin = ends[chunk++];
    }
    if (chunk < ends.size() && ends[chunk] - begin > wrap.width) {
      if (wrap.break_words) {
        if (wrap.is_real && wrap.width >= 1) {
          rt.fail(ErrorCode::type, "slice indices must be integers or None or have an __index__ method");
          return;
        }
        // CPython takes nothing of the word when the line is full, but the empty part still counts
        // as a chunk.
        last = begin;
        begin = cut_long_word(line, begin, ends[chunk], wrap.width < 1 ? 1 : wrap.width - (begin - from), wrap);
        if (begin == ends[chunk]) ++chunk;
      } else if (begin == from) {
        last = begin;
        begin = ends[chunk++];
      }
    }
    std::size_t to = from != begin && is_blank(line, last, begin) ? last : begin;
    if (to == from) continue;
    any = true;
    emit(from, to);
  }
}

/// The width as TextWrapper compares it with lengths: whole, and at least 0; false with the failure
/// recorded.
bool read_width(Call& call, Wrap& wrap) {
  Value width = call[1];
  if (width.is_undefined()) {
    fail_undefined(call.rt, width);
    return false;
  }
  if (!is_number(width)) {
    call.fail(ErrorCode::type,
              "'<=' not supported between instances of '" + std::string(type_name(width)) + "' and 'int'");
    return false;
  }
  if (number_compare(width, Value::of_int(0)) <= 0) {
    call.fail(ErrorCode::value,
              "invalid width " + std::string(text(call.rt, to_text(call.rt, width))) + " (must be > 0)");
    return false;
  }
  wrap.is_real = width.is(Kind::real);
  wrap.width = Runtime::kMaxText;
  if (number_compare(width, Value::of_int(Runtime::kMaxText)) >= 0) return true;
  wrap.width = wrap.is_real ? static_cast<std::size_t>(width.real) : static_cast<std::size_t>(width.integer);
  return true;
}

Value filter_wordwrap(Call& call) {
  Runtime& rt = call.rt;
  Value s = call[0], between = call[3].is_none() ? make_static("\n") : call[3];
  const bool is_bytes = is_object(s, kBytesType);
  const bool has_join = between.is_string() || is_object(between, kBytesType);
  if (has_join && !s.is_string() && !is_bytes) return fail_attribute(rt, s, "splitlines");
  if (!between.is_string()) {
    if (has_join) return call.fail(ErrorCode::type, "sequence item 0: expected a bytes-like object, str found");
    return fail_attribute(rt, between, "join");
  }
  if (is_bytes) {  // they have lines, but those are not wrapped
    if (!call.truth(0)) return make_static("");
    return call.fail(ErrorCode::type, "cannot use a string pattern on a bytes-like object");
  }
  if (!rt.reserve(std::uint64_t{s.size} * 16) || !rt.charge_bytes(8 * std::uint64_t{s.size})) return Value::invalid();
  bool is_true = call[4].is(Kind::boolean) && call[4].integer != 0;
  Wrap wrap{0, false, call.truth(2), call.truth(4), is_true};
  std::string_view bytes = text(rt, s);
  StringBuilder out(rt);
  Cutter cut(s);
  Line line;
  bool first_line = true;
  for_each_line(bytes, [&](std::size_t begin, std::size_t end) {
    if (rt.failed() || (first_line && !read_width(call, wrap))) return;
    if (!first_line) out.append(between);
    first_line = false;
    bool first_part = true;
    read_line(bytes, begin, end, line);
    wrap_line(rt, line, wrap, [&](std::size_t from, std::size_t to) {
      if (!first_part) out.append(between);
      first_part = false;
      if (rt.charge(1)) cut.append(out, line.offsets[from], line.offsets[to]);
    });
  });
  return rt.failed() ? Value::invalid() : out.finish(between.is_markup());
}

constexpr Builtin kLayoutFilters[] = {
    {"center", "", "value, width=80", filter_center, "The string centred in a field of `width` characters.",
     "{{ '[' ~ 'ab'|center(6) ~ ']' }} -> [  ab  ]"},
    {"indent", "", "s, width=4, first=false, blank=false", filter_indent,
     "The string with its lines indented by `width` spaces, or by the string `width`. The first line is indented only "
     "if `first`, blank lines only if `blank`.",
     "{{ 'a b'|indent(2, true) }} ->   a b"},
    {"truncate", "", "s, length=255, killwords=false, end='...', leeway=none", filter_truncate,
     "The string cut to `length` characters, `end` included; at a space unless `killwords`. A string that is at most "
     "`leeway` (5) characters too long is left whole.",
     "{{ 'foo bar baz qux'|truncate(9, leeway=0) }} -> foo..."},
    {"wordwrap", "", "s, width=79, break_long_words=true, wrapstring=none, break_on_hyphens=true", filter_wordwrap,
     "The string with `wrapstring` (a newline) inserted where a line would exceed `width` characters.",
     "{{ 'foo bar baz'|wordwrap(7, wrapstring='/') }} -> foo bar/baz"},
};

}  // namespace

std::span<const Builtin> layout_filters() { return kLayoutFilters; }

}  // namespace parlance::jinja
