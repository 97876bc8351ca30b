"""What transformers does around a chat template: which release is followed, what the template gets, where a continued message ends.

Source of the rules: transformers 5.21 to 5.24, utils/chat_template_utils.py (render_jinja_template). Begin reading at Method.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import logging
import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from parlance._core import LIMITS, RELEASES, Message, Rendering, Template
from parlance._errors import Error, note_conversation, of_method
from parlance._warned import warn_caller

logger = logging.getLogger("parlance")


class _Release(NamedTuple):
    """What a release does otherwise than others; include/parlance/transformers.def says it of each."""

    drops_null_members: bool
    takes_objects: bool
    masks_overlaps: bool


# Of transformers, oldest first.
_RELEASES: dict[str, _Release] = {name: _Release(**facts) for name, facts in RELEASES.items()}

# The first one that makes plain data of messages itself.
_FIRST_PLAIN = "5.22.2"

_NO_MESSAGE = "Chat messages should be dicts, dataclasses or pydantic models, but got {!r}."

REASONING = ("reasoning_content", "thinking", "reasoning")
_MASKED_RENDER = "transformers.utils.chat_template_utils._render_with_assistant_indices()"
_TAG = "CONTINUE_FINAL_MESSAGE_TAG "
_GENERATION = re.compile(r"\{\%-?\s*generation\s*-?\%\}")


# ---- which release


def followed(asked: str | None) -> str:
    """The release of transformers to follow: the one that is asked for, else the installed one or the last that is known before it.

    A UserWarning says, once, where the installed one is older than all that are known, or newer.

    Raises ValueError if parlance does not follow the one that is asked for.
    """
    if asked is None:
        try:
            import transformers
        except ImportError:
            return list(_RELEASES)[-1]
        installed = str(transformers.__version__)
        if _number(installed) < _number(next(iter(_RELEASES))):
            _warn_of_older(installed)
        elif _number(installed) > _number(list(_RELEASES)[-1]):
            _warn_of_newer(installed)
        return nearest(installed)
    asked = asked if asked in _RELEASES else f"{asked}.0"  # 5.22 is 5.22.0
    if asked not in _RELEASES:
        raise ValueError(f"parlance follows transformers {', '.join(_RELEASES)}, not {asked.removesuffix('.0')}")
    return asked


@functools.cache  # once
def _warn_of_older(installed: str) -> None:
    oldest, newest = next(iter(_RELEASES)), list(_RELEASES)[-1]
    differs = ", which gives a BatchEncoding where 4 gives ids (return_dict)" if _number(installed)[0] < 5 else ""
    warn_caller(
        f"transformers {installed} is older than the releases whose apply_chat_template parlance follows ({oldest} to {newest}). What is "
        f'called is as in {oldest}{differs}. transformers_version="{oldest}" says that this is meant.'
    )


@functools.cache  # once
def _warn_of_newer(installed: str) -> None:
    newest = list(_RELEASES)[-1]
    warn_caller(
        f"transformers {installed} is newer than the releases whose apply_chat_template parlance follows (up to {newest}). What is called "
        f'is as in {newest}. transformers_version="{newest}" says that this is meant.'
    )


def nearest(version: str) -> str:
    """The last release that is not later than this one; the oldest where all are."""
    return next((release for release in reversed(_RELEASES) if _number(release) <= _number(version)), next(iter(_RELEASES)))


def _number(release: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", release)[:3]]


Limits = tuple[tuple[str, int], ...]
"""Of renders: arguments of a Template's factories."""


# transformers has no limits but CPython's stack: of a request's data it prints nearly a thousand levels, half as many where it makes
# them plain before. (A thread with less than 1 MiB of stack needs a lower max_depth.) Memory is counted as a render makes it, garbage
# too: ten thousand messages that a template joins one by one to a list take more than a Template's 512 MiB. The steps of a Template
# hold here too, and bound what is hostile to a few seconds.
_DEPTH, _DEPTH_OF_PLAIN = 1000, 500
_MEMORY = 2 << 30


def limits_of(asked: Mapping[str, int] | None, version: str) -> Limits:
    """Raises TypeError for what is no mapping, ValueError for a name that is no limit's."""
    limits = {"max_depth": _DEPTH_OF_PLAIN if _makes_plain(version) else _DEPTH, "max_memory": _MEMORY}
    if asked is None:
        return tuple(limits.items())
    if not isinstance(asked, Mapping):
        raise TypeError(f"limits is a dict, such as {{'max_steps': 1_000_000}}, not {type(asked).__name__}")
    unknown = next((name for name in asked if name not in LIMITS), None)
    if unknown is not None:
        raise ValueError(f"the limits are {', '.join(LIMITS)}, not {unknown!r}")
    given = {name: limit for name, limit in asked.items() if limit is not None}
    return tuple(sorted({**limits, **given}.items()))


@functools.lru_cache(maxsize=128)
def _compiled(text: str, version: str, limits: Limits) -> Template:
    if not isinstance(text, str):
        raise TypeError("Can't compile non template nodes")
    return Template.from_string(text, as_transformers=version, _of_batch=True, **dict(limits))  # type: ignore[call-arg, arg-type]


# ---- the conversation


def plain_tools(tools: Sequence[Any] | None) -> list[Any] | None:
    """The tools as JSON schemas; functions are described by transformers' rule.

    Raises ValueError for a tool that is neither.
    """
    if tools is None:
        return None
    plain: list[Any] = []
    for tool in tools:
        if isinstance(tool, dict):
            plain.append(tool)
        elif inspect.isfunction(tool) or inspect.ismethod(tool):
            plain.append(_schema_of(tool))
        else:
            raise ValueError(
                "Tools should either be a JSON schema, or a callable function with type hints "
                "and a docstring suitable for auto-conversion to a schema."
            )
    return plain


def _schema_of(function: Any) -> Any:
    try:
        from transformers.utils import chat_template_utils
    except ImportError:
        from parlance._schema import get_json_schema

        return get_json_schema(function)
    return chat_template_utils.get_json_schema(function)  # as the installed release describes it


def _checked_documents(documents: Any, version: str) -> Any:
    """As they were given. What is neither a list nor a tuple is what the release makes of it; before it made plain data, that was what
    the template could go through."""
    if documents is None:
        return None
    for document in documents:
        if not isinstance(document, dict):
            raise TypeError("Documents should be a list of dicts with 'title' and 'text' keys!")
    if isinstance(documents, (list, tuple, str, Mapping)):
        return documents
    return plain_data(documents, placeholders=True) if _makes_plain(version) else list(documents)


def _check_free(name: str, variables: dict[str, Any], function: str) -> None:
    """Raises TypeError, as `function` does, where a variable of the template has the name of one of its arguments."""
    if name in variables:
        raise TypeError(f"{function} got multiple values for keyword argument '{name}'")


def sanitizes(version: str) -> bool:
    """Whether the release's tokenizers are told so themselves."""
    return _RELEASES[version].drops_null_members


def masks_overlaps(version: str) -> bool:
    """Whether a mask has each token of which a part was generated."""
    return _RELEASES[version].masks_overlaps


def messages_of(chat: Any, version: str) -> Any:
    """A chat as it was given, if it is one: a list of objects, or an object that has such a list. Else it is taken as the release takes it.

    Raises what transformers raises for what is no chat, or no message.
    """
    if _RELEASES[version].takes_objects:
        return _as_dicts(getattr(chat, "messages", chat))
    if hasattr(chat, "messages"):
        return chat
    iter(chat)
    if not _RELEASES[version].drops_null_members:
        return chat
    if isinstance(chat, (list, tuple)) and all(type(message) is dict or _is_object(message) for message in chat):
        return chat
    return [message if _is_object(message) else _without_none(message) for message in chat]


def _as_dicts(chat: Any) -> Any:
    """A chat whose messages are dicts without members that are None; where they are dicts already, rendering leaves these out."""
    if isinstance(chat, (list, tuple)) and all(type(message) is dict for message in chat):
        return chat
    made = []
    for message in plain_data(chat, leaves=False):
        if not isinstance(message, dict):
            raise TypeError(_NO_MESSAGE.format(message))
        made.append(_without_none(message))
    return made


def without_replies(conversation: Any) -> Any:
    """A chat, or a batch of them, with dicts in place of parlance's own Message, which methods of transformers do not know."""
    if isinstance(conversation, Message):
        return plain_data(conversation)
    if not isinstance(conversation, (list, tuple)) or not any(isinstance(one, (Message, list, tuple)) for one in conversation):
        return conversation
    return [without_replies(one) for one in conversation]


def _makes_plain(version: str) -> bool:
    """Whether the release makes plain data of all that a template gets."""
    return _number(version) >= _number(_FIRST_PLAIN)


def _check_messages(chat: Any) -> None:
    """Raises TypeError for the first that is no message. Of what is neither a list nor a tuple, plain data has none."""
    for message in chat if isinstance(chat, (list, tuple)) else plain_data(chat, placeholders=True):
        if type(message) is dict or isinstance(message, Mapping) or _is_object(message):
            continue
        raise TypeError(_NO_MESSAGE.format(plain_data(message, placeholders=True)))


def _is_object(message: Any) -> bool:
    """Whether it is a Message of parlance, a dataclass or a pydantic model, which templates may get, though that method of transformers
    does not take them, or not in all releases."""
    kind = type(message)
    return isinstance(message, Message) or hasattr(kind, "__dataclass_fields__") or hasattr(kind, "model_dump")


def _dropped(chat: Any, version: str) -> list[Any]:
    """The messages without the members that are None, where the release drops them."""
    if not _RELEASES[version].drops_null_members:
        return list(chat)
    return [message if _is_object(message) else _without_none(message) for message in chat]


def _without_none(message: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in message.items() if value is not None}


def _with_reasoning(message: dict[str, Any]) -> dict[str, Any]:
    reasoning = next((message[name] for name in REASONING if message.get(name) is not None), None)
    return message if reasoning is None else {"thinking": reasoning, **message, "reasoning_content": reasoning}


# ---- objects as plain data


def plain_data(value: Any, *, placeholders: bool = False, leaves: bool = True) -> Any:
    """Objects as the template gets them: mappings, dataclasses and models of pydantic as dicts, also inside of others.

    `placeholders`: what JSON has nothing for becomes "<Type>". `leaves`: text of a class derived from str, and NumPy's scalars, become
    plain too.
    """
    plain = functools.partial(plain_data, placeholders=placeholders, leaves=leaves)
    if isinstance(value, str):
        return value if type(value) is str or not leaves else str.__str__(value)
    if isinstance(value, (int, float, type(None))):
        return value
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return (tuple if isinstance(value, tuple) else list)(plain(item) for item in value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return plain(value.item()) if leaves else value
    if isinstance(value, Message):
        return plain(value._in_history())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return plain(dump())
    return f"<{type(value).__name__}>" if placeholders else value


# ---- continuing the final message


class _Continued:
    """The conversation whose final message goes on: its text gets a tag, and the prompt is cut there."""

    def __init__(self, messages: list[Any], field: str, template: str, version: str):
        if not messages:
            if not _RELEASES[version].drops_null_members:
                raise IndexError("list index out of range")
            raise ValueError("continue_final_message is set but the conversation is empty!")
        # As the template gets it, with the reasoning under all of its names.
        final = _with_reasoning(_final_message(messages[-1], version))
        text: Any = final.get(field)
        if text is None:
            raise ValueError(f'continue_final_message is set but the final message has no "{field}" to continue!')
        fields = [field]
        if field in REASONING:
            fields = [name for name in REASONING if final.get(name) == text]
        if not any(name in template for name in fields):
            raise ValueError(f'continue_final_message is set to "{field}" but this is not an accepted field in the chat_template')
        if isinstance(text, (list, tuple)):
            blocks = list(text)
            last = next((block for block in reversed(blocks) if "text" in block), None)
            if last is None:
                raise ValueError("continue_final_message is set but we could not find any text to continue in the final message!")
            self.text: str = last["text"]
            last["text"] = last["text"] + _TAG
            final[field] = type(text)(blocks)
        else:
            self.text = cast("str", text)  # transformers, too, finds out later what is none
            for name in fields:
                final[name] = final[name] + _TAG
        self.messages = [*messages[:-1], final]

    def cut(self, prompt: str) -> str:
        if self.text.strip() not in prompt or _TAG.strip() not in prompt:
            raise ValueError(
                "continue_final_message is set but the final message does not appear in the chat after "
                "applying the chat template! This can happen if the chat template deletes portions of "
                "the final message. Please verify the chat template and final message in your chat to "
                "ensure they are compatible."
                f"Final message to continue: {self.text.strip()}\nRendered chat:\n{prompt}"
            )
        at = prompt.rindex(_TAG.strip())
        return prompt[:at] if prompt[at : at + len(_TAG)] == _TAG else prompt[:at].rstrip()


def _final_message(message: Any, version: str) -> dict[str, Any]:
    """The message that goes on, as plain data, of which nothing is the caller's.

    Raises TypeError for what is no message, or AttributeError, where the release does not look what it is.
    """
    makes_plain = _makes_plain(version)
    plain = plain_data(message, placeholders=makes_plain)
    if not isinstance(plain, dict):
        if makes_plain:
            raise TypeError(_NO_MESSAGE.format(plain))
        raise AttributeError(f"{type(message).__name__!r} object has no attribute 'get'")
    return _without_none(plain) if _RELEASES[version].drops_null_members and _is_object(message) else dict(plain)


def check_continued(add_generation_prompt: bool, return_assistant_tokens_mask: bool) -> None:
    """Raises ValueError for what transformers does not take together with `continue_final_message`."""
    if add_generation_prompt:
        raise ValueError(
            "continue_final_message and add_generation_prompt are not compatible. Use continue_final_message when you want the "
            "model to continue the final message, and add_generation_prompt when you want to add a header that will prompt it to "
            "start a new assistant message instead."
        )
    if return_assistant_tokens_mask:
        raise ValueError("continue_final_message is not compatible with return_assistant_tokens_mask.")


# ---- rendering


@functools.cache
def _warn_once(sentence: str) -> None:
    logger.warning(sentence)


def _warn_without_tags(template: str) -> None:
    """Logs once, by transformers' own logger, that an assistant mask was asked of a template that has no {% generation %} tags."""
    if _GENERATION.search(template):
        return
    try:
        from transformers.utils import chat_template_utils
    except ImportError:
        warn = _warn_once
    else:
        warn = chat_template_utils.logger.warning_once
    warn("return_assistant_tokens_mask==True but chat template does not contain `{% generation %}` keyword.")


@contextlib.contextmanager
def _raised_as_the_method_does(template: str, version: str) -> Iterator[None]:
    try:
        yield
    except Error as error:
        of_method(error, template, has_own_namespace=_makes_plain(version))
        raise


class RenderedChat(NamedTuple):
    """A prompt and its rendering, of whose text it is the beginning: all of it, unless the final message goes on."""

    text: str
    rendering: Rendering


_TEXT = operator.attrgetter("text")
_Rendered = TypeVar("_Rendered")


class Method:
    """One call of the method, which renders chats as this release of transformers does: what is the same for each of them.

    masked: masks by {% generation %} blocks are asked for. Raises what transformers raises; an error of the template is a parlance.Error
    too.
    """

    def __init__(
        self,
        template: str,
        tools: Sequence[Any] | None,
        documents: Sequence[Any] | None,
        variables: dict[str, Any],
        *,
        version: str,
        continue_final_message: bool | str = False,
        masked: bool = False,
        limits: Limits = (),
    ) -> None:
        _check_free("conversations", variables, "transformers.utils.chat_template_utils.render_jinja_template()")
        if masked:
            _warn_without_tags(template)
        with _raised_as_the_method_does(template, version):
            self._compiled = _compiled(template, version, limits)
        self._given = plain_tools(tools), _checked_documents(documents, version), variables
        self._template, self._variables, self._version, self._go_on = template, variables, version, continue_final_message
        self._function = _MASKED_RENDER if masked else "jinja2.environment.Template.render()"
        self._taken = ("compiled_template", "messages") if masked else ("messages",)

    def rendered(self, chats: Sequence[Any], *, assistant: bool = False, spans: bool = False) -> list[RenderedChat]:
        """`assistant` and `spans` say what else is to be found out."""
        render = functools.partial(self._compiled._render_plain, assistant=assistant, spans=spans)
        return [RenderedChat(*one) for one in self._each(chats, render, _TEXT)]

    def texts(self, chats: Sequence[Any]) -> list[str]:
        """The texts alone, in less time."""
        return [text for text, _ in self._each(chats, self._compiled._render_plain_text, str)]

    def _each(
        self, chats: Sequence[Any], render: Callable[..., _Rendered], text_of: Callable[[_Rendered], str]
    ) -> Iterator[tuple[str, _Rendered]]:
        for number, chat in enumerate(chats):
            try:
                made = self._one(getattr(chat, "messages", chat), render, text_of)
            except Exception as error:
                note_conversation(error, number, len(chats))
                raise
            yield made

    def _one(self, chat: Any, render: Callable[..., _Rendered], text_of: Callable[[_Rendered], str]) -> tuple[str, _Rendered]:
        version, go_on = self._version, self._go_on
        if _makes_plain(version):
            _check_messages(chat)
        if not go_on:
            made = self._rendered(chat, render)
            return text_of(made), made
        field = go_on if isinstance(go_on, str) else "content"
        continued = _Continued(_dropped(chat, version), field, self._template, version)
        made = self._rendered(continued.messages, render)
        return continued.cut(text_of(made)), made

    def _rendered(self, messages: Any, render: Callable[..., _Rendered]) -> _Rendered:
        for name in self._taken:
            _check_free(name, self._variables, self._function)
        with _raised_as_the_method_does(self._template, self._version):
            return render(messages, *self._given)
