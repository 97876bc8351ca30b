// --html: a prompt as a page that needs nothing else; pointing at a segment shows where it came
// from.
#include "cli/segments.h"

namespace parlance::cli {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>)";

constexpr std::string_view kStyle = R"(</title>
<style>
:root { color-scheme: light dark; }
body { font: 14px/1.5 ui-monospace, monospace; margin: 2em; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.literal { color: #808890; }
.control { color: #b5179e; font-weight: bold; }
.system { background: #00b4d833; }
.user { background: #2a9d3a33; }
.assistant { background: #3a6ff033; }
.tool { background: #f0a50033; }
.variable { background: #e6394633; }
.computed { color: #808890; font-style: italic; }
.derived { text-decoration: underline dotted; }
pre span:hover { outline: 1px solid; }
.legend span { padding: 0 .5em; margin-right: 1em; }
</style>
</head>
<body>
<p class="legend">
<span class="literal">template</span>
<span class="control">control token</span>
<span class="system">system</span>
<span class="user">user</span>
<span class="assistant">assistant</span>
<span class="tool">tool</span>
<span class="variable">other input</span>
<span class="computed">computed</span>
<span class="derived">derived</span>
</p>
<pre>)";

constexpr std::string_view kTail = "</pre>\n</body>\n</html>\n";

/// What pointing at a segment shows.
std::string where(const Conversation& conversation, const Rendering& rendering, const Span& span) {
  if (const Location place = place_of_span(rendering, span); place.line != 0)
    return "template, line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
  const std::string path = path_of_span(conversation, span);
  std::string text(origin_name(span.origin));
  return path.empty() ? text : text + (span.origin == Origin::derived ? " from " : ": ") + path;
}

}  // namespace

std::string render_html(const Conversation& conversation, const Rendering& rendering, std::string_view title) {
  std::string out(kHead);
  append_segment(out, title, true);
  out += kStyle;
  for (const Span& span : rendering.spans()) {
    out.append("<span class=\"").append(hue_name(hue_of(conversation, span)));
    if (span.origin == Origin::derived) out += " derived";
    out += "\" title=\"";
    append_segment(out, where(conversation, rendering, span), true);
    out += "\">";
    append_segment(out, rendering.text().substr(span.begin, span.end - span.begin), true);
    out += "</span>";
  }
  return out += kTail;
}

}  // namespace parlance::cli
