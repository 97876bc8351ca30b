#!/usr/bin/env python3
"""Holds the includes of src/ against src/LAYERS: a module may include itself, what its line names, and public headers.

    layers.py [ROOT]

Prints each include that reaches where it may not; ends with 1 if there is one. A public header includes public ones
only. Also a failure: a module without a line, a line without a module, and lines that are no order from left to right.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
ROOT = ROOT if ROOT.is_dir() else ROOT.parent.parent
SOURCES = ("*.h", "*.cpp", "*.inc", "*.def")


def read_layers(path):
    layers = {}
    for line in path.read_text("utf-8").split("\n"):
        if line.strip() and not line.startswith("#"):
            module, _, allowed = line.partition(":")
            layers[module.strip()] = allowed.split()
    return layers


def includes(folder):
    for pattern in SOURCES:
        for path in sorted(folder.rglob(pattern)):
            for match in INCLUDE.finditer(path.read_text("utf-8")):
                yield path, match[1]


def faults(layers):
    modules = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    yield from (f"src/LAYERS has no line for {name}" for name in sorted(modules - set(layers)))
    yield from (f"src/LAYERS names {name}, which is no folder" for name in sorted(set(layers) - modules))
    for number, (module, allowed) in enumerate(layers.items()):
        for name in set(allowed) - set(list(layers)[:number]):
            yield f"src/LAYERS: {module} names {name}, which does not stand before it"
    for module in sorted(modules & set(layers)):
        for path, included in includes(ROOT / "src" / module):
            target = included.split("/")[0] if "/" in included else module
            if target != "parlance" and target != module and target in modules and target not in layers[module]:
                yield f"{path.relative_to(ROOT)} includes {included}"
    for path, included in includes(ROOT / "include"):
        if not included.startswith("parlance/"):
            yield f"{path.relative_to(ROOT)} includes {included}"


found = list(faults(read_layers(ROOT / "src" / "LAYERS")))
for fault in found:
    print(fault)
print(f"{len(found)} includes reach too far")
sys.exit(1 if found else 0)
