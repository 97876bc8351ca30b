// html, js, urlquery. Source: Go 1.26 text/template/funcs.go and net/url's QueryEscape. Begin
// reading at escaped.
#include "gotemplate/functions.h"
#include "gotemplate/print.h"
#include "gotemplate/quote.h"

namespace parlance::gotemplate {
namespace {

/// The arguments as one text. A single string stays as it is; nil is "<no value>", not "<nil>".
Value arguments_text(Call& call) {
  const std::uint32_t count = call.rest.positional_count;
  if (count == 1 && is_text(unbox(call.rest.positional[0]))) return unbox(call.rest.positional[0]);
  Value* shown = call.rt.arena.allocate_array<Value>(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    bool nil = false;
    const Value v = unbox(call.rest.positional[i]);
    const Value target = indirect(v, nil);
    shown[i] = v.is_undefined() ? Value::view("<no value>") : nil ? v : target;
  }
  Sink sink(call.rt);
  Printer(call.rt, sink).print({shown, count});
  return sink.finish();
}

/// What stands for a byte (or the character it begins); moves `p` past it. Empty: it stands for
/// itself.
using Replace = std::string_view (*)(const char*& p, const char* end, std::string& buffer);

/// A copy of the text with parts replaced; what stays is shared, what is new is derived from what
/// it replaces.
Value escaped(Call& call, Replace replace) {
  Runtime& rt = call.rt;
  const Value subject = arguments_text(call);
  if (subject.is_invalid()) return subject;
  const std::string_view bytes = text(rt, subject);
  if (!rt.charge_bytes(bytes.size())) return Value::invalid();
  Sink sink(rt);
  std::string buffer;
  const char* const end = bytes.data() + bytes.size();
  const char* kept = bytes.data();
  const auto offset = [&](const char* p) { return static_cast<std::size_t>(p - bytes.data()); };
  const auto share = [&](Value piece) { sink.share(piece); };
  PieceCursor pieces(subject);
  for (const char* p = kept; p < end && !rt.failed();) {
    const char* const at = p;
    const std::string_view instead = replace(p, end, buffer);
    if (instead.empty()) continue;
    sink.pause();
    pieces.for_each(offset(kept), offset(at), share);
    sink.from(pieces.at(offset(at)));
    sink.put(instead);
    kept = p;
  }
  if (kept == bytes.data()) return subject;
  sink.pause();
  pieces.for_each(offset(kept), bytes.size(), share);
  return sink.finish();
}

std::string_view replace_html(const char*& p, const char*, std::string&) {
  switch (*p++) {
    case '\0': return "\xEF\xBF\xBD";
    case '"': return "&#34;";
    case '\'': return "&#39;";
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    default: return {};
  }
}

void append_capital_hex(std::string& out, std::uint32_t value) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  int shift = 12;
  while (value >> shift >= 0x10) shift += 4;
  for (; shift >= 0; shift -= 4) out += kDigits[value >> shift & 0xF];
}

std::string_view replace_js(const char*& p, const char* end, std::string& buffer) {
  const utf8::Decoded next = decode_go(p, end);
  const char32_t c = next.code_point;
  p += next.size;
  switch (c) {
    case '\\': return "\\\\";
    case '\'': return "\\'";
    case '"': return "\\\"";
    default: break;
  }
  const bool special = c == '<' || c == '>' || c == '&' || c == '=' || c < ' ';
  if (!special && (c < 0x80 || is_print(c))) return {};
  buffer = "\\u";
  append_capital_hex(buffer, c);
  return buffer;
}

/// Letters, digits and -_.~ stand for themselves.
std::string_view replace_query(const char*& p, const char*, std::string& buffer) {
  const auto c = static_cast<unsigned char>(*p++);
  const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                     c == '_' || c == '.' || c == '~';
  if (plain) return {};
  if (c == ' ') return "+";
  constexpr char kDigits[] = "0123456789ABCDEF";
  buffer = {'%', kDigits[c >> 4], kDigits[c & 0xF]};
  return buffer;
}

}  // namespace

Value function_html(Call& call) { return escaped(call, replace_html); }
Value function_js(Call& call) { return escaped(call, replace_js); }
Value function_urlquery(Call& call) { return escaped(call, replace_query); }

}  // namespace parlance::gotemplate
