#!/usr/bin/env python3
"""Holds the methods that --allow-changes lets a template call against Jinja2's own sandbox, the one that lets lists and dicts be changed.

    changes_oracle.py path/to/parlance [--count N] [--seed N]

Templates at random: a list or a dict, calls of its methods with arguments that are right and wrong, and what it is then. Compared are the
text, or the message of the error; of a wrong number of arguments only that it is one, which each of C's methods words otherwise. Ends with 1 on a difference, with 77 without Jinja2. Begin reading at main.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

try:
    from jinja2.sandbox import SandboxedEnvironment
except ImportError:
    print("skipped: run tests/oracle/setup.sh first")
    sys.exit(77)

WRONG_NUMBER = re.compile(r"missing \d+ required|takes .*arguments?|expected (at least )?\d+ arguments?")
NUMBERS = ["0", "1", "2", "1.0", "true", "-3", "2.5", "10"]
TEXTS = ["'a'", "'B'", "'b'", "'é'", "''"]
LISTS = ["[]", "[1]", "[1, 2]", "[1, 'a']"]
ANY = [*NUMBERS, *TEXTS, *LISTS, "none", "(1, 2)"]
KEYS = ["1", "'a'", "2.0", "none", "(1, 2)", "'b'", "true"]
POSITIONS = ["0", "1", "-1", "-2", "7", "true", "'x'", "1.5", "none"]
OTHERS = ["{}", "{'a': 2}", "{1.0: 'x', 'c': none}", "[('b', 2), [1, 3]]", "[]", "['ab', 'cd']", "1", "'x'", "[1]", "[(1, 2, 3)]", "none"]
ON_LISTS = {"append": [ANY], "extend": [[*LISTS, *TEXTS, "1", "{'k': 2}"]], "insert": [POSITIONS, ANY], "pop": [POSITIONS], "remove": [ANY],
            "reverse": [], "clear": [], "sort": []}
ON_DICTS = {"pop": [KEYS, ANY], "popitem": [], "setdefault": [KEYS, ANY], "update": [OTHERS], "clear": []}
OF_SORT = ["", "", "", "reverse=true", "reverse=false", "key=none", "key=none, reverse=1", "reverse=-2", "reverse=none", "reverse='x'"]


def call_of(rng, name, places):
    """The call, mostly with as many arguments as it takes."""
    if name == "sort":
        return f"sort({rng.choice(OF_SORT)})"
    given = len(places) if rng.random() < 0.8 else rng.randrange(len(places) + 1)
    return f"{name}({', '.join(rng.choice(values) for values in places[:given])})"


def template_of(rng):
    methods = rng.choice([ON_LISTS, ON_LISTS, ON_DICTS])
    if methods is ON_LISTS:
        pool = rng.choice([NUMBERS, TEXTS, LISTS[:3], ANY])
        made = "[" + ", ".join(rng.choice(pool) for _ in range(rng.randrange(rng.choice([3, 8, 90])))) + "]"
    else:
        made = "{" + ", ".join(f"{key}: {rng.choice(ANY)}" for key in rng.sample(KEYS, rng.randrange(len(KEYS)))) + "}"
    calls = [call_of(rng, *rng.choice(list(methods.items()))) for _ in range(rng.randrange(1, 5))]
    return "{% set v = " + made + " %}" + "".join("{{ v." + call + " }};" for call in calls) + "{{ v }}"


def compared(said):
    """A result, as it is compared."""
    text, error = said
    return text, WRONG_NUMBER.search(error) and "arguments" or error if error else error


def python_says(environment, template):
    try:
        return environment.from_string(template).render(), None
    except Exception as error:  # whatever Python makes of it
        return None, str(error)


def parlance_says(program, folder, template):
    path = pathlib.Path(folder, "t.jinja")
    path.write_text(template, "utf-8")
    done = subprocess.run([program, "render", "-t", str(path), "--allow-changes", "--as-is", "--jsonl"], input='{"messages": []}\n', capture_output=True, text=True)
    said = json.loads(done.stdout)
    return (None, said["error"]["message"]) if "error" in said else (said["text"], None)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--count", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    rng, environment = random.Random(options.seed), SandboxedEnvironment()
    failed = faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.count):
            template = template_of(rng)
            wanted, found = python_says(environment, template), parlance_says(options.program, folder, template)
            failed += wanted[0] is None
            if compared(wanted) != compared(found):
                faults += 1
                if faults <= 20:
                    print(f"{template}\n  Python   {wanted}\n  parlance {found}")
    print(f"{options.count} templates, {failed} of them fail in Python, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
