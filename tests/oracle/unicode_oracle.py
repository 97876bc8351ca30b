#!/usr/bin/env python3
"""Compares the Unicode layer with the str of this python3, exhaustively.

    python3 tests/oracle/unicode_oracle.py path/to/unicode_dump [number of random texts [share]]

All 0x110000 code points for every predicate and mapping, of the 967,302 that no character has or that are private one in `share`
and those beside others; then random texts for what depends on context; and that the tables in src/base are what their generator prints. Ends with 0 when all
agree, 1 when not, 77 (skipped) under a python3 of another Unicode. Begin reading at main().
"""

import contextlib
import importlib.util
import io
import itertools
import pathlib
import random
import subprocess
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
SHOWN = 20

# What is likely to meet in a text: sigmas and words around them, marks and other characters that
# are ignored, one-to-many mappings, titlecase digraphs, other scripts, surrogates, odd spaces.
SPECIMENS = [
    "\u03a3", "\u03c3", "\u03c2", "a", "B", "z", "\u0391", "\u03ac", "\u0301", "\u0345", "\u00ad",
    "\u02b0", "\u2019", "'", ".", ":", "\u00b7", "\u0387", "\u200d", " ", "_", "1", "-", "\t",
    "\n", "\u00df", "\u1e9e", "\u0130", "\u0131", "\u0149", "\u01f0", "\u0390", "\ufb00", "\ufb03",
    "\ufb17", "\u0587", "\u1f80", "\u1f88", "\u1fb7", "\u1ffc", "\u01c4", "\u01c5", "\u01c6",
    "\u01f2", "\u10d0", "\u1c90", "\u13a0", "\uab70", "\u2160", "\u2170", "\u24b6", "\u24d0",
    "\u00aa", "\u4e00", "\u4f60", "\u3042", "\uac00", "\u0663", "\u00b2", "\u00bd", "\u2460",
    "\u3000", "\u0085", "\u00a0", "\x1c", "\u2028", "\u200b", "\ufeff", "\ud800", "\udc00",
    "\udfff", "\U0001f600", "\U0001f1e9", "\U00010400", "\U00010428", "\U0001e900", "\U00020001",
    "\U0001d7d8", "\ue000", "\ufffd", "\uffff", "\U0010ffff", "\u0cf3", "\U00011f00", "\0", "\x7f",
]


def is_cased(s):
    return (s + "a").title().endswith("a")


def is_case_ignorable(s):
    if is_cased(s):
        return not (s + "\u03a3").lower().endswith("\u03c2")
    return ("A" + s + "\u03a3").lower().endswith("\u03c2")


CHARACTER_TESTS = [
    str.isalpha, str.isdecimal, str.isdigit, str.isnumeric, str.isalnum, str.islower, str.isupper,
    lambda s: unicodedata.category(s) == "Lt", str.isspace, str.isprintable, is_cased,
    is_case_ignorable, lambda s: s.isidentifier() and s != "_",
    lambda s: ("a" + s).isidentifier(), lambda s: len((s + "a").splitlines()) == 2,
]
CHARACTER_MAPPINGS = [str.lower, str.upper, str.title, str.casefold]
TEXT_TESTS = [
    str.isalpha, str.isdecimal, str.isdigit, str.isnumeric, str.isalnum, str.islower, str.isupper,
    str.istitle, str.isspace, str.isprintable, str.isidentifier, str.isascii, lambda s: True,
    lambda s: any("\ud800" <= c <= "\udfff" for c in s),
]
TEXT_MAPPINGS = [
    str.lower, str.upper, str.title, str.capitalize, str.swapcase, str.casefold,
]


def to_bytes(s):
    return s.encode("utf-8", "surrogatepass")


def expect_character(c):
    s = chr(c)
    tests = "".join("01"[test(s)] for test in CHARACTER_TESTS)
    values = [str(unicodedata.decimal(s, -1)), str(unicodedata.digit(s, -1))]
    return " ".join([tests, *values, *(to_bytes(f(s)).hex() for f in CHARACTER_MAPPINGS)])


def expect_text(s):
    tests = "".join("01"[test(s)] for test in TEXT_TESTS)
    half = len(to_bytes(s[: len(s) // 2]))
    mapped = [(b"|" + to_bytes(f(s))).hex() for f in TEXT_MAPPINGS]
    return " ".join([tests, str(len(s)), str(half), *mapped])


def random_text(rng, cased):
    pools = [SPECIMENS, SPECIMENS[:20], cased, [chr(rng.randrange(0x110000)) for _ in range(8)],
             "abcXYZ \u03a3'"]
    pool = rng.choice(pools)
    size = rng.randrange(rng.choice([4, 8, 80]))
    return "".join(rng.choice(pool if rng.random() < 0.8 else SPECIMENS) for _ in range(size))


def random_texts(number):
    rng = random.Random(14)
    cased = [chr(c) for c in range(0x110000) if is_cased(chr(c)) or is_case_ignorable(chr(c))]
    yield ""
    yield from SPECIMENS
    yield from map("".join, itertools.product(SPECIMENS, repeat=2))
    for _ in range(number):
        yield random_text(rng, cased)


def compare(name, subjects, expected, lines):
    bad = [(s, e, d) for s, e, d in zip(subjects, expected, lines) if e != d]
    for subject, wanted, met in bad[:SHOWN]:
        print(f"{name} {subject}\n  python3   {wanted}\n  parlance  {met}")
    print(f"{name}: {len(subjects)} compared, {len(bad)} differ")
    return not bad and len(lines) == len(subjects)


def chosen(share):
    """The code points of a share: a table's range that is one too long or too short is among them."""
    kinds = [unicodedata.category(chr(c)) for c in range(0x110000)] + [""]
    return [c for c in range(0x110000) if kinds[c] not in ("Cn", "Co") or c % share == 0 or kinds[c - 1] != kinds[c] or kinds[c + 1] != kinds[c]]


def characters_agree(dumper, share):
    lines = subprocess.run([dumper, "characters"], capture_output=True, text=True, check=True).stdout.splitlines()
    if len(lines) != 0x110000:
        print(f"characters: {len(lines)} lines")
        return False
    some = chosen(share)
    return compare("characters", [f"U+{c:04X}" for c in some], map(expect_character, some), [lines[c] for c in some])


def texts_agree(dumper, number):
    texts = list(random_texts(number))
    given = "".join(to_bytes(s).hex() + "\n" for s in texts)
    run = subprocess.run([dumper, "texts"], input=given, capture_output=True, text=True, check=True)
    return compare("texts", [ascii(s) for s in texts], map(expect_text, texts), run.stdout.splitlines())


def generator_of(tables):
    spec = importlib.util.spec_from_file_location(tables, ROOT / "tools" / f"{tables}.py")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    return generator


def is_current(tables):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        generator_of(tables).tables()
    current = printed.getvalue() == (ROOT / "src" / "base" / f"{tables}.inc").read_text()
    print(f"{tables}.inc:", "current" if current else "not what its generator prints")
    return current


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    if unicodedata.unidata_version != "14.0.0":
        print(f"skipped: this python3 has Unicode {unicodedata.unidata_version}, not 14.0.0")
        return SKIPPED
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    share = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    dumper = str(pathlib.Path(sys.argv[1]).resolve())
    agreed = [characters_agree(dumper, share), texts_agree(dumper, number), is_current("unicode_tables")]
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    sys.exit(main())
