"""Pickles of templates and tokenizers: they have how it was opened, and open it again. And of renderings, which are rendered again."""

from __future__ import annotations

from typing import Any

from parlance._core import Rendering, Template, _rendered_again


def reduced(kind: str, opened: tuple[str, tuple[Any, ...], dict[str, Any]] | None) -> tuple[Any, ...]:
    """What __reduce__ gives. Raises TypeError for a tokenizer that was made of other objects."""
    if opened is None:
        raise TypeError(f"this {kind} cannot be pickled, since it was made of another object: pickle that")
    return reopened, (kind, *opened)


def reopened(kind: str, factory: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    import parlance

    return getattr(getattr(parlance, kind), factory)(*args, **keywords)


def rendered_again(template: Template, *given: Any) -> Rendering:
    """Of what _rendered_again() takes; the extension's own functions cannot be pickled."""
    return _rendered_again(template, *given)
