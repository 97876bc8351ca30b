#!/usr/bin/env python3
"""Data sets on the command line: what --jsonl reads and refuses, how a run goes on, what rows keep, what is said at the end.

    run_data_tests.py path/to/parlance [NAME...]

Each test is a function below. Begin reading at run.
"""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile

import check

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
TEMPLATE = "{% for m in messages %}[{{ m.content }}]{% endfor %}"


@contextlib.contextmanager
def world():
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        (folder / "t.jinja").write_text(TEMPLATE, "utf-8")
        yield folder


def row(said, **more):
    return {"messages": [{"role": "user", "content": said}], **more}


def lines_of(rows):
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in rows)


def run(folder, *words, stdin="", code=0):
    """A command: what it printed, and what it said on standard error."""
    stdin = stdin if isinstance(stdin, bytes) else stdin.encode()
    done = subprocess.run([BINARY, *map(str, words)], input=stdin, capture_output=True, cwd=folder, timeout=120)
    said = done.stderr.decode("utf-8", "replace")
    assert done.returncode == code, f"{words} ends with {done.returncode}, not {code}\n{done.stdout[:500]}\n{said[:800]}"
    return done.stdout, said


def render(folder, *words, **options):
    return run(folder, "render", "-t", "t.jinja", "--jsonl", *words, **options)


def answers(out):
    return [json.loads(line) for line in out.splitlines()]


def has(text, *parts):
    for part in parts:
        assert part in text, f"no {part!r} in\n{text}"


# ---- exit codes


def test_a_run_without_one_good_line_is_no_success(folder):
    has(render(folder, stdin=lines_of([{"x": 1}, {"x": 2}]), code=1)[1], "2 of 2 lines were answered by an error")
    render(folder, stdin=lines_of([{"x": 1}, row("Hi")]))
    render(folder, "--fail-on-error", stdin=lines_of([{"x": 1}, row("Hi")]), code=1)
    render(folder, "--fail-on-error", stdin=lines_of([row("Hi")]))
    render(folder, stdin="")
    render(folder, stdin="\n\n")
    run(folder, "read", "-f", "terminal-agent", "--jsonl", stdin=lines_of([{"id": 1}]), code=1)
    run(folder, "convert", "--as", "openai", "--jsonl", stdin=lines_of([{"id": 1}]), code=1)


# ---- going on


def test_lines_are_skipped_and_keep_their_numbers(folder):
    rows = [row("a", id="a"), "", {"id": "b"}, row("c", id="c"), {"id": "d"}]
    out, said = render(folder, "--skip-lines", 2, stdin=lines_of(rows))
    found = answers(out)
    assert [(one["id"], one.get("line")) for one in found] == [("b", 3), ("c", None), ("d", 5)], found
    has(said, "2 of 3 lines were answered by an error", 'line 3 (id "b")', 'line 5 (id "d")')
    out, said = render(folder, "--skip-lines", 9, stdin=lines_of(rows))
    assert out == b""
    has(said, "--skip-lines 9: the input has 5 lines")
    has(run(folder, "render", "-t", "t.jinja", "--skip-lines", 2, stdin="{}", code=2)[1], "--skip-lines is for --jsonl")


def test_ids_of_the_last_turn_are_those_of_the_line_behind_skipped_ones(folder):
    tokenizer = pathlib.Path(__file__).resolve().parent.parent / "tokenizers/chatml/tokenizer.json"
    words = ("tokens", "-f", "chatml", "--tokenizer", tokenizer, "--jsonl")
    chats = [row(text) for text in ("a", "b", "c")]
    ids, _ = run(folder, *words, stdin=lines_of(chats))
    (folder / "ids.jsonl").write_bytes(ids)
    longer = [{"messages": [*one["messages"], {"role": "assistant", "content": "x"}, {"role": "user", "content": "y"}]} for one in chats]
    whole, _ = run(folder, *words, "--extend", "ids.jsonl", stdin=lines_of(longer))
    rest, _ = run(folder, *words, "--extend", "ids.jsonl", "--skip-lines", 1, stdin=lines_of(longer))
    assert whole.splitlines()[1:] == rest.splitlines() and len(answers(rest)) == 2, (whole, rest)


# ---- what rows keep


def test_members_of_a_row_are_kept(folder):
    rows = [row("a", id=1, source="web", split="train", meta={"n": [1.5, None]}), row("b", source="book"), {"id": 3, "source": "bad"}]
    out, said = render(folder, "--keep", "source,meta", "--keep", "nothing", stdin=lines_of(rows))
    first, second, third = answers(out)
    assert (
        list(first) == ["id", "source", "meta", "text", "generation"] and first["source"] == "web" and first["meta"] == {"n": [1.5, None]}
    ), first
    assert list(second) == ["source", "text", "generation"], second
    assert third["source"] == "bad" and third["line"] == 3 and third["id"] == 3 and third["error"], third
    has(said, "--keep nothing: no line has it")
    out, said = render(folder, "--keep", "all", stdin=lines_of(rows))
    assert list(answers(out)[0]) == ["id", *list(rows[0])[:1], "source", "split", "meta", "text", "generation"], out
    assert answers(out)[0]["messages"] == rows[0]["messages"] and "no line" not in said


def test_a_member_that_the_answer_has_itself_is_told(folder):
    out, said = render(folder, "--keep", "text,source", stdin=lines_of([row("a", text="the row's", source="web"), row("b")]))
    assert answers(out)[0]["text"] == "[a]" and answers(out)[0]["source"] == "web"
    has(said, "--keep text: the answer has a member of this name, which stands in 1 of 2 lines in place of the row's")


def test_keep_goes_with_each_command(folder):
    rows = lines_of([row("a", reply="Hello", source="web")])
    for words in (("read", "-f", "terminal-agent"), ("convert", "--as", "responses")):
        assert answers(run(folder, *words, "--jsonl", "--keep", "source", stdin=rows)[0])[0]["source"] == "web", words
    for keep in ("source,", ",source", "a,,b"):
        has(render(folder, "--keep", keep, stdin=rows, code=2)[1], "a name is empty")
    has(run(folder, "render", "-t", "t.jinja", "--keep", "source", stdin="{}", code=2)[1], "--keep is for --jsonl")


sys.exit(check.run_tests(sys.modules[__name__], "tests of data sets", world))
