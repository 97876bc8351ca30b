"""What templates write, in the engines: written_engines.py PARLANCE GRAMMAR_DUMP [--share N] [--only NAME] [--show N]

For every template of written_replies.py and each setting that allows a reply (grammar_accepts_test.py says which), the grammar is read by
its engine, which accepts every reply that our matcher accepts: GBNF by xgrammar and, where its package can be had, by llama.cpp's own
library with a real vocabulary; Lark by llguidance; structural tags by xgrammar. With --share, one template in N. Begin reading at
Run.template.
"""
import argparse
import collections
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import grammar_engines  # noqa: E402  (stands in for torch, and skips where nothing is installed)
import real_tokenizers  # noqa: E402
import written_replies  # noqa: E402
import xgrammar  # noqa: E402
from grammar_accepts_test import Dump, groups_of  # noqa: E402
from grammar_matchers import LlamaCpp  # noqa: E402

ROOT = HERE.parent.parent
SYNTAXES = {"llama.cpp": "gbnf", "xgrammar's EBNF": "gbnf", "xgrammar's tags": "structural-tag", "llguidance": "lark"}


class Llama:
    """llama.cpp with one real vocabulary, whose tokens are bytes and merges of them, so that it spells any text."""

    def __init__(self):
        self.vocabulary = real_tokenizers.Vocabulary("qwen2_5")
        self.engine = LlamaCpp(self.vocabulary, real_tokenizers.llama_folder())

    def accepts(self, grammar, text):
        ids = self.vocabulary.encode(text)
        matcher = self.engine.matcher(grammar)
        return matcher.take(ids) == len(ids) and matcher.may_end()


class Engines:
    def __init__(self):
        self.made = {}  # by engine and text, the last of them
        try:
            self.llama = Llama()
        except real_tokenizers.Unavailable as error:
            print(f"skipped: llama.cpp: {error}")
            self.llama = None

    def names(self):
        return [name for name in SYNTAXES if name != "llama.cpp" or self.llama]

    def accepts(self, engine, grammar, text):
        if engine == "llama.cpp":
            return self.llama.accepts(grammar, text)
        if engine == "llguidance":
            return grammar_engines.lark_accepts(grammar, text)
        if self.made.get(engine, ("",))[0] != grammar:
            make = xgrammar.Grammar.from_ebnf if engine == "xgrammar's EBNF" else xgrammar.Grammar.from_structural_tag
            self.made[engine] = (grammar, make(grammar))
        return grammar_engines.xgrammar_accepts(self.made[engine][1], text)


class Run:
    def __init__(self, options):
        self.options = options
        self.dump = Dump(options.dump)
        self.engines = Engines()
        self.counts = collections.Counter()
        self.faults = []

    def template(self, name, told):
        derived = written_replies.derive(self.options.program, told)
        if derived is None or derived["verdict"] == "none":
            return
        replies = written_replies.replies_of(self.options.program, told, derived)
        for (way, prompt), some in groups_of(replies).items():
            base = {"format": json.dumps(derived["format"]), "tools": json.dumps(written_replies.TOOLS), "prompt": prompt, **json.loads(way)}
            answer = self.dump.ask(**base, texts=[reply.text for reply in some], syntaxes=sorted(set(SYNTAXES.values())))
            right = [reply for reply, ok in zip(some, answer.get("accepts", [])) if ok]
            for engine in self.engines.names():
                self.hold(engine, name, way, answer.get("texts", {}).get(SYNTAXES[engine], ""), right)
        self.counts["templates"] += 1

    def hold(self, engine, name, way, grammar, replies):
        for reply in replies:
            try:
                accepted, error = self.engines.accepts(engine, grammar, reply.text), ""
            except (ValueError, RuntimeError) as refused:
                accepted, error = False, str(refused)[:300]
            self.counts[engine] += 1
            if not accepted:
                self.faults.append(f"{engine}: {name}: {reply.about}; {way} {error}\n  prompt {reply.prompt!r}\n  reply  {reply.text!r}")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("dump")
    arguments.add_argument("--share", type=int, default=1)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--show", type=int, default=12)
    options = arguments.parse_args()
    corpus = pathlib.Path(os.environ.get("PARLANCE_CORPUS", ROOT.parent / "shared" / "corpus"))
    run = Run(options)
    for number, (name, told) in enumerate(written_replies.templates(ROOT, corpus)):
        if number % options.share == 0 and options.only in name:
            run.template(name, told)
    for fault in run.faults[:options.show]:
        print("FAULT", fault)
    held = ", ".join(f"{engine} {run.counts[engine]}" for engine in run.engines.names())
    print(f"{run.counts['templates']} templates, replies under their settings: {held}; {len(run.faults)} faults")
    return 1 if run.faults or not run.counts["templates"] else 0


if __name__ == "__main__":
    sys.exit(main())
