#!/usr/bin/env python3
"""Makes docs/origins.svg, the README's picture, of what `parlance render --html` prints.

    parlance render -f terminal-agent docs/origins.json --html | python3 tools/origins_svg.py > docs/origins.svg

Each segment of the page is drawn where it stands in the prompt, on its colour; beside each line stand the places it came
from. The picture brings its own background and needs no font but a monospaced one. Begin reading at main.
"""

import html.parser
import os
import sys
from xml.sax.saxutils import escape

CHARACTER, LINE, TEXT_SIZE, MARGIN = 7.8, 21, 13, 16
BACKGROUNDS = {"system": "#c9eef6", "user": "#c8e8cc", "assistant": "#cfdcfb", "tool": "#fce9c2", "variable": "#f8d3d6"}
COLOURS = {"literal": "#69717a", "control": "#b5179e", "computed": "#69717a"}
LEGEND = ["control", "literal", "system", "user", "assistant", "tool", "derived"]
NAMES = {"literal": "template", "control": "control token"}


class Segments(html.parser.HTMLParser):
    """The spans inside <pre>: (classes, title, text)."""

    def __init__(self):
        super().__init__()
        self.inside, self.found = False, []

    def handle_starttag(self, tag, attributes):
        self.inside = self.inside or tag == "pre"
        if tag == "span" and self.inside:
            given = dict(attributes)
            self.found.append((given["class"].split(), given["title"], ""))

    def handle_data(self, data):
        if self.inside and self.found:
            classes, title, text = self.found[-1]
            self.found[-1] = classes, title, text + data

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "pre"


def lines_of(segments):
    """The segments cut at line feeds; the one that holds a line feed shows it as ⏎."""
    lines = [[]]
    for classes, title, text in segments:
        pieces = text.split("\n")
        for number, piece in enumerate(pieces):
            last = number == len(pieces) - 1
            if piece or not last:
                lines[-1].append((classes, title, piece + ("" if last else "⏎")))
            if not last:
                lines.append([])
    return lines


def drawn(x, y, classes, text):
    width = len(text) * CHARACTER
    background = next((BACKGROUNDS[name] for name in classes if name in BACKGROUNDS), None)
    if background:
        yield f'<rect x="{x:.1f}" y="{y - 14.5:.1f}" width="{width:.1f}" height="{LINE - 2}" fill="{background}"/>'
    colour = next((COLOURS[name] for name in classes if name in COLOURS), "#1b1f24")
    style = ' font-weight="bold"' if "control" in classes else ""
    if "derived" in classes:
        yield f'<path d="M{x:.1f} {y + 3.5:.1f}h{width:.1f}" stroke="#1b1f24" stroke-dasharray="1.5 2" fill="none"/>'
    yield (f'<text x="{x:.1f}" y="{y:.1f}" textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs" fill="{colour}"{style} '
           f'xml:space="preserve">{escape(text)}</text>')


def places(line):
    """What a line came from, each place once; template places are told by their colour."""
    titles = dict.fromkeys(title.replace("input: ", "").replace("derived from ", "") for _, title, text in line
                           if not title.startswith("template"))
    shown, before = [], ""
    for title in titles:
        common = os.path.commonprefix([title, before]).rpartition(".")[0]
        shown.append(f"…{title[len(common):]}" if common else title)
        before = title
    return ", ".join(shown)


def main():
    parser = Segments()
    parser.feed(sys.stdin.read())
    lines = lines_of(parser.found)
    longest = max(sum(len(text) for _, _, text in line) for line in lines)
    beside = MARGIN + (longest + 4) * CHARACTER
    notes = [places(line) for line in lines]
    width = beside + max(map(len, notes)) * CHARACTER * 0.85 + MARGIN
    height = (len(lines) + 1) * LINE + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
           f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="{TEXT_SIZE}">',
           "<title>A rendered prompt; every byte on the colour of its origin</title>",
           f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="#fbfcfd" stroke="#d0d7de"/>']
    x, y = MARGIN, MARGIN + TEXT_SIZE
    for name in LEGEND:
        shown = f" {NAMES.get(name, name)} "
        out += drawn(x, y, [name], shown)
        x += (len(shown) + 1) * CHARACTER
    y += 2 * LINE
    for line, note in zip(lines, notes):
        x = MARGIN
        for classes, _, text in line:
            out += drawn(x, y, classes, text)
            x += len(text) * CHARACTER
        out.append(f'<text x="{beside:.1f}" y="{y:.1f}" fill="#69717a" font-size="{TEXT_SIZE * 0.85:.1f}">{escape(note)}</text>')
        y += LINE
    print("\n".join(out + ["</svg>"]))


main()
