// The `%` of strings: printf-like formatting, with Markup formats escaping their arguments.
//
// Rules: CPython 3.11 Objects/unicodeobject.c (PyUnicode_Format) and, for Markup, markupsafe's
// Markup.__mod__. One Formatter walks the format; each conversion is read, given its argument and
// printed. Literal runs and strings keep their pieces. Begin reading at Formatter::run.

#include <algorithm>
#include <span>
#include <string>

#include "base/utf8.h"
#include "value/format.h"
#include "value/format_parts.h"
#include "value/markup.h"
#include "value/number.h"
#include "value/operators.h"
#include "value/string.h"
#include "value/text_of.h"

namespace parlance {
namespace {

constexpr std::string_view kWrapper = "_MarkupEscapeHelper";

/// What stands between `%` and the letter: "%(key)-+ #0width.precisionX". -1 is "not given".
struct Conversion {
  bool left = false, plus = false, blank = false, alternate = false, zero = false;
  std::int64_t width = -1;
  std::int64_t precision = -1;
  char32_t code = 0;
};

/// Text of one conversion before padding: sign and prefix stay in front of zeros.
struct Printed {
  Value text;
  bool numeric = false;
};

/// CPython asks PyMapping_Check and excludes tuples and strings. Lists pass it, since they have __getitem__; so "%s" %
/// [1] is fine and '%(a)s' % [1] fails only at the lookup.
bool is_mapping(Value v) {
  if (v.kind == Kind::object) return v.object->type->get_item != nullptr && !v.object->type->subscripts_as_class;
  return v.kind == Kind::dict || v.kind == Kind::list || v.is_undefined();
}

class Formatter {
 public:
  // Only a tuple holds several arguments. Any other value is the one argument, a list as well.
  Formatter(Runtime& rt, Value format, Value arguments)
      : rt_(rt), format_(format), text_(text(rt, format)), escaping_(format.is_markup()), out_(rt) {
    if (arguments.kind == Kind::tuple) {
      items_ = {arguments.list->items, arguments.list->size};
      return;
    }
    mapping_ = is_mapping(arguments);
    single_ = arguments;
    items_ = {&single_, 1};
    mapping_value_ = arguments;
  }

  Value run() {
    if (!rt_.charge_bytes(text_.size())) return Value::invalid();
    while (true) {
      const std::size_t percent = std::min(text_.find('%', at_), text_.size());
      if (percent > at_) out_.append(format_, at_, percent);
      if (percent == text_.size()) break;
      at_ = percent + 1;
      if (!convert()) return Value::invalid();
    }
    // A mapping may have members that nobody asked for, so only leftover tuple items are an error.
    if (next_ < items_.size() && !mapping_) {
      return rt_.fail(ErrorCode::type, "not all arguments converted during string formatting");
    }
    return out_.finish(escaping_);
  }

 private:
  bool fail(ErrorCode code, std::string message, Value culprit = {}) {
    rt_.fail(code, std::move(message), culprit);
    return false;
  }
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }

  bool convert();
  bool read(Conversion& c);
  bool read_key();
  bool read_size(std::int64_t& out, bool is_width, Conversion& c);
  bool next_argument(Value& out);
  bool print(const Conversion& c, Value argument, Printed& out);
  bool print_integer(const Conversion& c, Value argument, Printed& out);
  bool print_real(const Conversion& c, Value argument, Printed& out);
  bool print_character(Value argument, Printed& out);
  bool to_integer(const Conversion& c, Value argument, Value& out);
  bool to_double(Value argument, double& out);
  bool fail_wanted(const Conversion& c, Value argument);
  bool put(const Conversion& c, const Printed& printed);
  bool put_number(const Conversion& c, Value number);
  std::string_view name_of(Value v) const { return escaping_ ? kWrapper : type_name(v); }

  Runtime& rt_;
  Value format_;
  std::string_view text_;
  bool escaping_;
  StringBuilder out_;
  std::size_t at_ = 0;
  std::span<const Value> items_;
  std::size_t next_ = 0;
  Value single_;
  bool mapping_ = false;
  Value mapping_value_;
};

/// "%(key)": afterwards the value under the key is the one argument left.
bool Formatter::read_key() {
  if (!mapping_) return fail(ErrorCode::type, "format requires a mapping");
  const std::size_t begin = ++at_;
  for (int depth = 1; !at_end(); ++at_) {
    if (text_[at_] == '(') ++depth;
    if (text_[at_] == ')' && --depth == 0) break;
  }
  if (at_end()) return fail(ErrorCode::value, "incomplete format key");
  Value key = with_markup(substring(rt_, format_, begin, at_), false);
  ++at_;
  single_ = subscript(rt_, mapping_value_, key);
  items_ = {&single_, 1};
  next_ = 0;
  return !single_.is_invalid();
}

/// Width or precision: digits, or `*` for the next argument.
bool Formatter::read_size(std::int64_t& out, bool is_width, Conversion& c) {
  constexpr std::int64_t kMostWidth = INT64_MAX;
  constexpr std::int64_t kMostPrecision = 2147483647;
  if (peek() == '*') {
    ++at_;
    Value v;
    if (!next_argument(v)) return false;
    if (escaping_ || !is_integral(v)) return fail(ErrorCode::type, "* wants int");
    if ((v.flags & Value::kBig) != 0 ||
        (!is_width && (v.integer > kMostPrecision || v.integer < -kMostPrecision - 1))) {
      return fail(ErrorCode::overflow, is_width ? "Python int too large to convert to C ssize_t"
                                                : "Python int too large to convert to C int");
    }
    out = v.integer;
    if (out < 0 && is_width) c.left = true;
    if (out < 0) out = is_width ? (out == INT64_MIN ? INT64_MAX : -out) : 0;
    return true;
  }
  if (!is_width) out = 0;
  for (; peek() >= '0' && peek() <= '9'; ++at_) {
    const int digit = text_[at_] - '0';
    if (out < 0) out = 0;
    if (out > ((is_width ? kMostWidth : kMostPrecision) - digit) / 10) {
      return fail(ErrorCode::value, is_width ? "width too big" : "precision too big");
    }
    out = out * 10 + digit;
  }
  return true;
}

bool Formatter::read(Conversion& c) {
  if (peek() == '(' && !read_key()) return false;
  for (bool more = true; more;) {
    switch (peek()) {
      case '-': c.left = true; break;
      case '+': c.plus = true; break;
      case ' ': c.blank = true; break;
      case '#': c.alternate = true; break;
      case '0': c.zero = true; break;
      default: more = false;
    }
    if (more) ++at_;
  }
  if (!read_size(c.width, true, c)) return false;
  if (peek() == '.') {
    ++at_;
    if (!read_size(c.precision, false, c)) return false;
  }
  if (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
  if (at_end()) return fail(ErrorCode::value, "incomplete format");
  const auto [code, size] = utf8::decode(text_.data() + at_, text_.data() + text_.size());
  c.code = code;
  at_ += size;
  return true;
}

bool Formatter::next_argument(Value& out) {
  if (next_ == items_.size()) {
    return fail(ErrorCode::type, "not enough arguments for format string");
  }
  out = items_[next_++];
  return true;
}

bool Formatter::convert() {
  // "%%" here; "%5%" is read as a conversion below and fails, as in CPython ("unsupported format character").
  if (peek() == '%') {
    out_.append(format_, at_, at_ + 1);
    ++at_;
    return true;
  }
  Conversion c;
  if (!read(c)) return false;
  Value argument;
  Printed printed;
  return next_argument(argument) && print(c, argument, printed) && put(c, printed);
}

bool Formatter::print(const Conversion& c, Value argument, Printed& out) {
  switch (c.code) {
    case 's': out.text = to_text(rt_, argument); break;
    case 'r':
    case 'a': out.text = to_repr(rt_, argument); break;
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X': return print_integer(c, argument, out);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': return print_real(c, argument, out);
    case 'c': return print_character(argument, out);
    default: {
      const bool visible = c.code >= 31 && c.code < 127;
      // CPython counts code points, not bytes.
      const std::size_t index = utf8::count(text_.substr(0, at_)) - 1;
      return fail(ErrorCode::value, "unsupported format character '" +
                                        std::string(1, visible ? static_cast<char>(c.code) : '?') + "' (0x" +
                                        hex_digits(c.code) + ") at index " + std::to_string(index));
    }
  }
  if (out.text.is_invalid()) return false;
  // Before the precision, as markupsafe: it escapes the argument's str(), and the format cuts what comes of that.
  if (escaping_) out.text = escape_html(rt_, out.text);
  if (c.code == 'a') out.text = to_ascii(rt_, out.text);
  if (c.precision >= 0 && out.text.is_string()) {
    out.text = first_characters(rt_, out.text, c.precision);
  }
  return !out.text.is_invalid();
}

bool Formatter::fail_wanted(const Conversion& c, Value argument) {
  const char code = static_cast<char>(c.code);
  const bool integer = code == 'o' || code == 'x' || code == 'X';
  return fail(ErrorCode::type,
              "%" + std::string(1, code) + " format: " + (integer ? "an integer" : "a real number") +
                  " is required, not " + std::string(name_of(argument)),
              argument);
}

/// int(argument) as `%d` takes it. A Markup format wraps its arguments in something that has int()
/// but no __index__, so there strings are read as numbers and `%x` takes nothing.
bool Formatter::to_integer(const Conversion& c, Value argument, Value& out) {
  const bool index_only = c.code == 'o' || c.code == 'x' || c.code == 'X';
  if (index_only && (escaping_ || !is_integral(argument))) return fail_wanted(c, argument);
  if (is_integral(argument)) {
    out = argument;
  } else if (argument.kind == Kind::real) {
    out = integer_from_real(rt_, argument.real);
  } else if (argument.is_undefined()) {
    out = fail_undefined(rt_, argument);
  } else if (escaping_ && argument.is_string()) {
    const auto number = parse_int(rt_, text(rt_, argument), 10);
    if (!number) {
      Value shown = to_repr(rt_, argument);
      return !rt_.failed() &&
             fail(ErrorCode::value, "invalid literal for int() with base 10: " + std::string(text(rt_, shown)));
    }
    out = *number;
  } else {
    return fail_wanted(c, argument);
  }
  return !out.is_invalid();
}

bool Formatter::print_integer(const Conversion& c, Value argument, Printed& out) {
  Value number;
  if (!to_integer(c, argument, number)) return false;
  std::string digits;
  if (!append_integer(rt_, digits, number, integer_base(c.code))) return false;
  if (c.precision > 2147483647 - 3) return fail(ErrorCode::overflow, "precision too large");
  const std::size_t sign = digits[0] == '-' ? 1 : 0;
  const std::size_t wanted = c.precision < 0 ? 0 : static_cast<std::size_t>(c.precision);
  // '%.2000000000d' is bounded here, before the zeros are made.
  if (digits.size() - sign < wanted) {
    if (!rt_.reserve(wanted)) return false;
    digits.insert(sign, wanted - (digits.size() - sign), '0');
  }
  if (c.alternate) digits.insert(sign, integer_prefix(c.code));
  if (c.code == 'X') uppercase(digits);
  out = {make_derived(rt_, digits, argument), true};
  return true;
}

bool Formatter::to_double(Value argument, double& out) {
  if (argument.is_undefined()) return !fail_undefined(rt_, argument).is_invalid();
  if (escaping_ && argument.is_string()) {
    const auto parsed = parse_real(text(rt_, argument));
    if (parsed) {
      out = *parsed;
      return true;
    }
    Value shown = to_repr(rt_, argument);
    return !rt_.failed() &&
           fail(ErrorCode::value, "could not convert string to float: " + std::string(text(rt_, shown)));
  }
  if (!is_number(argument)) {
    const std::string name(type_name(argument));
    return fail(ErrorCode::type,
                escaping_ ? "float() argument must be a string or a real number, not '" + name + "'"
                          : "must be real number, not " + name,
                argument);
  }
  const auto real = to_real(rt_, argument);
  if (real) out = *real;
  return real.has_value();
}

bool Formatter::print_real(const Conversion& c, Value argument, Printed& out) {
  double real = 0;
  if (!to_double(argument, real)) return false;
  const std::int64_t precision = c.precision < 0 ? 6 : c.precision;
  // A double has up to 309 digits before its point; precision says how many follow.
  if (!rt_.reserve(static_cast<std::uint64_t>(precision) + 400)) return false;
  std::string digits;
  append_real(digits, real, static_cast<char>(c.code), static_cast<int>(precision), c.alternate);
  out = {make_derived(rt_, digits, argument), true};
  return true;
}

bool Formatter::print_character(Value argument, Printed& out) {
  if (!escaping_ && argument.is_string() && length(rt_, argument) == 1) {
    out.text = argument;
    return true;
  }
  if (escaping_ || !is_integral(argument)) {
    return fail(ErrorCode::type, "%c requires int or char", argument);
  }
  if ((argument.flags & Value::kBig) != 0 || argument.integer < 0 || argument.integer > utf8::kMaxCodePoint) {
    return fail(ErrorCode::overflow, "%c arg not in range(0x110000)");
  }
  std::string character;
  utf8::append(character, static_cast<char32_t>(argument.integer));
  out.text = make_derived(rt_, character, argument);
  return true;
}

/// Pads to the width and appends.
bool Formatter::put(const Conversion& c, const Printed& printed) {
  if (printed.numeric) return put_number(c, printed.text);
  const std::uint64_t width = c.width < 0 ? 0 : static_cast<std::uint64_t>(c.width);
  const std::uint64_t size = width == 0 ? 0 : length(rt_, printed.text);
  const std::uint64_t fill = width > size ? width - size : 0;
  if (!c.left && !append_repeated(rt_, out_, " ", fill)) return false;
  out_.append(printed.text);
  return !c.left || append_repeated(rt_, out_, " ", fill);
}

/// The same for numbers: a sign and "0x" stay in front of the zeros.
bool Formatter::put_number(const Conversion& c, Value number) {
  const std::string_view digits = leaf_text(number);
  const bool negative = digits[0] == '-';
  std::size_t front = negative ? 1 : 0;
  std::string_view sign;
  if (!negative && (c.plus || c.blank)) sign = c.plus ? "+" : " ";
  if (c.alternate) front += integer_prefix(c.code).size();
  const std::uint64_t size = sign.size() + digits.size();
  const std::uint64_t width = c.width < 0 ? 0 : static_cast<std::uint64_t>(c.width);
  const std::uint64_t fill = width > size ? width - size : 0;
  if (!c.left && !c.zero && !append_repeated(rt_, out_, " ", fill)) return false;
  out_.append_static(sign);
  out_.append(number, 0, front);
  if (!c.left && c.zero && !append_repeated(rt_, out_, "0", fill)) return false;
  out_.append(number, front, digits.size());
  return !c.left || append_repeated(rt_, out_, " ", fill);
}

}  // namespace

Value format_percent(Runtime& rt, Value format, Value arguments) { return Formatter(rt, format, arguments).run(); }

}  // namespace parlance
