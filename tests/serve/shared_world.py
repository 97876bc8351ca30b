"""A Redis, an engine and gateways that share their sessions, for tests. Begin reading at world and at run_tests."""

from __future__ import annotations

import concurrent.futures
import contextlib
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from engine import Engine, Reply
from gateway import SKIPPED, Checks, Gateway
from redis_server import RedisServer, valkey


class World:
    """A Redis, an engine, and gateways that end with the test."""

    def __init__(self, parlance: str, engine: Engine, checks: Checks, redis: RedisServer, open_gateways: contextlib.ExitStack) -> None:
        self.parlance, self.engine, self.checks, self.redis = parlance, engine, checks, redis
        self.open_gateways = open_gateways

    def gateway(self, *options: str, url: str = "", **members: Any) -> Gateway:
        made = Gateway(self.parlance, self.engine.url, "--sessions", url or self.redis.url, *options, **members)
        return self.open_gateways.enter_context(made)


@contextlib.contextmanager
def world(parlance: str, engine: Engine, checks: Checks, *redis_options: str) -> Iterator[World]:
    engine.script = lambda asked: Reply("Yes, indeed.<|im_end|>")
    engine.asked.clear()
    with (
        tempfile.TemporaryDirectory() as folder,
        RedisServer(pathlib.Path(folder), *redis_options) as redis,
        contextlib.ExitStack() as gateways,
    ):
        yield World(parlance, engine, checks, redis, gateways)


def run_tests(tests: Sequence[Callable[[str, Engine, Checks], None]]) -> int:
    """Runs those that the command line names, `PARLANCE [--valkey] [TEST …]`, or all; returns the exit code."""
    names = [name for name in sys.argv[2:] if name != "--valkey"]
    if "--valkey" in sys.argv:
        RedisServer.program = valkey()
    if RedisServer.program is None:
        print("skipped: there is no redis-server (tools/setup.sh test installs one), or no Valkey")
        return SKIPPED
    checks = Checks()

    def run(test: Callable[[str, Engine, Checks], None]) -> None:
        begun = time.monotonic()
        with Engine() as engine:
            test(sys.argv[1], engine, checks)
        print(f"{test.__name__}: {time.monotonic() - begun:.1f} s")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # much of it is waiting
        for done in [pool.submit(run, test) for test in tests if not names or test.__name__ in names]:
            done.result()
    return checks.end()
