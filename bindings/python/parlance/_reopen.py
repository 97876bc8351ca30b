"""Pickles of templates and tokenizers: they have how it was opened, and open it again."""

from __future__ import annotations

from typing import Any


def reduced(kind: str, opened: tuple[str, tuple[Any, ...], dict[str, Any]] | None) -> tuple[Any, ...]:
    """What __reduce__ gives. Raises TypeError for a tokenizer that was made of other objects."""
    if opened is None:
        raise TypeError(f"this {kind} cannot be pickled, since it was made of another object: pickle that")
    return reopened, (kind, *opened)


def reopened(kind: str, factory: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    import parlance

    return getattr(getattr(parlance, kind), factory)(*args, **keywords)
