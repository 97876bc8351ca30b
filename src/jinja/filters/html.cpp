// Filters for HTML: escape, forceescape, safe, striptags, xmlattr.
//
// Source of the rules: Jinja2 3.1.6 filters.py; the work is in value/markup.h. Begin reading at
// kHtmlFilters, at the end.
#include <algorithm>

#include "jinja/filters/common.h"
#include "jinja/filters/tables.h"
#include "value/markup.h"

namespace parlance::jinja {
namespace {

Value filter_escape(Call& call) { return escape_html(call.rt, call[0]); }

Value filter_forceescape(Call& call) {
  Value s = plain_text(call.rt, call[0]);
  return s.is_invalid() ? s : escape_html(call.rt, s);
}

Value filter_safe(Call& call) {
  Value s = call.text_of(0);
  return s.is_invalid() ? s : with_markup(s, true);
}

Value filter_striptags(Call& call) {
  Value s = call.text_of(0);
  return s.is_invalid() ? s : with_markup(strip_tags(call.rt, s), false);
}

// ---- xmlattr

bool bad_in_name(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '/' || c == '>' || c == '='; }

bool check_attribute_name(Runtime& rt, Value key) {
  if (!key.is_string()) {
    rt.fail(ErrorCode::type, "expected string or bytes-like object, got '" + std::string(type_name(key)) + "'", key);
    return false;
  }
  std::string_view name = leaf_text(key);
  if (std::none_of(name.begin(), name.end(), bad_in_name)) return rt.charge_bytes(name.size());
  Value shown = to_repr(rt, key);
  if (shown.is_invalid()) return false;
  rt.fail(ErrorCode::value, "Invalid character in attribute name: " + std::string(text(rt, shown)), key);
  return false;
}

Value filter_xmlattr(Call& call) {
  Runtime& rt = call.rt;
  if (!call[0].is(Kind::dict)) return fail_attribute(rt, call[0], "items");
  bool space = call.truth(1), first = true;
  StringBuilder out(rt);
  for (const DictEntry& entry : entries(call[0])) {
    if (entry.value.is_none() || entry.value.is_undefined()) continue;
    if (!rt.charge(1) || !check_attribute_name(rt, entry.key)) return Value::invalid();
    Value key = escape_html(rt, entry.key), value = escape_html(rt, entry.value);
    if (key.is_invalid() || value.is_invalid()) return Value::invalid();
    if (!first || space) out.append_static(" ");
    first = false;
    out.append(key);
    out.append_static("=\"");
    out.append(value);
    out.append_static("\"");
  }
  return out.finish(rt.autoescape);
}

constexpr Builtin kHtmlFilters[] = {
    {"escape", "e", "value, /", filter_escape,
     "The string with & < > ' and \" replaced by entities, marked as safe HTML.", "{{ '<a>'|escape }} -> &lt;a&gt;"},
    {"forceescape", "", "value", filter_forceescape, "Like escape, but also escapes strings that are marked as safe.",
     "{{ '<'|escape|forceescape }} -> &amp;lt;"},
    {"safe", "", "value", filter_safe, "The string marked as safe HTML, which autoescaping leaves alone.",
     "{{ '<b>'|safe }} -> <b>"},
    {"striptags", "", "value", filter_striptags,
     "The string without HTML tags and comments, with entities decoded and white space collapsed.",
     "{{ '<p>a  &amp;\n<b>b</b></p>'|striptags }} -> a & b"},
    {"xmlattr", "", "d, autospace=true", filter_xmlattr,
     "A mapping as the attributes of an HTML tag, after a space. Values that are none or undefined are left out.",
     "{{ {'class': 'a', 'id': none, 'k': '<'}|xmlattr }} ->  class=\"a\" k=\"&lt;\""},
};

}  // namespace

std::span<const Builtin> html_filters() { return kHtmlFilters; }

}  // namespace parlance::jinja
