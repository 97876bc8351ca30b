// str.format and str.format_map as Jinja2's sandbox runs them.
//
// Rules: CPython 3.11 Objects/stringlib/unicode_format.h (how a format is read), Lib/string.py
// Formatter (how fields are numbered and nested), Jinja2 3.1 SandboxedFormatter (fields go through
// getattr and getitem of the environment) and markupsafe's EscapeFormatter for Markup formats.
// Begin reading at BraceFormatter::format.

#include <algorithm>
#include <optional>
#include <string>

#include "base/unicode.h"
#include "base/utf8.h"
#include "jinja/objects/builtins.h"
#include "value/format.h"
#include "value/format_parts.h"
#include "value/markup.h"
#include "value/operators.h"
#include "value/text_of.h"

namespace parlance::jinja {
namespace {

/// Lib/string.py: vformat() begins with a depth of 2, so a spec may hold fields and their specs may not.
constexpr int kNesting = 2;

/// One {field!conversion:spec}, as byte ranges of the format.
struct Field {
  std::size_t name_begin = 0, name_end = 0;
  char32_t conversion = 0;
  std::size_t spec_begin = 0, spec_end = 0;
};

/// Digits of any script as CPython's field names have them; nullopt: not a number. -1: too large.
std::optional<std::int64_t> field_number(std::string_view name) {
  if (name.empty()) return std::nullopt;
  std::int64_t number = 0;
  for (std::size_t at = 0; at < name.size();) {
    const auto [c, size] = utf8::decode(name.data() + at, name.data() + name.size());
    const int digit = unicode::decimal_value(c);
    if (digit < 0) return std::nullopt;
    if (number > (INT64_MAX - digit) / 10) return -1;
    number = number * 10 + digit;
    at += size;
  }
  return number;
}

/// Cuts a format into literal text and fields.
class FieldReader {
 public:
  FieldReader(Runtime& rt, std::string_view text) : rt_(rt), text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  /// Reads literal text [begin, end) and, if `has_field`, the field after it.
  bool next(std::size_t& begin, std::size_t& end, bool& has_field, Field& field);

 private:
  bool fail(std::string_view message) {
    rt_.fail(ErrorCode::value, std::string(message));
    return false;
  }
  bool read_field(Field& field);
  bool read_conversion(Field& field, bool& done);
  bool read_spec(Field& field);

  Runtime& rt_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// "{{" and "}}" stand for one brace: it is literal text that ends behind the first, and the second is passed over.
bool FieldReader::next(std::size_t& begin, std::size_t& end, bool& has_field, Field& field) {
  begin = at_;
  end = std::min(text_.find_first_of("{}", at_), text_.size());
  has_field = false;
  at_ = end;
  if (at_end()) return true;
  const char brace = text_[at_++];
  const bool doubled = !at_end() && text_[at_] == brace;
  if (brace == '}' && !doubled) return fail("Single '}' encountered in format string");
  if (brace == '{' && at_end()) return fail("Single '{' encountered in format string");
  if (doubled) {
    ++end;
    ++at_;
    return true;
  }
  has_field = true;
  return read_field(field);
}

/// CPython's MarkupIterator: the end of the name is looked for first, and brackets hide ':' and '!' in a key.
bool FieldReader::read_field(Field& field) {
  field = {};
  field.name_begin = at_;
  while (!at_end() && text_[at_] != '}' && text_[at_] != ':' && text_[at_] != '!') {
    if (text_[at_] == '{') return fail("unexpected '{' in field name");
    // Inside [ ] everything belongs to the name.
    if (text_[at_] == '[') at_ = std::min(text_.find(']', at_), text_.size());
    if (!at_end()) ++at_;
  }
  field.name_end = at_;
  if (at_end()) return fail("expected '}' before end of string");
  const char stop = text_[at_++];
  if (stop == '}') return true;
  bool done = false;
  if (stop == '!' && !read_conversion(field, done)) return false;
  return done || read_spec(field);
}

bool FieldReader::read_conversion(Field& field, bool& done) {
  if (at_end()) return fail("end of string while looking for conversion specifier");
  const auto [c, size] = utf8::decode(text_.data() + at_, text_.data() + text_.size());
  field.conversion = c;
  at_ += size;
  if (at_end()) return true;
  const char stop = text_[at_++];
  done = stop == '}';
  return done || stop == ':' || fail("expected ':' after conversion specifier");
}

/// Braces nest in a spec, "{:{width}}": only the one that closes the field ends it.
bool FieldReader::read_spec(Field& field) {
  field.spec_begin = at_;
  for (int depth = 1; !at_end(); ++at_) {
    if (text_[at_] == '{') ++depth;
    if (text_[at_] != '}' || --depth != 0) continue;
    field.spec_end = at_++;
    return true;
  }
  return fail("unmatched '{' in format spec");
}

class BraceFormatter {
 public:
  BraceFormatter(Runtime& rt, bool escaping, const PassedArguments& arguments, const Value* mapping)
      : rt_(rt), escaping_(escaping), arguments_(arguments), mapping_(mapping) {}

  /// Formats one text; specs with fields inside come back here, at most kNesting deep.
  Value format(Value format, int nesting) {
    if (nesting < 0) return fail(ErrorCode::value, "Max string recursion exceeded");
    const std::string_view bytes = text(rt_, format);
    if (!rt_.charge_bytes(bytes.size())) return Value::invalid();
    FieldReader reader(rt_, bytes);
    StringBuilder out(rt_);
    while (!reader.at_end()) {
      std::size_t begin = 0;
      std::size_t end = 0;
      bool has_field = false;
      Field field;
      if (!reader.next(begin, end, has_field, field) || !rt_.charge(1)) return Value::invalid();
      out.append(format, begin, end);
      if (!has_field) continue;
      const Value printed = print(format, field, nesting);
      if (printed.is_invalid()) return printed;
      out.append(printed);
    }
    return out.finish();
  }

 private:
  Value fail(ErrorCode code, std::string message) { return rt_.fail(code, std::move(message)); }

  Value print(Value format, const Field& field, int nesting);
  bool number_field(std::string_view name, std::optional<std::int64_t>& automatic);
  Value get_field(Value format, const Field& field, std::optional<std::int64_t> automatic);
  Value first_value(Value name, std::string_view text);
  Value get_part(Value format, Value object, std::size_t& at, std::size_t end);
  Value convert(Value v, char32_t conversion);
  Value print_value(Value v, std::string_view spec);

  Runtime& rt_;
  bool escaping_;
  const PassedArguments& arguments_;
  const Value* mapping_;
  std::int64_t next_number_ = 0;
  bool manual_ = false;
};

Value BraceFormatter::print(Value format, const Field& field, int nesting) {
  const std::string_view bytes = text(rt_, format);
  std::optional<std::int64_t> automatic;
  const std::string_view name = bytes.substr(field.name_begin, field.name_end - field.name_begin);
  if (!number_field(name, automatic)) return Value::invalid();
  Value v = get_field(format, field, automatic);
  if (!v.is_invalid()) v = convert(v, field.conversion);
  if (v.is_invalid()) return v;
  if (nesting == 0) return fail(ErrorCode::value, "Max string recursion exceeded");
  if (field.spec_begin == field.spec_end) return print_value(v, "");
  const Value spec_format = with_markup(substring(rt_, format, field.spec_begin, field.spec_end), false);
  const Value spec = this->format(spec_format, nesting - 1);
  return spec.is_invalid() ? spec : print_value(v, text(rt_, spec));
}

/// "{}" is numbered automatically, "{0}" by hand; one format may not do both.
/// auto_arg_index is one variable in Python, 0 at first and False after "{0}". So "{0}{}" fails by the first test and
/// "{}{0}" by the second, and both with the same words.
bool BraceFormatter::number_field(std::string_view name, std::optional<std::int64_t>& automatic) {
  const bool by_hand = unicode::str_is_digit(name);
  if ((name.empty() && manual_) || (by_hand && next_number_ != 0)) {
    fail(ErrorCode::value, "cannot switch from manual field specification to automatic field numbering");
    return false;
  }
  if (name.empty()) automatic = next_number_++;
  if (by_hand) manual_ = true;
  return true;
}

Value BraceFormatter::get_field(Value format, const Field& field, std::optional<std::int64_t> automatic) {
  const std::string_view bytes = text(rt_, format).substr(0, field.name_end);
  std::size_t at = std::min(bytes.find_first_of(".[", field.name_begin), field.name_end);
  if (automatic) {
    if (*automatic < arguments_.positional_count) return arguments_.positional[*automatic];
    return fail(ErrorCode::index, "tuple index out of range");
  }
  Value v = first_value(with_markup(substring(rt_, format, field.name_begin, at), false),
                        bytes.substr(field.name_begin, at - field.name_begin));
  while (!v.is_invalid() && at < field.name_end) v = get_part(format, v, at, field.name_end);
  return v;
}

/// What the first part of a field name stands for: a positional argument or one by name.
/// The sandbox reads a first part as int by the C function, so digits of other scripts count.
Value BraceFormatter::first_value(Value name, std::string_view text) {
  const auto number = field_number(text);
  if (number && *number < 0) {
    return fail(ErrorCode::value, "Too many decimal digits in format string");
  }
  if (number) {
    if (*number < arguments_.positional_count) return arguments_.positional[*number];
    return fail(ErrorCode::index, "tuple index out of range");
  }
  if (mapping_ != nullptr) return subscript(rt_, *mapping_, name);
  for (std::uint32_t i = 0; i < arguments_.keyword_count; ++i) {
    if (leaf_text(arguments_.keywords[i].key) == text) return arguments_.keywords[i].value;
  }
  const Value shown = to_repr(rt_, name);
  return shown.is_invalid() ? shown : fail(ErrorCode::key, std::string(parlance::text(rt_, shown)));
}

/// One ".name" or "[key]" of a field name; `at` moves past it.
/// Through the environment's getattr and getitem, which is what the sandbox is for: "{0.__class__}" must not be a way
/// around it.
Value BraceFormatter::get_part(Value format, Value object, std::size_t& at, std::size_t end) {
  const std::string_view bytes = text(rt_, format).substr(0, end);
  const char mark = bytes[at++];
  const bool attribute = mark == '.';
  if (!attribute && mark != '[') {
    return fail(ErrorCode::value, "Only '.' or '[' may follow ']' in format field specifier");
  }
  const std::size_t stop = attribute ? std::min(bytes.find_first_of(".[", at), end) : bytes.find(']', at);
  if (stop == std::string_view::npos) return fail(ErrorCode::value, "Missing ']' in format string");
  const std::string_view name = bytes.substr(at, stop - at);
  const Value key = with_markup(substring(rt_, format, at, stop), false);
  at = attribute ? stop : stop + 1;
  if (name.empty()) return fail(ErrorCode::value, "Empty attribute in format string");
  if (attribute) return get_attribute(rt_, object, key);
  const auto number = field_number(name);
  if (number && *number < 0) {
    return fail(ErrorCode::value, "Too many decimal digits in format string");
  }
  return get_item(rt_, object, number ? Value::of_int(*number) : key);
}

Value BraceFormatter::convert(Value v, char32_t conversion) {
  switch (conversion) {
    case 0: return v;
    case 's': {
      const Value s = to_text(rt_, v);
      return s.is_invalid() ? s : with_markup(s, false);
    }
    case 'r': return to_repr(rt_, v);
    case 'a': {
      const Value s = to_repr(rt_, v);
      return s.is_invalid() ? s : to_ascii(rt_, s);
    }
    default: break;
  }
  std::string message = "Unknown conversion specifier ";
  utf8::append(message, conversion);
  return fail(ErrorCode::value, std::move(message));
}

/// markupsafe escapes each printed value unless it is markup itself.
Value BraceFormatter::print_value(Value v, std::string_view spec) {
  if (!escaping_) return format_value(rt_, v, spec);
  if (v.is_markup()) {
    return spec.empty() ? v : fail(ErrorCode::value, "Unsupported format specification for Markup.");
  }
  v = format_value(rt_, v, spec);
  return v.is_invalid() ? v : escape_html(rt_, v);
}

Value run(Runtime& rt, Value format, const PassedArguments& arguments, const Value* mapping) {
  const bool markup = format.is_markup();
  BraceFormatter formatter(rt, markup, arguments, mapping);
  const Value formatted = formatter.format(with_markup(format, false), kNesting);
  return formatted.is_invalid() ? formatted : with_markup(formatted, markup);
}

}  // namespace

Value format_braces(Runtime& rt, Value format, const PassedArguments& arguments) {
  return run(rt, format, arguments, nullptr);
}

Value format_map(Runtime& rt, Value format, Value mapping) { return run(rt, format, {}, &mapping); }

}  // namespace parlance::jinja
