#!/usr/bin/env python3
"""Makes seeds for the fuzz targets from the case files: `fuzz_seeds.py FOLDER` writes FOLDER/<target>/<hash>.

Every template is a seed of jinja_compile (or go_compile), with its context one of jinja_render (go_render), every
context one of json_read; the formats of the tree and their examples too. Modelfiles of the cases are seeds of modelfile_read, and small GGUF headers
that are made here of gguf_read and vocabulary, as SentencePiece models are of sentencepiece_model and small tokenizers of each kind of
tokenizer_json, the replies of tests/replies of reply_feed, and the requests of tests/api_requests_test.py of request_convert. Those of the gateway's targets are in serve_seeds.py.
What has the same bytes is one seed, named by its hash.
"""

import base64
import hashlib
import json
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "oracle"), str(ROOT / "tests")]
import api_requests_test  # noqa: E402
import case_file  # noqa: E402
import serve_seeds  # noqa: E402

LONGEST = 4096


def gguf(order, *pairs):
    """A GGUF header: pairs of a key and a text, a number, a truth value, a list of texts, or the bytes of an array."""
    def number(value, size):
        return value.to_bytes(size, order)

    def text(value):
        return number(len(value.encode()), 8) + value.encode()

    made = b"GGUF" + number(3, 4) + number(0, 8) + number(len(pairs), 8)
    for key, value in pairs:
        made += text(key)
        if isinstance(value, bool):
            made += number(7, 4) + number(value, 1)
        elif isinstance(value, bytes):
            made += number(9, 4) + value
        elif isinstance(value, int):
            made += number(4, 4) + number(value, 4)
        elif isinstance(value, str):
            made += number(8, 4) + text(value)
        else:
            made += number(9, 4) + number(8, 4) + number(len(value), 8) + b"".join(map(text, value))
    return made


def gguf_seeds():
    tokens = ("tokenizer.ggml.tokens", ["<unk>", "<s>", "</s>"])
    template = ("tokenizer.chat_template", "{{ bos_token }}")
    for order in ("little", "big"):
        yield gguf(order)
        yield gguf(order, ("general.architecture", "x"), tokens, ("tokenizer.ggml.bos_token_id", 1), template)
        yield gguf(order, template, ("tokenizer.chat_template.rag", "r"), ("tokenizer.chat_templates", ["rag"]))
        yield gguf(order, ("split.no", 1), ("split.count", 2), ("tokenizer.ggml.add_bos_token", True))


def vocabulary_seeds():
    """Small vocabularies of each kind that needs no token for every byte."""
    tokens = ["<unk>", "<s>", "</s>", "<|x|>", "##", "<0xC3>", "\u2581", "<", "s", ">", "<s", "a", "b", "ab", "ba", "\u0120a", "x"]
    types = [2, 3, 3, 4, 4, 6] + [1] * (len(tokens) - 6)
    for order in ("little", "big"):
        def array(code, values):
            return code.to_bytes(4, order) + len(values).to_bytes(8, order) + b"".join(values)
        of_types = ("tokenizer.ggml.token_type", array(5, [n.to_bytes(4, order) for n in types]))
        scores = ("tokenizer.ggml.scores", array(6, [struct.pack("<f" if order == "little" else ">f", -n) for n in range(len(tokens))]))
        listed, merges = ("tokenizer.ggml.tokens", tokens), ("tokenizer.ggml.merges", ["a b", "b a", "< s", "\u0120 a"])
        yield gguf(order, ("tokenizer.ggml.model", "llama"), listed, of_types, scores, ("tokenizer.ggml.add_space_prefix", True))
        yield gguf(order, ("tokenizer.ggml.model", "llama"), listed, of_types, scores, ("general.name", "phi-3"))
        for model in ("t5", "rwkv"):
            yield gguf(order, ("tokenizer.ggml.model", model), listed, of_types, scores, ("tokenizer.ggml.remove_extra_whitespaces", model == "t5"))
        for pre in ("gpt-2", "llama-bpe", "gemma4"):
            yield gguf(order, ("tokenizer.ggml.model", "gpt2"), ("tokenizer.ggml.pre", pre), listed, of_types, merges)
    ranks = [base64.b64encode(text.encode()).decode() for text in "abcdefgh<|s>/ "] + ["YWI=", "YmE=", "PHM="]
    yield "".join(f"{token} {rank}\n" for rank, token in enumerate(ranks)).encode()
    vocab = [{"rank": rank, "token_bytes": token, "token_str": None} for rank, token in enumerate(ranks)]
    for version, special in (("v3", None), ("v11", [{"rank": 0, "token_str": "<s>", "is_control": True}])):
        count = 20 if special is None else 2
        config = {"pattern": "[a-z]+|.", "default_vocab_size": len(ranks) + count, "default_num_special_tokens": count, "version": version}
        yield json.dumps({"config": config, "vocab": vocab, "special_tokens": special}).encode()


def tokenizer_json(model, texts, text, **parts):
    """A tokenizer.json with added tokens `texts` that take all flags in turn, a zero byte and a text."""
    flags = ("special", "lstrip", "rstrip", "normalized", "single_word")
    added = [{"id": 1000 + i, "content": content} | {flag: i >> bit & 1 == 1 for bit, flag in enumerate(flags)}
             for i, content in enumerate(texts)]
    file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": None, "post_processor": None, "decoder": None, "model": model} | parts
    return json.dumps(file, ensure_ascii=False).encode() + b"\0" + text.encode()


def tokenizer_seeds():
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
    always = metaspace | {"prepend_scheme": "always", "split": True}
    prepend = {"type": "Prepend", "prepend": "▁"}
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    split = {"type": "Split", "pattern": {"Regex": "\\p{N}{1,3}|\\s+(?!\\S)"}, "behavior": "Isolated", "invert": False}
    letters = {letter: i for i, letter in enumerate("abcĠ▁<>s/ÃĤé")}
    pieces = [["<unk>", 0.0], ["</s>", 0.0], *([letter, -2.0] for letter in letters), ["ab", -1.0], ["▁a", -1.5]]
    bpe = {"type": "BPE", "vocab": letters | {"ab": 20, "<s": 21, "<s>": 22, "<unk>": 23}, "unk_token": "<unk>",
           "merges": [["a", "b"], ["<", "s"], ["<s", ">"]], "byte_fallback": False, "ignore_merges": True, "fuse_unk": True}
    fallback = bpe | {"vocab": bpe["vocab"] | {"<0x0A>": 30, "<0xC3>": 31, "<0xA9>": 32}, "byte_fallback": True}
    words = {"type": "WordLevel", "vocab": letters | {"<unk>": 20, "</s>": 21, "ab": 22}, "unk_token": "<unk>"}
    parts = {"type": "WordPiece", "vocab": letters | {"[UNK]": 20, "##b": 21, "[SEP]": 22}, "unk_token": "[UNK]",
             "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    marks = ["<s>", "</s>", "<s>>", "  ", " <s", "ab", "é"]
    text = "ab  <s>>é a</s>c  <s> <unk>\n"
    single = {"single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [],
              "special_tokens": {"<s>": {"id": "<s>", "ids": [1000], "tokens": ["<s>"]}}}
    template = {"type": "TemplateProcessing"} | single
    yield tokenizer_json(bpe, marks, text, pre_tokenizer=byte_level, decoder=byte_level, normalizer={"type": "NFC"})
    yield tokenizer_json(bpe, marks[::-1], text, pre_tokenizer={"type": "Sequence", "pretokenizers": [split, byte_level]})
    yield tokenizer_json(fallback, marks, text, post_processor=template,
                         normalizer={"type": "Sequence", "normalizers": [prepend, replace]})
    yield tokenizer_json(fallback, marks, text, pre_tokenizer=metaspace, decoder={"type": "ByteFallback"})
    for step in ("NFKC", "Nmt", "Lowercase", "StripAccents"):
        yield tokenizer_json({"type": "Unigram", "unk_id": 0, "vocab": pieces}, marks, text, pre_tokenizer=always,
                             normalizer={"type": step})
    yield tokenizer_json(words, marks, text, pre_tokenizer={"type": "WhitespaceSplit"})
    yield tokenizer_json(parts, marks + ["[SEP]"], text + "[SEP][UNK]", pre_tokenizer={"type": "BertPreTokenizer"},
                         decoder={"type": "WordPiece", "prefix": "##", "cleanup": True})
def field(number, value):
    """A field of a protocol buffer message: a number, a text or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value):
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def charsmap():
    """A double array of one rule: "a" becomes "<". Units that are no state have labels that nothing leads to."""
    units = [i ^ 0x55 for i in range(256)]
    units[0] = 1 << 10
    units[0x60] = 0xE0 << 10 | 1 << 8 | ord("a")
    units[0x80] = 1 << 31
    return struct.pack("<I256I", 1024, *units) + b"<\0"


def sentencepiece_seeds():
    """Small models of each kind: pieces with a type and a score."""
    normal, unknown, control, user, unused, byte = range(1, 7)
    pieces = [("<unk>", unknown), ("<s>", control), ("</s>", control), ("<|x|>", user), ("<x", unused), ("#", control)]
    pieces += [(text, normal) for text in ("\u2581", "<", "x", ">", "|", "a", "<s", "s>", "\u2581<", "s", "/", "<x>")]
    by_bytes = [("<0x%02X>" % n, byte) for n in range(256)]
    for algorithm in range(1, 5):
        for more, trainer, normalizer in (([], b"", field(3, 0) + field(4, 0)), ([], b"", field(2, charsmap())),
                                          (by_bytes, field(35, 1), field(4, 0)), ([], field(24, 1), b"")):
            made = b"".join(field(1, field(1, text) + field(2, -float(n)) + field(3, kind))
                            for n, (text, kind) in enumerate(pieces))
            made += b"".join(field(1, field(1, text) + field(3, kind)) for text, kind in more)
            yield made + field(2, field(3, algorithm) + trainer) + field(3, normalizer)


def reply_seeds():
    """Each reply of tests/replies behind its format, in few and in many pieces."""
    for path in sorted((ROOT / "tests" / "replies").glob("*.json")):
        family = json.loads(path.read_text())
        for i, case in enumerate(family["replies"]):
            prompt = case.get("prompt", family["format"].get("prompt", ""))
            line = json.dumps(family["format"] | {"prompt": prompt}, ensure_ascii=False).encode()
            yield line + b"\n" + bytes([16 * (i % 2), i]) + case["reply"].encode()


def request_seeds():
    """The same chats as requests of each API."""
    for _, *requests in api_requests_test.pairs():
        yield from (json.dumps(request).encode() for request in requests)


def seeds():
    for seed in reply_seeds():
        yield "reply_feed", seed
    cases = ROOT / "tests" / "cases"
    for case in case_file.find_cases(cases, cases):
        template = (case.template or "").encode("utf-8", "surrogatepass")
        context = case.sections.get("context", "{}").encode("utf-8")
        language = "go" if case.id.startswith("go/") else "jinja"
        yield language + "_compile", template
        yield language + "_render", template + b"\0" + context
        yield from (("json_read", context), ("json_scan", context))
    yield from (("request_convert", seed) for seed in request_seeds())
    yield from (("gguf_read", header) for header in gguf_seeds())
    yield from (("vocabulary", seed) for seed in vocabulary_seeds())
    yield from (("tokenizer_json", seed) for seed in tokenizer_seeds())
    yield from (("sentencepiece_model", model) for model in sentencepiece_seeds())
    yield from serve_seeds.seeds()
    for path in sorted(cases.rglob("*Modelfile")):
        yield "modelfile_read", path.read_bytes()
    for ending, language in (("jinja", "jinja"), ("gotmpl", "go")):
        for path in sorted((ROOT / "formats").glob("*." + ending)):
            yield language + "_compile", path.read_bytes()
            yield language + "_render", path.read_bytes()
    for path in sorted((ROOT / "formats").rglob("*.json")):
        yield from (("json_read", path.read_bytes()), ("json_scan", path.read_bytes()))


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    count = 0
    for target, content in seeds():
        if len(content) > LONGEST and not target.endswith(("_render", "_model")):
            continue
        folder = pathlib.Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / hashlib.sha1(content).hexdigest()[:16]
        count += not path.exists()
        path.write_bytes(content)
    print(f"{count} new seeds")


if __name__ == "__main__":
    main()
