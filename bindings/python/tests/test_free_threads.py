"""Many threads in one object at once. What any thread may use is safe without a lock of the interpreter (PEP 703), and what one thread at a
time may use takes the calls one after the other or refuses them. With that lock these tests hold as well, only sooner."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import parlance
import pytest
from parlance._known import Conversations

WITHOUT_GIL = not getattr(sys, "_is_gil_enabled", lambda: True)()

T = TypeVar("T")
THREADS = 8
TEMPLATE = parlance.Template.builtin("terminal-agent")
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}


def chat(number: int = 0) -> list[dict[str, Any]]:
    call = {
        "id": "a",
        "type": "function",
        "function": {"name": "look", "arguments": {"at": "é" * 40, "deep": {"er": [number, None, True]}}},
    }
    return [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": f"{number} 你好 " + "x" * 600}]},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "Nothing there é"},
    ]


def at_once(*works: Callable[[], T], threads: int = THREADS) -> list[T]:
    """What they give, each in a thread, of which there are at least so many. Raises what one of them raises."""
    wanted = [works[number % len(works)] for number in range(max(threads, len(works)))]
    begin, given, raised = threading.Barrier(len(wanted)), list[T](), list[BaseException]()

    def run(work: Callable[[], T]) -> None:
        begin.wait()
        try:
            given.append(work())
        except BaseException as error:
            raised.append(error)

    all_threads = [threading.Thread(target=run, args=(work,)) for work in wanted]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    if raised:
        raise raised[0]
    return given


@contextlib.contextmanager
def meanwhile(change: Callable[[], Any]) -> Iterator[None]:
    """Another thread makes this change again and again."""
    done = threading.Event()

    def run() -> None:
        while not done.is_set():
            change()

    other = threading.Thread(target=run)
    other.start()
    try:
        yield
    finally:
        done.set()
        other.join()


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Another thread has its turn as often as can be."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


# ---- the interpreter


@pytest.mark.parametrize("threads", [1, THREADS])
def test_an_import_does_not_switch_the_lock_on(threads: int) -> None:
    code = f"""
import sys, threading
is_on = getattr(sys, "_is_gil_enabled", lambda: True)
before = is_on()
def work():
    import parlance, parlance.agent, parlance.chat, parlance.session
    assert parlance.Template.builtin("chatml").render([{{"role": "user", "content": "Hi"}}]).text
failed = []
threading.excepthook = lambda raised: failed.append(raised.exc_value)
all_threads = [threading.Thread(target=work) for _ in range({threads})]
[thread.start() for thread in all_threads], [thread.join() for thread in all_threads]
assert not failed and is_on() == before, (failed, before, is_on())
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not WITHOUT_GIL, reason="with a GIL no thread waits for another in sys.modules")
def test_a_name_of_the_package_is_looked_up_once() -> None:
    """Threads that ask for it later do not wait for each other in sys.modules."""
    code = "import parlance; assert 'Session' not in vars(parlance); assert parlance.Session is vars(parlance)['Session']"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_sub_interpreter_is_refused_and_does_no_harm() -> None:
    within = f"""
import sys
sys.path[:] = {sys.path!r}
try:
    import parlance
except ImportError as error:
    assert "does not support loading in subinterpreters" in str(error), error
else:
    raise AssertionError("it was imported")
"""
    code = f"""
import sys
interpreters = __import__("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
import parlance
for isolated in (True, False):
    name = "isolated" if isolated else "legacy"
    one = interpreters.create(name) if sys.version_info >= (3, 13) else interpreters.create(isolated=isolated)
    failed = interpreters.run_string(one, {within!r})
    assert failed is None, failed
    interpreters.destroy(one)
    assert parlance.Template.builtin("chatml").render([{{"role": "user", "content": "Hi"}}]).text
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


# ---- what any thread may use


def test_threads_render_one_conversation() -> None:
    messages = chat()
    expected = TEMPLATE.render(messages, [TOOL]).text

    def work() -> set[str]:
        return {TEMPLATE.render(messages, [TOOL], extra="é").text for _ in range(100)}

    assert all(texts == {expected} for texts in at_once(work))


def test_threads_ask_a_rendering_for_the_first_time() -> None:
    long = [{"role": "user", "content": "é" * 300_000}]
    for messages in [long, *[chat(number) for number in range(40)]]:
        prompt = TEMPLATE.render(messages, assistant=True)
        other = TEMPLATE.render(messages, assistant=True)
        texts = at_once(lambda prompt=prompt: prompt.text)  # type: ignore[misc]
        assert len({id(text) for text in texts}) == 1 and texts[0] == other.text
        facts = at_once(
            lambda prompt=prompt: (len(prompt), [(s.begin, s.end, s.path) for s in prompt.spans], prompt.kinds, repr(prompt))  # type: ignore[misc]
        )
        assert all(one == facts[0] for one in facts)


def changes(messages: list[Any], tools: list[Any]) -> Iterator[Callable[[], Any]]:
    """Ways to change what is rendered meanwhile."""
    call, part, tool = messages[2]["tool_calls"][0]["function"], messages[1]["content"][0], tools[0]["function"]

    def members(of: dict[str, Any]) -> None:
        for number in range(30):
            of["é" * number] = ["é" * number, {"a": number}]
        for number in range(30):
            del of["é" * number]

    def other_values() -> None:
        for number in range(30):
            call["arguments"] = {str(number): "é" * number, "at": [number] * number}
            part["text"] = "é" * (600 + number)
            tool["parameters"] = {"type": "object", "properties": {"é" * number: {"type": "string"}}}

    def items() -> None:
        messages.append({"role": "user", "content": "é" * 700})
        messages[1]["content"].append({"type": "text", "text": "é"})
        tools.append({"type": "function", "function": {"name": "other", "parameters": {}}})
        del messages[4:], messages[1]["content"][1:], tools[1:]

    yield lambda: members(messages[1])
    yield lambda: members(call["arguments"])
    yield other_values
    yield items


@pytest.mark.parametrize("way", range(4))
def test_what_is_rendered_changes_meanwhile(way: int) -> None:
    messages, tools = chat(), [{**TOOL, "function": {**TOOL["function"]}}]  # type: ignore[dict-item]

    def work() -> int:
        made = 0
        for _ in range(150):
            with contextlib.suppress(parlance.Error):  # a dict changed its size while it was read, say
                made += bool(TEMPLATE.render(messages, tools, extra=messages).text)
        return made

    with meanwhile(list(changes(messages, tools))[way]):
        at_once(work, threads=4)
    assert TEMPLATE.render(messages, tools).text


def test_threads_find_out_how_a_template_has_its_replies() -> None:
    text = TEMPLATE.text
    for number in range(3):
        made = parlance.Template.from_string(text + " " * number)
        prompt = made.render(chat(), [TOOL])
        readers = at_once(lambda prompt=prompt: prompt.reader(), lambda made=made: made.reply_format())  # type: ignore[misc]
        assert len({str(one) for one in readers}) == 2
        grammars = at_once(lambda prompt=prompt: prompt.grammar(tool_choice="required").to_text())  # type: ignore[misc]
        assert len(set(grammars)) == 1


def test_threads_encode_with_one_tokenizer(chatml_tokenizer: str) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    prompt = TEMPLATE.render(chat(), [TOOL], assistant=True)
    expected = prompt.tokens(tokenizer)

    def work() -> None:
        for _ in range(20):
            tokens = TEMPLATE.render(chat(), [TOOL], assistant=True).tokens(tokenizer)
            assert tokens.ids == expected.ids and tokens.labels == expected.labels and tokens.kinds == expected.kinds
            assert tokenizer.decode(tokens.ids).decode() == prompt.text

    at_once(work)


class Letters:
    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def decode(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))


def test_threads_share_a_tokenizer_in_python() -> None:
    prompt, letters = TEMPLATE.render(chat()), Letters()
    expected = [ord(letter) for letter in prompt.text]
    assert all(ids == expected for ids in at_once(lambda: prompt.tokens(letters).ids))
    assert len({id(parlance.tokenizer_of(letters)) for _ in range(3)}) == 1


def test_threads_pickle_what_they_share(chatml_tokenizer: str) -> None:
    prompt = TEMPLATE.render(chat(), [TOOL], assistant=True)
    for _ in range(3):
        tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)  # whose fingerprint is made when first asked for
        assert len(set(at_once(lambda tokenizer=tokenizer: pickle.dumps(tokenizer)))) == 1  # type: ignore[misc]
    tokens = prompt.tokens(tokenizer)
    for again in at_once(lambda: pickle.loads(pickle.dumps((TEMPLATE, prompt, tokens))), threads=4):
        assert again[0].text == TEMPLATE.text and again[1].text == prompt.text and again[2].ids == tokens.ids


def test_threads_unpickle_losses() -> None:
    loss = TEMPLATE.render([{"role": "user", "content": "Hi", "extra": "lost"}], surely_unknown="x").losses()[0]
    kind, subject, *rest = loss.__getstate__()  # type: ignore[attr-defined]

    def work(number: int) -> None:
        for turn in range(1500):
            word = b"%d %d" % (number, turn)
            made = type(loss).__new__(type(loss))
            made.__setstate__((kind, word, *rest))  # type: ignore[attr-defined]
            assert made.subject == word.decode()

    at_once(*[lambda number=number: work(number) for number in range(THREADS)])  # type: ignore[misc]
    assert loss.subject == subject.decode()


def test_threads_share_what_a_renderer_knows(quick_switches: None) -> None:
    known = Conversations(most=3000)

    def work(thread: int) -> None:
        tools = [{"type": "function", "function": {"name": f"look_{thread}"}}]
        for number in range(1500):
            ids, messages = [thread, number % 20] * 50, [{"role": "user", "content": f"{thread} {number % 20}"}]
            known.add(ids, messages, tools)
            assert known.get(ids) in [((messages[0],), tools), (None, None)]  # others may have taken its place
            assert len(known) <= 31 and len(known.copy()) <= 31

    at_once(*[lambda thread=thread: work(thread) for thread in range(THREADS)])  # type: ignore[misc]
    assert len(known) == 30


def test_a_tokenizer_is_asked_for_its_method_while_another_thread_uninstalls() -> None:
    class Templated:
        def apply_chat_template(self) -> str:
            return "its own"

    class Members(dict[str, Any]):
        """Another thread takes the method off as soon as somebody has seen that it is there."""

        def __contains__(self, name: object) -> bool:
            is_there = super().__contains__(name)
            self.pop("_parlance_installed", None)
            return is_there

    tokenizer = parlance.install(Templated())
    tokenizer.__dict__ = Members(vars(tokenizer))
    assert tokenizer.apply_chat_template.__name__ == "apply_chat_template"


# ---- what one thread at a time may use


def test_a_reader_takes_pieces_of_threads_one_after_the_other() -> None:
    reader = parlance.ReplyReader("chatml")
    pieces = 1000

    def feed() -> int:
        return sum(len(event.text) for _ in range(pieces) for event in reader.feed("é" * 3))

    def look() -> int:
        for _ in range(pieces):
            assert set(reader.message.content) <= {"é"} and set(reader.copy().message.content) <= {"é"}
            assert len(reader.kinds) <= 1 and set(reader._message_at_end().content) <= {"é"}
        return 0

    told = sum(at_once(*[feed] * 4, *[look] * 4))
    told += sum(len(event.text) for event in reader.finish())
    assert reader.message.content == "é" * (4 * pieces * 3) and told == 4 * pieces * 3


def test_a_reader_takes_ids_of_threads_one_after_the_other(chatml_tokenizer: str) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    reader = parlance.ReplyReader("chatml", tokenizer=tokenizer)
    ids = tokenizer.encode("Yes é ")
    at_once(lambda: [reader.feed(ids) for _ in range(50)])
    reader.finish()
    assert reader.message.content == ("Yes é " * 50 * THREADS).strip() or reader.message.content == "Yes é " * 50 * THREADS


def refused_or(work: Callable[[], Any], error: type[Exception] = RuntimeError) -> bool:
    """Whether it was done: another thread may be in the way."""
    try:
        work()
    except error as refusal:
        assert "in use already" in str(refusal), refusal
        return False
    return True


def test_a_writer_refuses_a_second_thread() -> None:
    event = parlance.ReplyReader("chatml").feed("Yes")[0]
    writer = parlance.ReplyApiWriter("openai", id="a", model="b")
    deltas = parlance.ReplyDeltas()
    writer.begin()
    done = at_once(lambda: sum(refused_or(lambda: writer.add(event)) for _ in range(100)))
    at_once(lambda: [refused_or(lambda: deltas.add(event)) for _ in range(100)], lambda: [refused_or(writer.to_dict) for _ in range(20)])
    writer.finish()
    assert writer.to_dict()["choices"][0]["message"]["content"] == "Yes" * sum(done)
    assert deltas.finish_reason


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork()")
def test_a_child_uses_what_a_thread_of_its_parent_used() -> None:
    code = """
import os, threading, parlance
begun, ends = threading.Event(), threading.Event()
reader = parlance.ReplyReader("terminal-agent", tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}])
events = reader.feed('<tool_call>\\n{"name": "f", "arguments": {}}\\n</tool_call>') + reader.finish()
writer = parlance.ReplyApiWriter("openai", make_call_id=lambda: (begun.set(), ends.wait(), "a")[-1])
writer.begin()
thread = threading.Thread(target=writer.add, args=(events,))
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    writer.to_dict()
    writer.add_logprobs([])
    os._exit(7)
ends.set()
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "7\n", ran


def test_a_writer_refuses_a_call_within_a_call() -> None:
    said: list[str] = []

    def name() -> str:
        if not WITHOUT_GIL:
            writer.to_dict()  # changes nothing
        try:
            writer.begin()
        except RuntimeError as error:
            said.append(str(error))
        return "a"

    reader = parlance.ReplyReader("terminal-agent", tools=[TOOL])
    events = reader.feed('<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>') + reader.finish()
    writer = parlance.ReplyApiWriter("openai", make_call_id=name)
    writer.begin()
    writer.add(events)
    writer.add_logprobs((event.text, -1.0, []) for event in events if writer.to_dict())
    writer.finish()
    assert said == ["this writer is in use already: one call at a time, of one thread"]
    assert writer.to_dict()["choices"][0]["message"]["tool_calls"][0]["id"] == "a"


def test_a_list_of_writers_changes_meanwhile() -> None:
    def ended() -> parlance.ReplyApiWriter:
        writer = parlance.ReplyApiWriter("openai")
        writer.begin()
        writer.finish()
        return writer

    writers = [ended() for _ in range(4)]

    def change() -> None:
        writers.append(ended())
        writers.pop(0)

    with meanwhile(change):
        for _ in range(200):
            assert len(parlance.ReplyApiWriter.choices_to_dict(writers)["choices"]) >= 3


def test_a_session_refuses_a_second_thread(chatml_tokenizer: str) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    session = parlance.Session(TEMPLATE, tokenizer, chat()[:2])
    before, ids = len(session), tokenizer.encode("Yes")

    def sample() -> int:
        done = 0
        for _ in range(50):
            done += refused_or(lambda: session.sampled(ids))
            refused_or(session.prompt_ids)
            refused_or(session.branch)
            refused_or(session.sample)
        return done

    assert len(session) == before if not (done := sum(at_once(sample))) else len(session) == before + done * len(ids)
    assert session.prompt_ids()[before:] == ids * done
    assert len(session.sample().ids) == len(session)


def test_branches_go_on_in_threads_of_their_own(chatml_tokenizer: str) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    session = parlance.Session(TEMPLATE, tokenizer, chat()[:2])

    def go_on(branch: parlance.Session, number: int) -> list[int]:
        branch.sampled(tokenizer.encode(f"{number}<|im_end|>"))
        branch.extend([{"role": "user", "content": "And now?"}])
        branch.sampled(tokenizer.encode("Yes<|im_end|>"))
        return [number, *branch.prompt_ids()]

    branches = [session.branch() for _ in range(THREADS)]
    alone = [go_on(session.branch(), number) for number in range(THREADS)]
    found = at_once(*[lambda one=one, number=number: go_on(one, number) for number, one in enumerate(branches)])  # type: ignore[misc]
    assert sorted(found) == sorted(alone)


def test_another_thread_sees_the_messages_of_an_agent_that_runs() -> None:
    def reply(messages: list[Any], tools: Any) -> dict[str, Any]:
        if len(messages) > 60:
            return {"role": "assistant", "content": "Done"}
        function = {"name": "look", "arguments": '{"at": "é"}'}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": str(len(messages)), "type": "function", "function": function}]}

    def look(at: str) -> str:
        """Looks at a place.

        Args:
            at: The place.
        """
        return at * 300 + str(len(agent.messages))

    agent = parlance.Agent(reply, tools=[look], goal="Do it", max_turns=100, repeats=100)
    seen: list[int] = []
    with meanwhile(lambda: seen.append(len(agent.messages))):
        for _ in range(5):
            assert agent.run().reason == "done"
    assert agent.messages[-1]["content"] == "Done" and max(seen) > 1
