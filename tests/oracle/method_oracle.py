#!/usr/bin/env python3
"""Compares methods, `%` and format specs with CPython, markupsafe and Jinja2's sandbox, at random.

    python3 tests/oracle/method_oracle.py path/to/method_driver [number of calls] [seed]

Results are compared by repr(), failures by class and, where CPython's wording is the same for C and
Python functions, by message. Also asks for every attribute of every type, and runs the rows'
examples. Ends with 0 when all agree,
1 when not, 77 (skipped) under another Python. Begin reading at main().
"""

import random
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")

from jinja2 import Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

SKIPPED = 77
SHOWN = 40
LARGE = 2000

ENVIRONMENT = ImmutableSandboxedEnvironment()
UNDEFINED = Undefined(name="x")


class Rope(str):
    """A str that the driver shall build from single characters."""


# Binding errors of C functions are worded in many ways; only their class is compared.
BINDING = ("argument", "positional", "keyword", "missing", "takes")

TEXTS = [
    "", "a", "b", "ab", "aa", "aab", "abc", " ", "\t", "\n", "-", "--", "a-b", "<", "&", "x" * 9,
    "\u00e9", "\u00df", "\u03a3", "\u0130", "\u5b57", "\U0001f600", "\ud800", "\u01c5", "\u2028",
    "\x85", "\x00", "'", '"', "0", "7", "+", "\u0663", "Ab", "aB c", "<b>", "it's",
]
NUMBERS = [
    0, 1, -1, 2, 3, 5, -2, -7, 10, 12, 65, 97, 255, 256, 1000, 1234567, 2**31, 2**63 - 1, -(2**63),
    2**63, -(2**64), 10**25, 0x10FFFF, 0x110000, 0xD800,
]
REALS = [
    0.0, -0.0, 1.0, -1.5, 0.1, 1e16, 1e-7, 123456.789, 1e100, 1e308, 5e-324, 0.5, 2.5, -0.04,
    float("inf"), float("-inf"), float("nan"), 1234567.0, 2.0**70,
]


def make_text(rng):
    size = rng.choice([1, 1, 2, 3, 5, 8])
    text = "".join(rng.choice(TEXTS) for _ in range(size))
    kind = rng.random()
    if kind < 0.15:
        return Markup(text)
    return Rope(text) if kind < 0.35 and text else text


def plain_text(rng):
    return str("".join(rng.choice(TEXTS) for _ in range(rng.choice([1, 1, 1, 2, 3]))))


def make_int(rng):
    return rng.choice(NUMBERS) if rng.random() < 0.5 else rng.randrange(-12, 13)


def make_real(rng):
    if rng.random() < 0.6:
        return rng.choice(REALS)
    return rng.uniform(-1, 1) * 10.0 ** rng.randrange(-12, 25)


def make_any(rng, depth=0):
    makers = [
        make_text,
        plain_text,
        make_int,
        make_real,
        lambda r: None,
        lambda r: r.random() < 0.5,
        lambda r: UNDEFINED,
    ]
    if depth < 2:
        makers += [
            lambda r: [make_any(r, depth + 1) for _ in range(r.randrange(4))],
            lambda r: tuple(make_any(r, depth + 1) for _ in range(r.randrange(4))),
            lambda r: {plain_text(r): make_any(r, depth + 1) for _ in range(r.randrange(3))},
        ]
    return rng.choice(makers)(rng)


def make_small(rng):
    return rng.randrange(-3, 15)


def make_bound(rng):
    return rng.choice([None, make_small(rng), make_small(rng), make_int(rng)])


def make_affix(rng):
    if rng.random() < 0.3:
        return tuple(plain_text(rng) for _ in range(rng.randrange(4)))
    return plain_text(rng)


def make_fill(rng):
    return rng.choice(TEXTS[1:])


def make_chars(rng):
    return rng.choice([None, plain_text(rng), plain_text(rng)])


def make_table(rng):
    keys = [97, 98, 32, 0xE9, 60, 0x3A3]
    images = [None, 120, "yz", "", Markup("<"), 0x1F600, -1, 1.5]
    if rng.random() < 0.2:
        return rng.choice(["abc" * 40, ["q"] * 100, (1,), {}])
    return {
        k: rng.choice(images[:6] if rng.random() < 0.8 else images) for k in rng.sample(keys, 3)
    }


def make_strings(rng):
    return rng.choice([list, tuple])(make_text(rng) for _ in range(rng.randrange(4)))


SPEC_TYPES = [
    "", "", "s", "d", "b", "c", "o", "x", "X", "n", "e", "E", "f", "F", "g", "G", "%", "q",
    "\u00e9",
]


def make_spec(rng):
    if rng.random() < 0.05:
        return plain_text(rng)
    parts = []
    if rng.random() < 0.4:
        parts.append(rng.choice(["", "", "*", "0", "\u00e9", "{", "<"]) + rng.choice("<>=^"))
    for choice, often in (("+- ", 0.2), ("z", 0.1), ("#", 0.2), ("0", 0.25)):
        if rng.random() < often:
            parts.append(rng.choice(choice))
    if rng.random() < 0.6:
        parts.append(str(rng.randrange(0, 30)))
    if rng.random() < 0.25:
        parts.append(rng.choice([",", "_", ",", "_", ",_", "_,", ",,"]))
    if rng.random() < 0.3:
        parts.append("." + rng.choice(["", "0", "1", "2", "3", "10", "20"]))
    parts.append(rng.choice(SPEC_TYPES))
    if rng.random() < 0.03:
        parts.append("d")
    return "".join(parts)


def make_percent(rng):
    parts = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        parts.append(rng.choice(["", "a", "\u00e9", "<", "%%"]))
        conversion = "%"
        if rng.random() < 0.15:
            conversion += rng.choice(["(a)", "(b)", "()", "(a(b))", "(a", "(<)"])
        for flag in "-+ #0":
            if rng.random() < 0.15:
                conversion += flag
        if rng.random() < 0.4:
            conversion += rng.choice(["*", "5", "12", "1", "0"])
        if rng.random() < 0.3:
            conversion += "." + rng.choice(["", "*", "0", "1", "3", "10"])
        if rng.random() < 0.05:
            conversion += rng.choice("hlL")
        conversion += (
            rng.choice("sssrraaddiuoxXceEfFgG")
            if rng.random() < 0.95
            else rng.choice(["y", "", "%", "\u00e9"])
        )
        parts.append(conversion)
    return "".join(parts)


def make_percent_arguments(rng):
    kind = rng.random()
    if kind < 0.6:
        return tuple(make_any(rng, 1) for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 0])))
    if kind < 0.8:
        return {k: make_any(rng, 1) for k in rng.sample(["a", "b", "", "a(b)", "<"], 3)}
    return make_any(rng)


def make_braces(rng, depth=0):
    parts = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        parts.append(rng.choice(["", "a", "\u00e9", "<", "{{", "}}"]))
        name = rng.choice(["", "", "", "0", "1", "2", "a", "b", " ", "7", "-1"])
        name += rng.choice(
            [""] * 8 + [".a", "[a]", "[0]", "[1]", "[-1]", ".real", "[]", ".", "[0]x", "[0", "[{]"]
        )
        conversion = rng.choice([""] * 6 + ["!r", "!s", "!a", "!", "!x", "!rr", "!\u00e9"])
        spec = ""
        if rng.random() < 0.4:
            spec = ":" + (
                make_braces(rng, depth + 1) if rng.random() < 0.2 and depth < 3 else make_spec(rng)
            )
        parts.append("{" + name + conversion + spec + "}")
        if rng.random() < 0.04:
            parts.append(rng.choice("{}"))
    return "".join(parts)


def make_mapping(rng):
    return rng.choice([{"a": make_any(rng), "b": 1}, {"a": 2}, {"a": "<"}, make_any(rng)])


# Arguments of each method, as functions that make one; those of the second list may be left out.
FIND = ([plain_text], [make_bound, make_bound])
PAD = ([make_small], [make_fill])
STRIP = ([], [make_chars])
SPLIT = ([], [make_chars, make_small])
TEXT_METHODS = {
    "capitalize": ([], []),
    "casefold": ([], []),
    "lower": ([], []),
    "upper": ([], []),
    "title": ([], []),
    "swapcase": ([], []),
    "center": PAD,
    "ljust": PAD,
    "rjust": PAD,
    "zfill": ([make_small], []),
    "count": FIND,
    "find": FIND,
    "rfind": FIND,
    "index": FIND,
    "rindex": FIND,
    "startswith": ([make_affix], [make_bound, make_bound]),
    "endswith": ([make_affix], [make_bound, make_bound]),
    "expandtabs": ([], [make_small]),
    "join": ([make_strings], []),
    "strip": STRIP,
    "lstrip": STRIP,
    "rstrip": STRIP,
    "partition": ([plain_text], []),
    "rpartition": ([plain_text], []),
    "removeprefix": ([plain_text], []),
    "removesuffix": ([plain_text], []),
    "replace": ([plain_text, make_text], [make_small]),
    "split": SPLIT,
    "rsplit": SPLIT,
    "splitlines": ([], [lambda r: r.random() < 0.5]),
    "translate": ([make_table], []),
    "maketrans": ([make_any], [plain_text, plain_text]),
    "encode": (
        [],
        [
            lambda r: r.choice(["utf-8", "ascii", "latin-1", "UTF8", "nope"]),
            lambda r: r.choice(
                [
                    "strict",
                    "ignore",
                    "replace",
                    "xmlcharrefreplace",
                    "backslashreplace",
                    "surrogatepass",
                    "nope",
                ]
            ),
        ],
    ),
}
PREDICATES = [n for n in dir(str) if n.startswith("is")]
TEXT_METHODS.update({name: ([], []) for name in PREDICATES})
KEYWORDS = {
    "split": ["sep", "maxsplit"],
    "rsplit": ["sep", "maxsplit"],
    "splitlines": ["keepends"],
    "expandtabs": ["tabsize"],
    "encode": ["encoding", "errors"],
}
MARKUP_METHODS = {"striptags": ([], []), "unescape": ([], []), "escape": ([make_any], [])}


def make_markup(rng):
    bits = [
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "->",
        ">",
        "<",
        "a b",
        " \n ",
        "&amp;",
        "&lt",
        "&notit;",
        "&#60;",
        "&#x3c",
        "&#128;",
        "&#0;",
        "&#xd800;",
        "&#1;",
        "&#x110000;",
        "&",
        ";",
        "&frac12;",
        "&#",
        "&#x",
        "&eacute",
    ]
    return Markup("".join(rng.choice(bits) for _ in range(rng.randrange(8))))


def make_hex(rng):
    digits = "".join(
        rng.choice("0123456789abcDEF") for _ in range(rng.choice([0, 1, 5, 14, 18, 30]))
    )
    at = rng.randrange(len(digits) + 1)
    text = (
        rng.choice(["", "-", "+"])
        + rng.choice(["0x", "", "0X"])
        + digits[:at]
        + rng.choice([".", ""])
        + digits[at:]
    )
    text += rng.choice(["", "", "p0", "p-3", "P+1000", "p-1074", "p-1080", "p", "p970"])
    return rng.choice([text, " " + text + "\n", "inf", "-Infinity", "nan", "infin"])


def make_call(rng, methods, receiver):
    name = rng.choice(list(methods))
    needed, optional = methods[name]
    makers = needed + optional[: rng.randrange(len(optional) + 1)]
    arguments = [make_any(rng) if rng.random() < 0.04 else m(rng) for m in makers]
    if rng.random() < 0.02:
        arguments.append(1)
    keywords = {}
    if name in KEYWORDS and rng.random() < 0.3:
        chosen = KEYWORDS[name][len(arguments) :]
        keywords = {
            k: m(rng) for k, m in zip(chosen, optional[len(arguments) :]) if rng.random() < 0.7
        }
    return "call", name, receiver(rng), tuple(arguments), keywords


def make_list(rng):
    return [make_any(rng, 1) for _ in range(rng.randrange(6))]


CONTAINER_METHODS = {
    "count": ([lambda r: make_any(r, 1)], []),
    "index": ([lambda r: make_any(r, 1)], [make_small, make_small]),
}
DICT_METHODS = {
    "get": ([plain_text], [make_any]),
    "keys": ([], []),
    "values": ([], []),
    "items": ([], []),
    "copy": ([], []),
    "fromkeys": ([make_any], [make_any]),
}
SIGNED = [lambda r: r.randrange(10), lambda r: r.choice(["big", "little", "x"])]
INT_METHODS = {
    "as_integer_ratio": ([], []),
    "bit_count": ([], []),
    "bit_length": ([], []),
    "conjugate": ([], []),
    "to_bytes": ([], SIGNED),
    "from_bytes": ([lambda r: [r.randrange(256) for _ in range(r.randrange(12))]], SIGNED[1:]),
}
REAL_METHODS = {
    "as_integer_ratio": ([], []),
    "hex": ([], []),
    "is_integer": ([], []),
    "conjugate": ([], []),
    "fromhex": ([make_hex], []),
}


def make_signed_call(rng):
    operation, name, receiver, arguments, keywords = make_call(rng, INT_METHODS, make_int)
    if name in ("to_bytes", "from_bytes") and rng.random() < 0.5:
        keywords = {"signed": rng.random() < 0.7}
    return operation, name, receiver, arguments, keywords


def make_format_call(rng):
    receiver = make_braces(rng)
    if rng.random() < 0.3:
        receiver = Markup(receiver)
    if rng.random() < 0.2:
        return "call", "format_map", receiver, (make_mapping(rng),), {}
    arguments = tuple(make_any(rng) for _ in range(rng.randrange(4)))
    return (
        "call",
        "format",
        receiver,
        arguments,
        {k: make_any(rng) for k in rng.sample(["a", "b"], rng.randrange(3))},
    )


def make_percent_call(rng):
    text = make_percent(rng)
    return "percent", Markup(text) if rng.random() < 0.3 else text, make_percent_arguments(rng)


def make_spec_call(rng):
    value = rng.choice(
        [make_int, make_int, make_real, make_real, make_text, lambda r: True, make_any]
    )(rng)
    return "spec", value, make_spec(rng)


REQUESTS = [
    (8, lambda r: make_call(r, TEXT_METHODS, make_text)),
    (1, lambda r: make_call(r, MARKUP_METHODS, make_markup)),
    (1, lambda r: make_call(r, CONTAINER_METHODS, make_list)),
    (0.5, lambda r: make_call(r, CONTAINER_METHODS, lambda q: tuple(make_list(q)))),
    (
        0.5,
        lambda r: make_call(
            r, DICT_METHODS, lambda q: {plain_text(q): make_any(q) for _ in range(3)}
        ),
    ),
    (1, make_signed_call),
    (1, lambda r: make_call(r, REAL_METHODS, make_real)),
    (4, make_format_call),
    (4, make_percent_call),
    (4, make_spec_call),
]


def encode(v):
    if v is None:
        return "n"
    if v is True or v is False:
        return "t" if v else "F"
    if isinstance(v, Undefined):
        return "u"
    if isinstance(v, int):
        return "i%d" % v
    if isinstance(v, float):
        return "f" + v.hex()
    if isinstance(v, str):
        mark = "m" if isinstance(v, Markup) else "r" if isinstance(v, Rope) else "s"
        return mark + str.encode(v, "utf-8", "surrogatepass").hex()
    if isinstance(v, dict):
        return " ".join(["d%d" % len(v)] + [encode(x) for item in v.items() for x in item])
    mark = "l" if isinstance(v, list) else "T"
    return " ".join([mark + str(len(v))] + [encode(x) for x in v])


def plain(v):
    """`v` without Rope, which only the driver shall see."""
    if isinstance(v, Rope):
        return str(v)
    if isinstance(v, dict):
        return {plain(k): plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return type(v)(plain(x) for x in v)
    return v


def run(request):
    operation, *rest = plain(list(request))
    if operation == "percent":
        return rest[0] % rest[1]
    if operation == "spec":
        return str(format(rest[0], rest[1]))  # format_value gives no Markup: str.format drops it
    name, receiver, arguments, keywords = rest
    return ENVIRONMENT.getattr(receiver, name)(*arguments, **keywords)


def expect(request):
    try:
        result = run(request)
    except Exception as error:
        return "!" + type(error).__name__, str(error)
    return "=", repr(result)


def line_of(request):
    operation, *rest = request
    if operation != "call":
        return " ".join([operation] + [encode(v) for v in rest])
    return " ".join(["call", rest[0]] + [encode(v) for v in rest[1:]])


def decode(answer):
    if answer.startswith("="):
        return "=", bytes.fromhex(answer[1:]).decode("utf-8", "surrogatepass")
    name, _, message = answer.partition(" ")
    return name, bytes.fromhex(message).decode("utf-8", "surrogatepass")


def is_out_of_scope(request):
    """Widths that neither side should be asked to build."""
    return any(isinstance(v, int) and abs(v) > LARGE for v in flatten(request[1:])) and (
        request[0] == "percent"
        and "*" in request[1]
        or request[0] == "call"
        and request[1] in ("center", "ljust", "rjust", "zfill", "expandtabs", "to_bytes")
    )


def flatten(v):
    if isinstance(v, dict):
        v = list(v.items())
    if not isinstance(v, (list, tuple)):
        return [v]
    return [x for item in v for x in flatten(item)]


def same_failure(expected, got):
    if expected[0] != got[0]:
        return False
    return expected[1] == got[1] or any(word in expected[1] + got[1] for word in BINDING)


def ask(driver, requests):
    lines = "\n".join(map(line_of, requests)) + "\n"
    done = subprocess.run([driver], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    return list(map(decode, done.stdout.decode().splitlines()))


def make_requests(number, rng):
    weights = [w for w, _ in REQUESTS]
    makers = [m for _, m in REQUESTS]
    requests = []
    while len(requests) < number:
        request = rng.choices(makers, weights)[0](rng)
        if not is_out_of_scope(request):
            requests.append(request)
    return requests


def compare_calls(driver, number, rng):
    requests = make_requests(number, rng)
    wrong = {}
    for request, got in zip(requests, ask(driver, requests)):
        expected = expect(request)
        same = expected == got if expected[0] == "=" else same_failure(expected, got)
        if not same:
            key = request[1] if request[0] == "call" else request[0]
            wrong.setdefault((key, expected[0], got[0]), []).append((request, expected, got))
    for cases in sorted(wrong.values(), key=len)[-SHOWN:]:
        request, expected, got = min(cases, key=lambda c: len(repr(c[0])))
        print(f"{len(cases)} x {request!r}\n    expected {expected}\n    got      {got}")
    return sum(map(len, wrong.values()))


ATTRIBUTE_OWNERS = ["", Markup(""), [], (), {}, 1, 1.5, True, None]


def attribute_kind(owner, name):
    try:
        value = getattr(owner, name)
    except AttributeError:
        return "absent"
    if not ENVIRONMENT.is_safe_attribute(owner, name, value):
        return "unsafe"
    return "method" if callable(value) else "data"


def compare_attributes(driver):
    """Every attribute of every type, asked of every other type too. All names __x__ are unsafe, so there is nothing to compare."""
    names = sorted({n for owner in ATTRIBUTE_OWNERS for n in dir(owner) if not n.startswith("__")} | {"foo", "_x"})
    requests = [("call", n, o, (), {}) for o in ATTRIBUTE_OWNERS for n in names]
    wrong = 0
    for request, got in zip(requests, ask(driver, requests)):
        kind = {"!SecurityError": "unsafe", "!AttributeError": "absent"}.get(got[0], "present")
        expected = attribute_kind(request[2], request[1])
        if (expected if expected in ("unsafe", "absent") else "present") != kind:
            print(f"{type(request[2]).__name__}.{request[1]}: expected {expected}, got {kind}")
            wrong += 1
    return wrong, len(requests)


def compare_examples(driver):
    """Each row's example, "template -> result", rendered by Jinja2."""
    done = subprocess.run([driver, "examples"], stdout=subprocess.PIPE, check=True)
    examples = [bytes.fromhex(line).decode() for line in done.stdout.decode().split()]
    wrong = 0
    for example in examples:
        template, _, expected = example.partition(" -> ")
        rendered = ENVIRONMENT.from_string(template).render()
        if rendered != expected:
            print(f"{example!r} gives {rendered!r}")
            wrong += 1
    return wrong, len(examples)


def main():
    if sys.version_info[:2] != (3, 11):
        print("needs Python 3.11")
        return SKIPPED
    driver = sys.argv[1]
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 11)
    wrong, attributes = compare_attributes(driver)
    wrong_examples, examples = compare_examples(driver)
    wrong += wrong_examples
    for start in range(0, number, 50_000):
        wrong += compare_calls(driver, min(50_000, number - start), rng)
    print(
        f"{attributes} attributes, {examples} examples and {number} calls compared, {wrong} differ"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
