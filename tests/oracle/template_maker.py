"""Makes random small templates and contexts by a grammar, and new templates out of old ones.

Leans on template_tables (what exists) and chat_tables (how it is used), nothing else. Begin at Maker.template; every choice comes from one random
generator, so a seed gives the same templates again. Kinds are the letters of template_tables, and are mostly kept to,
so that about two thirds of the templates render and the rest fail in every way there is.
"""
import json
import re

import chat_tables as chats
import template_tables as tables

TOKEN = re.compile(r"""\{[%{#][-+]?|[-+]?[%}#]\}|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\w+|\s+|.""", re.S)
HOLE = re.compile(r"@(\w+)(!?)@")
DICT_NAMES = ("fromkeys", "fromkeys", "items", "get", "copy", "nope", "__call__")
WRONG = 0.015  # how often a kind, an argument or their number is not what fits


def quote(text, mark="'"):
    """A text as a template's literal."""
    body = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("\\/", "/")
    return mark + re.sub(r"[\x7f-\xa0\u2028\u2029\u200b]", lambda c: f"\\u{ord(c[0]):04x}", body).replace(
        mark, "\\" + mark) + mark


class Maker:
    def __init__(self, random):
        self.random = random
        self.scope = {}  # names that the template itself has set, with their kinds
        self.macros = []  # (name, number of arguments)
        self.spaces = []  # namespaces
        self.loops = 0  # how many loops are open where we are, counted from the nearest macro
        self.captured = False  # inside something whose text is taken up first: break is not allowed through it
        self.budget = 0

    # Small choices.

    def chance(self, share):
        return self.random.random() < share

    def one(self, choices):
        return self.random.choice(choices)

    def pick(self, *ways):
        """One of (weight, function), called."""
        return self.random.choices([way for _, way in ways], [weight for weight, _ in ways])[0]()

    # Contexts.

    def value(self, kind, depth=2):
        if kind == "a":
            kind = self.one("ifslbdn")
        if kind in "ld" and depth == 0:
            kind = "s"
        if kind == "l":
            member = self.one("isfad")
            return [self.value(member, depth - 1) for _ in range(self.random.randrange(5))]
        if kind == "d":
            keys = self.random.sample(["k", "key", "b", "A", "items", "1", "", "é"], self.random.randrange(4))
            return {key: self.value("a", depth - 1) for key in keys}
        pools = {"i": tables.INTS, "f": tables.FLOATS, "s": tables.TEXTS, "b": [True, False], "n": [None]}
        return self.one(pools[kind])

    def context(self):
        context = {name: self.value(kind) for kind, names in tables.NAMES.items() for name in names}
        del context["gone"]
        context["zero"] = 0
        context["n"] = self.random.randrange(-3, 12)
        context["ms"] = [{"role": role, "content": self.value("s"), "k": self.value(self.one("isa"))}
                         for role in ["system", "user", "assistant", "tool"][self.random.randrange(2):]]
        context["messages"] = self.messages()
        context["tools"] = [{"type": "function", "function": {"name": f"f{at}", "description": self.value("s"),
                                                              "parameters": self.one(chats.SCHEMAS)}}
                            for at in range(self.random.randrange(3))] if self.chance(0.8) else None
        context["tree"] = self.tree(3)
        context.update(bos_token="<s>", eos_token="</s>", add_generation_prompt=self.chance(0.5))
        context["xs"] = [self.random.randrange(-5, 10) for _ in range(self.random.randrange(6))]
        return context

    def messages(self):
        made = []
        for role in self.random.choices(["system", "user", "assistant", "tool"], [1, 4, 4, 1], k=self.random.randrange(6)):
            message = {"role": role, "content": self.one(chats.CONTENTS)}
            if role == "assistant" and self.chance(0.5):
                message["tool_calls"] = [
                    {"id": f"c{at}", "function": {"name": f"f{at}", "arguments": self.one(chats.ARGUMENTS)}}
                    for at in range(self.random.randrange(3))]
            made.append(message)
        return made

    def tree(self, depth):
        kids = range(self.random.randrange(3) if depth else 0)
        return [{"name": self.value("s"), **({"kids": self.tree(depth - 1)} if self.chance(0.8) else {})} for _ in kids]

    # Expressions.

    def expression(self, kind="a", depth=3):
        if self.chance(WRONG):
            kind = "a"
        if kind == "a":
            kind = self.one("iiffsssslllddbn")
        self.budget -= 1
        if depth <= 0 or self.budget <= 0 or self.chance(0.25):
            return self.pick((3, lambda: self.name(kind)), (2, lambda: self.literal(kind, depth)))
        maker = getattr(self, "make_" + kind)
        return self.pick((12, lambda: maker(depth - 1)), (5, lambda: self.filtered(kind, depth - 1)),
                         (4, lambda: self.method(kind, depth - 1)), (5, lambda: self.idiom(kind, depth - 1)), (1, lambda: self.conditional(kind, depth - 1)),
                         (1, lambda: self.member(kind, depth - 1)), (1, lambda: self.bracketed(kind, depth - 1)))

    def name(self, kind):
        own = [name for name, known in self.scope.items() if known == kind]
        if own and self.chance(0.5):
            return self.one(own)
        if self.loops and kind in "ib" and self.chance(0.4):
            return "loop." + self.one([member for member, gives in tables.LOOP_MEMBERS if gives == kind])
        if kind in "as" and self.spaces and self.chance(0.3):
            return f"{self.one(self.spaces)}.v"
        return "gone" if self.chance(WRONG) else self.one(tables.NAMES[kind])

    def literal(self, kind, depth=1):
        if kind == "i":
            return str(self.one(tables.INTS) if self.chance(0.1) else self.random.randrange(10))
        if kind == "f":
            return repr(abs(self.one(tables.FLOATS)))
        if kind == "s":
            return quote(self.one(tables.TEXTS), self.one("'\""))
        if kind == "b":
            return self.one(["true", "false", "True", "False"])
        if kind == "n":
            return self.one(["none", "None"])
        members = range(self.random.randrange(4) if depth > 0 else 0)
        if kind == "d":
            return "{" + ", ".join(f"{self.key()}: {self.expression('a', depth - 1)}" for _ in members) + "}"
        member = self.one("isa")
        if self.chance(0.15):
            return "(" + "".join(f"{self.expression(member, depth - 1)}, " for _ in members) + ")"
        return "[" + ", ".join(self.expression(member, depth - 1) for _ in members) + "]"

    def key(self):
        return self.one(["'k'", "'key'", "'b'", "1", "2.0", "true", "none", "'é'", "(1, 2)", "s"])

    def bracketed(self, kind, depth):
        return f"({self.expression(kind, depth)})"

    def conditional(self, kind, depth):
        rest = "" if self.chance(0.2) else f" else {self.expression(kind, depth)}"
        return f"({self.expression(kind, depth)} if {self.expression('b', depth)}{rest})"

    def make_i(self, depth):
        sign = self.one(["+", "-", "*", "//", "%", "+", "-"])
        return self.pick(
            (4, lambda: f"{self.expression('i', depth)} {sign} {self.expression('i', depth)}"),
            (1, lambda: f"{self.expression('i', depth)} ** {self.random.randrange(-1, 4)}"),
            (1, lambda: f"{self.one('-+')}{self.expression('i', depth)}"),
            (1, lambda: f"{self.expression('l', depth)}|length"))

    def make_f(self, depth):
        sign = self.one(["+", "-", "*", "/", "//", "%", "/"])
        return self.pick((4, lambda: f"{self.expression('f', depth)} {sign} {self.expression(self.one('if'), depth)}"),
                         (1, lambda: f"{self.expression('i', depth)} / {self.expression('i', depth)}"),
                         (1, lambda: f"-{self.expression('f', depth)}"))

    def make_s(self, depth):
        return self.pick(
            (3, lambda: f"{self.expression('a', depth)} ~ {self.expression('a', depth)}"),
            (2, lambda: f"{self.expression('s', depth)} + {self.expression('s', depth)}"),
            (2, lambda: self.subscript("s", depth)), (1, lambda: f"{self.expression('s', depth)} * {self.one('0123')}"),
            (1, lambda: self.formatted(depth)), (1, lambda: self.macro_call(depth)))

    def make_l(self, depth):
        return self.pick(
            (3, lambda: self.literal("l", depth)), (3, lambda: self.subscript("l", depth)),
            (2, lambda: f"{self.expression('l', depth)} + {self.expression('l', depth)}"),
            (2, lambda: f"range({self.arguments(self.one(['i', 'i i', 'i i i']), depth)})|list"),
            (1, lambda: f"{self.expression('l', depth)} * {self.one('012')}"))

    def make_d(self, depth):
        return self.pick((3, lambda: self.literal("d", depth)),
                         (2, lambda: f"dict({self.arguments('=k:a =b:a', depth)})"),
                         (1, lambda: f"dict({self.expression('d', depth)}, k={self.expression('a', depth)})"),
                         (0.3, lambda: f"dict.{self.one(DICT_NAMES)}({self.arguments(self.one(['', 's', 'l', 'd', 'd s']), depth)})"))

    def make_n(self, depth):
        return self.one(["none", "nul", "{}.get('k')"])

    def make_b(self, depth):
        sign = self.one(["and", "or"])
        return self.pick((3, lambda: self.comparison(depth)), (3, lambda: self.test(depth)),
                         (2, lambda: f"{self.expression('a', depth)} {sign} {self.expression('b', depth)}"),
                         (1, lambda: f"not {self.expression('a', depth)}"))

    def comparison(self, depth):
        kind = self.one("iifsl")
        signs = ["==", "!=", "<", "<=", ">", ">="]
        left = self.expression(kind, depth)
        if self.chance(0.3):
            return f"{left} {self.one(['in', 'not in'])} {self.expression(self.one('lls'), depth)}"
        more = "".join(f" {self.one(signs)} {self.expression(kind, depth)}" for _ in range(1 + self.chance(0.2)))
        return left + more

    def test(self, depth):
        name, kind, arguments = self.one(tables.TESTS[:-1] if self.chance(0.98) else tables.TESTS)
        given = self.arguments(arguments, depth)
        return f"{self.expression(kind, depth)} is {self.one(['', '', 'not '])}{name}{f'({given})' if given else ''}"

    def subscript(self, kind, depth):
        whole = f"({self.expression(kind, depth)})"
        if kind == "s" and self.chance(0.3):
            return f"{whole}[{self.expression('i', 0)}]"
        bounds = [self.one(["", "", "1", "2", "-1", "-2", "n", "none", "zero"]) for _ in range(2 + self.chance(0.4))]
        return f"{whole}[{':'.join(bounds)}]"

    def idiom(self, kind, depth):
        rows = [text for gives, text in chats.EXPRESSIONS if gives in (kind, "a") or self.chance(WRONG)]
        return f"({self.filled(self.one(rows), depth)})"

    def filled(self, text, depth, names=()):
        """A piece or an expression of chat_tables with its holes filled."""
        def fill(hole):
            what, raw = hole.groups()
            if len(what) == 1:
                return self.expression(what, depth) if raw else self.operand(what, depth)
            before = dict(self.scope)
            self.scope.update(names)
            inside = self.body(depth) if what == "body" else self.within(depth, self.loops, True)
            self.scope = before
            return inside
        return HOLE.sub(fill, text)

    def idiomatic(self, depth):
        """A piece of chat_tables; its loops are not told, so that none of its bodies leaves one."""
        names, text = self.one(chats.PIECES)
        text = re.sub(r"(\{[%{#])(?![-+])|(?<![-+])([%}#]\})", self.sign, text)
        return self.filled(text, depth, names)

    def sign(self, mark):
        """A mark of a tag, now and then with white space control."""
        if not self.chance(0.2):
            return mark[0]
        return mark[1] + self.one("-+" if mark[1] != "{{" else "-") if mark[1] else (
            self.one("-+" if mark[2] == "%}" else "-") + mark[2])

    def member(self, kind, depth):
        return self.one([f"{self.one(['d', 'm'])}.{self.one(['k', 'key', 'b', 'items', 'nope'])}",
                         f"ms[{self.one(['0', '1', '-1', '9'])}].{self.one(['role', 'content', 'k', 'nope'])}",
                         f"({self.expression('d', depth)})[{self.key()}]",
                         f"({self.expression('l', depth)})[{self.one('012')}]",
                         f"({self.expression('l', depth)}).{self.one('01')}"])

    def formatted(self, depth):
        pattern = self.one(tables.FORMATS)
        argument = self.expression(self.one("isf"), depth)
        if pattern.startswith("{"):
            return f"{quote(pattern)}.format({argument}, k={self.expression('a', depth)})"
        return f"{quote(pattern)} % ({argument},)" if self.chance(0.5) else f"{quote(pattern)}|format({argument})"

    def arguments(self, wanted, depth):
        """Arguments for a row of the tables; now and then one more, one less or of another kind."""
        given = []
        for word in wanted.split():
            keyword, _, kind = word[1:].partition(":") if word.startswith("=") else ("", "", word)
            text = kind[1:] if kind.startswith("'") else self.expression(kind, depth)
            given.append(f"{keyword}={text}" if keyword else text)
        if given and self.chance(WRONG):
            given.pop()
        if self.chance(WRONG / 2):
            given.append(self.expression("a", 0) if not any("=" in word for word in wanted.split()) else "z=1")
        return ", ".join(given)

    def row(self, rows, kind):
        fitting = [row for row in rows[:-1] if row[2] in (kind, "a")]
        return rows[-1] if self.chance(WRONG / 3) else self.one(fitting or rows[:-1])

    def filtered(self, kind, depth):
        lazy = kind == "l" and self.chance(0.6)
        name, works_on, gives, arguments = self.row(tables.FILTERS, "g" if lazy else kind)
        given = self.arguments(arguments, depth)
        text = f"{self.operand(works_on, depth)}|{name}{f'({given})' if given else ''}"
        return text + "|list" if gives == "g" else text

    def method(self, kind, depth):
        views = kind == "l" and self.chance(0.4)
        name, works_on, gives, arguments = self.row(tables.METHODS, "v" if views else kind)
        text = f"{self.operand(works_on, depth)}.{name}({self.arguments(arguments, depth)})"
        return text + "|list" if gives == "v" and self.chance(0.7) else text

    def operand(self, kind, depth):
        text = self.expression(kind, depth)
        return text if re.fullmatch(r"[a-z]\w*", text) else f"({text})"

    def macro_call(self, depth):
        if not self.macros:
            return self.name("s")
        name, count = self.one(self.macros)
        given = max(0, count + self.one([0, 0, 0, -1, -1, 1]))
        return f"{name}({', '.join(self.expression('a', depth) for _ in range(given))})"

    # Templates.

    def tag(self, text):
        return f"{{%{self.one(['', '', '', '-', '-', '+'])} {text} {self.one(['', '', '', '-', '-', '+'])}%}}"

    def text(self):
        return self.one(["text", " ", "\n", "\n  ", " a ", "  \n\n", "é😀", "<|x|>", "\t", "{ }", "#", "\r\n", "- ",
                         "end"])

    def body(self, depth):
        """A few pieces; the names set inside are forgotten after."""
        before = dict(self.scope), list(self.macros), list(self.spaces)
        pieces = "".join(self.piece(depth) for _ in range(self.random.randrange(1, 4)))
        self.scope, self.macros, self.spaces = before
        return pieces

    def within(self, depth, loops=0, captured=False):
        """A body where `break` means another loop, or none."""
        before = self.loops, self.captured
        self.loops, self.captured = loops, captured
        text = self.body(depth)
        self.loops, self.captured = before
        return text

    def piece(self, depth):
        self.budget -= 1
        if depth <= 0 or self.budget <= 0:
            return self.pick((1, self.text), (2, self.output))
        inner = depth - 1
        return self.pick(
            (8, self.text), (14, self.output), (5, lambda: self.if_(inner)), (6, lambda: self.for_(inner)),
            (5, self.set_), (9, lambda: self.idiomatic(inner)), (2, lambda: self.set_block(inner)), (2, self.namespace), (1, lambda: self.with_(inner)),
            (3, lambda: self.macro(inner)), (1, lambda: self.call(inner)), (1, lambda: self.filter_block(inner)),
            (2, lambda: self.generation(inner)), (1, lambda: self.block(inner)), (1, self.rare), (1, self.leave),
            (1, lambda: self.autoescape(inner)))

    def output(self):
        kind = self.one("iffssslldb")
        value = self.expression(kind)
        shown = f"[{value}]" if self.chance(0.15) else value
        return f"{{{{{self.one(['', '', '-'])} {shown} {self.one(['', '', '-'])}}}}}"

    def if_(self, depth):
        text = self.tag(f"if {self.expression('b', 2)}") + self.body(depth)
        if self.chance(0.2):
            text += self.tag(f"elif {self.expression('a', 2)}") + self.body(depth)
        if self.chance(0.4):
            text += self.tag("else") + self.body(depth)
        return text + self.tag("endif")

    def for_(self, depth):
        before, loops, captured = dict(self.scope), self.loops, self.captured
        target, kind, source = self.one([
            ("x", "a", self.expression("l", 2)), ("x", "i", "xs"), ("m", "d", "ms"),
            ("c", "s", self.expression("s", 1)), ("k, v", "a", "d.items()"), ("k, v", "a", "d|dictsort"),
            ("x", "s", "d"), ("i", "i", f"range({self.one('0123')})")])
        recursive = target == "x" and kind == "a" and self.chance(0.2)
        for name in target.split(", "):
            self.scope[name] = kind
        condition = f" if {self.expression('b', 1)}" if self.chance(0.15) else ""
        self.loops, self.captured = loops + 1, False
        text = self.tag(f"for {target} in {source}{condition}{' recursive' if recursive else ''}") + self.body(depth)
        if recursive:
            text += "{% if x is sequence and x is not string %}{{ loop(x) }}{% endif %}"
        self.scope, self.loops, self.captured = before, loops, captured
        if self.chance(0.2):
            text += self.tag("else") + self.body(depth)
        return text + self.tag("endfor")

    def set_(self):
        kind = self.one("ifsldb")
        name = self.one(["v1", "v2", "v3", "s", "n", "xs"])
        text = self.tag(f"set {name} = {self.expression(kind)}")
        self.scope[name] = kind
        return text

    def set_block(self, depth):
        through = self.one(["", "", "|upper", "|trim", "|replace('a', 'b')|title"])
        text = self.tag(f"set t1{through}") + self.within(depth, self.loops, True) + self.tag("endset")
        self.scope["t1"] = "s"
        return text

    def namespace(self):
        if not self.spaces or self.chance(0.2):
            private = self.one([", _v=1", ", b_=1", ", self=2"]) if self.chance(0.1) else ""
            text = self.tag(f"set ns = namespace(v={self.expression('s', 1)}{private})")
            self.spaces = ["ns"]
            return text
        name = "_v" if self.chance(0.03) else "v"
        return self.tag(f"set {self.one(self.spaces)}.{name} = {self.expression('s', 2)}")

    def with_(self, depth):
        return self.tag(f"with w = {self.expression('a', 2)}") + self.body(depth) + "{{ w }}" + self.tag("endwith")

    def macro(self, depth):
        name, count = self.one(["m1", "m2"]), self.random.randrange(3)
        before = dict(self.scope)
        signature = []
        for position in range(count):
            self.scope[f"a{position}"] = "a"
            default = position == count - 1 and self.chance(0.5)
            signature.append(f"a{position}" + (f"={self.expression('a', 1)}" if default else ""))
        macros, self.macros = self.macros, []  # so that none calls itself without end
        body = self.within(depth)
        extra = self.one(["", "", "", "{{ varargs }}", "{{ kwargs }}", "{{ caller() if caller }}"])
        self.scope, self.macros = before, macros + [(name, count)]
        return self.tag(f"macro {name}({', '.join(signature)})") + body + extra + self.tag("endmacro")

    def call(self, depth):
        if not self.macros:
            return self.macro(depth)
        arguments = self.one(["", "", "(q)"])
        return self.tag(f"call{arguments} {self.macro_call(1)}") + self.within(depth) + self.tag("endcall")

    def filter_block(self, depth):
        name = self.one(["upper", "trim", "indent(2)", "replace('a', 'b')|lower", "title", "center(20)", "escape"])
        return self.tag(f"filter {name}") + self.within(depth, self.loops, True) + self.tag("endfilter")

    def generation(self, depth):
        return self.tag("generation") + self.within(depth, 0, True) + self.tag("endgeneration")

    def block(self, depth):
        name = f"b{self.random.randrange(1000)}"
        return self.tag(f"block {name}{self.one(['', ' scoped'])}") + self.within(depth) + self.tag("endblock")

    def autoescape(self, depth):
        return self.tag(f"autoescape {self.one(['true', 'false'])}") + self.body(depth) + self.tag("endautoescape")

    def leave(self):
        if self.loops and not self.captured:
            way_out = self.tag(self.one(["break", "continue"]))
            return "{% if " + self.expression("b", 1) + " %}" + way_out + "{% endif %}"
        return self.tag("break") if self.chance(WRONG) else self.text()

    def rare(self):
        return self.one([
            "{% raw %} {{ x }} {% endraw %}", "{#- c -#}", "{# c #}\n", "{{ strftime_now('%d %b %Y') }}", "{{ loop }}",
            "{% if n > 3 %}{{ raise_exception('no') }}{% endif %}", "{{ loop.cycle('a', 'b') }}", "{{ self.b1() }}",
            "{% set c = cycler('p', 'q') %}{{ c.next() }}{{ c.next() }}", "{% set j = joiner() %}{{ j() }}{{ j() }}",
            "{% if loop is defined %}{{ loop.changed(n) }}{% endif %}", "{% include 'x' ignore missing %}",
            "{{ s", "{% endif %}"])

    def template(self):
        """A new template and a context for it."""
        self.scope, self.macros, self.spaces, self.loops, self.captured = {}, [], [], 0, False
        self.budget = self.one([8, 16, 30, 60])
        text = self.body(3)
        if self.chance(0.03):
            text = text.replace("\n", self.one(["\r\n", "\r"]))
        return text, self.context()

    def variation(self, known):
        """A known (template, context) with some tokens deleted, repeated, exchanged or brought in from others."""
        source, context = self.one(known)
        tokens = TOKEN.findall(source)
        for _ in range(self.random.randrange(1, 4)):
            if not tokens:
                break
            place = self.random.randrange(len(tokens))
            end = min(len(tokens), place + self.one([1, 1, 1, 2, 4, 8]))
            donor = TOKEN.findall(self.one(known)[0]) or [" "]
            start = self.random.randrange(len(donor))
            taken = donor[start:start + self.one([1, 1, 2, 5])]
            change = self.one(["delete", "repeat", "replace", "insert", "value", "value", "value", "value"])
            if change == "delete":
                del tokens[place:end]
            elif change == "repeat":
                tokens[place:place] = tokens[place:end]
            elif change == "replace":
                tokens[place:end] = taken
            elif change == "insert":
                tokens[place:place] = taken
            elif re.match(r"['\"\w]", tokens[place]):
                self.budget = 4
                tokens[place] = self.expression("a", 1)
        return "".join(tokens), context
