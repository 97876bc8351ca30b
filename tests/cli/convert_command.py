"""`parlance convert`, for its tests: what it is given and what it says. Begin reading at written."""

import json
import subprocess
import sys

BINARY = sys.argv[1]
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "seed": 1}


def run(request, *arguments):
    """Exit code, output and errors."""
    given = request if isinstance(request, str) else json.dumps(request)
    done = subprocess.run([BINARY, "convert", *arguments], input=given, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def written(request, api, *arguments):
    """The request and the notes as (kind, path)."""
    code, out, err = run(request, "--as", api, "--json", *arguments)
    assert code == 0, err
    answer = json.loads(out)
    return answer["request"], {(note["kind"], note["path"]) for note in answer["notes"]}
