// Filters that write a value in another notation: tojson (as transformers replaces it), urlencode,
// pprint.
//
// Source of the rules: transformers' chat template environment (json.dumps without HTML escapes),
// Jinja2 3.1.6 filters.py and utils.py: url_quote. Begin reading at kEncodeFilters, at the end.
#include <array>

#include "jinja/filters/common.h"
#include "jinja/filters/pprint.h"
#include "jinja/filters/tables.h"
#include "jinja/objects/objects.h"
#include "json/json.h"
#include "value/markup.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

// ---- tojson

/// The `indent` argument as the text of one level; false after a failure.
bool json_indent(Call& call, JsonStyle& style) {
  Value indent = call[2];
  if (indent.is_none() || call[0].is_string()) return true;  // json.dumps never indents a string
  style.pretty = true;
  style.item_separator = ",";
  if (indent.is_string()) {
    style.indent = text(call.rt, indent);
    return !call.rt.failed();
  }
  Value level = binary(call.rt, BinaryOperator::multiply, make_static(" "), indent);
  if (level.is_invalid()) return false;
  style.indent = text(call.rt, level);
  return !call.rt.failed();
}

bool json_separators(Call& call, JsonStyle& style) {
  if (call[3].is_none()) return true;
  Value list = to_list(call.rt, call[3]);
  if (list.is_invalid()) return false;
  std::span<const Value> both = items(list);
  if (both.size() != 2) {
    call.fail(ErrorCode::value,
              both.size() > 2 ? "too many values to unpack (expected 2)"
                              : "not enough values to unpack (expected 2, got " + std::to_string(both.size()) + ")");
    return false;
  }
  if (call[0].is_string()) return true;  // nothing to separate, and json.dumps does not look
  for (const Value& separator : both) {
    if (separator.is_string()) continue;
    call.fail(ErrorCode::type, "make_encoder() argument must be str, not " + std::string(type_name(separator)));
    return false;
  }
  style.item_separator = text(call.rt, both[0]);
  style.key_separator = text(call.rt, both[1]);
  return true;
}

Value filter_tojson(Call& call) {
  JsonStyle style;
  style.ensure_ascii = call.truth(1);
  style.sort_keys = call.truth(4);
  if (call.rt.failed() || !json_indent(call, style) || !json_separators(call, style)) return Value::invalid();
  return write_json(call.rt, call[0], style, call.target);
}

// ---- urlencode

/// RFC 3986's unreserved characters, which urllib.parse.quote leaves alone, and '/' by its default. In a query '/' is
/// quoted and a blank becomes '+', as by quote_plus.
bool is_url_safe(char c, bool in_query) {
  bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return alnum || c == '_' || c == '.' || c == '-' || c == '~' || (c == '/' && !in_query);
}

/// UTF-8 has no surrogates, so Python's encode() fails; JSON input may hold lone ones.
Value refuse_surrogate(Runtime& rt, Value s, std::string_view bytes, std::size_t at) {
  static constexpr char kHex[] = "0123456789abcdef";
  char32_t cp = utf8::decode(bytes.data() + at, bytes.data() + bytes.size()).code_point;
  std::string shown = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) shown += kHex[cp >> shift & 15];
  return rt.fail(ErrorCode::unicode_encode,
                 "'utf-8' codec can't encode character '" + shown + "' in position " +
                     std::to_string(utf8::count(bytes.substr(0, at))) + ": surrogates not allowed",
                 s);
}

/// Appends what one byte is quoted as.
void append_quoted(std::string& out, char c, bool in_query) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  if (in_query && c == ' ') {
    out += '+';
    return;
  }
  auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

/// str(v) percent-quoted onto `out`; bytes that stay keep their origin. False after a failure.
bool url_quote(Runtime& rt, StringBuilder& out, Value v, bool in_query) {
  Value s = to_text(rt, v);
  if (s.is_invalid() || !rt.charge_bytes(4 * std::uint64_t{s.size}) || !rt.reserve(std::uint64_t{s.size} * 3))
    return false;
  std::string_view whole = text(rt, s);
  std::size_t offset = 0;
  for_each_piece(s, [&](std::string_view piece) {
    std::string quoted;
    for (std::size_t i = 0; i < piece.size() && !rt.failed();) {
      std::size_t begin = i;
      while (i < piece.size() && is_url_safe(piece[i], in_query)) ++i;
      out.append(Value::view(piece.substr(begin, i - begin)));
      begin = i;
      quoted.clear();
      for (; i < piece.size() && !is_url_safe(piece[i], in_query); ++i) {
        bool surrogate = piece[i] == '\xED' && i + 1 < piece.size() && static_cast<unsigned char>(piece[i + 1]) >= 0xA0;
        if (surrogate) refuse_surrogate(rt, s, whole, offset + i);
        append_quoted(quoted, piece[i], in_query);
      }
      if (!quoted.empty()) out.append_derived(quoted, Value::view(piece.substr(begin)));
    }
    offset += piece.size();
  });
  return !rt.failed();
}

bool is_iterable_object(Value v) {
  return v.is(Kind::object) && (v.object->type->iterate != nullptr || v.object->type->next != nullptr);
}

/// Unpacks `pair` into two values as Python's `for k, v in …` does.
bool unpack_pair(Runtime& rt, Value pair, std::array<Value, 2>& out) {
  bool iterable =
      pair.is_string() || pair.is_sequence() || pair.is(Kind::dict) || pair.is_undefined() || is_iterable_object(pair);
  if (!iterable) {
    rt.fail(ErrorCode::type, "cannot unpack non-iterable " + std::string(type_name(pair)) + " object", pair);
    return false;
  }
  Iterator it;
  Value extra;
  if (!iterate(rt, pair, it)) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (it.next(rt, out[i])) continue;
    rt.fail(ErrorCode::value, "not enough values to unpack (expected 2, got " + std::to_string(i) + ")", pair);
    return false;
  }
  if (it.next(rt, extra)) rt.fail(ErrorCode::value, "too many values to unpack (expected 2)", pair);
  return !rt.failed();
}

/// A string is iterable in Python; do_urlencode() asks for it first.
Value filter_urlencode(Call& call) {
  Runtime& rt = call.rt;
  Value v = call[0];
  StringBuilder out(rt);
  bool iterable = v.is_sequence() || v.is(Kind::dict) || v.is_undefined() || is_iterable_object(v);
  if (!iterable) return url_quote(rt, out, v, false) ? out.finish() : Value::invalid();
  Iterator it;
  if (v.is(Kind::dict)) v = make_dict_view(rt, v, DictView::items);
  if (!iterate(rt, v, it)) return Value::invalid();
  std::array<Value, 2> pair;
  bool first = true;
  for (Value item; it.next(rt, item);) {
    if (!first) out.append_static("&");
    first = false;
    if (!unpack_pair(rt, item, pair) || !url_quote(rt, out, pair[0], true)) return Value::invalid();
    out.append_static("=");
    if (!url_quote(rt, out, pair[1], true)) return Value::invalid();
  }
  return out.finish();
}

Value filter_pprint(Call& call) { return pretty_print(call.rt, call[0]); }

constexpr Builtin kEncodeFilters[] = {
    {"tojson", "", "value, ensure_ascii=false, indent=none, separators=none, sort_keys=false", filter_tojson,
     "The value as JSON, as Python's json.dumps writes it. Unlike Jinja2's own tojson it escapes nothing for HTML.",
     "{{ {'a': [1, none, 'é']}|tojson }} -> {\"a\": [1, null, \"é\"]}", true},
    {"urlencode", "", "value", filter_urlencode,
     "A string percent-encoded for a URL's path; a mapping, or pairs, as a query string.",
     "{{ {'q': 'a b&c', 'n': 1}|urlencode }} -> q=a+b%26c&n=1"},
    {"pprint", "", "value", filter_pprint, "The value as Python's pprint formats it: keys sorted, 80 columns.",
     "{{ {'b': 1, 'a': [2]}|pprint }} -> {'a': [2], 'b': 1}"},
};

}  // namespace

std::span<const Builtin> encode_filters() { return kEncodeFilters; }

}  // namespace parlance::jinja
