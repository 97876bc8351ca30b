"""Signatures of functions that others wrote."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any


def signature_of_any(function: Callable[..., Any]) -> inspect.Signature:
    """As `inspect.signature` gives it, but what annotations name need not exist.

    From Python 3.14 on it would evaluate them, and fail where one has a name that is imported for a type checker alone.
    """
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.FORWARDREF)
    return inspect.signature(function)
