#!/usr/bin/env python3
"""Holds what parlance makes of the files beside a tokenizer.json against transformers, over folders made at random.

    beside_oracle.py TOKEN_DUMP [--count N] [--seed N] [--settings-every N]

A folder has the tokenizer.json of a trained tokenizer, now and then with an added token taken out so that those behind it are numbered
anew, and beside it tokenizer_config.json, special_tokens_map.json and added_tokens.json, which name tokens that are there, that are
ordinary pieces, and that nobody has, as texts and as objects with flags, by name, in lists and by number. Compared are the added tokens
with their ids and flags, and the ids of texts made of them. An object that gives a text other flags than one before it is left out. Where transformers does not open a folder, nothing is compared. Then, for
each class that a configuration may name, what is put around a text where the post-processor and add_bos_token, add_eos_token agree or do not; with
--settings-every, of one combination in so many. Ends with 1 on a difference, with 77 where there is nothing to compare with. Begin reading at main.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "build" / "oracle" / "tokenizers"
os.environ.update(TOKENIZERS_PARALLELISM="false", RUST_BACKTRACE="0")
try:
    from transformers import AutoTokenizer, PreTrainedTokenizerFast
except ImportError:
    print("skipped: run tests/oracle/setup.sh first")
    sys.exit(77)

NEW = ["[PAD]", "<image>", "<|extra|>", "<new token>", "<é>", "  pad", "<|im_start|>x"]
NAMES = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token", "image_token", "boi_token"]
FLAGS = ["lstrip", "rstrip", "normalized", "single_word"]


class Maker:
    def __init__(self, rng, tokenizer):
        self.rng = rng
        self.there = [token["content"] for token in tokenizer["added_tokens"]]
        vocab = tokenizer["model"]["vocab"]
        pieces = [piece if isinstance(piece, str) else piece[0] for piece in vocab]
        self.pieces = [piece for piece in pieces if piece.isalpha() and piece.isascii()][-40:] or ["a"]
        self.texts = set()

    def text(self):
        made = self.rng.choice(self.rng.choice([self.there, NEW, NEW, NEW, self.pieces]))
        self.texts.add(made)
        return made

    def object(self, special):
        before = set(self.texts)
        text = next((text for text in (self.text() for _ in range(20)) if text not in before), self.rng.choice(self.pieces))
        made = {"content": text} | {flag: self.rng.random() < 0.3 for flag in FLAGS}
        return made | ({"special": self.rng.random() < 0.6} if special else {})

    def token(self):
        """As a configuration has it."""
        return self.text() if self.rng.random() < 0.7 else self.object(False) | {"__type": "AddedToken"}

    def files(self):
        rng, config, files = self.rng, {"tokenizer_class": "PreTrainedTokenizerFast"}, {}
        config.update((name, self.token()) for name in NAMES if rng.random() < 0.25)
        if rng.random() < 0.3:
            config[rng.choice(["additional_special_tokens", "extra_special_tokens"])] = [self.token() for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.4:
            first = rng.choice([0, 1500, 1800, 9000])
            config["added_tokens_decoder"] = {str(first + 3 * i): self.object(True) for i in range(rng.randint(1, 4))}
        if rng.random() < 0.3:
            files["special_tokens_map.json"] = {name: self.text() if rng.random() < 0.5 else self.object(False)
                                                for name in NAMES[:7] if rng.random() < 0.3}
        if rng.random() < 0.2:
            files["added_tokens.json"] = {self.text(): 2000 + 7 * i for i in range(2)}
        return files | {"tokenizer_config.json": config}

    def prompts(self):
        words = [*self.texts, *self.there, "hello", " ", "  ", "\n", "a", "."]
        return ["".join(self.rng.choice(words) for _ in range(8)) for _ in range(12)]


def flags_of(token):
    return sum(getattr(token, name) << bit for bit, name in enumerate(("special", "lstrip", "rstrip", "normalized", "single_word")))


def ours(program, folder, texts):
    lines = "".join(f"own {text.encode().hex()}\n" for text in texts)
    answers = subprocess.run([program, folder], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    if not answers[0].startswith("facts"):
        return answers[0], []
    words = answers[0].split()
    split = [word.split(":") for word in words[words.index("added") + 1:]]
    added = {int(number): (int(flags) & 31, bytes.fromhex(text).decode()) for number, flags, text in split}
    return added, [[int(token.split(":")[0]) for token in answer.split()[1:]] if answer.startswith("ok") else answer for answer in answers[1:]]


CLASSES = [None, "PreTrainedTokenizerFast", "TokenizersBackend", "LlamaTokenizerFast", "LlamaTokenizer", "GPT2TokenizerFast", "GPTNeoXTokenizerFast",
           "GPTNeoXTokenizer", "CodeLlamaTokenizer", "CodeLlamaTokenizerFast", "GemmaTokenizerFast", "CohereTokenizerFast", "Qwen2Tokenizer"]


def post_processor(tokenizer, bos, eos):
    ids = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    mark = {name: {"SpecialToken": {"id": name, "type_id": 0}} for name in ("<s>", "</s>")}
    return {"type": "TemplateProcessing", "single": [mark["<s>"]] * bos + [text] + [mark["</s>"]] * eos,
            "pair": [text, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in mark}}


def around(program, folder):
    """What parlance puts before and after a text."""
    words = subprocess.run([program, folder], input="", capture_output=True, text=True, check=True).stdout.split()
    before, after = words[words.index("before") + 1:words.index("after")], words[words.index("after") + 1:words.index("added")]
    return [*map(int, before)], [*map(int, after)]


def check_around(program, every):
    """(compared, wrong)"""
    tokenizer = json.loads((FOLDER / "llama2" / "tokenizer.json").read_text("utf-8"))
    compared = wrong = 0
    combinations = itertools.product(CLASSES, [None, (0, 0), (1, 0), (1, 1)], [None, True, False], [None, True, False])
    for name, post, add_bos, add_eos in itertools.islice(combinations, 0, None, every):
        config = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
        settings = {"tokenizer_class": name, "add_bos_token": add_bos, "add_eos_token": add_eos}
        config.update((key, value) for key, value in settings.items() if value is not None)
        with tempfile.TemporaryDirectory() as folder:
            made = tokenizer | {"post_processor": post and post_processor(tokenizer, *post)}
            (pathlib.Path(folder) / "tokenizer.json").write_text(json.dumps(made), "utf-8")
            (pathlib.Path(folder) / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
            theirs = AutoTokenizer.from_pretrained(folder)
            plain, whole = (theirs.encode("a", add_special_tokens=flag) for flag in (False, True))
            before, after = around(program, folder)
        compared += 1
        if [*before, *plain, *after] != whole:
            wrong += 1
            print(f"{name}, post-processor {post}, {settings}: ours {before} {after}, theirs {whole}")
    return compared, wrong


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--seed", type=int, default=20260314)
    options.add_argument("--settings-every", type=int, default=1)
    options = options.parse_args()
    names = [name for name in ("chatml", "llama2", "unigram", "neox", "composing") if (FOLDER / name / "tokenizer.json").exists()]
    if not names:
        print("skipped: run tests/oracle/setup.sh first")
        return 77
    rng = random.Random(options.seed)
    compared = refused = wrong = 0
    for number in range(options.count):
        tokenizer = json.loads((FOLDER / names[number % len(names)] / "tokenizer.json").read_text("utf-8"))
        maker = Maker(rng, tokenizer)
        if rng.random() < 0.2:
            del tokenizer["added_tokens"][rng.randrange(len(tokenizer["added_tokens"]))]
        with tempfile.TemporaryDirectory() as folder:
            files = maker.files() | {"tokenizer.json": tokenizer}
            for name, content in files.items():
                (pathlib.Path(folder) / name).write_text(json.dumps(content), "utf-8")
            texts = maker.prompts()
            try:
                theirs = PreTrainedTokenizerFast.from_pretrained(folder)
                ids = [theirs(text, add_special_tokens=False)["input_ids"] for text in texts]
            except BaseException:  # noqa: B036 (a panic of Rust is no Exception)
                refused += 1
                continue
            added, own = ours(options.program, folder, texts)
        compared += 1
        expected = {i: (flags_of(token), token.content) for i, token in theirs.added_tokens_decoder.items()}
        if added != expected or own != ids:
            wrong += 1
            if wrong <= 5:
                shown = {name: content for name, content in files.items() if name != "tokenizer.json"}
                differ = added if isinstance(added, str) else {i: (added.get(i), expected.get(i)) for i in added.keys() | expected.keys() if added.get(i) != expected.get(i)}
                print(f"{names[number % len(names)]}: {json.dumps(shown)}\n  ours, theirs {differ}")
                print("  ", [(t, a, b) for t, a, b in zip(texts, own, ids) if a != b][:2])
    around, wrong_around = check_around(options.program, options.settings_every) if "llama2" in names else (0, 0)
    print(f"{compared} folders compared, {refused} that transformers does not open; {wrong} wrong; {around} with settings of BOS and EOS, {wrong_around} wrong")
    return 1 if wrong or wrong_around or ("llama2" in names and not around) or compared < options.count // 3 else 0


if __name__ == "__main__":
    sys.exit(main())
