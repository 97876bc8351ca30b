"""Pickles of the package and its modules: they have the name, wherever the package is.

dill, by which `datasets` tells functions apart, takes all that a module has where that is not in a folder site-packages.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from types import ModuleType as Module
    from typing import Any
else:
    Module = type(sys)


class NamedModule(Module):
    """The package, and each module of it."""

    def __reduce__(self) -> Any:
        from importlib import import_module

        return import_module, (self.__name__,)

    def __setattr__(self, name: str, value: Any) -> None:
        """An import sets a module in the package, or in the module, that it belongs to."""
        if type(value) is Module and value.__name__ == f"{self.__name__}.{name}":
            value.__class__ = NamedModule
        super().__setattr__(name, value)


def make_pickled(package: str) -> None:
    """Those that are imported already, and each that will be."""
    for name, module in list(sys.modules.items()):
        if type(module) is Module and (name == package or name.startswith(package + ".")):
            module.__class__ = NamedModule
