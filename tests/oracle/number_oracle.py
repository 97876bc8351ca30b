#!/usr/bin/env python3
"""Compares numbers, operators, comparisons, subscripts and slices with this python3, at random.

    python3 tests/oracle/number_oracle.py path/to/number_dump [number of operations] [seed]

Each operation is run by number_dump (its header comment has the notation) and by Python with
markupsafe's Markup and jinja2's Undefined; results must be the same to the bit, and so must the
class and the message of what is raised. Ends with 0 when all agree, 1 when not, 77 (skipped) under
a python3 that is not 3.11, whose messages differ. Begin reading at MAKERS.
"""

import math
import operator
import random
import struct
import subprocess
import sys

from jinja2 import Undefined
from markupsafe import Markup

SKIPPED = 77
SHOWN = 20
MAX_DIGITS = 4300
UNDEFINED = Undefined(name="nope")
NAN = float("nan")  # one object, as json has it: containers compare members by identity first

INT_EDGES = [0, 1, 2, 3, 5, 7, 10, 15, 25, 100, 255, 1000, 10**9, 2**31, 2**32, 2**52, 2**53, 2**54,
             10**15, 10**16, 10**18, 10**19, 2**62, 2**63, 2**64, 2**65, 10**22, 10**30, 2**127,
             2**128, 10**100, 2**970, 2**1023, 2**1024, 2**1024 - 2**970, 10**400]
FLOAT_EDGES = [0.0, 0.5, 1.0, 1.5, 2.5, 0.1, 0.3, 1e-5, 1e-4, 9999999999999998.0, 1e15, 1e16, 1e17,
               1e22, 1e23, 123456.789, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
               2.0**53, 2.0**62, 2.0**63, 2.0**64, 4503599627370497.5, 0.125, 2.675, 1.005, 1e300,
               float("inf"), NAN]
COMMON_NUMBERS = [0, 1, 2, -1, 1.0, 2.0, True, False, 2**64, 2.0**64, NAN]
LETTERS = "abcXYZ01 <>&'\"" + "éßÀ中文あ🙂\U00010400\ud800\udfff\ue000\uffff\x00\n"
DIGITS = "0123456789" * 4 + "٠١٢٣۴५９𝟗²"
SPACES = " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u3000\u200b\x00"


def to_hex(s):
    return s.encode("utf-8", "surrogatepass").hex()


def write(v):
    if v is None:
        return "n"
    if isinstance(v, bool):
        return "FT"[v]
    if isinstance(v, Undefined):
        return "u"
    if isinstance(v, int):
        return f"i{v}"
    if isinstance(v, float):
        return "fnan" if v != v else "f" + struct.pack(">d", v).hex()
    if isinstance(v, str):
        return ("m" if isinstance(v, Markup) else "s") + to_hex(v)
    if isinstance(v, (list, tuple)):
        return " ".join(["lt"[isinstance(v, tuple)] + str(len(v)), *map(write, v)])
    return " ".join([f"d{len(v)}", *(f"{write(k)} {write(x)}" for k, x in v.items())])


def write_operand(rng, v):
    """As write, but floats by their bits and some strings as ropes."""
    if isinstance(v, float):
        return "f" + struct.pack(">d", v).hex()
    if isinstance(v, (list, tuple)):
        head = "lt"[isinstance(v, tuple)] + str(len(v))
        return " ".join([head, *(write_operand(rng, x) for x in v)])
    if isinstance(v, dict):
        members = []
        for key, value in v.items():  # keys are leaves
            members.append(write(key) if isinstance(key, str) else write_operand(rng, key))
            members.append(write_operand(rng, value))
        return " ".join([f"d{len(v)}", *members])
    if type(v) is str and rng.random() < 0.3:
        cuts = sorted(rng.randint(0, len(v)) for _ in range(rng.randint(0, 3)))
        parts = [v[a:b] for a, b in zip([0, *cuts], [*cuts, len(v)])]
        return " ".join([f"p{len(parts)}", *map(write, parts)])
    return write(v)


# ---- random values


def random_int(rng):
    kind = rng.random()
    if kind < 0.35:
        n = rng.randint(-12, 40)
    elif kind < 0.7:
        n = rng.choice(INT_EDGES) + rng.randint(-2, 2)
    else:
        n = rng.getrandbits(rng.choice([8, 31, 53, 62, 63, 64, 65, 90, 128, 200, 500, 1100]))
    return n if rng.random() < 0.6 else -n


def random_float(rng):
    kind = rng.random()
    if kind < 0.3:
        x = rng.choice(FLOAT_EDGES)
    elif kind < 0.5:
        x = round(rng.uniform(-1000, 1000), rng.randint(0, 6))
    elif kind < 0.6:
        x = rng.randint(-1000, 1000) / rng.choice([2, 4, 8, 20])
    elif kind < 0.7:
        x = rng.randint(1, 99) * 10.0 ** rng.randint(-25, 25)
    elif kind < 0.8:
        n = random_int(rng)
        x = float(n) if abs(n) < 2**1000 else 1.0
    else:
        x = struct.unpack(">d", rng.randbytes(8))[0]
    if x != x:
        return NAN
    return x if rng.random() < 0.7 else -x


def random_number(rng):
    kind = rng.random()
    if kind < 0.5:
        return random_int(rng)
    return random_float(rng) if kind < 0.93 else rng.random() < 0.5


def random_str(rng, most=9):
    alphabet = LETTERS if rng.random() < 0.4 else "abc<"
    s = "".join(rng.choice(alphabet) for _ in range(rng.randint(0, most)))
    return Markup(s) if rng.random() < 0.15 else s


def random_scalar(rng):
    kind = rng.random()
    if kind < 0.6:
        return rng.choice([*COMMON_NUMBERS, random_int(rng)])
    if kind < 0.9:
        return random_str(rng, 2)
    return rng.choice([None, UNDEFINED])


def random_dict(rng, depth):
    size = rng.choice([0, 1, 2, 3, 12])
    keys = [k for k in (random_scalar(rng) for _ in range(size)) if k == k]
    return {str(k) if isinstance(k, Markup) else k: random_value(rng, depth - 1) for k in keys}


def random_value(rng, depth=2):
    kind = rng.random()
    if kind < 0.35 or depth == 0:
        return random_scalar(rng)
    if kind < 0.5:
        return random_number(rng)
    if kind < 0.65:
        return random_str(rng)
    if kind < 0.9:
        members = [random_value(rng, depth - 1) for _ in range(rng.randint(0, 5))]
        return members if rng.random() < 0.6 else tuple(members)
    return random_dict(rng, depth)


def similar_to(rng, v):
    """Something equal to `v`, or nearly so."""
    if isinstance(v, (list, tuple)):
        members = [similar_to(rng, x) for x in v]
        if rng.random() < 0.3:
            members = members[: rng.randint(0, len(members))]
        return type(v)(members)
    if isinstance(v, dict):
        pairs = [(k, similar_to(rng, x)) for k, x in v.items()]
        rng.shuffle(pairs)
        return dict(pairs)
    if isinstance(v, str) and rng.random() < 0.5:
        return Markup(v) if rng.random() < 0.3 else v[:3] + random_str(rng, 1)
    if isinstance(v, (int, float)) and rng.random() < 0.5 and v - v == 0:
        return float(v) if abs(v) < 2**1000 else v + rng.randint(-1, 1)
    return v if rng.random() < 0.8 else random_value(rng, 1)


# ---- random texts of numbers


def random_digits(rng):
    digits = "".join(rng.choice(DIGITS) for _ in range(rng.choice([1, 1, 2, 3, 5, 19, 20, 40])))
    if rng.random() < 0.2:
        at = rng.randint(0, len(digits))
        digits = digits[:at] + rng.choice(["_", "_", "__"]) + digits[at:]
    return digits if rng.random() < 0.5 else digits.translate({ord(c): "7" for c in "²"})


def disturb(rng, s):
    if rng.random() < 0.3:
        s = rng.choice(SPACES) + s + rng.choice(SPACES)
    if rng.random() < 0.1:
        at = rng.randint(0, len(s))
        s = s[:at] + rng.choice("_+-.eExnz? \x00é") + s[at:]
    return s


def random_int_text(rng):
    prefix = rng.choice(["", "", "", "0x", "0X", "0o", "0b", "0B_", "0x_", "0", "00"])
    body = random_digits(rng)
    if rng.random() < 0.3:
        body = "".join(rng.choice("01fFaz7_") for _ in range(rng.randint(0, 30)))
    if rng.random() < 0.01:
        body = "9" * rng.choice([4299, 4300, 4301])
    return disturb(rng, rng.choice(["", "", "-", "+"]) + prefix + body)


def random_float_text(rng):
    if rng.random() < 0.1:
        name = rng.choice(["inf", "Infinity", "nan", "NaN", "INF", "infin"])
        return disturb(rng, rng.choice(["", "-", "+"]) + name)
    if rng.random() < 0.2:
        return disturb(rng, repr(random_float(rng)))
    s = rng.choice(["", "", "-", "+"])
    s += random_digits(rng) if rng.random() < 0.8 else "0" * rng.randint(0, 30)
    if rng.random() < 0.6:
        s += "." + (random_digits(rng) if rng.random() < 0.8 else "")
    if rng.random() < 0.5:
        exponent = rng.choice([0, 5, 20, 300, 308, 324, 400, 10**20])
        s += rng.choice("eE") + rng.choice(["", "-", "+"]) + str(exponent)
    return disturb(rng, s)


# ---- operations: each gives the words of the line and what Python does

def power(a, b):
    """a ** b; where that is complex, the ValueError that stands for it."""
    if a < 0 and isinstance(a + b, float) and math.isfinite(a) and math.isfinite(b) and b != math.floor(b):
        raise ValueError("negative number cannot be raised to a fractional power: there are no complex numbers")
    return a ** b


BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
          "//": operator.floordiv, "%": operator.mod, "**": power}
COMPARE = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
           ">": operator.gt, ">=": operator.ge, "in": lambda a, b: a in b,
           "not_in": lambda a, b: a not in b}
UNARY = {"neg": operator.neg, "pos": operator.pos, "abs": abs, "trunc": int, "str": str}


def is_size_of_python(name, a, b):
    """Is the result small enough to be worth it, and no limit of ours?"""
    if name == "**" and isinstance(a, int) and isinstance(b, int):
        return abs(a) <= 1 or b <= 0 or a.bit_length() * b < 20_000
    if name == "*":
        for sequence, count in ((a, b), (b, a)):
            if isinstance(sequence, (str, list, tuple)) and isinstance(count, int):
                return count < 50 or count >= 2**63
    return True


def binary_of_numbers(rng):
    while True:
        name, a, b = rng.choice(list(BINARY)), random_number(rng), random_number(rng)
        if name == "**" and rng.random() < 0.8:
            b = rng.choice([rng.randint(-3, 30), 0.5, 2.0, -1.5, b])
        if is_size_of_python(name, a, b):
            return name, [a, b], BINARY[name]


def binary_of_values(rng):
    while True:
        name, a, b = rng.choice("+++***-/%"), random_value(rng), random_value(rng)
        if rng.random() < 0.3:
            b = random_value(rng, 1) if name != "*" else rng.randint(-2, 5)
        if rng.random() < 0.2:
            a, b = b, a
        if name == "%" and isinstance(a, str):  # formatting has its own oracle
            continue
        if is_size_of_python(name, a, b):
            return name, [a, b], BINARY[name]


def compare_numbers(rng):
    name, a = rng.choice(["==", "!=", "<", "<=", ">", ">="]), random_number(rng)
    b = similar_to(rng, a) if rng.random() < 0.6 else random_number(rng)
    return name, [a, b], COMPARE[name]


def compare_values(rng):
    name, a = rng.choice(list(COMPARE)), random_value(rng)
    b = similar_to(rng, a) if rng.random() < 0.6 else random_value(rng)
    if "in" in name and rng.random() < 0.5:
        b = [random_value(rng, 1), b] if rng.random() < 0.5 else random_dict(rng, 1)
        a = random_scalar(rng) if isinstance(b, dict) else a
    if "in" in name and isinstance(b, dict) and a != a:
        a = None  # NaN as a key is found by identity
    return name, [a, b], COMPARE[name]


def substring_of(rng):
    haystack = random_str(rng, 60)
    at = rng.randint(0, len(haystack))
    needle = haystack[at : at + rng.randint(0, 50)] if rng.random() < 0.7 else random_str(rng, 2)
    return "in", [needle, haystack], COMPARE["in"]


def unary(rng):
    name = rng.choice(list(UNARY))
    if name == "trunc":
        v = random_float(rng)
    elif name == "str" or (name != "abs" and rng.random() < 0.3):
        v = random_number(rng) if name == "str" else random_value(rng)
    else:
        v = random_number(rng)
    return name, [v], UNARY[name]


def subscript(rng):
    container = random_value(rng)
    if rng.random() < 0.6:
        members = [random_value(rng, 1) for _ in range(5)]
        container = rng.choice([random_str(rng, 20), members, tuple(members)])
    key = rng.choice([rng.randint(-7, 7), rng.randint(-22, 22), True, random_int(rng),
                      random_value(rng, 1)])
    if isinstance(container, dict) and container and rng.random() < 0.6:
        key = similar_to(rng, rng.choice(list(container)))
    if key != key:
        key = 0
    return "subscript", [container, key], operator.getitem


def random_bound(rng):
    kind = rng.random()
    if kind < 0.35:
        return None
    if kind < 0.9:
        return rng.randint(-9, 9)
    return rng.choice([random_int(rng), random_scalar(rng), True])


def slicing(rng):
    container = random_value(rng)
    if rng.random() < 0.8:
        members = [random_value(rng, 1) for _ in range(rng.randint(0, 8))]
        container = rng.choice([random_str(rng, 20), members, tuple(members)])
    step = rng.choice([None, None, 1, -1, 2, -2, 3, random_bound(rng)])
    run = lambda v, a, b, c: v[a:b:c]
    return "slice", [container, random_bound(rng), random_bound(rng), step], run


def rounding(rng):
    v = random_number(rng)
    digits = rng.choice([None, rng.randint(-4, 6), rng.randint(-30, 30),
                         rng.choice([-400, -309, -308, 323, 324])])
    if rng.random() < 0.03:
        digits = rng.choice([1.5, "1", True, 2**70])
    return "round", [v, digits], round


def or_none(run):
    def guarded(*args):
        try:
            return run(*args)
        except ValueError:
            return None
    return guarded


def parse_int(rng):
    base = rng.choice([10, 10, 10, 0, 0, 16, 2, 8, 36, 3, 32, 1, 37])
    return f"int {base}", [random_int_text(rng)], or_none(lambda s: int(s, base))


def parse_float(rng):
    return "float", [random_float_text(rng)], or_none(float)


def format_real(rng):
    kind = rng.choice("eEfFgG%n0")
    precision = rng.choice([-1, 0, 1, 2, 3, 6, 10, 16, 17, 18, 25, 40, 400])
    alternate = rng.random() < 0.3
    spec = "#" * alternate + (f".{precision}" if precision >= 0 else "") + kind.replace("0", "")
    name = f"format_real {kind} {precision} {int(alternate)}"
    return name, [random_float(rng)], lambda x: format(x, spec)


def format_integer(rng):
    base, code = rng.choice([(2, "b"), (8, "o"), (10, "d"), (16, "x")])
    n = random_int(rng)
    if rng.random() < 0.02:  # around the limit of digits
        n = 10 ** rng.choice([4298, 4299, 4300, 4301]) * rng.choice([1, -1]) - rng.choice([0, 1])
    return f"format_integer {base}", [n], lambda x: format(x, code)


def same_hash(rng):
    a = random_number(rng)
    b = similar_to(rng, a)
    while a != b:
        b = a = random_number(rng)
    return "same_hash", [a, b], lambda a, b: True


MAKERS = [binary_of_numbers, binary_of_numbers, binary_of_numbers, binary_of_values,
          compare_numbers, compare_values, substring_of, unary, unary, subscript, slicing, slicing,
          rounding, rounding, parse_int, parse_float, format_real, format_real, format_integer,
          same_hash]


def expectation(run, operands):
    sys.set_int_max_str_digits(MAX_DIGITS)
    try:
        result = run(*operands)
    except Exception as e:  # noqa: BLE001: every class is compared
        return f"!{type(e).__name__} {to_hex(str(e))}"
    finally:
        sys.set_int_max_str_digits(0)  # operands and results are written whatever their size
    return write(result)


def readable(answer):
    if not answer.startswith("!"):
        return answer
    name, _, message = answer.partition(" ")
    return f"{name} {bytes.fromhex(message).decode('utf-8', 'replace')}"


def main(arguments):
    if sys.version_info[:2] != (3, 11):
        print("skipped: the messages compared with are those of Python 3.11")
        return SKIPPED
    program = arguments[0]
    count = int(arguments[1]) if len(arguments) > 1 else 200_000
    rng = random.Random(int(arguments[2]) if len(arguments) > 2 else 1)
    sys.set_int_max_str_digits(0)
    lines, expected, about = [], [], []
    for _ in range(count):
        name, operands, run = rng.choice(MAKERS)(rng)
        expected.append(expectation(run, operands))
        lines.append(" ".join([name, *(write_operand(rng, v) for v in operands)]))
        about.append(f"{name} {operands!r}"[-300:])
    text = "\n".join(lines) + "\n"
    done = subprocess.run([program], input=text, stdout=subprocess.PIPE, text=True)
    answers = done.stdout.splitlines()
    wrong = [i for i in range(count) if i >= len(answers) or answers[i] != expected[i]]
    for i in wrong[:SHOWN]:
        got = answers[i] if i < len(answers) else "(no answer)"
        print(f"{about[i].encode('utf-8', 'backslashreplace').decode()}\n"
              f"    python   {readable(expected[i])[-150:]}\n    parlance {readable(got)[-150:]}")
    raised = sum(e.startswith("!") for e in expected)
    print(f"{count} operations, {raised} of them raising: {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
