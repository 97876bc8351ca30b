#!/usr/bin/env python3
"""Measures the engines against each other, interleaved, and prints Markdown tables.

Each engine is a process that times itself; this program only says what is next (engines.py), checks
that every output is byte-equal to Jinja2's, and takes medians. README.md says what the figures
mean. Begin with main().
"""

import argparse
import datetime
import os
import pathlib
import platform
import subprocess
import sys

import report
from engines import BENCH, COMMANDS, INSTALLED, NO_COMPILE, ROOT, WARM, Process

REFERENCE = "jinja2"
METRICS = ["compile", "render", "e2e"]
WORKLOADS = ["S", "M", "L"]

# File in the corpus: the suffix of the workloads it is given. "1" has one call a message, for
# templates that refuse several or leave all but the first out.
CORPUS = {
    "seed--terminal-agent.jinja": "",
    "trl--qwen3.jinja": "",
    "llama.cpp--Kimi-K2-Instruct.jinja": "",  # refuses tool calls under the sandbox: S only
    "llama.cpp--moonshotai-Kimi-K2.jinja": "",
    "llama.cpp--openai-gpt-oss-120b.jinja": "1",
    "trl--glm4moe.jinja": "",
    "unsloth--llama31_template.jinja": "1",
    "seed--rnj-1.jinja": "",
}


def words(text):
    return [w for w in text.split(",") if w]


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument(
        "--engines", type=words, default=list(COMMANDS), help="names, with commas (default: all)"
    )
    p.add_argument(
        "--templates", type=words, default=[], help="parts of names, or paths of templates"
    )
    p.add_argument("--workloads", type=words, default=WORKLOADS, help="of S,M,L (default: all)")
    p.add_argument(
        "--metrics", type=words, default=METRICS, help="of compile,render,e2e (default: all)"
    )
    p.add_argument(
        "--corpus",
        type=pathlib.Path,
        default=ROOT.parent / "shared" / "corpus",
        help="folder with templates/*.jinja; without it the tree's formats are measured",
    )
    p.add_argument(
        "--build",
        type=pathlib.Path,
        default=ROOT / "build" / "release",
        help="the build whose C++ engines are measured (default: build/release)",
    )
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument(
        "--min-ms", type=float, default=50, help="time for an engine in a cell and round"
    )
    p.add_argument(
        "--quick", action="store_true", help="one round of 10 ms: a check, not a measurement"
    )
    p.add_argument("--markdown", type=pathlib.Path, help="write the tables to this file as well")
    args = p.parse_args()
    if args.quick:
        args.rounds, args.min_ms = 1, 10
    for name, allowed in (("engines", COMMANDS), ("workloads", WORKLOADS), ("metrics", METRICS)):
        unknown = [w for w in getattr(args, name) if w not in allowed]
        if unknown:
            p.error(f"--{name}: {unknown[0]} is none of {', '.join(allowed)}")
    return args


def make_workloads(folder):
    """Runs the generator; returns a sentence that names it."""
    shared = ROOT.parent / "shared" / "bench" / "workloads.py"
    script = shared if shared.exists() else BENCH / "workloads.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True)
    return "the shared workloads" if script == shared else "the workloads of bench/workloads.py"


def find_templates(args):
    """({path: suffix of its workloads}, a sentence that says where they are from)."""
    paths = {
        pathlib.Path(t): "" for t in args.templates if t.endswith(".jinja") and os.path.exists(t)
    }
    names = [t for t in args.templates if pathlib.Path(t) not in paths]
    if paths and not names:
        return paths, "templates named on the command line"
    folder = args.corpus / "templates"
    if folder.is_dir():
        found, origin = {
            folder / name: suffix for name, suffix in CORPUS.items()
        }, "templates of the corpus"
    else:
        found = {path: "" for path in sorted((ROOT / "formats").glob("*.jinja"))}
        origin = "the tree's formats, since there is no corpus"
    found = {
        p: s
        for p, s in found.items()
        if p.exists() and (not names or any(n in p.name for n in names))
    }
    return {**paths, **found}, origin


class Cell:
    """One template with one workload: its files, and which engines can take part."""

    def __init__(self, template, size, workload, folder):
        self.template, self.size, self.workload = template, size, workload
        self.label = template.stem.split("--")[-1]
        self.context = folder / "contexts" / f"{workload}.json"
        self.expected = folder / "outputs" / f"{template.stem}.{workload}.expected"
        self.actual = self.expected.with_suffix(".actual")
        self.failed = {}  # engine: sentence
        self.differs = {}

    def load(self, process):
        return process.ask(
            "load",
            template=str(self.template),
            context=str(self.context),
            expected=str(self.expected),
        ).get("error")

    def write(self, process, path):
        return self.load(process) or process.ask("output", to=str(path)).get("error")


def make_cell(template, size, suffix, folder, reference):
    """The cell with the reference's output; with single calls if the template refuses several."""
    for workload in dict.fromkeys([size + (suffix if size != "S" else ""), size + "1"]):
        cell = Cell(template, size, workload, folder)
        if not cell.context.exists():
            break
        wrong = cell.write(reference, cell.expected)
        if not wrong:
            return cell
    print(f"{template.name}, {size}: left out, the reference says: {wrong}", file=sys.stderr)
    return None


def check_output(cell, process):
    """Fills cell.failed and cell.differs for one engine."""
    wrong = cell.write(process, cell.actual)
    if wrong:
        cell.failed[process.name] = wrong
        return
    wanted, got = cell.expected.read_bytes(), cell.actual.read_bytes()
    if wanted != got:
        at = len(os.path.commonprefix([wanted, got]))
        cell.differs[process.name] = (
            f"from byte {at} of {len(wanted)}: {got[at:at + 24]!r} " f"for {wanted[at:at + 24]!r}"
        )


def measure_cell(cell, processes, args, times):
    """One round of one cell: all engines one after another for each metric."""
    ready = [p for p in processes if p.name not in cell.failed and not cell.load(p)]
    for metric in args.metrics:
        if metric == "compile" and cell.size != args.workloads[0]:
            continue  # does not depend on the workload
        for process in ready:
            if process.name in cell.failed or (metric == "compile" and process.name in NO_COMPILE):
                continue
            answer = process.ask("bench", metric=metric, min_ms=args.min_ms)
            if "ns_per_op" in answer:
                key = (metric, cell.size, cell.label, process.name)
                times.setdefault(key, []).append(answer["ns_per_op"] / 1e3)
            else:
                cell.failed[process.name] = f"{metric}: {answer.get('error', 'no figure')}"


def machine():
    model = platform.processor() or platform.machine()
    try:
        info = pathlib.Path("/proc/cpuinfo").read_text()
        model = next(
            line.split(":")[1].strip()
            for line in info.splitlines()
            if line.startswith("model name")
        )
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} cores"


def start_engines(args):
    """The engines that answer, and {name: version}; says which do not."""
    processes, versions = [], {}
    for name in args.engines:
        process = Process(name, COMMANDS[name](args.build))
        answer = process.ask("hello")
        if "version" in answer:
            processes.append(process)
            versions[name] = answer["version"]
        else:
            print(
                f"{name}: left out, {answer['error']}; bench/setup.sh or the build makes it",
                file=sys.stderr,
            )
    return processes, versions


def measure_all(cells, processes, args):
    times = {}
    for round_ in range(args.rounds):
        for process in processes:
            if process.name not in WARM:  # where memory lies in a process moves S by tens of percent
                process.stop()
        for i, cell in enumerate(cells):
            print(
                f"\rround {round_ + 1}/{args.rounds}, cell {i + 1}/{len(cells)} ",
                end="",
                file=sys.stderr,
            )
            turn = (round_ + i) % max(len(processes), 1)  # nobody always runs after the same engine
            measure_cell(cell, processes[turn:] + processes[:turn], args, times)
    print(file=sys.stderr)
    return times


def write_page(path, text):
    """Between the marks of a page that has them, else as the whole page."""
    begin, end = "<!-- measured -->\n", "<!-- end -->"
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    before, mark, rest = page.partition(begin)
    after = rest.partition(end)[2]
    path.write_text(f"{before}{begin}{text}\n{end}{after}" if mark else text + "\n", encoding="utf-8")


def main():
    args = parse_arguments()
    folder = INSTALLED / "work"
    (folder / "outputs").mkdir(parents=True, exist_ok=True)
    workloads = make_workloads(folder / "contexts")
    templates, origin = find_templates(args)
    reference = Process(REFERENCE, COMMANDS[REFERENCE](args.build))
    if "error" in (answer := reference.ask("hello")):
        sys.exit(f"the reference does not start: {answer['error']}; bench/setup.sh installs it")
    cells = [
        make_cell(t, size, suffix, folder, reference)
        for t, suffix in templates.items()
        for size in args.workloads
    ]
    cells = [c for c in cells if c]
    reference.stop()
    processes, versions = start_engines(args)
    for cell in cells:
        for process in processes:
            check_output(cell, process)
    times = measure_all(cells, processes, args)
    for process in processes:
        process.stop()
    about = (
        f"{datetime.date.today()}, {machine()}; {args.rounds} rounds of {args.min_ms:g} ms; "
        f"{origin}, {workloads}."
    )
    text = report.markdown(about, versions, cells, times)
    print(text)
    if args.markdown:
        write_page(args.markdown, text)


if __name__ == "__main__":
    main()
