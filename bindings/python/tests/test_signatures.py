"""Functions whose annotations nobody has evaluated: by `from __future__ import annotations`, or as all are from Python 3.14 on."""

from __future__ import annotations
import __future__

import sys
from typing import Any

import parlance
import pytest

LOOK = '''
def look(place: Place, deep: bool = False) -> Found:
    """Looks.

    Args:
        place: Where
        deep: Whether it looks long
    """
    return place
'''


def look(**names: Any) -> Any:
    """The function, of a module with these names beside it."""
    made: dict[str, Any] = {}
    flags = 0 if sys.version_info >= (3, 14) else __future__.annotations.compiler_flag
    exec(compile(LOOK, "<look>", "exec", flags, True), made)
    made.update(names)
    return made["look"]


def test_names_that_come_later_are_known() -> None:
    function = look(Place=str, Found=list[str])
    made = parlance.get_json_schema(function)
    assert made["function"]["parameters"]["properties"]["place"] == {"type": "string", "description": "Where"}
    assert made["function"]["parameters"]["required"] == ["place"]
    pytest.importorskip("transformers")
    from transformers.utils import get_json_schema

    assert made == get_json_schema(function)


def test_a_function_whose_tool_is_given_needs_no_annotation() -> None:
    reply: Any = lambda messages, tools: "Yes"  # noqa: E731
    tool = {"type": "function", "function": {"name": "look"}}
    assert parlance.Agent(reply, tools=[(tool, look())], goal="Do it").run().reason == "done"
    with pytest.raises(NameError, match="Place"):
        parlance.Agent(reply, tools=[look()], goal="Do it")


def test_a_missing_hint_is_told_first() -> None:
    function = look()
    function.__annotations__ = {"deep": "Missing"}
    with pytest.raises(ValueError, match="Argument place is missing a type hint"):
        parlance.get_json_schema(function)
