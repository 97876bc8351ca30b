#!/usr/bin/env python3
"""Tests of `parlance read`.

    run_read_tests.py path/to/parlance

What replies mean is checked elsewhere (tests/unit/reply_test.cpp, tests/oracle/reply_oracle.py); here it is the command: files and
standard input, pieces, events as they come, whole prompts, and what is refused.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import check

BINARY = sys.argv[1]
REPLY = b'<think>\nR \xc3\xa9\n</think>\n\nC \xf0\x9f\x99\x82\n<tool_call>\n{"name": "f", "arguments": {"a": "\xe4\xb8\xad"}}\n</tool_call><|im_end|>\n'
expect = check.Expectations()


def run(*arguments, reply=REPLY):
    done = subprocess.run([BINARY, "read", *arguments], input=reply, capture_output=True)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


whole = run("-f", "hermes")
message = json.loads(whole[1])["message"]
expect("a message", (message["reasoning_content"], message["content"]) == ("R é", "C 🙂"), whole)
expect("its call", json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"a": "中"}, message)
expect("- is standard input", run("-f", "chatml", "-") == whole, "")
for size in ("1", "2", "3", "7", "1000000"):
    expect(f"pieces of {size}", run("-f", "chatml", "--chunks", size) == whole, size)
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "reply.txt"
    path.write_bytes(REPLY)
    expect("a file", run("-f", "chatml", str(path), reply=b"") == whole, "")

for size in ("1", "5", "4096"):
    events = [json.loads(line) for line in run("-f", "chatml", "--stream", "--chunks", size)[1].splitlines()]
    sources = "".join(e.get("source", e.get("text", "")) for e in events if e["type"] != "malformed")
    expect(f"sources of events by {size} are the reply", sources.encode() == REPLY, sources)
    arguments = "".join(e["text"] for e in events if e["type"] == "arguments")
    expect("arguments of events", arguments == '{"a": "中"}', arguments)

# Events are there before the reply is over.
with subprocess.Popen([BINARY, "read", "-f", "chatml", "--stream"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
    process.stdin.write(b"Hello")
    process.stdin.flush()
    first = json.loads(process.stdout.readline())
    expect("an event at once", first["type"] == "content" and first["text"] == "Hello", first)
    process.stdin.close()

shown = run("-f", "chatglm3", "--show-format")[1]
expect("a format is JSON", json.loads(shown)["prompt"] == "<|assistant|>", shown)
prompt = b"<|user|>\nHi\n<|assistant|>\nHello"
request = json.loads(run("-f", "chatglm3", "--conversation", reply=prompt)[1])
expect("a prompt is a request", request == {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}, request)

for arguments, reply, code, words in (
        ((), REPLY, 2, "give -f FORMAT"),
        (("-f", "chatglm4"), REPLY, 3, "did you mean 'chatglm3'?"),
        (("-t", "formats/rnj-1.jinja"), REPLY, 2, "not derived yet"),
        (("-m", "model.gguf"), REPLY, 2, "not derived yet"),
        (("-f", "chatml", "--chunks", "0"), REPLY, 2, "--chunks"),
        (("-f", "chatml", "--conversation"), REPLY, 1, "no turns"),
        (("-f", "chatglm3", "--conversation"), b"Hello", 1, "does not begin with a turn"),
        (("-f", "chatglm3", "--conversation", "--stream"), b"", 2, "whole prompt"),
        (("-f", "chatml", "nowhere.txt"), b"", 3, "nowhere.txt")):
    got = run(*arguments, reply=reply)
    expect(f"{arguments} is refused", got[0] == code and got[1] == "" and words in got[2], got)

expect.end()
