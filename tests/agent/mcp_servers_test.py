#!/usr/bin/env python3
"""`parlance agent` with MCP's own servers, unmodified, and with its own tests of clients: `mcp_servers_test.py PARLANCE`. For make long.

The servers everything and filesystem from npm, a server of the official Python SDK, and the scenarios of the conformance package, over
mcp_bridge.py. They are fetched once, into build/agent; what cannot be had is skipped and named. Begin reading at main.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from agent_run import SKIPPED, Checks, end_if_none
from fetched import npm, python_with
from scripted import Talk, call, converse

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "build" / "agent"
SERVERS = ("@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/server-filesystem@2026.8.31")
# The last that Node 20 runs, and the SDK that its servers work with.
CONFORMANCE = ("@modelcontextprotocol/conformance@0.1.11", "@modelcontextprotocol/sdk@1.25.2")
SDKS = ("mcp==2.3.0", "mcp==1.30.0")  # both majors are in use
OF_SDK = '''
from typing import Any

try:
    from mcp.server.mcpserver import Context, MCPServer
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP as MCPServer

server = MCPServer("sdk", instructions="For a test")

@server.tool()
def add(first: int, second: int) -> int:
    """Adds two numbers"""
    return first + second

@server.tool()
def describe(of: dict[str, list[float]]) -> dict[str, Any]:
    return {"mean": {name: sum(values) / len(values) for name, values in of.items()}}

@server.tool()
def lines() -> list[str]:
    return ["one", "two ☂"]

@server.tool()
def fail(why: str) -> str:
    raise ValueError(why)

@server.tool()
async def steps(context: Context) -> str:
    for step in range(3):
        await context.report_progress(step, 3)
    return "walked"

server.run()
'''


def results(talk: Talk) -> list[tuple[bool, str]]:
    return [(one["succeeded"], one["text"]) for one in talk.events.of("outcome")]


def check_end(talk: Talk, checks: Checks, name: str, fact: str) -> None:
    if not checks.equal(talk.code, 0, f"{name}: {talk.errors[-800:]}"):
        return
    checks.that(any(fact in one for one in talk.facts), f"{name}: {fact!r} of {talk.facts}")
    checks.equal(talk.events.of("unreadable"), [], f"{name}: unreadable replies")
    talk.run.check_replay(checks, name)


def everything(parlance: str, folder: pathlib.Path, checks: Checks) -> bool:
    if not npm(FOLDER / "servers", *SERVERS):
        return False
    packages = FOLDER / "servers" / "node_modules"
    turns = [
        call("all__echo", message="Köln 🌊"), call("all__get-sum", a=2, b=3.5), call("all__get-tiny-image"),
        call("all__get-structured-content", location="New York"), call("all__get-resource-links", count=2),
        call("all__get-resource-reference", resourceType="Text", resourceId=1), call("all__get-annotated-message", messageType="error"),
        call("all__trigger-long-running-operation", duration=1, steps=3), call("all__get-sum", a="two", b=3),
    ]  # fmt: skip
    server = packages / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    talk = converse(parlance, folder, turns, "--mcp", f"all=node {server}", "--readable", str(packages))
    check_end(talk, checks, "everything", "MCP server all, revision 2025-11-25: ")
    said = results(talk)
    wanted = [(True, "Echo: Köln 🌊"), (True, "The sum of 2 and 3.5 is 5.5."), (True, "[image, image/png, "), (True, '"temperature":33'),
              (True, "demo://resource/dynamic/text/2"), (True, "demo://resource/dynamic/text/1"), (True, "Error: Operation failed"),
              (True, "completed"), (False, "'a'")]  # fmt: skip
    for (good, text), (is_good, words) in zip(said, wanted, strict=True):
        checks.that(words in text and good == is_good, f"everything: {words!r} of {good}, {text[:300]!r}")
    checks.that(all("iVBOR" not in prompt for prompt in talk.prompts), "a picture is not in the prompt")
    return True


def filesystem(parlance: str, folder: pathlib.Path, checks: Checks) -> bool:
    if not npm(FOLDER / "servers", *SERVERS):
        return False
    packages = FOLDER / "servers" / "node_modules"
    workspace, server = folder / "workspace", packages / "@modelcontextprotocol" / "server-filesystem" / "dist" / "index.js"
    turns = [
        call("files__write_file", path=str(workspace / "a.txt"), content="one\ntwo\n"),
        call("files__edit_file", path=str(workspace / "a.txt"), edits=[{"oldText": "two", "newText": "three"}]),
        call("files__read_text_file", path=str(workspace / "a.txt")),
        call("files__list_directory", path=str(workspace)),
        call("files__read_text_file", path="/etc/passwd"),
        call("files__read_text_file", path=str(workspace / "a.txt"), head=1),
    ]
    talk = converse(parlance, folder, turns, "--mcp", f"files=node {server} .", "--readable", str(packages))
    check_end(talk, checks, "filesystem", "MCP server files, revision 2025-11-25: ")
    checks.equal([one["changed"] for one in talk.events.of("outcome")], [True, True, False, False, False, False], "changes that are seen")
    said = results(talk)
    checks.equal([said[2], said[5]], [(True, "one\nthree"), (True, "one")], "a file that was written and edited")
    checks.that("[FILE] a.txt" in said[3][1], f"a list: {said[3]}")
    checks.that(not said[4][0] and said[4][1].startswith("Error: Access denied"), f"outside: {said[4]}")
    checks.equal((workspace / "a.txt").read_text(), "one\nthree\n", "the workspace")
    return True


def sdks(parlance: str, folder: pathlib.Path, checks: Checks) -> bool:
    return any([sdk(parlance, folder / release, release, checks) for release in SDKS])


def sdk(parlance: str, folder: pathlib.Path, release: str, checks: Checks) -> bool:
    there = FOLDER / release
    if (python := python_with(there, release)) is None:
        return False
    folder.mkdir(parents=True)
    (folder / "server.py").write_text(OF_SDK)
    (folder / "tools.json").write_text(json.dumps({"mcpServers": {"sdk": {"command": str(python), "args": ["server.py"]}}}))
    turns = [
        call("sdk__add", first=2, second=3), call("sdk__describe", of={"a": [1, 2]}), call("sdk__lines"), call("sdk__fail", why="no luck"),
        call("sdk__steps"), call("sdk__add", first=2),
    ]  # fmt: skip
    readable = ["--readable", str(there), "--readable", sys.base_prefix]
    talk = converse(parlance, folder / "run", turns, "--tools", str(folder / "tools.json"), *readable)
    check_end(talk, checks, release, "MCP server sdk, revision 2025-11-25: 5 tools")
    if len(said := results(talk)) != len(turns):
        return True
    checks.equal([said[0], said[4]], [(True, "5"), (True, "walked")], f"{release}: results")
    checks.equal(json.loads(said[1][1]), {"mean": {"a": 1.5}}, f"{release}: a structured result")
    checks.that("one" in said[2][1] and "two ☂" in said[2][1], f"{release}: a list: {said[2]}")
    checks.that(not said[3][0] and said[3][1].startswith("Error: ") and not said[5][0], f"{release}: errors: {said[3]}, {said[5]}")
    return True


SCENARIOS = {"initialize": [], "tools_call": [call("c__add_numbers", a=2, b=3)]}


def conformance(parlance: str, folder: pathlib.Path, checks: Checks) -> bool:
    if not npm(FOLDER / "conformance", *CONFORMANCE):
        return False
    packages = FOLDER / "conformance" / "node_modules"
    folder.mkdir(parents=True)
    for scenario in SCENARIOS:
        client = f"{sys.executable} {pathlib.Path(__file__).resolve()} {parlance} --client {scenario} {folder / scenario}"
        command = ["node", str(packages / ".bin" / "conformance"), "client", "--command", client, "--scenario", scenario, "-o", "made"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        made = next(iter(folder.glob(f"made/*{scenario}*/checks.json")), None)
        checks.equal(done.returncode, 0, f"conformance, {scenario}: {done.stdout[-1500:]} {done.stderr[-1500:]}")
        if checks.that(made is not None, f"conformance, {scenario}: its checks") and made:
            found = [one for one in json.loads(made.read_text()) if one["status"] != "INFO"]
            checks.that(found and all(one["status"] == "SUCCESS" for one in found), f"conformance, {scenario}: {found}")
            print(f"conformance, {scenario}: {', '.join(one['id'] + ' ' + one['status'] for one in found)}")
    return True


def as_client(parlance: str, scenario: str, folder: str, url: str) -> int:
    """What the conformance package runs."""
    server = f"c=python3 {HERE / 'mcp_bridge.py'} {url}"
    talk = converse(parlance, pathlib.Path(folder), SCENARIOS[scenario], "--mcp", server, "--network")
    print(talk.observed, talk.errors)
    return talk.code


def main() -> int:
    parlance = str(pathlib.Path(sys.argv[1]).resolve())
    if "--client" in sys.argv:
        return as_client(parlance, *sys.argv[3:])
    end_if_none(parlance)
    checks, tried = Checks(), 0
    with tempfile.TemporaryDirectory(prefix="parlance-mcp-", ignore_cleanup_errors=True) as folder:
        for check in (everything, filesystem, sdks, conformance):
            tried += check(parlance, pathlib.Path(folder) / check.__name__, checks)
    return checks.end() if tried else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
