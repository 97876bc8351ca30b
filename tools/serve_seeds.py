"""Seeds for the fuzz targets of the gateway, for fuzz_seeds.py: requests of clients, answers of engines, files of captures.

Their first bytes are choices, which the files of fuzz/ describe. Begin reading at seeds.
"""

import hashlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "serve"))
import valid_requests  # noqa: E402

RAW = 255  # in place of a route: the rest is sent as it is
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<think>", "</think>"]
RAW_REQUESTS = [
    b"GET /health HTTP/1.1\r\nHost: h\r\n\r\n" * 3,
    b"GET /metrics HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"HEAD /v1/models HTTP/1.1\r\nHost: h\r\n\r\nOPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
    b'POST /tokenize HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 15\r\n\r\n{"prompt": "a"}',
    b'POST /tokenize?a=b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nf;x=y\r\n{"prompt": "a"}\r\n0\r\nT: t\r\n\r\n',
    b"POST /tokenize HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n{}abc",
    b"POST /tokenize HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\n{}",
    b"POST /tokenize HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"GET /v1/models HTTP/1.1\r\nHost: [::1]:8080\r\nOrigin: http://h.example:80\r\n\r\n",
    b"POST http://h/v1/messages HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer k\r\nx-api-key: k\r\nContent-Length: 2\r\n\r\n{}",
]


def ids_of(text):
    """Those of the targets' tokenizer: bytes, and control tokens behind them."""
    ids = []
    for part in re.split("(" + "|".join(map(re.escape, CONTROL)) + ")", text):
        ids += [256 + CONTROL.index(part)] if part in CONTROL else list(part.encode())
    return ids


def request_seeds():
    for number, (_, path) in enumerate(valid_requests.routes()):
        for at, body in enumerate(valid_requests.bodies_of(path) or [None]):
            text = b"" if body is None else json.dumps(body).encode()
            yield bytes([(at % 2) * 128, number]) + text
    for number, request in enumerate(RAW_REQUESTS):
        yield bytes([number % 3, RAW]) + request


def http(body, status=200, chunk=0):
    head = f"HTTP/1.1 {status} OK\r\nContent-Type: text/event-stream\r\n"
    if not chunk:
        return f"{head}Content-Length: {len(body.encode())}\r\n\r\n{body}".encode()
    data = body.encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(data[at : at + chunk]), data[at : at + chunk]) for at in range(0, len(data), chunk))
    return f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunks + b"0\r\n\r\n"


def events(*all_events, done=False):
    return "".join(f"data: {json.dumps(one)}\n\n" for one in all_events) + ("data: [DONE]\n\n" if done else "")


def llama(ids):
    probability = [{"id": ids[0], "logprob": -0.5, "top_logprobs": [{"id": ids[0], "logprob": -0.5}, {"id": 66, "logprob": -2}]}]
    yield {"tokens": ids[:1], "content": "", "stop": False, "completion_probabilities": probability}
    yield {"tokens": ids[1:], "content": "", "stop": False}
    yield {
        "tokens": [],
        "stop": True,
        "stop_type": "eos",
        "tokens_predicted": 4,
        "tokens_evaluated": 9,
        "timings": {"prompt_n": 5, "cache_n": 4},
    }


def vllm(ids):
    logprobs = {
        "token_logprobs": [-0.5],
        "tokens": [f"token_id:{ids[0]}"],
        "top_logprobs": [{f"token_id:{ids[0]}": -0.5, "token_id:66": -2}],
    }
    yield {"choices": [{"index": 0, "text": "", "token_ids": ids[:1], "logprobs": logprobs, "finish_reason": None}]}
    yield {"choices": [{"index": 0, "text": "", "token_ids": ids[1:], "finish_reason": "length", "stop_reason": None}]}
    yield {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 4}}}


def sglang(ids):
    for end in range(1, len(ids) + 1):
        triples = [[-0.5, one, None] for one in ids[:end]]
        meta = {
            "completion_tokens": end,
            "prompt_tokens": 9,
            "cached_tokens": 4,
            "output_token_logprobs": triples,
            "output_top_logprobs": [[one, [-2, 66, None]] for one in triples],
            "finish_reason": {"type": "stop"} if end == len(ids) else None,
        }
        yield {"output_ids": ids[:end], "meta_info": meta}


def openai(text):
    logprobs = {"tokens": [text[:1]], "token_logprobs": [-0.5], "top_logprobs": [{text[:1]: -0.5, "b": -2}]}
    yield {"choices": [{"index": 0, "text": text[:1], "logprobs": logprobs, "finish_reason": None}]}
    yield {"choices": [{"index": 0, "text": text[1:], "finish_reason": "stop"}]}
    yield {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}


def ollama(text):
    tokens = [{"token": text[:1], "logprob": -0.5, "top_logprobs": [{"token": "b", "logprob": -2}]}]
    yield {"response": text[:1], "done": False, "logprobs": tokens}
    yield {"response": text[1:], "done": False}
    yield {"response": "", "done": True, "done_reason": "length", "prompt_eval_count": 9, "eval_count": 4}


ENGINES = ((llama, True, True), (vllm, True, True), (sglang, True, True), (openai, False, True), (ollama, False, False))  # ids? events?
TEXTS = (
    "Yes.<|im_end|>",
    "<think>\nt\n</think>\n\nNo.",
    '\n<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call><|im_end|>',
    "€\n",
)
REFUSALS = [
    http('{"error": {"message": "the grammar does not parse", "code": 400}}', 400),
    http('{"error": "no"}', 503),
    http("Internal Server Error", 500),
    http('{"detail": "context length"}', 400),
    http(events({"error": {"message": "died"}})),
    http("data: {\n\n"),
    b"not HTTP\r\n\r\n",
    http('{"data": [{"id": "m", "max_model_len": 4096}], "tokens": [65, 66], "default_generation_settings": {"n_ctx": 4096}}'),
]


def engine_seeds():
    for kind, (write, by_ids, as_events) in enumerate(ENGINES):
        for number, text in enumerate(TEXTS):
            made = list(write(ids_of(text) if by_ids else text))
            body = events(*made, done=kind in (1, 3)) if as_events else "".join(json.dumps(one) + "\n" for one in made)
            for asked in range(10):
                yield bytes([kind, asked, number * 20]) + http(body, chunk=(asked % 3) * 25)
        for number, refusal in enumerate(REFUSALS):
            yield bytes([kind, (number * 7) % 10, 0]) + refusal
            yield bytes([kind, 128 + 9 * (number % 2), 0]) + refusal


def turn(number, text, reply, **members):
    made = {
        "record": "turn",
        "time": f"2026-01-01T00:00:0{number}Z",
        "session": "s",
        "turn": number,
        "choice": 0,
        "model": "m",
        "api": "openai",
        "id": f"i{number}",
        "status": "answered",
        "request": json.dumps({"messages": [{"role": "user", "content": "a"}]}),
        "hints": {"named": False, "response": ""},
        "now": [2026, 1, 1, 0, 0, 0, 0],
        "from": None,
        "key": f"k{number}",
        "reused": 0,
        "prompt": {"tokens": len(ids_of(text)), "behind": 0, "ids": ids_of(text)},
        "origins": {"from_byte": 0, "spans": [[0, 13, "template", 1, -1]], "guarded": []},
        "grammar": None,
        "sampling": {"stop": []},
        "sampled": ids_of(reply),
        "logprobs": None,
        "kinds": [["content", 0, len(ids_of(reply)) - 1], ["stop", len(ids_of(reply)) - 1, len(ids_of(reply))]],
        "reply": {"message": {"role": "assistant", "content": reply}, "finish_reason": "stop", "diagnostics": []},
        "call_ids": [],
        "stop_text": None,
        "length": False,
        "evaluated": 9,
        "prefix_break": None,
    }
    return made | members


def capture_seeds():
    head = {
        "record": "head",
        "format": 1,
        "parlance": "1",
        "model": "m",
        "engine": "llama-server",
        "grammars": "gbnf",
        "templates": [{"name": "default", "sha256": "0"}],
        "tokenizer": {"files": []},
        "source": {},
    }
    grammar = {"record": "grammar", "syntax": "gbnf", "sha256": "0", "text": 'root ::= "a"'}
    asked = "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n"
    first = turn(1, asked, "Yes.<|im_end|>", logprobs=[-0.5, None])
    more = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "b"}]
    behind = len(ids_of(asked + "Yes.<|im_end|>"))
    second = turn(
        2,
        "",
        "No.",
        request=json.dumps({"messages": more}),
        reused=behind,
        **{"from": {"session": "s", "id": "i1", "key": "k1"}},
        prompt={"tokens": behind + 9, "behind": behind, "ids": ids_of("\n<|im_start|>user\nb<|im_end|>\n<|im_start|>assistant\n")},
    )
    failed = turn(3, asked, "", status="engine_failure", error="e", grammar={"syntax": "gbnf", "sha256": "0"})
    generated = turn(4, asked, "t", generate=True, api="ollama", request=json.dumps({"prompt": "a"}), sampled=[], sampled_text="text")
    for flags in range(8):
        for lines in (
            [head, first],
            [head, grammar, first, second],
            [head, failed, generated, first],
            [first],
            [head | {"format": 2}, first],
        ):
            yield bytes([flags]) + "".join(json.dumps(one) + "\n" for one in lines).encode()
    yield b"\1" + json.dumps(head).encode() + b"\n" + json.dumps(first).encode()[:100]


def key_of(messages, content, calls=()):
    """Of a conversation and a reply to it, as src/serve/sessions/message_keys.cpp makes it: a turn with another is refused."""

    def sha256(text):
        return hashlib.sha256(text.encode()).hexdigest()

    def said(content, calls):
        listed = [{"name": name, "arguments": json.dumps(arguments, separators=(",", ":"))} for name, arguments in calls]
        return json.dumps({"content": content, "calls": listed})

    whole = sha256("")
    for message in messages:
        if message["role"] == "assistant":
            whole = sha256(whole + sha256(said(message["content"], message["calls"])))
        else:
            shown = {name: value for name, value in message.items() if name != "tool_call_id"}
            whole = sha256(whole + sha256(json.dumps(shown)))
    return sha256(whole + sha256(said(content, calls)))


def agent_seeds():
    """Transcripts: a goal, turns that call, and runs of tools of which the last may have no end."""
    head = {"record": "head", "format": 1, "parlance": "1", "model": "m", "engine": "llama-server", "grammars": None, "source": {}}
    settings = {"workspace": "/w", "backend": "llama-server=http://h", "system": "", "interpreter": False, "sandbox": "bubblewrap"}
    agent = {"record": "agent", "time": "2026", "session": "s", "goal": "a <b> & c", "settings": settings}
    asked = "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n"
    call = '\n<tool_call>\n{"name": "terminal", "arguments": {"command": "ls"}}\n</tool_call><|im_end|>'
    tools = [{"type": "function", "function": {"name": "terminal", "parameters": {"type": "object", "properties": {}}}}]
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}], "tools": tools}
    calls = turn(1, asked, call, request=json.dumps(body), id="i1", call_ids=["c1"])
    ls = [("terminal", {"command": "ls"})]
    asks = body["messages"]
    calls["key"] = key_of(asks, "", ls)
    ran = {"record": "tool", "time": "2026", "id": "c1", "name": "terminal", "arguments": '{"command": "ls"}'}
    begin, end = ran | {"state": "begin"}, ran | {"state": "end", "text": "<script>\n", "succeeded": True, "changed": False}
    says = turn(2, asked, "Yes.<|im_end|>", request=json.dumps(body), id="i2", key=key_of(asks, "Yes."))
    behind = body | {"messages": [{"role": "tool", "content": "x", "tool_call_id": "c1"}], "previous_response_id": "i1"}
    last = turn(2, asked, "Yes.<|im_end|>", request=json.dumps(behind), id="i2", hints={"named": True, "response": "i1"})
    said = {"role": "assistant", "content": "", "calls": ls}
    last["key"] = key_of([*asks, said, *behind["messages"]], "Yes.")
    for flags in (b"\0", b"\1"):
        for lines in (
            [head, agent],
            [head, agent, calls, begin],
            [head, agent, calls, begin, end, last],
            [head, agent, says],
            [agent, end],
        ):
            yield flags + "".join(json.dumps(one) + "\n" for one in lines).encode()


def seeds():
    yield from (("serve_requests", seed) for seed in request_seeds())
    yield from (("serve_engine", seed) for seed in engine_seeds())
    yield from (("serve_capture", seed) for seed in capture_seeds())
    yield from (("serve_agent", seed) for seed in agent_seeds())
