"""Runs the oracle and the binary on many cases, and survives either of them hanging or dying.

Leans on jinja_oracle.py as a program and on `parlance render --jsonl`, which both take one case a line. `Oracle.ask`
and `ask_binary` give one answer for each case, in order.
"""
import json
import pathlib
import queue
import resource
import subprocess
import sys
import threading

ORACLE = pathlib.Path(__file__).with_name("jinja_oracle.py")
NOW = "2026-03-14T15:09:26"  # jinja_oracle.NOW
MEMORY = 3 << 29


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def to_line(number, case):
    source, context = case
    return json.dumps({"id": number, "source": source, "context": context}) + "\n"


class Oracle:
    """One oracle process; where a case takes too long or too much, it is given up and a new process goes on."""

    def __init__(self, patience=5, command=None):
        self.patience = patience
        self.command = command or [sys.executable, str(ORACLE)]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
                                        preexec_fn=limit_memory)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, args=(self.process.stdout, self.lines), daemon=True).start()

    @staticmethod
    def read(stream, lines):
        for line in stream:
            lines.put(line)
        lines.put(None)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def write(self, text):
        try:
            self.process.stdin.write(text)
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # it has died; the missing answers tell

    def ask(self, cases):
        answers = []
        while len(answers) < len(cases):
            if not self.process:
                self.start()
            rest = cases[len(answers):]
            text = "".join(to_line(number, case) for number, case in enumerate(rest))
            threading.Thread(target=self.write, args=(text,), daemon=True).start()
            for _ in rest:
                try:
                    line = self.lines.get(timeout=self.patience)
                except queue.Empty:
                    line = None
                if line is None:
                    answers.append({"error": "GivenUp", "message": "the oracle takes too long or too much"})
                    self.stop()
                    break
                answers.append(json.loads(line))
        return answers


def run_binary(binary, cases, seconds, options=()):
    """What the binary answered, by number, and what is to be said of a case it did not answer."""
    text = "".join(to_line(number, case) for number, case in enumerate(cases))
    command = [binary, "render", "--jsonl", "--as-is", "--now", NOW, *options]
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {}, {"type": "Hang", "message": f"no end after {seconds} s"}
    answers = {}
    for line in done.stdout.decode("utf-8", "surrogateescape").split("\n"):
        try:
            answer = json.loads(line)
            answers[answer["id"]] = answer
        except (ValueError, TypeError, KeyError):
            continue  # not an answer; its case is missing then
    said = done.stderr[-300:].decode("utf-8", "replace")
    return answers, {"type": "Crash", "message": f"exit {done.returncode} {said}"}


def ask_binary(binary, cases, options=()):
    answers, _ = run_binary(binary, cases, 60, options)
    whole = []
    for number, case in enumerate(cases):
        answer = answers.get(number)
        if answer is None:  # something before it, or it, brought the process down
            alone, end = run_binary(binary, [case], 10, options)
            answer = alone.get(0) or {"error": end}
        whole.append(answer)
    return whole
