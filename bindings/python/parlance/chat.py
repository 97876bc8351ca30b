"""`apply_chat_template` of transformers, rendered by parlance.

`parlance.apply_chat_template(tokenizer, …)` takes what `tokenizer.apply_chat_template(…)` takes and gives what it gives: text, ids,
masks, errors. `install(tokenizer)` replaces the methods of one tokenizer. Beyond it there are `protect` and `mask`.

Source of the rules: transformers 5.21 to 5.24, tokenization_utils_base.py (apply_chat_template). What the template gets is in
_transformers.py, ids and masks by origin are in _origins.py. Begin reading at apply_chat_template.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from parlance._installed import called, no_tokenizer, override_of, own_class, patched_in, put_on, take_off
from parlance._origins import GENERATION, encode, kinds_of, paths_of
from parlance._sanitized import Sanitized
from parlance._tables import warn_of_nulls
from parlance._tokenizers import is_processor, tokenizer_of
from parlance._transformers import (
    Method,
    RenderedChat,
    check_continued,
    followed,
    limits_of,
    masks_overlaps,
    messages_of,
    sanitizes,
    without_replies,
)

__all__ = ["apply_chat_template", "install", "tokenizer_of", "uninstall"]


def _is_batch(conversation: Any) -> bool:
    if not isinstance(conversation, (list, tuple)):
        return False
    if not conversation:
        raise ValueError("Cannot apply chat template to an empty conversation. Provide at least one message.")
    return isinstance(conversation[0], (list, tuple)) or hasattr(conversation[0], "messages")


# ---- the method

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _also_for_others(method: _Method) -> _Method:
    """The method, which hands a processor on to that of processors, whose positional arguments have another order, and a tokenizer with
    a method of its own to that one."""

    @functools.wraps(method)
    def either(tokenizer: Any, /, *args: Any, **kwargs: Any) -> Any:
        if is_processor(tokenizer):
            from parlance import processors

            return called(tokenizer, "apply_chat_template", processors.apply_chat_template, args, kwargs)
        own = override_of(tokenizer, "apply_chat_template")
        if own is None:
            if not callable(getattr(tokenizer, "get_chat_template", None)):
                raise no_tokenizer(tokenizer)
            return called(tokenizer, "apply_chat_template", method, args, kwargs)
        _check_own(tokenizer, kwargs)
        given = {name: value for name, value in kwargs.items() if name not in _OURS}
        if "conversation" in given:
            given["conversation"] = without_replies(given["conversation"])
        return own(tokenizer, *map(without_replies, args[:1]), *args[1:], **given)

    return either  # type: ignore[return-value]


_OURS = ("protect", "trust", "mask", "transformers_version", "limits")


def _check_own(tokenizer: Any, asked: dict[str, Any]) -> None:
    for name in ("protect", "trust", "mask", "limits"):
        if asked.get(name):
            raise ValueError(f"{name} is not possible: a {own_class(tokenizer).__name__} writes its prompts by a method of its own")


@_also_for_others
def apply_chat_template(
    tokenizer: Any,
    /,
    conversation: Any,
    tools: Sequence[Any] | None = None,
    documents: Sequence[Any] | None = None,
    chat_template: str | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    tokenize: bool = True,
    sanitize_control_tokens: bool = False,
    padding: bool | str = False,
    truncation: bool | str | None = False,
    max_length: int | None = None,
    return_tensors: str | None = None,
    return_dict: bool = True,
    return_assistant_tokens_mask: bool = False,
    tokenizer_kwargs: dict[str, Any] | None = None,
    *,
    protect: bool = False,
    trust: Sequence[str] = (),
    mask: str | Sequence[str] | None = None,
    transformers_version: str | None = None,
    limits: Mapping[str, int] | None = None,
    **kwargs: Any,
) -> Any:
    """What `tokenizer.apply_chat_template(conversation, …)` gives, rendered by parlance.

    `tokenizer` may be a processor too, whose method has other arguments (parlance.processors). A tokenizer whose class has a method of
    its own, as Mistral's, is left to that one; `protect`, `trust`, `mask` and `limits` are a ValueError then.

    All arguments are those of transformers; five are parlance's own:

    * `protect=True`: no text of the request can become a control token. Unlike `sanitize_control_tokens` it also covers keys and
      tokens that a template joins, and goes together with masks.
    * `trust=["messages[assistant]"]`: with `protect`, the paths whose text may contain control tokens all the same: here all that the
      assistant said, such as the `<think>` or `<tool_call>` that the model wrote itself. Also "messages[0].content",
      "messages[*].tool_calls", "tools". A UserWarning says where `protect` made text of an assistant's own control tokens.
    * `mask="assistant"`: `assistant_masks` also for templates without {% generation %} tags. The kinds of Rendering.kinds are
      parts of it; several are given as a list.
    * `transformers_version`: the release to follow; by default the installed one.
    * `limits={"max_steps": 1_000_000}`: limits of each render, as the factories of Template take them: `max_steps`, `max_output` and
      `max_memory` (both in bytes), `max_depth`. A render that reaches one raises parlance.Error with a code such as "limit_steps".
      The defaults are higher than a Template's: 2 GiB of memory, and as many levels of data as the release itself can print.

    Gives a str (a list of them for a batch) with `tokenize=False`, a BatchEncoding by default, the ids alone with
    `return_dict=False`. Raises what transformers raises; an error of the template is a parlance.Error too, with its line. TypeError for
    what is neither a tokenizer of transformers nor a processor.
    """
    if not tokenize:
        return_dict = False
    if return_assistant_tokens_mask and not (return_dict and tokenize):
        raise ValueError("`return_assistant_tokens_mask=True` requires `return_dict=True` and `tokenize=True`")
    kinds, protect, trusted = kinds_of(mask), bool(protect), paths_of(trust)
    if kinds and not (return_dict and tokenize):
        raise ValueError("`mask` requires `return_dict=True` and `tokenize=True`")
    template = tokenizer.get_chat_template(chat_template, tools)
    version = followed(transformers_version)
    limited = limits_of(limits, version)
    is_batched = _is_batch(conversation)
    chats = [messages_of(chat, version) for chat in (conversation if is_batched else [conversation])]
    if continue_final_message:
        check_continued(add_generation_prompt, return_assistant_tokens_mask)
    by_origin = protect or bool(kinds)
    is_refused = return_assistant_tokens_mask and sanitize_control_tokens and not by_origin  # below, before tools are looked at
    if (kinds or return_assistant_tokens_mask) and not is_refused:
        tools = None if tools is None else list(tools)  # what goes through them once is gone through twice
        warn_of_nulls(chats, tools, kinds or (GENERATION,))
    sanitized = None
    if sanitize_control_tokens and by_origin and tokenize:
        protect = True  # which covers it
    elif sanitize_control_tokens:
        sanitized = Sanitized(tokenizer, template, tokenize and not return_assistant_tokens_mask)
        chats = [getattr(chat, "messages", chat) for chat in chats]
        chats, tools, documents, kwargs = sanitized.mark(chats, tools, documents, kwargs)
    variables = {**tokenizer.special_tokens_map, **kwargs, "add_generation_prompt": add_generation_prompt}
    method = Method(
        template,
        tools,
        documents,
        variables,
        version=version,
        continue_final_message=continue_final_message,
        masked=return_assistant_tokens_mask,
        limits=limited,
    )
    rendered: list[RenderedChat] = []
    if by_origin or return_assistant_tokens_mask:
        rendered = method.rendered(chats, assistant=bool(kinds), spans=by_origin)
        texts = [chat.text for chat in rendered]
    else:
        texts = method.texts(chats)
    if not tokenize:
        return texts if is_batched else texts[0]
    shape: dict[str, Any] = {"padding": padding, "max_length": max_length, "return_tensors": return_tensors}
    more = {} if tokenizer_kwargs is None else tokenizer_kwargs
    if by_origin:
        kinds = kinds or ((GENERATION,) if return_assistant_tokens_mask else ())
        protection: dict[str, Any] = {"protect": protect, "trust": trusted}
        out = encode(tokenizer, rendered, is_batched, kinds, truncation=truncation, tokenizer_kwargs=more, **protection, **shape)
        return out if return_dict else out["input_ids"]
    if sanitized is not None:
        out = sanitized.encode(texts, is_batched, truncation, shape, more)
    else:
        if sanitizes(version) and hasattr(tokenizer, "_mark_chat_inputs"):
            shape["sanitize_control_tokens"] = False  # as the method does, in releases whose tokenizers know it
        out = tokenizer(texts if is_batched else texts[0], truncation=truncation, add_special_tokens=False, **shape, **more)
    if not return_dict:
        return out["input_ids"]
    if return_assistant_tokens_mask:
        mask_of_row = _mask_of_overlaps if masks_overlaps(version) else _mask_of_characters
        _add_masks(out, [chat.rendering.generation for chat in rendered], mask_of_row, is_batched, return_tensors)
    return out


_Ranges = list[tuple[int, int]]


def _add_masks(
    out: Any, generation: list[_Ranges], mask: Callable[[Any, int, int, _Ranges], list[int]], is_batched: bool, return_tensors: str | None
) -> None:
    """`assistant_masks`, as transformers makes them of the ranges of {% generation %} blocks."""
    rows = out["input_ids"] if is_batched or return_tensors else [out["input_ids"]]
    masks = [mask(out, row, len(ids), generation[row]) for row, ids in enumerate(rows)]
    out["assistant_masks"] = masks if is_batched or return_tensors else masks[0]
    if return_tensors:
        out.convert_to_tensors(tensor_type=return_tensors)


def _mask_of_characters(out: Any, row: int, count: int, generation: _Ranges) -> list[int]:
    """From the token of a range's first character to that of its last. From the first range that truncation cut off on, there is none."""
    mask = [0] * count
    for begin, end in generation:
        first, last = out.char_to_token(row, begin), out.char_to_token(row, end - 1)
        if first is None:  # cut off
            break
        for token in range(first, last + 1 if last else count):
            mask[token] = 1
    return mask


def _mask_of_overlaps(out: Any, row: int, count: int, generation: _Ranges) -> list[int]:
    """Each token that has a part of a range. Tokens and ranges are gone through once, as if both were in order."""
    mask = [0] * count
    at = 0
    for token, (begin, end) in enumerate(out.encodings[row].offsets):
        while at < len(generation) and begin >= generation[at][1]:
            at += 1
        if at == len(generation):
            break
        if end > generation[at][0]:
            mask[token] = 1
    return mask


# ---- in place of the method


def install(tokenizer: Any, **defaults: Any) -> Any:
    """Replaces `apply_chat_template` and `parse_response` of this one tokenizer or processor, and returns it.

    `defaults` are arguments of every call of apply_chat_template: `install(tokenizer, protect=True)`. What is copied or pickled of the
    tokenizer has the methods too, for its own template. A default mask is left out where a call gives no BatchEncoding.

    Raises ValueError for `protect`, `trust`, `mask` and `limits` of a tokenizer whose class has an apply_chat_template of its own. A
    UserWarning says where another package has replaced transformers' own for all tokenizers, or on this one: parlance's does as
    transformers' own did.
    """
    if not is_processor(tokenizer) and override_of(tokenizer, "apply_chat_template") is not None:
        _check_own(tokenizer, defaults)
    for name in put_on(tokenizer, defaults):
        said = f"this {type(tokenizer).__name__} has an attribute {name}, which somebody set: parlance's method is in its place"
        warnings.warn(f"{said} now, and uninstall() gives it back", UserWarning, stacklevel=2)
    if patch := patched_in(tokenizer, "apply_chat_template"):
        said = f"apply_chat_template of all tokenizers was replaced ({patch}); installed on this one, parlance's does as transformers' own"
        warnings.warn(f"{said} does, without what that one changes", UserWarning, stacklevel=2)
    return tokenizer


def uninstall(tokenizer: Any) -> Any:
    """Gives the tokenizer or processor its own methods back, and returns it."""
    take_off(tokenizer)
    return tokenizer
