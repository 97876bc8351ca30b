"""`apply_chat_template` of transformers, rendered by parlance.

`parlance.apply_chat_template(tokenizer, …)` takes what `tokenizer.apply_chat_template(…)` takes and gives what it gives: text, ids,
masks, errors. `install(tokenizer)` replaces the method of one tokenizer. Beyond it there are `protect` and `mask`.

Source of the rules: transformers 5.21 to 5.23, tokenization_utils_base.py (apply_chat_template) and utils/chat_template_utils.py
(render_jinja_template). Begin reading at apply_chat_template.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from parlance._core import RELEASES, Rendering, Template
from parlance._core import Tokenizer as _Tokenizer

logger = logging.getLogger("parlance")

# Of transformers, oldest first: whether members of messages that are None are dropped.
_RELEASES: dict[str, bool] = dict(RELEASES)

_REASONING = ("reasoning_content", "thinking", "reasoning")
_TAG = "CONTINUE_FINAL_MESSAGE_TAG "
_GENERATION = re.compile(r"\{\%-?\s*generation\s*-?\%\}")
_MASKS = ("assistant", "content", "reasoning", "calls", "marker", "stop")


# ---- which release


def _followed(asked: str | None) -> str:
    """The release of transformers to follow: the one that is asked for, else the installed one or the last that is known before it.

    Raises ValueError if parlance does not follow the one that is asked for.
    """
    if asked is None:
        try:
            import transformers
        except ImportError:
            return list(_RELEASES)[-1]
        return _nearest(str(transformers.__version__))
    if asked not in _RELEASES:
        raise ValueError(f"parlance follows transformers {', '.join(_RELEASES)}, not {asked}")
    return asked


def _nearest(version: str) -> str:
    """The last release that is not later than this one; the oldest where all are."""

    def number(release: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", release)[:3]]

    return next((release for release in reversed(_RELEASES) if number(release) <= number(version)), next(iter(_RELEASES)))


@functools.lru_cache(maxsize=128)
def _compiled(text: str, version: str) -> Template:
    return Template.from_string(text, as_transformers=version)


# ---- the conversation


def _plain_tools(tools: Sequence[Any] | None) -> list[Any] | None:
    if tools is None:
        return None
    from parlance._schema import get_json_schema

    plain: list[Any] = []
    for tool in tools:
        if isinstance(tool, dict):
            plain.append(tool)
        elif inspect.isfunction(tool) or inspect.ismethod(tool):
            plain.append(get_json_schema(tool))
        else:
            raise ValueError(
                "Tools should either be a JSON schema, or a callable function with type hints "
                "and a docstring suitable for auto-conversion to a schema."
            )
    return plain


def _check_documents(documents: Sequence[Any] | None) -> None:
    for document in documents or ():
        if not isinstance(document, dict):
            raise TypeError("Documents should be a list of dicts with 'title' and 'text' keys!")


def _is_batch(conversation: Any) -> bool:
    if not isinstance(conversation, (list, tuple)):
        return False
    if not conversation:
        raise ValueError("Cannot apply chat template to an empty conversation. Provide at least one message.")
    return isinstance(conversation[0], (list, tuple)) or hasattr(conversation[0], "messages")


# ---- continuing the final message


class _Continued:
    """The conversation whose final message goes on: its text gets a tag, and the prompt is cut there."""

    def __init__(self, messages: list[Any], field: str, template: str):
        if not messages:
            raise ValueError("continue_final_message is set but the conversation is empty!")
        # As the template gets it, with the reasoning under all of its names.
        final = _with_reasoning(dict(messages[-1]))
        text = final.get(field)
        if text is None:
            raise ValueError(f'continue_final_message is set but the final message has no "{field}" to continue!')
        fields = [field]
        if field in _REASONING:
            fields = [name for name in _REASONING if final.get(name) == text]
        if not any(name in template for name in fields):
            raise ValueError(f'continue_final_message is set to "{field}" but this is not an accepted field in the chat_template')
        if isinstance(text, (list, tuple)):
            blocks = [dict(block) if isinstance(block, Mapping) else block for block in text]
            last = next((block for block in reversed(blocks) if "text" in block), None)
            if last is None:
                raise ValueError("continue_final_message is set but we could not find any text to continue in the final message!")
            self.text: str = last["text"]
            last["text"] = last["text"] + _TAG
            final[field] = type(text)(blocks)
        else:
            self.text = text
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


def _with_reasoning(message: dict[str, Any]) -> dict[str, Any]:
    reasoning = next((message[name] for name in _REASONING if message.get(name) is not None), None)
    return message if reasoning is None else {"thinking": reasoning, **message, "reasoning_content": reasoning}


# ---- the tokenizer

_TOKENIZERS: weakref.WeakKeyDictionary[Any, tuple[Any, _Tokenizer]] = weakref.WeakKeyDictionary()


def tokenizer_of(tokenizer: Any) -> _Tokenizer:
    """The engine's tokenizer for one of Python: of transformers, `tokenizers`, sentencepiece, tiktoken, or any object with `encode`.

    A fast tokenizer is read by the engine, which then encodes without the GIL. Others are called for each run of text between
    control tokens. It is kept as long as `tokenizer` lives, and made anew when that got other added tokens.
    """
    if isinstance(tokenizer, _Tokenizer):
        return tokenizer
    fast = getattr(tokenizer, "backend_tokenizer", tokenizer)
    state = tuple(sorted(_added(tokenizer, fast)))
    try:
        kept = _TOKENIZERS.get(tokenizer)
    except TypeError:  # it cannot be referred to weakly
        kept = None
    if kept is not None and kept[0] == state:
        return kept[1]
    if callable(getattr(fast, "to_str", None)):
        made = _Tokenizer._from_bytes(fast.to_str().encode("utf-8"), "tokenizer.json")
    else:
        made = _of_callables(tokenizer, state)
    with contextlib.suppress(TypeError):
        _TOKENIZERS[tokenizer] = (state, made)
    return made


def _added(tokenizer: Any, fast: Any) -> list[tuple[int, str, bool]]:
    """(id, text, special) of the added tokens."""
    for holder in (tokenizer, fast):
        decoder = getattr(holder, "added_tokens_decoder", None)
        if decoder is None and callable(getattr(holder, "get_added_tokens_decoder", None)):
            decoder = holder.get_added_tokens_decoder()
        if decoder is not None:
            return [(id, str(token), bool(getattr(token, "special", True))) for id, token in decoder.items()]
    special = getattr(tokenizer, "_special_tokens", None)  # tiktoken's
    return [(id, text, True) for text, id in special.items()] if isinstance(special, dict) else []


def _of_callables(tokenizer: Any, added: tuple[tuple[int, str, bool], ...]) -> _Tokenizer:
    encode: Callable[[str], Sequence[int]]
    text: Callable[[int], str | bytes]
    if callable(getattr(tokenizer, "encode_ordinary", None)):  # tiktoken
        encode, text = tokenizer.encode_ordinary, tokenizer.decode_single_token_bytes
    elif callable(getattr(tokenizer, "id_to_piece", None)):  # sentencepiece
        encode = functools.partial(tokenizer.encode, out_type=int)
        text = lambda id: tokenizer.id_to_piece(id).replace("\u2581", " ")  # noqa: E731
        added = added or tuple(
            (id, tokenizer.id_to_piece(id), True) for id in range(tokenizer.get_piece_size()) if tokenizer.is_control(id)
        )
    elif callable(getattr(tokenizer, "convert_ids_to_tokens", None)):  # a slow tokenizer of transformers
        encode = functools.partial(tokenizer.encode, add_special_tokens=False, split_special_tokens=True)
        text = lambda id: tokenizer.convert_ids_to_tokens(id)  # noqa: E731
    elif callable(getattr(tokenizer, "encode", None)):
        encode = tokenizer.encode
        decode: Any = getattr(tokenizer, "decode", None)
        text = (lambda id: decode([id])) if decode is not None else (lambda id: "")
    else:
        raise TypeError(f"a {type(tokenizer).__name__} is no tokenizer: it has no encode")
    return _Tokenizer._from_callables(encode, text, list(added))


# ---- sanitize_control_tokens


class _Sanitized:
    """`sanitize_control_tokens` by transformers' own functions: it marks control tokens of the input before the prompt is rendered."""

    def __init__(self, tokenizer: Any, template: str, is_allowed: bool):
        from transformers.utils import chat_template_utils

        self._tokenizer = tokenizer
        self._functions = chat_template_utils
        if not is_allowed:
            raise ValueError(
                "`sanitize_control_tokens=True` requires `tokenize=True` and is not compatible with `return_assistant_tokens_mask=True`."
            )
        self._pattern, self._markers = chat_template_utils._get_control_token_patterns(tokenizer._get_control_tokens(template))
        self._is_newer = hasattr(tokenizer, "_mark_chat_inputs")  # from 5.23 on

    def mark(self, chats: Any, tools: Any, documents: Any, variables: dict[str, Any]) -> tuple[Any, Any, Any, dict[str, Any]]:
        mark = functools.partial(self._functions.mark_control_tokens, control_tokens_re=self._pattern)
        marked = mark(variables) if self._is_newer else variables
        return [mark(chat) for chat in chats], mark(tools), mark(documents), marked

    def encode(self, texts: list[str], is_batched: bool, truncation: bool, shape: dict[str, Any], more: dict[str, Any]) -> Any:
        if self._is_newer:
            return self._tokenizer(
                texts if is_batched else texts[0],
                truncation=truncation,
                add_special_tokens=False,
                sanitize_control_tokens=True,
                **shape,
                **more,
            )
        encode: Any = self._functions.encode_marked_chat  # of an older release, which has a parameter more
        ids = [encode(self._tokenizer, text, self._markers) for text in texts]
        if truncation:
            shape = {**shape, "max_length": shape["max_length"] or self._tokenizer.model_max_length}
            ids = [_truncated(self._tokenizer, one, shape["max_length"]) for one in ids]
        return self._tokenizer.pad({"input_ids": ids if is_batched or shape["return_tensors"] else ids[0]}, **shape, **more)


def _truncated(tokenizer: Any, ids: list[int], max_length: int | None) -> list[int]:
    most = max_length or tokenizer.model_max_length
    return ids[:most] if getattr(tokenizer, "truncation_side", "right") == "right" else ids[-most:]


# ---- the method


@functools.cache
def _warn_once(sentence: str) -> None:
    logger.warning(sentence)


def apply_chat_template(
    tokenizer: Any,
    conversation: Any,
    tools: Sequence[Any] | None = None,
    documents: Sequence[Any] | None = None,
    chat_template: str | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    tokenize: bool = True,
    sanitize_control_tokens: bool = False,
    padding: bool | str = False,
    truncation: bool = False,
    max_length: int | None = None,
    return_tensors: str | None = None,
    return_dict: bool = True,
    return_assistant_tokens_mask: bool = False,
    tokenizer_kwargs: dict[str, Any] | None = None,
    *,
    protect: bool = False,
    mask: str | Sequence[str] | None = None,
    transformers_version: str | None = None,
    **kwargs: Any,
) -> Any:
    """What `tokenizer.apply_chat_template(conversation, …)` gives, rendered by parlance.

    All arguments are those of transformers; three are parlance's own:

    * `protect=True`: no text of the request can become a control token. Unlike `sanitize_control_tokens` it also covers keys and
      tokens that a template joins, and goes together with masks.
    * `mask="assistant"`: `assistant_masks` also for templates without {% generation %} tags. "content", "reasoning", "calls", "marker"
      and "stop" are parts of it (Rendering.kinds); several are given as a list.
    * `transformers_version`: the release to follow; by default the installed one.

    Gives a str (a list of them for a batch) with `tokenize=False`, a BatchEncoding by default, the ids alone with
    `return_dict=False`. Raises what transformers raises; an error of the template is a parlance.Error too, with its line.
    """
    if not tokenize:
        return_dict = False
    if return_assistant_tokens_mask and not (return_dict and tokenize):
        raise ValueError("`return_assistant_tokens_mask=True` requires `return_dict=True` and `tokenize=True`")
    kinds = (mask,) if isinstance(mask, str) else tuple(mask or ())
    for kind in kinds:
        if kind not in _MASKS:
            raise ValueError(f"mask is one of {', '.join(_MASKS)}, or several of them, not {kind!r}")
    if mask is not None and not (return_dict and tokenize):
        raise ValueError("`mask` requires `return_dict=True` and `tokenize=True`")
    template = tokenizer.get_chat_template(chat_template, tools)
    is_batched = _is_batch(conversation)
    chats = [getattr(chat, "messages", chat) for chat in (conversation if is_batched else [conversation])]
    if continue_final_message:
        if add_generation_prompt:
            raise ValueError(
                "continue_final_message and add_generation_prompt are not compatible. Use continue_final_message when you want the "
                "model to continue the final message, and add_generation_prompt when you want to add a header that will prompt it to "
                "start a new assistant message instead."
            )
        if return_assistant_tokens_mask:
            raise ValueError("continue_final_message is not compatible with return_assistant_tokens_mask.")
        if protect or mask:
            raise ValueError("continue_final_message is not compatible with protect or mask.")
    sanitized = None
    if sanitize_control_tokens:
        sanitized = _Sanitized(tokenizer, template, tokenize and not return_assistant_tokens_mask)
        chats, tools, documents, kwargs = sanitized.mark(chats, tools, documents, kwargs)
    if return_assistant_tokens_mask and not _GENERATION.search(template):
        _warn_once("return_assistant_tokens_mask==True but chat template does not contain `{% generation %}` keyword.")
    version = _followed(transformers_version)
    tools = _plain_tools(tools)
    _check_documents(documents)
    variables = {**tokenizer.special_tokens_map, **kwargs, "add_generation_prompt": add_generation_prompt}
    compiled = _compiled(template, version)
    renderings: list[Rendering] = []
    texts: list[str] = []
    for chat in chats:
        if continue_final_message:
            field = continue_final_message if isinstance(continue_final_message, str) else "content"
            continued = _Continued(_dropped(chat, version), field, template)
            texts.append(continued.cut(compiled._render_plain(continued.messages, tools, documents, variables).text))
            continue
        rendering = compiled._render_plain(chat, tools, documents, variables, assistant=mask is not None, spans=protect or mask is not None)
        renderings.append(rendering)
        texts.append(rendering.text)
    if not tokenize:
        return texts if is_batched else texts[0]
    if protect or mask:
        return _encode_by_origin(
            tokenizer, renderings, is_batched, padding, truncation, max_length, return_tensors, return_dict, protect, kinds
        )
    shape = {"padding": padding, "max_length": max_length, "return_tensors": return_tensors}
    if sanitized is not None:
        out = sanitized.encode(texts, is_batched, truncation, shape, tokenizer_kwargs or {})
    else:
        out = tokenizer(
            texts if is_batched else texts[0], truncation=truncation, add_special_tokens=False, **shape, **(tokenizer_kwargs or {})
        )
    if not return_dict:
        return out["input_ids"]
    if return_assistant_tokens_mask:
        _add_masks(out, [rendering.generation for rendering in renderings], is_batched, return_tensors)
    return out


def _dropped(chat: Any, version: str) -> list[Any]:
    """The messages without the members that are None, where the release drops them."""
    if not _RELEASES[version]:
        return list(chat)
    return [{name: value for name, value in message.items() if value is not None} for message in chat]


def _add_masks(out: Any, generation: list[list[tuple[int, int]]], is_batched: bool, return_tensors: str | None) -> None:
    """`assistant_masks`, as transformers makes them of the ranges of {% generation %} blocks."""
    rows = out["input_ids"] if is_batched or return_tensors else [out["input_ids"]]
    masks = []
    for i, ids in enumerate(rows):
        one = [0] * len(ids)
        for begin, end in generation[i]:
            first, last = out.char_to_token(i, begin), out.char_to_token(i, end - 1)
            if first is None:  # cut off
                break
            for token in range(first, last + 1 if last else len(ids)):
                one[token] = 1
        masks.append(one)
    out["assistant_masks"] = masks if is_batched or return_tensors else masks[0]
    if return_tensors:
        out.convert_to_tensors(tensor_type=return_tensors)


def _encode_by_origin(
    tokenizer: Any,
    renderings: list[Rendering],
    is_batched: bool,
    padding: bool | str,
    truncation: bool,
    max_length: int | None,
    return_tensors: str | None,
    return_dict: bool,
    protect: bool,
    kinds: Sequence[str],
) -> Any:
    """Ids and masks by where the text came from; padded and cut as the tokenizer does it."""
    engine = tokenizer_of(tokenizer)
    tokens = [rendering.tokens(engine, protect=protect) for rendering in renderings]
    ids = [one.ids for one in tokens]
    masks = [one.mask(*kinds) for one in tokens] if kinds else None
    if truncation:
        ids = [_truncated(tokenizer, one, max_length) for one in ids]
        masks = [_truncated(tokenizer, one, max_length) for one in masks] if masks is not None else None
    out = tokenizer.pad({"input_ids": ids}, padding=padding, max_length=max_length, return_tensors=None)
    if masks is not None:
        left = getattr(tokenizer, "padding_side", "right") == "left"
        filled = [[0] * (len(row) - len(one)) for row, one in zip(out["input_ids"], masks, strict=False)]
        out["assistant_masks"] = [fill + list(one) if left else list(one) + fill for fill, one in zip(filled, masks, strict=False)]
    if not is_batched and not return_tensors:
        for name in list(out.keys()):
            out[name] = out[name][0]
    if return_tensors:
        out.convert_to_tensors(tensor_type=return_tensors)
    return out if return_dict else out["input_ids"]


# ---- in place of the method


class _Installed:
    """The method of one tokenizer, which can be pickled and copied with it."""

    def __init__(self, tokenizer: Any, defaults: dict[str, Any]) -> None:
        self._tokenizer = tokenizer
        self._defaults = defaults

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return apply_chat_template(self._tokenizer, *args, **{**self._defaults, **kwargs})


def install(tokenizer: Any, **defaults: Any) -> Any:
    """Replaces `apply_chat_template` of this one tokenizer, and returns it.

    `defaults` are arguments of every call: `install(tokenizer, protect=True)`.
    """
    tokenizer.apply_chat_template = _Installed(tokenizer, defaults)
    return tokenizer


def uninstall(tokenizer: Any) -> Any:
    """Gives the tokenizer its own method back, and returns it."""
    vars(tokenizer).pop("apply_chat_template", None)
    return tokenizer
