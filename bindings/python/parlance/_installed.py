"""A method that parlance puts on one tokenizer or processor."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any


class Installed:
    # It can be pickled and copied with its tokenizer, and shows itself, to inspect and help(), as the method that it replaces.

    def __init__(self, tokenizer: Any, method: Callable[..., Any], defaults: dict[str, Any], more: str = "") -> None:
        """`more` is a sentence for help()."""
        self._tokenizer = tokenizer
        self._method = method
        self._defaults = defaults
        self._more = more

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._method(self._tokenizer, *args, **{**self._defaults, **kwargs})

    def __get__(self, instance: Any, owner: Any = None) -> Installed:  # help() shows what has it as a method
        return self

    @property
    def __name__(self) -> str:
        return str(self._method.__name__)

    @property
    def _replaced(self) -> Callable[..., Any]:
        """The class's own method, bound; parlance's where it has none."""
        return types.MethodType(getattr(type(self._tokenizer), self.__name__, self._method), self._tokenizer)

    @property
    def __signature__(self) -> inspect.Signature:
        """With the defaults that install() was given."""
        signature = inspect.signature(self._replaced)
        parameters = [one.replace(default=self._defaults.get(one.name, one.default)) for one in signature.parameters.values()]
        return signature.replace(parameters=parameters)


def _doc(self: Installed) -> str:
    first = f"Installed by parlance; see parlance.{self.__name__}. {self._more}".rstrip()
    return f"{first}\n\n{inspect.getdoc(self._replaced) or ''}"


Installed.__doc__ = property(_doc)  # type: ignore[assignment]
