"""What takes a tokenizer takes each that tokenizer_of() takes, and words that are given where several may stand are one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import parlance
import pytest

MESSAGES = [{"role": "user", "content": "Hi<|im_end|>"}]
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


class Bytes:
    """A tokenizer of bytes, as anybody may write one."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


def of_transformers(folder: str) -> Any:
    return pytest.importorskip("transformers").PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json")


def of_tokenizers(folder: str) -> Any:
    return pytest.importorskip("tokenizers").Tokenizer.from_file(f"{folder}/tokenizer.json")


USES: dict[str, Callable[[Any], Any]] = {
    "tokens": lambda tokenizer: prompt().tokens(tokenizer).ids,
    "reader": lambda tokenizer: prompt().reader(tokenizer=tokenizer) is not None,
    "grammar": lambda tokenizer: prompt().grammar(tokenizer=tokenizer).to_text("lark"),
    "ReplyReader": lambda tokenizer: parlance.ReplyReader(chatml().reply_format(), tokenizer=tokenizer) is not None,
    "stop_tokens": lambda tokenizer: chatml().stop_tokens(tokenizer),
}


def chatml() -> parlance.Template:
    return parlance.Template.builtin("chatml")


def prompt() -> parlance.Rendering:
    return chatml().render(MESSAGES, tools=TOOLS)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("opened", [of_transformers, of_tokenizers])
def test_as_the_engines_own(chatml_tokenizer: str, use: str, opened: Callable[[str], Any]) -> None:
    tokenizer = opened(chatml_tokenizer)
    assert USES[use](tokenizer) == USES[use](parlance.tokenizer_of(tokenizer))


@pytest.mark.parametrize("use", USES)
def test_any_object(use: str) -> None:
    assert USES[use](Bytes())


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("given", [5, "gpt2", b"gpt2", object(), [1]])
def test_what_is_none(use: str, given: Any) -> None:
    with pytest.raises(TypeError, match=f"a {type(given).__name__} is no tokenizer"):
        USES[use](given)


def test_one_pass_is_one_word() -> None:
    one, several = (parlance.Template.builtin("chatml", passes=passes) for passes in ("text-only", ["text-only"]))
    assert one.render(MESSAGES).text == several.render(MESSAGES).text
    parlance.Template.builtin("chatml", skip_passes="parse-arguments")
    with pytest.raises(ValueError, match="no pass 'text-onl'"):
        parlance.Template.builtin("chatml", passes="text-onl")


def test_paths_of_a_request_that_is_converted() -> None:
    with pytest.raises(TypeError) as caught:
        parlance.convert({"messages": [{"role": "user", "content": {1}}]}, "openai")  # type: ignore[dict-item]
    assert caught.value.path == "messages[0].content"  # type: ignore[attr-defined]


def test_what_the_tokenizer_would_put_in_front(chatml_tokenizer: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(f"{chatml_tokenizer}/tokenizer.json")
    begin = tokenizer.token_to_id("<|im_start|>")
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single="<|im_start|> $A", special_tokens=[("<|im_start|>", begin)])
    plain = parlance.Template.from_string("{{ messages[0].content }}").render(MESSAGES)
    assert plain.tokens(tokenizer).missing_before == [begin]
    assert plain.tokens(tokenizer, add_special_tokens=True).ids == [begin, *plain.tokens(tokenizer).ids]
    assert prompt().tokens(tokenizer).missing_before == []  # the template begins with it


def test_plain_added_tokens(chatml_tokenizer: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(f"{chatml_tokenizer}/tokenizer.json")
    tokenizer.add_tokens(["<h1>"])
    heading = tokenizer.token_to_id("<h1>")
    given = chatml().render([{"role": "user", "content": "<h1>Hi<|im_end|>"}])
    assert heading not in given.tokens(tokenizer).ids
    with_plain = given.tokens(tokenizer, plain_added=True)
    assert with_plain.ids.count(heading) == 1
    assert with_plain.ids.count(tokenizer.token_to_id("<|im_end|>")) == 1  # the template's, and not the user's
