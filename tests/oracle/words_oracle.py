#!/usr/bin/env python3
"""Holds the words that parlance cuts texts into against those of Hugging Face's crate, for the expressions that tokenizers have.

    words_oracle.py TOKEN_DUMP [--every N] [--count N] [--seed N]

The tokenizers are made here, of an expression each. Their model joins many pairs of bytes, so that where a word ends shows in the ids. The texts:
each character of Unicode (--every: one block of 64 in N, and all below U+0400) between others that expressions tell apart, and COUNT
random ones out of blanks, letters, digits and marks. Ends with 1 on a difference, with 77 where there is nothing to compare with.
Begin reading at main.
"""

import argparse
import pathlib
import random
import sys
import tempfile

from tokenizer_oracle import Driver, question, tokens_of

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
BLANKS = r"\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"

# What the tokenizers of models have, and forms of the same that only the crate knows: those are encoded as it does.
EXPRESSIONS = {
    "of GPT-2": [rf"{CONTRACTIONS}| ?\p{{L}}+| ?\p{{N}}+| ?[^\s\p{{L}}\p{{N}}]+|{BLANKS}"],
    "three digits": [rf"(?i:{CONTRACTIONS})|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{REST}|{BLANKS}"],
    "each digit": [rf"(?i:{CONTRACTIONS})|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{REST}|{BLANKS}"],
    "one blank last": [rf"(?i:'(?:[sdmt]|ll|ve|re))|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{REST}|\s+(?!\S)|\s"],
    "by case": [
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+(?i:{CONTRACTIONS})?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*(?i:{CONTRACTIONS})?"
        rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|{BLANKS}"
    ],
    "in three steps": [
        r"\p{N}{1,3}",
        "[一-龥\u3040-ゟ゠-ヿ]+",
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*"
        + rf"|\s*[\r\n]+|{BLANKS}",
    ],
    "lines": [r"[^\n]+|[\n]+"],
    "what is between": [r"\p{N}+|[\r\n]", r"\s+"],
    "categories": [r"\p{Nd}+|\p{Nl}+|\p{No}+|\p{Mn}+|\p{Mc}+|\p{Me}+|\p{Z}+|\P{L}"],
    "possessive": [rf"[^\r\n\p{{L}}\p{{N}}]?+\p{{L}}++|\p{{N}}{{1,3}}+| ?[^\s\p{{L}}\p{{N}}]++[\r\n]*+|\s++$|\s*[\r\n]|{BLANKS}"],
    "looks ahead": [r"\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))|[^\p{N}]+"],
    "lazy": [r"a+?|\s+?x|[^a]{1,4}?"],
    "may be empty": [r"a*|\p{L}?"],
    "by word": [r"\b\w+\b|[^\w]|\d"],
    "two letters in one": [r"(?i:ss|st|wa|pass)|\p{L}+", r"(?i:\p{Lu}+)"],
    "sets": [r"[\p{L}&&[^a-z]]+|[[:digit:]]+|[^\p{L}]"],
}
PIECES = [*" \n\r\t\u00a0\u3000\u2028\x0b\x1c\x85aZßſKéσΣǅʰא中かカ1²٣Ⅷ'’.,!/\\\"#-_🙂\u0301\u200d\u00ad\u180e\ufeff\x00", "  ", "\r\n", "'s", "'LL", "'ſ", "'Ve",
          "'re", "ab", "12", "1234", "Straße", "ﬅ", "ẞ", "SS", "aB", "HTMLPage", "\n\n ", " \n", "   x"]  # fmt: skip


def write_tokenizer(folder, name, expressions):
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(alphabet)}
    merges = [(one, other) for one in alphabet for other in alphabet]
    merges = random.Random(name).sample(merges, len(merges) // 3)
    vocabulary |= {one + other: 256 + number for number, (one, other) in enumerate(merges)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    splits = [pre_tokenizers.Split(Regex(expression), "isolated") for expression in expressions]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.normalizer = normalizers.Sequence([]) if len(expressions) > 1 else None
    path = pathlib.Path(folder) / f"{name}.json"
    tokenizer.save(str(path))
    return path, tokenizer


def characters(every):
    """Texts with each character that is none of half a pair, in several places."""
    for block in range(0, 0x110000, 64):
        if 0xD800 <= block < 0xE000 or block >= 0x400 and block // 64 % every != 0:
            continue
        yield "".join(f"a{c}b {c} {c}{c}1{c}\n{c} x'{c}'l{c}'{c}l A{c}  {c}\n" for c in map(chr, range(block, block + 64)))


def random_texts(seed, count):
    source = random.Random(seed)
    for _ in range(count):
        yield "".join(source.choice(PIECES) for _ in range(source.choice([1, 2, 3, 5, 8, 20, 60])))


def differences(driver, tokenizer, texts):
    for text in texts:
        (ours,) = map(tokens_of, driver.ask([question("own", text)]))  # one at a time: a pipe does not hold more
        theirs = tokenizer.encode(text, add_special_tokens=False)
        places = [0]
        for character in text:
            places.append(places[-1] + len(character.encode()))
        if isinstance(ours, str) or [token[0] for token in ours] != theirs.ids:
            yield text, ours, theirs.ids
        elif "".join(text.encode()[token[1] : token[2]].decode("latin-1") for token in ours) != text.encode().decode("latin-1"):
            yield text, ours, "bytes that are in no token, or twice"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("token_dump")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    compared = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, expressions in EXPRESSIONS.items():
            path, tokenizer = write_tokenizer(folder, name, expressions)
            driver = Driver(options.token_dump, path)
            texts = [*characters(options.every), *random_texts(options.seed, options.count)]
            for text, ours, theirs in differences(driver, tokenizer, texts):
                wrong += 1
                if wrong <= 8:
                    at = next((at for at, (a, b) in enumerate(zip(ours, theirs)) if not isinstance(a, tuple) or a[0] != b), 0)
                    print(f"{name}: {text[:300]!r}\n  from token {at}: {ours[at:at + 6]}\n  not {theirs[at:at + 6]}")
            compared += len(texts)
            driver.close()
    print(f"{compared} texts cut as by the crate with {len(EXPRESSIONS)} expressions, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
