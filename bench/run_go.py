#!/usr/bin/env python3
"""Measures parlance against Go's text/template on Go templates, in turns, and prints a Markdown table.

    run_go.py [--build build/release] [--rounds 5] [--min-ms 50] [--corpus FOLDER] [--markdown FILE] [TEMPLATE.gotmpl...]

The Go peer is bench/peers/go, built here with the installed go; both get the same template and request and must give the
same bytes. Without templates: some of the corpus, else formats/*.gotmpl. Figures are µs, medians over the rounds. README.md
says what the metrics mean. Begin with main().
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys

from engines import BENCH, COMMANDS, INSTALLED, ROOT, Process
from run import machine, make_workloads

HEADING = """# Speed of Go templates

Time to compile and render Go templates with parlance, and with {version}'s own `text/template`, `encoding/json` and
`fmt`, over Ollama's data (`bench/run_go.py`). Times are in µs, medians of {rounds} rounds of {ms:g} ms, the engines in
turns; × says how many times as fast parlance is. Both programs get the same template and JSON text, and print the same
bytes. S has 2 messages, M 30 messages and 10 tools (20 KB), L 400 messages and 20 tools (1 MB). *render* begins with
the request in each engine's own form. For parlance that is JSON values, so its time includes decoding them into
Ollama's types.

{machine}

"""
METRICS = ["compile", "render", "e2e"]
CORPUS = ["seed--command-r-plus", "unsloth--qwen3_ollama", "unsloth--llama_31_storm_ollama", "unsloth--gptoss_ollama", "ollama--chatml"]


def build_peer():
    binary = INSTALLED / "go" / "bench_go"
    binary.parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}
    subprocess.run(["go", "build", "-buildvcs=false", "-o", str(binary), "."], cwd=BENCH / "peers" / "go", env=environment, check=True)
    return str(binary)


def templates_of(options):
    if options.templates:
        return options.templates
    found = [options.corpus / "go_templates" / f"{name}.gotmpl" for name in CORPUS]
    return [path for path in found if path.exists()] or sorted((ROOT / "formats").glob("*.gotmpl"))


def outputs_agree(engines, fields, folder):
    texts = []
    for engine in engines:
        wrong = engine.ask("load", **fields).get("error") or engine.ask("output", to=str(folder / "go.out")).get("error")
        if wrong:
            print(f"{engine.name}: {wrong}", file=sys.stderr)
            return False
        texts.append((folder / "go.out").read_bytes())
    return texts[0] == texts[1]


def measure(engines, fields, options, cell):
    for _ in range(options.rounds):
        for engine in engines:
            engine.ask("load", **fields)
            for metric in METRICS:
                answer = engine.ask("bench", metric=metric, min_ms=options.min_ms)
                cell.setdefault((metric, engine.name), []).append(answer["ns_per_op"] / 1e3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("templates", nargs="*", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT.parent / "shared" / "corpus")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--min-ms", type=float, default=50)
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table to this file as well")
    options = parser.parse_args()
    folder = INSTALLED / "contexts_go"
    folder.mkdir(parents=True, exist_ok=True)
    make_workloads(folder)
    engines = [Process("go", [build_peer()]), Process("parlance", COMMANDS["parlance"](options.build))]
    page = []

    def say(line):
        page.append(line)
        print(line, flush=True)

    say("| template | workload | " + " | ".join(f"{m} Go | {m} parlance | ×" for m in METRICS) + " |")
    say("|---|---|" + "---:|---:|---:|" * len(METRICS))
    ratios = []
    for template in templates_of(options):
        for size in ("S", "M", "L"):
            fields = {"template": str(template), "context": str(folder / f"{size}.json")}
            if not outputs_agree(engines, fields, folder):
                say(f"| {template.stem} | {size} | ≠ |")
                continue
            cell = {}
            measure(engines, fields, options, cell)
            line = []
            for metric in METRICS:
                go, ours = (statistics.median(cell[metric, engine.name]) for engine in engines)
                line.append(f"{go:.1f} | {ours:.2f} | {go / ours:.1f}")
                if metric == "e2e":
                    ratios.append(go / ours)
            say(f"| {template.stem} | {size} | " + " | ".join(line) + " |")
    version = engines[0].ask("hello").get("version", "Go")
    for engine in engines:
        engine.stop()
    if ratios:
        say(f"\nEnd to end: {min(ratios):.1f} to {max(ratios):.1f} times as fast, {statistics.geometric_mean(ratios):.1f} in the mean.")
    if options.markdown:
        heading = HEADING.format(machine=machine(), version=version, rounds=options.rounds, ms=options.min_ms)
        options.markdown.write_text(heading + "\n".join(page) + "\n", "utf-8")


if __name__ == "__main__":
    main()
