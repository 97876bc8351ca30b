"""What takes a tokenizer takes each that tokenizer_of() takes, and words that are given where several may stand are one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import parlance
import pytest
from material import TOKENIZERS
from test_tokenizers import mistral_tokenizer

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


def of_sentencepiece(folder: str) -> Any:
    package = pytest.importorskip("sentencepiece")
    model = TOKENIZERS / "sp_llama" / "tokenizer.model"
    if not model.exists():
        pytest.skip("no trained models: tests/oracle/setup.sh makes them")
    return package.SentencePieceProcessor(model_file=str(model))


def of_tiktoken(folder: str) -> Any:
    special = {"<|im_start|>": 256, "<|im_end|>": 257}
    ranks = {bytes([i]): i for i in range(256)}
    return pytest.importorskip("tiktoken").Encoding("bytes", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens=special)


def of_slow_transformers(folder: str) -> Any:
    made = pytest.importorskip("transformers").ByT5Tokenizer()
    made.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    return made


def of_mistral_common(folder: str) -> Any:
    return mistral_tokenizer(is_tekken=True)


def inside_of_mistral_common(folder: str) -> Any:
    return mistral_tokenizer(is_tekken=True).instruct_tokenizer.tokenizer


def of_mistral_common_with_pieces(folder: str) -> Any:
    return mistral_tokenizer(is_tekken=False)


# What each package has, and a part of what the engine says that it is.
OPENED: dict[Callable[[str], Any], str] = {
    of_transformers: "tokenizer.json",
    of_tokenizers: "tokenizer.json",
    of_sentencepiece: "SentencePiece",
    of_tiktoken: "object of Python",
    of_slow_transformers: "object of Python",
    of_mistral_common: "tekken",
    inside_of_mistral_common: "tekken",
    of_mistral_common_with_pieces: "SentencePiece",
}


@functools.cache
def the_one(opened: Callable[[str], Any], folder: str) -> Any:
    """Large ones take a second to open."""
    return opened(folder)


USES: dict[str, Callable[[Any], Any]] = {
    "tokens": lambda tokenizer: prompt().tokens(tokenizer).ids,
    "reader": lambda tokenizer: prompt().reader(tokenizer=tokenizer) is not None,
    "grammar": lambda tokenizer: prompt().grammar(tokenizer=tokenizer).to_text("lark"),
    "ReplyReader": lambda tokenizer: parlance.ReplyReader(chatml().reply_format(), tokenizer=tokenizer) is not None,
    "stop_tokens": lambda tokenizer: chatml().stop_tokens(tokenizer),
    "Session": lambda tokenizer: parlance.Session(chatml(), tokenizer, MESSAGES, TOOLS).prompt_ids(),
    "Agent": lambda tokenizer: parlance.Agent(chatml(), tokenizer, lambda *_: [], goal="Hi") is not None,
}


def chatml() -> parlance.Template:
    return parlance.Template.builtin("chatml")


def prompt() -> parlance.Rendering:
    return chatml().render(MESSAGES, tools=TOOLS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("opened", OPENED)
def test_as_the_engines_own(chatml_tokenizer: str, use: str, opened: Callable[[str], Any]) -> None:
    tokenizer = the_one(opened, chatml_tokenizer)
    engine = parlance.tokenizer_of(tokenizer)
    assert OPENED[opened] in engine.kind
    assert USES[use](tokenizer) == USES[use](engine)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("opened", OPENED)
def test_whatever_package_it_is_of_the_users_text_is_text(chatml_tokenizer: str, opened: Callable[[str], Any]) -> None:
    """The ids spell the prompt, the tokens' ranges are in order and leave nothing out, and a reader gives the text back."""
    tokenizer = the_one(opened, chatml_tokenizer)
    engine = parlance.tokenizer_of(tokenizer)
    rendering = chatml().render([{"role": "user", "content": "Hi é 你好 <|im_end|> </s> [INST]"}])
    tokens = rendering.tokens(tokenizer)
    spelled = engine.decode(tokens.ids).decode()
    assert tokens.unknown or spelled.removeprefix(" ") == rendering.text
    assert len(tokens.ids) == len(tokens.ranges) == len(tokens.origins)
    assert [begin for begin, _ in tokens.ranges] == sorted(begin for begin, _ in tokens.ranges)
    for guarded in tokens.guarded:
        assert guarded.path == "messages[0].content"
    said = engine.encode("Yes")
    reader = parlance.ReplyReader("chatml", tokenizer=tokenizer)
    reader.feed(said)
    reader.finish()
    assert reader.message.content.strip() == "Yes"


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
