#!/usr/bin/env python3
"""The reference: real Jinja2 with the settings of transformers' apply_chat_template.

Speaks the protocol of ../README.md; `render -t TEMPLATE CONTEXT.json` prints one prompt. The clock
stands still, so that templates which print the date give the same text in every engine.
"""

import datetime
import json
import platform
import statistics
import sys
import time

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import CallBlock
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2026, 3, 14, 15, 9, 26)
SAMPLE_S = 20e-6
MIN_SAMPLES = 3


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


def run_batch(operation, count):
    start = time.perf_counter()
    for _ in range(count):
        operation()
    return time.perf_counter() - start


def measure(operation, min_s):
    batch = 1
    while run_batch(operation, batch) < SAMPLE_S:
        batch *= 2
    samples, total = [], 0.0
    while total < min_s or len(samples) < MIN_SAMPLES:
        took = run_batch(operation, batch)
        samples.append(took / batch)
        total += took
    return {"ns_per_op": statistics.median(samples) * 1e9, "ops": batch * len(samples)}


def obey(engine, command):
    name = command["cmd"]
    if name == "hello":
        return {"version": f"{jinja2.__version__}, CPython {platform.python_version()}"}
    if name == "load":
        engine.load(command)
    elif name == "bench":
        return measure(getattr(engine, command["metric"]), command.get("min_ms", 50) / 1e3)
    elif name == "output":
        with open(command["to"], "wb") as f:
            f.write(engine.e2e())
    return {"ok": True}


def serve():
    engine = Engine()
    for line in sys.stdin:
        try:
            reply = obey(engine, json.loads(line))
        except Exception as e:  # a template may fail in any way; that is an answer
            reply = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(reply), flush=True)


def main():
    if sys.argv[1:3] == ["render", "-t"] and len(sys.argv) == 5:
        engine = Engine()
        engine.load({"template": sys.argv[3], "context": sys.argv[4]})
        sys.stdout.buffer.write(engine.e2e())
    else:
        serve()


if __name__ == "__main__":
    main()
