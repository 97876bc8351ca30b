#!/usr/bin/env python3
"""The reference: real Jinja2 with the settings of transformers' apply_chat_template.

Speaks the protocol of ../README.md; `render -t TEMPLATE CONTEXT.json` prints one prompt. The clock
stands still, so that templates which print the date give the same text in every engine.
"""

import datetime
import json
import platform
import sys

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import CallBlock
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine import serve

NOW = datetime.datetime(2026, 3, 14, 15, 9, 26)


class GenerationTag(Extension):
    """{% generation %} … {% endgeneration %} as a call block, as transformers has it."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return CallBlock(self.call_method("pass_through"), [], [], body).set_lineno(line)

    def pass_through(self, caller):
        return caller()


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def raise_exception(message):
    raise jinja2.TemplateError(message)


def make_environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, loopcontrols]
    )
    env.filters["tojson"] = to_json
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


class Engine:
    version = f"{jinja2.__version__}, CPython {platform.python_version()}"

    def __init__(self):
        self.env = make_environment()

    def load(self, command):
        with open(command["template"], encoding="utf-8") as f:
            self.source = f.read()
        with open(command["context"], "rb") as f:
            self.context_text = f.read()
        self.template = self.env.from_string(self.source)
        self.context = json.loads(self.context_text)

    def compile(self):
        return self.env.from_string(self.source)

    def render(self):
        return self.template.render(self.context)

    def e2e(self):
        return self.template.render(json.loads(self.context_text)).encode()


def main():
    if sys.argv[1:3] == ["render", "-t"] and len(sys.argv) == 5:
        engine = Engine()
        engine.load({"template": sys.argv[3], "context": sys.argv[4]})
        sys.stdout.buffer.write(engine.e2e())
    else:
        serve(Engine())


if __name__ == "__main__":
    main()
