#!/usr/bin/env python3
"""What `parlance serve --capture` records: each acknowledged turn, also after kill -9 and on a full disk; `parlance replay`.

    capture_test.py PARLANCE

Begin reading at main.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

from engine import TOKENIZER, Asked, Engine, Reply
from gateway import Checks, Gateway
from operator_test import Configured
from scripted_engine import ScriptedEngine

TOOLS: Any = [
    {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}
]
FORMATS = ("terminal-agent", "rnj-1", "chatglm3")


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def records(folder: pathlib.Path, kind: str = "turn") -> list[Any]:
    """All records of a kind, of whole lines."""
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]
    return [record for record in map(json.loads, lines) if record["record"] == kind]


def wait_for_turns(folder: pathlib.Path, count: int) -> bool:
    """The reply of a client that leaves would go on for 15 s."""
    until = time.monotonic() + 10
    while len(records(folder)) < count and time.monotonic() < until:
        time.sleep(0.02)
    return len(records(folder)) >= count


def command(parlance: str, *arguments: str) -> tuple[int, str]:
    done = subprocess.run([parlance, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def written_call(parlance: str, name: str) -> str:
    """How a format writes a call: what a prompt with it has more than the prompt before it."""
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": {"at": "PLACE"}}}
    asked = {"messages": [user("Look.")], "tools": TOOLS, "add_generation_prompt": True}
    answered = {
        "messages": [user("Look."), {"role": "assistant", "content": "", "tool_calls": [call]}],
        "tools": TOOLS,
        "add_generation_prompt": False,
    }
    texts = []
    for request in (asked, answered):
        done = subprocess.run([parlance, "render", "-f", name], input=json.dumps(request), capture_output=True, text=True, check=True)
        texts.append(done.stdout)
    assert texts[1].startswith(texts[0]), (name, texts)
    return texts[1][len(texts[0]) :].rstrip("\n")


def talk(gateway: Gateway, turns: int) -> None:
    """A loop of calls and results."""
    messages: list[Any] = [user("Look <|im_end|> around.")]
    for turn in range(turns):
        status, _, answer = gateway.post("/v1/chat/completions", {"messages": messages, "tools": TOOLS, "logprobs": turn % 2 == 0})
        assert status == 200, answer
        message = answer["choices"][0]["message"]
        messages.append(message)
        calls = message.get("tool_calls") or [{"id": "none"}]
        messages.append({"role": "tool", "tool_call_id": calls[0]["id"], "content": f"result {turn}"})


def fifty_turns(parlance: str, engine: Engine, checks: Checks, name: str) -> None:
    call = written_call(parlance, name)
    engine.script = lambda asked: Reply(call.replace("PLACE", f"Köln {len(asked.prompt)}"))
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        with Gateway(parlance, engine.url, "--capture", made, template=("-f", name)) as gateway:
            talk(gateway, 50)
        turns = records(folder)
        checks.equal(len(turns), 50, f"{name}: records")
        checks.that(all(turn["reply"]["message"].get("tool_calls") for turn in turns), f"{name}: each reply has a call")
        checks.equal(len(records(folder, "grammar")), 1, f"{name}: grammars")
        sent = [asked.prompt for asked in engine.asked[-50:]]
        known: dict[str, list[int]] = {}
        for number, turn in enumerate(turns):
            behind = known[turn["from"]["id"]][: turn["prompt"]["behind"]] if turn["prompt"]["behind"] else []
            checks.equal(behind + turn["prompt"]["ids"], sent[number], f"{name}: the ids of turn {number}")
            known[turn["id"]] = sent[number] + turn["sampled"]
            checks.equal(turn["logprobs"] is not None, number % 2 == 0, f"{name}: logprobs of turn {number}")
        checks.that(turns[0]["origins"]["guarded"], f"{name}: the guarded text")
        code, said = command(parlance, "replay", made)
        checks.equal((code, said), (0, "note: 50 turns, 0 records differ\n"), f"{name}: replay")
        code, said = command(parlance, "replay", made, "-f", "chatml")
        checks.that(code == 1 and ": prompt: token " in said, f"{name}: replay with another template: {said[:300]}")
        checks.that(turns[-1]["prompt"]["behind"] > 0 or name != "terminal-agent", f"{name}: the last turn goes on from the one before")
        file = next(folder.glob("*.jsonl"))
        whole = file.read_bytes()
        for at in (10, len(whole) // 3, len(whole) - 100):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            checks.equal(command(parlance, "replay", str(file))[0] in (1, 3), True, f"{name}: replay after byte {at} changed")


def listed(parlance: str, engine: Engine, checks: Checks) -> None:
    """The index: made, brought up to date, and made again where it is damaged or knows more than there is."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)

        def rows() -> list[Any]:
            code, said = command(parlance, "capture", "list", made, "--json")
            checks.equal(code, 0, f"capture list: {said[:300]}")
            return [json.loads(line) for line in said.splitlines()]

        with Gateway(parlance, engine.url, "--capture", made) as gateway:
            for number in range(3):
                gateway.post("/v1/chat/completions", {"messages": [user("Hi")]}, {"x-session-id": f"s{number}"})
            checks.equal([row["session"] for row in rows()], ["s0", "s1", "s2"], "the index of a folder in use")
            gateway.post("/v1/chat/completions", {"messages": [user("Hi")]}, {"x-session-id": "s1"})
            checks.equal([row["session"] for row in rows()], ["s0", "s1", "s2", "s1"], "an index that was behind")
        whole = rows()
        for row in whole:
            text = (folder / row["file"]).read_bytes()[row["offset"] :].splitlines()[0]
            checks.equal(json.loads(text)["id"], row["id"], "the offset of a record")
            checks.that(row["line"] > 1 and row["prompt_tokens"] > 0 and row["sampled"] == 5, "figures of a row")
        (folder / "index.sqlite").write_bytes(b"This is no database. " * 1000)
        checks.equal(rows(), whole, "a damaged index is made again")
        (folder / "index.sqlite").unlink()
        checks.equal(rows(), whole, "a lost index is made again")
        for version in (1, 3):
            with contextlib.closing(sqlite3.connect(folder / "index.sqlite")) as index:
                index.executescript(f"UPDATE turns SET flags = 'of another version'; PRAGMA user_version = {version}")
            checks.equal(rows(), whole, f"an index of version {version} is made again")
        (folder / whole[0]["file"]).unlink()
        file = folder / whole[1]["file"]
        file.write_bytes(b"\n".join(file.read_bytes().splitlines()[:2]) + b"\n")
        checks.equal([row["session"] for row in rows()], ["s1", "s2"], "files that are gone, and one that is shorter")
        checks.equal(command(parlance, "capture", "list", made + "/nowhere")[0], 3, "a folder that is not there")


def damaged(parlance: str, engine: Engine, checks: Checks) -> None:
    """Records that are not what was written: named by list and export, also by a list that has no news."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        with Gateway(parlance, engine.url, "--capture", made) as gateway:
            for number in range(3):
                gateway.post("/v1/chat/completions", {"messages": [user("Hi")]}, {"x-session-id": f"s{number % 2}"})
        checks.equal((folder / "index.sqlite").exists(), False, "no index yet")
        checks.equal(command(parlance, "capture", "list", made)[0], 0, "a list of what is whole")
        checks.equal((folder / "index.sqlite").stat().st_mode & 0o777, 0o600, "who may read the index")
        (folder / "index.sqlite").unlink()
        file = next(folder.glob("s0.*"))
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(lines[0] + lines[1].replace(b"Hi", b"Ho") + lines[2])
        (folder / "garbage.jsonl").write_text("This is no record.\n" * 9)
        for _ in range(2):
            code, said = command(parlance, "capture", "list", made)
            checks.equal(code, 1, f"a list of what is damaged: {said}")
            checks.that(f"{file.name}:2: the record's checksum does not match; it is skipped" in said, f"one record: {said}")
            checks.that("garbage.jsonl:1: the record's checksum does not match, nor do those of 8 more" in said, f"garbage: {said}")
            checks.equal(said.count("answered"), 2, f"the rest: {said}")
        code, said = command(parlance, "capture", "export", made)
        checks.equal((code, "s0." in said and ":2: the record" in said), (1, True), f"export: {said[-300:]}")
        file.write_bytes(lines[0])
        (folder / "garbage.jsonl").unlink()
        checks.equal(command(parlance, "capture", "list", made)[0], 0, "a list where the damage is gone")


def removed(parlance: str, engine: Engine, checks: Checks) -> None:
    """A file that is removed or moved under a gateway is made anew, and has all that is needed to read it."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    for how in ("removed", "moved", "replaced"):
        with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as other:
            folder = pathlib.Path(made)
            with Gateway(parlance, engine.url, "--capture", made) as gateway:
                messages: list[Any] = []
                for turn in range(4):
                    messages += [user("And?")]
                    members = {"n": 2} if turn == 2 else {}
                    body = {"messages": messages, "response_format": {"type": "json_object"}, **members}
                    engine.script = lambda asked: Reply('{"a": 1}<|im_end|>')
                    checks.equal(gateway.post("/v1/chat/completions", body, {"x-session-id": "one"})[0], 200, f"{how}: turn {turn}")
                    messages += [{"role": "assistant", "content": '{"a": 1}'}]
                    if turn == 1:
                        file = next(folder.glob("*.jsonl"))
                        text = file.read_bytes()
                        file.unlink() if how == "removed" else file.rename(pathlib.Path(other) / file.name)
                        if how == "replaced":
                            file.write_bytes(text)
            lines = [json.loads(line)["record"] for line in file.read_bytes().splitlines()]
            wanted = ["head", "grammar", "turn", "turn"] if how == "replaced" else ["head", "grammar"]
            checks.equal(lines, [*wanted, "turn", "turn", "turn"], f"{how}: records of the new file")
            turns = records(folder)[-3:]
            if how != "replaced":
                checks.equal([turn["prompt"]["behind"] for turn in turns[:2]], [0, 0], f"{how}: both choices have all ids")
            checks.that(turns[2]["prompt"]["behind"] > 0, f"{how}: the turn behind them")
            checks.equal(command(parlance, "capture", "export", made)[0], 0, f"{how}: export")
            if how != "removed":
                checks.equal(command(parlance, "replay", other, made)[0], 0, f"{how}: replay")


def exported(parlance: str, engine: Engine, checks: Checks) -> None:
    """Training rows equal what a Session in Python gives for the same ids."""
    call = written_call(parlance, "terminal-agent")
    reasoned = "<think>\nHm, Köln.\n</think>\n\n" + call
    engine.script = lambda asked: Reply((call if len(asked.prompt) % 2 else reasoned).replace("PLACE", f"Köln {len(asked.prompt)}"))
    with tempfile.TemporaryDirectory() as made:
        with Gateway(parlance, engine.url, "--capture", made) as gateway:
            talk(gateway, 6)
        turns = records(pathlib.Path(made))
        code, said = command(parlance, "capture", "export", made)
        rows = [json.loads(line) for line in said.splitlines()]
        each = [json.loads(line) for line in command(parlance, "capture", "export", made, "--per", "turn")[1].splitlines()]
        checks.equal((code, len(each)), (0, len(turns)), "rows of turns")
        checks.equal(len(rows), 1 + sum(turn["prefix_break"] is not None for turn in turns), "rows of sessions")
        for row in rows + each:
            sizes = {len(row[name]) for name in ("ids", "labels", "loss_mask", "kinds", "turns", "logprobs")}
            checks.equal(sizes, {len(row["ids"])}, "a value for each id")
            labels = [id if learnt else -100 for id, learnt in zip(row["ids"], row["loss_mask"], strict=True)]
            checks.equal(row["labels"], labels, "labels")
        for row, turn in zip(each, turns, strict=True):
            checks.equal(row["loss_mask"], [0] * turn["prompt"]["tokens"] + [1] * len(turn["sampled"]), "the mask of a turn")
        sessions_in_python(checks, turns, rows)


def sessions_in_python(checks: Checks, turns: list[Any], rows: list[Any]) -> None:
    try:
        import parlance
    except ImportError:
        print("the Python package is not built: rows are not compared with its sessions")
        return
    template = parlance.Template.builtin("terminal-agent")
    tokenizer = parlance.Tokenizer.from_file(str(TOKENIZER / "tokenizer.json"))
    session, number = None, 0
    for turn in turns:
        messages = json.loads(turn["request"])["messages"]
        if turn["prompt"]["behind"] == 0:
            if session is not None:
                compare_sample(checks, session.sample(), rows[number])
                number += 1
            session = parlance.Session(template, tokenizer, messages, tools=TOOLS)
        else:
            session.extend(messages[-1:])
        checks.equal(len(session.prompt_ids()), turn["prompt"]["tokens"], "a session in Python has the same prompt")
        session.sampled(turn["sampled"], turn["logprobs"])
    compare_sample(checks, session.sample(), rows[number])
    checks.equal(number + 1, len(rows), "each row was compared")


def compare_sample(checks: Checks, sample: Any, row: Any) -> None:
    for name in ("ids", "loss_mask", "kinds", "turns", "logprobs"):
        checks.equal(row[name], list(getattr(sample, name)), f"{name} of a session in Python")


def forged(parlance: str, engine: Engine, checks: Checks) -> None:
    """Records whose hash fits and whose content does not: each member is compared."""
    engine.script = lambda asked: Reply("<think>\nHm.\n</think>\n\nYes.<|im_end|>")
    with tempfile.TemporaryDirectory() as made:
        with Gateway(parlance, engine.url, "--capture", made) as gateway:
            gateway.post("/v1/chat/completions", {"messages": [user("Hi")], "tools": TOOLS})
        file = next(pathlib.Path(made).glob("*.jsonl"))
        whole = file.read_text(encoding="utf-8")
        lines = whole.splitlines()
        changes: dict[str, Any] = {
            "request": lambda turn: turn["now"].append(1),
            "prompt": lambda turn: turn["prompt"]["ids"].append(10),
            "grammar": lambda turn: turn["grammar"].update(sha256="0" * 64),
            "reply": lambda turn: turn["reply"]["message"].update(content="No."),
            "kinds": lambda turn: turn["kinds"][0].__setitem__(2, 3),
            "origins": lambda turn: turn["origins"]["spans"].pop(),
        }
        for what, change in changes.items():
            turn = json.loads(lines[-1])
            del turn["check"]
            change(turn)
            text = json.dumps(turn)[:-1]
            sealed = text + f', "check": "{hashlib.sha256(text.encode()).hexdigest()[:32]}"}}'
            file.write_text("\n".join([*lines[:-1], sealed]) + "\n", encoding="utf-8")
            code, said = command(parlance, "replay", made)
            checks.that(code == 1 and f":{len(lines)}: {what}: " in said, f"a forged {what}: {said[:300]}")
        file.write_text(whole, encoding="utf-8")
        checks.equal(command(parlance, "replay", made)[0], 0, "the record as it was")


def files_of_a_capture(parlance: str, engine: Engine, checks: Checks) -> None:
    """A replay in another folder finds the files that were named from here, and tells of any of the tokenizer's that has changed."""
    engine.script = lambda asked: Reply()
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as elsewhere:
        files, captured = pathlib.Path(made) / "files", pathlib.Path(made) / "captured"
        shutil.copytree(TOKENIZER, files)
        (files / "word.txt").write_text("One")
        here = pathlib.Path(os.path.relpath(files))
        options = ("--var-file", f"word={here / 'word.txt'}", "--capture", str(captured))
        with Gateway(parlance, engine.url, *options, tokenizer=str(here / "tokenizer.json")) as gateway:
            gateway.post("/v1/chat/completions", {"messages": [user("Hi")]})
        hashed = [pathlib.Path(file["path"]).name for file in records(captured, "head")[0]["tokenizer"]["files"]]
        checks.equal(hashed, ["tokenizer.json", "tokenizer_config.json", "generation_config.json"], "files with hashes")

        def replayed() -> tuple[int, str]:
            done = subprocess.run(
                [str(pathlib.Path(parlance).resolve()), "replay", str(captured)], capture_output=True, text=True, cwd=elsewhere
            )
            return done.returncode, done.stdout + done.stderr

        checks.equal(replayed()[0], 0, f"a replay elsewhere: {replayed()[1][:300]}")
        (files / "added_tokens.json").write_text("{}")
        code, said = replayed()
        checks.that(
            code == 0 and "the tokenizer's files are not those of the capture" in said, f"a file beside the tokenizer's: {said[:300]}"
        )


def all_apis(parlance: str, engine: Engine, checks: Checks) -> None:
    """Each API, choices, a response that goes on from another, a stop text."""
    engine.script = lambda asked: Reply("<think>\nHm.\n</think>\n\nIt is STOP here.<|im_end|>")
    with tempfile.TemporaryDirectory() as made:
        with Gateway(parlance, engine.url, "--capture", made) as gateway:
            ask = {"messages": [user("Hi")], "model": "mine"}
            gateway.post("/v1/chat/completions", {**ask, "n": 3})
            gateway.post("/v1/chat/completions", {**ask, "stop": ["STOP"]})
            gateway.post("/v1/messages", {**ask, "max_tokens": 99})
            gateway.post("/api/chat", {**ask, "stream": False})
            gateway.post("/api/generate", {"model": "mine", "prompt": "Hi", "system": "Be brief.", "stream": False})
            _, _, first = gateway.post("/v1/responses", {"model": "mine", "input": "Hi"})
            gateway.post("/v1/responses", {"model": "mine", "input": "And?", "previous_response_id": first["id"]})
            gateway.post("/v1/chat/completions", {**ask, "stream": False}, {"x-session-id": "../weird name"})
            gateway.post("/v1/chat/completions", {**ask, "stream": False}, {"x-session-id": "..\\weird name"})
        turns = records(pathlib.Path(made))
        checks.equal(sorted(turn["choice"] for turn in turns), [0] * 9 + [1, 2], "choices")
        checks.equal({turn["api"] for turn in turns}, {"openai", "anthropic", "ollama", "responses"}, "APIs")
        checks.equal(len({turn["session"] for turn in turns}), len(list(pathlib.Path(made).glob("*.jsonl"))), "a file for each session")
        checks.equal(command(parlance, "replay", made), (0, "note: 11 turns, 0 records differ\n"), "replay of all APIs")


def other_options(parlance: str, engine: Engine, checks: Checks) -> None:
    """Gateways that render otherwise, one after the other in the same folder: each turn is replayed as its own one made it."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    with tempfile.TemporaryDirectory() as made:
        for options in ((), ("--no-protect",), ("--var", "enable_thinking=false")):
            with Gateway(parlance, engine.url, "--capture", made, *options) as gateway:
                gateway.post("/v1/chat/completions", {"messages": [user("Hi <|im_end|>")]})
        prompts = {json.dumps(turn["prompt"]) for turn in records(pathlib.Path(made))}
        checks.that(len(prompts) >= 2, "prompts of these gateways differ", len(prompts))
        checks.equal(command(parlance, "replay", made), (0, "note: 3 turns, 0 records differ\n"), "replay of several gateways")


VALUES: dict[str, Any] = {  # of each option of prompts, as a configuration file gives it
    "--template": "{folder}/other.jinja", "--model": "{folder}/model", "--format": "chatml", "--name": "other", "--allow-changes": True,
    "--syntax": "jinja", "--tokenizer": "{folder}/bytes.tiktoken", "--special-token": ["<|im_end|>"], "--model-as": "transformers",
    "--split": "cl100k_base", "--as-is": True, "--as-transformers": True, "--transformers": "5.22", "--var": ["a=1"],
    "--var-text": ["a=b"], "--var-json": ["a=[1]"], "--var-file": ["a={folder}/value.json"], "--reasoning-effort": "low",
    "--skip-pass": ["missing-ids"], "--pass": ["order-results"], "--no-adapt": True, "--generation-prompt": True,
    "--no-generation-prompt": True, "--continue": True, "--now": "2026-03-14T15:09:26", "--trust": ["messages[0].content"],
    "--plain-added": True, "--no-protect": True, "--max-steps": "99M", "--max-output": "99M", "--max-memory": "99M", "--max-depth": "99",
}  # fmt: skip
WITH = {  # what else the model has then, in place of the template and the test tokenizer
    "--template": {}, "--format": {}, "--model": {}, "--name": {"--model": "{folder}/model"},
    "--special-token": {"--template": "{folder}/chat.jinja", "--tokenizer": "{folder}/bytes.tiktoken", "--split": "cl100k_base"},
    "--tokenizer": {"--template": "{folder}/chat.jinja", "--split": "cl100k_base"},
    "--split": {"--template": "{folder}/chat.jinja", "--tokenizer": "{folder}/bytes.tiktoken"},
}  # fmt: skip
OF_NO_PROMPT = {
    "--config", "--backend", "--backend-key-file", "--no-engine-check", "--model-name", "--reasoning-name", "--max-prompt-tokens",
    "--max-messages", "--max-reply-tokens", "--max-reasoning-tokens", "--max-running", "--max-waiting", "--first-byte", "--stall",
}  # fmt: skip


def model_of(name: str, given: dict[str, Any], engine: str, folder: pathlib.Path) -> str:
    options = {"--model-name": name, "--backend": f"llama-server={engine}", "--tokenizer": str(TOKENIZER), **given}
    lines = [f"{option.removeprefix('--')} = {json.dumps(value)}" for option, value in options.items()]
    return "\n".join(["[[model]]", *lines]).replace("{folder}", str(folder)) + "\n"


def files_of_models(folder: pathlib.Path) -> None:
    source = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    (folder / "chat.jinja").write_text(source)
    (folder / "other.jinja").write_text("Other: " + source)
    (folder / "value.json").write_text("[1]")
    lines = [base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256)]
    (folder / "bytes.tiktoken").write_bytes(b"".join(lines))
    shutil.copytree(TOKENIZER, folder / "model")
    templates = [{"name": "default", "template": source}, {"name": "other", "template": "Other: " + source}]
    (folder / "model" / "tokenizer_config.json").write_text(json.dumps({"chat_template": templates}))


def each_option_of_prompts(parlance: str, engine: Engine, checks: Checks) -> None:
    """The head of a capture has each option that decides about prompts: without one, a replay would render otherwise."""
    said = subprocess.run([parlance, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    names = [name for name in re.findall(r"^  (?:-\w,)?(--[a-z-]+) ", said[: said.index("  --host ")], re.MULTILINE) if name != "--help"]
    checks.equal(set(names), set(VALUES) | OF_NO_PROMPT, "the options of a model, with those that decide about no prompt")
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        files_of_models(folder)
        plain = {"--template": "{folder}/chat.jinja"}
        wishes = {"plain": plain, **{name: WITH.get(name, plain) | {name: value} for name, value in VALUES.items()}}
        config = folder / "models.toml"
        config.write_text("".join(model_of(name, given, engine.url, folder) for name, given in wishes.items()))
        with Configured(parlance, config, "--port", "0", "--log", "errors", "--capture", made + "/capture") as gateway:
            for name in wishes:
                begun = [{"role": "assistant", "content": "Ye"}] if name == "--continue" else []
                status, _, answer = gateway.post("/v1/chat/completions", {"model": name, "messages": [user("Hi"), *begun]})
                checks.equal(status, 200, f"{name}: {answer}")
        sources = {head["model"]: json.dumps(head["source"]) for head in records(folder / "capture", "head")}
    checks.equal(set(sources), set(wishes), "the heads of the models")
    for name, value in VALUES.items():
        text = str(value[0] if isinstance(value, list) else value).replace("{folder}", str(folder))
        is_there = text in sources[name] or (isinstance(value, bool) and sources[name] != sources["plain"])
        checks.that(is_there, f"{name} is in the head: {sources[name]}")


def every_engine(parlance: str, checks: Checks) -> None:
    """Engines of other kinds, with and without ids, and with grammars of other languages."""
    engine = ScriptedEngine(TOKENIZER).start()
    for kind in ("llama-server", "vllm", "sglang", "openai-completions", "ollama"):
        with tempfile.TemporaryDirectory() as made:
            with Gateway(parlance, "", "--backend", f"{kind}={engine.url}", "--capture", made) as gateway:
                messages: list[Any] = [user("Hi")]
                for number in range(3):
                    call = f'<tool_call>{{"name": "look", "arguments": {{"at": "here {number}"}}}}</tool_call><|im_end|>'
                    engine.script({"text": call})
                    status, _, answer = gateway.post("/v1/chat/completions", {"messages": messages, "tools": TOOLS})
                    checks.equal(status, 200, f"{kind}: {answer}")
                    messages += [answer["choices"][0]["message"], {"role": "tool", "content": f"result {number}"}]
            turns = records(pathlib.Path(made))
            checks.that(all(turn["reply"]["message"].get("tool_calls") for turn in turns), f"{kind}: calls")
            code, said = command(parlance, "replay", made)
            checks.equal((code, said), (0, "note: 3 turns, 0 records differ\n"), f"{kind}: replay")
            checks.equal(command(parlance, "capture", "export", made)[0], 0, f"{kind}: export")
    engine.stop()


def failed_turns(parlance: str, engine: Engine, checks: Checks) -> None:
    def script(asked: Asked) -> Reply:
        first = len(engine.asked) == 1
        return Reply("A long answer.<|im_end|>", die_after=4) if first else Reply("A long answer. " * 20 + "<|im_end|>", pause=0.05)

    engine.script = script
    engine.asked.clear()
    with tempfile.TemporaryDirectory() as made:
        with Gateway(parlance, engine.url, "--capture", made) as gateway:
            status, _, _ = gateway.post("/v1/chat/completions", {"messages": [user("Hi")]})
            body = json.dumps({"messages": [user("Hi")], "stream": True}).encode()
            with urllib.request.urlopen(urllib.request.Request(gateway.url + "/v1/chat/completions", body)) as answer:
                answer.readline()
            checks.that(wait_for_turns(pathlib.Path(made), 2), "a turn whose client leaves has its record at once")
        turns = sorted(records(pathlib.Path(made)), key=lambda turn: turn["time"])
        checks.equal([turn["status"] for turn in turns], ["engine_failure", "client_gone"], "records of turns that failed")
        checks.that(status >= 500 and turns[0]["error"] and len(turns[0]["sampled"]) == 4, "what the engine did")
        checks.equal(command(parlance, "replay", made)[0], 0, "replay of turns that failed")


def ended(parlance: str, engine: Engine, checks: Checks) -> None:
    """A second SIGTERM ends turns that are under way: they have their record, and nothing crashes."""
    engine.script = lambda asked: Reply("A long answer.<|im_end|>", stall_after=3)
    with tempfile.TemporaryDirectory() as made:
        with Gateway(parlance, engine.url, "--capture", made, "--inspect") as gateway:
            body = json.dumps({"messages": [user("Hi")], "stream": True}).encode()
            with urllib.request.urlopen(urllib.request.Request(gateway.url + "/v1/chat/completions", body)) as answer:
                answer.readline()
                gateway.process.send_signal(signal.SIGTERM)
                gateway.logged("draining")  # two signals at once are one
                gateway.process.send_signal(signal.SIGTERM)
                checks.equal(gateway.process.wait(20), 0, "the exit code")
        turns = records(pathlib.Path(made))
        checks.equal([turn["status"] for turn in turns], ["client_gone"], "the turn that was under way")


def killed(parlance: str, engine: Engine, checks: Checks) -> None:
    """kill -9 under load, several times with one folder. Streams count as acknowledged at their last line."""
    engine.script = lambda asked: Reply("Yes, indeed.<|im_end|>")
    acknowledged: set[str] = set()
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        for trial in range(3):
            gateway = Gateway(parlance, engine.url, "--capture", made, "--log", "errors")

            def client(number: int, gateway: Gateway = gateway) -> None:
                messages: list[Any] = [user(f"I am {number}.")]
                with contextlib.suppress(Exception):
                    while True:
                        body = {"messages": messages, "stream": number % 2 == 0}
                        headers = {"x-session-id": f"client {number}"}
                        request = urllib.request.Request(gateway.url + "/v1/chat/completions", json.dumps(body).encode(), headers)
                        with urllib.request.urlopen(request, timeout=20) as answer:
                            text = answer.read().decode()
                        if number % 2 == 0:
                            if "data: [DONE]" not in text:
                                return
                            acknowledged.add(json.loads(text.split("data: ")[1])["id"])
                        else:
                            acknowledged.add(json.loads(text)["id"])
                        messages += [{"role": "assistant", "content": "Yes, indeed."}, user("And?")]

            clients = [threading.Thread(target=client, args=(number,)) for number in range(8)]
            for one in clients:
                one.start()
            until = time.monotonic() + 20
            while len(acknowledged) < 40 * (trial + 1) and time.monotonic() < until:
                time.sleep(0.01)
            gateway.process.send_signal(signal.SIGKILL)
            gateway.process.communicate()
            for one in clients:
                one.join()
        have = {turn["id"] for turn in records(folder)}
        checks.that(len(acknowledged) > 30, f"{len(acknowledged)} acknowledged turns")
        checks.equal(acknowledged - have, set(), "acknowledged turns that are not in the capture")
        code, said = command(parlance, "replay", made)
        checks.equal(code, 0, f"replay after kill -9: {said[:500]}")


def torn(parlance: str, engine: Engine, checks: Checks) -> None:
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    with tempfile.TemporaryDirectory() as made:
        for number in range(2):
            with Gateway(parlance, engine.url, "--capture", made) as gateway:
                gateway.post("/v1/chat/completions", {"messages": [user("Hi")]}, {"x-session-id": "one"})
            file = next(pathlib.Path(made).glob("*.jsonl"))
            whole = file.read_bytes()
            if number == 0:
                file.write_bytes(whole + whole.splitlines()[-1][:777])
                checks.equal(command(parlance, "replay", made)[0], 0, "replay with a torn line")
        checks.equal([json.loads(line)["record"] for line in whole.splitlines()], ["head", "turn", "turn"], "a torn line is cut off")


@contextlib.contextmanager
def small_files(most: int) -> Iterator[None]:
    """Programs that start meanwhile can make no larger file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def full(parlance: str, engine: Engine, checks: Checks) -> None:
    """A file that cannot grow: 507, and nothing of the record that failed is left."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    for optional in (False, True):
        with tempfile.TemporaryDirectory() as made:
            with small_files(100_000):
                gateway = Gateway(parlance, engine.url, "--capture", made, *(["--capture-optional"] if optional else []))
            with gateway:
                ask = {"messages": [user("x" * 15_000)]}
                answers = [gateway.post("/v1/chat/completions", ask, {"x-session-id": "one"}) for _ in range(6)]
                refused = [answer for status, _, answer in answers if status == 507]
                checks.equal(len(refused) > 0, not optional, f"507 {[status for status, _, _ in answers]}")
                checks.that(gateway.metric("parlance_capture_failures") > 0, "failures in /metrics")
                fresh = gateway.post("/v1/chat/completions", {"messages": [user("Hi")]}, {"x-session-id": "two"})
                checks.equal(fresh[0], 200, "another session goes on")
                said = gateway.end()
            checks.that(any(line["event"] == "capture_failure" for line in said), "the log says so")
            if not optional:
                checks.equal(refused[0]["error"]["code"], "capture_failed", "the error")
            text = [file.read_bytes() for file in pathlib.Path(made).glob("*.jsonl")]
            checks.each(text, lambda one: one.endswith(b"\n"), "nothing is left of a record that failed")
            acknowledged = len([status for status, _, _ in answers if status == 200]) + 1
            checks.equal(len(records(pathlib.Path(made))) == acknowledged, not optional, "records of acknowledged turns")
            checks.equal(command(parlance, "replay", made)[0], 0, "replay of what is left")


def tokenizer_with(tokens: int, folder: pathlib.Path) -> str:
    """The test tokenizer with more added tokens, as some vocabularies have thousands."""
    shutil.copytree(TOKENIZER, folder)
    file = folder / "tokenizer.json"
    tokenizer = json.loads(file.read_text(encoding="utf-8"))
    like = tokenizer["added_tokens"][0]
    tokenizer["added_tokens"] += [like | {"id": 1000 + number, "content": f"<|unused_{number}|>"} for number in range(tokens)]
    file.write_text(json.dumps(tokenizer), encoding="utf-8")
    return str(folder)


def many_tokens(parlance: str, engine: Engine, checks: Checks) -> None:
    """A record of a long prompt takes no search for each token of the vocabulary."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    ask = {"messages": [user("<|unused " * 100_000)]}
    seconds = []
    with tempfile.TemporaryDirectory() as made:
        tokenizer = tokenizer_with(20_000, pathlib.Path(made) / "tokenizer")
        for options in ([], ["--capture", made + "/capture"]):
            with Gateway(parlance, engine.url, *options, tokenizer=tokenizer) as gateway:
                begun = time.monotonic()
                checks.equal(gateway.post("/v1/chat/completions", ask)[0], 200, "a long prompt")
                seconds.append(time.monotonic() - begun)
        checks.equal(len(records(pathlib.Path(made) / "capture")), 1, "the record of a long prompt")
    checks.that(seconds[1] < 4 * seconds[0] + 2, f"a turn takes {seconds[0]:.2f} s, and {seconds[1]:.2f} s with its record")


def main() -> int:
    parlance, checks = sys.argv[1], Checks()
    with Engine() as engine:
        for name in FORMATS:
            fifty_turns(parlance, engine, checks, name)
        all_apis(parlance, engine, checks)
        other_options(parlance, engine, checks)
        each_option_of_prompts(parlance, engine, checks)
        forged(parlance, engine, checks)
        files_of_a_capture(parlance, engine, checks)
        every_engine(parlance, checks)
        listed(parlance, engine, checks)
        damaged(parlance, engine, checks)
        removed(parlance, engine, checks)
        exported(parlance, engine, checks)
        failed_turns(parlance, engine, checks)
        ended(parlance, engine, checks)
        killed(parlance, engine, checks)
        torn(parlance, engine, checks)
        full(parlance, engine, checks)
        many_tokens(parlance, engine, checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
