#!/usr/bin/env python3
"""Makes docs/origins.svg, the README's picture, of what `parlance render --html` prints.

    parlance render -f terminal-agent docs/origins.json --html | python3 tools/origins_svg.py > docs/origins.svg

Each segment of the page is drawn on the colour of its origin; beside each line stand the places it came from. Begin reading at main.
"""

import html.parser
import os
import sys

import prompt_svg

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


def style_of(classes):
    background = next((BACKGROUNDS[name] for name in classes if name in BACKGROUNDS), None)
    return background, next((COLOURS[name] for name in classes if name in COLOURS), "#1b1f24")


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
    legend = [(name, NAMES.get(name, name)) for name in LEGEND]
    print(prompt_svg.picture(parser.found, legend, style_of, places, "A rendered prompt; every byte on the colour of its origin"))


main()
