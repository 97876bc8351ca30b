#!/usr/bin/env python3
"""What `parlance agent` itself takes for a turn, when a run has had many turns.

    overhead.py PARLANCE [--turns N] [--format NAME] [--output BYTES] [--most MS]

A scripted engine answers each prompt at once with the same kind of call; its command takes no time. From the engine's last byte to the
last byte of the next prompt nothing else happens than the agent's work: it reads the reply, writes the transcript, runs the command in its
shell, makes the prompt and sends it. This time is the overhead of a turn, and so is the processor time of the agent's process in it. The
engine reads a prompt's bytes and no more of it, so that it adds little. Fails if a turn sends far more than the one before it did, and
with --most if the last turns take more than MS of processor. Begin reading at Clockwork.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import socket
import socketserver
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from agent_run import Checks, Run, end_if_none
from engine import Engine
from wire import FORMATS, Call, Speech

WINDOW = 11  # turns whose median is shown


@dataclasses.dataclass
class Moment:
    """When a prompt was there, and when its reply was sent."""

    asked: float
    processor: float  # seconds of the agent's process so far
    size: int  # bytes of the request
    replied: float = 0


def processor_seconds(process: int) -> float:
    """Of all its threads, also of those that have ended: in nanoseconds where the kernel tells them."""
    spent = 0
    for thread in pathlib.Path(f"/proc/{process}/task").iterdir():
        spent += int((thread / "schedstat").read_text("ascii").split()[0])
    return spent / 1e9


class Clockwork(Engine):
    """Answers turn N with the ids of `reply(N)`, and looks at the clock."""

    def __init__(self, speech: Speech, turns: int, output: int) -> None:
        super().__init__()
        self.speech, self.turns, self.output = speech, turns, output
        self.moments: list[Moment] = []
        self.process = 0

    def reply(self, turn: int) -> list[int]:
        thought = f"Step {turn}. " + "The last command did what it should, so I take the next step of the plan. " * 3
        if turn >= self.turns:
            return self.speech.sampled(self.speech.wire.pieces_of("", "It is done.", []))
        text = f"{turn} " + "x" * self.output
        call = Call(code=f"print('{text}')") if self.speech.wire.interpreter else Call(command=f"echo {text}")
        return self.speech.sampled(self.speech.wire.pieces_of(thought, "", [call]))

    def _answer(self, handler: socketserver.StreamRequestHandler) -> bool:
        line, size = handler.rfile.readline(), 0
        while (header := handler.rfile.readline().strip().lower()) != b"":
            size = int(header.split(b":")[1]) if header.startswith(b"content-length:") else size
        handler.rfile.read(size)
        if b"/completion" not in line:
            return bool(line) and self._send_whole(handler, 404 if b"/tokenize" in line else 200, "{}")
        moment = Moment(time.monotonic(), processor_seconds(self.process), size)
        self.moments.append(moment)
        ids = self.reply(len(self.moments))
        end = {"content": "", "tokens": [], "stop": True, "stop_type": "eos", "tokens_predicted": len(ids), "tokens_evaluated": 1}
        events = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in ({"content": "", "tokens": ids, "stop": False}, end))
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(events)}\r\n\r\n"
        handler.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        handler.wfile.write(head.encode() + events)
        moment.replied = time.monotonic()
        return True


def windows(moments: list[Moment]) -> list[tuple[int, float, float, int]]:
    """Turn, milliseconds, milliseconds of processor, bytes of the request: medians around some turns."""
    made = []
    last = len(moments) - 1
    for turn in sorted({1, *(one for one in (25, 50, 100, 150, 200, 300, 400) if one < last), last}):
        at = range(max(1, min(turn, last - WINDOW + 1)), min(last, max(turn, 1) + WINDOW))
        wall = statistics.median(moments[one].asked - moments[one - 1].replied for one in at)
        spent = statistics.median(moments[one].processor - moments[one - 1].processor for one in at)
        made.append((turn, 1000 * wall, 1000 * spent, moments[turn].size))
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parlance")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--format", default="terminal-agent", choices=list(FORMATS))
    parser.add_argument("--output", type=int, default=500)
    parser.add_argument("--most", type=float, help="milliseconds of processor; without, no clock decides")
    parser.add_argument("--no-transcript", action="store_true")
    options = parser.parse_args()
    end_if_none(options.parlance)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="parlance-overhead-", ignore_cleanup_errors=True) as folder:
        run = Run(options.parlance, FORMATS[options.format], pathlib.Path(folder))
        with Clockwork(run.speech, options.turns, options.output) as engine:
            command = run.command(engine.url, "--max-turns", str(options.turns + 1), "--max-repeats", "0")
            agent = subprocess.Popen([*command, "--", "Count."], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
            engine.process = agent.pid
            said, _ = agent.communicate(timeout=600)
        if checks.equal(agent.returncode, 0, "the exit code"):
            replied = [json.loads(line) for line in said.splitlines() if '"replied"' in line]
            for turn, wall, spent, size in windows(engine.moments):
                ids = replied[turn]["prompt_tokens"]
                print(f"turn {turn}: {wall:.2f} ms, of processor {spent:.2f} ms; a prompt of {ids} ids, {size >> 10} KiB on the wire")
            checks.equal(len(engine.moments), options.turns, "prompts")
            sizes = [moment.size for moment in engine.moments]
            grown = [after - before for before, after in zip(sizes, sizes[1:])]
            checks.that(max(grown) < 2 * statistics.median(grown), f"each turn adds as much to a request: {grown}")
            last = windows(engine.moments)[-1]
            checks.that(options.most is None or last[2] < options.most, f"turn {last[0]} takes {last[2]:.2f} ms of processor, and {options.most} are allowed")
        run.check_replay(checks, "overhead")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
