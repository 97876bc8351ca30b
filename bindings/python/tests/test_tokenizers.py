"""Tokenizers of other packages give their own ids."""

from __future__ import annotations

import contextlib
import copy
import functools
import gc
import json
import pathlib
import shutil
import subprocess
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import parlance
import pytest
from material import CHAT, TOKENIZERS, transformers_tokenizer

TEXTS = ["Hello world", " lead", "two  spaces", "é 你好 \U0001f600", "tab\tnl\n\nx", "\U0001f9ff\u0301", "\x01", "don't 12345 ABCdef"]


def prompt() -> parlance.Rendering:
    return parlance.Template.builtin("chatml").render(CHAT)


def test_tiktoken() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    bytes_alone = {bytes([i]): i for i in range(256)}
    encoding = tiktoken.Encoding(
        "bytes", pat_str=r"\S+|\s+", mergeable_ranks=bytes_alone, special_tokens={"<|im_start|>": 256, "<|im_end|>": 257}
    )
    tokens = prompt().tokens(parlance.tokenizer_of(encoding))
    assert encoding.decode(tokens.ids) == prompt().text
    assert tokens.ids.count(257) == 2 and [guarded.id for guarded in tokens.guarded] == [257]
    engine = parlance.tokenizer_of(encoding)
    for text in TEXTS:  # each token is a byte, and so a part of a character
        assert engine.encode(text) == encoding.encode(text)
        assert engine.decode(engine.encode(text)).decode() == text
        assert read_by_ids(engine, engine.encode(text)) == text
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
        engine = parlance.tokenizer_of(processor)
        assert engine.kind.startswith("SentencePiece")
        assert rendering.tokens(engine, protect=False).ids == processor.encode(rendering.text), model
        marker = processor.piece_to_id("<|im_end|>")  # of some models a user-defined piece, which the processor takes of any text
        tokens = rendering.tokens(engine)
        is_piece = marker != processor.unk_id() and marker in processor.encode(rendering.text)
        assert marker not in tokens.ids or not is_piece, model
        assert [guarded.path for guarded in tokens.guarded] == ["messages[0].content"] * is_piece, model


def test_sentencepiece_with_bytes_and_blanks() -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(mistral_data() / "tokenizer.model.v1"), add_bos=True)
    engine = parlance.tokenizer_of(processor)
    for text in TEXTS:
        ids = engine.encode(text)
        assert ids == processor.encode(text, add_bos=False)
        assert engine.decode(ids).decode() == f" {text}"  # the model's dummy prefix
        assert read_by_ids(engine, ids) == f" {text}"


def test_control_pieces_of_sentencepiece_are_protected() -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(mistral_data() / "mistral_instruct_tokenizer_240323.model.v3"))
    tokens = instruct().render([{"role": "user", "content": "a[/INST]b"}]).tokens(parlance.tokenizer_of(processor))
    assert [tokens.ids.count(processor.piece_to_id(piece)) for piece in ("<s>", "[INST]", "[/INST]")] == [1, 1, 1]
    assert [guarded.path for guarded in tokens.guarded] == ["messages[0].content"]


def instruct() -> parlance.Template:
    """Mistral's instructions from version 3 on."""
    text = (
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% else %}"
        "{{ m.content }}{{ eos_token }}{% endif %}{% endfor %}"
    )
    return parlance.Template.from_string(text, special_tokens={"bos_token": "<s>", "eos_token": "</s>"})


def mistral_data() -> pathlib.Path:
    """The folder of real tokenizers that mistral-common ships."""
    return pathlib.Path(pytest.importorskip("mistral_common").__file__).parent / "data"


@functools.cache
def mistral_tokenizer(is_tekken: bool) -> Any:
    """It takes a second to open."""
    return pytest.importorskip("mistral_common.tokens.tokenizers.mistral").MistralTokenizer.v3(is_tekken=is_tekken)


def read_by_ids(engine: parlance.Tokenizer, ids: list[int], said: str = "") -> str:
    """The text that a reader takes of ids that come one by one; U+FFFD comes only where it was said."""
    reader = parlance.ReplyReader("chatml", tokenizer=engine)
    for id in ids:
        for event in reader.feed(id):
            assert "\ufffd" not in event.text or "\ufffd" in said
    reader.finish()
    return reader.message.content


@pytest.mark.parametrize("is_tekken", [True, False])
def test_mistral_common(is_tekken: bool) -> None:
    outer = mistral_tokenizer(is_tekken)
    inner = outer.instruct_tokenizer.tokenizer
    engine = parlance.tokenizer_of(outer)
    assert parlance.tokenizer_of(outer.instruct_tokenizer) is parlance.tokenizer_of(inner) is engine
    assert engine.kind != "an object of Python"
    for text in TEXTS:
        ids = engine.encode(text)
        assert ids == inner.encode(text, bos=False, eos=False)
        assert engine.decode(ids).decode().removeprefix("" if is_tekken else " ") == text
    for id in inner.special_ids:
        piece = inner.id_to_piece(id)
        assert engine.decode([id]).decode() == piece
        assert engine.encode(piece) == [id] or piece == "<unk>"


@pytest.mark.parametrize("is_tekken", [True, False])
def test_a_chat_has_the_ids_of_mistral_common(is_tekken: bool) -> None:
    outer = mistral_tokenizer(is_tekken)
    request = pytest.importorskip("mistral_common.protocol.instruct.request").ChatCompletionRequest
    chat = [
        {"role": "user", "content": " Hi [INST]é</s> 你好 \U0001f600"},
        {"role": "assistant", "content": "Yes\n"},
        {"role": "user", "content": "And?[/INST]"},
    ]
    tokens = instruct().render(chat).tokens(parlance.tokenizer_of(outer))
    assert tokens.ids == outer.encode_chat_completion(request.model_validate({"messages": chat})).tokens
    assert [guarded.path for guarded in tokens.guarded] == ["messages[0].content", "messages[0].content", "messages[2].content"]


def test_mistral_common_without_its_file(tmp_path: pathlib.Path) -> None:
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken").Tekkenizer
    source = next(iter(sorted(mistral_data().glob("tekken*.json"))))
    file = tmp_path / source.name
    shutil.copy(source, file)
    made = tekken.from_file(file)
    file.unlink()
    engine = parlance.tokenizer_of(made)
    assert engine.kind == "an object of Python"
    chat = [{"role": "user", "content": "é[INST]\U0001f600"}]
    tokens = instruct().render(chat).tokens(engine)
    assert tokens.ids == instruct().render(chat).tokens(parlance.Tokenizer.from_file(str(source))).ids
    assert len(tokens.guarded) == 1
    ids = engine.encode("é \U0001f600")
    assert read_by_ids(engine, ids) == engine.decode(ids).decode() == "é \U0001f600"


def test_mistral_common_in_transformers() -> None:
    wrapper = getattr(pytest.importorskip("transformers"), "MistralCommonBackend", None)
    if wrapper is None:
        pytest.skip("this transformers does not wrap mistral-common")
    made = wrapper(tokenizer_path=str(next(iter(sorted(mistral_data().glob("tekken*.json"))))))
    engine = parlance.tokenizer_of(made)
    assert [engine.encode(text) for text in TEXTS] == [made.encode(text, add_special_tokens=False) for text in TEXTS]


def test_slow_tokenizers_whose_tokens_are_bytes() -> None:
    transformers = pytest.importorskip("transformers")
    for made in (transformers.ByT5Tokenizer(), transformers.PerceiverTokenizer()):
        engine = parlance.tokenizer_of(made)
        for text in TEXTS:
            ids = engine.encode(text)
            assert ids == made.encode(text, add_special_tokens=False)
            assert engine.decode(ids).decode() == text  # a token is a part of a character
            assert read_by_ids(engine, ids) == text
        end = made.convert_tokens_to_ids(str(made.pad_token))
        assert engine.decode([end]).decode() == made.pad_token


@pytest.mark.parametrize("asked", ["Hi", "Grüße", "😀😀 and 中", "\u00fc\u00fc\u00fc"])
def test_masks_where_tokens_are_parts_of_characters(asked: str) -> None:
    prompt = parlance.Template.builtin("chatml").render(
        [{"role": "user", "content": asked}, {"role": "assistant", "content": "Yes, Grüße"}], assistant=True, add_generation_prompt=False
    )
    tokens = prompt.tokens(parlance.tokenizer_of(Bytes()))
    learnt = bytes(id for id, is_learnt in zip(tokens.ids, tokens.mask(), strict=True) if is_learnt)
    assert learnt.decode() == "Yes, Grüße<|im_end|>\n"


@pytest.mark.parametrize("asked", ["he said the", "he said 😀", "the 😀😀 end 😀 q", "He  SAID\n\nthe"])
def test_masks_and_protection_where_tokens_are_unknown(asked: str) -> None:
    """A slow tokenizer whose model makes all white space blanks, and has one token for all that it does not know."""
    transformers = pytest.importorskip("transformers")
    model = pathlib.Path(__file__).parents[3] / "build/oracle/tokenizers/sp_unigram/tokenizer.model"
    if not model.exists():
        pytest.skip("run tests/oracle/setup.sh first")
    tok = transformers.GPTSw3Tokenizer(vocab_file=str(model))
    turns = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    tok.chat_template = turns + "{% if add_generation_prompt %}assistant: {% endif %}"
    chat = [{"role": "user", "content": asked}, {"role": "assistant", "content": "the end"}]
    made = parlance.apply_chat_template(tok, chat, mask="assistant", return_dict=True)
    learnt = [id for id, is_learnt in zip(made["input_ids"], made["assistant_masks"], strict=True) if is_learnt]
    assert tok.decode(learnt).split() == ["the", "end"]
    assert parlance.apply_chat_template(tok, chat, protect=True, return_dict=True)["input_ids"] == made["input_ids"]
    session = parlance.Session(parlance.Template.from_string(tok.chat_template), tok, chat[:1])
    assert session.prompt_ids() == tok.encode(f"user: {asked}\nassistant: ", add_special_tokens=False)


def test_slow_tokenizers_of_pieces() -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("sentencepiece")
    made = transformers.SpeechT5Tokenizer(vocab_file=str(mistral_data() / "tokenizer.model.v1"))
    engine = parlance.tokenizer_of(made)
    for text in TEXTS:
        ids = engine.encode(text)
        assert ids == made.encode(text, add_special_tokens=False)
        assert engine.decode(ids).decode() == f" {text}"
        assert read_by_ids(engine, ids) == f" {text}"


def test_what_a_tokenizer_lacks(tmp_path: pathlib.Path) -> None:
    """What becomes no token, and what becomes the unknown one."""
    template = parlance.Template.from_string("{% for m in messages %}{{ m.content }}{% endfor %}")
    rendering = template.render([{"role": "user", "content": "ab"}, {"role": "user", "content": "a\n日本b日"}])
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "?": 2}, "merges": []}
    file: dict[str, Any] = {"version": "1.0", "added_tokens": [], "model": model}
    for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        file[name] = None
    for unk, ids in (("?", [0, 1, 0, 2, 2, 2, 1, 2]), (None, [0, 1, 0, 1])):
        model["unk_token"] = unk
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(file), "utf-8")
        tokens = rendering.tokens(parlance.Tokenizer.from_file(path))
        assert tokens.ids == ids
        where = [(one.text, one.path, one.dropped) for one in tokens.unknown]
        assert where == [("\n日本", "messages[1].content", unk is None), ("日", "messages[1].content", unk is None)]
    assert repr(tokens.unknown[1]) == "UnknownText('日', path='messages[1].content', dropped=True)"


def test_an_id_that_there_is_not(chatml_tokenizer: str) -> None:
    engine = parlance.Tokenizer.from_file(chatml_tokenizer)
    size = engine.vocabulary_size
    reader = parlance.ReplyReader("chatml", tokenizer=engine)
    for call in (engine.decode, reader.feed):
        for id in (size, size + 1000):
            with pytest.raises(ValueError, match=f"id {id}, .*{size} tokens") as caught:
                call([0, id])
            assert isinstance(caught.value, parlance.Error)
    with pytest.raises(ValueError, match=f"id {size}"):
        reader.feed(size)
    with pytest.raises(ValueError):
        engine.decode([-1])
    assert reader.finish() == [] and reader.message.content == ""  # nothing of [0, size] was read


def test_the_sizes_of_others_vocabularies() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding("b", pat_str=r"\S+", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={"<|end|>": 300})
    transformers = pytest.importorskip("transformers")
    slow = transformers.ByT5Tokenizer()
    for made, size in ((encoding, 301), (slow, len(slow))):
        engine = parlance.tokenizer_of(made)
        assert engine.vocabulary_size == size
        with pytest.raises(parlance.Error, match=f"id {size}"):
            engine.decode([size])


class Upset(Exception):
    pass


class Raising:
    """A tokenizer of characters that has no text for one of them."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text]

    def decode(self, ids: list[int]) -> str:
        if 33 in ids:
            raise self.error
        return "".join(map(chr, ids))


@pytest.mark.parametrize("error", [Upset("no such token"), KeyError(33), KeyboardInterrupt()])
def test_what_a_tokenizers_decode_raises_comes_out(error: BaseException) -> None:
    engine = parlance.tokenizer_of(Raising(error))
    template = parlance.Template.from_string("{{ messages[0].content }}")
    for call in (
        lambda: engine.decode([65, 33, 65]),
        lambda: parlance.ReplyReader("chatml", tokenizer=engine).feed([65, 33, 65]),
        lambda: template.render([{"role": "user", "content": "a!"}]).tokens(engine),
    ):
        with pytest.raises(type(error)) as caught:
            call()
        assert caught.value is error
        assert engine.decode([65]) == b"A"  # it is raised once


class Bytes:
    """A tokenizer of bytes whose decode gives texts."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int]) -> Any:
        return bytes(ids).decode("utf-8", "replace")


class WithBytes(Bytes):
    def decode(self, ids: list[int]) -> Any:
        return bytes(ids)


class Pairs(Bytes):
    """Two bytes are one token."""

    def encode(self, text: str) -> list[int]:
        data = text.encode()
        return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]

    def decode(self, ids: list[int]) -> Any:
        return b"".join(id.to_bytes(2, "big").lstrip(b"\0") for id in ids).decode("utf-8", "replace")


class Characters(Bytes):
    """The token of U+FFFD is none of half a character."""

    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text]

    def decode(self, ids: list[int]) -> Any:
        return "".join(map(chr, ids))


class Encoder:
    def encode(self, text: str) -> list[int]:
        return list(text.encode())


class Slots(Bytes):
    __slots__ = ("other",)


class Deleted(Bytes):
    def __del__(self) -> None:
        pass


SAID = ["Hello", "Grüße", "日本語", "a😀b", "\ufffd", "ü\ufffdü"]


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("kind", [Bytes, WithBytes, Pairs, Characters, Encoder])
def test_ids_of_an_object_are_read_rightly_or_not_at_all(kind: Any, said: str) -> None:
    template, engine = parlance.Template.builtin("chatml"), parlance.tokenizer_of(kind())
    for text in (said, f"x{said}"):
        ids = kind().encode(f"{text}<|im_end|>")
        is_of_texts = kind in (Bytes, Pairs)
        is_whole = kind is not Encoder and not (is_of_texts and any("\ufffd" in kind().decode([id]) for id in ids))
        for call in (
            lambda: parlance.Session(template, engine, CHAT[:1]).sampled(ids).content,  # noqa: B023
            lambda: read_by_ids(engine, ids, text).removesuffix("<|im_end|>"),  # noqa: B023
            lambda: engine.decode(ids).decode().removesuffix("<|im_end|>"),  # noqa: B023
        ):
            if is_whole:
                assert call() == text
                continue
            with pytest.raises(TypeError, match="has no decode" if kind is Encoder else "it must give bytes"):
                call()


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("kind", [Bytes, WithBytes, Characters])
def test_a_prompt_s_characters_have_the_tokens_that_spell_them(kind: Any, said: str) -> None:
    """Whether decode gives bytes or texts."""
    rendering = parlance.Template.builtin("chatml").render([{"role": "user", "content": said}])
    ranges = rendering.tokens(parlance.tokenizer_of(kind())).ranges
    lengths = [1 if kind is Characters else len(character.encode()) for character in rendering.text]
    assert [begin for begin, _ in ranges] == [at for at, length in enumerate(lengths) for _ in range(length)]
    assert parlance.Template.builtin("chatml").render(CHAT[:1]).tokens(parlance.tokenizer_of(Encoder())).ids


def of_callables() -> list[Any]:
    made: list[Any] = [Bytes(), WithBytes(), Encoder(), Slots(), Deleted()]
    with contextlib.suppress(ImportError):
        tiktoken = __import__("tiktoken")
        made.append(
            tiktoken.Encoding("b", pat_str=r"\S+", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={"<|end|>": 300})
        )
    with contextlib.suppress(ImportError):
        made.append(__import__("transformers").ByT5Tokenizer())
    return made


@pytest.fixture
def frozen() -> Iterator[None]:
    """What other tests left need not be looked through each time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("frozen")
def test_a_tokenizer_that_is_no_longer_used_goes() -> None:
    all = of_callables()
    while all:
        tokenizer = all.pop()
        is_kept = not isinstance(tokenizer, (Slots, Deleted))
        engine, gone = parlance.tokenizer_of(tokenizer), weakref.ref(tokenizer)
        assert (parlance.tokenizer_of(tokenizer) is engine) == is_kept, tokenizer
        ids = engine.encode("Hello")
        name = type(tokenizer).__name__
        del tokenizer
        gc.collect()
        assert (gone() is None) == is_kept, name
        assert engine.encode("Hello") == ids  # which goes on
        del engine
        gc.collect()
        assert gone() is None, name


def test_members_of_a_tokenizer_that_change_later() -> None:
    tokenizer = Raising(Upset())
    engine = parlance.tokenizer_of(tokenizer)
    tokenizer.error = KeyError(33)
    with pytest.raises(KeyError):
        engine.decode([33])


def test_a_text_of_a_token_that_is_none() -> None:
    engine = parlance.Tokenizer._from_callables(list, lambda id: 3, [])
    with pytest.raises(TypeError, match="the text of token 7 is a int, not str or bytes"):
        engine.decode([7])


def test_a_misspelt_path_is_not_trusted(chatml_tokenizer: str) -> None:
    engine = parlance.Tokenizer.from_file(chatml_tokenizer)
    template = parlance.Template.builtin("chatml")
    rendering = template.render(CHAT, topic={"title": "x"})
    for path, hint in {
        "mesages[0].content": "did you mean messages[0].content?",
        "mesages[0].contnt": "did you mean messages[0].content?",
        "messages[*].contnt": "did you mean messages[*].content?",
        "tool": "did you mean tools?",
        "messages[7].content": "there are 2 of them",
        "msgs": "",
        "topic.titles": "did you mean topic.title?",
    }.items():
        with pytest.raises(parlance.Error) as caught:
            rendering.tokens(engine, trust=[path])
        assert isinstance(caught.value, ValueError)
        assert (caught.value.code, caught.value.hint) == ("usage", hint), path
        assert path in caught.value.message
    for path in ("messages[0].content", "messages[*].tool_calls", "tools", "documents", "topic.title", "messages[1]"):
        assert rendering.tokens(engine, trust=[path]).ids
    for path, is_refused in {"mesages[0].content": True, "messages[0].contnt": True, "messages[7].content": False}.items():
        if is_refused:
            with pytest.raises(parlance.Error, match="did you mean"):
                parlance.Session(template, engine, CHAT[:1], trust=[path])
        else:  # that message may come
            assert parlance.Session(template, engine, CHAT[:1], trust=[path]).prompt_ids()


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


def test_steps_that_are_changed_later(chatml_tokenizer: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    made = transformers_tokenizer(chatml_tokenizer)
    made.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    chat = [{"role": "user", "content": "HI There, I am"}]
    parlance.install(made, protect=True)
    steps = {
        "normalizer": [tokenizers.normalizers.Lowercase(), tokenizers.normalizers.Replace("There", "Here"), None],
        "pre_tokenizer": [
            tokenizers.pre_tokenizers.Sequence(
                [tokenizers.pre_tokenizers.Digits(), tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)]
            ),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ],
    }
    for name, several in steps.items():
        for step in several:
            setattr(made.backend_tokenizer, name, step)
            expected = type(made).apply_chat_template(made, chat)["input_ids"]
            assert made.apply_chat_template(chat)["input_ids"] == expected, (name, step)
            assert parlance.tokenizer_of(made) is parlance.tokenizer_of(made)
            assert parlance.tokenizer_of(made).encode(chat[0]["content"]) == expected


def changes_of(made: Any) -> list[tuple[str, Any]]:
    added = pytest.importorskip("tokenizers").AddedToken
    backend = made.backend_tokenizer
    return [
        ("added with other flags", lambda: made.add_tokens([added("<tool_call>", lstrip=True, rstrip=True, normalized=False)])),
        ("flags of one that is there", lambda: made.add_tokens([added("<tool_call>", single_word=True, normalized=False)])),
        ("special now", lambda: made.add_tokens([added("<tool_call>", lstrip=True, special=True)])),
        ("another number", lambda: made.add_tokens(["<foo>"])),
        ("split", lambda: setattr(made, "split_special_tokens", True)),
        ("no split", lambda: setattr(made, "split_special_tokens", False)),
        ("dropout of all", lambda: setattr(backend.model, "dropout", 1.0)),
        ("no dropout", lambda: setattr(backend.model, "dropout", None)),
    ]


def test_ids_follow_each_change_of_a_tokenizer(chatml_tokenizer: str) -> None:
    made = transformers_tokenizer(chatml_tokenizer)
    chat = [{"role": "user", "content": "Hi  <tool_call> there <foo>"}, {"role": "assistant", "content": "x<tool_call>  y"}]
    changes = changes_of(made)
    ids = []
    for what, change in [("nothing", lambda: None), *changes]:
        change()
        ids.append(made.apply_chat_template(chat)["input_ids"])
        ours = parlance.apply_chat_template(made, chat, mask="assistant")
        assert ours["input_ids"] == ids[-1], what
        assert parlance.tokenizer_of(made) is parlance.tokenizer_of(made), what
    assert len({tuple(one) for one in ids}) >= 6  # so the text shows the changes


def test_tokens_that_split_keep_their_ids(chatml_tokenizer: str) -> None:
    """Those of added tokens that are not special go by what stands before them in the file."""
    made = transformers_tokenizer(chatml_tokenizer)
    made.add_tokens(["<first>"])
    made.add_special_tokens({"extra_special_tokens": ["<special>"]})
    made.add_tokens(["<last>"])
    made.split_special_tokens = True
    text = "a<first><special><last>"
    assert parlance.tokenizer_of(made).encode(text) == made.encode(text, add_special_tokens=False)


def test_copies_share_what_is_made_of_a_fast_tokenizer(chatml_tokenizer: str) -> None:
    made = transformers_tokenizer(chatml_tokenizer)
    engine = parlance.tokenizer_of(made)
    again = copy.copy(made)
    assert parlance.tokenizer_of(again) is parlance.tokenizer_of(made.backend_tokenizer) is engine
    again.split_special_tokens = True
    assert parlance.tokenizer_of(again) is parlance.tokenizer_of(again) is not engine
    assert parlance.tokenizer_of(made) is engine
    del made, again
    referred = weakref.ref(engine)
    del engine
    gc.collect()
    assert referred() is None


def test_the_id_of_a_token(chatml_tokenizer: str) -> None:
    engine = parlance.Tokenizer.from_file(chatml_tokenizer)
    for text in ("<|im_end|>", "a", "\n", " the"):
        id = engine.token_to_id(text)
        assert id is not None and engine.decode([id]).decode() == text
    assert engine.token_to_id("<|im_end|>") == engine.encode("<|im_end|>")[0]
    assert engine.token_to_id("no token has this text") is None and engine.token_to_id("") is None
    for id in range(engine.vocabulary_size):
        text = engine.decode([id]).decode("utf-8", "replace")
        assert "\ufffd" in text or engine.token_to_id(text) is not None
    with pytest.raises(TypeError, match="token_to_id"):
        engine.token_to_id(5)  # type: ignore[arg-type]


def test_nothing_is_said_where_python_ends() -> None:
    code = "import parlance; kept = parlance.Template.builtin('chatml'); loop = [kept]; loop.append(loop)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr == ""
