#!/usr/bin/env python3
"""Compares the reader of Python calls with CPython's own parser, over random literals and damaged ones.

    literal_oracle.py path/to/reply_dump [number of literals] [seed]

Each literal stands in `tool_call(x=…)`. Where ast.parse takes the call and ast.literal_eval its values, and JSON can say them, the
reader must give arguments that json reads as the same; everything else it must call incomplete. The known differences
are in KNOWN: what models write though Python does not. Ends with 1 on a difference. Begin reading at expected().
"""

import ast
import json
import random
import re
import subprocess
import sys
import warnings

SHOWN = 20
warnings.simplefilter("ignore")
NONE = object()  # no message is expected
LETTERS = "abc XYZ09_<>&/-.:;,()[]{}#=" + "éß中文🙂\u2028\x7f"


def random_text(rng):
    return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(8)))


def random_string(rng):
    """The source of a text: quotes, prefixes, escapes, sometimes several side by side."""
    quote = rng.choice(["'", '"', "'", '"', "'''", '"""'])
    prefix = rng.choice(["", "", "", "", "r", "R", "u", "U", "b", "f", "br"][:8 if rng.random() < 0.95 else None])
    pieces = []
    for _ in range(rng.randrange(6)):
        pieces.append(rng.choice([
            random_text(rng), random_text(rng), "\\n", "\\t", "\\\\", "\\'", '\\"', "\\x41", "\\xe9", "\\u00e9", "\\U0001f642", "\\101",
            "\\7", "\\0", "\\d", "\\ ", "\\a\\b\\f\\v\\r", "\\\n", "'" if '"' in quote else '"',
            "\n" if len(quote) == 3 else " ", "\r\n" if len(quote) == 3 else "", "\\ud83d\\ude42", "\\400",
            rng.choice(["'", '"', "''"]) if len(quote) == 3 else ""]))
    return prefix + quote + "".join(pieces) + quote


def random_number(rng):
    return rng.choice([
        str(rng.randrange(-5, 100)), str(rng.randrange(10**30)), "-" + str(rng.random()), repr(rng.uniform(-1e20, 1e20)), "1.", ".5", "1.e5",
        "1e-7", "1E+05", "1_000", "1_0.0_1e1_0", "0x1F", "0XdeadBEEFdeadBEEFdead", "0o17", "0b1011", "0x_ff", "00", "0_0", "00.5", "01.5",
        "+3", "- 2", "0", "-0", "-0.0", "1e400", "09", "1__0", "1_", "0x", "1e", "1.2.3", "0b2", "3j", "1+2j", "--1", "-True", "1_.5"])


def random_literal(rng, depth=0):
    choice = rng.randrange(13 if depth < 4 else 7)
    blank = rng.choice(["", "", "", " ", "\n", "  # note\n ", "\\\n", "\t"])
    if choice < 3:
        return random_string(rng) + blank
    if choice < 5:
        return random_number(rng) + blank
    if choice < 7:
        return rng.choice(["True", "False", "None"]) + blank
    inside = [random_literal(rng, depth + 1) for _ in range(rng.randrange(4))]
    if choice == 7:
        return " ".join(random_string(rng) for _ in range(1 + rng.randrange(3)))
    if choice == 8:
        return "(" + blank + ", ".join(inside) + rng.choice(["", ","] if inside else [""]) + ")"
    if choice < 10:
        return "[" + blank + ", ".join(inside) + rng.choice(["", ",", " "] if inside else [""]) + "]"
    if choice == 10 and inside:
        return "{" + blank + ", ".join([rng.choice(["1", "-2.5", "None", "'a'"])] + inside) + rng.choice(["", ","]) + "}"
    keys = [rng.choice([random_string(rng), random_string(rng), str(rng.randrange(99)), "-1", "True", "None", "0x1f"]) for _ in inside]
    return "{" + blank + ", ".join(f"{k}{rng.choice([':', ': ', ' : '])}{v}" for k, v in zip(keys, inside)) + "}"


def damaged(rng, text):
    for _ in range(1 + rng.randrange(2)):
        at = rng.randrange(len(text) + 1)
        text = rng.choice([text[:at] + text[at + 1:], text[:at] + rng.choice("()[]{},:'\"\\#=1a\n ") + text[at:], text[:at] + text[at:at + 3] + text[at:]])
    return text


class Unsayable(Exception):
    pass


def joined(text):
    """JSON joins surrogates that Python keeps apart."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def as_json(node):
    """What JSON makes of a literal, as Python's json would: keys are texts, of which the last wins. Bytes, complex
    numbers and … are unsayable."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):  # a set in the order in which it is written, twice what is there twice
        return [as_json(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        if None in node.keys:
            raise Unsayable
        pairs = [(as_json(k), as_json(v)) for k, v in zip(node.keys, node.values)]
        if any(isinstance(k, (list, dict, float)) for k, _ in pairs):
            raise Unsayable
        return {k if isinstance(k, str) else json.dumps(k): v for k, v in pairs}
    value = ast.literal_eval(node)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return joined(value)
    raise Unsayable


def expected(call):
    """The arguments that CPython sees, or NONE."""
    try:
        # What CPython's lexer does with text before the grammar: only \n ends lines.
        tree = ast.parse(call.strip(" \t\n\f\r"), mode="eval").body
        if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "tool_call") or tree.args:
            return NONE
        if any(k.arg is None for k in tree.keywords):
            return NONE
        return {k.arg: as_json(k.value) for k in tree.keywords}
    except (ValueError, SyntaxError, TypeError, Unsayable, MemoryError, RecursionError):
        return NONE


# What is read though it is no literal of Python, with the reason.
KNOWN = [
    (re.compile(r"\b(true|false|null)\b"), "models write JSON's words"),
    (re.compile(r"\b(x|tool_call)\b.*=.*\bx\b", re.DOTALL), "an argument twice, which a call that is not run may have"),
    (re.compile(r"(?<![\w.])0[0-9_]*[1-9]"), "numbers with zeros in front"),
    (re.compile(r"['\"][^'\"]*\n"), "a line's end inside a text"),
    (re.compile(r"(['\"]).*\1.*\1", re.DOTALL), "the text's own quotes inside it, if nothing that ends a text stands behind them"),
    (re.compile(r"\\N"), "a character by its name: names are not known, so it stays as it is written"),
    (re.compile(r"[(\[{,]\s*(and|as|if|in|is|or|not|for|def|del|None|True|False)\s*=", re.DOTALL), "a keyword as the name of an argument"),
]
# What is not read though Python would: brackets where JSON wants a key or behind a sign; a comment behind the call.
NARROWER = re.compile(r"\)\s*#[^\n]*$|[-+]\s*(#[^\n]*\n\s*)*\(|[{,]\s*(#[^\n]*\n\s*)*\(|\)\s*\(|\{[^}]*\(", re.DOTALL)


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, float) == isinstance(b, float) and (a == b or (a != a and b != b))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        a, b = ({joined(k): v for k, v in d.items()} for d in (a, b))
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return joined(a) == joined(b) if isinstance(a, str) else a == b


def main():
    binary = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 20261121)
    calls = []
    for i in range(count):
        names = rng.sample(["x", "location", "_y9", "größe", "unit"], 1 + rng.randrange(2))
        call = "tool_call(" + ", ".join(f"{n}{rng.choice(['=', ' = '])}{random_literal(rng)}" for n in names) + rng.choice([")", ",)", " )"])
        calls.append(damaged(rng, call) if i % 4 == 3 else call)
    lines = [f"chatglm3 {('f' + chr(10) + '```python' + chr(10) + call + chr(10) + '```').encode().hex()}\n" for call in calls]
    done = subprocess.run([binary], input="".join(lines), capture_output=True, text=True, check=True)
    faults = read = known = 0
    for call, line in zip(calls, done.stdout.split("\n")):
        choice = json.loads(line)
        got = choice["message"]["tool_calls"][0] if choice["message"].get("tool_calls") else None
        # What follows the call in the block is told by a diagnostic, and is no call for Python.
        whole = got is not None and got["complete"] and not choice["diagnostics"]
        arguments = json.loads(got["function"]["arguments"]) if whole else NONE
        wanted = expected(call)
        read += wanted is not NONE
        if (arguments is NONE) == (wanted is NONE) and (wanted is NONE or same(arguments, wanted)):
            continue
        if wanted is NONE and any(pattern.search(call) for pattern, _ in KNOWN) or arguments is NONE and NARROWER.search(call):
            known += 1
            continue
        faults += 1
        if faults <= SHOWN:
            print(f"{call!r}\n  CPython: {'nothing' if wanted is NONE else json.dumps(wanted)}\n  here:    {line}")
    print(f"{count} calls, {read} of them literals, {known} known differences, {faults} faults")
    return 1 if faults or read < count / 3 else 0


if __name__ == "__main__":
    sys.exit(main())
