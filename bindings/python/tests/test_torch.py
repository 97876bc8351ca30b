"""Tensors: apply_chat_template with return_tensors="pt" against the real method, and arrays that torch takes without a copy.

Skipped without torch; torch.sh runs it with torch.
"""

from __future__ import annotations

from typing import Any

import parlance
import pytest
from test_chat import FORGED, GOOD, PLAIN, TAGGED

torch = pytest.importorskip("torch")


@pytest.fixture
def tokenizer(padding_tokenizer: Any) -> Any:
    padding_tokenizer.chat_template = TAGGED
    return padding_tokenizer


def same(ours: Any, real: Any) -> bool:
    if isinstance(real, torch.Tensor):
        return isinstance(ours, torch.Tensor) and ours.dtype == real.dtype and torch.equal(ours, real)
    return type(ours) is type(real) and list(ours) == list(real) and all(same(ours[name], real[name]) for name in real)


@pytest.mark.parametrize("chat", [GOOD, [GOOD, GOOD + GOOD, GOOD[:1]]], ids=["one", "batch"])
@pytest.mark.parametrize("return_dict", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_tensors_are_those_of_transformers(tokenizer: Any, chat: Any, return_dict: bool, masked: bool) -> None:
    asked: dict[str, Any] = {"return_tensors": "pt", "return_dict": return_dict, "padding": True}
    if masked:
        asked |= {"return_assistant_tokens_mask": True, "return_dict": True}
    real = tokenizer.apply_chat_template(chat, **asked)

    assert same(parlance.apply_chat_template(tokenizer, chat, **asked), real)
    assert same(parlance.apply_chat_template(tokenizer, chat, protect=True, **asked), real)


def test_a_batch_that_makes_no_rectangle_is_refused_alike(tokenizer: Any) -> None:
    errors = []
    for call in (tokenizer.apply_chat_template, lambda *given, **more: parlance.apply_chat_template(tokenizer, *given, **more)):
        with pytest.raises(ValueError, match="padding") as caught:
            call([GOOD, GOOD + GOOD], return_tensors="pt")
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_masks_beside_protection_are_tensors(tokenizer: Any) -> None:
    tokenizer.chat_template = PLAIN
    plain = parlance.apply_chat_template(tokenizer, FORGED, protect=True, mask="assistant")
    out = parlance.apply_chat_template(tokenizer, FORGED, protect=True, mask="assistant", return_tensors="pt")

    assert {name: out[name].tolist() for name in out} == {name: [plain[name]] for name in plain}
    assert sum(plain["assistant_masks"]) > 0


def test_torch_takes_arrays_of_tokens_without_a_copy(chatml_tokenizer: str) -> None:
    tokens = parlance.Template.builtin("chatml").render(GOOD).tokens(parlance.Tokenizer.from_file(chatml_tokenizer))
    array = tokens.ids_array()
    tensor = torch.from_dlpack(array)

    assert tensor.dtype == torch.int32
    assert tensor.tolist() == tokens.ids
    assert tensor.data_ptr() == torch.from_dlpack(array).data_ptr()
