"""`apply_chat_template` of transformers' processors, rendered by parlance.

The processor's own method runs, of the release that is installed: it loads images, videos and audio, expands their placeholders, and
calls the processor. Only what it renders prompts with is parlance's. With `protect` and `mask`, marks carry what is known of the prompt
through the processor to its tokenizer (_marks.py). Begin reading at apply_chat_template.
"""

from __future__ import annotations

import copyreg
import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from parlance._installed import derived, method_of_class
from parlance._marks import Marks, Unmarked
from parlance._origins import GENERATION, Ranges, forged_in, kinds_of, learnt_in, mask_of, padded, paths_of, tokens_of
from parlance._signatures import signature_of_any
from parlance._tables import told_of_nulls
from parlance._tokenizers import tokenizer_of
from parlance._transformers import Limits, Method, RenderedChat, check_continued, followed, limits_of, without_replies
from parlance._truncation import most_tokens, truncated
from parlance._warned import warn_caller

__all__ = ["apply_chat_template"]


def apply_chat_template(
    processor: Any,
    /,
    *args: Any,
    protect: bool = False,
    trust: Sequence[str] = (),
    mask: str | Sequence[str] | None = None,
    transformers_version: str | None = None,
    limits: Mapping[str, int] | None = None,
    **kwargs: Any,
) -> Any:
    """What `processor.apply_chat_template(…)` gives, rendered by parlance: `conversation, chat_template, tools, documents, …`.

    All other arguments are those of the installed release's method. `protect`, `trust`, `mask`, `transformers_version` and `limits` are
    as for tokenizers; with `protect`, text of the request is no placeholder of an image, video or audio either. The mask is
    `assistant_masks`.

    Raises what transformers raises, and ValueError if a processor does not hand its text to its tokenizer, so that nothing can be
    protected or masked.
    """
    trusted = paths_of(trust)
    version = followed(transformers_version)
    call = _Call(processor, kinds_of(mask), bool(protect), trusted, version, limits_of(limits, version))
    if "conversation" in kwargs:
        kwargs["conversation"] = without_replies(kwargs["conversation"])
    out = call.run((*map(without_replies, args[:1]), *args[1:]), kwargs)
    if call.told_of_nulls:
        warn_caller(call.told_of_nulls)
    return out


class _Call:
    """One call of a processor's method. It runs on a stand-in, whose attributes are the processor's own."""

    def __init__(self, processor: Any, kinds: tuple[str, ...], protect: bool, trust: list[str], version: str, limits: Limits):
        self._processor = processor
        self._kinds = kinds
        self._protect = protect
        self._trust = trust
        self._version = version
        self._limits = limits
        self._marks: Marks | None = None
        self._masks: list[list[int]] | None = None
        self.told_of_nulls = ""

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        stand_in = _stand_in(self._processor, _processor_class, _parlance_render=self._render)
        if not (self._protect or self._kinds):
            return stand_in.apply_chat_template(*args, **kwargs)
        signature = signature_of_any(stand_in.apply_chat_template)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        rest = next((name for name, one in signature.parameters.items() if one.kind is one.VAR_KEYWORD), "")
        asked = {**bound.arguments, **bound.arguments.get(rest, {})}
        self._check(asked)
        if not asked.get("tokenize"):
            self._protect, self._kinds = False, ()  # a text has nothing to protect
            return stand_in.apply_chat_template(*args, **kwargs)
        tokenizer = _stand_in(self._processor.tokenizer, _tokenizer_class, _parlance_encode=self._encode)
        object.__setattr__(stand_in, "_parlance_tokenizer", tokenizer)
        for name in ("return_assistant_tokens_mask", "sanitize_control_tokens"):
            if asked.get(name):
                (bound.arguments if name in bound.arguments else bound.arguments[rest])[name] = False
        out = stand_in.apply_chat_template(*bound.args, **bound.kwargs)
        name = type(self._processor).__name__
        if self._marks is None:
            raise ValueError(f"protect and mask are not possible: {name} does not render its prompts by transformers' renderer")
        ids = out["input_ids"] if asked.get("return_dict") else out
        is_one = len(ids) == 0 or not hasattr(ids[0], "__len__")  # of a processor that gives no batch for one conversation
        if self._masks is None or [len(row) for row in ([ids] if is_one else ids)] != [len(row) for row in self._masks]:
            raise ValueError(f"protect and mask are not possible: {name} does not call its tokenizer once with all texts")
        if asked.get("return_dict"):
            _take_off_marks(out)
        if asked.get("return_dict") and self._kinds:
            out["assistant_masks"] = self._masks[0] if is_one else self._masks
            tensors = asked.get("return_tensors")
            out.convert_to_tensors(tensor_type=None if tensors == "auto" else tensors)
        return out

    def _check(self, asked: dict[str, Any]) -> None:
        if self._kinds and not (asked.get("tokenize") and asked.get("return_dict")):
            raise ValueError("`mask` requires `return_dict=True` and `tokenize=True`")
        if asked.get("continue_final_message"):
            check_continued(asked.get("add_generation_prompt", False), asked.get("return_assistant_tokens_mask", False))
        if asked.get("return_assistant_tokens_mask") and not self._kinds:
            self._kinds = (GENERATION,)
        # What transformers calls sanitizing is a part of what protect does.
        self._protect = self._protect or bool(asked.get("sanitize_control_tokens"))

    def _render(
        self,
        conversations: Sequence[Any],
        tools: Sequence[Any] | None = None,
        documents: Sequence[Any] | None = None,
        chat_template: str = "",
        return_assistant_tokens_mask: bool = False,
        continue_final_message: bool | str = False,
        add_generation_prompt: bool = False,
        **variables: Any,
    ) -> tuple[list[str], list[Ranges]]:
        """In place of transformers' render_jinja_template: prompts, and for each the ranges of its {% generation %} blocks."""
        is_marked = self._protect or bool(self._kinds)
        method = Method(
            chat_template,
            tools,
            documents,
            {**variables, "add_generation_prompt": add_generation_prompt},
            version=self._version,
            continue_final_message=continue_final_message,
            masked=return_assistant_tokens_mask or GENERATION in self._kinds,
            limits=self._limits,
        )
        kinds = self._kinds or ((GENERATION,) if return_assistant_tokens_mask else ())
        self.told_of_nulls = told_of_nulls(conversations, tools, kinds)
        learns = bool(self._kinds) and GENERATION not in self._kinds
        rendered = method.rendered(conversations, assistant=learns, spans=is_marked)
        if return_assistant_tokens_mask:
            return [chat.text for chat in rendered], [chat.rendering.generation for chat in rendered]
        if not is_marked:
            return [chat.text for chat in rendered], []
        self._marks = Marks([chat.text for chat in rendered])
        engine = tokenizer_of(self._processor.tokenizer)
        placeholders = _placeholders(self._processor)
        # A client may hand the placeholder to the template: image_token=processor.image_token.
        trust = self._trust + [name for name, value in variables.items() if name in placeholders and placeholders[name] == str(value)]
        marked: list[str] = []
        for chat in rendered:
            forged: Ranges = []
            if self._protect:
                forged = forged_in(chat.rendering, engine, trust) + _forged_placeholders(chat, set(placeholders.values()), trust)
            learnt = learnt_in(chat.rendering, self._kinds)
            marked.append(self._marks.mark(chat.text, forged, learnt))
        return marked, []

    def _encode(self, call: Callable[..., Any], text: Any, kwargs: dict[str, Any]) -> Any:
        """In place of the tokenizer's own call, for the texts that the processor made of the prompts."""
        is_batched = isinstance(text, (list, tuple))
        texts = list(text) if is_batched else [text]
        if self._marks is None or not all(isinstance(one, str) for one in texts):
            return call(text, **kwargs)
        rows = [self._marks.unmark(one) for one in texts]
        encoded = _encode_rows(self._processor.tokenizer, call, rows, is_batched, kwargs)
        offsets, out = encoded
        side = str(kwargs.get("padding_side") or getattr(self._processor.tokenizer, "padding_side", "right"))
        masks = [mask_of(tokens, row.learnt) for tokens, row in zip(offsets, rows, strict=True)]
        self._masks = padded(masks, out["input_ids"] if is_batched else [out["input_ids"]], side)
        return _encoding_of_marked(out, offsets, rows)


# ---- what the prompt has of the request


def _placeholders(processor: Any) -> dict[str, str]:
    """The texts that a processor expands or writes around what it expands, by their names."""
    tokens = {name: getattr(processor, name, None) for name in ("image_token", "video_token", "audio_token")}
    tokens |= {name: token for name, token in vars(processor).items() if name.endswith("_token")}
    return {name: str(token) for name, token in tokens.items() if token is not None and str(token).strip()}


def _forged_placeholders(chat: RenderedChat, placeholders: set[str], trust: Sequence[str]) -> Ranges:
    """The ranges of placeholders of which a part is text of the request, but not of what is in `trust`."""
    spans = [span for span in chat.rendering.spans if span.origin in ("input", "derived")]
    typed = [span for span in spans if not span.control and span.path not in trust]
    forged: Ranges = []
    for placeholder in placeholders:
        begin = chat.text.find(placeholder)
        while begin >= 0:
            end = begin + len(placeholder)
            if any(span.begin < end and begin < span.end for span in typed):
                forged.append((begin, end))
            begin = chat.text.find(placeholder, begin + 1)
    return forged


# ---- what the processor's tokenizer is called with


def _encode_rows(
    tokenizer: Any, call: Callable[..., Any], rows: list[Unmarked], is_batched: bool, kwargs: dict[str, Any]
) -> tuple[list[Ranges], Any]:
    """The characters of each token of each row, and what the tokenizer gives for them."""
    texts = [row.text for row in rows]
    if getattr(tokenizer, "is_fast", False) and not any(row.forged for row in rows):
        out = call(texts if is_batched else texts[0], **{**kwargs, "return_offsets_mapping": True})
        found = out["offset_mapping"] if kwargs.get("return_offsets_mapping") else out.pop("offset_mapping")
        found = found.tolist() if hasattr(found, "tolist") else found
        offsets: list[Ranges] = [[(begin, end) for begin, end in row] for row in (found if is_batched else [found])]
        return offsets, out
    return _encode_by_engine(tokenizer, rows, is_batched, dict(kwargs))


# What the tokenizer is asked for that has no effect on one text, or is what it does anyway.
_WITHOUT_EFFECT = ("text_pair", "stride", "is_split_into_words", "verbose", "return_length", "sanitize_control_tokens")


def _encode_by_engine(tokenizer: Any, rows: list[Unmarked], is_batched: bool, kwargs: dict[str, Any]) -> tuple[list[Ranges], Any]:
    engine = tokenizer_of(tokenizer)
    adds = kwargs.pop("add_special_tokens", True)
    truncation, max_length = kwargs.pop("truncation", None), kwargs.pop("max_length", None)
    tensors, wants_offsets = kwargs.pop("return_tensors", None), kwargs.pop("return_offsets_mapping", False)
    wants_types = kwargs.pop("return_token_type_ids", None)
    shape = {name: kwargs.pop(name) for name in ("padding_side", "pad_to_multiple_of", "return_attention_mask") if name in kwargs}
    padding = kwargs.pop("padding", False)
    for name, value in kwargs.items():
        if name not in _WITHOUT_EFFECT and value:
            raise ValueError(f"{name} does not go together with protect")
    tokens = [tokens_of(engine, row.text, row.forged, add_special_tokens=adds) for row in rows]
    ids = [one.ids for one in tokens]
    offsets = [one.ranges for one in tokens]
    most = most_tokens(tokenizer, [row.text for row in rows], padding=padding, truncation=truncation, max_length=max_length, **shape)
    if most is not None:
        ids = [truncated(tokenizer, one, most) for one in ids]
        offsets = [truncated(tokenizer, one, most) for one in offsets]
    made: dict[str, Any] = {"input_ids": ids}
    if wants_types or (wants_types is None and "token_type_ids" in getattr(tokenizer, "model_input_names", ())):
        made["token_type_ids"] = [[0] * len(one) for one in ids]
    out = tokenizer.pad(made, padding=padding, max_length=max_length, return_tensors=None, **shape)
    side = str(shape.get("padding_side") or getattr(tokenizer, "padding_side", "right"))
    filled = [[(0, 0)] * (len(row) - len(one)) for row, one in zip(out["input_ids"], offsets, strict=True)]
    offsets = [fill + one if side == "left" else one + fill for fill, one in zip(filled, offsets, strict=True)]
    if wants_offsets:
        out["offset_mapping"] = offsets
    if not is_batched and not tensors:
        for name in list(out.keys()):
            out[name] = out[name][0]
    if tensors:
        out.convert_to_tensors(tensor_type=tensors)
    return offsets, out


def _encoding_of_marked(out: Any, offsets: list[Ranges], rows: list[Unmarked]) -> Any:
    """What the tokenizer gave, with the places that the processor knows: those of the marked texts."""
    made = _marked_encoding()(out.data, encoding=out.encodings)
    made.parlance_rows = (offsets, rows)
    return made


def _take_off_marks(out: Any) -> None:
    """Some processors give the encoding of their tokenizer: what only they needed is not the caller's."""
    if "parlance_rows" in getattr(out, "__dict__", {}):
        del out.parlance_rows
        out.__class__ = type(out).__mro__[1]


@functools.lru_cache(maxsize=64)
def _marked_encoding() -> Any:
    from transformers import BatchEncoding

    def char_to_token(self: Any, batch_or_char: int, char: int | None = None, sequence_index: int = 0) -> int | None:
        offsets, rows = self.parlance_rows
        row, marked = (0, batch_or_char) if char is None else (batch_or_char, char)
        place = rows[row].place(marked)
        return next((i for i, (begin, end) in enumerate(offsets[row]) if begin <= place < end), None)

    return type("BatchEncoding", (BatchEncoding,), {"char_to_token": char_to_token})


# ---- what stands in for a processor, whose method renders by parlance


def _stand_in(one: Any, changed: Callable[[Any], Any], **slots: Any) -> Any:
    """An object with the very attributes of `one`, so that what a method sets is the caller's, of a class that is derived from its class.

    Other threads may call the same processor: what belongs to this call is in slots.
    """
    made: Any = object.__new__(changed(type(one)))
    object.__setattr__(made, "__dict__", vars(one))
    for name in copyreg._slotnames(type(one)):  # type: ignore[attr-defined]  # as copy and pickle ask it
        if hasattr(one, name):
            object.__setattr__(made, name, getattr(one, name))
    for name, value in slots.items():
        object.__setattr__(made, name, value)
    return made


class _OwnMethod:
    """The processor's own method, whatever was put on the processor, or is an attribute of it."""

    def __get__(self, stand_in: Any, owner: Any = None) -> Any:
        return self if stand_in is None else method_of_class(stand_in, "apply_chat_template")

    def __set__(self, stand_in: Any, value: Any) -> None:
        vars(stand_in)["apply_chat_template"] = value


class _Tokenizer:
    """The tokenizer that stands in for the processor's, where there is one."""

    def __get__(self, stand_in: Any, owner: Any = None) -> Any:
        if stand_in is None:
            return self
        if hasattr(stand_in, "_parlance_tokenizer"):
            return stand_in._parlance_tokenizer
        if "tokenizer" in vars(stand_in):
            return vars(stand_in)["tokenizer"]
        try:
            return getattr(super(type(stand_in), stand_in), "tokenizer")  # of the class  # noqa: B009
        except AttributeError:
            raise AttributeError(f"{type(stand_in).__name__!r} object has no attribute 'tokenizer'") from None

    def __set__(self, stand_in: Any, value: Any) -> None:
        vars(stand_in)["tokenizer"] = value


def _processor_class(kind: Any) -> type:
    from transformers.processing_utils import ProcessorMixin

    return _processor_class_with(kind, vars(ProcessorMixin)["apply_chat_template"])


@functools.lru_cache(maxsize=64)
def _processor_class_with(kind: Any, current: Any) -> type:
    """`current`: transformers' own method, or what somebody has put in its place for now."""
    from transformers.processing_utils import ProcessorMixin

    method = inspect.unwrap(current)

    @functools.wraps(method)
    def apply_chat_template(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(method, types.FunctionType):
            return getattr(super(base, self), "apply_chat_template")(*args, **kwargs)  # noqa: B009
        names = {**method.__globals__, "render_jinja_template": self._parlance_render}
        bound = types.FunctionType(method.__code__, names, method.__name__, method.__defaults__, method.__closure__)
        bound.__kwdefaults__ = method.__kwdefaults__
        return bound(self, *args, **kwargs)

    # Between the processor's class, which may have a method of its own that goes on with this one, and transformers' base class.
    base = type("ProcessorMixin", (ProcessorMixin,), {"apply_chat_template": apply_chat_template})
    members: dict[str, Any] = {"apply_chat_template": _OwnMethod(), "tokenizer": _Tokenizer(), **_ends_silently(kind)}
    return derived(kind, {**members, "__slots__": ("_parlance_render", "_parlance_tokenizer")}, base)


@functools.lru_cache(maxsize=64)
def _tokenizer_class(kind: Any) -> type:
    def call(self: Any, text: Any = None, *args: Any, **kwargs: Any) -> Any:
        own = functools.partial(kind.__call__, self)
        return own(text, *args, **kwargs) if args or text is None else self._parlance_encode(own, text, kwargs)

    return derived(kind, {"__call__": call, "__slots__": ("_parlance_encode",), **_ends_silently(kind)})


def _ends_silently(kind: Any) -> dict[str, Any]:
    """Members of a class whose objects share their attributes with others, which live on."""
    return {"__del__": lambda self: None} if hasattr(kind, "__del__") else {}
