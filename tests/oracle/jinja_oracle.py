"""The oracle of the Jinja engine: Hugging Face transformers' own chat-template code, driven as it stands.

Leans on transformers.utils.chat_template_utils: its environment (`_compile_jinja_template`) and its counting of
generation spans (`_render_with_assistant_indices`). Nothing of it is written again here; only its clock is fixed.
Begin at `render`. Run with the Python that setup.sh makes:

    jinja_oracle.py < cases.jsonl > answers.jsonl

A case is {"id", "source" (text) or "template" (path), "context", "settings"?}. An answer is
{"id", "output", "generation"} with spans in code points, or {"id", "error", "message", "phase", "line"?}.
"""
import datetime
import json
import os
import pathlib
import sys
import warnings

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # says nothing about a missing torch
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import jinja2  # noqa: E402
from jinja2.sandbox import SandboxedEnvironment  # noqa: E402
from transformers.utils import chat_template_utils  # noqa: E402

NOW = datetime.datetime(2026, 3, 14, 15, 9, 26)


class FixedClock(datetime.datetime):
    """A datetime whose now() stands still; `strftime_now` looks the name up in its module at every call."""

    @classmethod
    def now(cls, tz=None):
        return NOW


chat_template_utils.datetime = FixedClock
warnings.simplefilter("ignore", SyntaxWarning)  # Python's opinion of the code that Jinja2 makes of a template


class Given:
    """A compiled template that is rendered with exactly one context.

    transformers always passes messages, tools, documents and add_generation_prompt. A test context holds all
    that the template may see, so what transformers passes is set aside; its loop and its counting stay in use.
    """

    def __init__(self, template, context):
        self.environment = template.environment
        self.template, self.context = template, context

    def generate(self, **_):
        return self.template.generate(self.context)


def compile_template(source, settings=None):
    """transformers' compiled template; with settings, from a new environment of its making with those changed."""
    if not settings:
        return chat_template_utils._compile_jinja_template(source)
    environment = chat_template_utils._compile_jinja_template.__wrapped__("").environment
    for name, value in settings.items():
        if name == "allow_changes":  # the sandbox that refuses no change, of which transformers' is the stricter one
            environment.is_safe_attribute = SandboxedEnvironment.is_safe_attribute.__get__(environment)
            continue
        if not hasattr(environment, name):
            raise ValueError(f"no such setting of the environment: {name}")
        setattr(environment, name, value)
    return environment.from_string(source)


def failure(error, phase):
    answer = {"error": type(error).__name__, "message": str(error), "phase": phase}
    if isinstance(error, jinja2.TemplateSyntaxError):
        answer["line"] = error.lineno
    return answer


def render(source, context, settings=None):
    """The answer to one case, without its id."""
    try:
        template = compile_template(source, settings)
    except Exception as error:  # whatever it is, its class is the answer
        return failure(error, "compile")
    try:
        text, spans = chat_template_utils._render_with_assistant_indices(
            Given(template, context), None, None, None, None)
    except Exception as error:
        return failure(error, "render")
    return {"output": text, "generation": [list(span) for span in spans]}


def dumps(value):
    """One line of JSON, readable unless it holds a lone surrogate, which UTF-8 has no place for."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value)
    return text


def main():
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for line in sys.stdin:
        case = json.loads(line)
        source = case.get("source")
        if source is None:
            source = pathlib.Path(case["template"]).read_bytes().decode("utf-8")
        answer = render(source, case["context"], case.get("settings"))
        print(dumps({"id": case["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
