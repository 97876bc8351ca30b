"""A Redis, an engine and gateways that share their sessions, for tests. Begin reading at world."""

from __future__ import annotations

import contextlib
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

from engine import Engine, Reply
from gateway import Checks, Gateway
from redis_server import RedisServer


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
