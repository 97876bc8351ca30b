#!/usr/bin/env python3
"""Writes what the tests train as the other kinds of files: `write_vocabularies.py [FOLDER]` (build/oracle/tokenizers).

FOLDER/gguf_merges, gguf_scores, gguf_blanks, gguf_sums, gguf_costs, gguf_longest: a GGUF file with a vocabulary alone, merged by pairs, by scores, and
by pairs in text whose blanks are U+2581, with the largest sum of scores (from either end), and with the longest token first. FOLDER/tekken: a tekken.json. FOLDER/tiktoken: a tiktoken file named after one of tiktoken's encodings, with
control tokens in a tokenizer_config.json. The laws of the tests run on them. Ends with 77 where gguf is not installed.
"""
import base64
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from gguf_tokens_oracle import TRAINED, letters, of_costs, of_longest, of_sentencepiece, of_tokenizer_json, of_unigram  # noqa: E402

CONTROL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<tool_call>", "[INST]", "<|user|>", "assistant"]


def load(name):
    return [json.loads((TRAINED / name / part).read_text("utf-8")) for part in ("tokenizer.json", "tokenizer_config.json")]


def ranks_of(name):
    """The tokens of a byte-level vocabulary, the bytes first and in order, as tekken.json has them."""
    alphabet = letters()
    vocabulary = load(name)[0]["model"]["vocab"]
    texts = [text for text, _ in sorted(vocabulary.items(), key=lambda t: t[1]) if all(c in alphabet for c in text)]
    tokens = [bytes(alphabet[c] for c in text) for text in texts]
    return [bytes([b]) for b in range(256)] + [token for token in tokens if len(token) > 1]


def tekken(path, ranks):
    pattern = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
    pattern += r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    config = {"pattern": pattern, "num_vocab_tokens": len(ranks), "default_vocab_size": len(ranks) + 20, "default_num_special_tokens": 20,
              "version": "v11"}
    vocab = [{"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None} for i, t in enumerate(ranks)]
    special = [{"rank": i, "token_str": text, "is_control": True} for i, text in enumerate(CONTROL)]
    path.write_text(json.dumps({"config": config, "vocab": vocab, "special_tokens": special}))


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else TRAINED
    for name in ("gguf_merges", "gguf_scores", "gguf_blanks", "gguf_sums", "gguf_costs", "gguf_longest", "tekken", "tiktoken"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    of_tokenizer_json(folder / "gguf_merges" / "vocabulary.gguf", *load("chatml"), "qwen2")
    of_sentencepiece(folder / "gguf_scores" / "vocabulary.gguf", TRAINED / "sp_bpe_symbols" / "tokenizer.model")
    of_tokenizer_json(folder / "gguf_blanks" / "vocabulary.gguf", load("gemma")[0], {"bos_token": "<start_of_turn>"}, "gemma4", raw=True)
    of_unigram(folder / "gguf_sums" / "vocabulary.gguf", TRAINED / "sp_unigram" / "tokenizer.model")
    of_costs(folder / "gguf_costs" / "vocabulary.gguf", TRAINED / "sp_unigram_bytes" / "tokenizer.model")
    of_longest(folder / "gguf_longest" / "vocabulary.gguf", load("chatml")[0])
    ranks = ranks_of("llama3")
    tekken(folder / "tekken" / "tekken.json", ranks)
    lines = b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(ranks))
    (folder / "tiktoken" / "cl100k_base.tiktoken").write_bytes(lines)
    decoder = {str(len(ranks) + i): {"content": text, "special": True} for i, text in enumerate(CONTROL)}
    config = {"tokenizer_class": "X", "bos_token": "<s>", "eos_token": "</s>", "added_tokens_decoder": decoder}
    (folder / "tiktoken" / "tokenizer_config.json").write_text(json.dumps(config))


if __name__ == "__main__":
    main()
