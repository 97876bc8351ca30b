#!/usr/bin/env python3
"""Trains the small tokenizers of the tests, with Hugging Face's own library, from the text of training_text.py.

    train_tokenizers.py [FOLDER]      (build/oracle/tokenizers)

Each is FOLDER/NAME/tokenizer.json with a tokenizer_config.json beside it. They are shaped like the kinds that models
have: which steps there are, how the white space goes, which flags added tokens carry. What is there and was made by this
script as it is now is left alone. Unigram and WordPiece come out a little different each time, because their trainers go
through hash tables; all others are the same. Begin reading at TOKENIZERS, the table of them.
"""

import hashlib
import json
import os
import pathlib
import sys

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402
import tokenizers as library  # noqa: E402
from training_text import training_lines  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CHATML = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TOOLS = ["<tool_call>", "</tool_call>", "<think>", "</think>"]
LLAMA3_SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
                r"|\s*[\r\n]+|\s+(?!\S)|\s+")
JOINED = ["<café", "</café", "<usé>", "é|", "<end>", "<turn", "<각", "<q\u0323\u0307", "|ệ|", "<≠"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
FOREIGN = ["Grüße aus Köln, ça va? naïve façade", "你好，世界。今天天气很好。", "Привет, как дела?", "こんにちは世界",
           "🙂 👍🏽 👩‍👩‍👧 ok", "ﬁne ① Ⅷ ｆｕｌｌ", "a  b   c    d\n\n\n\te"]


def training_text():
    return training_lines() + FOREIGN * 20


def special(*texts, **flags):
    return [AddedToken(text, special=True, normalized=False, **flags) for text in texts]


def added(*texts, **flags):
    return [AddedToken(text, special=False, **flags) for text in texts]


def train(tokenizer, trainer, text):
    tokenizer.train_from_iterator(text, trainer)
    return tokenizer


def byte_level(text, split=None, **options):
    """BPE over bytes. `split`: a regex of its own, as Llama 3 has one."""
    tokenizer = Tokenizer(models.BPE(**options))
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split is None)
    steps = [pre_tokenizers.Split(Regex(split), "isolated"), plain] if split else [plain]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps) if split else plain
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=1500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    return train(tokenizer, trainer, text)


def chatml(text):
    tokenizer = byte_level(text)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens(special(*CHATML))
    tokenizer.add_tokens(added(*TOOLS[:2], normalized=False) + added(*TOOLS[2:], normalized=True))
    return tokenizer


def llama3(text):
    tokenizer = byte_level(text, LLAMA3_SPLIT, ignore_merges=True)
    names = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eot|>"]
    tokenizer.add_special_tokens(special(*names))
    bos = (names[0], tokenizer.token_to_id(names[0]))
    template = processors.TemplateProcessing(single=f"{names[0]} $A", pair=f"{names[0]} $A {names[0]} $B", special_tokens=[bos])
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), template])
    return tokenizer


def sentencepiece_bpe(text, normalizer=None, pre_tokenizer=None):
    """BPE as SentencePiece makes it: <unk> <s> </s>, 256 bytes, then letters and merges, blanks as U+2581."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    trainer = trainers.BpeTrainer(vocab_size=1800, special_tokens=["<unk>", "<s>", "</s>"] + BYTES, limit_alphabet=200,
                                  show_progress=False)
    file = json.loads(train(tokenizer, trainer, text).to_str())
    file["added_tokens"] = [token for token in file["added_tokens"] if token["content"] not in BYTES]
    file["pre_tokenizer"] = None
    tokenizer = Tokenizer.from_str(json.dumps(file))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    bos = ("<s>", 1)
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[bos])
    return tokenizer


def prepending():
    return normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])


def llama2(text):
    tokenizer = sentencepiece_bpe(text, prepending())
    tokenizer.add_tokens(added("[INST]", "[/INST]", normalized=False) + added("<note>", normalized=True))
    return tokenizer


def first(text):
    tokenizer = sentencepiece_bpe(text, None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False))
    tokenizer.add_special_tokens(special("<|user|>", "<|end|>"))
    return tokenizer


def always(text):
    tokenizer = sentencepiece_bpe(text, None, pre_tokenizers.Metaspace(prepend_scheme="always", split=True))
    tokenizer.add_special_tokens(special("<|user|>", "<|end|>"))
    return tokenizer


def gemma(text):
    """Runs of blanks are in the vocabulary and added as well; tags of HTML are added."""
    tokenizer = sentencepiece_bpe(text, normalizers.Replace(" ", "▁"))
    tokenizer.add_special_tokens(special("<start_of_turn>", "<end_of_turn>"))
    tokenizer.add_tokens(added("▁▁", "▁▁▁▁", "\n", "\n\n", "<b>", "</b>", "<blockquote>", normalized=False))
    return tokenizer


def phi3(text):
    tokenizer = sentencepiece_bpe(text, prepending())
    tokenizer.add_special_tokens(special("<|user|>", "<|end|>", rstrip=True) + special("<|mask|>", lstrip=True))
    tokenizer.add_tokens(added("<|both|>", lstrip=True, rstrip=True, normalized=False))
    tokenizer.add_tokens(added("<|late|>", lstrip=True, rstrip=True, normalized=True))
    return tokenizer


def neox(text):
    tokenizer = byte_level(text)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens(special("<|endoftext|>", "<|padding|>"))
    tokenizer.add_tokens(added(*(" " * n for n in range(24, 1, -1)), normalized=True))
    return tokenizer


def unigram(text):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace()
    names = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=900, special_tokens=names, unk_token="<unk>", show_progress=False)
    train(tokenizer, trainer, text)
    tokenizer.add_special_tokens(special(*names) + [AddedToken("<mask>", special=True, lstrip=True, normalized=True)])
    tokenizer.add_tokens(added("<extra>", normalized=True))
    ends = [("<s>", 0), ("</s>", 2)]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=ends)
    return tokenizer


def wordpiece(text):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    train(tokenizer, trainers.WordPieceTrainer(vocab_size=1200, special_tokens=names, show_progress=False), text)
    tokenizer.add_tokens(added("[Turn]", normalized=True))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def wordlevel(text):
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = ["<unk>", "<s>", "</s>"]
    train(tokenizer, trainers.WordLevelTrainer(vocab_size=1500, special_tokens=names, show_progress=False), text)
    tokenizer.add_special_tokens(special("<s>", "</s>", single_word=True))
    return tokenizer


def single_word(text):
    tokenizer = byte_level(text)
    tokenizer.add_tokens(added("ROLE", "END", "TURN_END", single_word=True, normalized=False))
    tokenizer.add_tokens(added("role", single_word=True, lstrip=True, normalized=True))
    tokenizer.add_special_tokens(special("<s>", "</s>", "<s>>"))
    return tokenizer


def composing(text):
    """Control tokens are looked for in text that is composed first, so that a mark may complete one or take one away."""
    tokenizer = byte_level(text)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens([AddedToken(mark, special=True, normalized=True) for mark in JOINED])
    tokenizer.add_tokens(added("<think>", "</think>", "ROLE:é", normalized=True) + added("<plain>", "plaiñ", normalized=False))
    return tokenizer


def composing_compat(text):
    """The same with NFKC, which composes more, over a model that may spell its control tokens itself."""
    tokenizer = sentencepiece_bpe(text, normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" ", "▁")]))
    tokenizer.add_special_tokens([AddedToken(mark, special=True, normalized=True) for mark in JOINED + ["<ガ", "[ギ]"]])
    tokenizer.add_tokens(added("<think>", "</think>", normalized=True) + added("<both>", lstrip=True, rstrip=True, normalized=True))
    return tokenizer


TOKENIZERS = {make.__name__: make for make in (chatml, llama3, llama2, first, always, gemma, phi3, neox, unigram, wordpiece,
                                               wordlevel, single_word, composing, composing_compat)}


def config_of(tokenizer):
    """tokenizer_config.json as far as its names can be told from the vocabulary."""
    known = {"bos_token": ("<s>", "<|begin_of_text|>", "[CLS]"), "unk_token": ("<unk>", "[UNK]"),
             "eos_token": ("</s>", "<|im_end|>", "<|end_of_text|>", "<|endoftext|>", "[SEP]", "<end>")}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    for name, texts in known.items():
        config.update([(name, text) for text in texts if tokenizer.token_to_id(text) is not None][:1])
    return config


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "oracle" / "tokenizers"
    text = training_text()
    made_by = hashlib.sha256(pathlib.Path(__file__).read_bytes() + library.__version__.encode() + "\n".join(text).encode()).hexdigest()
    stamp = folder / "made_by"
    if stamp.exists() and stamp.read_text() == made_by:
        return
    for name, make in TOKENIZERS.items():
        tokenizer = make(text)
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "tokenizer.json").write_text(tokenizer.to_str(pretty=False), "utf-8")
        (folder / name / "tokenizer_config.json").write_text(json.dumps(config_of(tokenizer), indent=1) + "\n", "utf-8")
    stamp.write_text(made_by)


if __name__ == "__main__":
    main()
