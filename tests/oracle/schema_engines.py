"""Schemas in the engines: schema_engines.py GRAMMAR_DUMP [--samples N] [--seed N] [--only TEXT] [--list] [--every N]

The law: whatever a schema says, each syntax's grammar of it is read by its engine, accepts what our matcher accepts, and refuses what
our matcher refuses. GBNF goes to llama.cpp itself, where its library can be had (real_tokenizers.py), and to xgrammar, which reads
nearly the same language; Lark to llguidance; structural tags to xgrammar. The schemas: tests/grammars/odd_schemas.json, and those of
the official suite of draft 2020-12, whose instances are tried too (with --every, of one in N). Each as the schema of a value, and as that of a tool's parameters.

An engine's own JSON has more spellings than ours (escapes, white space, -0, the order of members): what is accepted counts as too much
only where our matcher refuses the value's plain spelling, too. Begin reading at Law.schema.
"""
import argparse
import json
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import grammar_engines  # noqa: E402  (stands in for torch, and skips where nothing is installed)
import llguidance  # noqa: E402
import real_tokenizers  # noqa: E402
import xgrammar  # noqa: E402
from grammar_matchers import LlamaCpp  # noqa: E402
from real_engines import Dump  # noqa: E402

SUITE = HERE.parent.parent / "build" / "oracle" / "json-schema-suite" / "draft2020-12"
FORMAT = (HERE.parent.parent / "formats" / "terminal-agent.reply.json").read_text()
SYNTAXES = ["gbnf", "lark", "structural-tag"]
LONGEST = 4000


class Bytes:
    """A vocabulary of bytes, as llama.cpp takes one."""
    name = "bytes"

    def __init__(self, folder):
        printable = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
        others = iter(range(256, 512))
        self.names = [chr(b) if b in printable else None for b in range(256)]
        self.names = [name if name else chr(next(others)) for name in self.names] + ["<|end|>"]
        self.control = [{"id": 256, "text": "<|end|>", "special": True}]
        self.plain, self.special, self.eos, self.folder = {}, {256}, 256, folder
        self.pieces = [bytes([b]) for b in range(256)] + [b"<|end|>"]
        self.metadata = {"vocab_type": xgrammar.VocabType.BYTE_LEVEL}

    def __len__(self):
        return 257


def accepts_of(name, llama):
    """What reads a grammar's text and gives a function that tells which texts it accepts."""
    def by_lark(text):
        message = llguidance.LLMatcher.validate_grammar(llguidance.LLMatcher.grammar_from_lark(text), grammar_engines.TOKENIZER)
        if message and not message.startswith("WARNING"):
            raise ValueError(message)
        return lambda reply: grammar_engines.lark_accepts(text, reply)

    def by_llama(text):
        llama.matcher(text)

        def accepts(reply):
            matcher, data = llama.matcher(text), list(reply.encode())
            return matcher.take(data) == len(data) and matcher.may_end()
        return accepts

    def by_xgrammar(make):
        def build(text):
            grammar = make(text)
            return lambda reply: grammar_engines.xgrammar_accepts(grammar, reply)
        return build
    return {"llama.cpp": by_llama, "llguidance": by_lark, "xgrammar's EBNF": by_xgrammar(xgrammar.Grammar.from_ebnf),
            "xgrammar": by_xgrammar(xgrammar.Grammar.from_structural_tag)}[name]


class Members(list):
    """Of an object, as they stand: one may stand there twice."""


def plain(text):
    """The text as Python prints its value, or nothing where it is no JSON."""
    try:
        return printed(json.loads(text, object_pairs_hook=Members))
    except (ValueError, RecursionError):
        return None


def printed(value):
    if isinstance(value, Members):
        return "{" + ", ".join(f"{printed(key)}: {printed(member)}" for key, member in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(printed, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def has_surrogate_text(text):
    """Whether there may be half of a pair among the escapes."""
    return re.search(r"\\u[dD][89a-fA-F]", text) is not None


class Law:
    def __init__(self, options):
        self.options = options
        self.dump = Dump(options.dump)
        self.source = random.Random(options.seed)
        self.engines = {"llguidance": "lark", "xgrammar": "structural-tag", "xgrammar's EBNF": "gbnf"}
        self.llama = None
        try:
            folder = real_tokenizers.llama_folder()
            bytes_folder = real_tokenizers.FOLDER / "bytes"
            bytes_folder.mkdir(parents=True, exist_ok=True)
            self.llama = LlamaCpp(Bytes(bytes_folder), folder)
            self.engines["llama.cpp"] = "gbnf"
        except real_tokenizers.Unavailable as error:
            print(f"skipped: llama.cpp: {error}")
        self.counts = {name: dict.fromkeys(("grammars", "read", "accepted", "refused"), 0) for name in self.engines}
        self.faults = []

    def fault(self, schema, engine, what):
        self.faults.append(f"{schema} | {engine}: {what}")

    def schema(self, name, schema, instances):
        for as_tool in (False, True):
            base = {"schema": json.dumps(schema)}
            wrap = lambda text: text
            if as_tool:
                tools = [{"type": "function", "function": {"name": "it", "parameters": schema}}]
                base = {"format": FORMAT, "tools": json.dumps(tools), "choice": "required", "reasoning": False, "parallel": False}
                wrap = lambda text: '<tool_call>\n{"name": "it", "arguments": ' + text + "}\n</tool_call>"
            texts = [wrap(json.dumps(i, ensure_ascii=False)) for i in instances]
            answer = self.dump.ask(**base, samples=self.options.samples, plain=True, seed=self.source.randrange(1 << 30), syntaxes=SYNTAXES, texts=texts)
            if "error" in answer:  # of a tool that no value fits; which none does is not the engines' affair
                continue
            good = [s["text"] for s in answer["samples"] if len(s["text"]) < LONGEST]
            good += [text for text, accepted in zip(texts, answer["accepts"]) if accepted]
            bad = self.refused(base, good, [text for text, accepted in zip(texts, answer["accepts"]) if not accepted], wrap)
            for engine, syntax in self.engines.items():
                self.engine(name + (", of a tool" if as_tool else ""), engine, answer["texts"][syntax], good, bad)

    def refused(self, base, good, bad, wrap):
        """Texts that our matcher refuses, in their plain spelling too."""
        front, back = wrap("\0").split("\0")
        bad = bad + [grammar_engines.planted(text, self.source) for text in good if text]
        twice = []
        for text in bad:
            bare = text.strip("\n")  # line ends round a call are the grammar's own
            inner = bare[len(front): len(bare) - len(back)] if bare.startswith(front) and bare.endswith(back) else None
            again = plain(inner) if inner else None
            twice += [text, text if again is None else front + again + back]
        accepts = self.dump.ask(**base, texts=twice)["accepts"]
        # Half of a pair of escapes is a text to Python and to xgrammar, and none in UTF-8.
        halves = [has_surrogate_text(text) for text in bad]
        return [text for i, text in enumerate(bad) if not accepts[2 * i] and not accepts[2 * i + 1] and not halves[i]]

    def engine(self, name, engine, text, good, bad):
        count = self.counts[engine]
        count["grammars"] += 1
        try:
            accepts = accepts_of(engine, self.llama)(text)
            count["read"] += 1
            for reply in good:
                if engine != "llama.cpp" and grammar_engines.is_narrower(reply):
                    continue
                if accepts(reply):
                    count["accepted"] += 1
                else:
                    self.fault(name, engine, f"refuses {reply!r}")
            for reply in bad:
                if accepts(reply):
                    self.fault(name, engine, f"accepts {reply!r}")
                else:
                    count["refused"] += 1
        except (ValueError, RuntimeError) as error:
            self.fault(name, engine, f"does not read it: {str(error)[:500]}")


def schemas(only, every):
    odd = json.loads((HERE.parent / "grammars" / "odd_schemas.json").read_text())
    for name, entry in odd.items():
        if only in name:
            yield name, entry["schema"], entry.get("tried", []) + [None, {}, [], 0, "x", {"a": "x"}, {"a": 1, "zz": 2}, {"a": "x", "undeclared": 1}]
    for number, file in enumerate(sorted(SUITE.glob("*.json"))):
        for group in json.loads(file.read_text())[number % every :: every]:
            name = f"{file.stem}: {group['description']}"
            if only in name:
                yield name, group["schema"], [t["data"] for t in group["tests"] if not has_surrogate(t["data"])]


def has_surrogate(value):
    return any(0xD800 <= ord(c) < 0xE000 for c in json.dumps(value, ensure_ascii=False))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("dump")
    arguments.add_argument("--samples", type=int, default=4)
    arguments.add_argument("--seed", type=int, default=20260314)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--every", type=int, default=1)
    options = arguments.parse_args()
    law = Law(options)
    number = 0
    for name, schema, instances in schemas(options.only, options.every):
        law.schema(name, schema, instances)
        number += 1
    for engine, count in law.counts.items():
        print(f"{engine:16} {count['read']}/{count['grammars']} grammars read, {count['accepted']} texts accepted, {count['refused']} refused")
    for fault in law.faults[: None if options.list else 20]:
        print("FAULT", fault[:700])
    print(f"{number} schemas, {len(law.faults)} faults")
    return 1 if law.faults or not number else 0


if __name__ == "__main__":
    sys.exit(main())
