"""Copies and pickles: what never changes is its own copy, and a pickle has what it needs, whatever becomes of files meanwhile."""

from __future__ import annotations

import concurrent.futures
import copy
import copyreg
import functools
import importlib
import inspect
import multiprocessing
import os
import pathlib
import pickle
import pydoc
import shutil
import sys
import types
import weakref
from typing import Any

import parlance
import pytest

CHAT = [{"role": "user", "content": "Hi<|im_end|> é"}, {"role": "assistant", "content": "Yes, \U0001f600"}]
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}]
CHATML = parlance.Template.builtin("chatml")


def again(one: Any, protocol: int = pickle.DEFAULT_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(one, protocol))


def write_model(folder: pathlib.Path) -> None:
    folder.mkdir()
    (folder / "chat_template.jinja").write_text("{{ bos_token }}{{ messages[0].content }}{% if tools %}T{% endif %}", "utf-8")
    more = folder / "additional_chat_templates"
    more.mkdir()
    (more / "tool_use.jinja").write_text("{{ bos_token }}tools:{{ tools }}", "utf-8")
    (folder / "tokenizer_config.json").write_text('{"bos_token": "<s>", "eos_token": "</s>"}', "utf-8")


def opened_in(folder: pathlib.Path) -> dict[str, parlance.Template]:
    """One opened in each way, by relative paths."""
    write_model(folder / "model")
    (folder / "chat.jinja").write_text("A{{ messages[0].content }}{{ eos_token }}", "utf-8")
    (folder / "chat.tmpl").write_text("{{ range .Messages }}{{ .Role }}: {{ .Content }}{{ end }}", "utf-8")
    (folder / "Modelfile").write_text('FROM ./none.gguf\nTEMPLATE """{{ .System }}|{{ .Prompt }}"""\nSYSTEM Be brief.\n', "utf-8")
    (folder / "other.tmpl").write_text("J{{ messages[0].content }}", "utf-8")
    special = {"eos_token": "</s>"}
    return {
        "folder": parlance.Template.from_pretrained("model"),
        "named": parlance.Template.from_pretrained("model", name="tool_use"),
        "file": parlance.Template.from_file("chat.jinja", special_tokens=special, passes="text-only", max_steps=1000),
        "Go": parlance.Template.from_file(pathlib.Path("chat.tmpl")),
        "Modelfile": parlance.Template.from_pretrained("Modelfile"),
        "other syntax": parlance.Template.from_file("other.tmpl", syntax="jinja"),
        "text": parlance.Template.from_string("{{ bos_token }}x", special_tokens={"bos_token": "<s>"}),
        "Go text": parlance.Template.from_string("{{ .Prompt }}", syntax="go"),
        "builtin": parlance.Template.builtin("terminal-agent", as_transformers="5.22"),
        "as it is": parlance.Template.from_string("{{ messages }}", as_is=True),
    }


def shown(template: parlance.Template) -> Any:
    rendered = [template.render(CHAT[:1], tools=tools) for tools in (None, TOOLS)]
    return template.to_dict(), template.limits, template.text, repr(template), [(one.text, one.notes) for one in rendered]


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_template_is_pickled_with_its_text(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, protocol: int) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    work.mkdir()
    other.mkdir()
    monkeypatch.chdir(work)
    opened = opened_in(work)
    before = {name: shown(one) for name, one in opened.items()}
    stored = {name: pickle.dumps(one, protocol) for name, one in opened.items()}
    renderings = {name: pickle.dumps(one.render(CHAT[:1]), protocol) for name, one in opened.items()}
    for file in [path for path in work.rglob("*") if path.is_file()]:
        file.write_text("B{{ messages[0].content }}", "utf-8")
    for _ in range(2):
        for name, one in opened.items():
            assert shown(one) == shown(pickle.loads(stored[name])) == shown(again(again(one))) == before[name], name
            assert pickle.dumps(one, protocol) == stored[name]
            assert pickle.loads(renderings[name]).text == before[name][-1][0][0]
        shutil.rmtree(work, ignore_errors=True)
        monkeypatch.chdir(other)


def test_what_never_changes_is_its_own_copy(tmp_path: pathlib.Path, chatml_tokenizer: str) -> None:
    file = tmp_path / "chat.jinja"
    file.write_text("{{ messages[0].content }}", "utf-8")
    template, tokenizer = parlance.Template.from_file(file), parlance.Tokenizer.from_file(chatml_tokenizer)
    file.unlink()
    rendering = template.render(CHAT)
    grammar = CHATML.render(CHAT[:1]).grammar()
    for one in (template, tokenizer, rendering, rendering.tokens(tokenizer), CHATML.reply_format(), grammar):
        assert copy.copy(one) is copy.deepcopy(one) is copy.deepcopy({"in": [one]})["in"][0] is one


def test_a_pickle_tells_texts_and_options_apart() -> None:
    made = [
        parlance.Template.from_string("a"),
        parlance.Template.from_string("b"),
        parlance.Template.from_string("a", syntax="go"),
        parlance.Template.from_string("a", special_tokens={"bos_token": "x"}),
        parlance.Template.from_string("a", adapt=False),
    ]
    assert len({pickle.dumps(one) for one in made}) == len(made)
    assert pickle.dumps(made[0]) == pickle.dumps(parlance.Template.from_string("a")) == pickle.dumps(again(made[0]))


def test_lists_that_were_given_may_change_afterwards() -> None:
    passes = ["text-only"]
    template = parlance.Template.builtin("chatml", passes=passes)
    passes[0] = "no such pass"
    assert again(template).text == template.text


def test_renderings_share_their_template_in_a_pickle() -> None:
    template = parlance.Template.from_string("{# " + "x" * 10_000 + " #}{{ messages[0].content }}")
    assert len(pickle.dumps([template.render(CHAT) for _ in range(20)])) < 30_000


# ---- tokenizers


def test_a_tokenizer_of_a_file_is_pickled_by_its_path(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, chatml_tokenizer: str
) -> None:
    shutil.copy(f"{chatml_tokenizer}/tokenizer.json", tmp_path)
    monkeypatch.chdir(tmp_path)
    first = parlance.Tokenizer.from_file("tokenizer.json", special_tokens=["<mine>"])
    stored = pickle.dumps(first)
    assert len(stored) < 1000
    monkeypatch.chdir("/")
    assert pickle.loads(stored).encode("<mine>Hi<|im_end|>") == first.encode("<mine>Hi<|im_end|>")
    assert pickle.dumps(pickle.loads(stored)) == stored
    file = tmp_path / "tokenizer.json"
    file.write_text(file.read_text("utf-8").replace("<|im_end|>", "<|im_done|>"), "utf-8")
    assert pickle.dumps(first) == stored
    with pytest.raises(ValueError, match="not the tokenizer that was pickled") as caught:
        pickle.loads(stored)
    assert isinstance(caught.value, parlance.Error) and str(file) in str(caught.value) and "path" in caught.value.hint
    file.unlink()
    with pytest.raises(OSError):
        pickle.loads(stored)


def test_a_tokenizer_of_another_package_is_pickled_as_a_whole(chatml_tokenizer: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    own = tokenizers.Tokenizer.from_file(f"{chatml_tokenizer}/tokenizer.json")
    engine = parlance.tokenizer_of(own)
    session = parlance.Session(CHATML, engine, CHAT)
    own.add_tokens(["Hi"])
    for one in (copy.copy(engine), copy.deepcopy(engine), again(engine), again(again(engine))):
        assert one.encode("Hi<|im_end|>") == engine.encode("Hi<|im_end|>")
    assert again(session).prompt_ids() == copy.deepcopy(session).prompt_ids() == session.prompt_ids()

    class Words:
        def encode(self, text: str) -> list[int]:
            return [1] * len(text)

    with pytest.raises(TypeError, match="pickle that"):
        pickle.dumps(parlance.tokenizer_of(Words()))


# ---- the others


def test_tokens_and_spans(chatml_tokenizer: str) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    rendering = CHATML.render(CHAT, assistant=True)
    tokens = rendering.tokens(tokenizer)
    for one in (again(tokens), again(again(tokens))):
        for name in ("ids", "labels", "ranges", "kinds", "messages", "origins", "control", "missing_before", "notes"):
            assert getattr(one, name) == getattr(tokens, name), name
        assert one.mask("content") == tokens.mask("content") and len(one) == len(tokens)
        assert [(g.id, g.path) for g in one.guarded] == [(g.id, g.path) for g in tokens.guarded] != []
        assert [(u.text, u.path, u.dropped) for u in one.unknown] == [(u.text, u.path, u.dropped) for u in tokens.unknown]
        assert parlance.prefix(tokens, one) and parlance.prefix(one, tokens).unit == "tokens"
    names = ("begin", "end", "origin", "control", "message", "path", "line", "column")
    stored = pickle.dumps(rendering.spans)
    assert [[getattr(span, name) for name in names] for span in pickle.loads(stored)] == [
        [getattr(span, name) for name in names] for span in rendering.spans
    ]
    assert repr(again(again(rendering.spans[0]))) == repr(rendering.spans[0]) and b"Yes, " not in stored


def test_formats_and_calls() -> None:
    template = parlance.Template.builtin("terminal-agent")
    prompt = template.render(CHAT[:1], tools=TOOLS)
    assert again(prompt.reply_format) == copy.deepcopy(prompt.reply_format) == prompt.reply_format
    derived = parlance.derive(template)
    for one in (again(derived), copy.deepcopy(derived)):
        assert (one.verdict, one.missing, one.notes, one.renders) == (derived.verdict, derived.missing, derived.notes, derived.renders)
        assert (one.format, one.evidence, one.to_dict(), repr(one)) == (derived.format, derived.evidence, derived.to_dict(), repr(derived))
    call = parlance.read('<tool_call>\n{"name": "look", "arguments": {"at": "é"}}\n</tool_call>', template.reply_format()).calls[0]
    assert repr(again(call)) == repr(copy.copy(call)) == repr(call) and again(call).complete


def test_grammars(chatml_tokenizer: str) -> None:
    prompt = parlance.Template.builtin("terminal-agent").render(CHAT[:1], tools=TOOLS)
    schema = {"type": "object", "properties": {"é": {"enum": [1, 2]}}, "uniqueItems": True}
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    made = [
        prompt.grammar(),
        prompt.grammar(tool_choice="look", max_tool_calls=2, reasoning=False, tokenizer=tokenizer, any_order=True),
        prompt.grammar(tool_choice="none", choices=["a", "é"]),
        prompt.grammar(tool_choice="none", response_format={"type": "regex", "pattern": "[0-9]+"}, prompt="<|im_start|>assistant\n"),
        parlance.grammar("chatml", response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}),
        parlance.schema_grammar(schema, open=True),
    ]
    for grammar in made:
        for one in (again(grammar), again(again(grammar))):
            assert str(one) == str(grammar) and [repr(note) for note in one.notes] == [repr(note) for note in grammar.notes]
    assert again(made[1]).to_text("lark") == made[1].to_text("lark")


def test_what_is_told_of_a_prompt(chatml_tokenizer: str) -> None:
    """So that what a method gives comes back from another process."""
    rendering = CHATML.render(CHAT, tools=TOOLS)
    losses = [*rendering.losses(), *parlance.Template.builtin("chatml").render([{"role": "user", "content": "x", "id": "y"}]).losses()]
    assert [(str(one), one.kind, one.subject, one.hint) for one in again(losses)] == [
        (str(one), one.kind, one.subject, one.hint) for one in losses
    ]
    tokens = rendering.tokens(parlance.Tokenizer.from_file(chatml_tokenizer))
    notes = parlance.schema_grammar({"type": "array", "uniqueItems": True}).notes
    for found in (losses, tokens.guarded, notes):
        assert found and [repr(one) for one in again(found)] == [repr(one) for one in copy.deepcopy(found)] == [repr(one) for one in found]

    class Bytes:
        """Without a token for most characters."""

        unk_token_id = 5

        def encode(self, text: str) -> list[int]:
            return [5] * len(text)

        def decode(self, ids: list[int]) -> str:
            return "?" * len(ids)

    unknown = CHATML.render(CHAT).tokens(parlance.tokenizer_of(Bytes())).unknown
    assert unknown and [repr(one) for one in again(unknown)] == [repr(one) for one in unknown]


def test_functions_go_to_other_processes(chatml_tokenizer: str) -> None:
    rendering = CHATML.render(CHAT)
    functions = [parlance.read, parlance.Template.builtin, parlance.Template.render, parlance.Tokenizer.from_file, parlance.schema_grammar]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert all(again(function, protocol) is function for function in functions)
        assert again(CHATML.render, protocol)(CHAT).text == rendering.text
        assert again(functools.partial(CHATML.render, add_generation_prompt=True), protocol)(CHAT).text != rendering.text
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
        assert [one.text for one in pool.map(CHATML.render, [CHAT, CHAT[:1]])] == [rendering.text, CHATML.render(CHAT[:1]).text]
        assert pool.submit(parlance.read, "Hi", "chatml").result() == parlance.read("Hi", "chatml")
        assert pool.submit(rendering.tokens, tokenizer).result().ids == rendering.tokens(tokenizer).ids
        assert pool.submit(parlance.derive, CHATML).result().to_dict() == parlance.derive(CHATML).to_dict()


def test_a_function_of_another_extension_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extensions that are made with the same nanobind share its kinds of functions."""
    functions = importlib.import_module("parlance._functions")
    calls = importlib.import_module("parlance._calls")
    other = type("nb_func", (), {"__module__": "somebody.else"})
    monkeypatch.setitem(functions._BEFORE, other, None)
    with pytest.raises(TypeError, match="cannot pickle 'nb_func' object"):
        functions._reduced(other())
    monkeypatch.setitem(functions._BEFORE, other, lambda one: "theirs")
    assert functions._reduced(other()) == "theirs"
    with pytest.raises(AttributeError):
        calls.signature_of(other())


def test_cloudpickle_takes_functions_too() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    for function in (CHATML.render, lambda chat: CHATML.render(chat)):
        assert cloudpickle.loads(cloudpickle.dumps(function))(CHAT).text == CHATML.render(CHAT).text


def modules_of_package() -> list[types.ModuleType]:
    names = ["parlance._core", "parlance._errors", "parlance._schema", "parlance.agent", "parlance.session"]
    return [parlance, *map(importlib.import_module, names)]


def test_modules_are_pickled_by_name() -> None:
    for module in modules_of_package():
        assert again(module) is module and copy.deepcopy(module) is module
        for of_dill in (pickle._Pickler.dispatch, copyreg.dispatch_table):  # it looks by the very class of a module there
            assert type(module) not in of_dill and type(module) is not types.ModuleType
        assert isinstance(module, types.ModuleType) and inspect.ismodule(module) and module.__name__ in repr(module)
    assert "Template" in pydoc.render_doc(parlance)
    small = importlib.import_module("parlance._html")
    assert importlib.reload(small) is small and again(small) is small


def test_dill_takes_functions_that_use_the_package() -> None:
    dill = pytest.importorskip("dill")
    for function in (lambda chat: parlance.Template.builtin("chatml").render(chat), lambda chat: CHATML.render(chat)):
        kept = dill.dumps(function, recurse=True)
        assert kept == dill.dumps(function, recurse=True) and dill.loads(kept)(CHAT).text == CHATML.render(CHAT).text


def test_they_can_be_referred_to_weakly(chatml_tokenizer: str) -> None:
    template, tokenizer = parlance.Template.from_string("x"), parlance.Tokenizer.from_file(chatml_tokenizer)
    rendering = template.render(CHAT)
    referred = [weakref.ref(one) for one in (template, tokenizer, rendering)]
    assert [one() for one in referred] == [template, tokenizer, rendering]
    kept: weakref.WeakKeyDictionary[parlance.Template, int] = weakref.WeakKeyDictionary({template: 1})
    assert kept[template] == 1
    del rendering, template, tokenizer
    assert [one() for one in referred] == [None] * 3 and not kept


# ---- sessions


class Rewarded(parlance.Session):
    """Made of other arguments than a session, as users derive theirs."""

    def __init__(self, folder: str, reward: float) -> None:
        self.before = [reward]
        super().__init__(CHATML, parlance.Tokenizer.from_file(folder), CHAT[:1])
        self.reward = reward
        self._info = {"seen": ["x"], "self": self}


def test_a_session_keeps_what_was_put_on_it(chatml_tokenizer: str) -> None:
    session = Rewarded(chatml_tokenizer, 0.5)
    session.sampled(session._tokenizer.encode("Yes"))
    session.extra = {"a": 1}  # type: ignore[attr-defined]
    for one in (again(session), copy.deepcopy(session)):
        assert type(one) is Rewarded and (one.reward, one.before, one.extra) == (0.5, [0.5], {"a": 1}) and one.sample() == session.sample()
        assert one._info is not session._info and one._info["self"] is one and one.before is not session.before
        one._info["seen"].append("y")
        one.sampled(one._tokenizer.encode(" it is"))
    assert session._info["seen"] == ["x"] and len(session.messages) == 2 and session.messages[1]["content"] == "Yes"
    for one in (copy.copy(session), session.branch()):
        assert type(one) is Rewarded and one._info is session._info  # type: ignore[attr-defined]


def test_a_session_goes_to_a_process_that_has_not_its_files(tmp_path: pathlib.Path, chatml_tokenizer: str) -> None:
    file = tmp_path / "chat.jinja"
    file.write_text(CHATML.text, "utf-8")
    session = parlance.Session(parlance.Template.from_file(os.fspath(file)), parlance.Tokenizer.from_file(chatml_tokenizer), CHAT)
    stored = pickle.dumps(session)
    file.write_text("other", "utf-8")
    assert pickle.loads(stored).prompt_ids() == session.prompt_ids()
    assert sys.getsizeof(stored) < 10_000
