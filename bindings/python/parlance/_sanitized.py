"""`sanitize_control_tokens`, by transformers' own functions."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from parlance._transformers import plain_data
from parlance._truncation import truncated


class Sanitized:
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
        """They become plain data first: transformers marks nothing in objects, whose texts the template then has all the same."""
        mark = functools.partial(self._functions.mark_control_tokens, control_tokens_re=self._pattern)
        marked = mark(plain_data(variables)) if self._is_newer else variables
        chats = [mark(plain_data(_listed(chat))) for chat in chats]
        return chats, mark(_plain_dicts(tools)), mark(_plain_dicts(documents)), marked

    def encode(self, texts: list[str], is_batched: bool, truncation: Any, shape: dict[str, Any], more: dict[str, Any]) -> Any:
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
        if truncation and truncation != "do_not_truncate":
            most = shape["max_length"] or self._tokenizer.model_max_length
            shape = {**shape, "max_length": most}
            ids = [truncated(self._tokenizer, one, most) for one in ids]
        return self._tokenizer.pad({"input_ids": ids if is_batched or shape["return_tensors"] else ids[0]}, **shape, **more)


def _listed(given: Any) -> Any:
    """A list of what an iterator gives; what is no list of messages, tools or documents stays what it is."""
    return list(given) if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)) else given


def _plain_dicts(given: Any) -> Any:
    """Tools or documents; what is no dict is refused later, or is a function."""
    given = _listed(given)
    return [plain_data(one) if isinstance(one, dict) else one for one in given] if isinstance(given, list) else given
