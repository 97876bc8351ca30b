#!/usr/bin/env python3
"""Trains the small SentencePiece models of the tests: `train_sentencepiece.py FOLDER` writes FOLDER/sp_*/tokenizer.model.

The text is that of training_text.py. Nothing is done where the folders are there already and were made by this file as it is
now from the same text. Ends with 77 where sentencepiece is not installed (requirements.txt pins it).
"""

import hashlib
import io
import pathlib
import sys

try:
    import sentencepiece
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from training_text import training_lines

CHAT = ["<|im_start|>", "<|im_end|>", "<table>", "</table>"]
EXTRA = "Ünïcödé naïve café 中文分词测试 你好世界 こんにちは Привет мир مرحبا 🙂🚀 ﬁne ＡＢＣ ½ ① e\u0301 0123456789 \u00a0\u3000"

# What is special of each model; all else is as the library has it.
MODELS = {
    "sp_llama": dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity", split_digits=True,
                     remove_extra_whitespaces=False, allow_whitespace_only_pieces=True),
    "sp_bpe_symbols": dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity",
                           remove_extra_whitespaces=False, user_defined_symbols=CHAT + ["\n", "\u2581\u2581", "7"],
                           control_symbols=["[gMASK]", "<mask>"]),
    "sp_bpe_nfkc": dict(model_type="bpe", byte_fallback=True, user_defined_symbols=CHAT, control_symbols=["<mask>"]),
    "sp_unigram": dict(model_type="unigram", user_defined_symbols=CHAT, control_symbols=["<mask>"]),
    "sp_unigram_bytes": dict(model_type="unigram", byte_fallback=True, normalization_rule_name="identity",
                             remove_extra_whitespaces=False, user_defined_symbols=CHAT + ["\n"], pad_id=3),
    "sp_chars": dict(model_type="char", user_defined_symbols=CHAT, control_symbols=["<mask>", "#"]),
    "sp_suffix": dict(model_type="unigram", treat_whitespace_as_suffix=True, user_defined_symbols=CHAT, control_symbols=["<mask>"]),
    "sp_words": dict(model_type="word", user_defined_symbols=CHAT, control_symbols=["<mask>"]),
    "sp_bpe_control_character": dict(model_type="bpe", byte_fallback=True, control_symbols=["#"],
                                     normalization_rule_name="identity", add_dummy_prefix=False),
}


def lines():
    yield from (line[:2000] for line in training_lines() if line.strip())
    for _ in range(30):
        yield EXTRA


def train(folder, options):
    folder.mkdir(parents=True, exist_ok=True)
    model = io.BytesIO()
    # The bytes of a character make a seed vocabulary larger than the rest for 256 pieces of bytes: 900 leaves room.
    given = dict(vocab_size=900, character_coverage=0.995, num_threads=1, minloglevel=2, hard_vocab_limit=False)
    given.update(options)
    if given["model_type"] == "char":
        given.update(vocab_size=200)
    if given["model_type"] in ("bpe", "word"):
        given.pop("hard_vocab_limit")
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=lines(), model_writer=model, **given)
    (folder / "tokenizer.model").write_bytes(model.getvalue())


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    made_by = hashlib.sha256(pathlib.Path(__file__).read_bytes() + "\n".join(lines()).encode()).hexdigest()
    stamp = folder / "sp_made_by"
    if stamp.exists() and stamp.read_text() == made_by:
        return
    for name, options in MODELS.items():
        train(folder / name, options)
    stamp.write_text(made_by)
    print(f"{len(MODELS)} SentencePiece models in {folder}")


if __name__ == "__main__":
    main()
