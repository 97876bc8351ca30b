"""Agent: gives a model a goal and functions of yours, and goes on until the goal is reached and verified.

def weather(city: str) -> str:
    '''Says the weather.

    Args:
        city: The name of a city.
    '''
    return "rain"

agent = parlance.Agent(template, tokenizer, sample, [weather], goal="Do I need an umbrella in Bergen?")
print(agent.run().answer)
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from parlance._core import Template, _AgentHistory, _AgentModel, _check_grammar_syntax, _run_agent
from parlance._replied import not_awaited, replying, utf8
from parlance._schema import get_json_schema
from parlance._signatures import signature_of_any

_MOST = 2**32 - 1
"""Of turns, repeats and refusals."""


@dataclasses.dataclass
class ToolOutcome:
    """What a run of a tool gave."""

    text: str
    """What the model reads."""
    succeeded: bool = True
    changed: bool = False
    """Something that lasts was changed: the model may not end before another run has succeeded that changes nothing."""


@dataclasses.dataclass
class AgentEnd:
    """How a run ended."""

    reason: str
    """done, gave_up (it wanted to end without verification, or without an answer, too often), turns, tokens,
    seconds, repeats, context or stopped."""
    sentence: str
    """The reason for people."""
    answer: str
    """Content of the last reply."""
    turns: int
    """Replies of the model in this run."""
    sampled_tokens: int
    unverified: bool = False
    """The last change is not followed by a run that succeeded."""


class Agent:
    """A model with a goal and tools.

    template: a parlance.Template whose model calls tools; then `tokenizer` and `sample` are needed. Or a function reply(messages, tools)
        that gives whole replies, such as a client of an API or a policy of yours. It gets the conversation and the tools as a request
        has them (None where there are no tools), and returns an assistant's message: a dict, a parlance.Message, a text, or what
        a client of OpenAI's API returns (a message, or the whole completion, whose usage and finish_reason count).
    tokenizer: the model's, of any package that parlance knows.
    sample: sample(ids, grammar, stop_tokens) gives the tokens of a reply one after the other, up to and with a stop token, or
        fewer where a limit ends it. grammar is None, or a text in the syntax of `grammar` for the engine.
    tools: functions with types and a docstring, as for get_json_schema, or pairs of a tool as a request has it and a function, which
        gets the arguments by their names: no parameter is positional-only. None of them is async, or returns a coroutine. Arguments that
        do not fit the tool's schema, by types, listed values and members, are told to the model, and nothing runs. What a function
        returns is the result: a ToolOutcome, a text, or anything that JSON can say. An exception, and a result that JSON cannot say
        (bytes, a set, NaN), is told to the model as the result of a run that failed.
    goal: what is to be done; system: a system message in place of the template's own.
    verify: the model may not end before a run has succeeded after the last change.
    max_turns, max_tokens, max_seconds: limits; 0 is none. The seconds are looked at with each token of sample, too, if it gives them
        one by one. repeats: how often it may do the same with the same result, or reply the same that cannot be read.
    grammar: "gbnf", "lark", "structural-tag" or "json-schema": sample gets a grammar of each reply.
    context: tokens of the model's context; when it is full, turns are left out.
    events: is called with a dict for each event. approve: approve(name, arguments) is asked before each call; True lets it
        run, False or a text with the reason does not; anything else is a TypeError, which run() raises.
    stopped: is asked between two steps; True ends the run.
    resolve: resolve(name, arguments) is asked by resume() for each call without a result, of which nobody knows whether it has run;
        True runs it again, False or a text tells the model that this is not known. Without it the model is told.

    The sampled ids of each reply are kept: a turn's prompt begins with those of the turns before.
    """

    def __init__(
        self,
        template: Template | Callable[[list[dict[str, Any]], list[dict[str, Any]] | None], Any],
        tokenizer: Any = None,
        sample: Callable[[list[int], str | None, list[int]], Iterable[int]] | None = None,
        tools: Sequence[Callable[..., Any] | tuple[dict[str, Any], Callable[..., Any]]] = (),
        *,
        goal: str,
        system: str = "",
        verify: bool = True,
        max_turns: int = 200,
        max_tokens: int = 0,
        max_seconds: float = 0,
        repeats: int = 3,
        refusals: int = 3,
        grammar: str | None = None,
        context: int | None = None,
        events: Callable[[dict[str, Any]], Any] | None = None,
        approve: Callable[[str, str], bool | str] | None = None,
        stopped: Callable[[], bool] | None = None,
        resolve: Callable[[str, str], bool | str] | None = None,
    ) -> None:
        for name, text in (("goal", goal), ("system", system)):
            _check_text(name, text)
        for name, number, most in (
            ("max_turns", max_turns, _MOST), ("max_tokens", max_tokens, sys.maxsize), ("repeats", repeats, _MOST),
            ("refusals", refusals, _MOST), ("context", 0 if context is None else context, sys.maxsize),
        ):  # fmt: skip
            _check_count(name, number, most)
        if not (grammar is None or isinstance(grammar, str)):
            raise TypeError(f"grammar is the name of a syntax, not a {type(grammar).__name__}")
        if grammar is not None:
            _check_grammar_syntax(grammar)
        for name, function in (("events", events), ("approve", approve), ("resolve", resolve), ("stopped", stopped)):
            if function is not None:
                _check_function(name, function, "a function")
        if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
            raise TypeError(f"tools is a list of functions, or of pairs of a tool and a function, not a {type(tools).__name__}")
        pairs = [_pair(given, f"tools[{number}]") for number, given in enumerate(tools)]
        self._tools = [_tool(pair, f"tools[{number}]") for number, pair in enumerate(pairs)]
        room = None if context is None else operator.index(context)
        self._make_model, self._function = _model(template, tokenizer, sample, grammar, room, [tool for tool, _ in pairs])
        self._task = (goal, system, bool(verify))
        index = operator.index
        self._limits = (index(max_turns), index(max_tokens), _seconds(max_seconds), index(repeats), index(refusals))
        self._hooks = (
            _no_coroutine("events", events, is_used=False), _no_coroutine("approve", approve),
            _no_coroutine("resolve", resolve), _no_coroutine("stopped", stopped),
        )  # fmt: skip
        self._model: _AgentModel | None = None  # of the last run, if it came to its end
        self._history = _AgentHistory()  # of the last run
        self._messages_now: Callable[[], list[dict[str, Any]] | None] = lambda: None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation as a request has it, without what was left out as the context was full: as it is now, within a run (a
        function of yours that the run calls may keep it, for resume()), else of the last run, also of one that raised.

        The arguments of a call are an object, as chat templates want them; where a function replies, they are the text that it gave, as
        OpenAI's API wants it. Empty before the first run. They are new objects.
        """
        now = self._messages_now()
        return self._history.messages if now is None else now

    def run(self) -> AgentEnd:
        """Runs until the end, which it returns. Each call begins anew.

        Raises what `sample` or the reply function, `events`, `approve`, `resolve` and `stopped` raise, and of a tool what is no
        Exception, such as KeyboardInterrupt; parlance.Error if a prompt cannot be made; TypeError and ValueError for what is no reply; and
        ValueError before the first turn where a tool has an empty name, that of another, or parameters that are no JSON Schema of an
        object.
        """
        return self._run(self._make_model(), None)

    def resume(self, messages: Iterable[Any] | None = None, *, unverified: bool | None = None) -> AgentEnd:
        """Goes on behind an earlier run, with limits that count anew. `goal` and `system` are those that the messages have.

        messages: those of a run of another Agent, or of another process: Agent.messages, as they were kept. None: those of this
            Agent's last run. If that one came to its end, the sampled ids of its replies stay, too; if it raised, they are encoded anew.
        unverified: AgentEnd.unverified of that run. None: that of this Agent's last run; for messages that are given, False.

        A call of the last reply without a result may have run or not: see `resolve`. One of this Agent's own last run that had not begun
        just runs. Where the last message is an answer, there is nothing left to do: give a user's message behind it to go on.

        Raises as run(), as Template.render() for messages that are none, and ValueError, with its path, for one without a role; then
        what the last run has done stays.
        """
        if messages is not None:
            return self._run(self._make_model(), _AgentHistory(list(messages), bool(unverified), None))
        history = self._history if unverified is None else self._history.changed(bool(unverified))
        return self._run(self._model or self._make_model(), history)

    def _run(self, model: _AgentModel, earlier: _AgentHistory | None) -> AgentEnd:
        behind, outer = _AgentHistory(), self._messages_now
        self._model = None

        def started(messages_now: Callable[[], list[dict[str, Any]] | None]) -> None:
            self._messages_now = messages_now

        try:
            end = AgentEnd(
                **_run_agent(model, self._function, self._tools, self._task, self._limits, self._hooks, earlier, started, behind)
            )  # fmt: skip
        finally:
            self._history, self._messages_now = behind, outer
        self._model = model
        return end


def _model(
    template: Any, tokenizer: Any, sample: Any, grammar: str | None, context: int | None, tools: list[dict[str, Any]]
) -> tuple[Callable[[], _AgentModel], Callable[..., Any]]:
    """What makes the model of a run, and its function."""
    if isinstance(template, Template):
        from parlance._tokenizers import tokenizer_of

        _check_function("sample", sample, "a function of (ids, grammar, stop_tokens)")
        engine, encoder = template._engine, tokenizer_of(tokenizer)
        return lambda: _AgentModel(engine, encoder, grammar, context), _no_coroutine("sample", sample)
    if not callable(template) or isinstance(template, type) or hasattr(template, "encode"):
        what = "an Agent takes a Template, such as parlance.Template.from_pretrained(…), or a reply function of (messages, tools)"
        raise TypeError(f"{what}, not {_named(template)}")
    _check_function("reply", template, "a function of (messages, tools)")
    for name, given in (("tokenizer", tokenizer), ("sample", sample), ("grammar", grammar)):
        if given is not None:
            hint = ": give tools by their name, tools=[…]" if name == "tokenizer" and isinstance(given, (list, tuple)) else ""
            raise TypeError(f"{name} belongs to a Template, and a reply function gives whole replies{hint}")
    return lambda: _AgentModel(context), replying(template, tools)


def _named(given: Any) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else f"a {type(given).__name__}"


def _check_text(name: str, text: Any) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{name} is a str, not a {type(text).__name__}")
    half = next((number for number, letter in enumerate(text) if "\ud800" <= letter <= "\udfff"), None)
    if half is not None:
        raise ValueError(f"{name} has half of a surrogate pair at {half}, which is no text")


def _check_count(name: str, number: Any, most: int) -> None:
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError(f"{name} is an int, not a {type(number).__name__}")
    if not 0 <= operator.index(number) <= most:
        raise ValueError(f"{name} is not {number}: it is from 0 to {most}")


def _seconds(given: Any) -> float:
    """NumPy's numbers too."""
    if isinstance(given, (bool, str, bytes)) or not (hasattr(given, "__float__") or hasattr(given, "__index__")):
        raise TypeError(f"max_seconds is a number, not a {type(given).__name__}")
    try:
        seconds = float(given)
    except OverflowError:
        seconds = math.inf
    if not seconds >= 0:
        raise ValueError(f"max_seconds is not {given}: it is 0, for no limit, or more")
    return seconds


def _check_function(name: str, function: Any, what: str) -> None:
    if not callable(function):
        raise TypeError(f"{name} is {what}, not a {type(function).__name__}")
    if _is_async(function):
        raise TypeError(f"{name} is an async function, which the agent does not await: give one that runs it, such as by asyncio.run()")


def _no_coroutine(name: str, function: Any, is_used: bool = True) -> Any:
    """The function, which is no async one, but may call one. None for none. `is_used`: what it returns is."""
    if function is None:
        return None

    def called(*arguments: Any) -> Any:
        return not_awaited(name, function(*arguments), is_used)

    return called


def _is_async(function: Any) -> bool:
    """A call of it gives what would have to be awaited, or read on: a loop of its own nobody has."""
    return any(inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one) for one in (function, type(function).__call__))


def _pair(given: Any, name: str) -> tuple[dict[str, Any], Callable[..., Any]]:
    """A tool and its function."""
    if callable(given):
        tool, function = None, given
    elif isinstance(given, (tuple, list)) and len(given) == 2 and isinstance(given[0], dict) and callable(given[1]):
        tool, function = given
    else:
        raise TypeError(f"{name} is a function, or a pair of a tool and a function, not a {type(given).__name__}{_inside(given)}")
    _check_function(name, function, "a function")
    made = get_json_schema(function) if tool is None else tool
    _check_named(name, function, made)
    return made, function


def _check_named(name: str, function: Callable[..., Any], tool: dict[str, Any]) -> None:
    """Arguments come by their names."""
    try:
        parameters = signature_of_any(function).parameters.values()
    except (TypeError, ValueError):  # of C, and nobody says which it has
        return
    schema = tool.get("function", tool)
    asked = schema.get("parameters") if isinstance(schema, dict) else None
    named = asked.get("properties") if isinstance(asked, dict) else None
    for one in parameters:
        if one.kind is one.POSITIONAL_ONLY and (one.default is one.empty or one.name in (named or ())):
            raise TypeError(
                f"{name} takes {one.name!r} by its place alone, and a call gives arguments by their names: leave out the / behind it"
            )


def _inside(given: Any) -> str:
    if not isinstance(given, (tuple, list)):
        return ""
    return f" of ({', '.join(type(one).__name__ for one in given[:4])}{', …' if len(given) > 4 else ''})"


def _tool(pair: tuple[dict[str, Any], Callable[..., Any]], place: str) -> tuple[str, str, str, Callable[[str], tuple[str, bool, bool]]]:
    """As the engine takes it. `place` is where it is given, for errors."""
    tool, function = pair
    schema = tool.get("function", tool)
    if not isinstance(schema, dict):
        raise TypeError(f"{place}[0]['function'] is a dict, not a {type(schema).__name__}")
    if schema.get("name") is None:
        raise ValueError(f"{place}[0] has no name")
    for member in ("name", "description"):
        if schema.get(member) is not None:
            _check_text(f"the {member} of {place}[0]", schema[member])

    def run(arguments: str) -> tuple[str, bool, bool]:
        try:
            return _told(not_awaited("the function", function(**json.loads(arguments))))
        except Exception as error:
            return utf8(_shown(error)), False, False

    parameters = schema.get("parameters", {"type": "object", "properties": {}})
    try:
        written = json.dumps(parameters)
    except (TypeError, ValueError, RecursionError) as error:
        raise type(error)(f"the parameters of {place}[0] are no JSON: {error}") from error
    return schema["name"], schema.get("description") or "", written, run


def _shown(error: Exception) -> str:
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except Exception:  # its class may raise anything where it is asked for its text
        return name


def _told(result: Any) -> tuple[str, bool, bool]:
    """What the model is told of what a function returned: text, succeeded, changed. Raises TypeError where it cannot be told."""
    outcome = result if isinstance(result, ToolOutcome) else ToolOutcome(result if isinstance(result, str) else _json(result))
    if not isinstance(outcome.text, str):
        raise TypeError(f"the text of a ToolOutcome is a str, not a {type(outcome.text).__name__}")
    return utf8(outcome.text), bool(outcome.succeeded), bool(outcome.changed)


def _json(result: Any) -> str:
    try:
        return json.dumps(result, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"the function returned a {type(result).__name__}, which JSON cannot say: {error}") from error
