"""What the tests of losses share: commands that tell what a prompt lacks."""

import json
import pathlib
import subprocess
import sys
import tempfile

BINARY = sys.argv[1]
ONLY_TEXT = "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
PARTS = "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}" \
        "{% if p.type == 'text' %}{{ p.text }}{% else %}<img>{% endif %}{% endfor %}{% endif %}{% endfor %}"
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"place\": \"Lima\"}"}}
LOOP = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [CALL]}]}


def run(template, request, *options, lines=False):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "t.jinja"
        path.write_text(template)
        text = "".join(json.dumps(one) + "\n" for one in request) if lines else json.dumps(request)
        return subprocess.run([BINARY, "render", "-t", path, "--no-generation-prompt", *options], input=text, capture_output=True, text=True)


def losses(template, request, *options):
    done = run(template, request, "--json", *options)
    return [(one["kind"], one["subject"], one["path"]) for one in json.loads(done.stdout)["losses"]]


def losses_of_each(template, requests, *options):
    """Of several requests by one command."""
    done = run(template, requests, "--jsonl", "--json", *options, lines=True)
    return [[(one["kind"], one["subject"], one["path"]) for one in json.loads(line)["losses"]] for line in done.stdout.split("\n")[:-1]]


def user(content):
    return {"messages": [{"role": "user", "content": content}]}
