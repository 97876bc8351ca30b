#!/usr/bin/env python3
"""llama-cpp-python's server with a real model of 135 million parameters, for tests of the gateway: one that takes text alone.

    llama_cpp_python_server.py [--port N] [--seconds N] [--context N] [--begins]

The package comes from the Python registry as sources, which take some minutes of two cores, once; it is kept in build/llama-cpp-python, and
nothing is installed elsewhere. The model is that of tools/llama_server.py; with --begins a copy in front of whose texts the server puts a
token, as it does with Llama's.

Prints the server's address and the model's file, each on a line, and serves on the loopback until its standard input ends, or for so many
seconds. Ends with 77, and a line that says why, where it cannot be had. Begin reading at main.
"""

from __future__ import annotations

import argparse
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import llama_server
from ollama_server import ROOT, SKIPPED, Missing, free_port, run

FOLDER = ROOT / "build" / "llama-cpp-python"
PYTHON = FOLDER / "venv" / "bin" / "python"
INSTALLED = FOLDER / "installed"
PACKAGE = "llama-cpp-python[server]==0.3.36"


def install() -> None:
    if INSTALLED.exists():
        return
    shutil.rmtree(FOLDER / "venv", ignore_errors=True)
    run([sys.executable, "-m", "venv", str(FOLDER / "venv")], "a Python of its own")
    cached = {f"CMAKE_{language}_COMPILER_LAUNCHER": "ccache" for language in ("C", "CXX") if shutil.which("ccache")}
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", PACKAGE]
    run(pip, PACKAGE, CMAKE_ARGS="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF", CMAKE_BUILD_PARALLEL_LEVEL="2", **cached)
    INSTALLED.touch()


def model_of(begins: bool) -> pathlib.Path:
    llama_server.download()
    if not begins:
        return llama_server.MODEL
    return llama_server.with_first_token(FOLDER / "begins.gguf")


def wait_until_it_serves(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(1200):
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url + "/v1/models", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise Missing("it does not start: " + (FOLDER / "log").read_text(errors="replace")[-400:])


def serve(options: argparse.Namespace, model: pathlib.Path) -> None:
    port = options.port or free_port()
    # By default it breaks off a reply when the next request comes, even one for its list of models.
    command = [
        str(PYTHON), "-m", "llama_cpp.server", "--model", str(model), "--model_alias", "small", "--host", "127.0.0.1", "--port", str(port),
        "--n_ctx", str(options.context), "--n_threads", "1", "--verbose", "false", "--interrupt_requests", "false",
    ]  # fmt: skip
    with (FOLDER / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_until_it_serves(f"http://127.0.0.1:{port}", server)
        print(f"http://127.0.0.1:{port}", model, sep="\n", flush=True)
        ends = time.monotonic() + options.seconds
        while time.monotonic() < ends:
            readable, _, _ = select.select([sys.stdin], [], [], 1)
            if readable and not sys.stdin.read(1):
                break
    finally:
        server.kill()  # it waits for connections else
        server.wait(30)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--context", type=int, default=1024, help="tokens of a reply with its prompt")
    parser.add_argument("--begins", action="store_true", help="a token in front of each text")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the server ends with it
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
        install()
        serve(options, model_of(options.begins))
    except (Missing, subprocess.CalledProcessError) as error:
        print("skipped: llama-cpp-python's server cannot be had:", error, file=sys.stderr)
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
