#!/usr/bin/env python3
"""Lets the corpus's own score script drive the command line: `corpus_score.py path/to/parlance [--share N]`.

The script is ../shared/tools/score_render.py beside the tree (or PARLANCE_SCORE); without it, or without the corpus,
the test is skipped (77). It takes the answers of Jinja2 3.1.2 where 3.1.6 differs, so what it may miss is what COMPATIBILITY.md
says under "Known differences on the corpus" and "Jinja2 3.1.2": nothing else, by id.

The script starts the command once for each template, and for each case of the language. With --share it gets one of N of the latter;
corpus_test.py, which starts no process for a case, has them all.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
SKIPPED = 77


def shared_out(corpus, share, folder):
    """A corpus in this folder with one of `share` cases of each language, and all else."""
    for path in corpus.iterdir():
        if path.name.endswith("_language.jsonl"):
            lines = path.read_bytes().split(b"\n")
            (folder / path.name).write_bytes(b"".join(line + b"\n" for line in lines[::share] if line))
        else:
            (folder / path.name).symlink_to(path.resolve())
    return folder


def score(binary, script, corpus):
    named = set(re.findall(r"`([a-z-]+-[0-9]+)`", (ROOT / "COMPATIBILITY.md").read_text(encoding="utf-8")))
    unknown = []
    for kind in ("jinja", "jinja-language", "go", "go-language"):
        command = [sys.executable, "-B", script, binary, corpus, kind, "--show", "1000000"]
        said = subprocess.run(command, capture_output=True, text=True).stdout
        print(said, end="")
        equal, total = map(int, re.search(r"(\d+) of (\d+) equal", said).groups())
        missed = [line.partition(":")[0] for line in said.splitlines()[: total - equal]]
        unknown += [name for name in missed if name not in named]
        if not total:
            unknown.append(f"no case of {kind}")
    print(f"missed and not known: {unknown}")
    return 1 if unknown else 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("binary")
    options.add_argument("--share", type=int, default=1)
    options = options.parse_args()
    script = pathlib.Path(os.environ.get("PARLANCE_SCORE") or SHARED / "tools" / "score_render.py")
    corpus = pathlib.Path(os.environ.get("PARLANCE_CORPUS") or SHARED / "corpus")
    if not script.exists() or not corpus.exists():
        print(f"skipped: no {script} or no {corpus}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        return score(options.binary, script, shared_out(corpus, options.share, pathlib.Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
