"""Answers with a form, counted calls and lazy grammars in the engines: answer_engines.py GRAMMAR_DUMP FORMATS_FOLDER... [--share N] [--only NAME]

1. For each format and form of an answer (a schema, any object, a pattern, a choice), with tools and without: every syntax's grammar is read
   by its engine, which accepts replies of the grammar; the answer that our reader finds in each has the form, held against
   jsonschema and Python's re. A reply with a planted fault that our matcher refuses is refused by what reads GBNF.
2. With at most two calls, engines accept replies of the grammar, and refuse the same reply with a third call.
3. llama.cpp's own lazy sampler takes each reply of the whole grammar, token by token; before the trigger anything may be
   written and the reply may end; behind it nothing but the call.

With --share, one format in N. Begin reading at Run.format.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import grammar_engines  # noqa: E402  (stands in for torch, and skips where nothing is installed)
import jsonschema  # noqa: E402
from grammar_accepts_test import Dump  # noqa: E402
from written_engines import SYNTAXES, Engines  # noqa: E402

TOOLS = (HERE.parent / "grammars" / "tools.json").read_text()
SCHEMA = {"type": "object", "properties": {
    "answer": {"type": "string"}, "score": {"type": "integer", "minimum": 0, "maximum": 10},
    "kinds": {"type": "array", "items": {"enum": ["tide", "wind"]}, "maxItems": 3}}, "required": ["answer", "score"], "additionalProperties": False}
PATTERN = "(yes|no)( because [a-z ]{1,20})?"
CHOICES = ["yes", "no", "I don't know."]
FORMS = {"json_schema": json.dumps(SCHEMA), "json_object": True, "regex": PATTERN, "choice": CHOICES}
LONGEST = 3000


def other_gaps(reply_format, text):
    """The reply with other white space behind its reasoning, where lexers must not commit themselves to what comes."""
    close = (json.loads(reply_format).get("reasoning") or {}).get("close", "")
    marker = (close if isinstance(close, str) else close["texts"][0]).strip()
    before, found, behind = text.partition(marker or "\0")
    return [before + found + gap + behind.lstrip() for gap in ("", "\n", "\n\n")] if found and marker else []


def has_form(kind, text):
    if kind == "regex":
        return re.fullmatch(PATTERN, text) is not None
    if kind == "choice":
        return text in CHOICES
    value = json.loads(text)
    if kind == "json_schema":
        jsonschema.validate(value, SCHEMA)
    return isinstance(value, dict)


class Run:
    def __init__(self, options):
        self.dump = Dump(options.dump)
        self.engines = Engines()
        self.source = random.Random(20260314)
        self.counts = collections.Counter()
        self.faults = []

    def fault(self, *what):
        self.faults.append(": ".join(str(part) for part in what)[:900])

    def ask(self, **request):
        return self.dump.ask(seed=self.source.randrange(1 << 30), syntaxes=sorted(set(SYNTAXES.values())), **request)

    def accepts(self, where, engine, answer, text):
        try:
            return self.engines.accepts(engine, answer["texts"][SYNTAXES[engine]], text)
        except (ValueError, RuntimeError) as error:
            self.fault(where, engine, error)
            return None

    def hold(self, where, base, answer, texts):
        """Engines accept the texts, and refuse what is planted in them and our matcher refuses."""
        bad = [grammar_engines.planted(text, self.source) for text in texts if text]
        bad = [text for text, good in zip(bad, self.dump.ask(**base, texts=bad)["accepts"]) if not good]
        for engine in self.engines.names():
            narrow = SYNTAXES[engine] != "gbnf"
            for text in texts:
                if (narrow and grammar_engines.is_narrower(text)) or (engine == "llama.cpp" and "\0" in text):
                    continue
                self.counts[engine] += 1
                if self.accepts(where, engine, answer, text) is False:
                    self.fault(where, engine, f"refused {text!r}")
            for text in bad if not narrow else []:
                if self.accepts(where, engine, answer, text):
                    self.fault(where, engine, f"accepted {text!r}")

    def answers(self, name, reply_format):
        for kind, form in FORMS.items():
            for choice in ("auto", "none"):
                where = f"{name} {kind} {choice}"
                base = {"format": reply_format, "tools": TOOLS, "choice": choice, "response": {kind: form}}
                answer = self.ask(**base, samples=8)
                if "error" in answer:
                    self.fault(where, answer["error"])
                    continue
                samples = [sample for sample in answer["samples"] if len(sample["text"]) < LONGEST]
                for sample in samples:
                    message = sample["read"]["message"]
                    if not message.get("tool_calls"):
                        self.form(where, kind, sample["text"], message["content"] or "")
                texts = [sample["text"] for sample in samples]
                others = [other for text in texts for other in other_gaps(reply_format, text)]
                self.hold(where, base, answer, texts + [other for other, good in zip(others, self.dump.ask(**base, texts=others)["accepts"]) if good])

    def form(self, where, kind, reply, content):
        self.counts["answers read"] += 1
        try:
            good = has_form(kind, content.strip() if kind.startswith("json") else content)
        except (ValueError, jsonschema.ValidationError) as error:
            good, content = False, f"{content!r} {str(error)[:200]}"
        if not good:
            self.fault(where, f"the answer is {content!r} in {reply!r}")

    def counted(self, name, reply_format):
        base = {"format": reply_format, "tools": TOOLS, "choice": "required", "max_calls": 2}
        answer = self.ask(**base, samples=12)
        if "error" in answer:
            return self.fault(name, "counted", answer["error"])
        free = self.dump.ask(**{**base, "max_calls": 0}, samples=40, seed=7)["samples"]
        over = [sample["text"] for sample in free if len(sample["read"]["message"].get("tool_calls", [])) > 2 and len(sample["text"]) < LONGEST]
        most = max(len(sample["read"]["message"].get("tool_calls", [])) for sample in answer["samples"])
        if most > 2:
            self.fault(name, "counted", f"{most} calls of at most two")
        self.hold(f"{name} counted", base, answer, [sample["text"] for sample in answer["samples"] if len(sample["text"]) < LONGEST])
        for engine in self.engines.names():
            for text in over[:4]:
                self.counts["replies with too many calls"] += 1
                if self.accepts(f"{name} counted", engine, answer, text):
                    self.fault(name, "counted", engine, f"accepted {text!r}")

    def lazy(self, name, reply_format):
        llama = self.engines.llama
        base = {"format": reply_format, "tools": TOOLS, "choice": "auto"}
        answer = self.ask(**base, samples=16, plain=True, lazy=True)
        lazy = answer.get("lazy", {"error": answer.get("error")})
        if "error" in lazy:
            self.counts[f"no lazy grammar: {lazy['error']}"] += 1
            return
        for sample in answer["samples"]:
            if len(sample["text"]) < LONGEST and "\0" not in sample["text"]:  # of which llama.cpp takes none
                self.lazily(f"{name} lazy", llama, lazy, sample)

    def lazily(self, where, llama, lazy, sample):
        ids = llama.vocabulary.encode(sample["text"])
        matcher = llama.engine.lazy_matcher(lazy["grammar"], lazy["triggers"])
        free = llama.vocabulary.encode("]]}} anything")
        at_first = len(matcher.allowed([free[0]])) == 1 and matcher.may_end()
        self.counts["replies under lazy grammars"] += 1
        taken = matcher.take(ids)
        if not at_first or taken < len(ids) or not matcher.may_end():
            stopped = llama.vocabulary.text(ids[max(taken - 4, 0):taken + 2])
            self.fault(where, f"{taken} of {len(ids)} tokens, at {stopped!r}, of {sample['text']!r}")
        if sample["read"]["message"].get("tool_calls") and matcher.take(free) == len(free):
            self.counts["text behind calls"] += 1
            self.fault(where, f"sets in nowhere: anything may follow {sample['text']!r}")

    def format(self, name, reply_format):
        self.answers(name, reply_format)
        if json.loads(reply_format).get("calls"):
            self.counted(name, reply_format)
            if self.engines.llama:
                self.lazy(name, reply_format)
        self.counts["formats"] += 1


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("dump")
    arguments.add_argument("folders", nargs="+")
    arguments.add_argument("--share", type=int, default=1)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--show", type=int, default=12)
    options = arguments.parse_args()
    run = Run(options)
    files = sorted(file for folder in options.folders for file in pathlib.Path(folder).glob("*.reply.json"))
    for number, file in enumerate(files):
        if number % options.share == 0 and options.only in file.name:
            run.format(file.name.removesuffix(".reply.json"), file.read_text())
    for what in ("answers read", "replies with too many calls", *(["replies under lazy grammars"] if run.engines.llama else [])):
        if not run.counts[what] and not options.only:
            run.fault("nothing was tried", what)
    for fault in run.faults[:options.show]:
        print("FAULT", fault)
    print("; ".join(f"{what} {count}" for what, count in run.counts.items()) + f"; {len(run.faults)} faults")
    return 1 if run.faults or not run.counts["formats"] else 0


if __name__ == "__main__":
    sys.exit(main())
