#!/usr/bin/env python3
"""Compares the parser with Jinja2's: trees, lines of nodes, and every syntax error with its line.

    python3 tests/oracle/parse_oracle.py path/to/parse_dump [--mutants N] [--seed N] SOURCES...

A source is a .jinja file, a .jsonl file (the `source` fields of its lines) or a folder of such
files. All are parsed under the settings of transformers and under Jinja2's own; then N random mutants
of them. Known to differ: escapes that name a character, "\\N{EM DASH}". Ends with 0 when all agree.
Begin reading at main().
"""

import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols

SHOWN = 10
OPTIONS = {"110": (True, True, False), "000": (False, False, False), "011": (False, True, True)}


class Generation(Extension):
    """The tag of transformers, kept in the tree."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


def environments():
    for key, (trim, lstrip, keep) in OPTIONS.items():
        yield key, jinja2.Environment(
            trim_blocks=trim, lstrip_blocks=lstrip, keep_trailing_newline=keep,
            extensions=[Generation, loopcontrols])


# ---- Jinja2's nodes in the notation of src/jinja/syntax/printer.cpp

BINARY = {nodes.Add: "+", nodes.Sub: "-", nodes.Mul: "*", nodes.Div: "/", nodes.FloorDiv: "//",
          nodes.Mod: "%", nodes.Pow: "**", nodes.And: "and", nodes.Or: "or"}
UNARY = {nodes.Not: "not ", nodes.Neg: "-", nodes.Pos: "+"}
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">=", "in": "in",
           "notin": "not in"}


def string(text):
    def escape(match):
        c = match.group()
        if c in '"\\':
            return "\\" + c
        if c == "\n":
            return "\\n"
        return f"\\x{ord(c):02x}" if ord(c) < 0x80 else f"\\u{ord(c):04x}"
    return '"' + re.sub('["\\\\\x00-\x1f\x7f\ud800-\udfff]', escape, text) + '"'


def constant(value):
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string(value)
    return "1e999" if value == float("inf") else repr(value)


def arguments(n):
    parts = [expression(x) for x in n.args]
    parts += [f"{k.key}={expression(k.value)}" for k in n.kwargs]
    parts += ["*" + expression(n.dyn_args)] if n.dyn_args is not None else []
    parts += ["**" + expression(n.dyn_kwargs)] if n.dyn_kwargs is not None else []
    return "(" + ", ".join(parts) + ")"


def commas(items):
    return ", ".join(map(expression, items))


def slice_text(n):
    text = (expression(n.start) if n.start is not None else "") + ":"
    text += expression(n.stop) if n.stop is not None else ""
    return text + (":" + expression(n.step) if n.step is not None else "")


def subscript(n):
    key = n.arg
    plain = commas(key.items) if isinstance(key, nodes.Tuple) and len(key.items) != 1 else expression(key)
    return f"{expression(n.node)}[{plain}]"


def filter_text(n):
    if n.node is None:
        return n.name + arguments(n)
    return f"({expression(n.node)}|{n.name}{arguments(n)})"


def filter_chain(n):
    before = "" if n.node is None else filter_chain(n.node) + "|"
    return f"{before}{n.name}{arguments(n)}@{n.lineno}"


EXPRESSIONS = {
    nodes.Name: lambda n: n.name,
    nodes.NSRef: lambda n: f"{n.name}.{n.attr}",
    nodes.Const: lambda n: constant(n.value),
    nodes.TemplateData: lambda n: string(n.data),
    nodes.Tuple: lambda n: "(" + commas(n.items) + (",)" if len(n.items) == 1 else ")"),
    nodes.List: lambda n: "[" + commas(n.items) + "]",
    nodes.Dict: lambda n: "{" + ", ".join(
        f"{expression(p.key)}: {expression(p.value)}" for p in n.items) + "}",
    nodes.CondExpr: lambda n: f"({expression(n.expr1)} if {expression(n.test)}" + (
        f" else {expression(n.expr2)})" if n.expr2 is not None else ")"),
    nodes.Filter: filter_text,
    nodes.Test: lambda n: f"({expression(n.node)} is {n.name}{arguments(n)})",
    nodes.Call: lambda n: expression(n.node) + arguments(n),
    nodes.Getitem: subscript,
    nodes.Getattr: lambda n: f"{expression(n.node)}.{n.attr}",
    nodes.Slice: slice_text,
    nodes.Concat: lambda n: "(" + " ~ ".join(map(expression, n.nodes)) + ")",
    nodes.Compare: lambda n: f"({expression(n.expr)} " + " ".join(
        f"{COMPARE[o.op]} {expression(o.expr)}" for o in n.ops) + ")",
}
for kind, symbol in BINARY.items():
    EXPRESSIONS[kind] = lambda n, symbol=symbol: f"({expression(n.left)} {symbol} {expression(n.right)})"
for kind, symbol in UNARY.items():
    EXPRESSIONS[kind] = lambda n, symbol=symbol: f"({symbol}{expression(n.node)})"


def expression(n):
    return f"{EXPRESSIONS[type(n)](n)}@{n.lineno}"


def signature(n):
    first_default = len(n.args) - len(n.defaults)
    return "(" + ", ".join(
        expression(a) + (f"={expression(n.defaults[i - first_default])}" if i >= first_default else "")
        for i, a in enumerate(n.args)) + ")"


def context(n):
    return " with context" if n.with_context else " without context"


class Printer:
    def __init__(self):
        self.lines, self.depth = [], 0

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def tag(self, text, n=None):
        self.line("{% " + text + " %}" + (f"@{n.lineno}" if n is not None else ""))

    def body(self, statements):
        self.depth += 1
        for n in statements:
            getattr(self, "print_" + type(n).__name__)(n)
        self.depth -= 1

    def enclose(self, n, word, rest, body=None):
        self.tag(word + rest, n)
        self.body(n.body if body is None else body)
        self.tag("end" + word)

    def print_Output(self, n):
        for part in n.nodes:
            text = expression(part)
            self.line(text if isinstance(part, nodes.TemplateData) else "{{ " + text + " }}")

    def print_For(self, n):
        self.tag(f"for {expression(n.target)} in {expression(n.iter)}"
                 + (f" if {expression(n.test)}" if n.test is not None else "")
                 + (" recursive" if n.recursive else ""), n)
        self.body(n.body)
        if n.else_:
            self.tag("else")
            self.body(n.else_)
        self.tag("endfor")

    def print_If(self, n):
        self.tag("if " + expression(n.test), n)
        self.body(n.body)
        for branch in n.elif_:
            self.tag("elif " + expression(branch.test), branch)
            self.body(branch.body)
        if n.else_:
            self.tag("else")
            self.body(n.else_)
        self.tag("endif")

    def print_With(self, n):
        pairs = ", ".join(f"{expression(t)} = {expression(v)}" for t, v in zip(n.targets, n.values))
        self.enclose(n, "with", " " + pairs if pairs else "")

    def print_Assign(self, n):
        self.tag(f"set {expression(n.target)} = {expression(n.node)}", n)

    def print_AssignBlock(self, n):
        filters = "" if n.filter is None else "|" + filter_chain(n.filter)
        self.enclose(n, "set", " " + expression(n.target) + filters)

    def print_Macro(self, n):
        self.enclose(n, "macro", " " + n.name + signature(n))

    def print_CallBlock(self, n):
        self.enclose(n, "call", (signature(n) if n.args else "") + " " + expression(n.call))

    def print_FilterBlock(self, n):
        self.enclose(n, "filter", " " + filter_chain(n.filter))

    def print_Block(self, n):
        self.enclose(n, "block", " " + n.name + " scoped" * n.scoped + " required" * n.required)

    def print_Scope(self, n):
        inner = n.body[0] if len(n.body) == 1 else None
        if isinstance(inner, nodes.ScopedEvalContextModifier):
            self.enclose(inner, "autoescape", " " + expression(inner.options[0].value))
        else:
            self.enclose(n, "generation", "")

    def print_Break(self, n):
        self.tag("break", n)

    def print_Continue(self, n):
        self.tag("continue", n)

    def print_Include(self, n):
        self.tag("include " + expression(n.template) + " ignore missing" * n.ignore_missing + context(n), n)

    def print_Import(self, n):
        self.tag(f"import {expression(n.template)} as {n.target}{context(n)}", n)

    def print_FromImport(self, n):
        names = [x if isinstance(x, str) or x[0] != x[1] else x[0] for x in n.names]
        names = ", ".join(x if isinstance(x, str) else f"{x[0]} as {x[1]}" for x in names)
        self.tag(f"from {expression(n.template)} import{' ' + names if names else ''}{context(n)}", n)

    def print_Extends(self, n):
        self.tag("extends " + expression(n.template), n)


# ---- the two parsers

def jinja_answer(environment, source):
    try:
        tree = environment._parse(source, None, None)
        printer = Printer()
        printer.depth = -1
        printer.body(tree.body)
    except jinja2.TemplateSyntaxError as e:
        return type(e).__name__, e.lineno, e.message
    except (RecursionError, ValueError, SyntaxError, MemoryError) as e:
        return type(e).__name__, 0, str(e)
    return "tree", 0, "".join(line + "\n" for line in printer.lines)


class Dump:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def answer(self, options, source):
        data = source.encode("utf-8", "surrogatepass")
        self.process.stdin.write(f"{options} {len(data)}\n".encode() + data)
        self.process.stdin.flush()
        head = self.process.stdout.readline().split()
        text = self.process.stdout.read(int(head[-1])).decode("utf-8", "surrogatepass")
        return head[0].decode(), int(head[1]) if len(head) == 3 else 0, text


def same(want, got):
    if want[0] == "RecursionError":
        return True
    if want[0] in ("ValueError", "SyntaxError"):  # Python's own: no line of the template
        return want[0] == got[0]
    return want == got


# ---- sources and mutants

PIECE = re.compile(r"\{[{%#][-+]?|[-+]?[%}#]\}|\w+|\s+|'[^']*'|\"[^\"]*\"|.", re.S)
SPICE = [
    "{%", "%}", "{{", "}}", "{#", "#}", "{%-", "-%}", "{%+", "+%}", "{{-", "-}}", "{#-", "-#}", "(", ")", "[", "]",
    "{", "}", ".", ",", ":", "|", "~", "+", "-", "*", "**", "/", "//", "%", "==", "!=", "<", ">=", "=", "!", ";", "if",
    "else", "elif", "endif", "for", "in", "endfor", "is", "not", "and", "or", "set", "endset", "recursive", "macro",
    "endmacro", "call", "endcall", "filter", "endfilter", "with", "endwith", "block", "endblock", "scoped", "required",
    "raw", "endraw", "{% raw %}", "{% endraw %}", "autoescape", "endautoescape", "generation", "endgeneration", "break",
    "continue", "print", "include", "import", "from", "as", "extends", "context", "without", "ignore", "missing",
    "true", "None", "none", "x", "_x", "loop", "ns.a", "1", "0", "1.5", "1e5", "0x1F", "0b2", "1_000", "01", "1__0", "'a'",
    '"b"', "'\\n'", "'\\x4'", "'\\u12'", "'\\é'", "'", '"', "\\", "\n", "\n\n", " ", "\t", "\r\n", "\u00a0", "\u00e9",
    "\u0663", "\u0301", "\U0001f600", "\x00", "\x1c", "{% endif %}", "{% endfor %}", "{% else %}", "{% if x %}",
    "{% for a, b in c %}", "{% set x %}", "{% macro m(a, b=1) %}", "{% block b required %}", "{% call(x) f(1, *a, **k) %}",
    "{{ x is divisibleby 3 }}", "{{ x[1:2, ::3] }}", "{{ -x ** 2|f is g }}", "{# c #}", "{%- set ns.a = 1 -%}",
]


def mutant(random_, pieces):
    """A stretch of a template with a few pieces dropped, doubled, swapped or put in."""
    start = random_.randrange(len(pieces))
    part = pieces[start:start + random_.choice([5, 10, 30, 80, 300])] if random_.random() < 0.8 else list(pieces)
    for _ in range(random_.choice([0, 1, 1, 2, 3, 6])):
        i = random_.randrange(len(part) + 1)
        action = random_.randrange(5)
        if action == 0:
            del part[i:i + 1]
        elif action == 1:
            part[i:i] = part[i:i + random_.randrange(1, 4)]
        elif action == 2 and part:
            j = random_.randrange(len(part))
            part[i:i + 1], part[j:j + 1] = part[j:j + 1], part[i:i + 1]
        else:
            part.insert(i, random_.choice(SPICE))
    return "".join(part)


def read_sources(paths):
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            yield from read_sources(sorted(path.rglob("*.jinja")))
        elif path.suffix == ".jsonl":
            with open(path, encoding="utf-8") as lines:
                yield from (json.loads(line)["source"] for line in lines)
        else:
            yield path.read_bytes().decode("utf-8")


def main():
    arguments_parser = argparse.ArgumentParser()
    arguments_parser.add_argument("dump")
    arguments_parser.add_argument("--mutants", type=int, default=0)
    arguments_parser.add_argument("--seed", type=int, default=1)
    arguments_parser.add_argument("sources", nargs="+")
    options = arguments_parser.parse_args()
    dump, counts, shown = Dump(options.dump), collections.Counter(), 0
    settings = dict(environments())

    def compare(key, source):
        nonlocal shown
        want, got = jinja_answer(settings[key], source), dump.answer(key, source)
        counts["accepted" if want[0] == "tree" else "refused"] += 1
        if same(want, got) or "\\N{" in source:
            return
        counts["different"] += 1
        if shown < SHOWN:
            shown += 1
            print(f"options {key}: {source!r}\n  wanted {want}\n  got    {got}\n")

    sources = list(read_sources(options.sources))
    for source in sources:
        for key in OPTIONS:
            compare(key, source)
    print(f"{len(sources)} sources: {dict(counts)}")
    random_ = random.Random(options.seed)
    cut = [PIECE.findall(source) for source in sources if source]
    for i in range(options.mutants):
        compare(random_.choice(list(OPTIONS)), mutant(random_, random_.choice(cut)))
    print(f"and {options.mutants} mutants: {dict(counts)}")
    sys.exit(1 if counts["different"] else 0)


if __name__ == "__main__":
    main()
