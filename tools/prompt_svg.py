"""Draws a prompt, piece by piece, each on the colour of a class, as a picture in SVG. For origins_svg.py and masks_svg.py.

A piece is (classes, note, text). It is drawn where it stands in the prompt; beside each line stand its notes. The picture brings its
own background and needs no font but a monospaced one. Begin reading at picture.
"""

from xml.sax.saxutils import escape

CHARACTER, LINE, TEXT_SIZE, MARGIN = 7.8, 21, 13, 16


def lines_of(pieces):
    """The pieces cut at line feeds; the one that holds a line feed shows it as ⏎."""
    lines = [[]]
    for classes, note, text in pieces:
        parts = text.split("\n")
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            if part or not last:
                lines[-1].append((classes, note, part + ("" if last else "⏎")))
            if not last:
                lines.append([])
    return lines


def drawn(x, y, classes, text, style_of):
    width = len(text) * CHARACTER
    background, colour = style_of(classes)
    if background:
        yield f'<rect x="{x:.1f}" y="{y - 14.5:.1f}" width="{width:.1f}" height="{LINE - 2}" fill="{background}"/>'
    style = ' font-weight="bold"' if "control" in classes else ""
    if "derived" in classes:
        yield f'<path d="M{x:.1f} {y + 3.5:.1f}h{width:.1f}" stroke="#1b1f24" stroke-dasharray="1.5 2" fill="none"/>'
    yield (f'<text x="{x:.1f}" y="{y:.1f}" textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs" fill="{colour}"{style} '
           f'xml:space="preserve">{escape(text)}</text>')


def picture(pieces, legend, style_of, notes_of, title):
    """The picture as text. `legend`: (class, name); `style_of(classes)`: (background or None, colour); `notes_of(line)`: a text."""
    lines = lines_of(pieces)
    longest = max(sum(len(text) for _, _, text in line) for line in lines)
    beside = MARGIN + (longest + 4) * CHARACTER
    notes = [notes_of(line) for line in lines]
    width = beside + max(map(len, notes)) * CHARACTER * 0.85 + MARGIN
    height = (len(lines) + 1) * LINE + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
           f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="{TEXT_SIZE}">',
           f"<title>{escape(title)}</title>",
           f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="#fbfcfd" stroke="#d0d7de"/>']
    x, y = MARGIN, MARGIN + TEXT_SIZE
    for name, shown in legend:
        out += drawn(x, y, [name], f" {shown} ", style_of)
        x += (len(shown) + 3) * CHARACTER
    y += 2 * LINE
    for line, note in zip(lines, notes):
        x = MARGIN
        for classes, _, text in line:
            out += drawn(x, y, classes, text, style_of)
            x += len(text) * CHARACTER
        out.append(f'<text x="{beside:.1f}" y="{y:.1f}" fill="#69717a" font-size="{TEXT_SIZE * 0.85:.1f}">{escape(note)}</text>')
        y += LINE
    return "\n".join(out + ["</svg>"])
