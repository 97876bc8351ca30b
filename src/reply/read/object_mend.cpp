// Arguments that are nearly JSON: what models often write otherwise, and what is said in its place.
//
//     {'city': "Paris"}      from the first quote that is none of JSON on, a literal of Python
//     {"days": [1, 2,],}     a comma leaves only with what follows it
//     {"text": "it\'s"}      an escape that JSON does not have
//     {text: "x"}            a key without quotes
//     {"exact": True}        a word of Python, once it is whole: of no other word a letter is changed
//
// Each is said by a diagnostic (mended), but for newlines and Python's words, whose meaning is plain. Begin reading at
// mend.
#include <utility>

#include "reply/read/object_reader.h"
#include "reply/read/text_reading.h"

namespace parlance::reply {
namespace {

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
bool ObjectReader::streams() const { return in().call->named && role_ == Role::arguments && shape_ == Shape::object; }

/// Keeps back a comma at the end, with the white space behind it. Gives what may leave.
std::string_view ObjectReader::keep_comma(std::string_view bytes, Scan scan) {
  const bool behind = (scan == Scan::more || scan == Scan::bad) && scanner_.behind_comma();
  if (!in().held.bytes.empty()) {
    const bool more = behind && is_blank(bytes) && in().held.bytes.size() + bytes.size() <= kLongestGap;
    if (more) return in().held.bytes += bytes, std::string_view();
    release_comma();
  }
  const std::size_t comma = behind ? bytes.rfind(',') : bytes.npos;
  if (comma == bytes.npos || bytes.size() - comma > kLongestGap) return bytes;
  in().held.bytes = bytes.substr(comma);
  return bytes.substr(0, comma);
}

void ObjectReader::release_comma() {
  in().out.text(Kind::arguments, in().held.bytes);
  in().held.bytes.clear();
}

/// The byte is not JSON here. Whether it is something else that is understood; then how many bytes were taken.
std::optional<std::size_t> ObjectReader::mend(char c) {
  if (!streams()) return std::nullopt;
  if (drop_comma(c)) return 0;
  release_comma();
  if (c == '\'' && scanner_.at_begin()) {
    in().out.malformed(0, scanner_.expected(), Fault::mended);
    PythonScanner rest(scanner_, in().limits().depth, in().limits().pending);
    python_.make(std::move(rest));
    at_ = At::mended;
    return 0;
  }
  if (begins_bare_key(c)) {
    in().held.bytes = c;
    bare_key_ = true;
    return 1;
  }
  if (scanner_.inside_escape()) return mend_escape(c);
  if (put_newline(c)) return 1;
  if (scanner_.letter_of_python(c) == '\0') return std::nullopt;
  in().held.bytes = c;
  bare_word_ = true;
  return 1;
}

/// A key without quotes is held until what follows it says that it is one.
bool ObjectReader::begins_bare_key(char c) const { return scanner_.at_key() && may_begin_key(c); }

const char* ObjectReader::read_bare_key(const char* p, const char* end) {
  while (p != end && may_be_in_key(*p) && in().held.bytes.size() <= kLongestGap) in().held.bytes += *p++;
  if (p == end) return p;
  bare_key_ = false;
  const std::string key = in().held.take();
  if (*p != ':' && !is_json_space(*p)) {
    fail(scanner_.expected());
    in().to_driver().lost = key;
    return p;
  }
  in().out.malformed(0, scanner_.expected(), Fault::mended);
  const std::string quoted = '"' + key + '"';
  for (const char c : quoted) scanner_.feed(c);
  in().out.piece(Kind::arguments, key, quoted);
  return p;
}

/// A comma that a bracket follows.
bool ObjectReader::drop_comma(char c) {
  if (in().held.bytes.empty() || (c != '}' && c != ']')) return false;
  JsonScanner closed = scanner_;
  closed.drop_comma();
  if (closed.feed(c) == Scan::bad) return false;
  in().out.malformed(0, scanner_.expected(), Fault::mended);
  in().put_markup(in().held.take());
  scanner_.drop_comma();
  return true;
}

/// The backslash has been given out: what is no escape is a backslash, but before a single quote.
std::optional<std::size_t> ObjectReader::mend_escape(char c) {
  if (!mended_) in().out.malformed(0, scanner_.expected(), Fault::mended);
  mended_ = true;
  scanner_.feed('n');
  if (c != '\'') {
    in().put_meant("\\");
    return 0;
  }
  in().out.piece(Kind::arguments, {&c, 1}, "u0027");
  return 1;
}

/// The rest of arguments that were JSON until a quote.
const char* ObjectReader::read_mended(const char* p, const char* end) {
  const char* const begin = p;
  std::string json;
  const Scan scan = python_->run(p, end, json);
  in().out.piece(Kind::arguments, {begin, p}, json);
  if (scan == Scan::bad) {
    in().put_meant(python_->unsaid());
    fail(python_->expected());
  }
  if (scan == Scan::done) {
    python_.reset();
    scanner_ = JsonScanner(in().limits().depth);
    end_value();
  }
  return p;
}

/// A newline or a tab inside of a string of the arguments, which the model did not escape.
bool ObjectReader::put_newline(char c) {
  if (!scanner_.inside_text() || (c != '\n' && c != '\r' && c != '\t')) return false;
  in().out.piece(Kind::arguments, {&c, 1}, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
  return true;
}

/// A word of Python is held until what follows says that it is one, so that other words keep their spelling.
const char* ObjectReader::read_bare_word(const char* p, const char* end) {
  const PythonWord& word = word_of(in().held.bytes.front());
  while (p != end && in().held.bytes.size() < word.python.size() && *p == word.python[in().held.bytes.size()])
    in().held.bytes += *p++;
  if (p == end) return p;
  const bool over = *p == ',' || *p == '}' || *p == ']' || is_json_space(*p);
  if (over && say_bare_word(in().held.bytes)) {
    in().held.bytes.clear();
    return p;
  }
  bare_word_ = false;
  in().to_driver().lost = in().held.take();
  fail(scanner_.expected());
  return p;
}

/// Whether it is whole.
bool ObjectReader::say_bare_word(std::string_view text) {
  const PythonWord& word = word_of(text.front());
  if (text != word.python) return false;
  bare_word_ = false;
  for (const char letter : word.json) scanner_.feed(letter);
  in().out.piece(Kind::arguments, text, word.json);
  return true;
}

}  // namespace parlance::reply
