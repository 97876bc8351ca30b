"""ParlanceRenderer: the protocol of the package `renderers` for every chat template.

prime-rl, verifiers and others select it by its import path:

    [renderer]
    name = "custom"
    import_path = "parlance.renderers.ParlanceRenderer"

Fields beside these are variables of the template (`enable_thinking = false`). Needs the package `renderers`, 0.1.12 or later. Begin
reading at ParlanceRenderer.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from renderers.base import (
    ParsedResponse,
    ParsedToolCall,
    RenderedTokens,
    ToolCallParseStatus,
    extract_message_tool_names,
)
from renderers.configs import BaseRendererConfig

from parlance._attribution import Attribution, Habits
from parlance._core import Message, Rendering, ReplyEvent, ReplyReader, Template, _begin_session
from parlance._errors import Error
from parlance._tokenizers import tokenizer_of
from parlance.session import extend_with_reply, written_text

logger = logging.getLogger("parlance")

# Conversations that bridges go on from.
_KEPT = 4096


class ParlanceRendererConfig(BaseRendererConfig):
    """`chat_template` replaces the tokenizer's own; other fields are variables of the template."""

    model_config: ClassVar[Any] = {**BaseRendererConfig.model_config, "extra": "allow"}
    _internal_fields = frozenset({"chat_template", "protect"})
    _allow_opaque_template_kwargs = True

    name: Literal["parlance"] = "parlance"
    chat_template: str | None = None
    protect: bool = True
    """No text of a message becomes a control token."""


class ParlanceRenderer:
    """Renders, parses and bridges for any template, by where each byte came from.

    A bridge needs to know the conversation behind the ids that it goes on from: those that this renderer rendered or bridged. It
    returns None, and `refusal` says why, where the template would write the past otherwise.
    """

    config_class = ParlanceRendererConfig

    def __init__(self, tokenizer: Any, config: ParlanceRendererConfig | None = None) -> None:
        self.config = config or ParlanceRendererConfig()
        self._tokenizer = tokenizer_of(tokenizer)
        text = self.config.chat_template or tokenizer.get_chat_template(None, None)
        special = {name: str(token) for name, token in tokenizer.special_tokens_map.items() if isinstance(token, str)}
        self._template = Template.from_string(text, special_tokens=special)
        self._variables = dict(self.config.model_extra or {})
        self._stops = [id for id, _, _ in self._template.stop_tokens(self._tokenizer) if id is not None]
        end = getattr(tokenizer, "eos_token_id", None)
        if isinstance(end, int) and end not in self._stops:
            self._stops.append(end)
        self._known: OrderedDict[tuple[int, ...], tuple[list[Any], list[Any] | None]] = OrderedDict()
        self._is_stable: bool | None = None
        self.effective_thinking_retention = self.config.thinking_retention or "template"
        self.refusal: str | None = None
        """Why the last bridge returned None."""

    @property
    def supports_tools(self) -> bool:
        return True

    # ---- prompts

    def _prompt(self, messages: Sequence[Any], tools: Any, generation: bool, assistant: bool = False) -> Rendering:
        return self._template.render(messages, _tools(tools), add_generation_prompt=generation, assistant=assistant, **self._variables)

    def _remember(self, ids: Sequence[int], messages: Sequence[Any], tools: Any) -> None:
        self._known[tuple(ids)] = (list(messages), None if tools is None else list(tools))
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)

    def render_ids(self, messages: list[Any], *, tools: Any = None, add_generation_prompt: bool = False) -> list[int]:
        ids = self._prompt(messages, tools, add_generation_prompt).tokens(self._tokenizer, protect=self.config.protect).ids
        if add_generation_prompt:
            self._remember(ids, messages, tools)
        return ids

    def render(self, messages: list[Any], *, tools: Any = None, add_generation_prompt: bool = False) -> RenderedTokens:
        prompt = self._prompt(messages, tools, add_generation_prompt, assistant=True)
        tokens = prompt.tokens(self._tokenizer, protect=self.config.protect)
        if add_generation_prompt:
            self._remember(tokens.ids, messages, tools)
        roles = [_role(message) for message in messages]
        found = Attribution(
            prompt, tokens, roles, set(self._stops), self._habits, lambda count: self._prompt(messages[:count], tools, False)
        )
        sampled, owners = found.sampled(), found.owners()
        return RenderedTokens(
            token_ids=tokens.ids,
            message_indices=owners,
            sampled_mask=sampled,
            is_content=found.content(sampled, owners),
            message_roles=roles,
            message_tool_names=extract_message_tool_names(messages),
        )

    @functools.cached_property
    def _habits(self) -> Habits:
        small = [_ASKS, {"role": "assistant", "content": "One."}, _ASKS]
        try:
            return Habits.found(
                lambda count, generation: self._prompt(small[:count], None, generation),
                lambda prompt: prompt.tokens(self._tokenizer),
                set(self._stops),
            )
        except Error:
            return Habits()

    # ---- replies

    def get_stop_token_ids(self) -> list[int]:
        return list(self._stops)

    def _read(self, ids: Sequence[int], tools: Any, prompt_ids: Sequence[int] | None) -> tuple[ReplyReader, list[ReplyEvent]]:
        prompt = None
        if prompt_ids:
            stops = set(self._stops)
            last = max((place for place, id in enumerate(prompt_ids) if id in stops), default=-1)
            prompt = self._tokenizer.decode(list(prompt_ids[last + 1 :])).decode("utf-8", "replace")
        format = self._template.reply_format(**self._variables)
        reader = ReplyReader(format, tools=_tools(tools), prompt=prompt, tokenizer=self._tokenizer)
        events = reader.feed(ids)
        return reader, events + reader.finish()

    def parse_response(self, token_ids: list[int], *, tools: Any = None, prompt_ids: list[int] | None = None) -> ParsedResponse:
        message = self._read(token_ids, tools, prompt_ids)[0].message
        return ParsedResponse(
            content=message.content,
            reasoning_content=message.reasoning or None,
            tool_calls=[_parsed_call(call, tools) for call in message.calls],
            reasoning_complete=not (message.finish_reason == "length" and message.reasoning and not message.content and not message.calls),
        )

    # ---- the next turn

    def bridge_to_next_turn(
        self,
        previous_prompt_ids: list[int],
        previous_completion_ids: list[int],
        new_messages: list[Any],
        *,
        tools: Any = None,
    ) -> RenderedTokens | None:
        self.refusal = None
        known = self._known.get(tuple(previous_prompt_ids))
        if known is None:
            return self._refuse("the conversation behind these ids is not known: render it with this renderer")
        if any(_role(message) == "assistant" for message in new_messages):
            return self._refuse("the new messages have one of the assistant's, which was not sampled")
        messages, tools = known[0], tools if tools is not None else known[1]
        try:
            session = _begin_session(
                self._template._engine, self._tokenizer, messages, _tools(tools), None, None,
                {"add_generation_prompt": True, **self._variables}, [], self.config.protect,
            )  # fmt: skip
            if session.ids() != list(previous_prompt_ids):
                return self._refuse("the prompt's ids are not those that its conversation renders to")
            session.append_sampled(list(previous_completion_ids))
            reader, events = self._read(previous_completion_ids, tools, previous_prompt_ids)
            reply = reader.message
            added, behind = extend_with_reply(session, _as_request(reply), written_text(events), list(new_messages))
        except Error as error:
            where = f"{error.template}, line {error.line}: " if error.line else ""
            return self._refuse(where + error.message)
        ids = session.ids()
        whole = [*messages, *behind]
        self._remember(ids, whole, tools)
        return self._bridged(ids, len(added), len(messages) + 1, whole, new_messages, tools)

    def _bridged(self, ids: list[int], added: int, first: int, whole: list[Any], new_messages: list[Any], tools: Any) -> RenderedTokens:
        """The bridge's attribution, which is that of the whole conversation's last tokens."""
        rendered = self.render(whole, tools=tools, add_generation_prompt=True)
        prior = len(ids) - added
        owners, content = [-1] * added, [False] * added
        if rendered.token_ids[-added:] == ids[prior:]:
            owners = [owner - first if owner >= first else -1 for owner in rendered.message_indices[-added:]]
            content = list(rendered.is_content[-added:])
        return RenderedTokens(
            token_ids=ids,
            message_indices=[-1] * prior + owners,
            sampled_mask=[False] * len(ids),
            is_content=[False] * prior + content,
            message_roles=[_role(message) for message in new_messages],
            message_tool_names=extract_message_tool_names(new_messages),
        )

    def _refuse(self, why: str) -> RenderedTokens | None:
        self.refusal = why
        logger.info("no bridge: %s", why)
        return None

    @property
    def is_prefix_stable(self) -> bool:
        """Whether small conversations with reasoning, calls and results keep their ids when messages follow: an experiment."""
        if self._is_stable is None:
            self._is_stable = all(self._keeps(messages) for messages in _EXPERIMENTS)
        return self._is_stable

    def _keeps(self, messages: list[Any]) -> bool:
        try:
            rows = [
                self._prompt(messages[:count], _TOOLS, False).tokens(self._tokenizer).ids
                for count in range(1, len(messages) + 1)
                if count == len(messages) or _role(messages[count - 1]) == "assistant"
            ]
        except Error:
            return False
        return all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(rows))


_TOOLS = [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}}]
_CALL = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": {}}}
_ANSWER = {"role": "assistant", "content": "One.", "reasoning_content": "Two."}
_ASKS: dict[str, Any] = {"role": "user", "content": "Three?"}
_EXPERIMENTS: list[list[Any]] = [
    [_ASKS, _ANSWER, _ASKS, _ANSWER, _ASKS],
    [
        _ASKS,
        {"role": "assistant", "content": "", "reasoning_content": "Two.", "tool_calls": [_CALL]},
        {"role": "tool", "content": "4", "tool_call_id": "call00001", "name": "look"},
        _ANSWER,
        _ASKS,
    ],
]


def _tools(tools: Any) -> list[Any] | None:
    """As they are given; templates differ in the form that they expect."""
    return list(tools) if tools else None


def _role(message: Any) -> str:
    role = message.get("role") if isinstance(message, Mapping) else getattr(message, "role", None)
    return str(role or "")


def _as_request(message: Message) -> dict[str, Any]:
    """The message as templates take it: arguments as an object."""
    made = message.to_dict()
    for call in made.get("tool_calls") or []:
        with contextlib.suppress(ValueError, KeyError):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return made


def _parsed_call(call: Any, tools: Any) -> ParsedToolCall:
    status = ToolCallParseStatus.OK if call.complete else ToolCallParseStatus.INVALID_JSON
    names = {tool.get("function", tool).get("name") for tool in tools or ()}
    if call.complete and names and call.name not in names:
        status = ToolCallParseStatus.UNKNOWN_TOOL
    arguments: Any = call.arguments
    if call.complete:
        arguments = json.loads(call.arguments)
    return ParsedToolCall(raw=call.arguments, name=call.name or None, arguments=arguments, status=status, id=call.id or None)
