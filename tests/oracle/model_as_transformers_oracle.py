#!/usr/bin/env python3
""".model folders as transformers reads them: `model_as_transformers_oracle.py DUMP [--count N] [--only NAME]`.

The models: those that the tests train, and the .model files that mistral-common ships. Beside each stands a configuration as models have
one: transformers' class for Llama, legacy or not, with and without a blank in front, tokens that the configuration adds, and a config.json
whose model_type makes transformers use its generic class. For each of N conversations
  * the ids are those of transformers' AutoTokenizer of the same folder;
  * the guarded way: everything trusted is the own way, nothing trusted makes no control token.
Ends with 1 on a difference, with 77 where there is nothing to compare with. Begin reading at main.
"""
import argparse
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    import mistral_common
    from gguf_tokens_oracle import TRAINED, Check
    from transformers import AutoTokenizer
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

LLAMA = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
ADDED = {"content": "<|added|>", "special": True, "normalized": False, "lstrip": False, "rstrip": False, "single_word": False}
SETTINGS = {  # the configuration beside a model, and its model_type
    "llama": (LLAMA, None),
    "legacy": (LLAMA | {"tokenizer_class": "LlamaTokenizerFast", "legacy": True}, None),
    "bare": (LLAMA | {"add_prefix_space": False, "legacy": False}, None),
    "added": (LLAMA | {"pad_token": "<pad>", "additional_special_tokens": ["[more]"]}, None),
    "listed": (LLAMA | {"extra_special_tokens": [], "added_tokens_decoder": {"1": ADDED | {"content": "<s>"}}}, None),
    "generic": (LLAMA, "mistral"),
    "renamed": ({"tokenizer_class": "PreTrainedTokenizerFast", "added_tokens_decoder": {"10": ADDED}}, None),
}


class Transformers:
    def __init__(self, folder):
        self.inner = AutoTokenizer.from_pretrained(folder)

    def encode(self, text, add_special=False):
        return self.inner(text, add_special_tokens=add_special)["input_ids"]

    def close(self):
        pass


class FolderCheck(Check):
    def open_theirs(self, path):
        return Transformers(path)

    def around(self):
        pass


def models(real):
    """What the tests train, and so many of the real ones."""
    for name in ("sp_llama", "sp_bpe_symbols", "sp_bpe_nfkc", "sp_unigram", "sp_unigram_bytes"):
        yield name, TRAINED / name / "tokenizer.model"
    shipped = (pathlib.Path(mistral_common.__file__).parent / "data").glob("*.model.v[0-9]")
    for path in sorted(shipped)[:real]:
        yield path.name, path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20260314)
    parser.add_argument("--real", type=int, default=9, help="how many of the real models")
    parser.add_argument("--only")
    options = parser.parse_args()
    wrong = compared = count = 0
    with tempfile.TemporaryDirectory() as scratch:
        for model, path in models(options.real):
            for setting, (config, model_type) in SETTINGS.items():
                name = f"{model}-{setting}"
                if options.only and options.only not in name or ("unigram" in model and setting != "generic"):
                    continue
                if setting == "renamed" and not re.search(r"model\.v[2-9]", model):
                    continue  # of the others, piece 10 is part of merges, and transformers fails
                folder = pathlib.Path(scratch) / name
                folder.mkdir()
                shutil.copy(path, folder / "tokenizer.model")
                (folder / "tokenizer_config.json").write_text(json.dumps(config))
                if model_type:
                    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
                check = FolderCheck([options.program, "--open"], name, folder, options.count, options.seed, arguments=["--as-transformers"])
                check.run()
                count += 1
                wrong += check.faults
                compared += check.compared
    print(f"{compared} texts equal with {count} folders, {wrong} wrong")
    sys.exit(1 if wrong or not compared else 0)


if __name__ == "__main__":
    main()
