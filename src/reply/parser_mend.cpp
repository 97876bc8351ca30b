// Arguments that are nearly JSON: what models often write otherwise, and what is said in its place.
//
//     {'city': "Paris"}      from the first quote that is none of JSON on, a literal of Python
//     {"days": [1, 2,],}     a comma leaves only with what follows it
//     {"text": "it\'s"}      an escape that JSON does not have
//     {text: "x"}            a key without quotes
//     {"exact": True}        a word of Python, once it is whole: of no other word a letter is changed
//
// Each is said by a diagnostic (mended), but for line ends and Python's words, whose meaning is plain. Begin reading at mend.
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::JsonScanner;
using reply::Scan;

namespace {

constexpr std::size_t kLongestGap = 64;  // white space past this is no comma's

/// A word of Python, and what it is in JSON.
struct PythonWord {
  std::string_view python, json;
};

/// The one that may begin so. Of `none` the first letter is JSON's null, too, and has been given out.
const PythonWord& word_of(char first) {
  static constexpr PythonWord kWords[] = {{"True", "true"}, {"False", "false"}, {"None", "null"}, {"one", "ull"}};
  for (const PythonWord& word : kWords) {
    if (word.python.front() == first) return word;
  }
  return kWords[0];
}

bool may_begin_key(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
bool may_be_in_key(char c) { return may_begin_key(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

}  // namespace

/// Whether arguments leave as they are read, so that they may be mended.
bool ReplyParser::State::streams() const {
  return call_->named && call_->role == Call::Role::arguments && call_->shape == Call::Shape::object;
}

/// Keeps back a comma at the end, with the white space behind it. Gives what may leave.
std::string_view ReplyParser::State::keep_comma(std::string_view bytes, Scan scan) {
  const bool behind = (scan == Scan::more || scan == Scan::bad) && call_->json().scanner.behind_comma();
  if (!held_.empty()) {
    const bool more = behind && reply::is_blank(bytes) && held_.size() + bytes.size() <= kLongestGap;
    if (more) return held_ += bytes, std::string_view();
    release_comma();
  }
  const std::size_t comma = behind ? bytes.rfind(',') : bytes.npos;
  if (comma == bytes.npos || bytes.size() - comma > kLongestGap) return bytes;
  held_ = bytes.substr(comma);
  return bytes.substr(0, comma);
}

void ReplyParser::State::release_comma() {
  out_.text(Kind::arguments, held_);
  held_.clear();
}

/// The byte is not JSON here. Whether it is something else that is understood; then how many bytes were taken.
std::optional<std::size_t> ReplyParser::State::mend(char c) {
  if (!streams()) return std::nullopt;
  if (drop_comma(c)) return 0;
  release_comma();
  if (c == '\'' && call_->json().scanner.at_begin()) {
    out_.malformed(0, call_->json().scanner.expected(), Fault::mended);
    reply::PythonScanner rest(call_->json().scanner, machine_->limits.depth, machine_->limits.pending);
    call_->codec.make(std::move(rest));
    call_->at = Call::At::mended;
    return 0;
  }
  if (begins_bare_key(c)) {
    held_ = c;
    call_->bare_key = true;
    return 1;
  }
  if (call_->json().scanner.inside_escape()) return mend_escape(c);
  if (put_line_end(c)) return 1;
  if (call_->json().scanner.letter_of_python(c) == '\0') return std::nullopt;
  held_ = c;
  call_->bare_word = true;
  return 1;
}

/// A key without quotes is held until what follows it says that it is one.
bool ReplyParser::State::begins_bare_key(char c) const {
  return call_->json().scanner.at_key() && may_begin_key(c);
}

const char* ReplyParser::State::read_bare_key(const char* p, const char* end) {
  while (p != end && may_be_in_key(*p) && held_.size() <= kLongestGap) held_ += *p++;
  if (p == end) return p;
  call_->bare_key = false;
  const std::string key = std::exchange(held_, {});
  JsonScanner& scanner = call_->json().scanner;
  if (*p != ':' && !reply::is_json_space(*p)) {
    fail(scanner.expected());
    put_lost(key);
    return p;
  }
  out_.malformed(0, scanner.expected(), Fault::mended);
  const std::string quoted = '"' + key + '"';
  for (const char c : quoted) scanner.feed(c);
  out_.piece(Kind::arguments, key, quoted);
  return p;
}

/// A comma that a bracket follows.
bool ReplyParser::State::drop_comma(char c) {
  JsonScanner& scanner = call_->json().scanner;
  if (held_.empty() || (c != '}' && c != ']')) return false;
  JsonScanner closed = scanner;
  closed.drop_comma();
  if (closed.feed(c) == Scan::bad) return false;
  out_.malformed(0, scanner.expected(), Fault::mended);
  put_markup(std::exchange(held_, {}));
  scanner.drop_comma();
  return true;
}

/// The backslash has been given out: what is no escape is a backslash, but before a single quote.
std::optional<std::size_t> ReplyParser::State::mend_escape(char c) {
  JsonScanner& scanner = call_->json().scanner;
  if (!call_->mended) out_.malformed(0, scanner.expected(), Fault::mended);
  call_->mended = true;
  scanner.feed('n');
  if (c != '\'') {
    put_meant("\\");
    return 0;
  }
  out_.piece(Kind::arguments, {&c, 1}, "u0027");
  return 1;
}

/// The rest of arguments that were JSON until a quote.
const char* ReplyParser::State::read_mended(const char* p, const char* end) {
  const char* const begin = p;
  std::string json;
  const Scan scan = call_->python().run(p, end, json);
  out_.piece(Kind::arguments, {begin, p}, json);
  if (scan == Scan::bad) {
    put_meant(call_->python().unsaid());
    fail(call_->python().expected());
  }
  if (scan == Scan::done) {
    call_->codec.make(reply::JsonReader(machine_->limits.depth));
    end_value();
  }
  return p;
}

/// A line's end or a tab inside of a string of the arguments, which the model did not escape.
bool ReplyParser::State::put_line_end(char c) {
  if (!call_->json().scanner.inside_text() || (c != '\n' && c != '\r' && c != '\t')) return false;
  out_.piece(Kind::arguments, {&c, 1}, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
  return true;
}

/// A word of Python is held until what follows says that it is one, so that other words keep their spelling.
const char* ReplyParser::State::read_bare_word(const char* p, const char* end) {
  const PythonWord& word = word_of(held_.front());
  while (p != end && held_.size() < word.python.size() && *p == word.python[held_.size()]) held_ += *p++;
  if (p == end) return p;
  const bool over = *p == ',' || *p == '}' || *p == ']' || reply::is_json_space(*p);
  if (over && say_bare_word(held_)) {
    held_.clear();
    return p;
  }
  call_->bare_word = false;
  const std::string begun = std::exchange(held_, {});
  fail(call_->json().scanner.expected());
  put_lost(begun);
  return p;
}

/// Whether it is whole.
bool ReplyParser::State::say_bare_word(std::string_view text) {
  const PythonWord& word = word_of(text.front());
  if (text != word.python) return false;
  call_->bare_word = false;
  for (const char letter : word.json) call_->json().scanner.feed(letter);
  out_.piece(Kind::arguments, text, word.json);
  return true;
}

}  // namespace parlance
