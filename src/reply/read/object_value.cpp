// The values of a call's object: its name, its id, its arguments, and others; and arguments that are JSON without such
// an object.
//
// Arguments leave as they come once the name is known. Begin reading at read_value.
#include <algorithm>

#include "reply/read/object_reader.h"

namespace parlance::reply {
namespace {

constexpr std::size_t kLongestNothing = 64;  // null, or an empty list

}  // namespace

/// How many bytes may still be held, and added to a word of at most `longest`.
std::size_t ObjectReader::room(std::size_t longest) const {
  const ReplyLimits& limits = in().limits();
  std::size_t room = kNoLimit;
  if (!in().call->named) room = limits.pending - std::min<std::size_t>(limits.pending, in().lead.size());
  return std::min(room, longest - std::min(longest, word().size()));
}

bool ObjectReader::begin_value(char c) {
  const bool is_text = role_ != Role::arguments && role_ != Role::inner;
  if (is_text && c == '\'') return begin_quoted(At::quoted);
  if (role_ == Role::name && c != '"') {
    fail("a name");
    return false;
  }
  if (role_ == Role::inner && c == '{') {
    in().put_frame({&c, 1});
    level_ = inner_;
    at_ = At::key_or_end;
    return true;
  }
  if (role_ == Role::arguments && !begin_arguments(c)) return false;
  scanner_ = JsonScanner(in().limits().depth);
  at_ = At::value;
  return false;  // the value's own reader takes it
}

bool ObjectReader::begin_arguments(char c) {
  const Call& call = *in().call;
  const bool proves = needs_proof();
  const bool fits = c == '{' || c == '"' || (c == 'n' && !proves) || (c == '[' && call.named);
  const bool unsure = in().waits();  // what follows tells whether this is a call
  if (!fits && !in_object() && in().has_literal_behind() &&
      in().form().literals[call.part + std::size_t{1}].begins(c)) {
    if (proves) return fail("an object of arguments"), false;
    if (unsure && !call.named && !begin_call()) return false;
    answer({Step::What::missing});
    return false;
  }
  const bool known = !call.name.empty() && !call.named && !proves;  // the name waited for them
  if (known && (fits || (!call.silent && !unsure)) && !begin_call()) return false;
  if (!fits || has_arguments_) {
    fail(fits ? "the arguments once" : "an object of arguments");
    return false;
  }
  has_arguments_ = true;
  shape_ = c == '{' ? Shape::object : c == '"' ? Shape::text : Shape::nothing;
  arguments_from_ = static_cast<std::uint32_t>(in().lead.size());
  if (shape_ == Shape::text) string_.make(in().limits().depth);
  return true;
}

const char* ObjectReader::read_value(const char* p, const char* end) {
  if (bare_key_) return read_bare_key(p, end);
  if (bare_word_) return read_bare_word(p, end);
  const char* const begin = p;
  const bool is_short = role_ == Role::name || role_ == Role::id;
  const bool nothing = role_ == Role::arguments && shape_ == Shape::nothing;
  const std::size_t left =
      nothing ? kLongestNothing - in().held.bytes.size() : room(is_short ? in().limits().name : kNoLimit);
  if (nothing && left == 0) return fail_value(), p;
  if (left == 0) {
    fail("less before the arguments");
    return p;
  }
  const Scan scan = scanner_.run(p, p + std::min(left, static_cast<std::size_t>(end - p)));
  std::string_view bytes(begin, static_cast<std::size_t>(p - begin));
  if ((!in().held.bytes.empty() || scanner_.behind_comma()) && streams()) bytes = keep_comma(bytes, scan);
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
void ObjectReader::fail_value() {
  const bool null = role_ == Role::arguments && shape_ == Shape::nothing;
  in().to_driver().lost = in().held.take();
  fail(null ? "an object of arguments" : scanner_.expected());
}

/// How many bytes were taken: all, or those before the one that made the call fail.
std::size_t ObjectReader::put_value(std::string_view bytes) {
  if (role_ == Role::arguments && in().call->named) return put_arguments(bytes, true);
  if (role_ == Role::name || role_ == Role::id) word() += bytes;
  in().put_frame(bytes);
  return bytes.size();
}

/// Bytes of arguments whose call has begun; without a source where they were held, and are in it already.
std::size_t ObjectReader::put_arguments(std::string_view bytes, bool has_source) {
  if (shape_ == Shape::text) return put_argument_text(bytes, has_source);
  if (shape_ == Shape::nothing) {
    if (has_source) in().held.bytes += bytes;
  } else if (has_source) {
    in().out.text(Kind::arguments, bytes);
  } else {
    in().put_meant(bytes);
  }
  return bytes.size();
}

/// Arguments as a string: what it holds must be an object. The scanner has seen to the escapes.
std::size_t ObjectReader::put_argument_text(std::string_view bytes, bool has_source) {
  std::string text(string_->tail.data(), std::exchange(string_->tail_size, std::uint8_t{0}));
  std::string one;
  std::size_t used = 0;
  bool good = true;
  for (; used < bytes.size() && good; ++used) {
    const char c = bytes[used];
    if (c == '"' && !string_->raw_escape) continue;  // the string's own quotes
    string_->raw_escape = c == '\\' && !string_->raw_escape;
    one.clear();
    string_->unescape.feed(c, one);
    for (const char decoded : one) {
      if (!string_->begun && is_json_space(decoded)) continue;
      good = string_->begun ? !string_->done || is_json_space(decoded) : decoded == '{';
      if (!good && !string_->begun) text = '"';  // the string's own, so that it is not lost
      string_->begun = true;
      if (!good || string_->done) continue;
      const Scan scan = string_->inner.feed(decoded);
      good = good && scan != Scan::bad;
      string_->done = scan == Scan::done;
      if (good) text += decoded;
    }
  }
  if (!good) --used;
  const std::size_t cut = good ? incomplete_tail(text) : 0;
  string_->tail_size = static_cast<std::uint8_t>(text.copy(string_->tail.data(), cut, text.size() - cut));
  text.resize(text.size() - cut);
  in().out.piece(Kind::arguments, has_source ? bytes.substr(0, used) : std::string_view(), text);
  if (!good) fail(string_->done ? "the end of the text" : string_->inner.expected());
  return used;
}

bool ObjectReader::end_value() {
  at_ = At::comma_or_end;
  switch (role_) {
    case Role::name: return end_name_member();
    case Role::id:
      in().call->id = word().view().starts_with('"') ? text_of_json(word()) : word().take();
      word().clear();
      return true;
    case Role::arguments:
      arguments_to_ = static_cast<std::uint32_t>(in().lead.size());
      if (needs_proof()) return begin_proof();
      return !in().call->named || end_arguments();
    default: return true;
  }
}

/// An answer in JSON is a call only if it has arguments too.
bool ObjectReader::end_name_member() {
  in().call->name = text_of_json(word());
  word().clear();
  if (in().call->name.empty()) {
    fail("a name");
    return false;
  }
  const bool waits = in().call->silent && in().form().form->initial && !has_arguments_;
  return !waits && begin_call();
}

/// Nothing, or an empty text, is an empty object.
bool ObjectReader::end_arguments() {
  const bool text = shape_ == Shape::text;
  const bool list = shape_ == Shape::nothing && in().held.bytes.starts_with('[');
  if (list && trimmed(std::string_view(in().held.bytes).substr(1)) != "]") return fail_value(), false;
  if (list) in().out.malformed(0, "an object of arguments", Fault::mended);
  if (shape_ == Shape::nothing || (text && !string_->begun)) {
    in().put_markup(in().held.take());
    in().put_meant("{}");
  } else if (text && !string_->done) {
    fail(string_->inner.expected());
    return false;
  }
  if (!in_object()) answer({Step::What::done});
  return true;
}

}  // namespace parlance::reply
