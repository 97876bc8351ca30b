// What Markup has beyond the methods of str: escape, striptags, unescape.
//
// Rules: markupsafe 3. All other methods are those of str, which keep the Markup flag of their
// receiver and escape what they add to it (argument_for_self in methods.h).

#include "jinja/objects/methods.h"

namespace parlance::jinja {
namespace {

Value markup_escape(Call& call) { return escape_html(call.rt, call[1]); }
Value markup_striptags(Call& call) { return strip_tags(call.rt, call[0]); }
Value markup_unescape(Call& call) { return unescape_html(call.rt, call[0]); }

constexpr Builtin kMarkupMethods[] = {
    {"escape", "", "self, s, /", markup_escape, "The argument escaped for HTML.",
     "{{ ('x'|safe).escape('<') }} -> &lt;"},
    {"striptags", "", "self, /", markup_striptags, "The string without HTML tags and comments, with entities decoded.",
     "{{ ('<b>a &amp; b</b>'|safe).striptags() }} -> a & b"},
    {"unescape", "", "self, /", markup_unescape, "The string with its entities decoded.",
     "{{ ('&lt;'|safe).unescape() }} -> <"},
};

}  // namespace

std::span<const Builtin> markup_methods() { return kMarkupMethods; }

}  // namespace parlance::jinja
