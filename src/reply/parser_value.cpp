// The values of a call's object: its name, its id, its arguments, and others; and arguments that are JSON without such an object.
//
// Arguments leave as they come once the name is known. Begin reading at read_value.
#include <algorithm>
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::is_json_space;
using reply::Scan;

namespace {

constexpr std::size_t kLongestNothing = 64;  // null, or an empty list

}  // namespace

/// How many bytes may still be held, and added to a word of at most `longest`.
std::size_t ReplyParser::State::room(std::size_t longest) const {
  const ReplyLimits& limits = machine_->limits;
  std::size_t room = Call::kNoLimit;
  if (!call_->named) room = limits.pending - std::min<std::size_t>(limits.pending, lead_.size());
  return std::min(room, longest - std::min(longest, call_->word.size()));
}

bool ReplyParser::State::begin_value(char c) {
  const bool is_text = call_->role != Call::Role::arguments && call_->role != Call::Role::inner;
  if (is_text && c == '\'') return begin_quoted(Call::At::quoted);
  if (call_->role == Call::Role::name && c != '"') {
    fail("a name");
    return false;
  }
  if (call_->role == Call::Role::inner && c == '{') {
    put_frame({&c, 1});
    call_->level = call_->inner;
    call_->at = Call::At::key_or_end;
    return true;
  }
  if (call_->role == Call::Role::arguments && !begin_arguments(c)) return false;
  call_->json().scanner = reply::JsonScanner(machine_->limits.depth);
  call_->at = Call::At::value;
  return false;  // the value's own reader takes it
}

bool ReplyParser::State::begin_arguments(char c) {
  Call& call = *call_;
  const bool proves = needs_proof();
  const bool fits = c == '{' || c == '"' || (c == 'n' && !proves) || (c == '[' && call.named);
  const bool unsure = waits();  // what follows tells whether this is a call
  if (!fits && !in_object() && form().is_literal(call.part + std::size_t{1}) && form().literals[call.part + std::size_t{1}].begins(c)) {
    if (proves) return fail("an object of arguments"), false;
    if (unsure && !call.named && !commit()) return false;
    call.missing = true;  // if the literal is there indeed
    ++call.part;
    place_ = Place::literal;
    return false;
  }
  const bool known = !call.name.empty() && !call.named && !proves;  // the name waited for them
  if (known && (fits || (!call.silent && !unsure)) && !commit()) return false;
  if (!fits || call.has_arguments) {
    fail(fits ? "the arguments once" : "an object of arguments");
    return false;
  }
  call.has_arguments = true;
  call.shape = c == '{' ? Call::Shape::object : c == '"' ? Call::Shape::text : Call::Shape::nothing;
  call.arguments_from = static_cast<std::uint32_t>(lead_.size());
  return true;
}

const char* ReplyParser::State::read_value(const char* p, const char* end) {
  if (call_->bare_key) return read_bare_key(p, end);
  if (call_->bare_word) return read_bare_word(p, end);
  const char* const begin = p;
  const bool is_short = call_->role == Call::Role::name || call_->role == Call::Role::id;
  const bool nothing = call_->role == Call::Role::arguments && call_->shape == Call::Shape::nothing;
  const std::size_t left = nothing ? kLongestNothing - held_.size() : room(is_short ? machine_->limits.name : Call::kNoLimit);
  if (nothing && left == 0) return fail_value(), p;
  if (left == 0) {
    fail("less before the arguments");
    return p;
  }
  reply::JsonScanner& scanner = call_->json().scanner;
  const Scan scan = scanner.run(p, p + std::min(left, static_cast<std::size_t>(end - p)));
  std::string_view bytes(begin, static_cast<std::size_t>(p - begin));
  if ((!held_.empty() || scanner.behind_comma()) && streams()) bytes = keep_comma(bytes, scan);
  const std::size_t put = put_value(bytes);
  if (put != bytes.size()) return begin + put;
  if (scan == Scan::bad) {
    if (const auto taken = mend(*p)) return p + *taken;
    fail_value();
  } else if (scan != Scan::more) {
    end_value();
  }
  return p;
}

/// Of null, or an empty list, what was held is none.
void ReplyParser::State::fail_value() {
  const bool null = call_->role == Call::Role::arguments && call_->shape == Call::Shape::nothing;
  const std::string begun = std::exchange(held_, {});
  fail(null ? "an object of arguments" : call_->json().scanner.expected());
  if (!begun.empty()) put_lost(begun);
}

/// How many bytes were taken: all, or those before the one that made the call fail.
std::size_t ReplyParser::State::put_value(std::string_view bytes) {
  if (call_->role == Call::Role::arguments && call_->named) return put_arguments(bytes, true);
  if (call_->role == Call::Role::name || call_->role == Call::Role::id) call_->word += bytes;
  put_frame(bytes);
  return bytes.size();
}

/// Bytes of arguments whose call has begun; without a source where they were held, and are in it already.
std::size_t ReplyParser::State::put_arguments(std::string_view bytes, bool has_source) {
  if (call_->shape == Call::Shape::text) return put_argument_text(bytes, has_source);
  if (call_->shape == Call::Shape::nothing) {
    if (has_source) held_ += bytes;
  } else if (has_source) {
    out_.text(Kind::arguments, bytes);
  } else {
    put_meant(bytes);
  }
  return bytes.size();
}

/// Arguments as a string: what it holds must be an object. The scanner has seen to the escapes.
std::size_t ReplyParser::State::put_argument_text(std::string_view bytes, bool has_source) {
  reply::JsonReader& reader = call_->json();
  std::string text(reader.tail.data(), std::exchange(reader.tail_size, std::uint8_t{0}));
  std::string one;
  std::size_t used = 0;
  bool good = true;
  for (; used < bytes.size() && good; ++used) {
    const char c = bytes[used];
    if (c == '"' && !reader.raw_escape) continue;  // the string's own quotes
    reader.raw_escape = c == '\\' && !reader.raw_escape;
    one.clear();
    reader.unescape.feed(c, one);
    for (const char decoded : one) {
      if (!reader.begun && is_json_space(decoded)) continue;
      good = reader.begun ? !reader.done || is_json_space(decoded) : decoded == '{';
      if (!good && !reader.begun) text = '"';  // the string's own, so that it is not lost
      reader.begun = true;
      if (!good || reader.done) continue;
      const Scan scan = reader.inner.feed(decoded);
      good = good && scan != Scan::bad;
      reader.done = scan == Scan::done;
      if (good) text += decoded;
    }
  }
  if (!good) --used;
  const std::size_t cut = good ? reply::incomplete_tail(text) : 0;
  reader.tail_size = static_cast<std::uint8_t>(text.copy(reader.tail.data(), cut, text.size() - cut));
  text.resize(text.size() - cut);
  out_.piece(Kind::arguments, has_source ? bytes.substr(0, used) : std::string_view(), text);
  if (!good) fail(reader.done ? "the end of the text" : reader.inner.expected());
  return used;
}

bool ReplyParser::State::end_value() {
  call_->at = Call::At::comma_or_end;
  switch (call_->role) {
    case Call::Role::name: return end_name_member();
    case Call::Role::id:
      call_->id = call_->word.view().starts_with('"') ? reply::text_of_json(call_->word) : call_->word.take();
      call_->word.clear();
      return true;
    case Call::Role::arguments:
      call_->arguments_to = static_cast<std::uint32_t>(lead_.size());
      if (needs_proof()) return begin_proof();
      return !call_->named || end_arguments();
    default: return true;
  }
}

/// An answer in JSON is a call only if it has arguments too.
bool ReplyParser::State::end_name_member() {
  call_->name = reply::text_of_json(call_->word);
  call_->word.clear();
  if (call_->name.empty()) {
    fail("a name");
    return false;
  }
  const bool waits = call_->silent && form().form->initial && !call_->has_arguments;
  return !waits && commit();
}

/// Nothing, or an empty text, is an empty object.
bool ReplyParser::State::end_arguments() {
  const bool text = call_->shape == Call::Shape::text;
  const bool list = call_->shape == Call::Shape::nothing && held_.starts_with('[');
  if (list && reply::trimmed(std::string_view(held_).substr(1)) != "]") return fail_value(), false;
  if (list) out_.malformed(0, "an object of arguments", Fault::mended);
  if (call_->shape == Call::Shape::nothing || (text && !call_->json().begun)) {
    put_markup(std::exchange(held_, {}));
    put_meant("{}");
  } else if (text && !call_->json().done) {
    fail(call_->json().inner.expected());
    return false;
  }
  if (!in_object()) end_part();
  return true;
}

}  // namespace parlance
