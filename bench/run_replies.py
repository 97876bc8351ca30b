#!/usr/bin/env python3
"""Measures readers of replies against each other, in turns, and prints a Markdown table.

    run_replies.py [--build build/release] [--rounds 5] [--min-ms 100] [--markdown FILE]

Every reader gets the same reply in the same pieces of about four bytes, as tokens are, and must give the same message. Readers
that begin anew at each piece are left out where that would take minutes. README.md says what the figures mean. Begin with main().
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

from engines import BENCH, INSTALLED, ROOT, Process, binary
from run import machine

HEADING = """# Speed of reading replies

MB of reply read per second (`bench/run_replies.py`), medians of {rounds} rounds of {ms:g} ms, the readers in turns.
Each reply has reasoning or text, and a call whose arguments have a program and a list. It comes in pieces of four
bytes. The time includes assembling the message, which is the same for all readers. "Anew at each piece" reads the whole
reply so far for each piece, as a reader without state must; it is left out where that takes minutes. openai-harmony
reads only its own format, from token ids. transformers reads by a response_template, which parlance wrote.

{machine}

"""
PROSE = "The tide tables say high water is at half past nine;\nthe café opens at 10, and 3 < 4. "
CODE = "for (int i = 0; i < n; ++i) {\n  print(\"é\");\n}\n"
SIZES = {"1 KB": 1 << 10, "16 KB": 1 << 14, "256 KB": 1 << 18}
SMALL = {"1 KB", "16 KB"}  # what is read anew at each piece costs the square of its size

PYTHON = str(INSTALLED / "venv" / "bin" / "python")
TRANSFORMERS = str(BENCH / "peers" / "transformers_reader.py")
READERS = {  # name: (build folder -> command, sizes)
    "parlance": (lambda build: [binary("bench_reply_reader", build), "stream"], SIZES),
    "parlance, tokens": (lambda build: [binary("bench_reply_reader", build), "tokens"], SIZES),
    "parlance, anew at each piece": (lambda build: [binary("bench_reply_reader", build), "again"], SMALL),
    "openai-harmony": (lambda build: [str(INSTALLED / "harmony" / "release" / "harmony-reader")], SIZES),
    "transformers": (lambda build: [PYTHON, TRANSFORMERS], SIZES),
}


def arguments_of(size):
    return json.dumps({"code": CODE * max(1, size // 4 // len(CODE)), "rows": [{"id": n, "ok": True} for n in range(size // 80)]}, ensure_ascii=False)


def hermes(size):
    """(prompt, reply): text and a call in tags."""
    text = PROSE * max(1, size // 2 // len(PROSE))
    call = '<tool_call>\n{"name": "run", "arguments": %s}\n</tool_call>' % arguments_of(size)
    return "<|im_start|>assistant\n", text + "\n" + call + "<|im_end|>"


def harmony(size):
    """(prompt, reply): reasoning and a call in channels."""
    text = PROSE * max(1, size // 2 // len(PROSE))
    call = "<|start|>assistant<|channel|>commentary to=functions.run <|constrain|>json<|message|>" + arguments_of(size) + "<|call|>"
    return "<|start|>assistant", "<|channel|>analysis<|message|>" + text + "<|end|>" + call


def response_template(build):
    """What parlance writes of its own format for transformers."""
    command = [str(build / "parlance"), "format", "-f", "terminal-agent", "--response-template"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def workloads(build):
    """{name of the format: (maker of replies, {reader: file of its format})}"""
    folder = INSTALLED / "replies"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "response_template.json").write_text(response_template(build), "utf-8")
    cases = json.loads((ROOT / "tests" / "replies" / "harmony.json").read_text("utf-8"))
    (folder / "harmony.json").write_text(json.dumps(cases["format"]), "utf-8")
    own, anew = ("parlance", "parlance, tokens"), "parlance, anew at each piece"
    tags = ROOT / "formats" / "terminal-agent.reply.json"
    return {
        "JSON in tags": (hermes, {**dict.fromkeys((*own, anew), tags), "transformers": folder / "response_template.json"}),
        "channels": (harmony, dict.fromkeys((*own, anew, "openai-harmony"), folder / "harmony.json")),
    }


def pieces_of(reply):
    """Control tokens, and four bytes each of the rest."""
    return re.findall(r"<\|\w+\|>|(?:(?!<\|\w+\|>)[\s\S]){1,4}", reply)


def normal(path):
    message = json.loads(path.read_text("utf-8"))["message"]
    calls = [call["function"] for call in message.get("tool_calls") or []]
    decoded = [c["arguments"] if isinstance(c["arguments"], dict) else json.loads(c["arguments"]) for c in calls]
    texts = [(message.get(key) or "").strip() for key in ("reasoning_content", "content")]
    return [*texts, [c["name"] for c in calls], decoded]


def ready(reader, files, context, folder):
    """The message of a reader that has loaded the reply, or None: what is wrong is printed."""
    out = folder / "message.json"
    for command in (("load", {"template": str(files[reader.name]), "context": str(context)}), ("output", {"to": str(out)})):
        wrong = reader.ask(command[0], **command[1]).get("error")
        if wrong:
            print(f"{reader.name}: {wrong}", file=sys.stderr)
            return None
    return normal(out)


def measure(readers, size, options):
    times = {reader.name: [] for reader in readers}
    for _ in range(options.rounds):
        for reader in readers:
            times[reader.name].append(reader.ask("bench", metric="e2e", min_ms=options.min_ms)["ns_per_op"])
    return {name: size / statistics.median(values) * 1e3 for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--min-ms", type=float, default=100)
    parser.add_argument("--markdown", type=pathlib.Path, help="write the page to this file as well")
    options = parser.parse_args()
    found = {}
    for format_name, (make, files) in workloads(options.build).items():
        for label, size in SIZES.items():
            prompt, reply = make(size)
            context = INSTALLED / "replies" / "context.json"
            context.write_text(json.dumps({"prompt": prompt, "pieces": pieces_of(reply)}), "utf-8")
            readers, expected = [], None
            for name in files:
                command, sizes = READERS[name]
                if label not in sizes:
                    continue
                reader = Process(name, command(options.build))
                message = ready(reader, files, context, context.parent)
                expected = expected or message
                if message is None or message != expected:
                    print(f"{name}: {format_name}, {label}: another message", file=sys.stderr)
                    reader.stop()
                    continue
                readers.append(reader)
            found[format_name, label] = measure(readers, len(reply.encode()), options)
            for reader in readers:
                reader.stop()
    lines = ["| reply | size | " + " | ".join(READERS) + " |", "|---|---|" + "---:|" * len(READERS)]
    for (format_name, label), rates in found.items():
        lines.append(f"| {format_name} | {label} | " + " | ".join(f"{rates[n]:,.3g}" if n in rates else "–" for n in READERS) + " |")
    page = HEADING.format(machine=machine(), rounds=options.rounds, ms=options.min_ms) + "\n".join(lines)
    print(page)
    if options.markdown:
        options.markdown.write_text(page + "\n", "utf-8")


if __name__ == "__main__":
    main()
