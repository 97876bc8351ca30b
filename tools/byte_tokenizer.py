#!/usr/bin/env python3
"""Writes tests/tokenizers/chatml/tokenizer.json: bytes as tokens, some words of English, and ChatML's control tokens.

    byte_tokenizer.py tests/tokenizers/chatml/tokenizer.json

It stands for a real tokenizer in examples, so that they need no file from elsewhere: byte-level BPE as GPT-2 has it, with
<tool_call> and <think> added but not special, as is usual.
"""

import json
import sys

WORDS = "the and you is what it to of in a user system assistant hello there".split()
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
ADDED = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]


def letters():
    """The character that stands for each byte: itself where it can be seen, else one from U+0100 on."""
    visible = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = iter(range(0x100, 0x200))
    return [chr(byte) if byte in visible else chr(next(hidden)) for byte in range(256)]


def merges_of(word, vocabulary):
    """Joins a word from left to right."""
    merges, left = [], word[0]
    for letter in word[1:]:
        merges.append((left, letter))
        left += letter
        vocabulary.setdefault(left, len(vocabulary))
    return merges


def main(path):
    vocabulary = {letter: number for number, letter in enumerate(letters())}
    merges = []
    for word in WORDS:
        merges += [m for m in merges_of(word, vocabulary) if m not in merges]
        if len(word) > 1:
            merges.append(("Ġ", word))
            vocabulary.setdefault("Ġ" + word, len(vocabulary))
    added = [{"id": len(vocabulary) + number, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": text in SPECIAL} for number, text in enumerate(SPECIAL + ADDED)]
    split = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
             "vocab": vocabulary, "merges": [" ".join(m) for m in merges]}
    whole = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
             "pre_tokenizer": split, "post_processor": split, "decoder": split, "model": model}
    with open(path, "w", encoding="utf-8") as out:
        json.dump(whole, out, ensure_ascii=False, indent=0)
        out.write("\n")


main(*sys.argv[1:])
