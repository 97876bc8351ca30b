#!/usr/bin/env python3
"""Lets the corpus's own score script drive the command line: `corpus_score.py path/to/parlance`.

The script is ../shared/tools/score_render.py beside the tree (or PARLANCE_SCORE); without it, or without the corpus,
the test is skipped (77).
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
SKIPPED = 77


def main(binary):
    script = pathlib.Path(os.environ.get("PARLANCE_SCORE") or SHARED / "tools" / "score_render.py")
    corpus = pathlib.Path(os.environ.get("PARLANCE_CORPUS") or SHARED / "corpus")
    if not script.exists() or not corpus.exists():
        print(f"skipped: no {script} or no {corpus}")
        return SKIPPED
    codes = [subprocess.run([sys.executable, "-B", script, binary, corpus, kind]).returncode
             for kind in ("jinja", "jinja-language")]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
