"""Compares the binary with the oracle on random templates, and on variations of the case files' templates.

The oracle is of the transformers that this Python has (PYTHONPATH names an older one), and the binary follows the same release.
Leans on template_maker and scope_maker (templates), engines (both programs) and case_file (how a difference is printed). Begin at
`main`; `difference` says what counts as one. Each difference is made smaller and printed as a case; exit code 1.

    fuzz_compare.py --binary build/parlance --seed 1 --minutes 5
    fuzz_compare.py --binary build/parlance --cases      the case files themselves, nothing random
    fuzz_compare.py --oracle-only --count 5000           what the random templates are like
"""
import argparse
import collections
import concurrent.futures
import importlib.metadata
import json
import pathlib
import random
import re
import sys
import time

import case_file
import engines
import scope_maker
import template_maker

ROOT = pathlib.Path(__file__).resolve().parent.parent / "cases" / "jinja"
BATCH = 250
PATIENCE = 60  # seconds for making one difference smaller
LONGEST = 10**6  # characters of output
ANY_FAILURE = {"RecursionError", "AssertionError"}  # stand for an error of any kind
BROKEN = {"Crash", "Hang"}  # differences whatever the oracle says; it has no limits, the binary must have
NOT_COMPARABLE = {"GivenUp", "MemoryError"}
CHANCE = re.compile(r"\brandom\b|\blipsum\b|(?:keys|items)\(\)\s*[-&|^]")  # and sets print in any order
PRIVATE = re.compile(r"__\w+__")  # COMPATIBILITY.md says how attributes with such names differ
ADDRESS = re.compile(r"(?: |%20)at(?: |%20)0x[0-9a-f]+|0x7f[0-9a-f]{10}", re.I)
COMPLEX = re.compile(r"\dj\b")
CAPTURES = re.compile(r"%[-+]?\s*(?:set|macro|call|filter|block)\b|\brecursive\b|generation.*generation.*generation", re.S)


def comparable(source, want):
    text = want.get("output", "")
    if want.get("error") in NOT_COMPARABLE or len(text) > LONGEST:
        return False
    return not (CHANCE.search(source) or PRIVATE.search(source) or ADDRESS.search(text) or COMPLEX.search(text))


def spans_of(answer):
    """The binary's spans, from bytes to code points; an offset inside a character or past the end is kept in order."""
    raw = answer["text"].encode("utf-8", "surrogatepass")
    points = [0]
    for byte in raw:
        points.append(points[-1] + (byte & 0xC0 != 0x80))
    return [[points[min(offset, len(raw))] + max(0, offset - len(raw)) for offset in span]
            for span in answer.get("generation") or []]


def same_spans(case, want, got):
    """Offsets of captured blocks point to where their text is not, so they convert only where all is ASCII."""
    source, context = case
    wanted, given = sorted(want["generation"]), sorted(spans_of(got))
    if wanted == given:
        return True
    ascii_only = "\\" not in source and (source + json.dumps(context, ensure_ascii=False)).isascii()
    return CAPTURES.search(source) and not ascii_only and len(wanted) == len(given)


def difference(case, want, got):
    """What differs, as a short key that stays the same while a template is made smaller, or None."""
    given = got["error"].get("type", "?") if "error" in got else None
    if given in BROKEN:
        return ("any", given)
    if not comparable(case[0], want):
        return None
    if "error" in want:
        right = given is not None and (want["error"] in ANY_FAILURE or given == want["error"])
        return None if right else (want["error"], given or "text")
    if given:
        return ("text", given)
    if got.get("text") != want["output"]:
        return ("text", "other text")
    return None if same_spans(case, want, got) else ("text", "other spans")


class Comparer:
    def __init__(self, binary):
        self.binary = binary
        self.oracle = engines.Oracle()
        self.pool = concurrent.futures.ThreadPoolExecutor(2)

    def answers(self, cases):
        """[(want, got)], both programs at work at the same time."""
        wanted = self.pool.submit(self.oracle.ask, cases)
        given = engines.ask_binary(self.binary, cases, ["--transformers", importlib.metadata.version("transformers")])
        return list(zip(wanted.result(), given))

    def first_like(self, key, cases):
        """The first case that differs in the same way, or None."""
        if not cases:
            return None
        for case, (want, got) in zip(cases, self.answers(cases)):
            if difference(case, want, got) == key:
                return case
        return None

    def smaller(self, case, key):
        """Greedy deletion: pairs of tags, then runs of tokens of falling length, then names of the context."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            better = next(filter(None, (self.first_like(key, some) for some in shorter(case))), None)
            if better is None:
                break
            case = better
        return case


def shorter(case):
    """Batches of cases with less in them, the boldest first."""
    source, context = case
    tokens = template_maker.TOKEN.findall(source)
    yield [("".join(tokens[:a] + tokens[b:c] + tokens[d:]), context) for a, b, c, d in tag_pairs(tokens)]
    length = max(1, len(tokens) // 2)
    while True:
        places = range(0, len(tokens), max(1, length // 2))
        yield [("".join(tokens[:at] + tokens[at + length:]), context) for at in places]
        if length == 1:
            break
        length //= 2
    yield [(source, {key: value for key, value in context.items() if key != name}) for name in context]


def tag_pairs(tokens):
    """(start, end) of an opening tag and (start, end) of what closes it, in tokens."""
    opened, start = [], None
    for at, token in enumerate(tokens):
        if token.startswith("{%"):
            start = at
        elif token.endswith("%}") and start is not None:
            words = [word for word in tokens[start + 1:at] if word.strip()]
            if words and words[0].startswith("end") and opened:
                yield (*opened.pop(), start, at + 1)
            elif words and words[0] not in ("else", "elif", "break", "continue"):
                opened.append((start, at + 1))
            start = None


def print_case(number, case, want, got):
    given = got["error"] if "error" in got else got.get("text")
    about = json.dumps(given, ensure_ascii=False)[:200]
    print(f"=== difference_{number}\nabout   the binary gives {about}\noracle  jinja2")
    print(f"--- context\n{json.dumps(case[1], ensure_ascii=False)}")
    known = "" if want.get("error") in NOT_COMPARABLE else case_file.write_expectation(want)
    print(case_file.write_text("template", case[0]) + known, end="", flush=True)
    if spans := got.get("generation"):
        print(f"(spans of the binary, in bytes: {spans})")


def known_cases():
    for case in case_file.find_cases(ROOT, ROOT):
        if case.template is not None and not case.json("settings", None) and "differs" not in case.headers:
            yield case.template, case.json("context", {})


def make_cases(seed, known):
    """Random cases without end: of ten two are variations, one is nested scopes."""
    maker = template_maker.Maker(random.Random(seed))
    scopes = scope_maker.ScopeMaker(maker.random)
    while True:
        if maker.chance(0.1):
            case = scopes.template()
        else:
            case = maker.variation(known) if known and maker.chance(0.25) else maker.template()
        if not CHANCE.search(case[0]):
            yield case


def batches(options):
    known = list(known_cases())
    if options.cases:
        yield from (known[at:at + BATCH] for at in range(0, len(known), BATCH))
        return
    cases, end, left = make_cases(options.seed, known), time.monotonic() + 60 * (options.minutes or 0), options.count
    while time.monotonic() < end if options.minutes else left > 0:
        size = BATCH if options.minutes else min(BATCH, left)
        left -= size
        yield [next(cases) for _ in range(size)]


def show_mix(classes):
    total = sum(classes.values())
    for name, count in classes.most_common():
        print(f"{count:7d}  {100 * count / total:5.1f} %  {name}")
    print(f"{total} templates")


def compare(options):
    comparer, found, seen, start = Comparer(options.binary), 0, set(), time.monotonic()
    classes, alike = collections.Counter(), collections.Counter()
    for cases in batches(options):
        for case, (want, got) in zip(cases, comparer.answers(cases)):
            classes[want.get("error", "renders")] += 1
            key = difference(case, want, got)
            if key is None or alike[key] == options.alike:
                continue
            alike[key] += 1
            small = case if key[1] == "Hang" else comparer.smaller(case, key)
            if small[0] in seen:
                continue
            seen.add(small[0])
            found += 1
            print_case(f"{options.seed}_{found}", small, *comparer.answers([small])[0])
            if found == options.most:
                break
        if found == options.most:
            break
    show_mix(classes)
    print(f"{found} differences, {time.monotonic() - start:.0f} s, seed {options.seed}")
    comparer.oracle.stop()
    return 1 if found else 0


def only_oracle(options):
    oracle, classes = engines.Oracle(), collections.Counter()
    for cases in batches(options):
        classes.update(answer.get("error", "renders") for answer in oracle.ask(cases))
    oracle.stop()
    show_mix(classes)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", help="the parlance command")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000, help="how many templates (2000)")
    parser.add_argument("--minutes", type=float, help="go on for so long, in place of --count")
    parser.add_argument("--most", type=int, default=20, help="stop after so many differences (20)")
    parser.add_argument("--alike", type=int, default=5, help="look at so many of one kind, as 'text for TypeError' (5)")
    parser.add_argument("--cases", action="store_true", help="the case files' templates as they stand")
    parser.add_argument("--oracle-only", action="store_true", help="count what the oracle makes of the templates")
    options = parser.parse_args()
    if not options.oracle_only and not options.binary:
        parser.error("--binary or --oracle-only is needed")
    sys.exit(only_oracle(options) if options.oracle_only else compare(options))


if __name__ == "__main__":
    main()
