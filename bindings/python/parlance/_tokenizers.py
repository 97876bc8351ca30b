"""The engine's tokenizer for one of Python, of whatever kind. Begin reading at tokenizer_of."""

from __future__ import annotations

import collections
import functools
import itertools
import json
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from parlance._core import Tokenizer as _Tokenizer
from parlance._errors import Error

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")

# What decode gives for bytes that are no whole character, of which one has at most so many.
_HALF = "\ufffd"
_MOST_OF_CHARACTER = 4

_STEPS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")

# What a model of `tokenizers` is set to, as far as one can see.
_SETTINGS = ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges")

_NO_CHARACTER = "\U0010ffff"

_MOST_COMPARED = 512  # added tokens, which takes a microsecond for each

# What was made of a tokenizer, of a fast one by what stands behind it, which its copies share; and by whether it splits special tokens.
_TOKENIZERS: weakref.WeakKeyDictionary[Any, dict[bool, tuple[Any, _Tokenizer]]] = weakref.WeakKeyDictionary()


def tokenizer_of(tokenizer: Any) -> _Tokenizer:
    """The engine's tokenizer for one of Python: of transformers, `tokenizers`, sentencepiece, mistral-common, tiktoken, or any object
    with `encode`.

    A fast tokenizer, a SentencePiece processor and those of mistral-common are read by the engine, which then encodes without the GIL.
    Others are called for each run of text between control tokens; `decode` is called with single ids, and a reply can be read only where
    it gives bytes or whole characters for each. What is made is kept as long as `tokenizer` lives, unless its class has `__slots__` or
    `__del__`, for copies of a fast tokenizer too, and made anew when that got other added tokens (of more than 512, another number of
    them or other named ones), steps, such as a normalizer, settings of its model, such as dropout, or `split_special_tokens`. It can be
    pickled where the engine reads the tokenizer, as a whole; copies are itself.
    """
    if isinstance(tokenizer, _Tokenizer):
        return tokenizer
    if isinstance(tokenizer, (str, bytes)):  # which have an encode() or decode() of their own
        raise TypeError(f"a {type(tokenizer).__name__} is no tokenizer; parlance.Tokenizer.from_file opens a file or a model's folder")
    tokenizer = _inner(tokenizer)
    fast = getattr(tokenizer, "backend_tokenizer", tokenizer)
    is_fast = callable(getattr(fast, "to_str", None))
    holder, splits = (fast, _splits(tokenizer, fast)) if is_fast else (tokenizer, False)
    state = _state(tokenizer, fast)
    kept = _kept(holder, tokenizer)
    if splits in kept and kept[splits][0] == state:
        return kept[splits][1]
    if is_fast:
        text = fast.to_str()
        made = _Tokenizer._from_bytes((_without_special(text) if splits else text).encode("utf-8"), "tokenizer.json")
    elif callable(getattr(tokenizer, "serialized_model_proto", None)):  # sentencepiece
        made = _Tokenizer._from_bytes(tokenizer.serialized_model_proto(), "tokenizer.model")
    else:
        of_file = _of_file(tokenizer)
        twin = None if of_file else _twin(tokenizer)
        made = of_file or _of_callables(tokenizer if twin is None else twin, tuple(sorted(_added(tokenizer, fast))))
        if of_file is None and twin is None:
            return made  # which has the tokenizer itself: kept, neither would ever go
    kept[splits] = (state, made)
    return made


def _kept(*holders: Any) -> dict[bool, tuple[Any, _Tokenizer]]:
    """What is kept as long as the first of these that can be referred to weakly."""
    for holder in holders:
        try:
            return _TOKENIZERS.setdefault(holder, {})
        except TypeError:
            continue
    return {}


def _splits(tokenizer: Any, fast: Any) -> bool:
    """Does it read special tokens as any other text? Of transformers, a tokenizer says so to the fast one with each call."""
    return bool(getattr(tokenizer, "split_special_tokens", getattr(fast, "encode_special_tokens", False)))


def _without_special(text: str) -> str:
    """A tokenizer.json in which no text is a special token. They keep their places, by which others have their ids, with a text that
    no prompt has: a noncharacter of Unicode before their own."""
    made = json.loads(text)
    for one in made.get("added_tokens") or []:
        if one.get("special"):
            one["content"] = _NO_CHARACTER + one["content"]
    return json.dumps(made, ensure_ascii=False)


def _state(tokenizer: Any, fast: Any) -> Any:
    """What tells that a tokenizer was changed: of a fast one its steps, its model's settings and its added tokens."""
    if callable(getattr(fast, "get_vocab_size", None)) and callable(getattr(fast, "to_str", None)):
        steps = tuple(_step(getattr(fast, name, None)) for name in _STEPS)
        model = getattr(fast, "model", None)
        settings = type(model).__name__, *(getattr(model, name, None) for name in _SETTINGS)
        size = fast.get_vocab_size(with_added_tokens=True)
        return size, _added_state(tokenizer, fast, size), steps, settings
    return tuple(sorted(_added(tokenizer, fast)))


def _added_state(tokenizer: Any, fast: Any, size: int) -> Any:
    """With their flags, which equality goes by; where there are too many to look at for each call, which are named."""
    if size - fast.get_vocab_size(with_added_tokens=False) <= _MOST_COMPARED and callable(getattr(fast, "get_added_tokens_decoder", None)):
        return fast.get_added_tokens_decoder()
    return str(getattr(tokenizer, "special_tokens_map", ""))


def _step(step: Any) -> Any:
    state = getattr(step, "__getstate__", None)  # its JSON
    try:
        return None if step is None or state is None else state()
    except Exception:  # one that is written in Python
        return str(step)


def _twin(tokenizer: Any) -> Any:
    """Another object with the same members, now and later: what is made of it does not keep the tokenizer. None where none can be made."""
    kind = type(tokenizer)
    has_slots = any(set(_names(vars(one).get("__slots__", ()))) - {"__dict__", "__weakref__"} for one in kind.__mro__)
    if has_slots or hasattr(kind, "__del__") or not hasattr(tokenizer, "__dict__"):
        return None
    try:
        twin: Any = object.__new__(kind)
        object.__setattr__(twin, "__dict__", vars(tokenizer))
    except (AttributeError, TypeError):  # its class is not written in Python
        return None
    return twin


def _names(slots: str | Iterable[str]) -> Iterable[str]:
    return (slots,) if isinstance(slots, str) else slots


def _inner(tokenizer: Any) -> Any:
    """What encodes texts inside of mistral-common's tokenizers of requests, also as transformers wrap them; any other tokenizer itself."""
    if callable(getattr(getattr(tokenizer, "tokenizer", None), "encode_chat_completion", None)):
        tokenizer = tokenizer.tokenizer
    if callable(getattr(tokenizer, "encode_chat_completion", None)):
        tokenizer = tokenizer.instruct_tokenizer
    return tokenizer.tokenizer if callable(getattr(tokenizer, "encode_instruct", None)) else tokenizer


def _is_of_mistral(tokenizer: Any) -> bool:
    return all(hasattr(tokenizer, name) for name in ("n_words", "special_ids", "id_to_piece", "file_path"))


def _of_file(tokenizer: Any) -> _Tokenizer | None:
    """One of mistral-common's by the file that it was made of; None where that is gone or has become another."""
    if not _is_of_mistral(tokenizer):
        return None
    try:
        made = _Tokenizer.from_file(str(tokenizer.file_path))
    except (Error, AssertionError):
        return None
    is_same = made.vocabulary_size == tokenizer.n_words
    return made if is_same and all(made.decode([id]).decode() == tokenizer.id_to_piece(id) for id in tokenizer.special_ids) else None


def _added(tokenizer: Any, fast: Any) -> list[tuple[int, str, bool]]:
    """(id, text, special) of the added tokens."""
    for holder in (tokenizer, fast):
        decoder = getattr(holder, "added_tokens_decoder", None)
        if decoder is None and callable(getattr(holder, "get_added_tokens_decoder", None)):
            decoder = holder.get_added_tokens_decoder()
        if decoder is not None:
            return [(id, str(token), bool(getattr(token, "special", True))) for id, token in decoder.items()]
    special = getattr(tokenizer, "_special_tokens", None)  # tiktoken's
    return [(id, text, True) for text, id in special.items()] if isinstance(special, dict) else []


def added_ids(tokenizer: Any) -> frozenset[int]:
    """The ids of the added tokens, among which are the control tokens."""
    return frozenset(id for id, _, _ in _added(tokenizer, getattr(tokenizer, "backend_tokenizer", tokenizer)))


def _of_callables(tokenizer: Any, added: tuple[tuple[int, str, bool], ...]) -> _Tokenizer:
    encode: Callable[[str], Sequence[int]]
    text: Callable[[int], str | bytes]
    if callable(getattr(tokenizer, "encode_ordinary", None)):  # tiktoken
        encode, text = tokenizer.encode_ordinary, tokenizer.decode_single_token_bytes
    elif _is_of_mistral(tokenizer):
        encode = functools.partial(tokenizer.encode, bos=False, eos=False)
        special = tokenizer.special_ids
        text = lambda id: tokenizer.id_to_piece(id) if id in special else tokenizer.id_to_byte_piece(id)  # noqa: E731
        added = tuple((id, tokenizer.id_to_piece(id), True) for id in sorted(special))
    elif callable(getattr(tokenizer, "convert_ids_to_tokens", None)):  # a slow tokenizer of transformers
        encode = functools.partial(tokenizer.encode, add_special_tokens=False, split_special_tokens=True)
        text = _texts_of_slow(tokenizer, {id for id, _, _ in added})
    elif callable(getattr(tokenizer, "encode", None)):
        texts = _Texts(tokenizer)
        encode, text = texts.encode, texts.text
    else:
        raise TypeError(f"a {type(tokenizer).__name__} is no tokenizer: it has no encode")
    named = getattr(tokenizer, "unk_token_id", None)  # of transformers
    unk = named if isinstance(named, int) else None
    return _Tokenizer._from_callables(encode, text, list(added), vocabulary_size=_size(tokenizer), unk=unk)


class _Texts:
    """The texts of the ids of any object with `encode`.

    Those of a run that was just encoded are asked for first, to see where each token lies: there, tokens may be parts of characters. Else
    they are read, one by one, and half a character has no text.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._run = threading.local()

    def encode(self, text: str) -> list[Any]:
        ids = list(self._tokenizer.encode(text))
        self._run.ids, self._run.pieces = collections.deque(ids), None
        return ids

    def text(self, id: int) -> str | bytes:
        decode: Any = getattr(self._tokenizer, "decode", None)
        ids = getattr(self._run, "ids", None)
        if ids and ids[0] == id:
            if self._run.pieces is None:
                self._run.pieces = itertools.repeat(b"") if decode is None else iter(_pieces(list(ids), self._tokenizer))
            ids.popleft()
            piece: str | bytes = next(self._run.pieces)
            return piece
        self._run.ids = None
        if decode is None:
            raise TypeError(f"a {type(self._tokenizer).__name__} has no decode, without which no ids can be read")
        text: str | bytes = decode([id])
        if isinstance(text, str) and _HALF in text and not _spells(self._tokenizer, text, [id]):
            raise TypeError(f"decode() of a {type(self._tokenizer).__name__} gives {text!r} for the id {id} alone: it must give bytes")
        return text


def _spells(tokenizer: Any, text: str, ids: list[Any]) -> bool:
    """Whether U+FFFD of the ids' text is that character, and not what stands for a part of one."""
    return bool(list(tokenizer.encode(text)) == ids)


def _pieces(ids: list[Any], tokenizer: Any) -> list[str | bytes]:
    """The text of each id of a run; where several spell one character, its bytes are theirs one after the other."""
    pieces: list[str | bytes] = []
    begun: list[Any] = []
    ends: list[int] = []
    for id in ids:
        begun.append(id)
        text = tokenizer.decode(begun)
        is_half = isinstance(text, str) and text.endswith(_HALF) and not _spells(tokenizer, text, begun)
        if is_half and len(begun) < _MOST_OF_CHARACTER:
            whole = text.rstrip(_HALF)
            ends.append(max(len(_utf8(whole)) + len(text) - len(whole), ends[-1] + 1 if ends else 0))
            continue
        if not ends:
            pieces.append(text)
        else:
            data = text if isinstance(text, bytes) else _utf8(text)
            pieces += [data[begin:end] for begin, end in itertools.pairwise([0, *ends, len(data)])]
        begun, ends = [], []
    return pieces + [b""] * len(begun)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _size(tokenizer: Any) -> int:
    """One past the highest id; 0 where the tokenizer does not say. What was added may have higher ones."""
    for name in ("n_vocab", "n_words"):  # tiktoken's, mistral-common's
        size = getattr(tokenizer, name, None)
        if isinstance(size, int):
            return size
    slow = callable(getattr(tokenizer, "convert_ids_to_tokens", None)) and hasattr(tokenizer, "__len__")
    return len(tokenizer) if slow else 0


def _texts_of_slow(tokenizer: Any, added: set[int]) -> Callable[[int], str | bytes]:
    """The texts of a slow tokenizer's ids, whose tokens are spelled as pieces of SentencePiece, as bytes in one of two ways, or plainly."""
    byte_of: dict[str, int] | None = getattr(tokenizer, "byte_decoder", None)
    if byte_of is None and tokenizer.convert_tokens_to_string(["\u00c3", "\u00a9"]) == "\u00e9":
        byte_of = {chr(byte): byte for byte in range(256)}
    has_pieces = hasattr(tokenizer, "sp_model")

    def text(id: int) -> str | bytes:
        token: str = tokenizer.convert_ids_to_tokens(id)
        if id in added:
            return token
        if byte_of is not None and all(character in byte_of for character in token):
            return bytes(byte_of[character] for character in token)
        if not has_pieces:
            return token
        byte = _BYTE.fullmatch(token)
        return bytes([int(byte[1], 16)]) if byte else token.replace("\u2581", " ")

    return text


def is_processor(object: Any) -> bool:
    """Whether it is a processor of transformers, which has a tokenizer beside what reads images, videos or audio."""
    return any(kind.__name__ == "ProcessorMixin" for kind in type(object).__mro__)
