"""Three engines behind one interface, over a real tokenizer's vocabulary: a grammar's matcher takes token ids one by one.

    engine = LlGuidance(vocabulary)
    matcher = engine.matcher(grammar_text)      # ValueError: the engine refuses the grammar
    matcher.mask()                              # ids that may come next, as an array of truth values
    matcher.take(ids)                           # how many of these it took, one after the other
    matcher.may_end()                           # whether the reply may be over

llama.cpp is asked through the C interface of the library that an npm package ships, with a vocabulary in a GGUF file written
here, without a model. Begin reading at the class of an engine.
"""
import ctypes
import os
import re
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import grammar_engines  # noqa: E402,F401  (stands in for torch before xgrammar is imported)
import gguf  # noqa: E402
import llguidance  # noqa: E402
import xgrammar  # noqa: E402


class LlGuidance:
    syntax = "lark"

    def __init__(self, vocabulary):
        self.size = len(vocabulary)
        self.tokenizer = llguidance.LLTokenizer(vocabulary.json, eos_token=vocabulary.eos)

    def matcher(self, text):
        return LlGuidanceMatcher(self, text)


class LlGuidanceMatcher:
    def __init__(self, engine, text):
        self.engine = engine
        self.inner = llguidance.LLMatcher(engine.tokenizer, llguidance.LLMatcher.grammar_from_lark(text), log_level=0)
        if self.inner.is_error():
            raise ValueError(self.inner.get_error())

    def mask(self):
        bits = numpy.frombuffer(self.inner.compute_bitmask(), dtype=numpy.uint8)
        return numpy.unpackbits(bits, bitorder="little")[: self.engine.size].astype(bool)

    def take(self, ids):
        return self.inner.try_consume_tokens(ids)

    def may_end(self):
        return self.inner.is_accepting()


class XGrammar:
    """Structural tags, or with `ebnf` its own grammars, which GBNF nearly is."""
    syntax = "structural-tag"

    def __init__(self, vocabulary, ebnf=False):
        self.size = len(vocabulary)
        self.eos = vocabulary.eos
        info = xgrammar.TokenizerInfo(vocabulary.names, vocab_type=vocabulary.metadata["vocab_type"], stop_token_ids=[vocabulary.eos],
                                      add_prefix_space=vocabulary.metadata["add_prefix_space"])
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=2, cache_enabled=False)
        self.compile = self.compiler.compile_grammar if ebnf else self.compiler.compile_structural_tag
        self.compiled = ("", None)  # the last one, since each takes seconds

    def matcher(self, text):
        try:
            if self.compiled[0] != text:
                self.compiled = (text, self.compile(text))
            return XGrammarMatcher(self, xgrammar.GrammarMatcher(self.compiled[1]))
        except RuntimeError as error:
            raise ValueError(str(error)) from error


class XGrammarMatcher:
    def __init__(self, engine, inner):
        self.engine = engine
        self.inner = inner
        self.bits = numpy.zeros((1, (engine.size + 31) // 32), dtype=numpy.int32)

    def mask(self):
        self.bits.fill(-1)
        self.inner.fill_next_token_bitmask(self.bits)
        return numpy.unpackbits(self.bits.view(numpy.uint8)[0], bitorder="little")[: self.engine.size].astype(bool)

    def take(self, ids):
        for count, token in enumerate(ids):
            if token == self.engine.eos or not self.inner.accept_token(token):
                return count
        return len(ids)

    def may_end(self):
        return bool(self.mask()[self.engine.eos])


# ---- llama.cpp

class TokenData(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float)]


class TokenArray(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("selected", ctypes.c_int64), ("sorted", ctypes.c_bool)]


class ModelParameters(ctypes.Structure):
    """llama_model_params, as large as it may ever be; of the members one is set, by its place in the pinned version."""
    _fields_ = [("bytes", ctypes.c_uint8 * 256)]
    VOCAB_ONLY = 72


CANDIDATE = numpy.dtype([("id", numpy.int32), ("logit", numpy.float32), ("p", numpy.float32)])
LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


def write_vocabulary(vocabulary, path):
    """A GGUF file with a vocabulary and nothing else, as llama.cpp's own converter writes one."""
    blanks = "\u2581the" in vocabulary.plain or vocabulary.metadata["vocab_type"].name != "BYTE_LEVEL"
    control = {t["id"]: t["special"] for t in vocabulary.control}
    types = []
    for token, name in enumerate(vocabulary.names):
        is_byte = blanks and name.startswith("<0x") and len(name) == 6
        kind = gguf.TokenType.BYTE if is_byte else gguf.TokenType.NORMAL if name else gguf.TokenType.UNUSED
        if token in control:
            kind = gguf.TokenType.CONTROL if control[token] else gguf.TokenType.USER_DEFINED
        types.append(kind)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama" if blanks else "gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([name or f"[unused{i}]" for i, name in enumerate(vocabulary.names)])
    writer.add_token_types(types)
    if blanks:
        writer.add_token_scores([0.0] * len(types))
    else:
        writer.add_token_merges(["a b"])  # for splitting text into tokens, which is not asked of it
    writer.add_eos_token_id(vocabulary.eos)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


class LlamaCpp:
    syntax = "gbnf"
    library = None

    def __init__(self, vocabulary, folder):
        if LlamaCpp.library is None:
            LlamaCpp.library = self.load(folder)
        self.size = len(vocabulary)
        self.eos = vocabulary.eos
        path = vocabulary.folder / "vocabulary.gguf"
        write_vocabulary(vocabulary, path)
        parameters = self.library.llama_model_default_params()
        parameters.bytes[ModelParameters.VOCAB_ONLY] = 1
        model = self.library.llama_model_load_from_file(str(path).encode(), parameters)
        if not model:
            raise ValueError(f"llama.cpp does not read the vocabulary of {vocabulary.name}")
        self.vocabulary = self.library.llama_model_get_vocab(model)
        self.ids = numpy.arange(self.size, dtype=numpy.int32)
        self.random = numpy.random.default_rng(20260314)
        self.always = [i for i, piece in enumerate(vocabulary.pieces) if len(piece) == 1 or i in vocabulary.special]
        self.always = numpy.array(self.always[:2000], dtype=numpy.int32)

    @staticmethod
    def load(folder):
        library = None
        for name in ("libggml-base.so", "libggml.v*.so", "libllama.v*.so"):
            library = ctypes.CDLL(str(next(folder.glob(name))), mode=ctypes.RTLD_GLOBAL)
        pointer, text = ctypes.c_void_p, ctypes.c_char_p
        for name, result, arguments in (
            ("llama_model_default_params", ModelParameters, []),
            ("llama_model_load_from_file", pointer, [text, ModelParameters]),
            ("llama_model_get_vocab", pointer, [pointer]),
            ("llama_sampler_init_grammar", pointer, [pointer, text, text]),
            ("llama_sampler_init_grammar_lazy_patterns", pointer, [pointer, text, text, pointer, ctypes.c_size_t, pointer, ctypes.c_size_t]),
            ("llama_sampler_apply", None, [pointer, ctypes.POINTER(TokenArray)]),
            ("llama_sampler_accept", None, [pointer, ctypes.c_int32]),
            ("llama_sampler_free", None, [pointer]),
            ("llama_log_set", None, [LOG, pointer]),
        ):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        library.silent = LOG(lambda level, line, data: None)
        library.llama_log_set(library.silent, None)
        return library

    def matcher(self, text):
        return LlamaCppMatcher(self, self.library.llama_sampler_init_grammar(self.vocabulary, text.encode(), b"root"))

    def lazy_matcher(self, text, triggers):
        """Of a grammar that sets in at the first trigger, (kind, text) as llama-server takes them: a word is a pattern of itself."""
        patterns = [re.sub(r"[.^$|()*+?\[\]{}\\]", r"\\\g<0>", value) if kind == "word" else value for kind, value in triggers]
        array = (ctypes.c_char_p * len(patterns))(*(pattern.encode() for pattern in patterns))
        return LlamaCppMatcher(self, self.library.llama_sampler_init_grammar_lazy_patterns(
            self.vocabulary, text.encode(), b"root", ctypes.cast(array, ctypes.c_void_p), len(patterns), None, 0))


class LlamaCppMatcher:
    def __init__(self, engine, sampler):
        self.engine = engine
        self.inner = sampler
        if not self.inner:
            raise ValueError("llama.cpp refuses the grammar")

    def __del__(self):
        if getattr(self, "inner", None):
            self.engine.library.llama_sampler_free(self.inner)

    def allowed(self, ids):
        candidates = numpy.zeros(len(ids), dtype=CANDIDATE)
        candidates["id"] = ids
        array = TokenArray(candidates.ctypes.data, len(ids), -1, False)
        self.engine.library.llama_sampler_apply(self.inner, ctypes.byref(array))
        return candidates["id"][: array.size][candidates["logit"][: array.size] > -1e30]

    def mask(self):
        """Of some tokens, bytes and control tokens among them: a mask of all takes llama.cpp up to a second."""
        mask = numpy.zeros(self.engine.size, dtype=bool)
        some = self.engine.random.choice(self.engine.ids, 500)
        mask[self.allowed(numpy.concatenate([self.engine.always, some]))] = True
        return mask

    def take(self, ids):
        for count, token in enumerate(ids):
            if token == self.engine.eos or len(self.allowed([token])) == 0:
                return count
            self.engine.library.llama_sampler_accept(self.inner, token)
        return len(ids)

    def may_end(self):
        return len(self.allowed([self.engine.eos])) == 1
