// The structure of a Python call. Begin reading at PythonScanner::feed.
#include "reply/scan/python_scanner.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "reply/scan/text_codec.h"

namespace parlance::reply {
namespace {

constexpr std::size_t kLongestNumber = 4300;  // CPython's own limit for digits
constexpr std::size_t kLongestName = 256;

using ascii::is_digit;
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_utf8(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return true;
  Utf8Scanner whole;
  const bool good =
      std::all_of(text.begin(), text.end(), [&](char c) { return whole.feed(static_cast<unsigned char>(c)); });
  return good && !whole.inside();
}
bool is_blank(char c) { return is_json_space(c) || c == '\f'; }

std::string_view json_of_python_word(std::string_view word) {
  if (word == "True" || word == "true") return "true";
  if (word == "False" || word == "false") return "false";
  if (word == "None" || word == "null") return "null";
  return {};
}

}  // namespace

void PythonScanner::restart(const std::string& callee, std::uint32_t depth, std::uint32_t pending) {
  PythonScanner fresh(callee, depth, pending);
  pending_.clear();
  unsaid_.clear();
  word_.clear();
  if (brackets_) {
    brackets_->frames.clear();
    brackets_->names.clear();
  }
  fresh.pending_ = std::move(pending_);
  fresh.unsaid_ = std::move(unsaid_);
  fresh.word_ = std::move(word_);
  fresh.brackets_ = std::move(brackets_);
  *this = std::move(fresh);
}

/// Blanks, comments and continued lines between tokens.
bool PythonScanner::skip_blank_slowly(char c) {
  if (comment_) {
    comment_ = c != '\n' && c != '\r';
    return true;
  }
  if (continued_) {
    continued_ = false;
    return c == '\n' || c == '\r';
  }
  comment_ = c == '#';
  continued_ = c == '\\';
  return comment_ || continued_ || is_blank(c);
}

Scan PythonScanner::feed_callee(char c) {
  if (seen_ < callee_->size()) {
    if (c != (*callee_)[seen_]) return bad(callee_->c_str());
    ++seen_;
    return Scan::more;
  }
  at_ = At::open;
  return feed(c);
}

Scan PythonScanner::push(In in) {
  if (frames().size() >= depth_limit_) return bad("nesting no deeper than the limit");
  const bool bracket = in == In::bracket, depends = bracket || in == In::dict;
  frames().push_back({in, false, !depends, static_cast<std::uint32_t>(json().size())});
  if (depends && undecided_++ == 0) undecided_from_ = static_cast<std::uint32_t>(json().size());
  json() += bracket ? ' ' : in == In::list ? '[' : '{';
  return go(in == In::call ? At::name_or_end : in == In::dict ? At::key_or_end : At::value_or_end);
}

/// A bracket with one element and no comma is no tuple: blanks stand for it.
Scan PythonScanner::pop() {
  const Frame frame = frames().back();
  frames().pop_back();
  if (!frame.decided) --undecided_;
  if (frame.in != In::bracket) {
    json() += frame.in == In::list || frame.in == In::set ? ']' : '}';
  } else {
    if (!frame.filled) json()[frame.place] = '[';
    json() += frame.decided || !frame.filled ? ']' : ' ';
  }
  at_ = At::after;
  return frames().empty() ? Scan::done : Scan::more;
}

Scan PythonScanner::comma() {
  Frame& frame = frames().back();
  if (!frame.decided) {
    frame.decided = true;
    --undecided_;
    json()[frame.place] = '[';
  }
  return go(frame.in == In::call ? At::name_or_end : frame.in == In::dict ? At::key_or_end : At::value_or_end);
}

/// The first key was an element: a text, or a number that a key has quotes for.
void PythonScanner::become_set() {
  Frame& frame = frames().back();
  frame.in = In::set;
  json()[frame.place] = '[';
  if (!scalar_key_) return;
  json().pop_back();
  json().erase(frame.place + std::size_t{1}, 1);
}

Scan PythonScanner::begin_element() {
  Frame& frame = frames().back();
  if (frame.filled) json() += ", ";
  frame.filled = true;
  return Scan::more;
}

Scan PythonScanner::end_element(char c) {
  if (c == ',') return comma();
  const In in = frames().back().in;
  if (c == close_of(in)) return pop();
  return bad(in == In::list ? "',' or ']'" : close_of(in) == '}' ? "',' or '}'" : "',' or ')'");
}

Scan PythonScanner::begin_name(char c) {
  if (!is_letter(c)) return bad("the name of an argument");
  word_.begin(c);
  return go(At::name);
}

Scan PythonScanner::feed_name(char c) {
  if (is_letter(c) || is_digit(c)) {
    if (word_.size() == kLongestName) return bad("a shorter name");
    word_ += c;
    return Scan::more;
  }
  if (!is_utf8(word_)) return bad("a name in UTF-8");
  if (c != '=' && c != '#' && c != '\\' && !is_blank(c)) return bad("'='");
  repeats_ = !brackets_->names.add(word_);
  begin_element();
  json() += '"';
  json().append(word_.view()).append("\": ");
  at_ = At::equals;
  return feed(c);
}

Scan PythonScanner::begin_word(char c) {
  word_.begin(c);
  return go(At::word);
}

Scan PythonScanner::begin_value(char c) {
  const In in = frames().back().in;
  const bool element = in == In::list || in == In::bracket || in == In::set || is_key_;
  const bool container = c == '[' || c == '(' || c == '{';
  const bool scalar = c == '"' || c == '\'' || c == '-' || c == '+' || c == '.' || is_digit(c) || is_letter(c);
  if (!(scalar || (container && !is_key_))) return bad(is_key_ ? "a key that is a text or a number" : "a literal");
  if (element) begin_element();
  if (container) return push(c == '[' ? In::list : c == '(' ? In::bracket : In::dict);
  joining_ = raw_ = false;
  sign_ = 0;
  if (c == '"' || c == '\'') return begin_text(c);
  if (c == '-' || c == '+') {
    sign_ = c;
    return go(At::sign);
  }
  if (is_letter(c)) return begin_word(c);
  word_.begin(c);
  return go(At::number);
}

/// True, None, or what stands before a text's quote.
Scan PythonScanner::feed_word(char c) {
  if (is_letter(c) || is_digit(c)) {
    if (word_.size() == 5) return bad("a literal");
    word_ += c;
    return Scan::more;
  }
  if (c == '"' || c == '\'') {
    raw_ = word_.view() == "r" || word_.view() == "R";
    if (!raw_ && word_.view() != "u" && word_.view() != "U") return bad("a text, and not bytes or a format");
    return begin_text(c);
  }
  const std::string_view json = json_of_python_word(word_);
  if (json.empty()) return bad("a literal");
  return end_scalar(json, c);
}

Scan PythonScanner::feed_number(char c) {
  const bool hexadecimal = word_.size() > 1 && (word_.view()[1] | 0x20) == 'x';
  const bool power = !hexadecimal && (word_.back() | 0x20) == 'e' && (c == '+' || c == '-');
  if (is_digit(c) || is_letter(c) || c == '.' || power) {
    if (word_.size() >= std::min(kLongestNumber, std::size_t{pending_limit_})) return bad("a shorter number");
    word_ += c;
    return Scan::more;
  }
  std::string json = json_of_python_number(word_);
  if (json.empty()) return bad("a number that JSON can say");
  if (sign_ == '-') json.insert(0, 1, '-');
  return end_scalar(json, c);
}

Scan PythonScanner::end_scalar(std::string_view value, char c) {
  scalar_key_ = is_key_;
  if (is_key_) json() += '"';
  json() += value;
  if (is_key_) json() += '"';
  at_ = is_key_ ? At::colon : At::after;
  return feed(c);
}

Scan PythonScanner::feed_structure(char c) {
  if (continued_ && c != '\n' && c != '\r') return bad("the end of the line");
  if (at_ == At::open && (c == '#' || ((c == '\n' || c == '\r') && !continued_))) return bad("'('");
  if (skip_blank(c)) return Scan::more;
  switch (at_) {
    case At::callee: return feed_callee(c);
    case At::open: return c == '(' ? push(In::call) : bad("'('");
    case At::name_or_end: return c == ')' ? pop() : begin_name(c);
    case At::equals: return c == '=' ? go(At::value) : bad("'='");
    case At::value_or_end:
      if (c == close_of(frames().back().in)) return pop();
      break;
    case At::key_or_end:
      if (c == '}') return pop();
      is_key_ = true;
      return begin_value(c);
    case At::colon:
      if (!frames().back().decided) {
        if (c != ':') become_set();
        frames().back().decided = true;
        --undecided_;
        if (c != ':') return end_element(c);
      }
      if (c != ':') return bad("':'");
      json() += ": ";
      return go(At::value);
    case At::after: return end_element(c);
    case At::sign:
      if (!is_digit(c) && c != '.') return bad("a number");
      word_.begin(c);
      return go(At::number);
    default: break;
  }
  is_key_ = false;
  return begin_value(c);
}

[[gnu::always_inline]] inline Scan PythonScanner::step(char c) {
  // in a text it is a character as any other
  if (c == '\0' && at_ != At::text && at_ != At::quote && at_ != At::closing) return bad("no byte zero");
  if (undecided_ != 0 && json().size() - undecided_from_ > pending_limit_) return bad("a ',' or ')' sooner");
  switch (at_) {
    case At::name: return feed_name(c);
    case At::word: return feed_word(c);
    case At::number: return feed_number(c);
    case At::callee: return seen_ == 0 ? feed_structure(c) : feed_callee(c);
    case At::prefix:
    case At::quote:
    case At::quotes:
    case At::text:
    case At::closing:
    case At::escape:
    case At::digits:
    case At::octal:
    case At::after_text: return feed_text(c);
    default: return feed_structure(c);
  }
}

Scan PythonScanner::feed(char c) { return step(c); }

/// Whether JSON says nothing yet of the byte at `p`, which was just read.
[[gnu::always_inline]] inline bool PythonScanner::waits(const char* p) const {
  constexpr std::uint32_t kWaiting = bits({At::callee, At::open, At::name, At::word, At::number, At::sign, At::prefix,
                                           At::quotes, At::closing, At::escape, At::digits, At::octal, At::after_text});
  constexpr std::uint32_t kInText = bits({At::text, At::quote});
  const std::uint32_t at = bits({at_});
  if ((at & (kWaiting | kInText)) != 0) return (at & kWaiting) != 0 || (at_ == At::text && utf8_.inside());
  const bool blank = comment_ || continued_ || is_blank(*p);
  // the JSON of a colon has a blank behind it
  return at_ == At::value ? blank && (*p != ' ' || piece_->unsaid_before(p) != 0) : blank || *p == ',';
}

/// Reads a byte, and notes which bytes JSON says nothing of.
[[gnu::always_inline]] inline Scan PythonScanner::feed_noted(const char* p) {
  const std::size_t size = json().size();
  const std::uint16_t undecided = undecided_;
  if (piece_->unsaid_before(p) > pending_limit_) return bad("the rest of the call sooner");
  const Scan scan = step(*p);
  // What is undecided leaves as a whole, and holds what follows from its first byte on.
  const bool is_said = (undecided | undecided_) == 0 ? json().size() != size : undecided == 0 || undecided_ == 0;
  if (is_said) piece_->said_before(p);
  if (scan != Scan::bad && undecided_ == 0 && !waits(p)) piece_->said_before(p + 1);
  return scan;
}

/// How much JSON is certain. It leaves; the rest waits for the next run.
std::size_t PythonScanner::take_decided() {
  const std::size_t certain = std::exchange(undecided_from_, 0);
  for (Frame& frame : frames()) {
    if (frame.place >= certain) frame.place -= static_cast<std::uint32_t>(certain);
  }
  return certain;
}

/// A stretch of a text that is the same in JSON.
const char* PythonScanner::skip_plain(const char* p, const char* end) {
  if (undecided_ != 0 || after_return_ || utf8_.inside()) return p;
  const char* const from = p;
  while (p != end && is_plain(*p) && *p != quote_) ++p;
  if (p == from) return p;
  json().append(from, static_cast<std::size_t>(p - from));
  piece_->said_before(p);
  return p;
}

/// Takes what goes on a name or a number, up to its longest.
const char* PythonScanner::skip_word(const char* p, const char* end) {
  const char* const from = p;
  const std::size_t longest = at_ == At::name ? kLongestName : std::min(kLongestNumber, std::size_t{pending_limit_});
  end = p + std::min(longest - std::min(longest, word_.size()), static_cast<std::size_t>(end - p));
  while (p != end && (is_letter(*p) || is_digit(*p))) ++p;
  if (p != from) word_ += {from, static_cast<std::size_t>(p - from)};
  return p;
}

Scan PythonScanner::run(const char*& p, const char* end, std::string& out) {
  out = pending_.take();
  reserve_usual(out, p, end);
  ScannedPiece piece(p, out, unsaid_);
  piece_ = &piece;
  if (!brackets_) brackets_.make();
  Scan scan = Scan::more;
  while (p != end && scan == Scan::more && !repeats_) {
    if ((bits({at_}) & bits({At::text, At::name, At::number})) != 0) {
      p = at_ == At::text ? skip_plain(p, end) : skip_word(p, end);
      if (p == end) break;
    }
    scan = feed_noted(p);
    if (scan != Scan::bad) ++p;
  }
  piece.end(p);
  piece_ = nullptr;
  const bool all = undecided_ == 0;  // leaves, but for what is no code point yet
  hold_back(out, all ? out.size() - incomplete_tail(out) : take_decided(), pending_);
  return scan;
}

}  // namespace parlance::reply
