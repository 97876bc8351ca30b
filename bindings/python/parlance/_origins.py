"""Ids and masks of a prompt by where its text came from.

Two things are found in a rendering, as ranges of characters: what is forged, that is text of the request that would be a control token,
and what is learnt. A prompt that is another text than its rendering's (cut where a message goes on, expanded by a processor) is encoded
by the same two. Begin reading at encode.
"""

from __future__ import annotations

import bisect
import collections
import functools
from collections.abc import Iterable, Sequence
from typing import Any

from parlance._core import REPLY_KINDS, Rendering, Template, Tokenizer, Tokens
from parlance._errors import note_conversation, of_argument
from parlance._tokenizers import tokenizer_of
from parlance._transformers import RenderedChat
from parlance._truncation import most_tokens, truncated
from parlance._warned import warn_caller

KINDS = ("assistant", *REPLY_KINDS)
GENERATION = "generation"  # the {% generation %} blocks
ASSISTANT = "messages[assistant]"  # the path of all that it said

# What an encoding of `protect` and `mask` takes of tokenizer_kwargs.
_PADDING = ("padding_side", "pad_to_multiple_of", "return_attention_mask", "verbose")

Ranges = list[tuple[int, int]]


def kinds_of(mask: str | Sequence[str] | None) -> tuple[str, ...]:
    """The kinds that `mask` names; none for None. Raises ValueError for a word that is none, and for a list without any."""
    if mask is None:
        return ()
    given: Any = mask  # whatever a caller may have put there
    kinds: tuple[str, ...] = tuple(given) if hasattr(given, "__iter__") and not isinstance(given, str) else (given,)
    for kind in kinds or (given,):
        if kind not in KINDS:
            raise of_argument(ValueError, f"mask is one of {', '.join(KINDS)}, or several of them, not {kind!r}")
    return kinds


def paths_of(trust: Sequence[str]) -> list[str]:
    """The paths of `trust`. Raises TypeError for one that is no list."""
    if isinstance(trust, str):
        raise TypeError(f"trust is a list of paths: [{trust!r}]")
    return list(trust)


def learnt_in(rendering: Rendering, kinds: Sequence[str]) -> Ranges:
    """The ranges of these kinds, in the order of the prompt."""
    found: Ranges = []
    if GENERATION in kinds:
        found += rendering.generation
    if "assistant" in kinds:
        found += rendering.assistant
    found += [piece for kind, piece in rendering.kinds if kind in kinds]
    return sorted(found)


def forged_in(rendering: Rendering, engine: Tokenizer, trust: Sequence[str] = ()) -> Ranges:
    """The ranges of text of the request that would be control tokens, in the order of the prompt. `trust` has the paths of what may be."""
    safe = rendering.tokens(engine, protect=True, trust=trust)
    if not safe.guarded:
        return []
    kept = set(_controls(safe))
    return [where for where in _controls(rendering.tokens(engine, protect=False)) if where not in kept]


def _controls(tokens: Tokens) -> Iterable[tuple[int, int]]:
    return (where for where, is_control in zip(tokens.ranges, tokens.control, strict=True) if is_control)


@functools.cache
def _pieces() -> Template:
    return Template.from_string("{% for m in messages %}{{ m.ours }}{{ m.theirs }}{% endfor %}", adapt=False)


def tokens_of(engine: Tokenizer, text: str, forged: Sequence[tuple[int, int]], *, add_special_tokens: bool = False) -> Tokens:
    """The tokens of a text in which nothing that overlaps these ranges is a control token."""
    messages: list[dict[str, str]] = []
    at = 0
    for begin, end in [*forged, (len(text), len(text))]:
        begin, end = max(at, begin), min(end, len(text))
        messages.append({"role": "user", "ours": text[at:begin], "theirs": text[begin:end]})
        at = max(begin, end)
    rendering = _pieces().render(messages, add_generation_prompt=False)
    return rendering.tokens(engine, trust=["messages[*].ours"], add_special_tokens=add_special_tokens)


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same characters in ranges that neither overlap nor touch, in order."""
    found: Ranges = []
    for begin, end in sorted(ranges):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def mask_of(tokens: Sequence[tuple[int, int]], learnt: Sequence[tuple[int, int]]) -> list[int]:
    """1 for each token, given by its range, that has a character in one of the ranges, else 0."""
    ranges = merged(learnt)
    begins = [begin for begin, _ in ranges]
    mask = [0] * len(tokens)
    for i, (first, last) in enumerate(tokens):
        before = bisect.bisect_left(begins, last) - 1  # the last range that begins before the token's end
        mask[i] = int(before >= 0 and ranges[before][1] > first)
    return mask


def encode(
    tokenizer: Any,
    chats: Sequence[RenderedChat],
    is_batched: bool,
    kinds: Sequence[str],
    *,
    protect: bool,
    trust: Sequence[str],
    padding: bool | str,
    truncation: Any,
    max_length: int | None,
    return_tensors: str | None,
    tokenizer_kwargs: dict[str, Any],
) -> Any:
    """A BatchEncoding of ids and masks by where the text came from; padded and cut as the tokenizer does it.

    Raises ValueError for `tokenizer_kwargs` that only the tokenizer itself could follow.
    """
    for name in tokenizer_kwargs:
        if name not in _PADDING:
            raise ValueError(f"tokenizer_kwargs {name!r} does not go together with protect or mask; {', '.join(_PADDING)} do")
    engine = tokenizer_of(tokenizer)
    ids: list[list[int]] = []
    masks: list[list[int]] = []
    for number, chat in enumerate(chats):
        try:
            tokens = _tokens(engine, chat, protect, trust)
        except Exception as error:
            note_conversation(error, number, len(chats))
            raise
        ids.append(tokens.ids)
        if kinds:
            masks.append(mask_of(tokens.ranges, learnt_in(chat.rendering, kinds)) if GENERATION in kinds else _mask(tokens, chat, kinds))
    texts = [chat.text for chat in chats]
    most = most_tokens(tokenizer, texts, padding=padding, truncation=truncation, max_length=max_length, **tokenizer_kwargs)
    if most is not None:
        ids = [truncated(tokenizer, one, most) for one in ids]
        masks = [truncated(tokenizer, one, most) for one in masks]
    made = {"input_ids": ids}
    if "token_type_ids" in getattr(tokenizer, "model_input_names", ()):
        made["token_type_ids"] = [[0] * len(one) for one in ids]
    # Where no length is filled up to, the tokenizer would warn once more, of one without effect.
    is_filled = getattr(padding, "value", padding) == "max_length"
    if max_length is None and not is_filled and getattr(truncation, "value", truncation) in (None, False, "do_not_truncate"):
        for one in ids:
            tokenizer._eventual_warn_about_too_long_sequence(one, None, tokenizer_kwargs.get("verbose", True))
    out = tokenizer.pad(made, padding=padding, max_length=max_length if is_filled else None, return_tensors=None, **tokenizer_kwargs)
    if kinds:
        side = str(tokenizer_kwargs.get("padding_side") or getattr(tokenizer, "padding_side", "right"))
        out["assistant_masks"] = padded(masks, out["input_ids"], side)
    if not is_batched and not return_tensors:
        for name in list(out.keys()):
            out[name] = out[name][0]
    if return_tensors is not None:
        out.convert_to_tensors(tensor_type=return_tensors)
    return out


def _tokens(engine: Tokenizer, chat: RenderedChat, protect: bool, trust: Sequence[str]) -> Tokens:
    if len(chat.text) == len(chat.rendering.text):
        tokens = chat.rendering.tokens(engine, protect=protect, trust=trust)
        warn_of_guarded(chat.rendering, engine, tokens, trust)
        return tokens
    return tokens_of(engine, chat.text, forged_in(chat.rendering, engine, trust) if protect else [])


def warn_of_guarded(rendering: Rendering, engine: Tokenizer, tokens: Tokens, trust: Sequence[str]) -> None:
    """Warns where text of the assistant itself is no control token since it is protected: data for training often has them there."""
    if not tokens.guarded:
        return
    others = rendering.tokens(engine, trust=[*trust, ASSISTANT]).guarded
    of_assistant = collections.Counter(one.id for one in tokens.guarded) - collections.Counter(one.id for one in others)
    if of_assistant:
        names = ", ".join(engine.decode([id]).decode(errors="replace") for id in sorted(of_assistant))
        warn_caller(of_guarded(names))


def of_guarded(names: str) -> str:
    """What is said of control tokens in the text of the assistant's own messages."""
    return (
        f"{names} in the text of an assistant's message: with protect they are encoded as ordinary text, not as control tokens. "
        f'If the model wrote them, trust them: trust=["{ASSISTANT}"]'
    )


def _mask(tokens: Tokens, chat: RenderedChat, kinds: Sequence[str]) -> list[int]:
    if len(chat.text) == len(chat.rendering.text):
        return tokens.mask(*kinds)
    return mask_of(tokens.ranges, learnt_in(chat.rendering, kinds))


def padded(masks: Sequence[list[int]], rows: Sequence[Sequence[int]], side: str) -> list[list[int]]:
    """The masks as long as the rows of ids, with 0 for what was padded on this side."""
    filled = [[0] * (len(row) - len(mask)) for row, mask in zip(rows, masks, strict=True)]
    return [fill + mask if side == "left" else mask + fill for fill, mask in zip(filled, masks, strict=True)]
