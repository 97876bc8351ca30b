#!/usr/bin/env python3
"""Prints how large files, functions and classes are and how much is comment: the numbers we hold ourselves to.

    sizes.py [--check]    --check also fails on a function over 100 lines that docs/long_functions.txt does not name, and on a class
                          with more than 60 member functions

A line of docs/long_functions.txt is `path function: why it is long`. Functions and classes are found by their braces, so read the
figures as a few per cent off. Generated tables (*.inc) do not count. Begin reading at functions_of.
"""

import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONG = 100
HEAVY = 60
WIDE = 120  # columns, as .clang-format has it, which breaks no text
ALLOWED = ROOT / "docs" / "long_functions.txt"
BLANKED = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
OPENS_SCOPE = re.compile(r"\s*(?:template\s*<.*>\s*|inline\s+|typedef\s+|export\s+)*(?:namespace|class|struct|union|enum|extern)\b[^()=]*$",
                         re.DOTALL)
CLASS = re.compile(r"\s*(?:template\s*<.*>\s*)?(?:class|struct)\s+([\w:]+)[^()=;]*$", re.DOTALL)
# A declaration with parameters, which are not an initialiser's or a call's.
MEMBER = re.compile(r"\s*(?!using\b|friend\b|return\b|static_assert\b|enum\b)[^=]*?[\w~\]>&*=!<+-]\s*\([^=]*", re.DOTALL)
LABEL = re.compile(r"^\s*(?:(?:public|private|protected)\s*:\s*)+")
NAME = re.compile(r"([~\w:]+|operator\s*\S+)\s*$")


def blanked(text):
    """The text with strings and comments as blanks, line for line."""
    keep = lambda match: re.sub(r"[^\n]", " ", match[0])
    return DIRECTIVE.sub(keep, BLANKED.sub(keep, text))


def functions_of(text):
    """(name, first line, lines) of each function with a body."""
    text = blanked(text)
    open_scopes, start, depth, begun = 0, 0, 0, None
    for match in re.finditer(r"[{};]", text):
        mark, at = match[0], match.start()
        if depth > 0:
            depth += (mark == "{") - (mark == "}")
            if depth == 0 and mark == "}":
                following = text[at + 1:at + 80].lstrip()[:1]
                if begun is not None and following in (",", "{"):
                    continue  # a member that is initialised with braces
                if begun is not None:
                    name, first = begun
                    yield name, first, text.count("\n", 0, at) + 2 - first
                begun, start = None, at + 1
            continue
        if mark == "{":
            head = text[start:at]
            if begun is None and OPENS_SCOPE.match(LABEL.sub("", head)):
                open_scopes += 1
                start = at + 1
                continue
            depth = 1
            if begun is None and "(" in head and not re.search(r"=\s*$", head):
                label = LABEL.match(head)
                skipped = label.end() if label else len(head) - len(head.lstrip())
                name = NAME.search(head[:head.index("(")])
                begun = (name[1] if name else "?", text.count("\n", 0, start + skipped) + 1)
        elif mark == "}":
            open_scopes -= 1
            start = at + 1
        else:
            begun, start = None, at + 1


def classes_of(text):
    """(name, member functions) of each class and struct with a body: what it declares, whether the body is there or not."""
    text = blanked(text)
    scopes = []  # of each open brace: [name of a class or None, member functions]
    start = 0
    for match in re.finditer(r"[{};]", text):
        mark, at = match[0], match.start()
        head = LABEL.sub("", text[start:at])
        owner = scopes[-1] if scopes else None
        opens = CLASS.match(head) if mark == "{" else None
        if owner is not None and owner[0] and not opens and mark != "}" and MEMBER.match(head):
            owner[1] += 1
        if mark == "{":
            scopes.append([opens[1] if opens else None, 0])
        elif mark == "}" and scopes:
            name, members = scopes.pop()
            if name:
                yield name, members
        start = at + 1


def share_of_comments(paths):
    lines = [line.strip() for path in paths for line in path.read_text("utf-8").split("\n") if line.strip()]
    return sum(1 for line in lines if line.startswith("//") or "///<" in line) / max(1, len(lines))


def wide_lines():
    """Of all files of C++, tests too."""
    for folder in ("include", "src", "bindings", "tests", "bench", "fuzz"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                lines = path.read_text("utf-8").split("\n")
                yield from (f"{path.relative_to(ROOT)}:{number}" for number, line in enumerate(lines, 1) if len(line) > WIDE)


def percentile(numbers, share):
    return sorted(numbers)[min(len(numbers) - 1, int(share * len(numbers)))]


def read_allowed():
    if not ALLOWED.exists():
        return {}
    lines = [line.partition(": ") for line in ALLOWED.read_text("utf-8").split("\n") if line and not line.startswith("#")]
    return {name: why for name, _, why in lines}


def main():
    headers = sorted((ROOT / "include").rglob("*.h"))
    folders = [ROOT / "src", ROOT / "bindings" / "python" / "src"]
    code = [p for folder in folders for pattern in ("*.h", "*.cpp") for p in sorted(folder.rglob(pattern))]
    sizes = {path: path.read_text("utf-8").count("\n") for path in code + headers}
    functions = [(lines, f"{path.relative_to(ROOT)} {name}") for path in code + headers
                 for name, _, lines in functions_of(path.read_text("utf-8"))]
    lengths = [lines for lines, _ in functions]
    largest = max(sizes, key=sizes.get)
    over = lambda limit: sum(1 for lines in lengths if lines > limit)
    rows = [
        ("files, lines", f"{len(sizes)}, {sum(sizes.values())}", ""),
        ("median file", f"{statistics.median(sizes.values()):.0f}", "at most 200"),
        ("largest file", f"{sizes[largest]} {largest.relative_to(ROOT)}", "at most 700"),
        ("functions: number, median, p90, p99", f"{len(lengths)}, {statistics.median(lengths):.0f}, "
         f"{percentile(lengths, 0.9)}, {percentile(lengths, 0.99)}", "p90 at most 25"),
        ("functions over 60 lines", f"{over(60)} ({100 * over(60) / len(lengths):.1f} %)", "at most 1 %"),
        ("functions over 100 lines", f"{over(LONG)}", "at most 3, each named"),
        ("prose in public headers", f"{100 * share_of_comments(headers):.0f} %", "at least 40 %"),
        ("comments in code", f"{100 * share_of_comments(code):.0f} %", "10 to 20 %"),
    ]
    classes = [(members, f"{path.relative_to(ROOT)} {name}") for path in code + headers
               for name, members in classes_of(path.read_text("utf-8"))]
    rows.append(("member functions of the largest class", f"{max(classes)[0]} {max(classes)[1]}", f"at most {HEAVY}"))
    wide = list(wide_lines())
    rows.append((f"lines over {WIDE} columns", f"{len(wide)}", "none"))
    for what, value, target in rows:
        print(f"{what:38} {value:44} {target}")
    for lines, name in sorted(functions, reverse=True)[:10]:
        print(f"  {lines:4} {name}")
    allowed = read_allowed()
    long_ones = {name for lines, name in functions if lines > LONG}
    faults = [f"{name} is over {LONG} lines" for name in sorted(long_ones - set(allowed))]
    faults += [f"{ALLOWED.name} names {name}, which is no long function" for name in sorted(set(allowed) - long_ones)]
    faults += [f"{name} has {members} member functions, over {HEAVY}" for members, name in sorted(classes) if members > HEAVY]
    faults += [f"{place} is over {WIDE} columns" for place in wide]
    for fault in faults if "--check" in sys.argv else []:
        print(fault)
    return 1 if faults and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
