// Strings and keys in each style. Begin reading at Style::unit: how one code point out of a set is written.
#include "grammar/style.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/ascii.h"
#include "base/format.h"
#include "base/utf8.h"
#include "grammar/borders.h"
#include "json/json.h"

namespace parlance::grammar {
namespace {

constexpr std::uint32_t kIndent = 32;
constexpr std::string_view kPythonLetters = "\"'\\nrt";  ///< of its escapes

std::vector<Range> without(const std::vector<Range>& ranges, std::vector<Range> left_out) {
  return intersection(ranges, complement(normalized(std::move(left_out))));
}

NodeId spaces(Ir& ir, Style::Space space) {
  if (space == Style::Space::none) return ir.empty();
  const NodeId blank = ir.literal(" ");
  if (space == Style::Space::blank) return ir.optional(blank);
  const NodeId lines = ir.sequence({ir.literal("\n"), ir.repeat(blank, 0, kIndent)});
  const NodeId node = ir.choice({ir.empty(), blank, lines});
  ir.suggest(node, "space");
  return node;
}

char32_t first_of(std::string_view text) { return utf8::decode(text.data(), text.data() + text.size()).code_point; }

std::vector<Range> first_letters(const std::vector<std::string>& texts) {
  std::vector<Range> letters;
  for (const std::string& text : texts) letters.push_back({first_of(text), first_of(text)});
  return normalized(std::move(letters));
}

NodeId hex(Ir& ir, std::string_view digits) {
  std::vector<Range> ranges;
  for (const char c : digits) ranges.push_back({static_cast<char32_t>(c), static_cast<char32_t>(c)});
  return ir.chars(std::move(ranges));
}

/// What follows "\u": four digits that are no surrogate, or two surrogates with "\u" between them. No two ways begin
/// alike, so that engines whose lexers take all they can know where a string ends.
NodeId unicode_digits(Ir& ir, bool pairs) {
  const NodeId any = hex(ir, "0123456789abcdefABCDEF");
  const NodeId two = ir.repeat(any, 2, 2);
  const NodeId d = hex(ir, "dD");
  NodeId behind_d = ir.sequence({hex(ir, "01234567"), two});
  if (pairs)
    behind_d =
        ir.choice({behind_d, ir.sequence({hex(ir, "89abAB"), two, ir.literal("\\u"), d, hex(ir, "cdefCDEF"), two})});
  return ir.choice({ir.sequence({hex(ir, "0123456789abcefABCEF"), ir.repeat(any, 3, 3)}), ir.sequence({d, behind_d})});
}

/// Any escape: what may stand behind a backslash by itself, or digits behind "u".
NodeId any_escape(Ir& ir, NodeId letters, bool pairs) {
  return ir.sequence(
      {ir.literal("\\"), ir.choice({letters, ir.sequence({ir.literal("u"), unicode_digits(ir, pairs)})})});
}

/// The letter of a character's escape in JSON; 0: it is written in digits.
char json_letter(char32_t c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\n': return 'n';
    case '\t': return 't';
    case '\r': return 'r';
    case '\b': return 'b';
    case '\f': return 'f';
    default: return 0;
  }
}

/// JSON with what Go's encoding/json escapes for HTML.
std::string as_go_writes(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&')
      out += format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

/// Whether a reader takes the text between apostrophes for itself: what Style::python_string allows without escapes.
bool needs_no_escape(std::string_view text) {
  const auto is_letter = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0' || text[i] == '\r') return false;
    const bool prefix = i + 1 < text.size() && std::string_view("RUru").find(text[i + 1]) != std::string_view::npos;
    if (text[i] == '\'' && (i == 0 || !is_letter(i + 1) || (prefix && !is_letter(i + 2)))) return false;
    if (text[i] != '\\') continue;
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (static_cast<unsigned char>(next) <= '\r' ||
        std::string_view("0123456789NUux\"'\\nrt").find(next) != std::string_view::npos)
      return false;
    ++i;
  }
  return true;
}

}  // namespace

Style::Style(Ir& ir, Kind kind, Space space, std::string quote, std::vector<std::string> never, Escape escape,
             std::string gap)
    : ir_(ir),
      kind_(kind),
      quote_(std::move(quote)),
      never_(std::move(never)),
      escape_(escape),
      gap_(std::move(gap)),
      begins_(first_letters(never_)),
      space_(spaces(ir, space)),
      string_(any_string()) {
  ir_.suggest(string_, kind_ == Kind::raw ? "text" : "string");
}

// ---- code points

NodeId Style::escape_of_any() const {
  const bool in_python = !quote_.empty();  // where "\/" are two characters
  if (kind_ == Kind::json) return any_escape(ir_, hex(ir_, in_python ? "\"\\bfnrt" : "\"\\/bfnrt"), true);
  return any_escape(ir_, hex(ir_, kPythonLetters), false);
}

/// Some templates escape nothing: what begins no escape of Python's is a backslash and what follows it, which are two
/// characters.
NodeId Style::stray_backslash() const {
  if (kind_ != Kind::python) return ir_.never();
  std::vector<Range> others = begins_;
  others.insert(others.end(), {{0, '\r'}, {'0', '9'}, {'N', 'N'}, {'U', 'U'}, {'u', 'u'}, {'x', 'x'}});
  for (const char letter : kPythonLetters)
    others.push_back({static_cast<char32_t>(letter), static_cast<char32_t>(letter)});
  return ir_.sequence({ir_.literal("\\"), ir_.chars(complement(normalized(std::move(others))))});
}

/// A character out of a set as JSON may write it. Control characters, quote and backslash exist as escapes alone; so
/// does what a marker begins with, where strings must not hold one. An escape that is not needed is allowed only where
/// any character is: otherwise "\u0041" would pass a pattern by another spelling.
NodeId Style::json_unit(const std::vector<Range>& ranges) const {
  const std::vector<Range> special = merged({{0, 0x1F}, {'"', '"'}, {'\\', '\\'}}, begins_);
  const NodeId plain = ir_.chars(without(ranges, special));
  if (ranges == normalized(kAnyChar)) return ir_.choice({plain, escape_of_any()});
  std::string letters;
  std::vector<NodeId> digits;
  for (const Range& range : intersection(ranges, special)) {
    for (char32_t c = range.first; c <= range.last; ++c) {
      if (const char letter = json_letter(c))
        letters += letter;
      else if (c < 0x80)
        digits.push_back(ir_.literal(format("{:02x}", static_cast<std::uint32_t>(c))));
    }
  }
  std::vector<NodeId> ways;
  if (!letters.empty()) ways.push_back(hex(ir_, letters));
  if (!digits.empty()) ways.push_back(ir_.sequence({ir_.literal("u00"), ir_.choice(digits)}));
  return ways.empty() ? plain : ir_.choice({plain, ir_.sequence({ir_.literal("\\"), ir_.choice(ways)})});
}

NodeId Style::python_unit(const std::vector<Range>& ranges, char quote) const {
  const auto q = static_cast<char32_t>(quote);
  // some templates escape no line end
  const std::vector<Range> special = merged(normalized({{0, 0}, {'\r', '\r'}, {'\\', '\\'}, {q, q}}), begins_);
  std::vector<NodeId> ways{ir_.chars(without(ranges, special))};
  if (ranges == normalized(kAnyChar)) {
    ways.push_back(escape_of_any());
    return ir_.choice(ways);
  }
  std::string letters;
  for (const char32_t c : {U'\n', U'\r', U'\\', q}) {
    if (contains(ranges, c)) letters += c == '\n' ? 'n' : c == '\r' ? 'r' : static_cast<char>(c);
  }
  if (!letters.empty()) ways.push_back(ir_.sequence({ir_.literal("\\"), hex(ir_, letters)}));
  for (const Range& begin : intersection(ranges, begins_)) {
    for (char32_t c = begin.first; c <= begin.last && c < 0x80; ++c)
      ways.push_back(ir_.literal(format("\\u{:04x}", static_cast<std::uint32_t>(c))));
  }
  return ir_.choice(ways);
}

/// Without escapes: what could begin the end of the string is left out.
NodeId Style::plain_unit(const std::vector<Range>& ranges) const {
  std::vector<Range> special = begins_;
  special.push_back({first_of(quote_), first_of(quote_)});
  if (escape_ == Escape::xml || escape_ == Escape::cdata) special.insert(special.end(), {{'<', '<'}, {'&', '&'}});
  const NodeId plain = ir_.chars(without(ranges, std::move(special)));
  if (escape_ != Escape::xml) return plain;
  std::vector<NodeId> ways{plain};
  if (contains(ranges, '<')) ways.push_back(ir_.literal("&lt;"));
  if (contains(ranges, '&')) ways.push_back(ir_.literal("&amp;"));
  if (contains(ranges, '>')) ways.push_back(ir_.literal("&gt;"));
  return ir_.choice(ways);
}

NodeId Style::unit(std::vector<Range> given, char quote) const {
  const std::vector<Range> ranges = normalized(std::move(given));
  if (ranges.size() != 1 || ranges[0].first != ranges[0].last) return any_unit(ranges, quote);
  // names are written letter by letter
  NodeId& known = units_.try_emplace({ranges[0].first, quote}, kNone).first->second;
  if (known == kNone) known = any_unit(ranges, quote);
  return known;
}

NodeId Style::any_unit(const std::vector<Range>& ranges, char quote) const {
  switch (kind_) {
    case Kind::json: return json_unit(ranges);
    case Kind::python: return python_unit(ranges, quote);
    default: return plain_unit(ranges);
  }
}

// ---- strings

NodeId Style::string_of(const std::function<NodeId(const Unit&)>& content) const {
  const auto within = [&](std::string_view open, std::string_view close, char quote) {
    const Unit write = [this, quote](std::vector<Range> ranges) { return unit(std::move(ranges), quote); };
    return ir_.sequence({ir_.literal(open), content(write), ir_.literal(close)});
  };
  switch (kind_) {
    case Kind::json: return ir_.token(within("\"", "\"", '"'));
    case Kind::python: return ir_.token(ir_.choice({within("'", "'", '\''), within("\"", "\"", '"')}));
    case Kind::bare: return within(quote_, quote_, 0);
    case Kind::raw: break;
  }
  return ir_.sequence({content([this](std::vector<Range> ranges) { return unit(std::move(ranges), 0); }), end()});
}

/// What ends a raw string: as templates write it first.
NodeId Style::end() const {
  const NodeId plain = ir_.literal(quote_);
  return gap_.empty() ? plain : ir_.choice({ir_.literal(gap_ + quote_), plain});
}

NodeId Style::any_string() const {
  if (kind_ == Kind::json) {
    if (!never_.empty()) return guarded_string('"');
    return string_of([this](const Unit& write) { return ir_.repeat(write(kAnyChar), 0, kUnbounded); });
  }
  if (kind_ == Kind::python && !never_.empty()) return ir_.choice({guarded_string('\''), guarded_string('"')});
  if (kind_ == Kind::python) return ir_.token(ir_.choice({python_string('\''), python_string('"')}));
  if (escape_ != Escape::none) return marked_string();
  std::vector<Stop> stops{{quote_, ir_.empty()}};
  for (const std::string& text : never_) stops.push_back({text, kNone});
  const NodeId content = ir_.text(std::move(stops), false);
  return kind_ == Kind::bare ? ir_.sequence({ir_.literal(quote_), content}) : content;
}

/// Where a template escapes nothing, an apostrophe stands between letters (it's), and a reader takes it for one.
NodeId Style::python_string(char quote) const {
  const NodeId end = ir_.literal({&quote, 1});
  const NodeId one = ir_.choice({unit(kAnyChar, quote), stray_backslash()});
  const std::vector<Range> letters{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}},
      prefixes{{'R', 'R'}, {'U', 'U'}, {'r', 'r'}, {'u', 'u'}};
  const NodeId letter =
      ir_.choice({ir_.chars(without(letters, prefixes)), ir_.sequence({ir_.chars(prefixes), ir_.chars(letters)})});
  const NodeId further = quote == '\'' ? ir_.choice({one, ir_.sequence({end, letter})}) : one;
  return ir_.sequence({end, ir_.optional(ir_.sequence({one, ir_.repeat(further, 0, kUnbounded)})), end});
}

/// Text with entities, or in a section of character data.
NodeId Style::marked_string() const {
  if (escape_ == Escape::avoid) return string_before_tags();
  const NodeId plain = string_of([this](const Unit& write) { return ir_.repeat(write(kAnyChar), 0, kUnbounded); });
  if (escape_ != Escape::cdata) return plain;
  std::vector<Stop> stops{{"]]>", ir_.empty()}};
  for (const std::string& text : never_) stops.push_back({text, kNone});
  return ir_.choice(
      {plain, ir_.sequence({ir_.literal("<![CDATA["), ir_.text(std::move(stops), false), ir_.literal(quote_)})});
}

/// Text that does not begin as a tag does. What all closing tags begin with is one of `never_`: there it ends.
NodeId Style::string_before_tags() const {
  std::vector<Stop> stops;
  for (const std::string& text : never_) {
    stops.push_back({text, quote_.starts_with(text) ? ir_.literal(quote_.substr(text.size())) : kNone});
  }
  const std::vector<Range> blanks{{'\t', '\n'}, {'\r', '\r'}, {' ', ' '}};
  const NodeId first = ir_.chars(without(complement(blanks), begins_));
  const NodeId rest = ir_.choice({ir_.literal(quote_), ir_.sequence({first, ir_.text(std::move(stops), false)})});
  return ir_.sequence({ir_.repeat(ir_.chars(blanks), 0, kUnbounded), rest});
}

/// Nothing can be escaped here, so a text that holds a marker, or the quote, cannot be written and is left out with a
/// note.
std::optional<NodeId> Style::plain_constant(std::string_view text) const {
  for (const std::string& bad : never_) {
    if (text.find(bad) != std::string_view::npos) return std::nullopt;
  }
  const bool marks = escape_ == Escape::cdata && text.find_first_of("<&") != std::string_view::npos;
  const bool in_section = escape_ == Escape::cdata && text.find("]]>") == std::string_view::npos;
  const NodeId section =
      in_section ? ir_.sequence({ir_.literal("<![CDATA[" + std::string(text) + "]]>"), end()}) : ir_.never();
  if (marks) return in_section ? std::optional(section) : std::nullopt;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (escape_ == Escape::avoid && begin != text.npos && contains(begins_, first_of(text.substr(begin))))
    return std::nullopt;
  // the quote must not occur before its place, across the border neither
  if ((std::string(text) + quote_).find(quote_) != text.size()) return std::nullopt;
  if (kind_ == Kind::bare) return ir_.literal(quote_ + std::string(text) + quote_);
  return ir_.choice({ir_.sequence({ir_.literal(text), end()}), section});
}

std::optional<NodeId> Style::constant(std::string_view text) const {
  if (!utf8::is_valid(text, false)) return std::nullopt;
  if (kind_ == Kind::bare || (kind_ == Kind::raw && escape_ != Escape::xml)) return plain_constant(text);
  if (kind_ == Kind::json) {
    const std::string json = spelled(text);
    const NodeId plain = ir_.literal(json);
    return ir_.token(ir_.choice({plain, ir_.literal(as_go_writes(json))}));
  }
  bool possible = true;
  const NodeId node = string_of([&](const Unit& write) {
    std::vector<NodeId> units;
    for (const char* p = text.data(); p != text.data() + text.size();) {
      const utf8::Decoded c = utf8::decode(p, text.data() + text.size());
      p += c.size;
      units.push_back(write({{c.code_point, c.code_point}}));
      possible = possible && units.back() != ir_.never();
    }
    return ir_.sequence(units);
  });
  if (!possible) return std::nullopt;
  const bool as_it_is = kind_ == Kind::python && never_.empty() && needs_no_escape(text);
  return as_it_is ? ir_.token(ir_.choice({node, ir_.literal("'" + std::string(text) + "'")})) : node;
}

NodeId Style::bracketed(char begin, NodeId content, char end) const {
  const Node node = ir_.node(content);
  std::vector<NodeId> ways;
  bool may_be_empty = content == ir_.empty();
  if (node.op == Op::repeat && node.min == 0 && node.max == 1) {
    may_be_empty = true;
    ways.push_back(ir_.children(node)[0]);
  } else if (node.op == Op::choice) {
    for (const NodeId child : ir_.children(node)) {
      may_be_empty = may_be_empty || child == ir_.empty();
      if (child != ir_.empty()) ways.push_back(child);
    }
  } else if (!may_be_empty) {
    ways.push_back(content);
  }
  std::vector<NodeId> inside{ir_.sequence({ir_.choice(ways), close(end)})};
  if (may_be_empty) inside.push_back(ir_.literal({&end, 1}));
  return ir_.sequence({open(begin), ir_.choice(inside)});
}

// ---- keys

namespace {

/// Letters of a name without quotes: the reader takes none of them for the name's end, a quote or white space around
/// it, and no marker of a call is made of them.
std::vector<Range> bare_letters() {
  std::vector<Range> others = {{0, ' '}, {0x7F, 0xA0}, {0xD800, 0xDFFF}};
  for (const char c : std::string_view("\"'`,:<>|[]{}"))
    others.push_back({static_cast<char32_t>(c), static_cast<char32_t>(c)});
  return complement(normalized(std::move(others)));
}

bool is_bare(std::string_view name) {
  const std::vector<Range> letters = bare_letters();
  for (const char* p = name.data(); p != name.data() + name.size();) {
    const utf8::Decoded c = utf8::decode(p, name.data() + name.size());
    const auto holds = [&c](const Range& one) { return one.first <= c.code_point && c.code_point <= one.last; };
    if (std::none_of(letters.begin(), letters.end(), holds)) return false;
    p += c.size;
  }
  return !name.empty();
}

}  // namespace

NodeId Style::after_key() const {
  return kind_ == Kind::bare ? ir_.literal(":") : ir_.sequence({ir_.literal(":"), space_});
}

std::optional<NodeId> Style::key(std::string_view name) const {
  if (kind_ == Kind::bare) return is_bare(name) ? std::optional(ir_.literal(std::string(name) + ":")) : std::nullopt;
  const std::optional<NodeId> text = constant(name);
  return text ? std::optional(ir_.sequence({*text, after_key()})) : std::nullopt;
}

NodeId Style::key_of(const std::function<NodeId(const Unit&)>& content) const {
  return ir_.sequence({string_of(content), after_key()});
}

/// Texts that are none of the names: what leaves their trie, or ends inside of it.
/// A grammar has no complement. The trie of the names gives one of its own: each node may be left by a character that
/// no edge has, and may be the end unless it is a name.
NodeId Style::letters_except(const std::vector<std::string>& names, const Unit& write) const {
  struct Branch {
    std::map<char32_t, std::size_t> next;
    bool is_name = false;
  };
  std::vector<Branch> trie(1);
  for (const std::string& name : names) {
    std::size_t at = 0;
    for (const char* p = name.data(); p != name.data() + name.size();) {
      const utf8::Decoded c = utf8::decode(p, name.data() + name.size());
      p += c.size;
      const auto [edge, is_new] = trie[at].next.try_emplace(c.code_point, trie.size());
      at = edge->second;
      if (is_new) trie.emplace_back();
    }
    trie[at].is_name = true;
  }
  // The free characters leave the escapes that could spell a name otherwise.
  const std::vector<Range> free = complement({{0, 0x1F}});
  const NodeId rest = ir_.repeat(write(free), 0, kUnbounded);
  std::vector<NodeId> nodes(trie.size());
  for (std::size_t i = trie.size(); i-- > 0;) {  // children have higher numbers
    std::vector<Range> edges;
    std::vector<NodeId> ways;
    for (const auto& [c, child] : trie[i].next) {
      edges.push_back({c, c});
      ways.push_back(ir_.sequence({write({{c, c}}), nodes[child]}));
    }
    ways.push_back(ir_.sequence({write(without(free, std::move(edges))), rest}));
    if (!trie[i].is_name) ways.push_back(ir_.empty());
    nodes[i] = ir_.choice(ways);
  }
  return nodes[0];
}

NodeId Style::key_except(std::vector<std::string> names) const {
  if (kind_ == Kind::bare) {
    const Unit letter = [this](std::vector<Range> ranges) {
      return ir_.chars(intersection(normalized(std::move(ranges)), bare_letters()));
    };
    names.push_back("");
    return ir_.sequence({letters_except(names, letter), ir_.literal(":")});
  }
  if (names.empty()) return ir_.sequence({string_, after_key()});
  return key_of([&](const Unit& write) { return letters_except(names, write); });
}

}  // namespace parlance::grammar
