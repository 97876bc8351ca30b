// printf: the verbs of a format string, with flags, widths, precisions and argument indexes.
//
// Source: Go 1.26 fmt/print.go, doPrintf. Begin reading at Printer::printf.
#include "gotemplate/print.h"

namespace parlance::gotemplate {

/// Where printf is.
struct Printer::Scan {
  std::string_view format;
  PieceCursor pieces;  ///< of the format, to be shared
  std::span<const Value> arguments;
  std::size_t at = 0;
  std::size_t argument = 0;  ///< the next
  bool reordered = false;    ///< some index was given
  bool good_index = true;    ///< of the verb being read
  bool after_index = false;  ///< the last thing read was an index
  bool ended() const { return at >= format.size(); }
  char now() const { return format[at]; }
};

namespace {

constexpr int kLargest = 1'000'000;

/// Reads digits; -1 for none or too many, which also skips to the end as Go's parser does.
int read_number(std::string_view text, std::size_t& at, std::size_t end) {
  int number = -1;
  while (at < end && text[at] >= '0' && text[at] <= '9') {
    if (number > kLargest) {
      at = end;
      return -1;
    }
    number = (number < 0 ? 0 : number) * 10 + (text[at++] - '0');
  }
  return number;
}

/// An argument that gives a width or precision. False for what is no int, or a too large one.
bool integer_argument(std::span<const Value> arguments, std::size_t& argument, int& number) {
  if (argument >= arguments.size()) return false;
  const Value v = unbox(arguments[argument++]);
  const Type type = v.is_undefined() ? Type::invalid : type_of(v);
  number = 0;
  if (type != Type::integer && type != Type::byte) return false;
  if (v.integer > kLargest || v.integer < -kLargest) return false;
  number = static_cast<int>(v.integer);
  return true;
}

}  // namespace

bool Printer::flags(Scan& scan) {
  for (; !scan.ended(); ++scan.at) {
    switch (scan.now()) {
      case '#': format_.sharp = true; break;
      case '0': format_.zero = true; break;
      case '+': format_.plus = true; break;
      case '-': format_.minus = true; break;
      case ' ': format_.space = true; break;
      default: return true;
    }
  }
  return false;
}

/// [3]: the argument to go on with.
void Printer::index(Scan& scan) {
  if (scan.ended() || scan.now() != '[') {
    scan.after_index = false;
    return;
  }
  scan.reordered = true;
  const std::string_view rest = scan.format.substr(scan.at);
  const std::size_t close = rest.size() < 3 ? rest.npos : rest.find(']', 1);
  if (!rt_.charge_bytes(std::min(close, rest.size()))) return;
  if (close == rest.npos) {
    ++scan.at;
    scan.good_index = false;
    scan.after_index = false;
    return;
  }
  std::size_t at = 1;
  const int number = read_number(rest, at, close);
  scan.at += close + 1;
  const bool is_number = number >= 0 && at == close;
  scan.after_index = is_number;
  if (is_number && number >= 1 && static_cast<std::size_t>(number) <= scan.arguments.size()) {
    scan.argument = static_cast<std::size_t>(number) - 1;
  } else {
    scan.good_index = false;
  }
}

/// `*` takes the width from the arguments; a negative one means left-aligned, and switches padding with zeros off.
void Printer::width(Scan& scan) {
  if (!scan.ended() && scan.now() == '*') {
    ++scan.at;
    format_.has_width = integer_argument(scan.arguments, scan.argument, format_.width);
    if (!format_.has_width) sink_.put("%!(BADWIDTH)");
    if (format_.width < 0) {
      format_.width = -format_.width;
      format_.minus = true;
      format_.zero = false;
    }
    scan.after_index = false;
    return;
  }
  const int number = read_number(scan.format, scan.at, scan.format.size());
  format_.has_width = number >= 0;
  format_.width = format_.has_width ? number : 0;
  if (scan.after_index && format_.has_width) scan.good_index = false;
}

/// A point without digits is a precision of 0. A negative one from the arguments is as if none were given, and Go
/// complains about it.
void Printer::precision(Scan& scan) {
  if (scan.at + 1 >= scan.format.size() || scan.now() != '.') return;
  ++scan.at;
  if (scan.after_index) scan.good_index = false;
  index(scan);
  if (!scan.ended() && scan.now() == '*') {
    ++scan.at;
    format_.has_precision = integer_argument(scan.arguments, scan.argument, format_.precision);
    if (format_.precision < 0) {
      format_.precision = 0;
      format_.has_precision = false;
    }
    if (!format_.has_precision) sink_.put("%!(BADPREC)");
    scan.after_index = false;
    return;
  }
  const int number = read_number(scan.format, scan.at, scan.format.size());
  format_.precision = number < 0 ? 0 : number;
  format_.has_precision = true;
}

/// With %v, `#` and `+` choose another notation (Go syntax, names of fields) and must not also act as flags of numbers.
void Printer::dispatch(Scan& scan, char32_t verb) {
  const auto complain = [&](std::string_view what) {
    char bytes[4];
    sink_.put("%!");
    sink_.put({bytes, utf8::encode(verb, bytes)});
    sink_.put(what);
  };
  if (verb == '%') return sink_.put('%');
  if (!scan.good_index) return complain("(BADINDEX)");
  if (scan.argument >= scan.arguments.size()) return complain("(MISSING)");
  if (verb == 'v' || verb == 'w') {
    format_.sharp_v = format_.sharp;
    format_.sharp = false;
    format_.plus_v = format_.plus;
    format_.plus = false;
  }
  argument(scan.arguments[scan.argument++], verb);
  sink_.from_nothing();
}

/// What follows a percent sign.
void Printer::verb_at(Scan& scan) {
  format_ = {};
  scan.good_index = true;
  const bool more = flags(scan);
  // Go's short way for simple verbs has one visible effect: it keeps the index state of the verb
  // before.
  if (more && scan.now() >= 'a' && scan.now() <= 'z' && scan.argument < scan.arguments.size()) {
    return dispatch(scan, static_cast<char32_t>(scan.format[scan.at++]));
  }
  index(scan);
  width(scan);
  precision(scan);
  if (!scan.after_index) index(scan);
  if (scan.ended()) return sink_.put("%!(NOVERB)");
  const utf8::Decoded verb = decode_go(scan.format.data() + scan.at, scan.format.data() + scan.format.size());
  scan.at += verb.size;
  dispatch(scan, verb.code_point);
}

/// Arguments that no verb took. Not where the format numbers them: then leaving some out is intended.
void Printer::extra(const Scan& scan) {
  if (scan.reordered || scan.argument >= scan.arguments.size()) return;
  format_ = {};
  sink_.put("%!(EXTRA ");
  for (std::size_t i = scan.argument; i < scan.arguments.size(); ++i) {
    if (i > scan.argument) sink_.put(", ");
    const Value v = unbox(scan.arguments[i]);
    if (v.is_undefined()) {
      sink_.put("<nil>");
      continue;
    }
    sink_.put(facts(type_of(v)).name);
    sink_.put('=');
    argument(v);
    sink_.from_nothing();
  }
  sink_.put(')');
}

void Printer::printf(Value format, std::span<const Value> arguments) {
  Scan scan{parlance::text(rt_, format), PieceCursor(format), arguments};
  if (!rt_.charge_bytes(scan.format.size())) return;
  while (!scan.ended() && !rt_.failed()) {
    const std::size_t percent = std::min(scan.format.find('%', scan.at), scan.format.size());
    if (percent > scan.at) {
      sink_.pause();
      scan.pieces.for_each(scan.at, percent, [&](Value piece) { sink_.share(piece); });
    }
    scan.at = percent + 1;
    if (percent == scan.format.size()) break;
    if (!rt_.charge(1)) return;
    verb_at(scan);
  }
  extra(scan);
}

}  // namespace parlance::gotemplate
