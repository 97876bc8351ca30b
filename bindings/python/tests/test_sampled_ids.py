"""Session: ids that come one by one, behind the end of a reply, or of a tokenizer that raises."""

from __future__ import annotations

from typing import Any

import parlance
import pytest
from begun import CALL, begin, reply_ids

# ---- what is sampled behind the end


@pytest.mark.parametrize("said", ["Yes.", CALL.replace("<|im_end|>", ""), "<think>\nHm.</think>Yes."])
@pytest.mark.parametrize("behind", ["<|endoftext|>", "<|im_end|>", "<|im_end|><|endoftext|>"])
def test_further_ends_behind_the_end_stay(chatml_tokenizer: str, said: str, behind: str) -> None:
    """An engine that stops at the second of two, or a sampler that appends one."""
    session = begin(chatml_tokenizer)
    for turn in range(3):
        before, ids = session.prompt_ids(), reply_ids(chatml_tokenizer, f"{said}<|im_end|>{behind}")
        plain = begin(chatml_tokenizer).sampled(reply_ids(chatml_tokenizer, f"{said}<|im_end|>"))
        assert session.sampled(ids, [-0.5] * len(ids)) == plain
        new = session.extend([{"role": "tool", "content": f"saw {turn}"}])
        assert session.prompt_ids() == before + ids + new
        assert parlance.Tokenizer.from_file(chatml_tokenizer).decode(new).startswith(b"\n<|im_start|>")
    sample = session.sample()
    assert sum(sample.loss_mask) == 3 * len(ids)
    template, tokenizer = parlance.Template.builtin("terminal-agent"), parlance.Tokenizer.from_file(chatml_tokenizer)
    assert parlance.Session.from_dict(session.to_dict(), template, tokenizer).sample() == sample


@pytest.mark.parametrize("behind", ["\n<|im_start|>user\nNo?<|im_end|>", "<|im_start|>", " And more", "\n\n<|endoftext|>"])
def test_other_ids_behind_the_end_are_refused_with_what_to_do(chatml_tokenizer: str, behind: str) -> None:
    session = begin(chatml_tokenizer)
    session.sampled(reply_ids(chatml_tokenizer, CALL))
    session.extend([{"role": "tool", "content": "a cat"}])
    before, ids = session.prompt_ids(), reply_ids(chatml_tokenizer, f"Yes.<|im_end|>{behind}")
    kept = reply_ids(chatml_tokenizer, "Yes.<|im_end|>")
    session.sampled(ids)
    for given in ([], [{"role": "assistant", "content": "Yes."}]):
        with pytest.raises(parlance.Error) as caught:
            session.extend([*given, {"role": "user", "content": "And?"}])
        assert caught.value.code == "history_rewritten" and session.prompt_ids() == before + ids
        assert f"trim(1), then sampled() with the first {len(kept)} of these {len(ids)} ids" in caught.value.hint
    session.trim(1)
    assert session.prompt_ids() == before
    session.sampled(ids[: len(kept)])
    new = session.extend([{"role": "user", "content": "And?"}])
    assert session.prompt_ids() == before + kept + new


# ---- one id at a time


class Counting:
    """A part of a session that counts what it is asked for."""

    def __init__(self, inner: Any, counts: dict[str, int]) -> None:
        self._inner, self._counts = inner, counts

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)

        def counted(*args: Any) -> Any:
            self._counts[name] = self._counts.get(name, 0) + 1
            if name in ("feed", "append_sampled"):
                self._counts[f"ids of {name}"] = self._counts.get(f"ids of {name}", 0) + len(args[0])
            made = found(*args)
            return Counting(made, self._counts) if name in ("reader", "copy") else made

        return counted if callable(found) else found


@pytest.mark.parametrize("with_logprobs", [False, True])
def test_ids_that_come_one_by_one_are_each_read_once(chatml_tokenizer: str, with_logprobs: bool) -> None:
    ids = reply_ids(chatml_tokenizer, "<think>\n" + "Hm, so é \U0001f600. " * 150 + "\n</think>\n\n" + CALL)
    whole = begin(chatml_tokenizer)
    expected = whole.sampled(ids, [-0.5] * len(ids) if with_logprobs else None)
    session, counts = begin(chatml_tokenizer), dict[str, int]()
    session._session = Counting(session._session, counts)
    lists = set()
    for at, id in enumerate(ids):
        message = session.sampled([id], [-0.5] if with_logprobs else None)
        step = session._steps[-1]
        lists.add((id_of(step.sampled), id_of(step.logprobs)))
        if at == len(ids) // 2:
            other = session.branch()
    assert message == expected and len(lists) == 1
    assert counts["ids of feed"] == counts["ids of append_sampled"] == len(ids)
    assert counts["copy"] <= 4  # to begin with, and for the branch
    assert session.sample() == whole.sample()
    other.sampled(ids[len(ids) // 2 + 1 :], [-0.5] * (len(ids) - len(ids) // 2 - 1) if with_logprobs else None)
    assert other.sample() == whole.sample() and session.sample() == whole.sample()


def id_of(one: Any) -> int:
    return id(one)


def test_a_tokenizer_that_raises_leaves_the_session_as_it_was(chatml_tokenizer: str) -> None:
    class Raising:
        inner, at = parlance.Tokenizer.from_file(chatml_tokenizer), -1

        def encode(self, text: str) -> list[int]:
            return self.inner.encode(text)

        def decode(self, ids: list[int]) -> str:
            if self.at in ids:
                raise KeyboardInterrupt
            return self.inner.decode(ids).decode("utf-8", "replace")

    ids = parlance.Tokenizer.from_file(chatml_tokenizer).encode("Yes, well, no.<|im_end|>")
    tokenizer = Raising()
    session = parlance.Session(parlance.Template.builtin("chatml"), tokenizer, [{"role": "user", "content": "Hi"}])
    for first in (0, 2):
        session.sampled(ids[:first])
        known = session.prompt_ids()
        tokenizer.at = ids[first + 1]
        with pytest.raises(KeyboardInterrupt):
            session.sampled(ids[first:])
        tokenizer.at = -1
        assert session.prompt_ids() == known
    message = session.sampled(ids[2:])
    assert message.content.startswith("Yes, well") and session.prompt_ids() == known + ids[2:]
