"""A rendering as HTML, for notebooks: the prompt in the colours of its origins."""

from __future__ import annotations

from parlance._core import Rendering

# One for each origin; the page of `parlance render --html` has one for each role besides.
COLOURS = {"literal": "#6b7280", "control": "#b45309", "input": "#1d4ed8", "derived": "#047857", "computed": "#7c3aed"}
_LONGEST = 200_000


def rendering_as_html(self: Rendering) -> str:
    """The prompt, each character in the colour of where it came from; the path of the input is shown where one points."""
    import html

    pieces = []
    text = self.text
    for span in self.spans:
        if span.begin >= _LONGEST:
            pieces.append(f"… and {len(text) - span.begin} more characters")
            break
        colour = COLOURS["control" if span.control else span.origin]
        title = span.path or (f"template, line {span.line}" if span.line else span.origin)
        shown = html.escape(text[span.begin : span.end])
        pieces.append(f'<span style="color:{colour}" title="{html.escape(title)}">{shown}</span>')
    legend = " ".join(f'<span style="color:{colour}">{name}</span>' for name, colour in COLOURS.items())
    return f'<div>{legend}</div><pre style="white-space:pre-wrap">{"".join(pieces)}</pre>'
