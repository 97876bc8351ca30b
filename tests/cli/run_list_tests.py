#!/usr/bin/env python3
"""Tests of `parlance list`.

    run_list_tests.py path/to/parlance

What the tables hold is checked elsewhere (tools/docs.py, tests/runner.cpp); here it is the command: all entries, one of
them by name, alias or type, JSON, and names that do not exist.
"""

import json
import subprocess
import sys

import check

BINARY = sys.argv[1]
expect = check.Expectations()


def run(*arguments):
    done = subprocess.run([BINARY, "list", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def names(*arguments):
    return [row["name"] for row in json.loads(run(*arguments, "--json")[1])]


for kind, name in (("filters", "tojson"), ("tests", "defined"), ("globals", "range"), ("methods", "split"), ("go-functions", "printf"), ("errors", "type"), ("releases", "5.22.2")):
    code, text, _ = run(kind)
    expect(f"{kind} has {name}", code == 0 and f"{name}" in text, (code, text[:200]))
    expect(f"{kind} {name} alone", set(names(kind, name)) == {name}, names(kind, name))

expect("an alias finds its filter", names("filters", "d") == ["default"], names("filters", "d"))
expect("a type chooses among methods", len(names("methods", "str.count")) == 1, names("methods", "str.count"))
expect("a name alone has the methods of all types", len(names("methods", "count")) > 1, names("methods", "count"))

for arguments, hint in ((("filters", "tojsn"), "did you mean 'tojson'?"), (("filter",), "did you mean 'filters'?")):
    code, text, shown = run(*arguments)
    expect(f"{arguments} is refused", code == 2 and text == "" and hint in shown, (code, text, shown))
code, text, shown = run("models", "no-such-model")
expect("a model that is not on the disk", code == 3 and text == "" and "no-such-model" in shown, (code, text, shown))
expect("a list is required", run()[0] == 2, run())

expect.end()
