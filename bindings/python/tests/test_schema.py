"""The schema of a function is the one that transformers makes of it; what it refuses is refused."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, Literal, Optional, Union

import parlance
import pytest
from material import release


class Unit(enum.Enum):
    metric = "metric"
    imperial = "imperial"


class Empty(enum.Enum):
    pass


def plain(city: str, days: int = 3, ratio: float = 0.5, sure: bool = True) -> str:
    """
    Forecasts the weather.

    Args:
        city: Where it is
            asked for, over two lines
        days: How many. Note: at most seven (choices: [1, 3, 7])
        ratio: A share
        sure: Whether it is certain

    Returns:
        The forecast
    """
    return ""


def unions(a: Union[int, str], b: Optional[str], c: int | None, d: Union[list[int], dict[str, float], None], e: int | float) -> None:  # noqa: UP007, UP045
    """Unions.

    Args:
        a: A
        b: B
        c: C
        d: D
        e: E
    """


def containers(a: list[str], b: list, c: tuple[int, str], d: dict[str, list[int]], e: dict, f: Any, g: list[int | None]) -> dict[str, Any]:  # type: ignore[type-arg]
    """Containers.

    Args:
        a: A
        b: B
        c: C
        d: D
        e: E
        f: F
        g: G
    """
    return {}


def choices(a: Literal["x", "y"], b: Literal[1, "z", None], c: Unit, d: Optional[Unit] = None) -> Unit:  # noqa: UP045
    """Choices.

    Args:
        a: A (choices: ["x", "y"])
        b: B
        c: C
        d: D

    Returns:
        A unit
    Raises:
        ValueError: never
    """
    return Unit.metric


class Tool:
    def method(self, at: str) -> int:
        """Looks.

        Args:
            at: Where
        """
        return 0


def nothing() -> None:
    """Takes nothing."""


def unknown_return(a: int) -> Tool:
    """Gives a thing.

    Args:
        a: A
    """
    return Tool()


GOOD: list[Callable[..., Any]] = [plain, unions, containers, choices, Tool().method, nothing, unknown_return]


def typed(city: str, days: int = 3, units: Optional[str] = None) -> str:  # noqa: UP045
    """Types as Google's style has them.

    Args:
        city (str): Where
        days(int): How many (choices: [1, 3])
        units (`str`, *optional*): Of what, see (also: there)
            note (that): no argument
    """
    return ""


def no_docstring(a: int) -> None: ...


def no_hint(a) -> None:  # type: ignore[no-untyped-def]
    """A.

    Args:
        a: A
    """


def no_description(a: int, b: int) -> None:
    """A.

    Args:
        a: A
    """


def custom(a: Tool) -> None:
    """A.

    Args:
        a: A
    """


def one_of_a_tuple(a: tuple[int]) -> None:
    """A.

    Args:
        a: A
    """


def any_length(a: tuple[int, ...]) -> None:
    """A.

    Args:
        a: A
    """


def nothing_to_choose(a: Empty) -> None:
    """A.

    Args:
        a: A
    """


BAD: list[Callable[..., Any]] = [no_docstring, no_hint, no_description, custom, one_of_a_tuple, any_length, nothing_to_choose]


def theirs() -> Callable[[Any], Any]:
    pytest.importorskip("transformers")
    from transformers.utils import get_json_schema

    made: Callable[[Any], Any] = get_json_schema
    return made


@pytest.mark.parametrize("function", GOOD)
def test_is_that_of_transformers(function: Callable[..., Any]) -> None:
    assert parlance.get_json_schema(function) == theirs()(function)


def test_types_in_a_docstring_are_no_part_of_the_description() -> None:
    made = parlance.get_json_schema(typed)
    assert {name: one["description"] for name, one in made["function"]["parameters"]["properties"].items()} == {
        "city": "Where",
        "days": "How many",
        "units": "Of what, see (also: there) note (that): no argument",
    }
    template = parlance.Template.from_string("{{ tools[0] | tojson }}")
    assert '"description": "Where"' in template.render([{"role": "user", "content": "x"}], tools=[typed]).text
    if release() >= (5, 24):
        assert made == theirs()(typed)


@pytest.mark.parametrize("function", BAD)
def test_refuses_what_transformers_refuses(function: Callable[..., Any]) -> None:
    with pytest.raises(Exception):  # noqa: B017 — whichever class it is there
        theirs()(function)
    with pytest.raises(ValueError):
        parlance.get_json_schema(function)
