"""What makes ReplyEvent, whose attributes are the extension's, a frozen dataclass for those who ask.

So asdict(), replace(), fields() and class patterns take it. Importing dataclasses takes longer than importing parlance: that waits until
somebody asks. Begin reading at make_dataclass.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

_twins: dict[type, type] = {}


class _OfTwin:
    """An attribute of a class that is the one of a real dataclass with the same fields."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        kind = owner or type(instance)
        if kind not in _twins:
            _twins[kind] = _twin_of(kind)
        return getattr(_twins[kind], self._name)


def _twin_of(kind: type) -> type:
    import dataclasses

    fields = [(name, of, dataclasses.field(default=default)) for name, of, default in kind._fields]  # type: ignore[attr-defined]
    first, of, _ = fields[0]
    return dataclasses.make_dataclass(kind.__name__, [(first, of), *fields[1:]], frozen=True)


def _replaced(self: Any, /, **changes: Any) -> Any:
    import dataclasses

    return dataclasses.replace(self, **changes)


def make_dataclass(kind: Any) -> None:
    """Of a class that is made of its fields: `_fields` has their names, types and defaults, the first without one."""
    kind.__match_args__ = tuple(name for name, _, _ in kind._fields)  # type: ignore[misc]
    kind.__dataclass_fields__ = _OfTwin("__dataclass_fields__")
    kind.__dataclass_params__ = _OfTwin("__dataclass_params__")
    kind.__replace__ = _replaced
