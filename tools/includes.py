#!/usr/bin/env python3
"""Holds each file of src/ and include/ to including what it names: the types and constants of the project's own headers.

    includes.py [ROOT]

The files of a module are compiled together where PARLANCE_UNITY says so, and in larger groups with PARLANCE_QUICK: there a file may lack
an include that another file of its group has, and who compiles it by itself, as a user's build does, gets an error. An include of an
include counts. A name that several headers give is enough from one of them; a forward declaration is enough.

Prints what is named without an include, and ends with 1 if there is any.
"""

import collections
import pathlib
import re
import sys

from layers import Layers
from sizes import blanked

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
KIND = r"(?:struct|class|union|enum(?: class| struct)?)"
# At the beginning of a line: of a namespace, since members stand further in.
GIVEN = re.compile(rf"^(?:template <[^\n]*> )?(?:{KIND} (?:\[\[\w+\]\] )?|using )(\w+)|^(?:inline )?constexpr [^\n=]*?\b(k[A-Z]\w*)", re.MULTILINE)
MEMBER = re.compile(rf"\b(?:{KIND}|using|typename|class) (\w+)|\b(k[A-Z]\w*)\b[^\n;]*[={{]")
WORD = re.compile(r"(?<![\w.:>])(?:parlance::|reply::|serve::|jinja::)?(k?[A-Z]\w*)\b")


class Tree:
    """The files by their path as an include gives it."""

    def __init__(self, root):
        self.path, self.includes, self.names, self.given, self.members = {}, {}, {}, {}, {}
        for folder, patterns in (("src", ("*.h", "*.cpp", "*.inc", "*.def")), ("include", ("*.h", "*.def"))):
            for path in (path for pattern in patterns for path in sorted((root / folder).rglob(pattern))):
                self.read(root, path, path.relative_to(root / folder).as_posix())

    def read(self, root, path, name):
        text = path.read_text("utf-8")
        self.path[name], self.includes[name] = path.relative_to(root), INCLUDE.findall(text)
        text = blanked(text)
        self.names[name] = set(WORD.findall(text))
        self.given[name] = {one or other for one, other in GIVEN.findall(text)}
        self.members[name] = {one or other for one, other in MEMBER.findall(text)}

    def reached(self, name):
        """The file itself, and what it includes, itself and by others."""
        found, waiting = {name}, [name]
        while waiting:
            more = {include for include in self.includes[waiting.pop()] if include in self.path} - found
            found |= more
            waiting += more
        return found


def reaches(layers, name, owner):
    """May this file include that header? Else what it names is something else of this name."""
    room, target = layers.room_of(name), layers.room_of(owner)
    return bool(room and target) and layers.allows(room, owner, target)


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    tree, layers = Tree(root), Layers(root / "src" / "LAYERS")
    owners, faults = collections.defaultdict(list), []
    for header in sorted(name for name in tree.path if name.endswith(".h")):
        for word in tree.given[header]:
            owners[word].append(header)
    for name, path in tree.path.items():
        known = set().union(*(tree.members[other] | tree.given[other] for other in tree.reached(name)))
        for word in sorted(tree.names[name] & set(owners) - known):
            if may := [owner for owner in owners[word] if reaches(layers, name, owner)]:
                faults.append(f"{path} names {word} and includes none of {', '.join(may)}")
    print("\n".join([*faults, f"{len(faults)} names without an include in {len(tree.path)} files"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
