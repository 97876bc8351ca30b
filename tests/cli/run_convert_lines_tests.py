#!/usr/bin/env python3
"""Tests of `parlance convert --jsonl`: the answers, what is said of all lines together, and lines that are requests alone.

    run_convert_lines_tests.py path/to/parlance [NAME...]
"""

import json
import subprocess
import sys

import check
from convert_command import BINARY, CHAT, run


def test_lines_end_with_a_summary():
    rows = [{**CHAT, "source": "web"}, {**CHAT, "messages": [{**CHAT["messages"][0], "ts": 1}, {**CHAT["messages"][0], "ts": 2}]}, {"x": 1}]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    err = run(lines, "--as", "anthropic", "--jsonl")[2]
    assert "note: 2 of 3 lines lost something: 2 × messages[].ts, 2 × seed, 1 × source; `notes` of each line names it" in err, err
    assert "note: 2 of 3 lines lack what the API needs: 2 × max_tokens; --var sets it" in err, err
    err = run(lines, "--as", "openai", "--jsonl")[2]
    assert "note: 1 of 3 lines keep members that the API has not: 1 × source; `notes`" in err and "lost" not in err, err
    err = run(lines, "--as", "anthropic", "--jsonl", "-q")[2]
    assert "lost" not in err and "1 of 3 lines were answered by an error" in err, err
    assert "written in another way" not in run(lines, "--as", "anthropic", "--jsonl")[2]
    sharegpt = json.dumps({"conversations": [{"from": "human", "value": "Hi"}]}) + "\n"
    assert "1 of 1 lines have something that is written in another way: 1 × messages" in run(sharegpt, "--as", "openai", "--jsonl", "-v")[2]


def test_bare_lines_are_requests():
    rows = [{"id": 7, "conversations": [{"from": "human", "value": "Hi"}], "split": "train"}, {"id": 8}, {**CHAT, "id": "z"}]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    code, out, err = run(lines, "--as", "openai", "--jsonl", "--bare", "--keep", "split")
    first, second, third = map(json.loads, out.splitlines())
    assert code == 0 and first == {"id": 7, "messages": [{"role": "user", "content": "Hi"}], "split": "train"}, first
    assert second["id"] == 8 and second["line"] == 2 and second["error"] and third == {"id": "z", **CHAT}, (second, third)
    assert "`notes` of each line" not in err and "1 × split" in err, err
    for api in ("openai", "anthropic", "responses"):
        bare = run(lines, "--as", api, "--jsonl", "--bare")[1]
        done = subprocess.run([BINARY, "render", "-f", "chatml", "--jsonl"], input=bare, capture_output=True, text=True)
        texts = [json.loads(line) for line in done.stdout.splitlines()]
        assert [(one["id"], "text" in one) for one in texts] == [(7, True), (8, False), ("z", True)], texts
        assert texts[0]["text"] == texts[2]["text"] and "user\nHi" in texts[0]["text"], texts
        assert texts[1]["error"]["hint"].startswith("the row is an error itself: the request has no `messages`"), texts[1]
    code, _, err = run(json.dumps(CHAT), "--as", "openai", "--bare")
    assert code == 2 and "--bare is for --jsonl" in err, err
    wrapped = run(lines, "--as", "openai", "--jsonl")[1]
    done = subprocess.run([BINARY, "render", "-f", "chatml", "--jsonl"], input=wrapped, capture_output=True, text=True)
    assert "stands in `request`; parlance convert --bare writes it alone" in json.loads(done.stdout.splitlines()[0])["error"]["hint"], done.stdout


def test_lines():
    lines = [{"id": 7, **CHAT}, {"id": 8}, {"id": 9, **CHAT, "seed": None}]
    code, out, err = run("".join(json.dumps(line) + "\n" for line in lines) + "{\n", "--as", "responses", "--jsonl")
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and "2 of 4 lines were answered by an error" in err, err
    assert [answer.get("id") for answer in answers] == [7, 8, 9, None]
    assert answers[0]["request"] == answers[2]["request"] == {"input": [{"type": "message", **CHAT["messages"][0]}], "store": False, "model": "m"}
    assert [note["path"] for note in answers[0]["notes"]] == ["seed"] and answers[2]["notes"] == []
    assert answers[1]["error"]["code"] == "conversation" and answers[3]["error"]["line"] == 4
    assert run("{\n", "--as", "responses", "--jsonl", "--fail-on-error")[0] == 1


sys.exit(check.run_tests(sys.modules[__name__], "tests of parlance convert --jsonl"))
