// Objects without quotes, byte by byte. Begin reading at BareScanner::feed.
#include "reply/bare_scanner.h"

#include "reply/text_codec.h"
#include "value/json.h"

namespace parlance::reply {
namespace {

constexpr std::size_t kLongestWord = 4300;

/// A number or one of the literals as JSON, or "".
std::string json_of_word(std::string_view word) {
  if (word == "true" || word == "True") return "true";
  if (word == "false" || word == "False") return "false";
  if (word == "null" || word == "None") return "null";
  JsonScanner scanner;
  for (const char c : word) {
    if (scanner.feed(c) != Scan::more) return {};
  }
  return scanner.complete() ? std::string(word) : std::string();
}

bool ends_word(char c) { return c == ',' || c == '}' || c == ']' || is_json_space(c); }

}  // namespace

Scan BareScanner::push(char bracket) {
  if (stack_.size() >= limit_) return bad("nesting no deeper than the limit");
  stack_ += bracket;
  pending_ += bracket;
  return go(bracket == '{' ? At::key_or_end : At::value_or_end);
}

Scan BareScanner::pop() {
  pending_ += inside_object() ? '}' : ']';
  stack_.pop_back();
  at_ = At::after;
  return stack_.empty() ? Scan::done : Scan::more;
}

Scan BareScanner::begin_key(char c) {
  word_.clear();
  quoted_key_ = c == quote_.front();
  seen_ = 0;
  at_ = quoted_key_ ? At::quote : At::in_key;
  return feed(c);
}

Scan BareScanner::feed_key(char c) {
  if (c == ':') {
    append_json_string(pending_, trimmed(word_));
    pending_ += ": ";
    return go(At::value);
  }
  if (c == ',' || c == '{' || c == '}' || word_.size() == kLongestWord) return bad("a key and ':'");
  word_ += c;
  return Scan::more;
}

Scan BareScanner::begin_value(char c) {
  if (c == '{' || c == '[') return push(c);
  if (c == quote_.front()) {
    quoted_key_ = false;
    seen_ = 0;
    at_ = At::quote;
    return feed(c);
  }
  if (ends_word(c)) return bad("a value");
  word_.assign(1, c);
  return go(At::word);
}

/// The opening quote.
Scan BareScanner::feed_quote(char c) {
  if (c != quote_[seen_]) return bad(quote_);
  if (++seen_ < quote_.size()) return Scan::more;
  seen_ = 0;
  if (!quoted_key_) pending_ += '"';
  return go(At::text);
}

void BareScanner::put(char c) {
  if (!utf8_.feed(static_cast<unsigned char>(c))) garbled_ = true;
  if (quoted_key_) {
    word_ += c;
  } else if (static_cast<unsigned char>(c) >= 0x80) {
    pending_ += c;  // take() sees to code points
  } else {
    append_json_char(pending_, static_cast<unsigned char>(c));
  }
}

/// A string, up to the quote: what turns out not to be one is given as it is.
Scan BareScanner::feed_text(char c) {
  while (seen_ > 0 && c != quote_[seen_]) {
    std::uint8_t kept = seen_;  // the longest beginning of the quote that still fits
    do {
      put(quote_[seen_ - kept]);
      --kept;
    } while (kept > 0 && quote_.substr(seen_ - kept, kept) != quote_.substr(0, kept));
    seen_ = kept;
  }
  if (c != quote_[seen_]) {
    put(c);
    return garbled_ ? bad("UTF-8") : Scan::more;
  }
  if (utf8_.inside() || garbled_) return bad("UTF-8");
  if (++seen_ < quote_.size()) return Scan::more;
  if (!quoted_key_) {
    pending_ += '"';
    return go(At::after);
  }
  append_json_string(pending_, word_);
  return go(At::colon);
}

Scan BareScanner::feed_word(char c) {
  if (!ends_word(c)) {
    if (word_.size() == kLongestWord) return bad("a shorter value");
    word_ += c;
    return Scan::more;
  }
  const std::string json = json_of_word(word_);
  if (json.empty()) return bad("a value");
  pending_ += json;
  at_ = At::after;
  return feed(c);
}

Scan BareScanner::feed_after(char c) {
  if (c == ',') {
    pending_ += ", ";
    return go(inside_object() ? At::key : At::value);
  }
  if (c == (inside_object() ? '}' : ']')) return pop();
  return bad(inside_object() ? "',' or '}'" : "',' or ']'");
}

Scan BareScanner::feed(char c) {
  switch (at_) {
    case At::in_key: return feed_key(c);
    case At::word: return feed_word(c);
    case At::quote: return feed_quote(c);
    case At::text: return feed_text(c);
    default: break;
  }
  if (is_json_space(c)) return Scan::more;
  switch (at_) {
    case At::open: return c == '{' ? push(c) : bad("'{'");
    case At::key_or_end:
      if (c == '}') return pop();
      [[fallthrough]];
    case At::key: return begin_key(c);
    case At::colon:
      if (c != ':') return bad("':'");
      pending_ += ": ";
      return go(At::value);
    case At::value_or_end:
      if (c == ']') return pop();
      [[fallthrough]];
    case At::value: return begin_value(c);
    default: return feed_after(c);
  }
}

Scan BareScanner::run(const char*& p, const char* end) {
  Scan scan = Scan::more;
  while (p != end && scan == Scan::more) {
    if (at_ == At::text && seen_ == 0 && !quoted_key_ && !utf8_.inside()) {  // plain stretches at once
      const char* const from = p;
      while (p != end && *p != quote_.front() && *p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20 && static_cast<unsigned char>(*p) < 0x80) ++p;
      pending_.append(from, p);
      if (p == end) break;
    }
    scan = feed(*p);
    if (scan != Scan::bad) ++p;
  }
  return scan;
}

void BareScanner::take(std::string& out) {
  const std::size_t certain = pending_.size() - incomplete_tail(pending_);
  out.append(pending_, 0, certain);
  pending_.erase(0, certain);
}

}  // namespace parlance::reply
