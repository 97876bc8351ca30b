"""What both of vLLM's parsers of parlance lean on: the reply format of a tokenizer, and where reasoning ends.

Needs no vLLM. Begin reading at replies_of and ReasoningPhase.
"""

from __future__ import annotations

import functools
import json
import logging
import os
import pathlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from parlance._core import ReplyDeltas, ReplyEvent, ReplyFormat, ReplyReader, Template, Tokenizer
from parlance._errors import Error

logger = logging.getLogger("parlance")

# The file of the template, for a server that was started with one of its own (--chat-template), of which vLLM tells parsers nothing.
TEMPLATE_VARIABLE = "PARLANCE_CHAT_TEMPLATE"


class Replies:
    """How the model of one template writes replies, and readers of them."""

    def __init__(self, format: ReplyFormat):
        self._format: dict[str, Any] = json.loads(format.to_json())
        reasoning = self._format.get("reasoning") or {}
        self.opens = _texts(reasoning.get("open"))
        self.closes = _texts(reasoning.get("close"))
        self.ends = [text for end in self._format.get("end", ()) for text in _texts(end)]
        self.has_reasoning = bool(reasoning)
        self.header = self._header()
        """The opening of the assistant's turn, before anything that opens reasoning or content."""

    def _header(self) -> str:
        prompt = str(self._format.get("prompt") or "")
        marks = [*self.opens, *self.closes, *_texts((self._format.get("content") or {}).get("open"))]
        return prompt[: min((prompt.find(mark.strip()) for mark in marks if mark.strip() in prompt), default=len(prompt))]

    @property
    def after_reasoning(self) -> str:
        """The end of a prompt whose reply begins where reasoning has just been closed.

        Where content and calls begin with the turn's header again, they are read as at the beginning of the turn, which takes either.
        """
        again = json.dumps([self._format.get(name) for name in ("content", "calls")], ensure_ascii=False)
        is_again = bool(self.header) and json.dumps(self.header.strip(), ensure_ascii=False)[1:-1] in again
        if not self.opens or not self.closes or is_again:
            return self.header
        return self.header + self.opens[0] + self.closes[0].rstrip()

    @property
    def gap(self) -> str:
        """The white space that belongs to the marker that closes reasoning."""
        close = self.closes[0] if self.closes else ""
        return close[len(close.rstrip()) :]

    @functools.cache  # noqa: B019 (as many as there are templates)
    def format(self, reasoning: bool = True, calls: bool = True) -> ReplyFormat:
        """The format; without reasoning or calls, their markup is text."""
        left_out = {name for name, kept in (("reasoning", reasoning), ("calls", calls)) if not kept}
        made = {name: value for name, value in self._format.items() if name not in left_out}
        if not reasoning:
            made["prompt"] = self.header
        return ReplyFormat(made)

    def tail(self, prompt: str) -> str:
        """A prompt from the assistant's last turn on; all of it where none begins."""
        at = prompt.rfind(self.header) if self.header else -1
        return prompt[max(at, 0) :]

    def tail_of(self, ids: Sequence[int], tokenizer: Tokenizer) -> str:
        """The same of a prompt's ids, of which only the last are looked at, as many as it takes."""
        size = 256
        while True:
            text = tokenizer.decode(ids[-size:]).decode("utf-8", "replace")
            if size >= len(ids) or (self.header and self.header in text):
                return self.tail(text)
            size *= 8

    def is_open(self, prompt: str) -> bool:
        """Whether the reply to this prompt may begin with reasoning: nothing has closed it, and no content has begun."""
        if not self.has_reasoning:
            return False
        tail = self.tail(prompt)
        header = self.header if self.header and tail.startswith(self.header) else ""
        phase = ReasoningPhase(self, header)
        phase.feed(tail[len(header) :])
        return not phase.ended


def _texts(marker: Any) -> list[str]:
    """The spellings of a marker of a format."""
    if isinstance(marker, Mapping):
        marker = marker.get("texts")
    return [marker] if isinstance(marker, str) else [text for text in marker or () if isinstance(text, str)]


@functools.lru_cache(maxsize=64)
def _replies(template: str, special_tokens: tuple[tuple[str, str], ...], variables: str) -> Replies:
    compiled = Template.from_string(template, special_tokens=dict(special_tokens))
    try:
        return Replies(compiled.reply_format(**json.loads(variables)))
    except (Error, TypeError) as error:
        logger.warning("replies are read as without the template's variables %s: %s", variables, error)
        return Replies(compiled.reply_format())


def replies_of(tokenizer: Any, variables: Mapping[str, Any] | None = None) -> Replies:
    """How the model of this tokenizer of transformers writes replies, by its chat template under these variables.

    Raises ValueError for a tokenizer without a chat template, OSError if its file cannot be read, parlance.Error for a template that
    cannot be compiled.
    """
    path = os.environ.get(TEMPLATE_VARIABLE)
    template: Any = pathlib.Path(path).read_text(encoding="utf-8") if path else getattr(tokenizer, "chat_template", None)
    if isinstance(template, Mapping):
        template = template.get("default") or next(iter(template.values()), None)
    if not isinstance(template, str):
        raise ValueError(f"a {type(tokenizer).__name__} without a chat template: {TEMPLATE_VARIABLE} can name the template's file")
    special = {name: token for name, token in getattr(tokenizer, "special_tokens_map", {}).items() if isinstance(token, str)}
    plain = {name: value for name, value in (variables or {}).items() if isinstance(value, (str, int, float, bool))}
    return _replies(template, tuple(sorted(special.items())), json.dumps(plain, sort_keys=True))


class ReasoningPhase:
    """Reads a reply up to the end of its reasoning. `prompt` is the end of the prompt, None for that of the format."""

    def __init__(self, replies: Replies, prompt: str | None):
        self._closes = {close.strip() for close in replies.closes}
        self._reader = ReplyReader(replies.format(), prompt=prompt)
        self._over: int | None = None
        self._at = 0
        self._text = bytearray()
        self.spans: list[tuple[int, int]] = []
        """The bytes of the reply that are reasoning, without its markers."""
        self.ended = False

    def copy(self) -> ReasoningPhase:
        made = object.__new__(ReasoningPhase)
        made.__dict__.update(self.__dict__)
        made._reader, made._text, made.spans = self._reader.copy(), bytearray(self._text), list(self.spans)
        return made

    def feed(self, piece: str | bytes) -> str:
        """The reasoning that this piece adds."""
        self._text += piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece
        return "" if self.ended else self._add(self._reader.feed(piece))

    def finish(self) -> str:
        """The reasoning that was held back."""
        return "" if self.ended else self._add(self._reader.finish())

    @property
    def rest(self) -> str:
        """What stands behind the reasoning, with its markup."""
        return bytes(self._text[self._at :]).decode("utf-8", "replace") if self.ended else ""

    @property
    def rest_begins(self) -> int:
        """The byte at which that begins."""
        return self._at

    def _add(self, events: Iterable[ReplyEvent]) -> str:
        """An end of the turn leaves it open; what comes behind one is no reasoning."""
        said: list[str] = []
        for event in events:
            size = len(event.source.encode("utf-8", "surrogatepass"))
            if event.kind == "reasoning":
                said.append(event.text)
                if self.spans and self.spans[-1][1] == event.position:
                    self.spans[-1] = (self.spans[-1][0], event.position + size)
                else:
                    self.spans.append((event.position, event.position + size))
            elif event.kind == "marker" and event.source.strip() in self._closes:
                self.ended, self._at = True, event.position + size
            elif event.kind == "end":
                self._over = event.position
            elif event.kind in ("content", "call_begin", "broken", "trailing"):
                self.ended, self._at = True, event.position if self._over is None else self._over
            if self.ended:
                break
        return "".join(said)


class Pieces:
    """Turns a reader's events into what a DeltaMessage has: `content`, `reasoning`, and one item for each call in `tool_calls`.

    Text behind an end of the turn is content, together with that end: the model has spelled it, since vLLM stops at a true one. Only
    where nothing but ends and white space follows is it markup.
    """

    def __init__(self, ends: Sequence[str]) -> None:
        self._deltas = ReplyDeltas(make_call_id=lambda: f"call_{uuid.uuid4().hex[:24]}")
        self._ends = [end.strip() for end in ends if end.strip()]
        self._over = ""  # from the end of the turn on, as long as it is markup

    def of(self, events: Iterable[ReplyEvent]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for event in events:
            if event.kind in ("end", "trailing"):
                self._over += event.source
                if not self._is_markup(self._over):
                    add_to(made, {"content": self._over})
                    self._over = ""
                    self._ends = []  # all that follows is content
            else:
                delta = self._deltas.add(event) or {}
                add_to(made, {"reasoning" if name == "reasoning_content" else name: value for name, value in delta.items()})
        return made

    def _is_markup(self, text: str) -> bool:
        """Whether it is ends of turns, or the beginning of one."""
        text = text.lstrip()
        while end := next((end for end in self._ends if text.startswith(end)), None):
            text = text[len(end) :].lstrip()
        return not text or any(end.startswith(text) for end in self._ends)


def add_to(made: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Appends a delta to what was made of those before it."""
    for name in ("content", "reasoning"):
        if delta.get(name):
            made[name] = made.get(name, "") + delta[name]
    for call in delta.get("tool_calls") or ():
        calls = made.setdefault("tool_calls", [])
        known = next((one for one in calls if one["index"] == call["index"]), None)
        if known is None:
            calls.append({**call, "function": dict(call["function"])})
        else:
            known["function"]["arguments"] = known["function"].get("arguments", "") + call["function"].get("arguments", "")


# The argument that a tool has which takes a text instead of arguments, as vLLM shows it to the model.
_FREE_TEXT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"], "additionalProperties": False}


def plain_tools(tools: Sequence[Any] | None) -> list[dict[str, Any]] | None:
    """vLLM's tools as those of chat completions: the functions that it shows to the model, under the names that it gives them.

    A function of a namespace has both names, a `custom` tool takes a text; what vLLM does not show (web search, say) is left out.
    """
    return [made for tool in tools or () for made in _functions(tool)] or None


def _functions(tool: Any) -> list[dict[str, Any]]:
    one = tool if isinstance(tool, Mapping) else tool.model_dump(exclude_none=True)
    kind = one.get("type", "function")
    function = dict(one.get("function") or {name: value for name, value in one.items() if name != "type"})
    name = function.get("name")
    if not name:
        return []
    if kind == "namespace":
        inner = [made["function"] for tool in one.get("tools", ()) if tool.get("type") == "function" for made in _functions(tool)]
        return [{"type": "function", "function": {**made, "name": f"{name}__{made['name']}"}} for made in inner]
    if kind == "custom":
        function = {"name": name, "description": function.get("description", ""), "parameters": _FREE_TEXT}
    return [{"type": "function", "function": function}] if kind in ("function", "custom") else []
