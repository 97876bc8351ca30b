"""Tokenizers of other packages give their own ids; an installed method goes along with its tokenizer."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import parlance
import pytest
from material import TOKENIZERS

CHAT = [{"role": "user", "content": "Hi<|im_end|> é 你好"}, {"role": "assistant", "content": "Yes"}]


def prompt() -> parlance.Rendering:
    return parlance.Template.builtin("chatml").render(CHAT)


def transformers_tokenizer(folder: str) -> Any:
    transformers = pytest.importorskip("transformers")
    made = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json")
    made.chat_template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    return made


def test_tiktoken() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    bytes_alone = {bytes([i]): i for i in range(256)}
    encoding = tiktoken.Encoding(
        "bytes", pat_str=r"\S+|\s+", mergeable_ranks=bytes_alone, special_tokens={"<|im_start|>": 256, "<|im_end|>": 257}
    )
    tokens = prompt().tokens(parlance.tokenizer_of(encoding))
    assert encoding.decode(tokens.ids) == prompt().text
    assert tokens.ids.count(257) == 2 and [guarded.id for guarded in tokens.guarded] == [257]
    free = prompt().tokens(parlance.tokenizer_of(encoding), protect=False)
    assert free.ids == encoding.encode(prompt().text, allowed_special="all")


def test_sentencepiece() -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    models = sorted(TOKENIZERS.glob("*/*.model"))
    if not models:
        pytest.skip("no trained models")
    rendering = parlance.Template.from_string("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}").render(CHAT)
    for model in models:
        processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
        assert rendering.tokens(parlance.tokenizer_of(processor)).ids == processor.encode(rendering.text), model


def test_tokenizers(chatml_tokenizer: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer.from_file(f"{chatml_tokenizer}/tokenizer.json")
    assert parlance.tokenizer_of(made).encode(prompt().text) == made.encode(prompt().text, add_special_tokens=False).ids


def test_tokens_that_are_added_later(chatml_tokenizer: str) -> None:
    made = transformers_tokenizer(chatml_tokenizer)
    before = parlance.tokenizer_of(made)
    assert parlance.tokenizer_of(made) is before
    made.add_tokens(["<again>"])
    assert parlance.tokenizer_of(made).encode("a<again>b") == made.encode("a<again>b", add_special_tokens=False)


def test_an_installed_method_goes_along(chatml_tokenizer: str) -> None:
    made = transformers_tokenizer(chatml_tokenizer)
    end = made.convert_tokens_to_ids("<|im_end|>")
    parlance.install(made, protect=True)
    for one in (made, pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert one.apply_chat_template(CHAT)["input_ids"].count(end) == 2
        assert one.apply_chat_template(CHAT, protect=False)["input_ids"].count(end) == 3
    parlance.uninstall(made)
    assert made.apply_chat_template(CHAT)["input_ids"].count(end) == 3


def test_the_release_that_is_followed(chatml_tokenizer: str) -> None:
    from parlance._transformers import nearest

    followed = [nearest(version) for version in ("4.57.1", "5.21.0", "5.22.9", "5.23.0.dev0", "5.24.0", "6.0")]
    assert followed == ["5.21.0", "5.21.0", "5.22.2", "5.23.0", "5.23.0", "5.23.0"]
    made = transformers_tokenizer(chatml_tokenizer)
    with pytest.raises(ValueError, match="follows transformers"):
        parlance.apply_chat_template(made, CHAT, transformers_version="4.0")


def test_nothing_is_said_where_python_ends() -> None:
    code = "import parlance; kept = parlance.Template.builtin('chatml'); loop = [kept]; loop.append(loop)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr == ""
