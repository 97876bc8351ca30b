#!/usr/bin/env python3
"""Prints src/value/html_entities.inc: the named character references that Python's html.unescape knows.

python3 tools/html_entities.py > src/value/html_entities.inc
"""

from html.entities import html5

WIDTH = 100
print(
    "// Made by tools/html_entities.py from CPython's html.entities.html5. Sorted by name in byte order."
)
line = ""
for name in sorted(html5):
    row = '{"%s", "%s"},' % (name, "".join("\\x%02x" % byte for byte in html5[name].encode()))
    if line and len(line) + 1 + len(row) > WIDTH:
        print(line)
        line = ""
    line = line + " " + row if line else row
print(line)
