// Objects without quotes, byte by byte. Begin reading at BareScanner::feed.
#include "reply/scan/bare_scanner.h"

#include <algorithm>

#include "base/ascii.h"
#include "json/escape.h"
#include "json/json.h"
#include "reply/scan/text_codec.h"

namespace parlance::reply {
namespace {

constexpr std::size_t kMostUnsaid = 1 << 16;  // bounds white space, too

/// A number or one of the literals as JSON, or "".
std::string json_of_bare_word(std::string_view word) {
  if (word == "true" || word == "True") return "true";
  if (word == "false" || word == "False") return "false";
  if (word == "null" || word == "None") return "null";
  JsonScanner scanner;
  for (const char c : word) {
    if (scanner.feed(c) != Scan::more) return {};
  }
  return scanner.complete() ? std::string(word) : std::string();
}

bool is_comma_or_blank(char c) { return c == ',' || is_json_space(c); }

bool ends_word(char c) { return c == ',' || c == '}' || c == ']' || is_json_space(c); }

}  // namespace

/// The texts keep their memory: a reply with many calls then allocates for the first of them only.
void BareScanner::restart(const std::string& quote, std::uint32_t depth, std::uint32_t pending) {
  BareScanner fresh(quote, depth, pending);
  for (HeldText* text : {&pending_, &unsaid_, &stack_, &word_}) text->clear();
  fresh.pending_ = std::move(pending_);
  fresh.unsaid_ = std::move(unsaid_);
  names_.clear();
  fresh.names_ = std::move(names_);
  fresh.stack_ = std::move(stack_);
  fresh.word_ = std::move(word_);
  *this = std::move(fresh);
}

Scan BareScanner::push(char bracket) {
  if (stack_.size() >= limit_) return bad("nesting no deeper than the limit");
  stack_ += bracket;
  json() += bracket;
  names_.open();
  return go(bracket == '{' ? At::key_or_end : At::value_or_end);
}

Scan BareScanner::pop() {
  json() += inside_object() ? '}' : ']';
  stack_.pop_back();
  names_.close();
  at_ = At::after;
  return stack_.empty() ? Scan::done : Scan::more;
}

/// Behind a comma, which is said only if something follows it.
bool BareScanner::drops_comma(char c) {
  if (c != (inside_object() ? '}' : ']')) {
    json() += ", ";
    return false;
  }
  mended_ = inside_object() ? "a key" : "a value";
  return true;
}

Scan BareScanner::begin_key(char c) {
  word_.clear();
  quoted_key_ = c == quote().front();
  seen_ = 0;
  at_ = quoted_key_ ? At::quote : At::in_key;
  return feed(c);
}

void BareScanner::put_key(std::string_view key) {
  if (std::ranges::all_of(key, is_plain)) {
    json().append("\"").append(key).append("\"");
  } else {
    append_json_string(json(), key);
  }
  if (!names_.add(key)) repeated_ = stack_.size() == 1 ? kNewArgument : kNewMember;
}

Scan BareScanner::feed_key(char c) {
  if (c == ':') {
    const std::string_view key = trimmed(word_);
    const bool quoted = key.size() > 1 && key.front() == '"' && key.back() == '"';  // as JSON has them
    put_key(quoted ? key.substr(1, key.size() - 2) : key);
    json() += ": ";
    return go(At::value);
  }
  if (c == ',' || c == '{' || c == '}' || word_.size() >= longest_word()) return bad("a key and ':'");
  word_ += c;
  return Scan::more;
}

Scan BareScanner::begin_value(char c) {
  if (c == '{' || c == '[') return push(c);
  if (c == quote().front()) {
    quoted_key_ = false;
    seen_ = 0;
    at_ = At::quote;
    return feed(c);
  }
  if (ends_word(c)) return bad("a value");
  if (c == '"') {
    quoted_key_ = false;
    seen_ = 0;
    json() += c;
    return go(At::json_text);
  }
  word_.begin(c);
  comma_ = behind_commas_ = 0;
  open_braces_ = open_squares_ = 0;
  is_text_ = false;
  return go(At::word);
}

/// The opening quote.
Scan BareScanner::feed_quote(char c) {
  if (c != quote()[seen_]) return bad(quote_->c_str());
  if (++seen_ < quote().size()) return Scan::more;
  seen_ = 0;
  if (!quoted_key_) json() += '"';
  return go(At::text);
}

void BareScanner::put(char c) {
  if (!utf8_.feed(static_cast<unsigned char>(c))) garbled_ = true;
  if (quoted_key_) {
    word_ += c;
  } else if (static_cast<unsigned char>(c) >= 0x80) {
    json() += c;  // take() sees to code points
  } else {
    append_json_char(json(), static_cast<unsigned char>(c));
  }
}

/// A string, up to the quote: what turns out not to be one is given as it is.
/// The quote may have several bytes, and a string may hold a beginning of it. As in Knuth, Morris and Pratt's search, a
/// mismatch gives out only as many bytes as the longest border of what matched requires: with the quote `aab`, the text
/// `aaab` gives out one `a` and then ends. A quote is at most 128 bytes, so the border is looked for anew.
Scan BareScanner::feed_text(char c) {
  while (seen_ > 0 && c != quote()[seen_]) {
    std::uint8_t kept = seen_;  // the longest beginning of the quote that still fits
    do {
      put(quote()[seen_ - kept]);
      --kept;
    } while (kept > 0 && quote().substr(seen_ - kept, kept) != quote().substr(0, kept));
    seen_ = kept;
  }
  if (c != quote()[seen_]) {
    put(c);
    return garbled_ ? bad("UTF-8") : Scan::more;
  }
  if (utf8_.inside() || garbled_) return bad("UTF-8");
  if (++seen_ < quote().size()) return Scan::more;
  if (!quoted_key_) {
    json() += '"';
    return go(At::after);
  }
  put_key(word_);
  return go(At::colon);
}

/// A string as JSON has it, which models write where they forget the quote.
Scan BareScanner::feed_json_text(char c) {
  constexpr std::uint8_t kEscape = 1, kHex = 5;
  if (seen_ == 0) {
    if ((c == '"' || c == '\\') && utf8_.inside()) return bad("UTF-8");
    if (c != '"' && c != '\\') put(c);
    if (garbled_) return bad("UTF-8");
    if (c == '"' || c == '\\') json() += c;
    if (c == '\\') seen_ = kEscape;
    return c == '"' ? go(At::after) : Scan::more;
  }
  const bool hex = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
  const bool fits = seen_ == kEscape ? json_escape::is_escape(c) : hex;
  if (!fits) return bad("an escape");
  json() += c;
  seen_ = seen_ == kEscape ? (c == 'u' ? kHex : 0) : seen_ == 2 ? 0 : seen_ - 1;
  return Scan::more;
}

/// The key that begins behind the commas of a word, where a colon follows; "" where that is none, as between the word's
/// own braces. One with blanks must be of the tool.
std::string_view BareScanner::key_behind_comma() const {
  if (open_braces_ != 0) return {};
  const std::string_view key = trimmed(word_.view().substr(behind_commas_));
  for (const std::string_view mark : {quote(), std::string_view("\"")}) {
    const bool marked = key.size() > 2 * mark.size() && key.starts_with(mark) && key.ends_with(mark);
    if (marked) return key.substr(mark.size(), key.size() - 2 * mark.size());
  }
  const bool is_word = std::ranges::none_of(key, is_json_space);  // not as in `Paris, at 10:30`
  return is_word || (stack_.size() == 1 && arguments_->have(key)) ? key : std::string_view();
}

/// Whether the only quote is the one at the end.
bool BareScanner::lacks_first_quote(std::string_view text) const {
  return text.ends_with(quote()) && text.find(quote()) == text.size() - quote().size();
}

/// A string that lacks its quotes, or the first of them.
void BareScanner::put_unquoted(std::string_view text) {
  mended_ = "a string in quotes";
  text = trimmed(text);
  if (lacks_first_quote(text)) text.remove_suffix(quote().size());
  append_json_string(json(), text);
}

/// A comma is the string's own if no key follows it, as in `city:Paris, France<|"|>`.
bool BareScanner::holds_comma(char c) const {
  return c == ',' && inside_object() && !trimmed(word_).ends_with(quote());
}

/// A bracket that closes one of the word's own, as in `a[0]` and `f{x}`, is the word's own too; so is a comma between
/// its braces, since the brace behind it would else end the arguments too soon.
bool BareScanner::is_own(char c) const {
  const bool closes = c == ']' ? open_squares_ != 0 : open_braces_ != 0 && (c == '}' || (c == ',' && inside_object()));
  return closes && !lacks_first_quote(trimmed(word_));
}

void BareScanner::count_bracket(char c) {
  if (c == '{') ++open_braces_;
  if (c == '[') ++open_squares_;
  if (c == '}' && open_braces_ != 0) --open_braces_;
  if (c == ']' && open_squares_ != 0) --open_squares_;
}

/// Takes a byte into the word; `comma`: one that may end it.
Scan BareScanner::hold(char c, bool comma) {
  if (word_.size() >= longest_word()) return bad("a shorter value");
  const auto size = static_cast<std::uint16_t>(word_.size());
  if (comma && behind_commas_ != size) comma_ = behind_commas_ = size;  // else it is a second one
  if (behind_commas_ == size && is_comma_or_blank(c)) ++behind_commas_;
  count_bracket(c);
  word_ += c;
  return Scan::more;
}

/// The word as JSON, which has no more bytes.
void BareScanner::put_word(std::string_view value) {
  if (!value.empty()) {
    json() += value;
  } else if (word_.view().front() == '\'') {
    mended_ = "a string in quotes";
    append_json_string(json(), word_.view().substr(1, word_.size() - 2));
  } else {
    const bool trailing = behind_commas_ == word_.size();
    put_unquoted(trailing ? word_.view().substr(0, comma_) : word_.view());
  }
}

Scan BareScanner::feed_word(char c) {
  if (c == ':' && comma_ != 0) {
    const std::string key(key_behind_comma());
    if (!key.empty()) {
      put_unquoted(word_.view().substr(0, comma_));
      json() += ", ";
      put_key(key);
      json() += ": ";
      return go(At::value);
    }
    comma_ = 0;
  }
  const bool quoted = word_.view().front() == '\'';
  const bool open = quoted && (word_.size() == 1 || word_.back() != '\'');
  const bool ends = !open && ends_word(c) && (quoted || !is_own(c));
  const std::string value = ends && !is_text_ ? json_of_bare_word(word_) : std::string();
  if (ends && value.empty()) is_text_ = true;  // and stays so, however it goes on
  const bool comma = ends && value.empty() && !quoted && holds_comma(c);
  if (!ends || comma || (value.empty() && is_json_space(c))) return hold(c, comma);
  put_word(value);
  at_ = At::after;
  return feed(c);
}

Scan BareScanner::feed_after(char c) {
  if (c == ',') return go(inside_object() ? At::key : At::item);
  if (c == (inside_object() ? '}' : ']')) return pop();
  return bad(inside_object() ? "',' or '}'" : "',' or ']'");
}

Scan BareScanner::feed(char c) {
  switch (at_) {
    case At::in_key: return feed_key(c);
    case At::word: return feed_word(c);
    case At::quote: return feed_quote(c);
    case At::text: return feed_text(c);
    case At::json_text: return feed_json_text(c);
    default: break;
  }
  if (is_json_space(c)) return Scan::more;
  switch (at_) {
    case At::open: return c == '{' ? push(c) : bad("'{'");
    case At::key_or_end: return c == '}' ? pop() : begin_key(c);
    case At::key:
      if (drops_comma(c)) return pop();
      return begin_key(c);
    case At::colon:
      if (c != ':') return bad("':'");
      json() += ": ";
      return go(At::value);
    case At::item:
      if (drops_comma(c)) return pop();
      return begin_value(c);
    case At::value_or_end:
      if (c == ']') return pop();
      [[fallthrough]];
    case At::value: return begin_value(c);
    default: return feed_after(c);
  }
}

/// Whether JSON says nothing yet of the byte at `p`, which was just read.
[[gnu::always_inline]] inline bool BareScanner::waits(const char* p) const {
  switch (at_) {
    case At::open:
    case At::in_key:
    case At::quote:
    case At::word: return true;
    case At::text: return quoted_key_ || seen_ != 0 || utf8_.inside();
    case At::json_text: return utf8_.inside();
    // the JSON of a colon has a blank behind it
    case At::value: return (*p != ' ' || piece_->unsaid_before(p) != 0) && is_json_space(*p);
    default: return *p == ',' || is_json_space(*p);
  }
}

/// Reads a byte, and notes which bytes JSON says nothing of.
/// The caller turns the rest of a call that failed into text and must say every byte once.
[[gnu::always_inline]] inline Scan BareScanner::feed_noted(const char* p) {
  if (piece_->unsaid_before(p) > std::min(kMostUnsaid, std::size_t{pending_limit_}))
    return bad("the rest of the call sooner");
  const std::size_t size = json().size();
  const Scan scan = feed(*p);
  if (json().size() != size) piece_->said_before(p);
  if (scan != Scan::bad && !waits(p)) piece_->said_before(p + 1);
  return scan;
}

/// A stretch of a string that is the same in JSON.
const char* BareScanner::skip_plain(const char* p, const char* end) {
  const char first = quote().front();
  const char* const from = p;
  while (p != end && is_plain(*p) && *p != first) ++p;
  if (p == from) return p;
  json().append(from, static_cast<std::size_t>(p - from));
  piece_->said_before(p);
  return p;
}

/// Takes what goes on a word or key, up to its longest.
const char* BareScanner::skip_word(const char* p, const char* end) {
  const char* const from = p;
  const std::size_t longest = longest_word();
  end = p + std::min(longest - std::min(longest, word_.size()), static_cast<std::size_t>(end - p));
  while (p != end && ascii::is_word(*p)) ++p;
  if (p != from) word_ += {from, static_cast<std::size_t>(p - from)};
  return p;
}

Scan BareScanner::run(const char*& p, const char* end, std::string& out, const KnownArguments& arguments) {
  arguments_ = &arguments;
  out = pending_.take();  // the bytes of a cut code point go first, since their rest comes with this piece
  reserve_usual(out, p, end);
  ScannedPiece piece(p, out, unsaid_);
  piece_ = &piece;
  Scan scan = Scan::more;
  // A mend stops the loop: its event must be sent at this byte, before the events of the bytes behind it.
  while (p != end && scan == Scan::more && mended_ == nullptr && repeated_ == nullptr) {
    if (at_ == At::text && seen_ == 0 && !quoted_key_ && !utf8_.inside()) p = skip_plain(p, end);
    if (at_ == At::in_key || at_ == At::word) p = skip_word(p, end);
    if (p == end) break;
    scan = feed_noted(p);
    if (scan != Scan::bad) ++p;
  }
  piece.end(p);
  piece_ = nullptr;
  hold_back(out, out.size() - incomplete_tail(out), pending_);
  return scan;
}

}  // namespace parlance::reply
