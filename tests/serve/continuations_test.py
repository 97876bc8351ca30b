#!/usr/bin/env python3
"""What stands behind ids that come from no template: /v1/completions, vLLM's /inference/v1/generate, Ollama's raw prompts.

    continuations_test.py PARLANCE

Answers on vLLM's wire are validated with vLLM's own models, where they are there. Begin reading at main.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from typing import Any

from engine import Asked, Engine, Reply
from gateway import Checks, Gateway
from valid_by_vllm import PYTHON, ROOT, validators
from vllm_models import NEWEST

PROMPT = "<|im_start|>user\nHi<|im_end|>\n"
RENDERERS = ROOT / "build" / "python" / "renderers-0.1.12"
READ_BY_RENDERERS = """
import json, sys
from renderers.client import _parse_completion_logprobs, parse_generate_response
choice = parse_generate_response(sys.stdin.buffer.read())["choices"][0]
print(json.dumps(_parse_completion_logprobs(choice, choice["token_ids"])))
"""


def lines_of(gateway: Gateway, path: str, body: dict[str, Any]) -> list[str]:
    data = json.dumps({"model": "mine", "stream": True} | body).encode()
    request = urllib.request.Request(gateway.url + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return [line.removeprefix("data: ") for line in answer.read().decode().split("\n") if line]


def completions(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    engine.script = lambda asked: Reply("Köln.<|im_end|>")
    _, _, answer = gateway.post("/v1/completions", {"prompt": ["A", "B"], "n": 2, "logprobs": 1, "stop": ["."]})
    checks.equal([one["text"] for one in answer["choices"]], ["Köln"] * 4, "two prompts with two choices each")
    checks.equal([one["index"] for one in answer["choices"]], [0, 1, 2, 3], "their indices")
    logprobs = answer["choices"][0]["logprobs"]
    checks.equal(logprobs["tokens"], ["K", "bytes:\\xc3", "bytes:\\xb6", "l", "n", "."], "tokens of logprobs")
    checks.equal(logprobs["token_logprobs"], [-0.5] * 6, "logprobs")
    checks.equal(logprobs["text_offset"], [0, 1, 2, 2, 3, 4], "where tokens begin, in characters")
    checks.equal(logprobs["top_logprobs"][0], {"K": -0.5}, "alternatives")
    echoed = gateway.post("/v1/completions", {"prompt": "Say ", "echo": True})[2]
    checks.equal(echoed["choices"][0]["text"], "Say Köln.", "the prompt before the reply")
    faults: Any = (
        {"suffix": "x"},
        {"best_of": 3},
        {"echo": True, "logprobs": 1},
        {"n": 17},
        {"prompt": [1 << 30]},
        {"prompt": []},
        {"prompt": ["x"] * 1025},
    )
    for wrong in faults:
        checks.equal(gateway.post("/v1/completions", {"prompt": "A"} | wrong)[0], 400, f"what cannot be done: {str(wrong)[:99]}")
    gateway.post("/v1/completions", {"prompt": "A", "response_format": {"type": "json_object"}})
    checks.that("grammar" in engine.asked[-1].body, "a form of the text is a grammar")
    engine.script = lambda asked: Reply("Yes.<|im_end|>No.")
    for ignores, text in ((False, "Yes."), (True, "Yes.No.")):
        _, _, answer = gateway.post("/v1/completions", {"prompt": "A", "ignore_eos": ignores})
        checks.equal(answer["choices"][0]["text"], text, f"a model's own end, ignore_eos {ignores}")


def places(parlance: str, engine: Engine, checks: Checks) -> None:
    """However many texts a request asks for, it has one place in the queue."""
    engine.script = lambda asked: Reply(pause=0.05)
    body = {"prompt": ["A", "B"], "n": 4}
    with Gateway(parlance, engine.url, "--max-running", "1", "--max-waiting", "1", "--log", "errors") as gateway:
        engine.asked.clear()
        first = threading.Thread(target=gateway.post, args=("/v1/completions", body))
        first.start()
        ends = time.monotonic() + 20
        while not engine.asked and time.monotonic() < ends:
            time.sleep(0.01)
        time.sleep(0.2)  # its other texts wait by now
        checks.equal(gateway.post("/v1/completions", {"prompt": "C"})[0], 200, "another request waits, too")
        first.join()


def by_renderers(answer: Any, checks: Checks) -> None:
    """The client of the package renderers, with which verifiers and prime-rl train, reads it."""
    if not RENDERERS.exists() or not PYTHON.exists():
        print("skipped: the package renderers, which is not here")
        return
    command, paths = [str(PYTHON), "-c", READ_BY_RENDERERS], {"PYTHONPATH": str(RENDERERS), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env=paths, input=json.dumps(answer), capture_output=True, text=True)
    wanted = [one["logprob"] for one in answer["choices"][0]["logprobs"]["content"]]
    checks.that(done.returncode == 0, "read by renderers", done.stderr[-600:])
    checks.equal(json.loads(done.stdout or "[]"), wanted, "logprobs by renderers")


def generate(gateway: Gateway, engine: Engine, checks: Checks) -> list[tuple[str, Any]]:
    """Returns answers with the names of vLLM's models for them."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    ids, reply = engine.vocabulary.encode(PROMPT), engine.vocabulary.encode("Yes.<|im_end|>")
    asked: dict[str, Any] = {"request_id": "r", "token_ids": ids, "return_token_ids": True}
    parameters = {"max_tokens": 50, "n": 2, "seed": 5, "logprobs": 1}
    _, _, answer = gateway.post("/inference/v1/generate", asked | {"sampling_params": parameters})
    checks.equal([one["token_ids"] for one in answer["choices"]], [reply, reply], "sampled ids")
    checks.equal(engine.asked[-1].prompt, ids, "the ids go to the engine as they are")
    checks.equal(answer["prompt_token_ids"], ids, "the prompt's ids")
    checks.equal([one["stop_reason"] for one in answer["choices"]], [None, None], "the end of a reply is no reason")
    told = answer["choices"][0]["logprobs"]["content"]
    checks.equal(told[0]["rank"], 1, "the rank of a token")
    checks.equal([one["token_id"] for one in told], reply, "the ids of logprobs")
    checks.equal([one["token"] for one in told], [f"token_id:{id}" for id in reply], "and by the name that training clients read")
    checks.that(all(one["token"] == f"token_id:{one['token_id']}" for entry in told for one in entry["top_logprobs"]), "alternatives", told)
    by_renderers(answer, checks)
    stopped = gateway.post("/inference/v1/generate", asked | {"sampling_params": {"stop_token_ids": [reply[1]]}})[2]["choices"][0]
    checks.equal((stopped["token_ids"], stopped["stop_reason"]), (reply[:2], reply[1]), "a token that the request names ends it")
    stopped = gateway.post("/inference/v1/generate", asked | {"sampling_params": {"stop": "es"}})[2]["choices"][0]
    checks.equal((stopped["token_ids"], stopped["stop_reason"]), (reply[:3], "es"), "a text that the request names ends it")
    lines = lines_of(gateway, "/inference/v1/generate", asked | {"sampling_params": parameters, "stream_options": {"include_usage": True}})
    checks.equal(lines[-1], "[DONE]", "the end of a stream")
    chunks = [json.loads(line) for line in lines[:-1]]
    for number in range(2):
        parts = [one for chunk in chunks for one in chunk["choices"] if one["index"] == number]
        checks.equal([one for part in parts for one in part["token_ids"]], reply, f"streamed ids of choice {number}")
        checks.equal([part["finish_reason"] for part in parts if part["finish_reason"]], ["stop"], f"the end of choice {number}")
    checks.equal(chunks[-1]["usage"]["completion_tokens"], 2 * len(reply), "usage of a stream")
    status, _, refused = gateway.post(
        "/inference/v1/generate", asked | {"sampling_params": {"structured_outputs": {"structural_tag": "{}"}}}
    )
    checks.equal((status, refused["error"]["type"]), (400, "BadRequestError"), "a grammar that the engine does not take")
    gateway.post("/inference/v1/generate", asked | {"sampling_params": {"structured_outputs": {"json": {"type": "object"}}}})
    checks.that("grammar" in engine.asked[-1].body, "a schema becomes the engine's grammar")
    faults: Any = ({"token_ids": []}, {"token_ids": [-1]}, {"sampling_params": []}, {"output_mode": "text"}, {"features": {}})
    for wrong in faults:
        checks.equal(gateway.post("/inference/v1/generate", asked | {"sampling_params": {}} | wrong)[0], 400, f"wrong: {wrong}")
    answers = [("GenerateTokensResponse", answer), ("ErrorResponse", refused)]
    return answers + [("GenerateTokensStreamResponse", chunk) for chunk in chunks]


def render_and_back(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """What /render gives goes to /inference/v1/generate as it is, and what that gives to /derender."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    chat = {"model": "mine", "messages": [{"role": "user", "content": "Hi"}]}
    rendered = gateway.post("/v1/chat/completions/render", chat)[2]
    answer = gateway.post("/inference/v1/generate", rendered)[2]
    body = {"model": "mine", "generate_response": answer, "chat_request": chat}
    shown = gateway.post("/v1/chat/completions/derender", body)[2]
    checks.equal(shown["choices"][0]["message"]["content"], "Yes.", "render, generate, derender")
    checks.equal(engine.asked[-1].prompt, rendered["token_ids"], "the rendered ids reach the engine")


def raw_prompts(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    body = {"model": "mine", "prompt": PROMPT, "raw": True}
    _, _, answer = gateway.post("/api/generate", body | {"stream": False})
    checks.equal((answer["response"], answer["done_reason"]), ("Yes.", "stop"), "Ollama's raw prompt")
    checks.equal(engine.vocabulary.decode(engine.asked[-1].prompt), PROMPT, "a raw prompt has no template")
    parts = [json.loads(line) for line in lines_of(gateway, "/api/generate", body)]
    checks.equal("".join(part["response"] for part in parts), "Yes.", "Ollama's raw prompt, streamed")
    checks.equal([part["done"] for part in parts], [False] * (len(parts) - 1) + [True], "the last line is the end")
    _, _, answer = gateway.post("/api/generate", {"prompt": PROMPT, "raw": True, "stream": False, "format": "json"})
    checks.that("grammar" in engine.asked[-1].body and answer["model"] == "mine", f"a raw prompt whose reply has a form: {answer}")
    checks.equal(gateway.post("/api/generate", body | {"suffix": "x"})[0], 400, "a raw prompt with a suffix")


def captured(parlance: str, engine: Engine, checks: Checks) -> None:
    """Each has a record, which replays, and a row for training."""

    def script(asked: Asked) -> Reply:
        return Reply("Yes.<|im_end|>", status=500 if len(asked.prompt) == 3 else 200)

    engine.script = script
    ids = engine.vocabulary.encode(PROMPT)
    with tempfile.TemporaryDirectory() as folder:
        with Gateway(parlance, engine.url, "--capture", folder) as gateway:
            gateway.post("/v1/completions", {"prompt": ["Hi", "Ho"], "n": 2, "logprobs": 0}, {"x-session-id": "mine"})
            lines_of(gateway, "/v1/completions", {"prompt": "Hi", "stop": ["s"]})
            sampling = {"stop_token_ids": [engine.vocabulary.bytes[ord("s")]]}
            gateway.post("/inference/v1/generate", {"token_ids": ids, "sampling_params": sampling})
            gateway.post("/api/generate", {"prompt": PROMPT, "raw": True, "stream": False})
            gateway.post("/v1/completions", {"prompt": "abc"})
        files = list(pathlib.Path(folder).glob("*.jsonl"))
        records = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        turns = [record for record in records if record["record"] == "turn"]
        checks.equal(sorted(turn["status"] for turn in turns), ["answered"] * 7 + ["engine_failure"], "records")
        named = next(turn for turn in turns if turn["api"] == "generate")
        size = len(named["sampled"])
        checks.equal(named["kinds"], [["content", 0, size - 1], ["stop", size - 1, size]], "a stop that the request named is no content")
        checks.equal(len([turn for turn in turns if turn["session"] == "mine"]), 4, "records of a session that the client named")
        replayed = subprocess.run([parlance, "replay", folder], capture_output=True, text=True)
        checks.equal(replayed.returncode, 0, f"replay: {replayed.stdout} {replayed.stderr}")
        exported = subprocess.run([parlance, "capture", "export", folder], capture_output=True, text=True).stdout
        rows = [json.loads(line) for line in exported.splitlines()]
        checks.equal(len(rows), 7, "rows for training")
        for row in rows:
            learnt = [one for one, mask in zip(row["ids"], row["loss_mask"], strict=True) if mask]
            checks.that(engine.vocabulary.decode(learnt).startswith("Yes"[: len(learnt)]), f"what is learnt: {row}")
        listed = subprocess.run([parlance, "capture", "list", folder], capture_output=True, text=True).stdout
        checks.equal(len(listed.splitlines()), 8, "the list of a capture")
        file = next(file for file in files if "stop_token_ids" in file.read_text())
        text = file.read_text()
        file.write_text(text.replace('"text": "Ye"', '"text": "Yo"'))
        checks.equal(subprocess.run([parlance, "replay", str(file)], capture_output=True).returncode, 1, "a record that was changed")


def main() -> int:
    checks, parlance, begun = Checks(), sys.argv[1], validators(NEWEST)
    with Engine() as engine:
        with Gateway(parlance, engine.url) as gateway:
            completions(gateway, engine, checks)
            answers = generate(gateway, engine, checks)
            render_and_back(gateway, engine, checks)
            raw_prompts(gateway, engine, checks)
        places(parlance, engine, checks)
        captured(parlance, engine, checks)
    for validator in begun:
        checks.equal(validator.end(answers), "", "answers on vLLM's wire")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
