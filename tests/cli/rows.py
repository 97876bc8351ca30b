"""Rows of data sets for tests of the command line: a folder with a template, requests, and a command run there.

The program under test is the first argument of the script that imports this.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
TEMPLATE = "{% for m in messages %}[{{ m.content }}]{% endfor %}"
TOKENIZER = pathlib.Path(__file__).resolve().parent.parent / "tokenizers/chatml"


@contextlib.contextmanager
def world():
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        (folder / "t.jinja").write_text(TEMPLATE, "utf-8")
        yield folder


def row(said, **more):
    return {"messages": [{"role": "user", "content": said}], **more}


def turns(question, answer, **more):
    return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}], **more}


def lines_of(rows):
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in rows)


def run(folder, *words, stdin="", code=0, **environment):
    """A command: what it printed, and what it said on standard error."""
    stdin = stdin if isinstance(stdin, bytes) else stdin.encode()
    done = subprocess.run([BINARY, *map(str, words)], input=stdin, capture_output=True, cwd=folder, timeout=120,
                          env={**os.environ, **environment})
    said = done.stderr.decode("utf-8", "replace")
    assert done.returncode == code, f"{words} ends with {done.returncode}, not {code}\n{done.stdout[:500]}\n{said[:800]}"
    return done.stdout, said


def answers(out):
    return [json.loads(line) for line in out.splitlines()]


def has(text, *parts):
    for part in parts:
        assert part in text, f"no {part!r} in\n{text}"


def render_lines(folder, *words, **options):
    return run(folder, "render", "-t", "t.jinja", "--jsonl", *words, **options)
