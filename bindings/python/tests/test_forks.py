"""A child that is forked while other threads are in the engine goes on: no lock of theirs is locked in it for ever."""

from __future__ import annotations

import copy
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import parlance
import pytest
from material import CORPUS, corpus_template

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

CHAT = [
    {"role": "user", "content": "Hi " * 20},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "Yes"}]},
]
_SECONDS = 20


def child_ends(work: Callable[[], Any]) -> bool:
    """Whether a child does this, in some seconds."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(_SECONDS)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_does_not_wait_for_experiments_of_another_thread() -> None:
    of_corpus = "templates/llama.cpp--openai-gpt-oss-120b.jinja"
    text = corpus_template(of_corpus) if (CORPUS / of_corpus).exists() else parlance.Template.builtin("rnj-1").to_dict()["text"]
    for number in range(12):
        prompt = parlance.Template.from_string(text + " " * number).render(CHAT[:1])
        other = threading.Thread(target=prompt.reader)
        other.start()
        time.sleep(0.0005 * number)
        assert child_ends(prompt.reader), number
        other.join()
        assert prompt.reader().finish() == []


@pytest.fixture
def busy() -> Iterator[Callable[[Callable[[int], Any]], None]]:
    """Starts threads that do something over and over, each time with another number."""
    ends = threading.Event()
    threads: list[threading.Thread] = []

    def start(work: Callable[[int], Any]) -> None:
        def run(first: int) -> None:
            number = first
            while not ends.is_set():
                work(number)
                number += 3

        for first in range(3):
            threads.append(threading.Thread(target=run, args=(first,)))
            threads[-1].start()

    yield start
    ends.set()
    for thread in threads:
        thread.join()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_children_of_a_busy_process(chatml_tokenizer: str, busy: Callable[[Callable[[int], Any]], None]) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    shared = parlance.Template.builtin("terminal-agent")
    text = shared.to_dict()["text"]
    rendering = shared.render(CHAT, assistant=True)

    def work(number: int) -> None:
        chat = copy.deepcopy(CHAT)  # without a GIL, CPython itself leaves a dict that a thread waits for locked in a child
        own = parlance.Template.from_string(text + " " * (number % 7))
        for template in (shared, own):
            prompt = template.render(chat, assistant=True, effort=f"{number % 5}")
            prompt.reader(tokenizer=tokenizer).feed("Hi")
            prompt.tokens(tokenizer).mask("content")
            prompt.losses()
            len(rendering), rendering.notes, rendering.spans[-1].path
        own.render(chat[:1]).grammar()
        session = parlance.Session(shared, tokenizer, chat[:1])
        session.sampled(tokenizer.encode("Yes<|im_end|>"))
        session.extend(chat[:1])

    work(0)
    busy(work)
    until = time.monotonic() + 6
    children = 0
    while time.monotonic() < until and children < 60:
        assert child_ends(lambda: [work(number) for number in range(2)]), children
        children += 1
    assert children


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("name", ["sampled", "extend"])
def test_a_child_goes_on_with_a_session_that_a_thread_was_in(name: str) -> None:
    waits, inside, go = False, threading.Event(), threading.Event()

    def wait() -> None:
        if waits and threading.current_thread() is other:
            inside.set()
            assert go.wait(60)

    def text(id: int) -> bytes:
        wait()
        return bytes([id])

    def encode(text: str) -> list[int]:
        wait()
        return list(text.encode())

    tokenizer = parlance.Tokenizer._from_callables(encode, text, [])
    session = parlance.Session(parlance.Template.builtin("chatml"), tokenizer, CHAT[:1])
    session.sampled(list(b"Yes"))
    calls = {"sampled": lambda: session.sampled(list(b"No")), "extend": lambda: session.extend(CHAT[:1])}
    before = session.sample()
    other = threading.Thread(target=calls[name])
    waits = True
    other.start()
    assert inside.wait(60)

    def work() -> None:
        assert session.sample() == before and session.prompt_ids() == before.ids
        calls[name]()
        assert len(session) > len(before.ids)

    try:
        assert child_ends(work)
    finally:
        go.set()
        other.join()
    assert len(session) > len(before.ids)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_children_use_a_reader_that_threads_wait_for(busy: Callable[[Callable[[int], Any]], None]) -> None:
    reader = parlance.ReplyReader("chatml")
    busy(lambda number: reader.feed("é" * (number % 50)))
    until = time.monotonic() + 4
    children = 0
    while time.monotonic() < until and children < 40:
        assert child_ends(lambda: (reader.feed("é"), reader.copy().finish())), children
        children += 1
    assert children
