"""The engine's tokenizer for one of Python, of whatever kind. Begin reading at tokenizer_of."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from parlance._core import Tokenizer as _Tokenizer

_TOKENIZERS: weakref.WeakKeyDictionary[Any, tuple[Any, _Tokenizer]] = weakref.WeakKeyDictionary()


def tokenizer_of(tokenizer: Any) -> _Tokenizer:
    """The engine's tokenizer for one of Python: of transformers, `tokenizers`, sentencepiece, tiktoken, or any object with `encode`.

    A fast tokenizer is read by the engine, which then encodes without the GIL. Others are called for each run of text between
    control tokens. It is kept as long as `tokenizer` lives, and made anew when that got other added tokens.
    """
    if isinstance(tokenizer, _Tokenizer):
        return tokenizer
    fast = getattr(tokenizer, "backend_tokenizer", tokenizer)
    state = tuple(sorted(_added(tokenizer, fast)))
    try:
        kept = _TOKENIZERS.get(tokenizer)
    except TypeError:  # it cannot be referred to weakly
        kept = None
    if kept is not None and kept[0] == state:
        return kept[1]
    if callable(getattr(fast, "to_str", None)):
        made = _Tokenizer._from_bytes(fast.to_str().encode("utf-8"), "tokenizer.json")
    else:
        made = _of_callables(tokenizer, state)
    with contextlib.suppress(TypeError):
        _TOKENIZERS[tokenizer] = (state, made)
    return made


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


def _of_callables(tokenizer: Any, added: tuple[tuple[int, str, bool], ...]) -> _Tokenizer:
    encode: Callable[[str], Sequence[int]]
    text: Callable[[int], str | bytes]
    if callable(getattr(tokenizer, "encode_ordinary", None)):  # tiktoken
        encode, text = tokenizer.encode_ordinary, tokenizer.decode_single_token_bytes
    elif callable(getattr(tokenizer, "id_to_piece", None)):  # sentencepiece
        encode = functools.partial(tokenizer.encode, out_type=int)
        text = lambda id: tokenizer.id_to_piece(id).replace("\u2581", " ")  # noqa: E731
        added = added or tuple(
            (id, tokenizer.id_to_piece(id), True) for id in range(tokenizer.get_piece_size()) if tokenizer.is_control(id)
        )
    elif callable(getattr(tokenizer, "convert_ids_to_tokens", None)):  # a slow tokenizer of transformers
        encode = functools.partial(tokenizer.encode, add_special_tokens=False, split_special_tokens=True)
        text = lambda id: tokenizer.convert_ids_to_tokens(id)  # noqa: E731
    elif callable(getattr(tokenizer, "encode", None)):
        encode = tokenizer.encode
        decode: Any = getattr(tokenizer, "decode", None)
        text = (lambda id: decode([id])) if decode is not None else (lambda id: "")
    else:
        raise TypeError(f"a {type(tokenizer).__name__} is no tokenizer: it has no encode")
    return _Tokenizer._from_callables(encode, text, list(added))


def is_processor(object: Any) -> bool:
    """Whether it is a processor of transformers, which has a tokenizer beside what reads images, videos or audio."""
    return any(kind.__name__ == "ProcessorMixin" for kind in type(object).__mro__)
