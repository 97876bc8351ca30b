#!/usr/bin/env python3
"""Measures `parlance serve` under load, and prints a Markdown page.

    run_serve.py [--build build/release] [--rounds 3] [--seconds 4] [--markdown FILE]

wrk (of Debian) asks, over the loopback and on the same cores; each request's last message has a number of its own. The
engine behind the gateway is serve/engine.cpp, which answers at once. Of several rounds the least disturbed counts: the
most requests a second, the shortest latencies. Begin with main().
"""

import argparse
import contextlib
import json
import os
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import workloads
from engines import BENCH, ROOT, binary
from run import machine

TEMPLATE = ROOT.parent / "shared" / "corpus" / "templates" / "trl--qwen3.jinja"
REAL = ROOT / "build" / "oracle" / "npm" / "qwen3" / "tokenizer.json"
BYTES = ROOT / "tests" / "tokenizers" / "chatml"
LITELLM = ROOT / "build" / "python" / "litellm" / "bin" / "litellm"
HEADING = """# Speed of the gateway

`parlance serve` under load (`bench/run_serve.py`), the best of {rounds} rounds of {seconds:g} s. wrk asks over the loopback, on the
same cores that the gateway has, with one thread. Each request differs in its last message, so no cache can answer; what
the requests share, the system prompt, the tools and the turns before, has known ids after the first (docs/tokens.md).

{machine}. The load average of the minute before was {load:.1f}: what other programs take makes the figures worse than the
gateway is, above all p99.

"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def running(command, is_told=True):
    """(url, process) of a server that prints its address."""
    environment = {**os.environ, "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
    process = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE if is_told else subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    try:
        yield (process.stdout.readline().strip() if is_told else None), process
    finally:
        process.terminate()
        process.wait(30)


def gateway(build, tokenizer, *more):
    command = [binary("parlance", build), "serve", "-t", TEMPLATE, "--tokenizer", tokenizer, "--port", "0", "--log", "errors"]
    return running([*command, *more])


def engine(build, *script):
    return running([binary("bench_serve_engine", build), "0", *script])


def load(url, body, connections, seconds, stream=False, most_errors=0):
    """wrk's figures: requests a second, errors, and the latencies of half and of 99 of 100 requests in microseconds."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", BENCH / "serve" / "load.lua", url, "--", body]
    out = subprocess.run([*map(str, command), *(["stream"] if stream else [])], capture_output=True, text=True, check=True).stdout
    figures = next(line.split() for line in out.splitlines() if line.startswith("figures"))
    count, elapsed, errors, half, most = (float(word) for word in figures[1:6])
    if errors > most_errors:
        sys.exit(f"{url} failed {errors:.0f} of {count:.0f} requests of {body}")
    return {"rate": count / elapsed, "errors": errors, "p50": half, "p99": most}


def best(rounds, measure):
    all_rounds = [measure() for _ in range(rounds)]
    chosen = {name: min(one[name] for one in all_rounds) for name in all_rounds[0]}
    return {**chosen, "rate": max(one["rate"] for one in all_rounds), "errors": sum(one["errors"] for one in all_rounds)}


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def resident(process):
    lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) * 1024


def renders(options, folder):
    rows = ["| tokenizer | size | renders a second | processor time of the gateway each | errors |", "| --- | --- | ---: | ---: | ---: |"]
    for name, tokenizer in (("real (151,669 tokens)", REAL), ("of the tests, bytes (320 tokens)", BYTES)):
        for size in ("S", "M", "L"):
            if not tokenizer.exists():
                continue
            with gateway(options.build, tokenizer) as (url, process):
                body = folder / f"{size}.json"
                load(f"{url}/v1/chat/completions/render", body, 4, 1)  # the experiments of the first request
                before, count = cpu_seconds(process), 0.0

                def measure(url=url, body=body):
                    nonlocal count
                    got = load(f"{url}/v1/chat/completions/render", body, 4, options.seconds)
                    count += got["rate"] * options.seconds
                    return got

                got = best(options.rounds, measure)
                spent = (cpu_seconds(process) - before) / count * 1e6
            rows.append(f"| {name} | {size} | {got['rate']:,.0f} | {spent:,.0f} µs | {got['errors']:.0f} |")
    return ["## Renders", "", "POST /v1/chat/completions/render, four connections.", "", *rows, ""]


def overheads(options, folder):
    rows = ["| size | what | p50 | p99 |", "| --- | --- | ---: | ---: |"]
    with engine(options.build, "16") as (engine_url, _), gateway(options.build, REAL, "--backend", f"llama-server={engine_url}") as (url, _):
        for size in ("S", "M"):
            body = folder / f"{size}.json"
            with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/chat/completions/render", body.read_bytes())) as got:
                ids = json.load(got)["token_ids"]
            straight = folder / f"{size}.ids.json"
            straight.write_text(json.dumps({"prompt": ids, "stream": True, "return_tokens": True, "n_predict": 16}))
            load(f"{url}/v1/chat/completions", body, 1, 1, stream=True)
            through, alone = [], []
            for _ in range(options.rounds):
                through.append(load(f"{url}/v1/chat/completions", body, 1, options.seconds, stream=True))
                alone.append(load(f"{engine_url}/completion", straight, 1, options.seconds))
            least = {name: min(one[name] for one in through) for name in ("p50", "p99")}
            floor = {name: min(one[name] for one in alone) for name in ("p50", "p99")}
            for what, one in (("through the gateway", least), ("straight at the engine", floor)):
                rows.append(f"| {size} | {what} | {one['p50']:,.0f} µs | {one['p99']:,.0f} µs |")
            rows.append(f"| {size} | **overhead** | {least['p50'] - floor['p50']:,.0f} µs | {least['p99'] - floor['p99']:,.0f} µs |")
    rows += ["", "A streamed chat of 16 tokens, one connection: from the first byte of the request to the last of the answer.", ""]
    return ["## Overhead of a chat", "", *rows]


def litellm(options, folder):
    """LiteLLM's proxy, in front of the gateway, beside the gateway alone."""
    if not LITELLM.exists():
        return ["LiteLLM's proxy was not measured: it is not in build/python/litellm.", ""]
    with engine(options.build, "16") as (engine_url, _), gateway(options.build, REAL, "--backend", f"llama-server={engine_url}") as (url, _):
        config = folder / "litellm.yaml"
        target = {"model": "openai/m", "api_base": f"{url}/v1", "api_key": "none"}
        config.write_text(json.dumps({"model_list": [{"model_name": "m", "litellm_params": target}]}))
        port = free_port()
        with running([LITELLM, "--config", config, "--port", port, "--host", "127.0.0.1"], is_told=False):
            proxy = f"http://127.0.0.1:{port}"
            for _ in range(120):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"{proxy}/health/liveliness", timeout=2).read()
                    break
                time.sleep(1)
            rows = ["| requests a second | S | M |", "| --- | ---: | ---: |"]
            for what, base in (("parlance serve, chat", url), ("LiteLLM's proxy, in front of it", proxy)):
                rates = []
                for size in ("S", "M"):
                    chat = {"model": "m", **json.loads((folder / f"{size}.json").read_text())}
                    body = folder / f"{size}.chat.json"
                    kept = {name: chat[name] for name in ("model", "messages", "tools") if name in chat}
                    body.write_text(json.dumps(kept, ensure_ascii=False, separators=(",", ":")))
                    load(f"{base}/v1/chat/completions", body, 4, 1)
                    got = best(options.rounds, lambda base=base, body=body: load(f"{base}/v1/chat/completions", body, 4, options.seconds))
                    rates.append(f"{got['rate']:,.0f}" + (f" ({got['errors']:.0f} errors)" if got["errors"] else ""))
                rows.append(f"| {what} | {' | '.join(rates)} |")
    return [*rows, "", "Whole chats of 16 tokens, four connections.", ""]


def connect(url, count):
    host, port = url.removeprefix("http://").split(":")
    made = []
    for _ in range(count):
        one = socket.create_connection((host, int(port)), timeout=30)
        made.append(one)
    return made


def idle(options):
    with gateway(options.build, BYTES) as (url, process):
        urllib.request.urlopen(f"{url}/health").read()
        before = resident(process)
        made = connect(url, 10000)
        time.sleep(1)
        each = (resident(process) - before) / len(made)
        with urllib.request.urlopen(f"{url}/health", timeout=5) as got:
            answers = got.status == 200
        for one in made:
            one.close()
    return each, answers


def slow_readers(options, folder):
    """1,000 clients of streams that take little: memory after each of five waits."""
    chat = json.dumps({"stream": True, "messages": [{"role": "user", "content": "Hi"}]}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    with engine(options.build, "1000000") as (engine_url, _), gateway(options.build, BYTES, "--backend", f"llama-server={engine_url}") as (url, process):
        urllib.request.urlopen(f"{url}/health").read()
        before = resident(process)
        made = connect(url, 1000)
        for one in made:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.sendall(head % len(chat) + chat)
        sizes = []
        for _ in range(5):
            time.sleep(3)
            for one in made:
                one.recv(512)
            sizes.append((resident(process) - before) / len(made))
        for one in made:
            one.close()
    return sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    busy = os.getloadavg()[0]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        workloads.write_all(folder)
        lines = renders(options, folder)
        lines += ["vLLM's own render server needs its compiled package, and is not measured here.", ""]
        lines += overheads(options, folder)
        lines += litellm(options, folder)
        sizes = slow_readers(options, folder)
        each, answers = idle(options)
        lines += ["## Memory of connections", ""]
        told = ", ".join(f"{size / 1024:.1f}" for size in sizes)
        lines += [f"1,000 streams whose readers take 512 bytes in 3 s, of an engine that never waits: {told} KB each after 3, 6, … 15 s.", ""]
        lines += [f"10,000 connections that wait: {each / 1024:.1f} KB each; others are {'answered' if answers else 'not answered'}.", ""]
    page = HEADING.format(rounds=options.rounds, seconds=options.seconds, machine=machine(), load=busy) + "\n".join(lines)
    print(page)
    if options.markdown:
        options.markdown.write_text(page.rstrip() + "\n")


if __name__ == "__main__":
    main()
