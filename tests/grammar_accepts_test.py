#!/usr/bin/env python3
"""The grammar accepts every reply that the template itself writes.

    grammar_accepts_test.py path/to/parlance path/to/grammar_dump [--only NAME] [--show N] [--every N]

For each template of formats/, tests/templates/families and the corpus beside the tree (PARLANCE_CORPUS, or ../shared/corpus)
and each reply of written_replies.py: the grammar of the derived format accepts the reply under each choice of tools that
allows it, with parallel calls and without, with reasoning and without. EXCEPTIONS names what a template writes that no
grammar should allow, and why; with --every these templates are tried, and of the others one in so many. Begin reading at faults_of.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import written_replies

ROOT = pathlib.Path(__file__).resolve().parent.parent

# (what the template's name holds, what the reply's conversation holds): why.
EXCEPTIONS = {
    ("reasoning_in_words", "text"): "reasoning and its marks are a guess from the prompt's words: the template shows none",
    ("Nemotron-Nano-v2", "text"): "the template puts an answer inside of the reasoning that the prompt opens",
    ("framed_answer", "text, "): "an answer beside calls stands in marks that stand nowhere else: calls are read where an answer begins",
    ("phi_4_mini_ollama", ""): "the template leaves out a bracket of each call",
    ("nested_elements", "free names"): "what closes an element repeats its name, which no grammar can hold a free name to",
    ("gptoss_ollama", "reasoning"): "to the template a last turn is one to go on with: reasoning stays open",
}


def choices_of(reply):
    """Settings of a grammar that allow the reply."""
    reasons = {"reasoning": True}
    ways = [{"choice": "auto", "parallel": True}]
    if len(reply.calls) <= 1:
        ways.append({"choice": "auto", "parallel": False})
    if reply.calls and not reply.says:
        ways.append({"choice": "required", "parallel": True})
        if len(set(reply.calls)) == 1:
            ways.append({"choice": reply.calls[0], "parallel": True})
    if not reply.calls:
        ways.append({"choice": "none", "parallel": True})
    return [{**way, **reasons} for way in ways]


class Dump:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def groups_of(replies):
    """The replies that one grammar serves, by its settings and where the prompt ends."""
    groups = collections.defaultdict(list)
    for reply in replies:
        for way in choices_of(reply):
            groups[json.dumps(way), reply.prompt].append(reply)
    return groups


def faults_of(dump, derived, replies):
    """The replies that a grammar refuses, each with the settings."""
    tools = json.dumps(written_replies.TOOLS)
    count, faults = 0, []
    for (way, prompt), some in groups_of(replies).items():
        answer = dump.ask(format=json.dumps(derived["format"]), tools=tools, prompt=prompt, texts=[reply.text for reply in some], **json.loads(way))
        accepted = answer.get("accepts", [False] * len(some))
        count += len(some)
        faults += [(way, reply, answer.get("error", "")) for reply, ok in zip(some, accepted) if not ok]
    return count, faults


def reason_for(name, reply, used):
    for (part, about), why in EXCEPTIONS.items():
        if part in name and about in reply.about:
            used.add((part, about))
            return why
    return None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("dump")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--show", type=int, default=1)
    arguments.add_argument("--every", type=int, default=1)
    options = arguments.parse_args()
    dump = Dump(options.dump)
    corpus = pathlib.Path(os.environ.get("PARLANCE_CORPUS", ROOT.parent / "shared" / "corpus"))
    tried = held = broken = excepted = 0
    used, names = set(), []
    for number, (name, template) in enumerate(written_replies.templates(ROOT, corpus)):
        if options.only not in name or (number % options.every and not any(part in name for part, _ in EXCEPTIONS)):
            continue
        derived = written_replies.derive(options.program, template)
        if derived is None or derived["verdict"] == "none":
            continue
        replies = written_replies.replies_of(options.program, template, derived)
        count, faults = faults_of(dump, derived, replies)
        names.append(name)
        left = [(way, reply, error) for way, reply, error in faults if reason_for(name, reply, used) is None]
        tried, held, excepted = tried + 1, held + count, excepted + len(faults) - len(left)
        if left:
            broken += 1
            print(f"FAULT {name}: {len(left)} of {count} refused")
            for way, reply, error in left[:options.show]:
                print(f"  {reply.about}; {way} {error}\n  prompt {reply.prompt!r}\n  reply  {reply.text!r}")
        sys.stdout.flush()
    for part, about in EXCEPTIONS.keys() - used:
        if any(part in name for name in names):
            broken += 1
            print(f"FAULT {part}, {about or 'any reply'}: excepted, and accepted all the same")
    print(f"{tried} templates, {held} replies under their settings: {broken} templates with faults, {excepted} replies excepted")
    sys.exit(1 if broken or not tried else 0)


if __name__ == "__main__":
    main()
