#!/usr/bin/env python3
"""What Ollama's clients find of Ollama besides chats: `ollama_test.py PARLANCE`. Begin reading at main."""

from __future__ import annotations

import contextlib
import datetime
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from gateway import Checks
from scripted_engine import ScriptedEngine, Tokenizer
from served import TOKENIZER, Gateway

Json = dict[str, Any]
CHAT, GENERATE = "/api/chat", "/api/generate"
IDS = Tokenizer(TOKENIZER)
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"


@contextlib.contextmanager
def served(*options: str, form: str = "chatml") -> Iterator[tuple[ScriptedEngine, Gateway]]:
    engine = ScriptedEngine(TOKENIZER).start()
    try:
        engine.script({"text": "Yes.<|im_end|>"})
        with Gateway(sys.argv[1], f"llama-server={engine.url}", *options, form=form) as gateway:
            yield engine, gateway
    finally:
        engine.stop()


def prompts_of(engine: ScriptedEngine) -> list[list[int]]:
    return [one.body["prompt"] for one in engine.asked("/completion")]


def loading(checks: Checks) -> None:
    """A request without messages asks for the model alone, and no engine is asked."""
    with served() as (engine, gateway):
        for path, none in ((CHAT, {}), (CHAT, {"messages": []}), (CHAT, {"messages": None}), (GENERATE, {}), (GENERATE, {"prompt": ""})):
            for keep, reason in ((None, "load"), ("5m", "load"), (-1, "load"), (0, "unload"), ("0", "unload"), ("0s", "unload")):
                for stream in (None, False, True):
                    answer = gateway.ask(path, {"model": "m", **none, "keep_alive": keep, "stream": stream})
                    checks.equal(
                        (answer.status, answer.json["done"], answer.json["done_reason"]), (200, True, reason), f"{path} {none} {keep}"
                    )
                    checks.equal("response" in answer.json, path == GENERATE, f"{path}: its own form")
        for path in (CHAT, GENERATE):
            refused = gateway.ask(path, {})
            checks.equal((refused.status, refused.json["error"]), (400, "model is required"), path)
        checks.equal(prompts_of(engine), [], "no engine was asked")
        checks.equal(gateway.ask(GENERATE, {"model": "m", "prompt": "Hi", "stream": False}).json["done_reason"], "stop", "a prompt")


def contexts(checks: Checks) -> None:
    """The ids of /api/generate's answers, from which requests go on."""
    ask: Json = {"model": "m", "stream": False, "system": "Be brief."}
    with served() as (engine, gateway):
        first = gateway.ask(GENERATE, {**ask, "prompt": "Hi"}).json
        sampled = IDS.encode("Yes.<|im_end|>")
        checks.equal(first["context"], prompts_of(engine)[-1] + sampled, "the ids of the prompt and of the reply")
        second = gateway.ask(GENERATE, {**ask, "prompt": "And?", "context": first["context"]}).json
        checks.equal(prompts_of(engine)[-1][: len(first["context"])], first["context"], "the next prompt begins with them")
        text = IDS.bytes(prompts_of(engine)[-1]).decode()
        turns = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYes.<|im_end|>\n"
        checks.equal(text, turns + "<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n", "the system message stands once")
        other = gateway.ask(GENERATE, {**ask, "prompt": "Else?", "context": first["context"]}).json
        checks.that(other["context"] != second["context"], "two may go on from one")
        streamed = gateway.ask(GENERATE, {**ask, "prompt": "Hi", "stream": True}).text.splitlines()
        lines = [json.loads(line) for line in streamed]
        checks.equal(
            [line.get("context") for line in lines], [*[None] * (len(lines) - 1), first["context"]], "in the last line of a stream"
        )
        refused = gateway.ask(GENERATE, {**ask, "prompt": "And?", "context": [1, 2, 3]})
        checks.that(refused.status == 400 and "context" in refused.json["error"], "one that is not known", refused.text)
        for wrong in ([-1], ["x"], [10**7]):
            checks.equal(gateway.ask(GENERATE, {**ask, "prompt": "And?", "context": wrong}).status, 400, f"no ids: {wrong}")
        for nothing in ([], None):
            checks.equal(gateway.ask(GENERATE, {**ask, "prompt": "And?", "context": nothing}).status, 200, "none")
        cut = gateway.ask(GENERATE, {**ask, "prompt": "Hi", "options": {"stop": ["es"]}}).json
        checks.that("context" not in cut, "a reply that the client was not told whole has none", cut)
        chat = gateway.ask(CHAT, {"model": "m", "stream": False, "messages": [{"role": "user", "content": "Hi"}]}).json
        checks.that("context" not in chat, "a chat has none", chat)
    with tempfile.TemporaryDirectory() as folder:
        template = pathlib.Path(folder) / "chat.jinja"
        template.write_text("{{ 'It has one. ' if context is defined }}" + TEMPLATE)
        with served("-t", str(template), form="") as (engine, gateway):
            context = gateway.ask(GENERATE, {**ask, "prompt": "Hi"}).json["context"]
            for given in ([], context):
                answer = gateway.ask(GENERATE, {**ask, "prompt": "And?", "context": given})
                text = IDS.bytes(prompts_of(engine)[-1]).decode()
                checks.that(answer.status == 200 and "It has one." not in text, "no variable of the template's", answer.text + text)
    with tempfile.TemporaryDirectory() as folder:
        with served("--capture", folder) as (_, gateway):
            first = gateway.ask(GENERATE, {**ask, "prompt": "Hi"}).json
            gateway.ask(GENERATE, {**ask, "prompt": "And?", "context": first["context"]})
        done = subprocess.run([sys.argv[1], "replay", folder], capture_output=True, text=True, check=False)
        checks.equal(done.returncode, 0, f"a replay: {done.stdout}{done.stderr}")


def options(checks: Checks) -> None:
    """Integers may have a point, as Ollama takes them; other numbers are as they are."""
    given: Json = {"num_predict": 8.7, "top_k": 40.0, "seed": 3e2, "temperature": 0.5}
    with served() as (engine, gateway):
        for path, more in ((CHAT, {"messages": [{"role": "user", "content": "Hi"}]}), (GENERATE, {"prompt": "Hi", "raw": True})):
            answer = gateway.ask(path, {"model": "m", **more, "options": given, "stream": False})
            checks.equal(answer.status, 200, f"{path}: {answer.text[:200]}")
            body = engine.asked("/completion")[-1].body
            sent = [body["n_predict"], body["top_k"], body["seed"], body["temperature"]]
            checks.equal(repr(sent), "[8, 40, 300, 0.5]", f"{path}: integers, without what is behind the point")
            for wrong in ({"top_k": "4"}, {"seed": 1e300}, {"num_predict": True}):
                checks.equal(gateway.ask(path, {"model": "m", **more, "options": wrong}).status, 400, f"{path}: {wrong}")
            gateway.ask(path, {"model": "m", **more, "options": {"num_predict": 0}})
            checks.that(engine.asked("/completion")[-1].body.get("n_predict", 4096) > 100, f"{path}: 0 is no limit")
        chat = gateway.ask("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 8.7})
        checks.equal(chat.status, 400, "OpenAI's integers are integers")


def wrong_members(checks: Checks) -> None:
    """What Ollama refuses of the members that it knows."""
    chat: Json = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": False}
    raw: Json = {"model": "m", "prompt": "Hi", "raw": True, "stream": False}
    good: tuple[Any, ...] = (0, -1, 2.5, "0", "5m", "-1s", "1h30m", "1.5h", "10ms", None)
    bad: tuple[Any, ...] = ("", "5", "x", "5 m", "m", "1..5s", "1h3", True, [], {})
    with served() as (engine, gateway):
        for values, status in ((good, 200), (bad, 400)):
            for keep in values:
                checks.equal(gateway.ask(CHAT, {**chat, "keep_alive": keep}).status, status, f"keep_alive {keep!r}")
        for name, wrong in (("raw", 1), ("truncate", "x"), ("shift", 0), ("logprobs", 2)):
            for path, body in ((CHAT, chat), (GENERATE, {**raw, "raw": False})):
                answer = gateway.ask(path, {**body, name: wrong})
                checks.that(answer.status == 400 and answer.json["error"].startswith(f"{name} must be"), f"{path} {name}", answer.text)
        count = len(prompts_of(engine))
        for name, value in (("system", "x"), ("template", "x"), ("context", [1])):
            answer = gateway.ask(GENERATE, {**raw, name: value})
            checks.that(answer.status == 400 and name in answer.json["error"], f"raw with {name}", answer.text)
        checks.equal(len(prompts_of(engine)), count, "no engine was asked")
        for name, nothing in (("system", ""), ("template", None), ("context", [])):
            checks.equal(gateway.ask(GENERATE, {**raw, name: nothing}).status, 200, f"raw without {name}")


def raw_logprobs(checks: Checks) -> None:
    """Those of a raw prompt's reply, whole and in lines; the token that ends it has none, as with Ollama."""
    raw: Json = {"model": "m", "prompt": "Hi", "raw": True, "logprobs": True, "top_logprobs": 2}
    with served() as (_, gateway):
        whole = gateway.ask(GENERATE, {**raw, "stream": False}).json
        checks.equal("".join(one["token"] for one in whole["logprobs"]), "Yes.", "tokens")
        checks.each(whole["logprobs"], lambda one: one["logprob"] < 0 and len(one["top_logprobs"]) == 2, "their figures")
        lines = [json.loads(line) for line in gateway.ask(GENERATE, raw).text.splitlines()]
        checks.equal([one for line in lines for one in line.get("logprobs", [])], whole["logprobs"], "in lines")
        checks.that("logprobs" not in gateway.ask(GENERATE, {**raw, "logprobs": False, "top_logprobs": 0, "stream": False}).json, "none")


def gguf(**members: str | int) -> bytes:
    """A file with these keys alone; '__' stands for a dot."""

    def text(of: str) -> bytes:
        return struct.pack("<Q", len(of.encode())) + of.encode()

    made = b"GGUF" + struct.pack("<IQQ", 3, 0, len(members))
    for name, value in members.items():
        made += text(name.replace("__", "."))
        made += struct.pack("<I", 8) + text(value) if isinstance(value, str) else struct.pack("<II", 4, value)
    return made


def shown(checks: Checks) -> None:
    with served(form="terminal-agent") as (_, gateway):
        told = gateway.ask("/api/show", {"model": "m"}).json
        checks.that(
            "tools" in told["template"] and "tools" in told["capabilities"], "the template, which litellm reads", told["template"][:99]
        )
        running = gateway.ask("/api/ps").json["models"][0]
        until = datetime.datetime.strptime(running["expires_at"], "%Y-%m-%dT%H:%M:%SZ")
        checks.that(until.year >= datetime.datetime.now().year, "an engine keeps its model", running)
        checks.equal((running["size"], running["details"]["format"], running["context_length"]), (0, "", 4096), "no file")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "m.gguf")
        file.write_bytes(
            gguf(general__architecture="llama", general__size_label="135M", general__file_type=15, tokenizer__chat_template=TEMPLATE)
        )
        with contextlib.ExitStack() as stack:
            engine = ScriptedEngine(TOKENIZER).start()
            stack.callback(engine.stop)
            engine.script({"text": "Yes.<|im_end|>"})
            gateway = stack.enter_context(Gateway(sys.argv[1], f"llama-server={engine.url}", "-m", str(file), form=""))
            told = gateway.ask("/api/show", {"model": "m"}).json
            details = {"parent_model": "", "format": "gguf", "family": "llama", "families": ["llama"], "parameter_size": "135M",
                       "quantization_level": "Q4_K_M"}  # fmt: skip
            checks.equal((told["template"], told["details"]), (TEMPLATE, details), "of a GGUF file")
            for path in ("/api/tags", "/api/ps"):
                listed = gateway.ask(path).json["models"][0]
                checks.equal((listed["size"], listed["details"]), (file.stat().st_size, details), path)
            written = datetime.datetime.strptime(told["modified_at"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
            checks.equal(int(written.timestamp()), int(file.stat().st_mtime), "when it was written")


def main() -> int:
    checks = Checks()
    for test in (loading, contexts, options, wrong_members, raw_logprobs, shown):
        test(checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
