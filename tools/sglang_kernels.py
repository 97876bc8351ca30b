"""A stand-in for sgl_kernel, SGLang's kernels, whose package needs a GPU: of sglang_check.sh, which installs it by that name.

SGLang imports names of it that it does not use on a processor without AMX, where it has plain torch for all that a small model needs. They
are here, whatever they are called, and fail when they are called.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence

__path__: list[str] = []


class Missing:
    """A function, or a thing with members."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Missing:
        return missing(f"{self.name}.{name}")

    def __call__(self, *_: object, **__: object) -> object:
        raise NotImplementedError(f"{self.name} needs a GPU")


def missing(name: str) -> Missing:
    if name.rpartition(".")[2].startswith("__"):
        raise AttributeError(name)
    return Missing(name)


class Part(types.ModuleType):
    """A module below this one."""

    def __getattr__(self, name: str) -> Missing:
        return missing(f"{self.__name__}.{name}")


class Parts(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules below this one, whatever they are called."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None) -> object:
        below = name.startswith(__name__ + ".")
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if below else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Part:
        return Part(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def __getattr__(name: str) -> Missing:
    return missing(f"{__name__}.{name}")


sys.meta_path.insert(0, Parts())  # type: ignore[arg-type]
