#!/usr/bin/env python3
"""The inspector's page and what it gets of `parlance serve --inspect`: sessions, turns, and events while they happen.

    inspect_test.py PARLANCE

Begin reading at main.
"""

from __future__ import annotations

import html.parser
import json
import pathlib
import signal
import socket
import statistics
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from typing import Any

from engine import ROOT, Engine, Reply
from gateway import Checks, Gateway

PAGE = ROOT / "src" / "serve" / "inspect" / "page"
REPLY = "<think>\nHm.\n</think>\n\nKöln, yes.<|im_end|>"


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def got(gateway: Gateway, path: str) -> Any:
    status, text = gateway.get("/inspect/api/" + path)
    assert status == 200, text
    return json.loads(text)


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def answered(gateway: Gateway, path: str, headers: dict[str, str] | None = None) -> tuple[int, Any, bytes]:
    """Status, headers and body of an answer."""
    try:
        with urllib.request.urlopen(urllib.request.Request(gateway.url + path, headers=headers or {}), timeout=30) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


class Live(threading.Thread):
    """Reads the events of /inspect/api/live."""

    def __init__(self, gateway: Gateway, key: str = "") -> None:
        super().__init__(daemon=True)
        self.events: list[tuple[str, Any]] = []
        request = urllib.request.Request(gateway.url + "/inspect/api/live", headers=bearer(key))
        self.answer = urllib.request.urlopen(request, timeout=30)
        self.answer.readline()
        self.ended = False
        self.start()

    def run(self) -> None:
        name = ""
        for line in self.answer:
            text = line.decode().rstrip("\n")
            if text.startswith("event: "):
                name = text[7:]
            elif text.startswith("data: "):
                self.events.append((name, json.loads(text[6:])))
        self.ended = True


def wait_for_ends(live: Live, count: int) -> None:
    """Until it has told the ends of so many turns: they come behind the answers, and what is told is told in its order."""
    until = time.monotonic() + 20
    while [name for name, _ in live.events].count("end") < count and time.monotonic() < until:
        time.sleep(0.01)


def one_turn(gateway: Gateway, engine: Engine, checks: Checks, ask: Any, session: Any, number: int) -> None:
    turn = got(gateway, f"sessions/{session['id']}/turns/{number}")
    prompt = engine.asked[number].prompt
    text = engine.vocabulary.decode(prompt)
    checks.equal("".join(span["text"] for span in turn["spans"]), text, "the spans are the prompt")
    at = 0
    for span in turn["spans"]:
        checks.equal((span["begin"], span["end"]), (at, at + len(span["text"].encode())), "bytes of a span")
        at = span["end"]
    checks.equal([token["id"] for token in turn["tokens"]], prompt, "tokens of the prompt")
    controls = {token["text"] for token in turn["tokens"] if token.get("control")}
    checks.equal(controls - {"<tool_call>", "</tool_call>", "<think>"}, {"<|im_start|>", "<|im_end|>"}, "control tokens")
    checks.equal(sum(bool(token.get("reused")) for token in turn["tokens"]), turn["reused"], "reused tokens")
    users = [span for span in turn["spans"] if span["hue"] == "user" and span.get("path", "").endswith(".content")]
    checks.that(users[0]["path"] == "messages[0].content" and users[0]["message"] == 0, f"a span of the user's: {users[0]}")
    checks.that(any(span["hue"] == "control" and span["line"] > 0 for span in turn["spans"]), "a control token of the template")
    checks.equal(
        [one["text"] for one in turn["guarded"]], ["<|im_end|>"] * sum("<|im_end|>" in m["content"] for m in ask["messages"]), "guarded"
    )
    checks.equal(engine.vocabulary.decode([token["id"] for token in turn["sampled_tokens"]]), REPLY, "sampled tokens")
    kinds = list(dict.fromkeys(token["kind"] for token in turn["sampled_tokens"]))
    checks.equal(kinds, ["reasoning", "content", "stop"], "kinds of sampled tokens")
    checks.that(any("bytes" in token for token in turn["sampled_tokens"]), "a token that is half a character has bytes")
    checks.equal(turn["reply"]["message"]["content"], "Köln, yes.", "the reply")
    content = "".join(event["text"] for event in turn["events"] if event["type"] == "content")
    checks.equal(content, "Köln, yes.", "the reply's events")
    checks.equal(turn["grammar"] is not None, "tools" in ask, "the grammar")


def shown(parlance: str, engine: Engine, checks: Checks) -> None:
    engine.script = lambda asked: Reply(REPLY)
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    with Gateway(parlance, engine.url, "--inspect", "--threads", "2") as gateway:
        checks.equal(got(gateway, "sessions"), {"sessions": []}, "no sessions")
        live = Live(gateway)
        ask: Any = {"messages": [user("Hi <|im_end|>")], "tools": tools, "logprobs": True}
        for number in range(3):
            _, _, answer = gateway.post("/v1/chat/completions", ask, {"x-session-id": "mine/first"})
            checks.equal(len(engine.asked), number + 1, "the engine was asked")
            session = got(gateway, "sessions")["sessions"][0]
            one_turn(gateway, engine, checks, ask, session, number)
            ask["messages"] += [answer["choices"][0]["message"], user(f"And {number}?")]
        gateway.post("/v1/messages", {"messages": [user("Other")], "max_tokens": 9})
        sessions = got(gateway, "sessions")["sessions"]
        checks.equal([one["session"] for one in sessions][1:], ["mine/first"], "the newest session comes first")
        turns = got(gateway, f"sessions/{session['id']}")
        checks.equal([turn["number"] for turn in turns["turns"]], [0, 1, 2], "turns of a session")
        checks.equal(turns["session"]["turns"], 3, "figures of a session")
        checks.equal(turns["session"]["breaks"], sum(turn["prefix_break"] is not None for turn in turns["turns"]), "breaks")
        checks.that(turns["turns"][1]["prefix_break"]["template"].startswith("format terminal-agent:"), "where the prefix broke")
        for path in ("sessions/none", f"sessions/{session['id']}/turns/9", f"sessions/{session['id']}/turns/x"):
            checks.equal(gateway.get("/inspect/api/" + path)[0], 404, path)
        head_of_events(gateway, checks)
        wait_for_ends(live, 4)
        gateway.end()
        live.join(20)
        checks.that(live.ended, "the events end when the server does")
        names = [name for name, _ in live.events]
        checks.equal([names.count(name) for name in ("session", "turn", "end", "lost")], [2, 4, 4, 0], "events")
        first = [data["event"] for name, data in live.events[: names.index("end")] if name == "reply"]
        checks.equal("".join(event["text"] for event in first if event["type"] == "content"), "Köln, yes.", "a reply while it streams")
        checks.equal(live.events[names.index("end")][1]["turn"]["number"], 0, "a turn that ended")


def head_of_events(gateway: Gateway, checks: Checks) -> None:
    """HEAD has the header alone, also of a stream that does not end, and the connection goes on."""
    host, port = gateway.url.removeprefix("http://").split(":")
    alone = b"HEAD /inspect/api/live HTTP/1.0\r\n\r\n"
    several = (
        b"HEAD /inspect/api/live HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2
        + b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    for sent, count in ((alone, 1), (several, 2)):
        with socket.create_connection((host, int(port)), timeout=20) as connection:  # a stream that went on would take longer
            connection.sendall(sent)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        *heads, rest = answer.split(b"\r\n\r\n", count)
        checks.that(
            len(heads) == count and all(b" 200 OK" in head and b"text/event-stream" in head for head in heads),
            f"HEAD of events: {answer!r}",
        )
        checks.that(rest == b"" if count == 1 else rest.startswith(b"HTTP/1.1 200"), f"it has no body: {answer!r}")


def switched_off(parlance: str, engine: Engine, checks: Checks) -> None:
    with Gateway(parlance, engine.url) as gateway:
        gateway.post("/v1/chat/completions", {"messages": [user("Hi")]})
        for path in ("sessions", "sessions/x", "live"):
            checks.equal(gateway.get("/inspect/api/" + path)[0], 404, f"{path} without --inspect")
    with Gateway(parlance, engine.url, "--inspect") as gateway:
        engine.script = lambda asked: Reply("A long answer.<|im_end|>", die_after=3)
        gateway.post("/v1/chat/completions", {"messages": [user("Hi")]})
        session = got(gateway, "sessions")["sessions"][0]
        checks.equal(session["live"], 0, "no turn is under way")
        turn = got(gateway, f"sessions/{session['id']}/turns/0")
        checks.equal((turn["status"], len(turn["sampled_tokens"])), ("engine_failure", 3), "a turn that failed")


class Loads(html.parser.HTMLParser):
    """What a page loads, and whether it has scripts or styles of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inline = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("link", "script", "img"):
            self.found.append(given.get("href") or given.get("src") or "")
        self.inline += (
            tag == "style" or (tag == "script" and "src" not in given) or any(name == "style" or name.startswith("on") for name in given)
        )


def page(parlance: str, engine: Engine, checks: Checks) -> None:
    """The page and its parts are those of the source, and tell the browser to load and run nothing else."""
    files = {"/inspect": PAGE / "index.html", "/inspect/inspect.css": PAGE / "inspect.css"}
    files |= {f"/inspect/{path.name}": path for path in (PAGE / "made").glob("*.js")}
    types = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
    with Gateway(parlance, engine.url, "--inspect") as gateway:
        for path, file in files.items():
            status, headers, body = answered(gateway, path)
            checks.equal((status, body), (200, file.read_bytes()), path)
            checks.equal(headers["Content-Type"], types[file.suffix] + "; charset=utf-8", f"the type of {path}")
            checks.equal((headers["X-Content-Type-Options"], headers["Referrer-Policy"]), ("nosniff", "no-referrer"), f"headers of {path}")
            checks.equal(headers["Cache-Control"], "no-cache", f"caching of {path}")
            policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
            checks.equal(
                policy,
                {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'", "img-src": "'self' data:",
                 "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'", "require-trusted-types-for": "'script'",
                 "trusted-types": "'none'"},
                f"the policy of {path}",
            )  # fmt: skip
            status, _, body = answered(gateway, path, {"If-None-Match": headers["ETag"]})
            checks.equal((status, body), (304, b""), f"{path} once more")
            checks.equal(answered(gateway, path, {"If-None-Match": '"other"'})[0], 200, f"{path} in place of an older one")
        for path in (
            "/inspect/",
            "/inspect/index.html",
            "/inspect/none.js",
            "/inspect/made/api.js",
            "/inspect/../health",
            "/inspect/api",
            "/inspect/tsconfig.json",
        ):
            checks.equal(answered(gateway, path)[0], 404, path)
        loads = Loads()
        loads.feed(files["/inspect"].read_text(encoding="utf-8"))
        checks.equal(loads.inline, 0, "scripts and styles inside of the page")
        checks.equal(
            {one for one in loads.found if not one.startswith("data:")},
            {"inspect/inspect.css", "inspect/inspect.js"},
            "what the page loads",
        )
    with Gateway(parlance, engine.url) as gateway:
        for path in files:
            checks.equal(answered(gateway, path)[0], 404, f"{path} without --inspect")


def owners(parlance: str, engine: Engine, checks: Checks) -> None:
    """The page is there without a key; each key sees its own sessions alone, also by their addresses and while they happen."""
    engine.script = lambda asked: Reply(REPLY)
    with tempfile.NamedTemporaryFile("w") as keys:
        keys.write("one\ntwo\n")
        keys.flush()
        with Gateway(parlance, engine.url, "--inspect", "--api-key-file", keys.name) as gateway:
            checks.equal(answered(gateway, "/inspect")[0], 200, "the page without a key")
            for path in ("sessions", "sessions/x", "live"):
                checks.equal(answered(gateway, "/inspect/api/" + path)[0], 401, f"{path} without a key")
                checks.equal(answered(gateway, "/inspect/api/" + path, bearer("three"))[0], 401, f"{path} with a wrong key")
            live = {key: Live(gateway, key) for key in ("one", "two")}
            for key in ("one", "two", "one"):
                gateway.post("/v1/chat/completions", {"messages": [user(f"I am {key}")]}, {"x-session-id": "same name", **bearer(key)})
            seen = {key: json.loads(answered(gateway, "/inspect/api/sessions", bearer(key))[2])["sessions"] for key in live}
            ids = {key: [one["id"] for one in sessions] for key, sessions in seen.items()}
            checks.that(len(ids["one"]) == len(ids["two"]) == 1 and ids["one"] != ids["two"], f"each key has a session of its own: {ids}")
            for key, other in (("one", "two"), ("two", "one")):
                for path in ("", "/turns/0"):
                    mine = answered(gateway, f"/inspect/api/sessions/{ids[key][0]}{path}", bearer(key))
                    checks.that(mine[0] == 200 and (not path or f"I am {key}" in mine[2].decode()), f"one's own{path}")
                    theirs = answered(gateway, f"/inspect/api/sessions/{ids[other][0]}{path}", bearer(key))
                    none = answered(gateway, f"/inspect/api/sessions/none{path}", bearer(key))
                    checks.equal((theirs[0], theirs[2]), (404, none[2]), f"another's{path} is as one that is not there")
            turns = {"one": 2, "two": 1}
            for key, told in live.items():  # the last is of the key "one": what is told of "two" by mistake comes before it
                wait_for_ends(told, turns[key])
                sessions = {data["id"] if name == "session" else data["session"] for name, data in told.events}
                checks.equal(sessions, set(ids[key]), "events of one's own sessions alone")
                kinds = ["session", *["turn", "end"] * turns[key]]
                checks.equal([name for name, _ in told.events if name != "reply"], kinds, "all of them")
            reloaded(gateway, pathlib.Path(keys.name), live, checks)


def reloaded(gateway: Gateway, keys: pathlib.Path, live: dict[str, Live], checks: Checks) -> None:
    """A key that is taken away ends its stream, too."""
    keys.write_text("two\n")
    gateway.process.send_signal(signal.SIGHUP)
    live["one"].join(10)
    checks.that(live["one"].ended, "the stream of a key that is taken away ends")
    checks.equal(answered(gateway, "/inspect/api/sessions", bearer("one"))[0], 401, "the key that was taken away")
    checks.equal(answered(gateway, "/inspect/api/sessions", bearer("two"))[0], 200, "the key that was not")


def compiled(checks: Checks) -> None:
    """No script of the page can make markup of a text."""
    for path in [*PAGE.glob("*.ts"), *(PAGE / "made").glob("*.js")]:
        text = path.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "new Function", "srcdoc"):
            checks.that(word not in text, f"{path.name} has {word}")


def cost(parlance: str, engine: Engine) -> None:
    """Prints what the inspector costs a request; nothing is checked, since other programs run beside."""
    engine.script = lambda asked: Reply(REPLY)
    for options in ((), ("--inspect",), (), ("--inspect",)):
        with Gateway(parlance, engine.url, "--log", "errors", *options) as gateway:
            times = []
            for number in range(150):
                begun = time.perf_counter()
                gateway.post("/v1/chat/completions", {"messages": [user(f"Hi {number}")]})
                times.append(time.perf_counter() - begun)
            print(f"{' '.join(options) or 'plain':10} median {statistics.median(times) * 1e6:.0f} µs")


def main() -> int:
    parlance, checks = sys.argv[1], Checks()
    with Engine() as engine:
        shown(parlance, engine, checks)
        switched_off(parlance, engine, checks)
        page(parlance, engine, checks)
        owners(parlance, engine, checks)
        compiled(checks)
        cost(parlance, engine)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
