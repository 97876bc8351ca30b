#!/usr/bin/env python3
"""Verdicts of templates, and what depends on them: exit codes of `parlance check` and `parlance format`, and the variables of a request
where a command derives how its model replies.

    run_verdict_tests.py path/to/parlance [name...]
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import check

PLAIN = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"


def run(command, template, *arguments, stdin=""):
    """Exit code, output and errors of a command with a template; ids that were made up are nobody's."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "chat.jinja"
        path.write_text(template)
        done = subprocess.run([sys.argv[1], command, "-t", str(path), *arguments], input=stdin, capture_output=True, text=True)
        return done.returncode, done.stdout.replace(folder + "/", ""), done.stderr.replace(folder + "/", "")


# ---- templates that show nothing

NOTHING = {
    "": "the prompt is empty",
    "{{ nope.x }}": "the prompt is empty",
    "Hello": "the prompt does not hold the user's text",
    "{% for m in mesages %}{{ m.role }}: {{ m.content }}{% endfor %}": "did you mean 'messages'?",
    "{% for m in messages %}{{ m.contnt }}{% endfor %}": "the prompt is empty",
    "{% for m in messages %}{{ m.role }}{% endfor %}": "the prompt does not hold the user's text",
    "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}": "the prompt does not hold the answer",
    "{{ messages[0].nope.x }}": "chat.jinja:1:4: UndefinedError: 'dict object' has no attribute 'nope'",
    "one\n{{ raise_exception('never') }}": "chat.jinja:2:4: TemplateError: never",
    "{{ 'x' + 1 }}": "chat.jinja:1:4: TypeError",
}


def test_no_verdict_is_no_success():
    for template, why in NOTHING.items():
        code, out, _ = run("check", template, "--json")
        report = json.loads(out)
        assert code == 1 and report["verdict"] == "none" and report["holds"] is False, (template, code, out)
        assert why in report["missing"][0], (template, report)
        assert all(law["outcome"] in ("untried", "does not apply") for law in report["laws"]), (template, report)
        code, out, _ = run("check", template)
        assert code == 1 and why in out and "untried" in out, (template, out)


def test_a_format_of_nothing_is_no_success():
    for template, why in NOTHING.items():
        for option in ("--json", "--reply-format", "--response-template"):
            code, _, err = run("format", template, option)
            assert code == 1 and why in err.splitlines()[0], (template, option, code, err)
        code, out, err = run("format", template)
        assert code == 1 and why in out and err == "", (template, code, out, err)


def test_a_law_may_have_nothing_to_say():
    code, out, _ = run("check", PLAIN, "--json")
    report = json.loads(out)
    assert code == 0 and report["holds"] is True, out
    outcomes = {law["law"]: law["outcome"] for law in report["laws"]}
    assert outcomes["masks"] == "does not apply" and outcomes["read-back"] == "holds", outcomes
    tagged = PLAIN.replace("{{ m.content }}", "{% generation %}{{ m.content }}{% endgeneration %}")
    code, out, _ = run("check", tagged.replace("{% for", "{% if messages|length > 5 %}{% endif %}{% for"), "--json")
    assert {law["law"]: law["outcome"] for law in json.loads(out)["laws"]}["masks"] == "broken", out  # the user's text is inside as well


def test_a_partial_format_is_no_success():
    template = PLAIN.replace("<|assistant|>{% endif %}", "<|assistant|><|deep|>{% endif %}")
    code, out, _ = run("check", template, "--json")
    report = json.loads(out)
    assert code == 1 and report["verdict"] == "partial" and report["holds"] is False, out
    assert "<|deep|>" in report["missing"][0], report
    assert run("format", template, "--json")[0] == 0  # it is one to read with


if __name__ == "__main__":
    sys.exit(check.run_tests(sys.modules[__name__], "tests of verdicts"))
