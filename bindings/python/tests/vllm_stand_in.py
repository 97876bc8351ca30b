"""Stands in for the heavy compiled packages that vLLM imports on the way to its parsers, none of which a parser calls.

`install(version, more)` puts vllm_setup.sh's files on the path; False if they are not there. It stands in for more packages where nothing
that they have is called.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Any

from material import ROOT

_HEAVY = [
    "cpuinfo",
    "compressed_tensors",
    "cv2",
    "flashinfer",
    "gguf",
    "librosa",
    "llguidance",
    "numba",
    "outlines_core",
    "ray",
    "soundfile",
]
_HEAVY += ["tilelang", "torch", "torchaudio", "torchvision", "triton", "vllm._C", "vllm._custom_ops", "vllm.config.quantization"]
_HEAVY += ["vllm.distributed", "vllm.lora", "vllm.model_executor"]


class _Meta(type):
    """A class that is whatever it is taken for."""

    def __getattr__(cls, name: str) -> Any:
        return _any(name)

    def __or__(cls, other: object) -> Any:
        return object

    __ror__ = __or__

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else super().__call__()  # a decorator

    def __lt__(cls, other: object) -> bool:
        return False

    __gt__ = __lt__

    def __iter__(cls) -> Any:
        return iter(())


def _any(name: str) -> Any:
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)

    def call(self: object, *args: Any, **kwargs: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else _any("result")()

    return _Meta(
        name,
        (),
        {
            "__call__": call,
            "__getattr__": lambda self, name: _any(name),
            "__enter__": lambda self: self,
            "__exit__": lambda self, *error: None,
            "__iter__": lambda self: iter(()),
            "__bool__": lambda self: False,
            "__class_getitem__": classmethod(lambda cls, item: cls),
            "max": 2**63 - 1,  # torch.iinfo(…).max
            "min": -(2**63),
        },
    )


class _Module(types.ModuleType):
    __version__ = "2.14.0"

    def __getattr__(self, name: str) -> Any:
        made = _any(name)
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if not any(name == heavy or name.startswith(heavy + ".") for heavy in _HEAVY):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        made = _Module(spec.name)
        made.__path__ = []
        return made

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def install(version: str, more: Sequence[str] = ()) -> bool:
    folder, libraries = (ROOT / "build" / "python" / name for name in (f"vllm-{version}", "vllm-libraries"))
    if not folder.exists() or not libraries.exists():
        return False
    _HEAVY.extend(more)
    sys.path[1:1] = [str(folder), str(libraries)]
    sys.meta_path.insert(0, _Finder())
    return True
