// The urlize filter: addresses in a text become links.
//
// Source of the rules: Jinja2 3.1.6 utils.py (urlize, _http_re, _email_re) and filters.py
// (do_urlize). Its regular expressions are written out as functions: a host is the longest run of
// host characters, since what may follow it (end, port, / ? #) is none of them. Begin reading at
// filter_urlize.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "jinja/filters/common.h"
#include "jinja/filters/tables.h"
#include "value/markup.h"
#include "value/number.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

using Text = std::u32string_view;

/// Lower case of a letter as an ASCII pattern without case sees it in Python's re: four more
/// characters match.
char32_t fold(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c == 0x130 || c == 0x131) return 'i';
  if (c == 0x17F) return 's';
  return c == 0x212A ? U'k' : c;
}

bool begins_with(Text t, std::string_view lower) {
  if (t.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (fold(t[i]) != static_cast<char32_t>(lower[i])) return false;
  }
  return true;
}

bool is_label(char32_t c) { return is_word_character(c) || c == '%' || c == '-'; }
bool is_hex(char32_t c) { return unicode::is_decimal(c) || (fold(c) >= 'a' && fold(c) <= 'f'); }
bool is_ascii_letter(char32_t c) { return fold(c) >= 'a' && fold(c) <= 'z'; }

template <typename Is>
bool all(Text t, Is is) {
  return std::all_of(t.begin(), t.end(), is);
}

/// May an address end here, or go on with a port, a path, a query or a fragment to the end of the
/// text?
bool ends_host(Text rest) {
  auto is_tail = [](Text t) { return t.empty() || t[0] == '/' || t[0] == '?' || t[0] == '#'; };
  if (is_tail(rest)) return true;
  if (rest[0] != ':') return false;
  std::size_t digits = 1;
  while (digits < rest.size() && unicode::is_decimal(rest[digits])) ++digits;
  for (std::size_t n = 2; n <= std::min<std::size_t>(digits, 6); ++n) {
    if (is_tail(rest.substr(n))) return true;
  }
  return false;
}

/// The size of the run of characters a host name may have.
std::size_t host_size(Text t) {
  std::size_t n = 0;
  while (n < t.size() && (is_label(t[n]) || t[n] == '.')) ++n;
  return n;
}

/// Are all labels before the last one at least `least` and at most `most` long? Gives the last one.
bool split_labels(Text host, std::size_t least, std::size_t most, Text& last, std::size_t& count) {
  count = 0;
  for (std::size_t dot; (dot = host.find(U'.')) != Text::npos; ++count) {
    if (dot < least || dot > most) return false;
    host.remove_prefix(dot + 1);
  }
  last = host;
  return true;
}

/// A host after http:// or www.: labels, then a top-level name of letters or an encoded one.
bool is_named_host(Text t) {
  std::size_t size = host_size(t), count;
  Text last;
  if (!split_labels(t.substr(0, size), 1, Text::npos - 1, last, count) || !ends_host(t.substr(size))) return false;
  if (last.size() >= 2 && last.size() <= 63 && all(last, is_ascii_letter)) return true;
  if (!begins_with(last, "xn--")) return false;
  Text encoded = last.substr(4);
  return encoded.size() >= 2 && encoded.size() <= 59 &&
         all(encoded, [](char32_t c) { return is_word_character(c) || c == '%'; });
}

/// A host without a scheme: labels, then one of the old top-level names.
bool is_bare_host(Text t) {
  static constexpr std::array<std::string_view, 8> kNames = {"com", "net", "int", "edu", "gov", "org", "info", "mil"};
  std::size_t size = host_size(t), count;
  Text last;
  if (!split_labels(t.substr(0, size), 2, 63, last, count) || count == 0 || !ends_host(t.substr(size))) return false;
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view name) { return last.size() == name.size() && begins_with(last, name); });
}

bool is_ip4_host(Text t) {
  std::size_t size = host_size(t), count;
  Text host = t.substr(0, size), last;
  auto digit_or_dot = [](char32_t c) { return c == '.' || unicode::is_decimal(c); };
  if (!all(host, digit_or_dot) || !split_labels(host, 1, 3, last, count) || count != 3) return false;
  return !last.empty() && last.size() <= 3 && ends_host(t.substr(size));
}

/// "[" two groups of up to four hex digits with a colon each, one to six more whose colon may be
/// missing "]".
bool is_ip6_host(Text t) {
  if (t.empty() || t[0] != '[') return false;
  std::size_t close = t.find(U']');
  if (close == Text::npos || !ends_host(t.substr(close + 1))) return false;
  Text inside = t.substr(1, close - 1);
  if (!all(inside, [](char32_t c) { return c == ':' || is_hex(c); })) return false;
  for (int i = 0; i < 2; ++i) {
    std::size_t colon = inside.find(U':');
    if (colon == Text::npos || colon > 4) return false;
    inside.remove_prefix(colon + 1);
  }
  std::size_t groups = 0;
  while (!inside.empty() && groups <= 6) {
    std::size_t colon = inside.find(U':');
    std::size_t digits = std::min(colon, inside.size());
    groups += colon == Text::npos ? (digits + 3) / 4 : std::max<std::size_t>(1, (digits + 3) / 4);
    inside.remove_prefix(colon == Text::npos ? inside.size() : colon + 1);
  }
  return groups <= 6;
}

bool is_web_address(Text t) {
  if (begins_with(t, "www.") && is_named_host(t.substr(4))) return true;
  std::size_t scheme = begins_with(t, "http://") ? 7 : begins_with(t, "https://") ? 8 : 0;
  if (scheme != 0) {
    Text host = t.substr(scheme);
    if (is_named_host(host) || is_ip4_host(host) || is_ip6_host(host)) return true;
  }
  return is_bare_host(t);
}

bool is_mail_address(Text t) {
  std::size_t at = t.rfind(U'@');
  if (at == Text::npos || at == 0) return false;
  Text domain = t.substr(at + 1);
  std::size_t dot = domain.rfind(U'.');
  if (dot == Text::npos || dot == 0 || dot + 1 == domain.size()) return false;
  auto in_domain = [](char32_t c) { return is_word_character(c) || c == '-' || c == '.'; };
  return is_word_character(domain[0]) && all(domain, in_domain) && all(domain.substr(dot + 1), is_word_character);
}

std::size_t count_of(Text t, Text what) {
  std::size_t n = 0;
  for (std::size_t at = t.find(what); at != Text::npos; at = t.find(what, at + what.size())) ++n;
  return n;
}

/// One run of characters that are not white space, and where its middle begins and ends.
struct LinkWord {
  Text chars;
  std::size_t begin = 0;
  std::size_t end = 0;

  explicit LinkWord(Text t) : chars(t), end(t.size()) {
    skip_opening();
    if (begin < end) skip_closing();
    for (auto [open, close] : {std::pair<Text, Text>{U"(", U")"}, {U"<", U">"}, {U"&lt;", U"&gt;"}})
      balance(open, close);
  }
  Text middle() const { return chars.substr(begin, end - begin); }

 private:
  void skip_opening() {
    while (begin < chars.size()) {
      if (chars[begin] == '(' || chars[begin] == '<') {
        ++begin;
      } else if (chars.substr(begin, 4) == U"&lt;") {
        begin += 4;
      } else {
        return;
      }
    }
  }
  void skip_closing() {
    while (end > begin) {
      if (Text(U")>.,\n").find(chars[end - 1]) != Text::npos) {
        --end;
      } else if (end - begin >= 4 && chars.substr(end - 4, 4) == U"&gt;") {
        end -= 4;
      } else {
        return;
      }
    }
  }
  /// Gives the middle back the closing brackets whose opening ones it has.
  void balance(Text open, Text close) {
    std::size_t opened = count_of(middle(), open);
    if (opened <= count_of(middle(), close)) return;
    Text tail = chars.substr(end);
    for (std::size_t n = std::min(opened, count_of(tail, close)); n != 0; --n) {
      end = chars.find(close, end) + close.size();
    }
  }
};

/// What all links of one call share.
struct Linker {
  /// `source` is the escaped text.
  Linker(Runtime& rt_in, Value source, bool trims_in)
      : rt(rt_in), cut(source), again(source), out(rt_in), trims(trims_in) {}

  Runtime& rt;
  Cutter cut;    ///< takes all of it in order
  Cutter again;  ///< takes what links show, a second time
  StringBuilder out;
  std::string attributes;  ///< rel and target
  std::vector<std::u32string> schemes;
  bool trims;
  Value limit;  ///< nothing looks at it before there is a link

  std::u32string chars;
  std::vector<std::uint32_t> offsets;

  void append(std::size_t begin, std::size_t end) { cut.append(out, offsets[begin], offsets[end]); }
  void link(std::string_view prefix, std::size_t begin, std::size_t end, bool with_attributes, std::size_t shown,
            bool shortened) {
    out.append_static("<a href=\"");
    out.append_static(prefix);
    append(begin, end);
    out.append_static("\"");
    if (with_attributes) out.append_computed(attributes);
    out.append_static(">");
    again.append(out, offsets[shown], offsets[shortened ? shortened_end(begin, end) : end]);
    if (shortened) out.append_static("...");
    out.append_static("</a>");
  }
  bool too_long(std::size_t begin, std::size_t end) {
    const Value size = Value::of_int(static_cast<std::int64_t>(end - begin));
    if (!trims || !compare(rt, Comparison::greater, size, limit)) return false;
    if (is_integral(limit)) return true;
    rt.fail(ErrorCode::type, "slice indices must be integers or None or have an __index__ method");
    return false;
  }
  std::size_t shortened_end(std::size_t begin, std::size_t end) {
    const std::int64_t size = to_index(rt, limit).value_or(0);  // less than there is, see too_long
    const auto all = static_cast<std::int64_t>(end - begin);
    return begin + static_cast<std::size_t>(size < 0 ? std::max<std::int64_t>(size, -all) + all : size);
  }
  void add_word(std::size_t begin, std::size_t end);
};

void Linker::add_word(std::size_t from, std::size_t to) {
  LinkWord word(Text(chars).substr(from, to - from));
  std::size_t begin = from + word.begin, end = from + word.end;
  Text middle = word.middle();
  append(from, begin);
  if (is_web_address(middle)) {
    bool complete = middle.substr(0, 8) == U"https://" || middle.substr(0, 7) == U"http://";
    link(complete ? "" : "https://", begin, end, true, begin, too_long(begin, end));
  } else if (middle.substr(0, 7) == U"mailto:" && is_mail_address(middle.substr(7))) {
    link("", begin, end, false, begin + 7, false);
  } else if (middle.substr(0, 4) != U"www." && middle.substr(0, 1) != U"@" && middle.find(U':') == Text::npos &&
             is_mail_address(middle)) {
    link("mailto:", begin, end, false, begin, false);
  } else {
    auto fits = [&](const std::u32string& scheme) {
      return middle != scheme && middle.substr(0, scheme.size()) == scheme;
    };
    if (std::any_of(schemes.begin(), schemes.end(), fits)) {
      link("", begin, end, true, begin, false);
    } else {
      append(begin, end);
    }
  }
  append(end, to);
}

std::u32string decode_all(std::string_view bytes, std::vector<std::uint32_t>* offsets) {
  std::u32string chars;
  const char *base = bytes.data(), *end = base + bytes.size();
  for (const char* p = base; p < end;) {
    utf8::Decoded d = utf8::decode(p, end);
    chars.push_back(d.code_point);
    if (offsets != nullptr) offsets->push_back(static_cast<std::uint32_t>(p - base));
    p += d.size;
  }
  if (offsets != nullptr) offsets->push_back(static_cast<std::uint32_t>(bytes.size()));
  return chars;
}

// ---- Arguments

/// Words of the `rel` argument and the two the filter adds, sorted, each once.
std::string relations(Runtime& rt, Value rel, bool nofollow) {
  std::vector<std::string> words = {"noopener"};  // Jinja2's policy urlize.rel
  if (nofollow) words.emplace_back("nofollow");
  std::string_view bytes = rel.is_string() ? text(rt, rel) : std::string_view();
  const char *p = bytes.data(), *end = p + bytes.size();
  while (p < end) {
    std::string word;
    for (utf8::Decoded d; p < end && !unicode::is_space((d = utf8::decode(p, end)).code_point); p += d.size) {
      word.append(p, d.size);
    }
    if (!word.empty()) words.push_back(std::move(word));
    if (p < end) p += utf8::decode(p, end).size;
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

bool add_attribute(Runtime& rt, std::string& out, std::string_view name, Value value) {
  Value escaped = escape_html(rt, value);
  if (escaped.is_invalid()) return false;
  out += name;
  out += text(rt, escaped);
  out += '"';
  return !rt.failed();
}

bool is_scheme(Text t) {
  std::size_t colon = t.find(U':');
  if (colon == Text::npos || colon < 2) return false;
  Text rest = t.substr(colon + 1);
  auto in_name = [](char32_t c) { return is_word_character(c) || c == '.' || c == '+' || c == '-'; };
  return all(t.substr(0, colon), in_name) && rest.size() <= 2 && all(rest, [](char32_t c) { return c == '/'; });
}

bool read_schemes(Call& call, std::vector<std::u32string>& out) {
  Runtime& rt = call.rt;
  Iterator it;
  if (call[5].is_none()) return true;
  if (!iterate(rt, call[5], it)) return false;
  for (Value scheme; it.next(rt, scheme) && rt.charge(8);) {
    if (!scheme.is_string()) {
      call.fail(ErrorCode::type, "expected string or bytes-like object, got '" + std::string(type_name(scheme)) + "'");
      return false;
    }
    out.push_back(decode_all(text(rt, scheme), nullptr));
    if (is_scheme(out.back())) continue;
    Value shown = to_repr(rt, scheme);
    if (!shown.is_invalid()) fail_filter(call, std::string(text(rt, shown)) + " is not a valid URI scheme prefix.");
    return false;
  }
  return !rt.failed();
}

bool read_arguments(Call& call, Linker& linker) {
  Runtime& rt = call.rt;
  bool nofollow = call.truth(2);
  if (call.truth(4) && !call[4].is_string()) {
    fail_attribute(rt, call[4], "split");
    return false;
  }
  Value rel = make_computed(rt, relations(rt, call[4], nofollow));
  if (rt.failed() || !add_attribute(rt, linker.attributes, " rel=\"", rel)) return false;
  bool has_target = call.truth(3);
  if (rt.failed() || (has_target && !add_attribute(rt, linker.attributes, " target=\"", call[3]))) return false;
  linker.limit = call[1];
  return read_schemes(call, linker.schemes);
}

Value filter_urlize(Call& call) {
  Runtime& rt = call.rt;
  Value s = escape_html(rt, call[0]);
  if (s.is_invalid() || !rt.reserve(16 * std::uint64_t{s.size}) || !rt.charge_bytes(16 * std::uint64_t{s.size})) {
    return Value::invalid();
  }
  Linker linker(rt, s, !call[1].is_none());
  if (!read_arguments(call, linker)) return Value::invalid();
  linker.chars = decode_all(text(rt, s), &linker.offsets);
  if (!rt.charge(linker.schemes.size() * (linker.chars.size() / 16 + 1))) return Value::invalid();
  for (std::size_t i = 0, n = linker.chars.size(); i < n && rt.charge(1);) {
    std::size_t begin = i;
    while (i < n && unicode::is_space(linker.chars[i])) ++i;
    linker.append(begin, i);
    begin = i;
    while (i < n && !unicode::is_space(linker.chars[i])) ++i;
    if (begin < i) linker.add_word(begin, i);
  }
  return linker.out.finish(rt.autoescape);
}

constexpr Builtin kUrlizeFilters[] = {
    {"urlize", "", "value, trim_url_limit=none, nofollow=false, target=none, rel=none, extra_schemes=none",
     filter_urlize,
     "The string escaped for HTML, with URLs and mail addresses (and those of `extra_schemes`) turned into links.",
     "{{ 'see www.a.org.'|urlize }} -> see <a href=\"https://www.a.org\" "
     "rel=\"noopener\">www.a.org</a>."},
};

}  // namespace

std::span<const Builtin> urlize_filters() { return kUrlizeFilters; }

}  // namespace parlance::jinja
