#!/usr/bin/env python3
"""The real Ollama with a real model of 135 million parameters, for tests of the gateway: built from its sources, without a GPU.

    ollama_server.py [--port N] [--seconds N] [--context N] [--parallel N]
    ollama_server.py --build

Go builds it from Ollama's module. A module has no folders named vendor, and with them three headers are missing, which the sources of the
package llama-cpp-python in the Python registry have. The program, the headers and the store of its models are kept in build/ollama; nothing
is installed. The first build takes some minutes of two cores. The model is that of tools/llama_server.py, under two names: `smollm2`, with
the template that Ollama chooses for it, and `smollm2-tools`, with one that has tools.

Prints the server's address and the model's file, each on a line, and serves on the loopback until its standard input ends, or for so many
seconds. With --build it only builds. Ends with 77, and a line that says why, where it cannot be had. Begin reading at main.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request

import llama_server

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "ollama"
VERSION = "v0.17.4"  # as in tests/oracle/ollama/go.mod
PROGRAM = FOLDER / VERSION / "ollama"
HEADERS = ("nlohmann", "stb", "miniaudio")
HEADERS_OF = "llama-cpp-python==0.3.36"
SKIPPED = 77
TOOLS = """{{- if .Tools }}<|im_start|>system
{{ .System }}
You may call functions: {{ .Tools }}
Write a call as <tool_call>{"name": NAME, "arguments": ARGUMENTS}</tool_call><|im_end|>
{{ end }}{{- range .Messages }}<|im_start|>{{ .Role }}
{{ .Content }}{{- range .ToolCalls }}
<tool_call>{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}</tool_call>{{ end }}<|im_end|>
{{ end }}<|im_start|>assistant
"""
MODELFILES = {"smollm2": "", "smollm2-tools": f'TEMPLATE """{TOOLS}"""\n'}


class Missing(Exception):
    """Why Ollama cannot be had here."""


def run(command: list[str], what: str, **more: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **more}, check=False)
    except OSError as error:
        raise Missing(f"{what}: {error}") from None
    if done.returncode:
        raise Missing(f"{what}: {(done.stderr or done.stdout).strip()[-400:]}")


def fetch_headers() -> pathlib.Path:
    """The folder with the headers that a Go module cannot have."""
    kept = FOLDER / "headers"
    if all((kept / name).is_dir() for name in HEADERS):
        return kept
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    run([*pip, "--no-binary", HEADERS_OF.split("=")[0], "-d", str(FOLDER / "sources"), HEADERS_OF], "the headers")
    (source,) = (FOLDER / "sources").glob("llama_cpp_python-*.tar.gz")
    with tarfile.open(source) as archive:
        for member in archive:
            _, mark, path = member.name.partition("/vendor/llama.cpp/vendor/")
            content = archive.extractfile(member) if mark and path.split("/")[0] in HEADERS else None
            if content:
                (kept / path).parent.mkdir(parents=True, exist_ok=True)
                (kept / path).write_bytes(content.read())
    shutil.rmtree(FOLDER / "sources")
    return kept


def build() -> None:
    if PROGRAM.exists():
        return
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        raise Missing("there is no Go")
    optimised = "-O3 -march=native"  # it runs here alone, and there is no GPU
    FOLDER.mkdir(parents=True, exist_ok=True)
    run([go, "install", "-p", "2", f"github.com/ollama/ollama@{VERSION}"], "go install", CGO_ENABLED="1", GOBIN=str(PROGRAM.parent),
        CGO_CFLAGS=optimised, CGO_CXXFLAGS=optimised, CGO_CPPFLAGS=f"-I{fetch_headers()}", GOFLAGS="-buildvcs=false")  # fmt: skip


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def wait_until_it_serves(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise Missing("it does not start: " + (FOLDER / "log").read_text(errors="replace")[-400:])


def create_models(environment: dict[str, str], model: pathlib.Path) -> None:
    modelfile = FOLDER / "Modelfile"
    for name, more in MODELFILES.items():
        # Threads that wait for each other are slow where other programs use the processors as well, so there is one.
        modelfile.write_text(f"FROM {model}\nPARAMETER num_thread 1\n{more}")
        run([str(PROGRAM), "create", name, "-f", str(modelfile)], "ollama create", **environment)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--context", type=int, default=4096, help="tokens of a reply with its prompt, unless a request says num_ctx")
    parser.add_argument("--parallel", type=int, default=2, help="replies at a time")
    parser.add_argument("--build", action="store_true", help="start no server")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # Ollama ends with it
    try:
        build()
        if options.build:
            print(PROGRAM)
            return 0
        llama_server.download()
        url = f"http://127.0.0.1:{options.port or free_port()}"
        environment = {
            "HOME": str(FOLDER), "OLLAMA_MODELS": str(FOLDER / "models"), "OLLAMA_HOST": url.removeprefix("http://"),
            "OLLAMA_CONTEXT_LENGTH": str(options.context), "OLLAMA_NUM_PARALLEL": str(options.parallel), "OLLAMA_NO_CLOUD": "1",
        }  # fmt: skip
        with (FOLDER / "log").open("wb") as log:
            server = subprocess.Popen([str(PROGRAM), "serve"], stdout=log, stderr=log, env={**os.environ, **environment})
        try:
            wait_until_it_serves(url, server)
            create_models(environment, llama_server.MODEL)
            print(url, llama_server.MODEL, sep="\n", flush=True)
            ends = time.monotonic() + options.seconds
            while time.monotonic() < ends and server.poll() is None:
                readable, _, _ = select.select([sys.stdin], [], [], 1)
                if readable and not sys.stdin.read(1):
                    break
        finally:
            server.terminate()
            server.wait(30)
    except (Missing, subprocess.CalledProcessError) as error:
        print("skipped: Ollama cannot be had:", error, file=sys.stderr)
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
