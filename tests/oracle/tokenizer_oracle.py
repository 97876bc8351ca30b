#!/usr/bin/env python3
"""Holds parlance's reading of tokenizer.json against Hugging Face's own, over texts made to be awkward.

    tokenizer_oracle.py TOKEN_DUMP [--count N] [--seed N] [--only NAME]

For each tokenizer of train_tokenizers.py:
  own way          ids, and spans but for what parlance makes exact, equal `tokenizers`; ids equal transformers'
                   PreTrainedTokenizerFast(...)(text, add_special_tokens=False)
  all is trusted   the guarded way gives what the own way gives
  nothing is       no control token comes out; where the file without its added tokens is a tokenizer that cannot write
                   them, the ids are that tokenizer's
  some is          no control token stands for a byte that is not trusted, and its bytes alone give it; every added token that the law
                   demands is there
  facts            vocabulary, unknown token, added tokens and what is put around a text
Ends with 1 on a difference, with 77 where there is nothing to compare with. Begin reading at main.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "build" / "oracle" / "tokenizers"
try:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast
except ImportError:
    print("skipped: run tests/oracle/setup.sh first")
    sys.exit(77)

WORDS = ["Hello", " world", "the", " a", "role", "ROLE", "END", "TURN", "_", "user", "system", "42", "3.14", "x1", "été", "e\u0301",
         "naïve", "Straße", "你好", "世界", "こんにちは", "Привет", "مرحبا", "🙂", "👍🏽", "👩‍👩‍👧", "ﬁne", "①", "ｆｕｌｌ", "ＡＢ", "\u00ad",
         "\u200b", "\ufeff", "\u2581", "\u2581\u2581", "Ġ", "\x00", "\x07", "don't", "I'LL", "##ing", "unk", "s", "[UNK", "\U00010348", "\u0378"]
SPACES = [" ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", "\u00a0", "\u2003", "\u3000", "\u2028", " " * 9, " " * 25, "\n \n"]
MARKS = ["<", ">", "|", "/", "[", "]", "<|", "|>", "</", "<s", "s>", ".", ",", "!?", "\"", "'", "{", "}", "\\", "#"]
JOINING = ["\u0301", "\u0323", "\u0338", "\u0327\u0301", "\u11a8", "\uff9e"]
BYTE_PIECES = ["<0x0A>", "<0x41>", "<0xE2>"]


class Driver:
    """token_dump with one file, or what follows its name."""

    def __init__(self, program, *arguments):
        command = [program] if isinstance(program, str) else program
        self.process = subprocess.Popen([*command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.facts = self.process.stdout.readline().split()

    def ask(self, questions):
        """The answers, in order; questions are sent in portions that fit a pipe."""
        for i in range(0, len(questions), 32):
            portion = questions[i:i + 32]
            self.process.stdin.write("".join(question + "\n" for question in portion))
            self.process.stdin.flush()
            for _ in portion:
                yield self.process.stdout.readline().rstrip("\n")

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise SystemExit(f"token_dump ended with {self.process.returncode}")


def question(way, text, trusted=()):
    numbers = "".join(f" {begin} {end}" for begin, end in trusted)
    return f"{way} {text.encode().hex() or '-'}{numbers}"


def tokens_of(answer):
    """[(id, begin, end, added)], or the error's line."""
    if not answer.startswith("ok"):
        return answer
    return [tuple(map(int, token.split(":"))) for token in answer.split()[1:]]


def ids_of(tokens):
    return tokens if isinstance(tokens, str) else [token[0] for token in tokens]


class Texts:
    """Random texts out of the pieces above, the added tokens and parts of them."""

    def __init__(self, seed, added):
        self.random = random.Random(seed)
        self.added = [token["content"] for token in added]

    def part(self):
        text = self.random.choice(self.added)
        if not text.isascii() and self.random.random() < 0.5:
            text = unicodedata.normalize(self.random.choice(["NFD", "NFKD"]), text)
        if self.random.random() < 0.1:
            text += self.random.choice(JOINING)
        if len(text) < 2 or self.random.random() < 0.6:
            return text
        begin, end = sorted(self.random.sample(range(len(text) + 1), 2))
        return text[begin:end]

    def piece(self):
        kind = self.random.random()
        if self.added and kind < 0.3:
            return self.part()
        if kind < 0.31:
            return chr(self.random.choice([self.random.randrange(0x20, 0x3000), self.random.randrange(0xE000, 0x20000)]))
        return self.random.choice(self.random.choice([WORDS, SPACES, MARKS, WORDS, SPACES[:4], BYTE_PIECES, WORDS]))

    def text(self):
        text = "".join(self.piece() for _ in range(self.random.choice([0, 1, 2, 3, 5, 8, 13, 30])))
        if self.random.random() < 0.1:
            text = text.upper() if self.random.random() < 0.5 else text.lower()
        return text

    def ranges(self, text):
        """Trusted ranges: some of the added tokens' places whole or in part, and anything at random."""
        size = len(text.encode())
        cuts = set()
        for content in self.added:
            at = text.find(content)
            if at >= 0 and self.random.random() < 0.7:
                begin = len(text[:at].encode())
                cuts |= {begin, begin + len(content.encode())}
        cuts |= {self.random.randrange(size + 1) for _ in range(self.random.choice([0, 0, 1, 3]))}
        bounds = sorted(cuts | {0, size})
        ranges = []
        for begin, end in zip(bounds, bounds[1:]):
            if self.random.random() < 0.5:
                if ranges and ranges[-1][1] == begin:
                    ranges[-1] = (ranges[-1][0], end)
                else:
                    ranges.append((begin, end))
        return ranges


def byte_places(text):
    """For each character's place its byte; one more at the end."""
    places = [0]
    for character in text:
        places.append(places[-1] + len(character.encode()))
    return places


class Check:
    def __init__(self, name, program, seed, count):
        self.name, self.count, self.faults = name, count, 0
        self.path = FOLDER / name / "tokenizer.json"
        self.file = json.loads(self.path.read_text("utf-8"))
        self.driver = Driver(program, self.path)
        self.theirs = Tokenizer.from_file(str(self.path))
        self.fast = PreTrainedTokenizerFast(tokenizer_file=str(self.path))
        self.added = {token["id"]: token for token in self.file["added_tokens"]}
        own = set(self.theirs.get_vocab(False).values())  # pieces of the model that are added too, in the letters of its vocabulary
        self.pieces = {i for i, token in self.added.items() if i in own and not token["special"] and "▁" in token["content"]}
        self.control = {i for i, token in self.added.items() if token["content"].strip().strip("▁").strip()}
        self.unk = self.theirs.token_to_id(self.unk_text()) if self.unk_text() else None
        maker = Texts(seed, self.file["added_tokens"])
        self.texts = [maker.text() for _ in range(count)]
        self.ranges = [maker.ranges(text) for text in self.texts]

    def unk_text(self):
        model = self.file["model"]
        return model["vocab"][model["unk_id"]][0] if model.get("unk_id") is not None else model.get("unk_token")

    def fault(self, what, text, **shown):
        self.faults += 1
        if self.faults <= 8:
            print(f"{self.name}: {what}\n  text {text!r}")
            for name, value in shown.items():
                print(f"  {name} {value}")

    def ask(self, way, ranges=None):
        ranges = ranges or [()] * self.count
        return [tokens_of(line) for line in self.driver.ask([question(way, t, r) for t, r in zip(self.texts, ranges)])]

    # What is compared.

    def facts(self):
        words = self.driver.facts
        special_ids = lambda flag: self.theirs.encode("a", add_special_tokens=flag).ids
        plain, whole = special_ids(False), special_ids(True)
        parts = " ".join(words[3:words.index("added")]).replace("before", "").split("after")
        before, after = ([int(word) for word in part.split()] for part in parts)
        if before + plain + after != whole:
            self.fault("facts: what is put around a text", "a", ours=(before, after), theirs=whole)
        if int(words[1]) != max(self.theirs.get_vocab(True).values()) + 1 or int(words[2]) != (-1 if self.unk is None else self.unk):
            self.fault("facts", "", ours=words[:3], unk=self.unk)
        ours = {int(word.split(":")[0]): (int(word.split(":")[1]), bytes.fromhex(word.split(":")[2]).decode())
                for word in words[words.index("added") + 1:]}
        names = ("special", "lstrip", "rstrip", "normalized", "single_word")
        theirs = {i: (sum(token[name] << bit for bit, name in enumerate(names)) + (32 if i in self.control else 0), token["content"])
                  for i, token in self.added.items()}
        if ours != theirs:
            self.fault("facts: added tokens", "", ours=ours, theirs=theirs)

    def own_way(self):
        own = self.ask("own")
        for text, tokens in zip(self.texts, own):
            theirs = self.theirs.encode(text, add_special_tokens=False)
            fast = self.fast(text, add_special_tokens=False)["input_ids"]
            if ids_of(tokens) != theirs.ids or ids_of(tokens) != fast:
                self.fault("own way: ids", text, ours=ids_of(tokens), tokenizers=theirs.ids, transformers=fast)
            else:
                self.spans(text, tokens)
        return own

    def spans(self, text, tokens):
        """Spans are compared with those of a tokenizer without post-processor, which would trim them. Ours may be
        smaller: an added token without the white space it took, a part of a character, a dummy prefix. An added token that ends in a
        composed letter has the marks too."""
        places = byte_places(text)
        theirs = self.untrimmed().encode(text, add_special_tokens=False)
        last = 0
        for token, (begin, end) in zip(tokens, theirs.offsets):
            if token[3] and self.added[token[0]]["normalized"]:
                end = self.with_marks(text, end, token[2], places)
            want = (places[begin], places[end])
            smaller = want[0] <= token[1] <= token[2] <= want[1]
            inside = text.encode()[token[1]:token[2]].decode("utf-8", "replace")
            taken = text[begin:end]
            if token[3] and self.added[token[0]]["content"].strip() and not self.added[token[0]]["normalized"]:
                exact = inside == self.added[token[0]]["content"] and taken.strip() == inside.strip()
            else:
                exact = token[1:3] == want or end - begin <= 1 or token[3] and self.only_blanks_less(taken, inside) \
                    or token[2] > token[1] and self.shares(theirs.offsets, begin, end) or token[1] == token[2]
            if not smaller or not exact or token[1] < last:
                return self.fault("own way: spans", text, ours=tokens, theirs=[(places[b], places[e]) for b, e in theirs.offsets])
            last = token[1]
        return None

    @staticmethod
    def with_marks(text, end, ours, places):
        """The end of a token in normalised text: of a letter that was composed `tokenizers` gives the first character alone, ours all."""
        while end < len(text) and places[end] < ours and unicodedata.category(unicodedata.normalize("NFKD", text[end])[0]) in ("Mn", "Mc", "Lo"):
            end += 1
        return end

    @staticmethod
    def only_blanks_less(taken, inside):
        """Is `inside` what is left of `taken` without white space, and what normalisers drop or make a blank of?"""
        before, found, behind = taken.partition(inside)
        blank = lambda c: c.isspace() or c == "▁" or unicodedata.category(c) in ("Cf", "Cc")
        return bool(found) and all(map(blank, before + behind))

    @staticmethod
    def shares(offsets, begin, end):
        """Have other tokens a character of [begin, end) in common with it?"""
        return sum(1 for b, e in offsets if b < end and begin < e) > 1

    def untrimmed(self):
        if not hasattr(self, "plain"):
            self.plain = Tokenizer.from_str(json.dumps({**self.file, "post_processor": None}))
        return self.plain

    def all_trusted(self, own):
        guarded = self.ask("guarded", [[(0, len(text.encode()))] if text else [] for text in self.texts])
        for text, ours, plain in zip(self.texts, guarded, own):
            if ours != plain:
                self.fault("all trusted", text, guarded=ours, own=plain)

    def nothing_trusted(self):
        bare = self.without_control()
        guarded, compared = self.ask("guarded"), 0
        for text, tokens in zip(self.texts, guarded):
            self.law(text, tokens, [])
            theirs = bare.encode(text, add_special_tokens=False)
            # Without some added tokens the others have other ids.
            ids = [self.theirs.token_to_id(bare.id_to_token(number)) for number in theirs.ids]
            unknown = set() if self.unk is None or self.unk_text() in text else {self.unk}
            if not (self.control - unknown) & set(ids):
                compared += 1
                if ids != ids_of(tokens):
                    self.fault("nothing trusted", text, guarded=ids_of(tokens), without=ids)
        return compared

    def without_control(self):
        """The tokenizer without its control tokens. Those that the model's vocabulary holds stay there."""
        kept = [token for token in self.file["added_tokens"] if token["id"] not in self.control]
        return Tokenizer.from_str(json.dumps({**self.file, "added_tokens": kept, "post_processor": None}))

    def law(self, text, tokens, ranges):
        """No control token for a byte that is not trusted; unknown text may be unknown."""
        if isinstance(tokens, str):
            return self.fault("an error", text, error=tokens, ranges=ranges)
        data = text.encode()
        for number, begin, end, _ in tokens:
            if number not in self.control or begin == end:
                continue
            unknown = number == self.unk and self.unk_text() not in data[begin:end].decode("utf-8", "replace")
            if not unknown and not any(b <= begin and end <= e for b, e in ranges):
                return self.fault("law", text, token=(number, begin, end), ranges=ranges, tokens=tokens)
            if not unknown and number not in self.alone(data[begin:end].decode("utf-8", "replace")):
                return self.fault("a token of more than its bytes", text, token=(number, begin, end), ranges=ranges, tokens=tokens)
        return None

    def alone(self, text):
        """The ids of a text with nothing beside it."""
        return self.theirs.encode(text, add_special_tokens=False).ids

    def some_trusted(self):
        for text, tokens, ranges in zip(self.texts, self.ask("guarded", self.ranges), self.ranges):
            self.law(text, tokens, ranges)
            if not isinstance(tokens, str):
                self.demanded(text, tokens, ranges)

    def demanded(self, text, tokens, ranges):
        """The plain tokens (found in the text as it is) that must be there, found here by trying every place."""
        data, at, wanted = text.encode(), 0, []
        plain = [(i, t) for i, t in self.added.items() if not t["normalized"]]
        if any(t["single_word"] for _, t in plain):
            return
        while at < len(data):
            fits = [(len(t["content"].encode()), i) for i, t in plain if data.startswith(t["content"].encode(), at)]
            fits = [(size, i) for size, i in fits
                    if i not in self.control or any(b <= at and at + size <= e for b, e in ranges)]
            size, number = max(fits, default=(1, None))
            wanted += [] if number is None else [(number, at, at + size)]
            at += size
        got = [token[:3] for token in tokens if token[3] and not self.added[token[0]]["normalized"]]
        blank = lambda token: not self.added[token[0]]["content"].strip()
        if [t for t in got if not blank(t)] != [t for t in wanted if not blank(t)]:
            self.fault("trusted tokens", text, got=got, wanted=wanted, ranges=ranges)

    def texts_of_tokens(self):
        """Decoding "a" and the token, and taking "a" away, gives the token's text, where decoding is of whole characters."""
        ids = sorted(self.theirs.get_vocab(True).values())
        anchor = self.theirs.encode("a", add_special_tokens=False).ids[-1:]
        head = self.theirs.decode(anchor, skip_special_tokens=False)
        for number, line in zip(ids, self.driver.ask([f"text {i}" for i in ids])):
            ours = bytes.fromhex(line.partition(" ")[2])
            theirs = self.theirs.decode(anchor + [number], skip_special_tokens=False)
            if number in self.added and number not in self.pieces:
                if ours.decode() != self.added[number]["content"]:
                    self.fault("text of an added token", str(number), ours=ours)
            elif "\ufffd" not in theirs and ours.decode("utf-8", "replace") != theirs[len(head):]:
                self.fault("text of a token", str(number), ours=ours, theirs=theirs[len(head):])

    def run(self):
        self.facts()
        own = self.own_way()
        self.all_trusted(own)
        compared = self.nothing_trusted()
        self.some_trusted()
        self.texts_of_tokens()
        self.driver.close()
        spelled = self.count - compared
        print(f"{self.name:12} {self.count} texts, {self.faults} faults; the model alone spells a control token in {spelled}")
        return self.faults


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--count", type=int, default=1500)
    options.add_argument("--seed", type=int, default=20260314)
    options.add_argument("--only")
    options = options.parse_args()
    names = sorted(path.parent.name for path in FOLDER.glob("*/tokenizer.json"))
    names = [name for name in names if options.only in (None, name)]
    if not names:
        print("skipped: run tests/oracle/setup.sh first")
        return 77
    faults = sum(Check(name, options.program, options.seed, options.count).run() for name in names)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
