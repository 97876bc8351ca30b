#!/usr/bin/env python3
"""Damaged tokenizer.json files: each is an error that says what is wrong, and none is a crash.

    tokenizer_errors.py TOKEN_DUMP [COUNT]

FAULTS names for each fault what the message must hold. Then every one of the trained tokenizers is cut short, and loses
or changes one value at a time at random, COUNT times. Needs no oracle but the trained tokenizers; without them the second part is
left out. Begin reading at FAULTS.
"""

import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "build" / "oracle" / "tokenizers"
BPE = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
UNIGRAM = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}


def file(model=None, **parts):
    return json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None,
                       "decoder": None, "model": BPE if model is None else model} | parts)


def split(regex):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}


def token(content, number=9, **flags):
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": number, "content": content} | {name: False for name in names} | flags


def many(step, count):
    return {"type": "Sequence", "normalizers": [step] * count}


# (the file, the error's code, what its message must hold)
FAULTS = [
    ("", "json", "Expecting"),
    ("{", "json", ""),
    ('{"version": "1.0",\n "model": }', "json", ""),
    ("{'a': 1}", "json", ""),
    ("[1, 2]", "tokenizer", "object"),
    ("null", "tokenizer", "object"),
    ("{}", "tokenizer", "model"),
    (file({"type": "Hash"}), "tokenizer", "Hash"),
    (file([]), "tokenizer", "model"),
    (file(None, version="2.0"), "tokenizer", "2.0"),
    (file(BPE | {"vocab": []}), "tokenizer", "model"),
    (file(BPE | {"vocab": {"a": -1}}), "tokenizer", "model"),
    (file(BPE | {"vocab": {"a": 4294967296}}), "tokenizer", "model"),
    (file(BPE | {"vocab": BPE["vocab"] | {"c": 4294967295}}), "tokenizer", "4294967295"),
    (file(BPE | {"vocab": BPE["vocab"] | {"c": 2147483647}}), "tokenizer", "2147483647"),
    (file(BPE | {"merges": [["a", "x"]]}), "tokenizer", "x"),
    (file(BPE | {"merges": ["a"]}), "tokenizer", "model"),
    (file(BPE | {"merges": [["a", "a"]]}), "tokenizer", "aa"),
    (file(UNIGRAM | {"vocab": []}), "tokenizer", "model"),
    (file(UNIGRAM | {"unk_id": 7}), "tokenizer", "UnkId"),
    (file({"type": "WordPiece", "vocab": {}}), "tokenizer", "model"),
    (file({"type": "WordLevel", "vocab": {"a": "b"}, "unk_token": "a"}), "tokenizer", "model"),
    (file(pre_tokenizer=split("(")), "tokenizer", "pre_tokenizer"),
    (file(pre_tokenizer=split("[a")), "tokenizer", "pre_tokenizer"),
    (file(pre_tokenizer={"type": "Guess"}), "tokenizer", "pre_tokenizer"),
    (file(normalizer={"type": "Replace", "pattern": {"Regex": "*"}, "content": ""}), "tokenizer", "normalizer"),
    (file(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}), "tokenizer", ""),
    (file(normalizer=3), "tokenizer", "normalizer"),
    (file(normalizer=many({"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 100}, 8)), "limit_memory", "65536"),
    (file(decoder={"type": "Sequence", "decoders": [1]}), "tokenizer", "decoder"),
    (file(post_processor={"type": "TemplateProcessing", "single": ["<s>", "$A"], "pair": [], "special_tokens": {}}), "tokenizer", ""),
    (file(added_tokens={}), "tokenizer", ""),
    (file(added_tokens=[{"id": 1}]), "tokenizer", "added_tokens"),
    (file(added_tokens=[token("x") | {"special": "yes"}]), "tokenizer", "added_tokens"),
    ("[" * 100000, "", ""),
    (file(normalizer=None).replace('"normalizer": null', '"normalizer": ' + '{"type":"Sequence","normalizers":[' * 200 + "]}" * 200),
     "", ""),
]

# Odd, but a tokenizer; what it must do with a text.
FINE = [
    (file(added_tokens=[token("")]), "guarded 6162"),
    (file(added_tokens=[token("ab"), token("ab", 5)]), "guarded 6162"),
    (file(pre_tokenizer={"type": "FixedLength", "length": 0}), "own 6162"),
    (file(pre_tokenizer=split("(a*)*b|(?=(a+))\\1$")), "own " + "61" * 2000),
    (file(UNIGRAM | {"unk_id": None}), "guarded 7a"),
    (file({"type": "BPE", "vocab": {}, "merges": []}), "guarded 7a"),
    (file({"type": "BPE", "vocab": {}, "merges": [], "unk_token": "u"}), "guarded 7a"),
    (file(normalizer={"type": "Replace", "pattern": {"String": ""}, "content": "x"}), "own 6162"),
    (file(post_processor={"type": "BertProcessing", "sep": ["s", 4294967295], "cls": ["c", 1]}), "own 61"),
]


class Dump:
    def __init__(self, program, folder):
        self.program, self.path = program, pathlib.Path(folder) / "tokenizer.json"

    def answer(self, text, questions="own 61\n"):
        self.path.write_text(text, "utf-8")
        done = subprocess.run([self.program, self.path], input=questions, capture_output=True, text=True, timeout=60)
        if done.returncode != 0 or done.stderr:
            raise SystemExit(f"ended with {done.returncode}: {done.stderr}\n{text[:2000]}")
        lines = done.stdout.split("\n")
        if not lines[0].startswith(("error ", "facts ")):
            raise SystemExit(f"neither error nor facts: {lines[0]}")
        return lines

    def error(self, text):
        """(code, line, message), or None."""
        words = self.answer(text)[0].split(" ")
        return (words[1], int(words[2]), bytes.fromhex(words[3]).decode()) if words[0] == "error" else None


def check_faults(dump):
    faults = 0
    for text, code, part in FAULTS:
        error = dump.error(text)
        if error is None or code not in ("", error[0]) or part not in error[2] or not error[2] or (error[0] == "json" and text and not error[1]):
            faults += 1
            print(f"{text[:200]}\n  {error}, wanted {code} with {part!r}")
    for text, question in FINE:
        lines = dump.answer(text, question + "\n")
        if not lines[0].startswith("facts") or not lines[1].startswith(("ok", "error")):
            faults += 1
            print(f"{text[:200]}\n  {lines[:2]}, wanted a tokenizer")
    return faults


def paths_of(value, path=()):
    """The places of all values but the many of a vocabulary."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items)[:12]:
        yield from paths_of(inner, path + (key,))


def damaged(source, paths, maker):
    """Only what leads to the place is copied: a vocabulary is long."""
    path = maker.choice(paths)
    value = inner = copy.copy(source)
    for key in path[:-1]:
        inner[key] = copy.copy(inner[key])
        inner = inner[key]
    if maker.random() < 0.3:
        del inner[path[-1]]
    else:
        inner[path[-1]] = maker.choice([None, -1, 0, 1, 1 << 31, 1 << 32, 0.5, "", "x", "<s>", "(", [], {}, [[]], True, ["a", "b"]])
    return json.dumps(value, ensure_ascii=False)


def check_damaged(dump, count):
    maker = random.Random(20260314)
    opened = refused = 0
    question = "own 3c733e61206220c3a9\nguarded 3c733e61206220c3a9\n"
    for path in sorted(FOLDER.glob("*/tokenizer.json")):
        text = path.read_text("utf-8")
        source = json.loads(text)
        paths = [path for path in paths_of(source) if path]
        for number in range(count):
            made = text[:maker.randrange(len(text))] if number < 3 else damaged(source, paths, maker)
            if dump.answer(made, question)[0].startswith("error"):
                refused += 1
            else:
                opened += 1
    print(f"damaged files: {refused} refused, {opened} still tokenizers")


def main():
    with tempfile.TemporaryDirectory() as folder:
        dump = Dump(sys.argv[1], folder)
        faults = check_faults(dump)
        check_damaged(dump, int(sys.argv[2]) if sys.argv[2:] else 40)
    print(f"{len(FAULTS) + len(FINE)} files, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
