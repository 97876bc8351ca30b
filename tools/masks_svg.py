#!/usr/bin/env python3
"""Makes docs/masks.svg: a conversation, and which of its text training learns, by kinds. Takes the Python package.

    PYTHONPATH=build/release/python python3 tools/masks_svg.py > docs/masks.svg

The conversation is docs/masks.json. Begin reading at main.
"""

import json
import pathlib

import parlance
import prompt_svg

CHAT = pathlib.Path(__file__).parent.parent / "docs" / "masks.json"
BACKGROUNDS = {"reasoning": "#e6d9f7", "content": "#c8e8cc", "calls": "#fce9c2", "stop": "#f8d3d6", "marker": "#e3e6ea"}
LEGEND = [("reasoning", "reasoning"), ("content", "content"), ("calls", "calls"), ("stop", "stop"), ("marker", "marker"),
          ("none", "not learnt")]


def pieces_of(rendering):
    """Every character of the prompt, in pieces of one kind."""
    at, pieces = 0, []
    for kind, (begin, end) in [*rendering.kinds, ("none", (len(rendering.text),) * 2)]:
        if at < begin:
            pieces.append((["none"], "", rendering.text[at:begin]))
        if begin < end:
            pieces.append(([kind], kind, rendering.text[begin:end]))
        at = end
    return pieces


def style_of(classes):
    return BACKGROUNDS.get(classes[0]), "#1b1f24" if classes[0] in BACKGROUNDS else "#8a929b"


def kinds_of(line):
    return ", ".join(dict.fromkeys(note for _, note, _ in line if note))


def main():
    chat = json.loads(CHAT.read_text("utf-8"))
    rendering = parlance.Template.builtin("terminal-agent").render(chat["messages"], assistant=True)
    print(prompt_svg.picture(pieces_of(rendering), LEGEND, style_of, kinds_of, "A conversation; what training learns on colours, by kind"))


main()
