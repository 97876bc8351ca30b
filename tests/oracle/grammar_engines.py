"""The printed grammars in the engines that read them: grammar_engines.py GRAMMAR_DUMP FORMATS_FOLDER... [--samples N] [--verbose]

For each format and setting: xgrammar reads the GBNF (its EBNF is nearly the same language) and the structural tag, llguidance the
Lark, and Python's jsonschema the JSON Schema. Each engine accepts what the grammar allows; with a planted fault that our
matcher refuses, engines refuse it as well, but for what Lark leaves to llguidance's own JSON and tags to xgrammar's.
"""
import argparse
import functools
import importlib.machinery
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = (HERE.parent / "grammars" / "tools.json").read_text()


def without_torch():
    """xgrammar imports torch for masks on a GPU, and transformers, which takes a second, to know its tokenizers; what is used here needs
    neither."""
    os.environ["TVM_FFI_DISABLE_TORCH_C_DLPACK"] = "1"
    os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
    torch = types.ModuleType("torch")

    def anything(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda self, *a, **k: None})

    torch.Tensor = type("Tensor", (), {})
    torch.dtype = type("dtype", (), {})
    torch.device = type("device", (), {})
    torch.int32 = torch.dtype()
    torch.__version__ = "0"
    torch.cuda = types.SimpleNamespace(is_available=lambda: False)
    torch.__getattr__ = anything
    torch.__spec__ = importlib.machinery.ModuleSpec("torch", None)
    sys.modules["torch"] = torch
    if "transformers" not in sys.modules:
        transformers = types.ModuleType("transformers")
        for name in ("PreTrainedTokenizerBase", "PreTrainedTokenizerFast", "LogitsProcessor"):
            setattr(transformers, name, type(name, (), {}))
        transformers.__spec__ = importlib.machinery.ModuleSpec("transformers", None)
        sys.modules["transformers"] = transformers


try:
    without_torch()
    import llguidance
    import xgrammar
    from xgrammar.testing import _get_matcher_from_grammar
except ImportError as error:
    print(f"skipped: {error}; run tests/oracle/setup.sh first")
    sys.exit(77)


class Bytes:
    """A tokenizer whose tokens are bytes."""
    eos_token_id = 256
    bos_token_id = None
    unk_token_id = None
    tokens = [bytes([b]) for b in range(256)] + [b"<|end|>"]
    special_token_ids = [256]

    def __call__(self, text):
        return list(text if isinstance(text, bytes) else text.encode())


TOKENIZER = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Bytes()))


# To compile a grammar takes far longer than to read a text, and texts come grammar by grammar.
@functools.lru_cache(4)
def lark_matcher(grammar):
    return llguidance.LLMatcher(TOKENIZER, llguidance.LLMatcher.grammar_from_lark(grammar), log_level=0)


last_xgrammar = []  # a grammar and its matcher


def xgrammar_matcher(grammar):
    if not last_xgrammar or last_xgrammar[0] is not grammar:
        last_xgrammar[:] = grammar, _get_matcher_from_grammar(grammar)
    last_xgrammar[1].reset()
    return last_xgrammar[1]


def lark_accepts(grammar, text):
    matcher = lark_matcher(grammar).deep_copy()
    data = list(text.encode())
    if matcher.is_error():
        raise ValueError(matcher.get_error())
    return matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting()


def xgrammar_accepts(grammar, text):
    matcher = xgrammar_matcher(grammar)
    return matcher.accept_string(text) and matcher.is_terminated()


def is_narrower(text):
    """What the engines' own JSON does not allow: escapes that spell a plain character, -0, exponents, more than six decimals, escapes in a
    text whose length is counted; and calls of a list without a comma, which tags_with_separator cannot say."""
    return re.search(r'"tags":\s*\[[^]]*\\|\\[u/\\]|-0|[0-9][eE][+-]?[0-9]|}\n{|[0-9]{18}|\.[0-9]{7}', text) is not None


LOOSE = ("any_order", "text_around_calls")


def planted(text, source):
    at = source.randrange(len(text))
    kind = source.randrange(3)
    return text[:at] + (("", text[at] * 2, source.choice('"}{<>x\n:,'))[kind]) + text[at + 1:]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("dump")
    arguments.add_argument("folders", nargs="+")
    arguments.add_argument("--samples", type=int, default=40)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--verbose", action="store_true")
    options = arguments.parse_args()
    process = subprocess.Popen([options.dump], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(**request):
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    source = random.Random(20260314)
    failures = []
    settings = [("auto", True, True, ()), ("auto", False, False, ()), ("required", True, True, ()), ("get_weather_history", False, True, ()),
                ("none", True, True, ()), ("auto", True, False, LOOSE), ("required", False, True, LOOSE)]
    files = sorted(f for folder in options.folders for f in pathlib.Path(folder).glob("*.reply.json"))
    for file in files:
        if options.only not in file.name:
            continue
        counts = {}
        has_calls = bool(json.loads(file.read_text()).get("calls"))
        for choice, parallel, reasoning, loose in (setting for setting in settings if has_calls or setting[0] in ("auto", "none")):
            base = {"format": file.read_text(), "tools": TOOLS, "choice": choice, "parallel": parallel, "reasoning": reasoning, **dict.fromkeys(loose, True)}
            answer = ask(**base, samples=options.samples, seed=source.randrange(1 << 30), syntaxes=["gbnf", "lark", "structural-tag", "json-schema"])
            if "error" in answer:
                failures.append(f"{file.name} {choice}: {answer['error']}")
                continue
            good = [s["text"] for s in answer["samples"] if len(s["text"]) < 3000]
            bad = [planted(t, source) for t in good if t]
            refused = ask(**base, texts=bad)["accepts"]
            bad = [t for t, accepted in zip(bad, refused) if not accepted]
            for name, accepts, build, same in (
                ("gbnf", xgrammar_accepts, lambda: xgrammar.Grammar.from_ebnf(answer["texts"]["gbnf"]), True),
                ("structural-tag", xgrammar_accepts, lambda: xgrammar.Grammar.from_structural_tag(answer["texts"]["structural-tag"]), False),
                ("lark", lark_accepts, lambda: answer["texts"]["lark"], False),
            ):
                try:
                    grammar = build()
                    own = good
                    own = own if same else [t for t in own if not is_narrower(t)]
                    taken = [accepts(grammar, t) for t in own]
                    wrong = [accepts(grammar, t) for t in bad]
                except Exception as error:
                    failures.append(f"{file.name} {choice} {name}: {str(error)[:400]}")
                    continue
                count = counts.setdefault(name, [0, 0, 0, 0])
                count[0] += sum(taken)
                count[1] += len(own)
                count[2] += len(bad) - sum(wrong)
                count[3] += len(bad)
                for text, ok in zip(own, taken):
                    if not ok:
                        failures.append(f"{file.name} {choice} {parallel} {reasoning} {name}: refused {text!r}")
                for text, ok in zip(bad, wrong):
                    if ok and same:
                        failures.append(f"{file.name} {choice} {name}: accepted {text!r}")
        print(f"{file.name:28} " + "  ".join(f"{n}: {c[0]}/{c[1]} accepted, {c[2]}/{c[3]} refused" for n, c in counts.items()), flush=True)
    nothing = ask(schema="false", syntaxes=["lark"])["texts"]["lark"]
    if lark_accepts(nothing, "") or lark_accepts(nothing, "0"):
        failures.append("a schema that no value fits: accepted")
    process.stdin.close()
    for failure in failures[: 1000 if options.verbose else 12]:
        print("FAULT", failure[:1500])
    print(len(failures), "faults")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
