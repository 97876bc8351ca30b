#!/usr/bin/env python3
"""Holds the includes of src/ and include/ against src/LAYERS, which says what each room may include.

    layers.py [ROOT]

A room is a folder with a line: a file is of the innermost one around it. The room that a line names as the owner of a public header is
the room of that header, as it includes and as it is included: so nothing reaches up through include/ either. A room may include what
stands in its own line. A name from another module stands for all of that module's rooms; within a module each room is named by itself.
`public` stands for all public headers: who names it is a user of the library, and names besides only the rooms whose insides it includes.

The files of a module may be compiled together, as one text (PARLANCE_UNITY). So what a file has for itself, in a namespace without a name
or as static, has a name that no other file of its module gives to something of its own: two constants of a name do not compile then, and
two functions with other parameters do, but a call may mean the wrong one. An alias may stand in several files if it is of the same type.

What a coroutine awaits has no temporary in braces among its arguments: GCC destroys the members of an aggregate there twice.

The library's texts name no option of the command line: who calls it from C++ or Python has none.

Prints each include that reaches where it may not, each allowance that no include needs, a folder or header without a line, a line
without its folder or header, lines that are no order from bottom to top, C++ files that do not open with a comment, names that two
files of a module have for their own, what is awaited with braces, and options in texts of the library; ends with 1 if there is any of these.
"""

import collections
import pathlib
import re
import sys

from sizes import blanked

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
PATTERNS = ("*.h", "*.cpp", "*.inc", "*.def")
PUBLIC = "parlance/"
EVERY_PUBLIC = "public"
EVERYTHING = "parlance.h"  # includes all others, which is held here too, and is owned by none


class Layers:
    """src/LAYERS: by room, in its order, what it may include and which public headers it owns."""

    def __init__(self, path):
        self.allowed, self.owner = {}, {}
        for line in path.read_text("utf-8").split("\n"):
            if not line.strip() or line.startswith("#"):
                continue
            room, _, rest = line.partition(":")
            allowed, _, headers = rest.partition("|")
            self.allowed[room.strip()] = allowed.split()
            self.owner.update((PUBLIC + header, room.strip()) for header in headers.split())
        self.needed = set()

    def room_of(self, path):
        """The room of a file of src/ or of include/, by its path as an include gives it; None: of no room."""
        if path.startswith(PUBLIC):
            return self.owner.get(path)
        folders = path.split("/")[:-1]
        return next((room for room in ("/".join(folders[:size]) for size in range(len(folders), 0, -1)) if room in self.allowed), None)

    def allows(self, room, include, target):
        """Its own room, one that is named, or one of a module that is named as a whole from outside."""
        if include.startswith(PUBLIC) and EVERY_PUBLIC in self.allowed[room]:
            self.needed.add((room, EVERY_PUBLIC))
            return True
        module = target.split("/")[0]
        names = {target} if room.split("/")[0] == module else {target, module}
        found = names & set(self.allowed[room])
        self.needed.update((room, name) for name in found)
        return room == target or bool(found)



def included(root, folder, prefix):
    """Of each file below `folder`: its path, its path as an include gives it, and what it includes."""
    for pattern in PATTERNS:
        for path in sorted(folder.rglob(pattern)):
            name = prefix + path.relative_to(folder).as_posix()
            for match in INCLUDE.finditer(path.read_text("utf-8")):
                yield path.relative_to(root), name, match[1]


def wrong_lines(root, layers):
    modules = {path.name for path in (root / "src").iterdir() if path.is_dir()}
    headers = {PUBLIC + path.name for path in (root / "include" / "parlance").iterdir()} - {PUBLIC + EVERYTHING}
    named = {room.split("/")[0] for room in layers.allowed}
    everything = set(INCLUDE.findall((root / "include" / PUBLIC / EVERYTHING).read_text("utf-8")))
    yield from (f"include/{PUBLIC}{EVERYTHING} does not include {name}" for name in sorted(headers - everything) if name.endswith(".h"))
    yield from (f"src/LAYERS has no line for {name}" for name in sorted(modules - named))
    yield from (f"src/LAYERS names {room}, which is no folder" for room in layers.allowed if not (root / "src" / room).is_dir())
    yield from (f"src/LAYERS gives {name} to no room" for name in sorted(headers - set(layers.owner)))
    yield from (f"src/LAYERS names {name}, which is no public header" for name in sorted(set(layers.owner) - headers))
    for place, (room, allowed) in enumerate(layers.allowed.items()):
        behind = list(layers.allowed)[place:]
        own = room.split("/")[0]
        for name in filter(lambda name: name != EVERY_PUBLIC, allowed):
            rooms = {name} if name.split("/")[0] == own else {r for r in layers.allowed if r == name or r.startswith(name + "/")}
            if not rooms or rooms & set(behind):
                yield f"src/LAYERS: {room} names {name}, which does not stand before it"


def wrong_includes(root, layers):
    for path, name, include in included(root, root / "src", ""):
        room, target = layers.room_of(name), layers.room_of(include)
        if target and not layers.allows(room, include, target):
            yield f"{path}, of {room}, includes {include}, of {target}"
        elif include == PUBLIC + EVERYTHING:
            yield f"{path} includes {include}, which is for users"
    for path, name, include in included(root, root / "include", ""):
        room, target = layers.room_of(name), layers.room_of(include)
        if not include.startswith(PUBLIC):
            yield f"{path} includes {include}, which is not public"
        elif room and target and not layers.allows(room, include, target):
            yield f"{path}, of {room}, includes {include}, of {target}"


def unneeded(layers):
    for room, allowed in layers.allowed.items():
        yield from (f"src/LAYERS: {room} need not name {name}" for name in allowed if (room, name) not in layers.needed)


def unopened(root):
    """Files that do not open with what they are."""
    for path in sorted(path for folder in ("src", "include") for pattern in ("*.h", "*.cpp") for path in (root / folder).rglob(pattern)):
        if not path.read_text("utf-8").startswith(("//", "/*")):
            yield f"{path.relative_to(root)} does not open with a comment that says what it is"


BODY, BRACKETS, NAMESPACE, OPEN = "\x02", "\x03", "\x04", "\x05"  # each stands for what it says, in one letter
# Of brackets only their kind is left, from the innermost outwards; those of a namespace keep their ends.
SHORTER = [(re.compile(pattern, re.DOTALL), short) for pattern, short in (
    (r"\[\[.*?\]\]|\balignas\s*\([^()]*\)", ""), (r"\bnamespace\s*([\w:]*)\s*\{", NAMESPACE + r"\1" + OPEN), (r"\[[^\[\]]*\]", ""),
    (r"\([^()]*\)", BRACKETS), (r"\{[^{}]*\}", BODY))]
ARGUMENTS = re.compile(r"(?<=\w)\s*<[^<>]*>")  # of templates
SCOPE = re.compile(rf"{NAMESPACE}([\w:]*){OPEN}|}}")
DECLARATION = re.compile(rf"[^;]*?(?:;|{BODY}(?= *$))", re.MULTILINE)
TYPE = re.compile(r"\s*(?:template\s+)?(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(\w+)")
ALIAS = re.compile(r"\s*(?:template\s+)?using\s+(\w+)\s*=")
SHARED_TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)[^;\n]*\{", re.MULTILINE)  # of a header, in no class
OWN = re.compile(r"\s*(?:template\s+|inline\s+)*(?:static|constexpr|using)\b")  # of its file in any namespace


def declared(text):
    """The names that a declaration of a namespace gives, one that belongs to a class aside."""
    if found := TYPE.match(text) or ALIAS.match(text):
        return [found[1]]
    first, *others = text.split(",")
    head = re.split(rf"[={BODY}{BRACKETS};]", first)[0]
    found = re.search(r"(?<![\w:])(\w+)\s*$", head)
    if found is None or not head[:found.start()].strip() or re.search(r"\boperator\b|\busing\b", head):
        return []
    return [found[1], *(name[1] for name in map(re.compile(r"\s*(\w+)").match, others) if name)]


def replaced(pattern, short, text):
    """Until there is no more of it."""
    count = 1
    while count:
        text, count = pattern.subn(short, text)
    return text


def own_names(text):
    """(name, what it is short for: an alias's type, else "") of what a file has for itself."""
    text = blanked(text)
    for pattern, short in SHORTER:
        text = replaced(pattern, short, text)
    scopes, begin = [], 0
    for scope in [*SCOPE.finditer(text), None]:
        for match in DECLARATION.finditer(text[begin:scope and scope.start()]):
            plain = replaced(ARGUMENTS, "", match[0])
            if "" not in scopes[:-1] and (scopes[-1:] == [""] or OWN.match(plain)):
                alias = match[0].partition("=")[2].strip("; ") if ALIAS.match(plain) else ""
                yield from ((name, alias) for name in declared(plain))
        if scope is not None:
            begin = scope.end()
            scopes.append(scope[1]) if scope[0] != "}" else scopes and scopes.pop()


def named_twice(root):
    """Names that two files of a module, of the unit tests or of the extension for Python, have for their own."""
    for module in [*sorted(path for path in (root / "src").iterdir() if path.is_dir()), root / "tests" / "unit", root / "bindings" / "python" / "src"]:
        shared = {name: path for path in sorted(module.rglob("*.h")) for name in SHARED_TYPE.findall(path.read_text("utf-8"))}
        owners = collections.defaultdict(dict)
        for path in sorted(module.rglob("*.cpp")):
            for name, alias in own_names(path.read_text("utf-8")):
                owners[name].setdefault(path.relative_to(root), alias)
                if name in shared and not alias:
                    yield f"{path.relative_to(root)} has a {name} of its own, which {shared[name].relative_to(root)} has too; they may be compiled together"
        for name, files in owners.items():
            if len(files) > 1 and (len(set(files.values())) > 1 or "" in files.values()):
                yield f"{' and '.join(map(str, files))} each have a {name} of their own, and may be compiled together"


AWAITED = re.compile(r"\bco_await\b(?:(?!\bco_return\b)[^;])*")
BRACED = re.compile(r"(?:[(,]\s*|[\w>])\{\s*[^\s}]")  # not a lambda's body, which clang-format sets apart


def awaited_aggregates(root):
    """Temporaries in braces among what is awaited: GCC (12 does) destroys their members twice."""
    for path in sorted(path for pattern in ("*.h", "*.cpp") for path in (root / "src").rglob(pattern)):
        text = blanked(path.read_text("utf-8"))
        for match in AWAITED.finditer(text):
            if BRACED.search(match[0]):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path.relative_to(root)}:{line} awaits with a temporary in braces, which GCC destroys twice: give it a name"


TEXT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')
OPTION = re.compile(r"(?<![\w'-])--[a-z]|\bparlance [a-z]+ --?\w|(?<=[ \"])-[a-z] [A-Z]")
PROGRAMS = ("agent", "cli", "serve")  # what is built for the command alone
OPTION_WORDS = re.compile(r'^    \{"([^"]+)", "', re.MULTILINE)  # a row of src/cli/options/option_words.cpp


def command_words(root):
    """Texts of the library that name an option of the command line, and rows of the command's words that no text of the library has."""
    texts = []
    for path in sorted(path for pattern in PATTERNS for path in (root / "src").rglob(pattern)):
        place = path.relative_to(root)
        if place.parts[1] in PROGRAMS:
            continue
        text = path.read_text("utf-8")
        for match in TEXT.finditer(text):
            if match[0].startswith("//"):
                continue
            texts.append(match[0])
            if OPTION.search(match[0]):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{place}:{line} names an option of the command line: name the library's own, and src/cli/options/option_words.cpp has the option"
    rows = root / "src" / "cli" / "options" / "option_words.cpp"
    for words in OPTION_WORDS.findall(rows.read_text("utf-8") if rows.exists() else ""):
        if not any(words in text for text in texts):
            yield f"src/cli/options/option_words.cpp: no text of the library has '{words}'"


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    layers = Layers(root / "src" / "LAYERS")
    faults = [*wrong_lines(root, layers), *wrong_includes(root, layers), *unneeded(layers), *unopened(root),
              *named_twice(root), *awaited_aggregates(root), *command_words(root)]
    print("\n".join([*faults, f"{len(faults)} faults of layers"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
