#!/usr/bin/env python3
"""Runs every case of the conformance corpus through the library and prints how many are equal.

    corpus_test.py path/to/corpus_driver [--write]

The corpus is the folder PARLANCE_CORPUS, or ../shared/corpus beside the tree; without one the test is skipped (77).
What may differ is listed by id in COMPATIBILITY.md, in the section "Known differences on the corpus"; a difference that
is not listed fails the test, and so does one that is listed and gone. --write rewrites the list. Begin reading at main.
"""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPATIBILITY = ROOT / "COMPATIBILITY.md"
HEADING = "## Known differences on the corpus"
SKIPPED = 77
SHOWN = 30
# The templates that a built-in format must be equal to, on every case of theirs.
BUILT_IN = {
    "templates/seed--terminal-agent.jinja": "terminal-agent",
    "templates/seed--underscore-bot.jinja": "underscore-bot",
    "templates/seed--rnj-1.jinja": "rnj-1",
    "templates/axolotl--chatml.jinja": "chatml",
}


def corpus_folder():
    return pathlib.Path(os.environ.get("PARLANCE_CORPUS") or ROOT.parent / "shared" / "corpus")


def rows(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def driver_line(source, case, answer):
    """A case as the driver wants it; without `source` it is the line before's."""
    wanted = {key: answer[key] for key in ("output", "error", "generation", "newer") if key in answer}
    line = {"id": answer["id"], "context": json.dumps(case["context"]), **wanted}
    if case.get("settings"):
        line["settings"] = json.dumps(case["settings"])
    if source is not None:
        line["source"] = source
    return json.dumps(line) + "\n"


def template_cases(corpus):
    before = None
    for case, answer in zip(rows(corpus / "cases.jsonl.gz"), rows(corpus / "expected.jsonl.gz"), strict=True):
        if case["id"] != answer["id"]:
            raise SystemExit(f"{corpus}: cases and answers are not in the same order")
        path = case["template"]
        source = (corpus / path).read_bytes().decode("utf-8") if path != before else None
        before = path
        yield driver_line(source, case, answer)


def built_in_cases(corpus):
    """Cases of templates that a built-in format is to be equal to, with the format's text in place of theirs."""
    for case, answer in zip(rows(corpus / "cases.jsonl.gz"), rows(corpus / "expected.jsonl.gz"), strict=True):
        if name := BUILT_IN.get(case["template"]):
            source = (ROOT / "formats" / f"{name}.jinja").read_text("utf-8")
            yield driver_line(source, case, {**answer, "id": f"{name} {answer['id']}"})


def language_cases(corpus):
    for case in rows(corpus / "jinja_language.jsonl"):
        yield driver_line(case["source"], case, case)


def run(driver, lines):
    """The differences {id: reason}, and the driver's count. Through a file: pipes could fill up on both sides."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as cases:
        cases.writelines(lines)
        cases.seek(0)
        done = subprocess.run([driver], stdin=cases, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"{driver} ended with {done.returncode}: {done.stderr[-500:]!r}")
    *differences, count = done.stdout.decode("utf-8", "replace").split("\n")[:-1]
    return dict(line.split("\t", 1) for line in differences), count


def known_differences():
    """The ids of the table under HEADING."""
    if not COMPATIBILITY.exists():
        return {}
    section = COMPATIBILITY.read_text("utf-8").partition(HEADING + "\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| (.*) \|$", section, re.MULTILINE))


def write_list(differences):
    text = COMPATIBILITY.read_text("utf-8") if COMPATIBILITY.exists() else "# Compatibility\n"
    known = known_differences()
    before, _, after = text.partition(HEADING + "\n")
    rest = after.partition("\n## ")
    table = "".join(f"| `{i}` | {known.get(i) or why.replace('|', '/')} |\n" for i, why in sorted(differences.items()))
    body = f"| id | reason |\n| --- | --- |\n{table}" if table else "None.\n"
    tail = rest[1] + rest[2] if rest[1] else ""
    COMPATIBILITY.write_text(f"{before.rstrip()}\n\n{HEADING}\n\n{body}{tail}", "utf-8")


def main(arguments):
    driver = arguments[0]
    corpus = corpus_folder()
    if not (corpus / "cases.jsonl.gz").exists():
        print(f"skipped: no corpus at {corpus}")
        return SKIPPED
    differences = {}
    cases = {"templates": template_cases, "built-in formats": built_in_cases, "language": language_cases}
    for name, lines in ((name, make(corpus)) for name, make in cases.items()):
        found, count = run(driver, lines)
        differences.update(found)
        print(f"{name}: {count}")
    if "--write" in arguments:
        write_list(differences)
    known = known_differences()
    new = {i: why for i, why in differences.items() if i not in known}
    gone = sorted(set(known) - set(differences))
    for i, why in list(new.items())[:SHOWN]:
        print(f"not in COMPATIBILITY.md: {i}: {why}")
    for i in gone[:SHOWN]:
        print(f"in COMPATIBILITY.md, but equal now: {i}")
    print(f"{len(differences)} differ, {len(new)} of them unknown; {len(gone)} known ones are gone")
    return 1 if new or gone else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
