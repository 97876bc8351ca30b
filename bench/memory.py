#!/usr/bin/env python3
"""One-shot use: `BINARY render -t TEMPLATE CHAT.json`, from process start to printed prompt.

Prints a Markdown table of wall time and peak resident memory for the binary given, for an empty C++
program, and for the peers that are installed. The runs are made and counted by launch.cpp, a small
program, since Linux counts the spawning process's memory towards the spawned one's peak. Begin with
main().
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from engines import COMMANDS, ENVIRONMENT, INSTALLED, ROOT, binary
from report import table
from run import make_workloads

PEERS = ["hand-written", "minijinja", "hf-jinja", "jinja2"]
ROUNDS = 5


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("binary", help="the command under test")
    p.add_argument(
        "--template", type=pathlib.Path, default=ROOT / "formats" / "terminal-agent.jinja"
    )
    p.add_argument("--workloads", default="S,M,L", help="with commas (default: S,M,L)")
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    p.add_argument(
        "--runs", type=int, default=20, help="in each round; heavy commands get a quarter"
    )
    p.add_argument("--no-peers", action="store_true", help="only the binary and the empty program")
    return p.parse_args()


def launch(launcher, count, command):
    done = subprocess.run(
        [launcher, str(count), *command], env=ENVIRONMENT, capture_output=True, text=True
    )
    return json.loads(done.stdout) if done.returncode == 0 else None


def measure(launcher, commands, runs):
    """{name: (median ms, peak MB)}; the commands take turns, as in run.py."""
    results = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            heavy = bool(results[name]) and results[name][0]["ms"] > 20
            result = launch(launcher, max(runs // 4, 3) if heavy else runs, command)
            if result is not None:
                results[name].append(result)
    return {
        name: (statistics.median(r["ms"] for r in rs), max(r["peak_kb"] for r in rs) / 1024)
        for name, rs in results.items()
        if rs
    }


def one_shot_commands(args):
    commands = {"parlance": [args.binary]}
    if not args.no_peers:
        for name in PEERS:
            commands[name] = COMMANDS[name](args.build)
    return commands


def outputs_agree(commands, shot):
    """Names of the commands whose output is not what most print; says so on standard error."""
    outputs = {}
    for name, command in commands.items():
        try:
            outputs[name] = subprocess.run(
                [*command, *shot], env=ENVIRONMENT, capture_output=True
            ).stdout
        except OSError as e:
            print(f"{name}: left out, {e}", file=sys.stderr)
    wanted = outputs.get("jinja2") or statistics.mode(outputs.values())
    return {name for name, text in outputs.items() if text == wanted and text}, outputs


def main():
    args = parse_arguments()
    launcher, empty = binary("bench_launch", args.build), binary("bench_empty", args.build)
    contexts = INSTALLED / "work" / "contexts"
    make_workloads(contexts)
    rows = []
    for size in args.workloads.split(","):
        shot = ["render", "-t", str(args.template), str(contexts / f"{size}.json")]
        commands = one_shot_commands(args)
        right, outputs = outputs_agree(commands, shot)
        for name in outputs.keys() - right:
            print(f"{name}, {size}: left out, its output differs", file=sys.stderr)
        shots = {
            "empty program": [empty],
            **{n: [*c, *shot] for n, c in commands.items() if n in right},
        }
        for name, (ms, mb) in measure(launcher, shots, args.runs).items():
            rows.append([size, name, f"{ms:.2f}", f"{mb:.1f}"])
    print(table(["workload", "command", "start to prompt, ms", "peak memory, MB"], rows))


if __name__ == "__main__":
    main()
