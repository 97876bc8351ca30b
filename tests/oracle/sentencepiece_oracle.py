#!/usr/bin/env python3
"""SentencePiece models against sentencepiece itself and transformers: `sentencepiece_oracle.py DUMP FOLDER [--count N]`.

FOLDER has the models of train_sentencepiece.py, which is run first. For thousands of texts:
  * ids and byte ranges equal sentencepiece's own encode of each run between control tokens;
  * ids equal transformers' SentencePieceBackend of the same model, legacy and not, and its tokenizer for a Llama-like folder;
  * special tokens have the numbers that a tokenizer gives which counts on from the vocabulary's end;
  * the law: with nothing trusted no control token comes out, with all trusted the same as unguarded, else control tokens
    stand for trusted bytes only; what is not trusted is encoded as by a model that has no such pieces;
  * a damaged model is an error, or keeps the law all the same.
Ends with 77 where sentencepiece or transformers is not installed, or the build does not read these models.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

try:
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as model_pb2
    from transformers import AddedToken, AutoTokenizer
    from transformers.tokenization_utils_sentencepiece import SentencePieceBackend
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)
GLM = ["[MASK]", "[gMASK]", "[sMASK]", "sop", "eop", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"]
SYMBOLS = ["<|im_start|>", "<|im_end|>", "<|user|>", "<|end|>", "<table>", "</table>", "<mask>", "[gMASK]", "<s>", "</s>", "<unk>", "<pad>", "#", "7"]
WORDS = ["Hello", " world", "template", " the", "a", " ", "  ", "   ", "\n", "\n\n", "\t", "é", "e\u0301", "中文", "你好", "🙂", "ﬁ",
         "½", "\u00a0", "\u3000", "＜", "＞", "＜|im_end|＞", "＜|im_", "▁", "<", ">", "<|im", "_end|>", "0", "2024", "ＡＢ", "\0", "\r\n",
         "\u200b", "𝄞", "mask>", "<0x0A>", "{% if x %}", "<|im_start|", "|>", "\u0301", "ㅋ", "ﷺ"]


def some_text(rng):
    return "".join(rng.choice(SYMBOLS if rng.random() < 0.25 else WORDS) for _ in range(rng.randrange(12)))


def some_ranges(rng, size):
    ranges, at = [], rng.randrange(4)
    while at < size:
        end = min(size, at + 1 + rng.randrange(30))
        ranges.append([at, end])
        at = end + 1 + rng.randrange(20)
    return ranges


class Dump:
    """The driver's answers: facts, and for each request a list of [id, begin, end, added] or an error's text."""

    def __init__(self, program, path, requests, *options):
        asked = "".join(json.dumps(request) + "\n" for request in requests)
        done = subprocess.run([program, str(path), *options], input=asked, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{path}: the driver ended with {done.returncode}: {done.stderr}")
        head, *lines = done.stdout.split("\n")[:-1]
        if head.startswith("error"):
            if "this build does not read" in head:
                print("skipped: " + head)
                sys.exit(77)
            raise SystemExit(head)
        self.facts = json.loads(head)
        self.answers = [line if line.startswith("error") else json.loads(line) for line in lines]
        assert len(self.answers) == len(requests), (len(self.answers), len(requests))
        added = {i for i, _, control in self.facts["added"] if control}
        self.control = added - {self.facts["unk"]} | set(self.facts["markers"])


class Model:
    """A model as sentencepiece sees it, and copies of it with changes."""

    def __init__(self, path):
        self.proto = model_pb2.ModelProto.FromString(path.read_bytes())
        self.own = self.changed()
        self.types = [piece.type for piece in self.proto.pieces]
        self.texts = [piece.piece for piece in self.proto.pieces]

    def changed(self, no_prefix=False, keep_spaces=False, hidden=()):
        proto = model_pb2.ModelProto.FromString(self.proto.SerializeToString())
        if no_prefix:
            proto.normalizer_spec.add_dummy_prefix = False
        if keep_spaces:
            proto.normalizer_spec.remove_extra_whitespaces = False
        for number in hidden:
            proto.pieces[number].type = CONTROL
            proto.pieces[number].piece = f"\U0010f000{number}\U0010f000"
        return sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())

    def markers(self):
        return [i for i, t in enumerate(self.texts) if self.types[i] == NORMAL and re.fullmatch(r"▁?<\|.+\|>", t)]

    def splitters(self):
        return {t: i for i, t in enumerate(self.texts) if self.types[i] in (CONTROL, UNKNOWN)}


def split(text, ids):
    """[(begin, run)] and [(begin, id)] in one list, in characters; the longest of the first ones counts."""
    parts, at = [], 0
    pattern = "|".join(re.escape(t) for t in sorted(ids, key=len, reverse=True))
    for match in re.finditer(pattern, text) if pattern else ():
        if at < match.start():
            parts.append((at, text[at:match.start()]))
        parts.append((match.start(), ids[match[0]]))
        at = match.end()
    if at < len(text):
        parts.append((at, text[at:]))
    return parts


def spread(tokens, text, types, texts):
    """Of what one character becomes, the last token has its bytes and the others none. Here each has them, and a piece of a
    byte its own; but the dummy blank has none."""
    groups = []
    for n, (number, begin, end) in enumerate(tokens):
        open_ = groups and groups[-1][-1][1] == groups[-1][-1][2] == begin and not (n == 1 and texts[groups[-1][0][0]] in ("▁", " "))
        if open_:
            groups[-1].append([number, begin, end])
        else:
            groups.append([[number, begin, end]])
    for group in groups:
        begin, end = group[0][1], group[-1][2]
        bytes_ = b"".join(bytes([int(texts[t[0]][3:5], 16)]) for t in group if types[t[0]] == BYTE)
        own = len(bytes_) == len(group) and text[begin:end] == bytes_
        for n, token in enumerate(group):
            token[1:3] = (begin + n, begin + n + 1) if own else (begin, end)
    return [token for group in groups for token in group]


def encoded(processor, run, begin, whole, types, texts):
    """[id, begin, end] of a run that begins at this byte, as sentencepiece has them."""
    made = processor.encode(run, return_type="proto")
    return spread([[p.id, begin + p.begin, begin + p.end] for p in made.pieces], whole, types, texts)


def expected(model, text, processors):
    """What sentencepiece makes of the runs; `processors(begin)` gives the one of a run that begins there."""
    tokens, whole = [], text.encode()
    for at, part in split(text, model.splitters()):
        begin = len(text[:at].encode())
        if isinstance(part, int):
            tokens.append([part, begin, begin + len(model.texts[part].encode())])
        else:
            tokens += encoded(processors(begin), part, begin, whole, model.types, model.texts)
    return tokens


class Faults:
    def __init__(self):
        self.count, self.checks = 0, 0

    def check(self, good, *what):
        self.checks += 1
        if not good:
            self.count += 1
            if self.count <= 12:
                print("FAULT", *what)


def texts_of(ids):
    return [token[:3] for token in ids] if isinstance(ids, list) else ids


def check_plain(faults, program, folder, model, texts):
    dump = Dump(program, folder, [{"text": text} for text in texts])
    for text, got in zip(texts, dump.answers):
        try:
            wanted = expected(model, text, lambda begin: model.own)
        except RuntimeError as error:  # sentencepiece refuses a control piece that came of text
            faults.check(isinstance(got, str), folder.name, repr(text), got, error)
            continue
        faults.check(texts_of(got) == wanted, folder.name, repr(text), got, wanted)
    backend = SentencePieceBackend(vocab_file=str(folder / "tokenizer.model"), legacy=True, unk_token="<unk>",
                                   bos_token="<s>", eos_token="</s>",
                                   extra_special_tokens=[t for t in model.splitters() if t not in ("<unk>", "<s>", "</s>")])
    for text, got in zip(texts, dump.answers):
        # Its tokens are texts, so that a piece of one character that is written as a special token becomes that.
        if isinstance(got, str) or any(model.texts[i] == "#" and model.types[i] == CONTROL for i in range(9)):
            continue
        wanted = backend(text, add_special_tokens=False)["input_ids"]
        faults.check([t[0] for t in got] == wanted, folder.name, "transformers", repr(text), got, wanted)
    return dump


def check_first_run(faults, program, folder, model, texts):
    """Only the text's beginning has the dummy prefix; later runs as transformers' legacy=False encodes them."""
    dump = Dump(program, folder, [{"text": text} for text in texts], "--first-run")
    backend = SentencePieceBackend(vocab_file=str(folder / "tokenizer.model"), legacy=False, unk_token="<unk>")
    for text, got in zip(texts, dump.answers):
        if isinstance(got, str):
            continue
        wanted = []
        for at, part in split(text, model.splitters()):
            if isinstance(part, int):
                wanted.append(part)
            elif at == 0:
                wanted += model.own.encode(part)
            else:
                wanted += [backend._convert_token_to_id(token) for token in backend._tokenize(part)]
        faults.check([t[0] for t in got] == wanted, folder.name, "first run", repr(text), got, wanted)


def hidden_ids(model, control):
    return [i for i in control if i < len(model.types)]


def check_law(faults, program, folder, model, texts, rng, *options):
    ranges = [some_ranges(rng, len(text.encode())) for text in texts]
    free = Dump(program, folder, [{"text": t} for t in texts], *options)
    none = Dump(program, folder, [{"text": t, "trusted": []} for t in texts], *options)
    all_ = Dump(program, folder, [{"text": t, "trusted": [[0, len(t.encode())]] if t else []} for t in texts], *options)
    some = Dump(program, folder, [{"text": t, "trusted": r} for t, r in zip(texts, ranges)], *options)
    for text, a, b in zip(texts, free.answers, all_.answers):
        faults.check(isinstance(a, str) or a == b, folder.name, "all trusted", repr(text), a, b)
    without = model.changed(hidden=hidden_ids(model, none.control))
    for text, got in zip(texts, none.answers):
        good = isinstance(got, list) and not any(t[0] in none.control for t in got)
        faults.check(good, folder.name, "forged", repr(text), got)
        wanted = encoded(without, text, 0, text.encode(), model.types, model.texts)
        faults.check(texts_of(got) == wanted, folder.name, "nothing trusted", repr(text), got, wanted)
    for text, trusted, got in zip(texts, ranges, some.answers):
        good = isinstance(got, list)
        for number, begin, end, _ in got if good else ():
            if number in some.control:
                good = good and begin < end and any(r[0] <= begin and end <= r[1] for r in trusted)
        faults.check(good, folder.name, "trusted", repr(text), trusted, got)
        faults.check(good and all(a[2] <= b[1] for a, b in zip(got, got[1:]) if a[1:3] != b[1:3]), folder.name, "order", got)
    return free


def check_symbols(faults, program, folder, model, texts, rng):
    """A trusted symbol beside one that is not: BPE never merges across one, so the parts can be encoded by themselves."""
    symbols = {model.texts[i]: i for i in range(len(model.types)) if model.types[i] == USER and len(model.texts[i]) > 2}
    asked, wanted = [], []
    without = {i for i in range(len(model.types)) if model.types[i] == CONTROL} | set(symbols.values())
    first, later = model.changed(hidden=without), model.changed(hidden=without, no_prefix=True)
    for text in texts:
        for token in [*model.splitters(), "＜|im_end|＞"]:
            text = text.replace(token, "")
        parts = split(text, symbols)
        trusted, tokens, run, run_at = [], [], "", 0

        def flush():
            if run or run_at == 0:
                processor = first if run_at == 0 else later
                tokens.extend(encoded(processor, run, len(text[:run_at].encode()), text.encode(), model.types, model.texts))

        for at, part in parts:
            begin = len(text[:at].encode())
            word = model.texts[part] if isinstance(part, int) else part
            if isinstance(part, int) and rng.random() < 0.5:
                if run_at == 0 and not run:
                    tokens.extend([[model.own.piece_to_id("▁"), 0, 0]])
                else:
                    flush()
                run, run_at = "", at + len(word)
                trusted.append([begin, begin + len(word)])
                tokens.append([part, *trusted[-1]])
            else:
                run += word
        flush()
        joined = []
        for r in trusted:
            if joined and joined[-1][1] == r[0]:
                joined[-1][1] = r[1]
            else:
                joined.append(list(r))
        asked.append({"text": text, "trusted": joined})
        wanted.append(tokens)
    for request, got, want in zip(asked, Dump(program, folder, asked).answers, wanted):
        faults.check(texts_of(got) == want, folder.name, "beside", request, got, want)


def check_numbers(faults, program, folder, model, texts):
    """Special tokens as one numbers them that counts on from the vocabulary's end."""
    options = [word for token in GLM for word in ("--special", token)]
    numbers = {token: len(model.types) + n for n, token in enumerate(GLM)}
    texts = [text + GLM[n % len(GLM)] + text[::-1] for n, text in enumerate(texts)]
    dump = Dump(program, folder, [{"text": text} for text in texts], *options)
    added = {bytes.fromhex(text).decode(): number for number, text, _ in dump.facts["added"]}
    faults.check(all(added[token] == number for token, number in numbers.items()), "numbers", added)
    faults.check(dump.facts["size"] == len(model.types) + len(GLM), "size", dump.facts["size"])
    for text, got in zip(texts, dump.answers):
        wanted = []
        for _, part in split(text, {**model.splitters(), **numbers}):
            wanted += [part] if isinstance(part, int) else model.own.encode(part)
        faults.check(isinstance(got, list) and [t[0] for t in got] == wanted, "numbers", repr(text), got, wanted)


def check_facts(faults, dump, model):
    facts = dump.facts
    faults.check(facts["size"] == len(model.types), "size", facts["size"])
    for name in ("bos", "eos", "unk"):
        faults.check(facts[name] == getattr(model.own, name + "_id")(), name, facts[name])
    for number, text in enumerate(facts["texts"]):
        piece = model.texts[number]
        plain = model.types[number] in (CONTROL, UNKNOWN)
        wanted = bytes([int(piece[3:5], 16)]) if model.types[number] == BYTE else \
            (piece if plain else piece.replace("▁", " ")).encode()
        faults.check(bytes.fromhex(text) == wanted, "text", number, text, wanted)


def check_llama(faults, program, folder, texts):
    """A Llama-like folder as transformers opens it: by its own library, with the model's merges taken from its scores."""
    for legacy in (True, False):
        for add_bos in (True, False):
            with tempfile.TemporaryDirectory() as made:
                made = pathlib.Path(made)
                (made / "tokenizer.model").write_bytes((folder / "tokenizer.model").read_bytes())
                special = {n: {"content": t, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False,
                               "special": True} for n, t in ((0, "<unk>"), (1, "<s>"), (2, "</s>"), (900, "<|eot|>"))}
                (made / "tokenizer_config.json").write_text(json.dumps({
                    "tokenizer_class": "LlamaTokenizer", "legacy": legacy, "add_bos_token": add_bos, "add_eos_token": False,
                    "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "added_tokens_decoder": special}))
                theirs = AutoTokenizer.from_pretrained(made)
                dump = Dump(program, made, [{"text": text} for text in texts])
                faults.check(dump.facts["before"] == theirs("")["input_ids"], "before", dump.facts["before"])
                for text, got in zip(texts, dump.answers):
                    if legacy and begins_runs_with_a_blank(text) or not legacy and text.startswith(" "):
                        continue
                    wanted = theirs(text, add_special_tokens=False)["input_ids"]
                    faults.check([t[0] for t in got] == wanted, f"llama legacy={legacy}", repr(text), got, wanted)


def check_damaged(faults, program, folder, rng, count):
    """Bytes of a trained model changed or cut off: an error, or a tokenizer that keeps the law; never the program's end."""
    whole = (folder / "tokenizer.model").read_bytes()
    asked = "".join(json.dumps({"text": "Hello ﷺ ½ ＡＢ <|im_end|> ＜|im_end|＞ e\u0301", "trusted": []}) + "\n" for _ in range(2))
    with tempfile.TemporaryDirectory() as made:
        path = pathlib.Path(made) / "tokenizer.model"
        for _ in range(count):
            damaged = bytearray(whole)
            for _ in range(rng.choice([1, 1, 3, 20])):
                damaged[rng.randrange(len(damaged))] = rng.choice([0, 255, rng.randrange(256)])
            path.write_bytes(damaged[:rng.randrange(len(damaged))] if rng.random() < 0.1 else damaged)
            done = subprocess.run([program, str(path)], input=asked.encode(), capture_output=True)
            head = done.stdout.split(b"\n")[0]
            good = head.startswith(b"error tokenizer ")
            if not good and head.startswith(b"{"):
                facts = json.loads(head)
                control = {i for i, _, control in facts["added"] if control} - {facts["unk"]} | set(facts["markers"])
                answer = done.stdout.split(b"\n")[1]
                good = answer.startswith(b"error tokenizer ") or not any(t[0] in control for t in json.loads(answer))
            faults.check(done.returncode == 0 and good, folder.name, "damaged", done.returncode, done.stdout[-300:])


def llama_texts(texts):
    """Without what transformers 5.23 does otherwise than sentencepiece, see COMPATIBILITY.md: a literal ▁ in the text."""
    return [text + "<|eot|>" * (n % 2) + text for n, text in enumerate(texts) if "▁" not in text]


def begins_runs_with_a_blank(text):
    """Its Metaspace puts no blank in front of one, where sentencepiece, and so transformers' own SentencePieceBackend, does."""
    return any(re.match(" ", run) for run in re.split(r"<unk>|<s>|</s>|<\|eot\|>", text))


def make_markers(made_from, folder):
    """A copy of a model whose last ordinary pieces are written like control tokens: nobody added them."""
    proto = model_pb2.ModelProto.FromString((made_from / "tokenizer.model").read_bytes())
    ordinary = [piece for piece in proto.pieces if piece.type == NORMAL]
    for piece, text in zip(reversed(ordinary), ("<|user|>", "▁<|end|>", "<|end|>")):
        piece.piece, piece.score = text, -1.0
    folder.mkdir()
    (folder / "tokenizer.model").write_bytes(proto.SerializeToString())
    return folder


def make_unused(made_from, folder):
    """A copy of a model a part of whose pieces is never given, and, of a folder that says so, with blanks as they are."""
    proto = model_pb2.ModelProto.FromString((made_from / "tokenizer.model").read_bytes())
    ordinary = [piece for piece in proto.pieces if piece.type == NORMAL and len(piece.piece) > 1]
    for piece in ordinary[::3]:
        piece.type = UNUSED
    if folder.name.endswith("_blanks"):
        proto.normalizer_spec.escape_whitespaces = False
        for piece in proto.pieces:
            if piece.type == NORMAL and "▁" in piece.piece:
                piece.piece = piece.piece.replace("▁", " ")
    folder.mkdir()
    (folder / "tokenizer.model").write_bytes(proto.SerializeToString())
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=20260314)
    given = parser.parse_args()
    subprocess.run([sys.executable, "-B", str(HERE / "train_sentencepiece.py"), str(given.folder)], check=True)
    rng, faults = random.Random(given.seed), Faults()
    scratch = tempfile.TemporaryDirectory()
    folders = sorted(given.folder.glob("sp_*/"))
    folders += [make_markers(given.folder / name, pathlib.Path(scratch.name, name + "_markers"))
                for name in ("sp_unigram", "sp_unigram_bytes")]
    folders += [make_unused(given.folder / name, pathlib.Path(scratch.name, name + "_unused")) for name in ("sp_llama", "sp_bpe_nfkc", "sp_unigram")]
    folders += [make_unused(given.folder / "sp_llama", pathlib.Path(scratch.name, "sp_llama_unused_blanks"))]
    for folder in folders:
        model = Model(folder / "tokenizer.model")
        texts = ["", " ", "<s>", "<|im_end|>", "a", "<|im_start|><|im_end|>"] + [some_text(rng) for _ in range(given.count)]
        check_facts(faults, check_plain(faults, given.program, folder, model, texts), model)
        if folder.name == "sp_words":
            continue  # a trusted symbol within a word is none of its own there
        if folder.name != "sp_suffix":  # transformers takes a blank in front for granted there
            check_first_run(faults, given.program, folder, model, texts)
        check_law(faults, given.program, folder, model, texts, rng)
        check_law(faults, given.program, folder, model, texts, rng, "--special", "Hello", "--special", "<|im")
        check_damaged(faults, given.program, folder, rng, given.count // 40)
        if folder.name.endswith("_markers"):
            faults.check(len(model.markers()) == 3 == len(Dump(given.program, folder, []).facts["markers"]), folder.name, "markers")
        if folder.name == "sp_bpe_symbols":
            check_symbols(faults, given.program, folder, model, texts, rng)
        if folder.name == "sp_llama":
            check_numbers(faults, given.program, folder, model, texts)
            check_llama(faults, given.program, folder, llama_texts(texts))
    print(f"sentencepiece {sentencepiece.__version__}: {faults.checks} checks, {faults.count} faults")
    sys.exit(1 if faults.count else 0)


if __name__ == "__main__":
    main()
