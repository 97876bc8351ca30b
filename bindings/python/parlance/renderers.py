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
import copy
import functools
import itertools
import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from renderers.base import ParsedResponse, RenderedTokens, extract_message_tool_names
from renderers.configs import BaseRendererConfig

from parlance._attribution import Attribution, Habits
from parlance._bridge import (
    ASKS,
    GROWING,
    PLAIN,
    TOOLS,
    Bridge,
    FinalRefusal,
    Refusal,
    Turn,
    common_end,
    described,
    go_on,
    regardless,
    stand_in,
)
from parlance._core import Rendering, ReplyEvent, ReplyReader, Template, Tokens, _begin_session, _plain_messages
from parlance._errors import Error
from parlance._known import Conversations
from parlance._parsed import ParsedReply
from parlance._stops import literal_tokens, spellings, stop_ids, template_stops
from parlance._tokenizers import added_ids, tokenizer_of
from parlance._transformers import REASONING
from parlance._warned import warn_caller

logger = logging.getLogger("parlance")


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

    A bridge goes on from ids of any renderer. If this one rendered or bridged them, it knows their conversation, and returns None only
    where the template would write the past otherwise. If not, or if it has forgotten it, it puts others in its place, and returns None
    too where what the template writes depends on them. It remembers prompts of 16 million tokens together, those that were asked for
    last, and a copy remembers them too; a pickle has none. `refusal` says why. With `thinking_retention="all"` reasoning that the
    template would drop is no reason.
    Threads: any; of several that bridge, `refusal` is of the one that was last.
    """

    config_class = ParlanceRendererConfig

    def __init__(self, tokenizer: Any, config: ParlanceRendererConfig | None = None) -> None:
        self.config = config or ParlanceRendererConfig()
        self._given_tokenizer = tokenizer
        self._tokenizer = tokenizer_of(tokenizer)
        self._added = added_ids(tokenizer)
        text = self.config.chat_template or tokenizer.get_chat_template(None, None)
        special = {name: str(token) for name, token in tokenizer.special_tokens_map.items() if isinstance(token, str)}
        self._template = Template.from_string(text, special_tokens=special)
        self._variables = dict(self.config.model_extra or {})
        self._own_stops = frozenset(template_stops(self._template, self._tokenizer, self._variables))
        self._stops = stop_ids(self._template, self._tokenizer, self._variables, tokenizer)
        self._known = Conversations()
        self._is_stable: bool | None = None
        self.effective_thinking_retention = self.config.thinking_retention or "template"
        self.refusal: str | None = None
        """Why the last bridge returned None."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the conversations that it knows: where it is sent, they would go along each time."""
        return type(self), (self._given_tokenizer, self.config)

    def __copy__(self) -> ParlanceRenderer:
        """With the conversations that it knows."""
        return self._copied(self._given_tokenizer, self.config)

    def __deepcopy__(self, memo: dict[int, Any]) -> ParlanceRenderer:
        return self._copied(copy.deepcopy(self._given_tokenizer, memo), copy.deepcopy(self.config, memo))

    def _copied(self, tokenizer: Any, config: ParlanceRendererConfig) -> ParlanceRenderer:
        made = type(self)(tokenizer, config)
        made._known, made.refusal = self._known.copy(), self.refusal
        return made

    @property
    def supports_tools(self) -> bool:
        return True

    # ---- prompts

    def _prompt(self, messages: Sequence[Any], tools: Any, generation: bool, assistant: bool = False) -> Rendering:
        return self._template.render(messages, _tools(tools), add_generation_prompt=generation, assistant=assistant, **self._variables)

    def _tokens(self, prompt: Rendering) -> Tokens:
        return prompt.tokens(self._tokenizer, protect=self.config.protect)

    def render_ids(self, messages: list[Any], *, tools: Any = None, add_generation_prompt: bool = False) -> list[int]:
        ids = self._tokens(self._prompt(messages, tools, add_generation_prompt)).ids
        if add_generation_prompt:
            self._known.add(ids, _plain_messages(messages), tools)
        return ids

    def render(self, messages: list[Any], *, tools: Any = None, add_generation_prompt: bool = False) -> RenderedTokens:
        made = self._attributed(messages, tools, add_generation_prompt)
        if add_generation_prompt:
            self._known.add(made.token_ids, _plain_messages(messages), tools)
        return made

    def _attributed(self, messages: list[Any], tools: Any, generation: bool, first: int = 0) -> RenderedTokens:
        """Whose each token is; exact from message `first` on."""
        prompt = self._prompt(messages, tools, generation, assistant=True)
        tokens = self._tokens(prompt)
        roles = [_role(message) for message in messages]
        found = Attribution(
            prompt, tokens, roles, set(self._stops), self._habits, lambda count: self._prompt(messages[:count], tools, False)
        )
        sampled, owners = found.sampled(), found.owners(first)
        return RenderedTokens(
            token_ids=tokens.ids,
            message_indices=owners,
            sampled_mask=sampled,
            is_content=found.content(sampled, owners),
            message_roles=roles,
            message_tool_names=extract_message_tool_names(messages),
        )

    @functools.cached_property
    def _reasoning_marks(self) -> tuple[list[str], list[str]]:
        """The texts that begin reasoning in replies, and those that end it."""
        reasoning = json.loads(self._template.reply_format(**self._variables).to_json()).get("reasoning") or {}
        opens, closes = (list(spellings(reasoning.get(name))) for name in ("open", "close"))
        return opens, closes

    @functools.cached_property
    def _empty_reasoning(self) -> re.Pattern[str]:
        """What the template may write where there is no reasoning: both marks, or the one that ends it."""
        opens, closes = ("|".join(re.escape(text.strip()) for text in texts if text.strip()) for texts in self._reasoning_marks)
        return re.compile(f"(?:(?:{opens})\\s*)?(?:{closes})\\s*" if opens and closes else "(?!)")

    @functools.cached_property
    def _habits(self) -> Habits:
        small = [ASKS, PLAIN, ASKS]
        try:
            return Habits.found(
                lambda count, generation: self._prompt(small[:count], None, generation),
                self._tokens,
                set(self._stops),
                lambda: self._prompt([{"role": "system", "content": "Be short."}, ASKS], None, False),
            )
        except Error:
            return Habits()

    # ---- replies

    def get_stop_token_ids(self) -> list[int]:
        return list(self._stops)

    def _without_foreign(self, ids: Sequence[int]) -> list[int]:
        """Without the stop tokens at the end that the template never writes, and by which the reply's format does not know an end."""
        end = len(ids)
        while end and ids[end - 1] in self._stops and ids[end - 1] not in self._own_stops:
            end -= 1
        return list(ids[:end])

    def _reader(self, tools: Any, prompt_ids: Sequence[int] | None) -> ReplyReader:
        """For a reply to a prompt."""
        prompt = None
        if prompt_ids:
            stops = set(self._stops)
            last = max((place for place, id in enumerate(prompt_ids) if id in stops), default=-1)
            prompt = self._tokenizer.decode(list(prompt_ids[last + 1 :])).decode("utf-8", "replace")
        format = self._template.reply_format(**self._variables)
        return ReplyReader(format, tools=_tools(tools), prompt=prompt, tokenizer=self._tokenizer)

    def _read(self, ids: Sequence[int], tools: Any, prompt_ids: Sequence[int] | None) -> tuple[ReplyReader, list[ReplyEvent]]:
        """`ids` are without foreign stop tokens."""
        reader = self._reader(tools, prompt_ids)
        events = reader.feed(ids)
        return reader, events + reader.finish()

    def parse_response(self, token_ids: list[int], *, tools: Any = None, prompt_ids: list[int] | None = None) -> ParsedResponse:
        ids = self._without_foreign(token_ids)
        reader, events = self._read(ids, tools, prompt_ids)
        reply = ParsedReply(reader.message, events, ids, self._tokenizer, self._added)
        return ParsedResponse(
            content=reply.content,
            reasoning_content=reader.message.reasoning or None,
            tool_calls=reply.calls,
            reasoning_complete=not self._where_text_would_be(token_ids, tools, prompt_ids)[0],
        )

    def _where_text_would_be(self, ids: Sequence[int], tools: Any, prompt_ids: Sequence[int] | None) -> tuple[bool, bool]:
        """Whether text that came next, in front of the stop token, would be reasoning; and whether it would be in a call cut off there."""
        body = [*itertools.takewhile(lambda id: id not in self._stops, ids)]
        reader = self._reader(tools, prompt_ids)
        while body and any(event.kind == "end" for event in reader.feed(body)[-1:]):  # by a token that is none of these
            body, reader = body[:-1], self._reader(tools, prompt_ids)
        before = len(reader.message.reasoning or "")
        events = reader.feed("x") + reader.finish()
        return len(reader.message.reasoning or "") > before, any(event.kind == "malformed" for event in events)

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
        sampled = list(previous_completion_ids)
        try:
            new = _plain_messages(new_messages)  # which are kept, and which the caller may change
            turn = Turn(list(previous_prompt_ids), self._without_foreign(sampled), new, set(self._stops), self._added)
            bridge, tools, known = self._bridge(turn, tools)
        except Refusal as refusal:
            return self._refuse(str(refusal))
        except Error as error:
            return self._refuse(described(error))
        ids = [*turn.prompt_ids, *sampled, *bridge.added]
        if known and sampled == turn.completion_ids:
            self._known.add(ids, bridge.conversation, tools)
        for said in bridge.disorder:
            warn_caller(_of_new_messages(said, bridge.first))
        return self._bridged(ids, bridge, turn.new, tools)

    def _bridge(self, turn: Turn, tools: Any) -> tuple[Bridge, Any, bool]:
        """With the tools of the conversation, and whether it is known. Raises Refusal, or the Error of the template."""
        roles = {_role(message) for message in turn.new}
        if not turn.prompt_ids or not turn.new:
            raise Refusal("a bridge goes from a prompt to new messages")
        if "assistant" in roles:
            raise Refusal("the new messages have one of the assistant's, which was not sampled")
        if self.config.thinking_retention == "tool_cycle" and "user" in roles:
            raise Refusal("a user's message ends the cycle of calls, beyond which thinking_retention keeps nothing")
        messages, kept = self._known.get(turn.prompt_ids)
        tools = kept if tools is None else tools
        reader, events = self._read(turn.completion_ids, tools, turn.prompt_ids)
        turn.read(reader.message, events)
        source = _Source(self, tools)
        try:
            if messages is None:
                return stand_in(source, turn), tools, False
            return go_on(source, messages, turn), tools, True
        except (Refusal, Error) as why:
            if self.config.thinking_retention != "all" or isinstance(why, FinalRefusal):
                raise
            turn.is_in_reasoning, turn.is_in_call = self._where_text_would_be(turn.completion_ids, tools, turn.prompt_ids)
            try:
                return regardless(source, turn, messages), tools, messages is not None
            except FinalRefusal:
                raise
            except Refusal:
                raise why from None

    def _bridged(self, ids: list[int], bridge: Bridge, new_messages: list[Any], tools: Any) -> RenderedTokens:
        """The bridge's attribution, which is that of its conversation's last tokens."""
        added = len(bridge.added)
        prior = len(ids) - added
        owners, content = [-1] * added, [False] * added
        rendered = None
        with contextlib.suppress(Error):  # with reasoning alone in a reply, say, which the template does not take
            rendered = self._attributed(bridge.conversation, tools, True, bridge.first)
        same = common_end(rendered.token_ids, bridge.added) if rendered else 0  # without the end of a reply that was cut off
        if rendered and same:
            owners[-same:] = [owner - bridge.first if owner >= bridge.first else -1 for owner in rendered.message_indices[-same:]]
            content[-same:] = [one and owner >= 0 for one, owner in zip(rendered.is_content[-same:], owners[-same:], strict=True)]
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
            self._is_stable = all(self._keeps(messages, tools) for messages in GROWING for tools in (TOOLS, None))
        return self._is_stable

    def _keeps(self, messages: list[Any], tools: Any) -> bool:
        try:
            rows = [
                self._tokens(self._prompt(messages[:count], tools, False)).ids
                for count in range(1, len(messages) + 1)
                if count == len(messages) or _role(messages[count - 1]) == "assistant"
            ]
        except Error:
            return False
        return all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(rows))


class _Source:
    """A renderer's template and tokenizer, with the tools of one conversation."""

    def __init__(self, renderer: ParlanceRenderer, tools: Any) -> None:
        self._renderer = renderer
        self._tools = tools

    def begin(self, messages: Sequence[Any]) -> Any:
        one = self._renderer
        return _begin_session(
            one._template._engine, one._tokenizer, list(messages), _tools(self._tools), None, None,
            {"add_generation_prompt": True, **one._variables}, [], one.config.protect,
        )  # fmt: skip

    def written(self, messages: Sequence[Any], generation: bool = False) -> list[int]:
        return self._tokens(messages, generation).ids

    def _tokens(self, messages: Sequence[Any], generation: bool) -> Tokens:
        return self._renderer._tokens(self._renderer._prompt(messages, self._tools, generation))

    def tail(self, messages: Sequence[Any]) -> list[int]:
        return self.behind(messages, len(messages) - 1, True)

    def bare_text(self, messages: Sequence[Any], until: int | None = None) -> str:
        prompt = self._renderer._prompt(messages, self._tools, until is None)
        text = prompt.text if until is None else prompt.text[: _end_of(prompt, until)]
        return self._renderer._empty_reasoning.sub("", text)

    def behind(self, messages: Sequence[Any], number: int, generation: bool) -> list[int]:
        prompt = self._renderer._prompt(messages, self._tools, generation)
        tokens = self._renderer._tokens(prompt)
        own = _end_of(prompt, number)
        within = next((end for begin, end in tokens.ranges if begin < own < end), own)  # a token of both
        ids = [id for id, (begin, _) in zip(tokens.ids, tokens.ranges, strict=True) if begin >= own]
        return [*self.encoded(prompt.text[own:within]), *ids] if within > own else ids

    def behind_reasoning(self, messages: Sequence[Any], number: int) -> str:
        one = self._renderer
        prompt = one._prompt(messages, self._tools, False)
        ends = [span.end for span in prompt.spans if span.message == number and span.path.rpartition(".")[2] in REASONING]
        if not ends:
            return ""
        tokens = one._tokens(prompt)
        stops = (begin for id, (begin, _) in zip(tokens.ids, tokens.ranges, strict=True) if id in one._stops and begin >= max(ends))
        return prompt.text[max(ends) : next(stops, len(prompt.text))]

    def closing_mark(self) -> str:
        return next(iter(self._renderer._reasoning_marks[1]), "")

    def encoded(self, text: str) -> list[int]:
        return list(literal_tokens(text, self._renderer._tokenizer).ids)

    def text(self, ids: Sequence[int]) -> bytes:
        return self._renderer._tokenizer.decode(list(ids))


def _end_of(prompt: Rendering, number: int) -> int:
    """Where the text of a message ends."""
    return max((end for message, (_, end) in prompt.message_ranges if message == number), default=len(prompt.text))


def _of_new_messages(said: str, first: int) -> str:
    """What is said of a conversation, with the paths of the messages that a bridge was asked for; `first` of it are not new."""
    return re.sub(r"\bmessages\[(\d+)\]", lambda found: f"new_messages[{int(found[1]) - first}]", said)


def _tools(tools: Any) -> list[Any] | None:
    """As they are given; templates differ in the form that they expect."""
    return list(tools) if tools else None


def _role(message: Any) -> str:
    role = message.get("role") if isinstance(message, Mapping) else getattr(message, "role", None)
    return str(role or "")
