"""Warnings that name the line of whoever called this package, however deep in it they are found."""

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent)


def warn_caller(message: str) -> None:
    """A UserWarning of the nearest line outside of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
