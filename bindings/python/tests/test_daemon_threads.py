"""An interpreter that ends while daemon threads are in parlance ends as it does where they are in Python's own code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_BEGIN = """
import collections, threading, time
import parlance

template = parlance.Template.builtin("terminal-agent")
chat = [{"role": "user", "content": "x" * 1000}] * 50
text = "Hello world " * 2000

def busy():
    return sum(range(1000))
"""
# The threads have imported all they need before the interpreter ends: CPython without a GIL may itself wait for ever at its end where
# threads import at that moment. One of them may be given the lock of sys.modules then, which it never lets go of.
_END = """
begun = threading.Semaphore(0)

def run():
    work()
    begun.release()
    while True:
        work()

for _ in range(2):
    threading.Thread(target=run, daemon=True).start()
for _ in range(2):
    begun.acquire()
time.sleep(0.1)
"""
_TOKENIZER = """
tokenizer = parlance.Tokenizer.from_file({folder!r})
reply = tokenizer.encode("Yes<|im_end|>")
"""

WORK = {
    "plain Python": "def work(): return [busy() for _ in range(9)]",
    "render": "def work(): return template.render(chat)",
    "losses": "def work(): return template.render(chat).losses()",
    "encode": _TOKENIZER + "def work(): return tokenizer.encode(text)",
    "tokens": _TOKENIZER + "def work(): return template.render(chat).tokens(tokenizer)",
    "a reader that threads share": """
reader = parlance.ReplyReader("chatml")
reader.feed("é" * 5_000_000)

def work(): return reader.copy()
""",
    "derive": "def work(): return parlance.derive(template)",
    "check": "def work(): return parlance.check(template, count=20)",
    "to_dict": "def work(): return template.to_dict()",
    "session": _TOKENIZER
    + """
def work():
    session = parlance.Session(template, tokenizer, chat[:1])
    session.sampled(reply)
    session.extend(chat[:1])
""",
    "a tokenizer in Python": """
class Letters:
    def encode(self, text):
        busy()
        return [ord(letter) for letter in text]

    def decode(self, ids):
        return "".join(map(chr, ids))

tokenizer = parlance.tokenizer_of(Letters())

def work(): return template.render(chat[:4]).tokens(tokenizer)
""",
    "an installed tokenizer": """
import transformers

tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file={folder!r} + "/tokenizer.json")
tokenizer.chat_template = template.to_dict()["text"]
parlance.install(tokenizer, protect=True, mask="assistant")

def work(): return tokenizer.apply_chat_template(chat[:9], return_dict=True)
""",
    "objects with code": """
class Slow(collections.UserDict):
    def __getitem__(self, key):
        busy()
        return super().__getitem__(key)

def work(): return template.render([Slow(role="user", content="x")] * 30)
""",
    "errors": """
refusing = parlance.Template.from_string("{{{{ raise_exception('no') }}}}")

def work():
    try:
        refusing.render(chat)
    except parlance.Error:
        pass
""",
    "an agent that replies": """
def reply(messages, tools):
    busy()
    return "Yes"

def work(): return parlance.Agent(reply, goal="x", verify=False, events=lambda event: busy(), stopped=lambda: not busy()).run()
""",
    "an agent that samples": _TOKENIZER
    + """
def sample(ids, grammar, stops):
    for token in reply:
        busy()
        yield token

def work(): return parlance.Agent(template, tokenizer, sample, goal="x", verify=False).run()
""",
}
_AT_ONCE = 5


@pytest.mark.parametrize("name", list(WORK))
def test_the_process_ends_as_it_should(name: str, chatml_tokenizer: str) -> None:
    if "transformers" in WORK[name]:
        pytest.importorskip("transformers")
    script = _BEGIN + WORK[name].format(folder=chatml_tokenizer) + _END
    command = [sys.executable, "-W", "ignore", "-c", script]
    quiet = {**os.environ, "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1"}
    started = [subprocess.Popen(command, env=quiet, stderr=subprocess.PIPE, text=True) for _ in range(_AT_ONCE)]
    ends = [(one.communicate(timeout=120)[1][-500:], one.returncode) for one in started]
    assert ends == [("", 0)] * _AT_ONCE
