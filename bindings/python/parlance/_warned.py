"""Warnings that name the line of whoever called this package, however deep in it they are found."""

import os
import sys
import warnings

_PACKAGE = os.path.join(os.path.dirname(__file__), "")


def warn_caller(message: str) -> None:
    """A UserWarning of the nearest line outside of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
