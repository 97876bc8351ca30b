#!/usr/bin/env python3
"""Compares assistant ranges derived from provenance with generation tags, over the templates of the corpus that have them.

    assistant_test.py path/to/assistant_driver [--write]

How many renders are equal for each template stands in COMPATIBILITY.md, in the section "Assistant ranges without tags",
with the reason where it is not all; a count that is not the one there fails the test. --write renews the counts and
keeps the reasons. Without the corpus the test is skipped (77). Begin reading at main.
"""

import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPATIBILITY = ROOT / "COMPATIBILITY.md"
HEADING = "## Assistant ranges without tags"
ROW = re.compile(r"^\| `([^`]+)` \| (\d+) of (\d+) \| (.*) \|$", re.M)
SKIPPED = 77


def counts(driver, corpus):
    """(equal, compared) by template."""
    with gzip.open(corpus / "cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    asked, before = [], None
    for case in cases:
        line = {"context": json.dumps(case["context"])}
        if case["template"] != before:
            before = case["template"]
            line["source"] = (corpus / before).read_bytes().decode("utf-8")
        asked.append(json.dumps(line) + "\n")
    said = subprocess.run([driver], input="".join(asked), capture_output=True, text=True, check=True).stdout.split()
    result = collections.defaultdict(lambda: [0, 0])
    for case, word in zip(cases, said, strict=True):
        if word != "-":
            name = pathlib.Path(case["template"]).stem
            result[name][0] += word == "same"
            result[name][1] += 1
    return result


def section(page):
    begin = page.index(HEADING)
    end = page.find("\n## ", begin)
    return begin, len(page) if end < 0 else end


def main(driver, *options):
    corpus = pathlib.Path(os.environ.get("PARLANCE_CORPUS") or ROOT.parent / "shared" / "corpus")
    if not corpus.exists():
        print(f"skipped: no {corpus}")
        return SKIPPED
    measured = counts(driver, corpus)
    page = COMPATIBILITY.read_text(encoding="utf-8")
    begin, end = section(page)
    listed = {name: (int(a), int(b), why) for name, a, b, why in ROW.findall(page[begin:end])}
    rows = [f"| `{name}` | {a} of {b} | {listed.get(name, (0, 0, ''))[2] or '–' if a == b else listed.get(name, (0, 0, 'no reason yet'))[2]} |"
            for name, (a, b) in sorted(measured.items())]
    if "--write" in options:
        head = page[begin:end].split("| --- |")[0].rstrip("\n")
        table = "| --- | --- | --- |\n" + "\n".join(rows) + "\n"
        COMPATIBILITY.write_text(page[:begin] + head + "\n" + table + page[end:], encoding="utf-8")
    wrong = [name for name in sorted(measured.keys() | listed.keys()) if listed.get(name, ())[:2] != tuple(measured.get(name, ()))]
    for name in wrong:
        print(f"{name}: {measured.get(name)} but listed {listed.get(name)}")
    total = [sum(v[i] for v in measured.values()) for i in (0, 1)]
    print(f"{total[0]} of {total[1]} renders equal in {len(measured)} templates")
    return 1 if wrong and "--write" not in options else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
