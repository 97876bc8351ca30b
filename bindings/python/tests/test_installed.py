"""An installed method goes along with its tokenizer, through copies and pickles, and follows the release that is installed."""

from __future__ import annotations

import copy
import functools
import inspect
import pathlib
import pickle
import pydoc
import warnings
from typing import Any

import parlance
import pytest
from material import CHAT, transformers_tokenizer

transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_what_is_installed_stays_on_a_class_that_pickles_itself(chatml_tokenizer: str, copied: Any) -> None:
    made = parlance.install(cached(transformers_tokenizer(chatml_tokenizer)), protect=True)
    end = made.convert_tokens_to_ids("<|im_end|>")
    again = copied(made)
    for one in (again, copied(again)):
        assert one.apply_chat_template(CHAT)["input_ids"].count(end) == 2
        assert isinstance(one, type(made).__mro__[1].__mro__[1]) and type(one).__name__ == "Cached"
    parlance.uninstall(again)
    assert again.apply_chat_template(CHAT)["input_ids"].count(end) == 3
    assert made.apply_chat_template(CHAT)["input_ids"].count(end) == 2


def cached(tokenizer: Any) -> Any:
    """As vLLM does it: a copy whose class makes it again of the tokenizer that it was made of."""
    made = copy.copy(tokenizer)

    class Cached(type(tokenizer)):  # type: ignore[misc]
        def __reduce__(self) -> Any:
            return cached, (tokenizer,)

    made.__class__ = Cached
    return made


COPIES = [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]


def cached_by_class(tokenizer: Any) -> Any:
    """As later vLLM does it, from `__class__`."""
    made = copy.copy(tokenizer)

    class Cached(tokenizer.__class__):  # type: ignore[misc]
        def __len__(self) -> int:
            return 7

        def __reduce__(self) -> Any:
            return cached_by_class, (tokenizer,)

    made.__class__ = Cached
    return made


def test_what_is_installed_stays_on_a_class_that_the_tokenizer_is_given(chatml_tokenizer: str) -> None:
    made = parlance.install(transformers_tokenizer(chatml_tokenizer), protect=True)
    end = made.convert_tokens_to_ids("<|im_end|>")
    one = cached_by_class(made)
    assert (one.__class__.__name__, len(one)) == ("Cached", 7) and isinstance(one, made.__class__)
    for again in (one, *(copied(one) for copied in COPIES)):
        assert (again.apply_chat_template(CHAT)["input_ids"].count(end), len(again)) == (2, 7)
        assert parlance.uninstall(again).apply_chat_template(CHAT)["input_ids"].count(end) == 3
        assert (type(again).__name__, len(again)) == ("Cached", 7)
    one.__class__ = made.__class__
    assert type(one) is made.__class__, "an uninstalled tokenizer is given what it is given"


def test_a_method_that_is_kept_in_the_tokenizer_stays_installed(chatml_tokenizer: str) -> None:
    """As sglang keeps it."""
    made = parlance.install(transformers_tokenizer(chatml_tokenizer), protect=True)
    made.kept = (made.apply_chat_template, made.parse_response)
    end = made.convert_tokens_to_ids("<|im_end|>")
    for copied in COPIES:
        method, reader = copied(made).kept
        assert method(CHAT)["input_ids"].count(end) == 2
        assert type(reader) is type(method) and reader.__name__ == "parse_response"
    again = copy.deepcopy(made)
    assert again.kept[0].__self__ is again and again.kept[0] == again.apply_chat_template


def test_a_method_that_was_replaced_for_all_tokenizers_is_told(chatml_tokenizer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As unsloth does it."""
    base = transformers.PreTrainedTokenizerBase
    own = base.apply_chat_template

    def other(self: Any, conversation: Any, *args: Any, **kwargs: Any) -> Any:
        return own(self, conversation, *args, **{"return_dict": False} | kwargs)

    tokenizer = transformers_tokenizer(chatml_tokenizer)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ids = list(parlance.install(tokenizer).apply_chat_template(CHAT)["input_ids"])
    monkeypatch.setattr(base, "apply_chat_template", other)
    with pytest.warns(UserWarning, match=f"of all tokenizers was replaced .*{pathlib.Path(__file__).name}"):
        parlance.install(tokenizer)
    assert tokenizer.apply_chat_template(CHAT)["input_ids"] == ids
    assert parlance.uninstall(tokenizer).apply_chat_template(CHAT) == ids


def test_names_that_transformers_refuses(chatml_tokenizer: str) -> None:
    tokenizer = parlance.install(transformers_tokenizer(chatml_tokenizer))
    for given in (tokenizer.apply_chat_template, functools.partial(parlance.apply_chat_template, tokenizer)):
        with pytest.raises(TypeError, match=r"apply_chat_template\(\) got multiple values for argument 'self'"):
            given(CHAT, self=1)
    with pytest.raises(TypeError, match=r"parse_response\(\) got an unexpected keyword argument 'tokenizer'"):
        tokenizer.parse_response("a", prefix="", tokenizer=1)


def test_an_installed_method_goes_along(chatml_tokenizer: str) -> None:
    made = transformers_tokenizer(chatml_tokenizer)
    end = made.convert_tokens_to_ids("<|im_end|>")
    parlance.install(made, protect=True)
    for one in (made, pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert one.apply_chat_template(CHAT)["input_ids"].count(end) == 2
        assert one.apply_chat_template(CHAT, protect=False)["input_ids"].count(end) == 3
    parlance.uninstall(made)
    assert made.apply_chat_template(CHAT)["input_ids"].count(end) == 3


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_renders_with_its_own_template(chatml_tokenizer: str, copied: Any) -> None:
    made = parlance.install(transformers_tokenizer(chatml_tokenizer), tokenize=False)
    made.chat_template = "A{{ messages[0].content }}"
    again = copied(made)
    again.chat_template = "B{{ messages[0].content }}"
    assert (made.apply_chat_template(CHAT)[0], again.apply_chat_template(CHAT)[0], type(again)) == ("A", "B", type(made))
    assert made.apply_chat_template(CHAT, protect=True)[0] == "A"

    class Cached(type(made)):  # type: ignore[misc]
        """As vLLM derives one for its copy."""

    again.__class__ = Cached
    assert again.apply_chat_template(CHAT)[0] == copy.copy(again).apply_chat_template(CHAT)[0] == "B"
    parlance.uninstall(again)
    assert made.apply_chat_template(CHAT)[0] == "A" and again.apply_chat_template(CHAT, tokenize=False)[0] == "B"
    assert "parlance" not in repr(again.apply_chat_template)


def test_what_is_installed_on_a_copy_is_the_copy_s(chatml_tokenizer: str) -> None:
    made = parlance.install(transformers_tokenizer(chatml_tokenizer), tokenize=False)
    again = copy.copy(made)
    parlance.install(again, tokenize=True)
    assert isinstance(made.apply_chat_template(CHAT), str)
    assert not isinstance(again.apply_chat_template(CHAT), str)


def test_an_installed_tokenizer_is_what_it_was(chatml_tokenizer: str, tmp_path: pathlib.Path) -> None:
    made = transformers_tokenizer(chatml_tokenizer)
    kind, before = type(made), set(vars(made))
    own = kind.apply_chat_template
    parlance.install(parlance.install(made, tokenize=False))
    assert isinstance(made, kind) and (type(made).__name__, type(made).__module__) == (kind.__name__, kind.__module__)
    assert type(made).apply_chat_template is own
    assert made.__class__ is kind and copy.copy(made).__class__ is kind and pickle.loads(pickle.dumps(made)).__class__ is kind
    made.save_pretrained(tmp_path)
    assert "parlance" not in (tmp_path / "tokenizer_config.json").read_text("utf-8")
    parlance.uninstall(made)
    assert type(made) is kind and set(vars(made)) == before and made.apply_chat_template.__func__ is own


def test_a_copy_changes_nothing_of_the_class(chatml_tokenizer: str) -> None:
    """By which dill, and datasets with it, would take the tokenizer for another one than before."""
    made = transformers_tokenizer(chatml_tokenizer)

    class Slotted(type(made)):  # type: ignore[misc]
        __slots__ = ("mine",)

    slotted = parlance.install(Slotted(tokenizer_file=f"{chatml_tokenizer}/tokenizer.json"))
    slotted.mine = 3
    for one in (parlance.install(made), slotted):
        before = dict(vars(type(one)))
        assert getattr(copy.deepcopy(one), "mine", 3) == getattr(copy.copy(one), "mine", 3) == 3
        assert dict(vars(type(one))) == before


def test_a_method_of_the_instance_comes_back(chatml_tokenizer: str) -> None:
    made = transformers_tokenizer(chatml_tokenizer)
    made.apply_chat_template = lambda *args, **kwargs: "mine"
    for _ in range(2):
        parlance.install(parlance.install(made))
        assert made.apply_chat_template(CHAT, tokenize=False) != "mine"
        assert parlance.uninstall(made).apply_chat_template(CHAT) == "mine"
    parlance.install(made)
    made.apply_chat_template = lambda *args, **kwargs: "later"
    assert made.apply_chat_template(CHAT) == "later"
    assert parlance.uninstall(parlance.uninstall(made)).apply_chat_template(CHAT) == "later"


def test_an_installed_method_shows_the_one_it_replaces(chatml_tokenizer: str) -> None:
    made = transformers_tokenizer(chatml_tokenizer)
    own = {name: inspect.signature(getattr(made, name)) for name in ("apply_chat_template", "parse_response")}
    parlance.install(made)
    for one in (made, pickle.loads(pickle.dumps(made))):
        assert {name: inspect.signature(getattr(one, name)) for name in own} == own
        for name in own:
            shown = pydoc.plain(pydoc.render_doc(getattr(one, name)))
            assert f"{name}(" in shown and f"see parlance.{name}" in shown
            assert str(inspect.getdoc(getattr(type(made), name))).splitlines()[0] in shown
    assert "protect" in pydoc.render_doc(made.apply_chat_template)
    parlance.install(made, tokenize=False, protect=True)
    assert inspect.signature(made.apply_chat_template).parameters["tokenize"].default is False


def test_the_release_that_is_followed(chatml_tokenizer: str) -> None:
    from parlance._transformers import nearest

    followed = [nearest(version) for version in ("4.57.1", "5.21.0", "5.22.9", "5.23.0.dev0", "5.23.4", "5.24.1", "6.0")]
    assert followed == ["5.21.0", "5.21.0", "5.22.2", "5.23.0", "5.23.0", "5.24.0", "5.24.0"]
    made = transformers_tokenizer(chatml_tokenizer)
    with pytest.raises(ValueError, match="follows transformers"):
        parlance.apply_chat_template(made, CHAT, transformers_version="4.0")


def test_an_older_release_than_those_that_are_followed_is_named(chatml_tokenizer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from parlance._transformers import _warn_of_older

    made = transformers_tokenizer(chatml_tokenizer)
    monkeypatch.setattr("transformers.__version__", "4.57.6")
    _warn_of_older.cache_clear()
    with pytest.warns(UserWarning, match=r"transformers 4\.57\.6 is older .* BatchEncoding where 4 gives ids") as told:
        parlance.apply_chat_template(made, CHAT)
        parlance.apply_chat_template(made, CHAT, transformers_version="5.21.0")
    assert [one.filename for one in told] == [__file__]


def test_a_newer_release_than_those_that_are_followed_is_named_once(chatml_tokenizer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from parlance._transformers import _RELEASES, _warn_of_newer

    made = transformers_tokenizer(chatml_tokenizer)
    for installed in ("99.1.0", list(_RELEASES)[-1] + "9"):
        monkeypatch.setattr("transformers.__version__", installed)
        _warn_of_newer.cache_clear()
        with pytest.warns(UserWarning, match=f"transformers {installed} is newer .* is as in {list(_RELEASES)[-1]}") as told:
            for _ in range(2):
                parlance.apply_chat_template(made, CHAT)
            parlance.apply_chat_template(made, CHAT, transformers_version=list(_RELEASES)[-1])
        assert [one.filename for one in told] == [__file__]
    monkeypatch.setattr("transformers.__version__", list(_RELEASES)[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parlance.apply_chat_template(made, CHAT)
