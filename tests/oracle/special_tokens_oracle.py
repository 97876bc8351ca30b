#!/usr/bin/env python3
"""Holds the special tokens of a model's folder against transformers' AutoTokenizer, over folders made at random.

    special_tokens_oracle.py PARLANCE [--count N] [--seed N]

A folder has a trained tokenizer.json, and beside it a tokenizer_config.json with a class (one that has special tokens by itself, a generic
one, one that nobody knows, none), tokens by name as text, object, null and nothing, in lists and in objects, a special_tokens_map.json, and
a config.json with a model_type. Compared are the variables that a template gets, and the ids of text made of such tokens: as the file says,
or, where the class builds a tokenizer of its own and parlance follows it, with --model-as transformers. Where transformers does not open
a folder, nothing is compared. Then the same with folders of a .model. Ends with 1 on a difference, with 77 where there is nothing to compare
with.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "build" / "oracle" / "tokenizers"
os.environ.update(TOKENIZERS_PARALLELISM="false", RUST_BACKTRACE="0", TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1")
try:
    from transformers import AutoTokenizer
    from transformers.models.auto.tokenization_auto import tokenizer_class_from_name
    from transformers.tokenization_utils_tokenizers import TokenizersBackend
except ImportError:
    print("skipped: run tests/oracle/setup.sh first")
    sys.exit(77)

USUAL = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"]
OWN = ["image_token", "boi_token", "prefix_token", "eot_token"]
VARIABLES = [*USUAL, *OWN, "middle_token", "suffix_token", "fill_token", "question_token", "entity_mask_token"]
TEMPLATE = "".join(f"{{{{ {name} }}}}|" for name in VARIABLES)
TEXTS = ["<s>", "</s>", "<unk>", "<pad>", "<mask>", "<|endoftext|>", "[X]", "<image>", "[UNK]", "<bos>"]
PROMPT = "{% for m in messages %}{{ m.content }}{% endfor %}"
ROWS = {name: (ROOT / "data" / name).read_text("utf-8") for name in ("class_tokens.def", "transformers_types.def", "rebuilt_classes.def")}
CLASSES = re.findall(r'^CLASS_TOKENS\("(\w+)"', ROWS["class_tokens.def"], re.MULTILINE)
OF_CHATS = [f"{name}Tokenizer" for name in ("Llama", "GPT2", "Qwen2", "Gemma", "Cohere", "GPTNeoX", "CodeLlama", "Bert")]
OTHERS = ["PreTrainedTokenizer", "TokenizersBackend", "Strange42Tokenizer"]
TYPES = {row[0]: row[1:] for row in re.findall(r'^TYPE_CLASS\("([\w.-]+)", "(\w+)", (\w+)', ROWS["transformers_types.def"], re.MULTILINE)}
TYPES_OF_CHATS = ["llama", "mistral", "qwen2", "qwen3", "gemma3", "cohere", "gpt2", "gpt_neox", "phi3", "bert", "strange42"]
REBUILT = dict(re.findall(r'^REBUILT\("(\w+)".*, (true|false)\)$', ROWS["rebuilt_classes.def"], re.MULTILINE))
TRAINED = {"BPE": ["llama2", "chatml", "llama3", "neox", "gemma"], "WordPiece": ["wordpiece"], "Unigram": ["unigram"]}
FLAGS = dict.fromkeys(("lstrip", "rstrip", "normalized", "single_word"), False)


class Maker:
    def __init__(self, rng):
        self.rng = rng

    def token(self):
        rng = self.rng
        chance = rng.random()
        if chance < 0.6:
            return rng.choice(TEXTS)
        if chance < 0.8:
            return {"__type": "AddedToken", "content": rng.choice(TEXTS)} | FLAGS
        return None if chance < 0.9 else ""

    def named(self, names, share):
        return {name: self.token() for name in names if self.rng.random() < share}

    def plain(self, tokens):
        """As special_tokens_map.json has objects."""
        for token in tokens.values():
            if isinstance(token, dict):
                token.pop("__type")
        return tokens

    def class_name(self):
        rng = self.rng
        name = rng.choice(rng.choice([OF_CHATS, OF_CHATS, CLASSES, OTHERS]))
        return name + rng.choice(["", "", "Fast"])

    def files(self):
        rng = self.rng
        config = self.named(USUAL, 0.2) | self.named(OWN, 0.15)
        if rng.random() < 0.85:
            config["tokenizer_class"] = self.class_name()
        for name in ("additional_special_tokens", "extra_special_tokens"):
            if rng.random() < 0.2:
                config[name] = rng.choice([None, [], [token for token in (self.token() for _ in range(2)) if token]])
        if rng.random() < 0.2:
            config["extra_special_tokens"] = {name: token for name, token in self.named(OWN, 0.5).items() if token}
        if rng.random() < 0.2:
            config["model_specific_special_tokens"] = {name: token for name, token in self.named(OWN, 0.5).items() if token}
        files = {"tokenizer_config.json": config}
        if rng.random() < 0.25:
            files["special_tokens_map.json"] = self.plain(self.named(USUAL, 0.3) | self.named(OWN, 0.1))
            if rng.random() < 0.3:
                files["special_tokens_map.json"]["additional_special_tokens"] = [rng.choice(TEXTS)]
        if rng.random() < 0.4:
            files["config.json"] = {"model_type": rng.choice(rng.choice([TYPES_OF_CHATS, [*TYPES]]))}
            if rng.random() < 0.2:
                files["config.json"]["tokenizer_class"] = self.class_name()
        return files


def likely_model(files):
    """Of the class that will be chosen, the kind of vocabulary."""
    name = files["tokenizer_config.json"].get("tokenizer_class") or files.get("config.json", {}).get("tokenizer_class")
    of_type, always = TYPES.get(files.get("config.json", {}).get("model_type"), (None, "false"))
    name = of_type if of_type and (not name or always == "true") else name
    found = tokenizer_class_from_name(name.removesuffix("Fast")) if name else None
    return getattr(getattr(found, "model", None), "__name__", None)


def run(program, folder, *words):
    done = subprocess.run([program, *words, "-m", folder, f"{folder}/chat.json"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else f"exit {done.returncode}: {done.stderr}"


def ours(program, folder, reader):
    variables = run(program, folder, "render", "-q", "-t", f"{folder}/variables.jinja", "--as-transformers")
    ids = run(program, folder, "tokens", "-q", "-t", f"{folder}/prompt.jinja", "--as-transformers", "--no-protect", *reader)
    return variables, [int(word) for word in ids.split()] if not ids.startswith("exit") else ids


def compare(program, folder, files, text):
    """What differs, or None; fails where transformers does not open the folder."""
    for name, content in files.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    (folder / "variables.jinja").write_text(TEMPLATE)
    (folder / "prompt.jinja").write_text(PROMPT)
    (folder / "chat.json").write_text(json.dumps({"messages": [{"role": "user", "content": text}]}))
    theirs = AutoTokenizer.from_pretrained(folder)
    wanted = theirs.apply_chat_template([{"role": "user", "content": "Q"}], chat_template=TEMPLATE, tokenize=False)
    name = type(theirs).__name__
    reader = ["--model-as", "transformers"] if REBUILT.get(name) == "true" or (folder / "tokenizer.model").exists() else []
    variables, ids = ours(program, folder, reader)
    if variables != wanted:
        return f"{name}: variables\n  ours   {variables}\n  theirs {wanted}"
    is_followed = REBUILT.get(name) == "true" or type(theirs).__init__ is TokenizersBackend.__init__
    if not is_followed:
        return None
    tokens = theirs(text, add_special_tokens=False)["input_ids"]
    return None if ids == tokens else f"{name}: ids of {text!r}\n  ours   {ids}\n  theirs {tokens}"


def check(options, rng, make, prepare):
    compared = refused = wrong = 0
    for _ in range(options.count):
        files = make()
        text = "".join(rng.choice(TEXTS) for _ in range(6))
        with tempfile.TemporaryDirectory() as folder:
            prepare(pathlib.Path(folder), files)
            try:
                differs = compare(options.program, pathlib.Path(folder), files, text)
            except subprocess.SubprocessError:
                raise
            except BaseException:  # a panic of Rust is no Exception
                refused += 1
                continue
        compared += 1
        if differs:
            wrong += 1
            if wrong <= 8:
                print(json.dumps(files), "\n ", differs)
    return compared, refused, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20260314)
    options = parser.parse_args()
    if not (FOLDER / "llama2" / "tokenizer.json").exists():
        print("skipped: run tests/oracle/setup.sh first")
        return 77
    rng = random.Random(options.seed)
    maker = Maker(rng)

    def trained_json(folder, files):
        kind = likely_model(files)
        name = rng.choice(TRAINED.get(kind) or [*itertools.chain(*TRAINED.values())])
        (folder / "tokenizer.json").write_bytes((FOLDER / name / "tokenizer.json").read_bytes())

    def model(folder, files):
        (folder / "tokenizer.model").write_bytes((FOLDER / "sp_llama" / "tokenizer.model").read_bytes())

    def of_model():
        files = maker.files() | {"config.json": {"model_type": rng.choice(["llama", "mistral", "strange42"])}}
        files["tokenizer_config.json"]["tokenizer_class"] = rng.choice(["LlamaTokenizer", "LlamaTokenizerFast", "TokenizersBackend"])
        return files

    total = 0
    for what, make, prepare in (("tokenizer.json", maker.files, trained_json), (".model", of_model, model)):
        compared, refused, wrong = check(options, rng, make, prepare)
        print(f"{what}: {compared} folders compared, {refused} that transformers does not open; {wrong} wrong")
        total += wrong + (compared < options.count // 3)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
