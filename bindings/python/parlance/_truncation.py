"""How many tokens of a text a tokenizer of transformers keeps. Begin reading at most_tokens."""

from __future__ import annotations

from typing import Any, TypeVar

_Item = TypeVar("_Item")


def most_tokens(
    tokenizer: Any,
    texts: list[str],
    *,
    padding: Any,
    truncation: Any,
    max_length: Any,
    pad_to_multiple_of: int | None = None,
    verbose: bool = True,
    **_: Any,
) -> int | None:
    """To how many tokens the tokenizer would cut these texts; None where it would not.

    Raises what the tokenizer raises.
    """
    padded, strategy, most, _ = tokenizer._get_padding_truncation_strategies(
        padding=padding, truncation=truncation, max_length=max_length, pad_to_multiple_of=pad_to_multiple_of, verbose=verbose
    )
    is_cut = strategy.value != "do_not_truncate"
    if most is None or not (is_cut or padding):
        return None
    # Fast tokenizers refuse some numbers, and to cut the second of two texts where there is one.
    is_of_second = strategy.value == "only_second"
    shape = {"padding": padded, "truncation": strategy, "max_length": most, "pad_to_multiple_of": pad_to_multiple_of}
    tokenizer(texts if is_of_second else "", add_special_tokens=False, verbose=verbose, **shape)
    if getattr(tokenizer, "is_fast", True):
        return max(most, 0) if is_cut and (most == 0 or not is_of_second) else None
    return max(most, 0) if is_cut and most and not is_of_second else None


def truncated(tokenizer: Any, ids: list[_Item], most: int) -> list[_Item]:
    """What belongs to the tokens that are left where the tokenizer cuts a text to so many.

    A negative number counts from the other end, as in a slice.
    """
    if getattr(tokenizer, "truncation_side", "right") == "right":
        return ids[:most]
    return ids[-most:] if most else []
