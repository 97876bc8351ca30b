"""Grammars in the engines that read them, with real tokenizers: real_engines.py PARLANCE GRAMMAR_DUMP [--samples N] [--walks N]
[--seed N] [--one-choice] [--only TOKENIZER] [--engines lark,gbnf,structural-tag] [--formats FOLDER...] [--list]

For each tokenizer, with the format that its own template shows (real_tokenizers.py says which have none), and each tool choice:

1. Right replies, token by token as a model writes them, control tokens as such, are allowed by llguidance (Lark), llama.cpp (GBNF) and
   xgrammar (structural tags), and may end where they end. The replies are samples of the grammar, and what the template itself
   renders, as far as our matcher accepts it.
2. Walks: tokens drawn from the engines' own masks until the reply may end. What comes of it is read without a malformed event.

With --formats, the walks are over every format of the folders, each with some of the tokenizers. Skipped (77) where packages cannot
be had. Prints a line for each tokenizer and engine; begin reading at Run.one.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import grammar_engines  # noqa: E402  (stands in for torch, and skips where nothing is installed)
import real_tokenizers  # noqa: E402
from grammar_matchers import LlamaCpp, LlGuidance, XGrammar  # noqa: E402

ROOT = HERE.parent.parent
TOOLS = (HERE.parent / "grammars" / "tools.json").read_text()
CHOICES = ("auto", "required", "get_weather_history")
LONGEST = 2500  # bytes of a reply that is walked
ENDS = ['"', '"', '"', '"}', "}", "}", "]", "'", "')"]
CLOSERS = ['"', '"}', '"}}', "}", "}}", "]", "]}", "}]", "'", "')", ")", ")]", "\n", "</", ">", " "]
CALL = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "abcdefghi", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Sidon \"old\" town", "days": 3}}}]}
USER = {"role": "user", "content": "What is the weather in Sidon?"}

# What is known to differ: (tokenizer, engine, choice or "") -> why. Each is shown, and none is a fault.
KNOWN = {}


class Dump:
    """grammar_dump: a request in, an answer out."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class Source:
    """How a tokenizer's model writes replies, and what its template renders of one call."""

    def __init__(self, parlance, vocabulary, origin):
        self.replies = []
        if origin != "own":
            self.format = (ROOT / origin).read_text()
            return
        shown = subprocess.run([parlance, "read", "-m", str(vocabulary.folder), "--show-format"], capture_output=True, text=True)
        self.format = shown.stdout
        prompt = self.render(parlance, vocabulary, [USER], "--generation-prompt")
        whole = self.render(parlance, vocabulary, [USER, CALL])
        if prompt and whole.startswith(prompt):
            reply = whole[len(prompt):]
            ends = [text if isinstance(text, str) else text["texts"][0] for text in json.loads(self.format or "{}").get("end", [])]
            cuts = [reply.find(end.strip()) for end in ends if end.strip() in reply]
            self.replies = [reply[: min(cuts)] if cuts else reply]

    @staticmethod
    def render(parlance, vocabulary, messages, *options):
        request = json.dumps({"messages": messages, "tools": json.loads(TOOLS)})
        done = subprocess.run([parlance, "render", "-m", str(vocabulary.folder), *options, "-"], input=request, capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else ""


class Walker:
    """Draws tokens from an engine's masks: any at all, or those that bring a reply on; and to its end when it has grown long."""

    def __init__(self, vocabulary, format_text, source):
        self.vocabulary = vocabulary
        self.source = source
        marks = []

        def collect(value):
            for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
                collect(item)
            if isinstance(value, str) and 0 < len(value) < 60:
                marks.append(value)
        collect(json.loads(format_text))
        self.plans = [ids for text in marks + CLOSERS for ids in (self.encode(text),) if ids]
        self.closing = [ids for text in marks + ENDS for ids in (self.encode(text),) if ids]
        self.names = [self.encode(text) for text in ("get_weather", "get_weather_history", "now", '{"city": "x"}', "city")]

    def encode(self, text):
        try:
            return self.vocabulary.encode(text)
        except ValueError:
            return []

    def walk(self, matcher, longest, growing=16):
        """A reply, or nothing where none came to its end."""
        ids = []
        while len(ids) < longest:
            long = len(ids) > growing
            if matcher.may_end() and (long or self.source.random() < 0.15):
                return ids
            if self.source.random() < (0.9 if long else 0.5) and self.follow_plan(matcher, ids, self.closing if long else self.plans):
                continue
            allowed = matcher.mask().nonzero()[0]
            allowed = allowed[allowed != self.vocabulary.eos]
            if len(allowed) == 0:
                return ids if matcher.may_end() else None
            token = int(allowed[self.source.randrange(len(allowed))])
            if matcher.take([token]) != 1:
                raise ValueError(f"a token of the mask is refused: {token} {self.vocabulary.names[token]!r} after {self.vocabulary.text(ids)!r}")
            ids.append(token)
        return None

    def follow_plan(self, matcher, ids, plans):
        """Some of a text that the format knows, as far as it is allowed; whether anything was."""
        if plans is self.plans and self.source.random() < 0.2:
            plans = self.names
        for plan in self.source.sample(plans, min(6, len(plans))):
            taken = matcher.take(plan)
            ids += plan[:taken]
            if taken:
                return True
        return False


def strings(value):
    """The texts in a message, arguments too."""
    if isinstance(value, str):
        yield value
        if value[:1] in "[{" and value:
            try:
                yield from strings(json.loads(value))
            except ValueError:
                pass
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from strings(item)


class Run:
    def __init__(self, options):
        self.options = options
        self.dump = Dump(options.dump)
        self.source = random.Random(options.seed)
        self.faults = []
        self.known = []
        self.total_walks = self.total_bad = self.number = 0

    def fault(self, where, what):
        known = next((why for (name, engine, choice), why in KNOWN.items() if name == where[0] and engine in ("", where[1]) and choice in ("", where[2])), None)
        (self.known if known else self.faults).append(f"{' '.join(where)}: {what}" + (f" [{known}]" if known else ""))

    def engines(self, vocabulary):
        makers = {"lark": lambda: LlGuidance(vocabulary), "gbnf": lambda: LlamaCpp(vocabulary, real_tokenizers.llama_folder()),
                  "structural-tag": lambda: XGrammar(vocabulary)}
        for name in self.options.engines.split(","):
            try:
                yield name, makers[name]()
            except real_tokenizers.Unavailable as error:
                print(f"skipped: {name}: {error}")

    def one(self, vocabulary, name, format_text, own_replies=()):
        """Every tool choice of one format, in each engine."""
        walker = Walker(vocabulary, format_text, self.source)
        engines = list(self.engines_of(vocabulary))
        counts = {engine: [0, 0, 0, 0, 0, 0.0] for engine, _ in engines}
        self.number += 1
        choices = CHOICES if json.loads(format_text).get("calls") else ("auto",)  # no call can be required where none can be written
        for choice in [choices[self.number % len(choices)]] if self.options.one_choice else choices:
            base = {"format": format_text, "tools": TOOLS, "choice": choice, "control": vocabulary.control}
            answer = self.dump.ask(**base, samples=self.options.samples, plain=True, seed=self.source.randrange(1 << 30), syntaxes=[e for e, _ in engines],
                                   texts=list(own_replies))
            if "error" in answer:
                self.fault((name, "", choice), answer["error"])
                continue
            # A control token's text inside of a text would be spelled out, where a tokenizer knows no better.
            marks = [t["text"] for t in vocabulary.control]
            spelled = {s["text"] for s in answer["samples"] if any(mark in value for mark in marks for value in strings(s["read"]))}
            replies = [s["text"] for s in answer["samples"]] + [t for t, good in zip(own_replies, answer["accepts"]) if good]
            replies = [r for r in replies if len(r) < LONGEST and r not in spelled]
            for engine_name, engine in engines:
                where = (name, engine_name, choice)
                started = time.time()
                try:
                    self.replies(where, vocabulary, engine, answer["texts"][engine_name], replies, counts[engine_name])
                    self.walks(where, vocabulary, engine, answer["texts"][engine_name], walker, base, counts[engine_name])
                except ValueError as error:
                    self.fault(where, str(error)[:600])
                counts[engine_name][5] += time.time() - started
        for engine_name, c in counts.items():
            print(f"{name:28} {engine_name:15} replies {c[0]}/{c[1]}  walks {c[2]}, unfinished {c[3]}, not read {c[4]}  {c[5]:.1f} s", flush=True)
            self.total_walks += c[2]
            self.total_bad += c[4]

    def engines_of(self, vocabulary):
        if not hasattr(vocabulary, "engines"):
            vocabulary.engines = list(self.engines(vocabulary))
        return vocabulary.engines

    def replies(self, where, vocabulary, engine, grammar, replies, count):
        for reply in replies:
            if where[1] != "gbnf" and grammar_engines.is_narrower(reply):
                continue
            if where[1] == "gbnf" and "\0" in reply:  # llama.cpp never allows a token that begins with it
                continue
            try:
                ids = vocabulary.encode(reply)
            except ValueError:
                continue
            count[1] += 1
            matcher = engine.matcher(grammar)
            taken = matcher.take(ids)
            if taken == len(ids) and matcher.may_end():
                count[0] += 1
                continue
            at = "may not end" if taken == len(ids) else f"refuses {vocabulary.names[ids[taken]]!r} at {taken}"
            self.fault(where, f"{at} of {reply!r}")

    def walks(self, where, vocabulary, engine, grammar, walker, base, count):
        texts = []
        for _ in range(3 * self.options.walks):  # a few do not come to their end
            if len(texts) == self.options.walks:
                break
            ids = walker.walk(engine.matcher(grammar), self.options.longest)
            if ids is None:
                count[3] += 1
                continue
            try:
                texts.append(vocabulary.text(ids).decode())
            except UnicodeDecodeError:
                count[3] += 1
        if not texts:
            return
        count[2] += len(texts)
        base = {key: value for key, value in base.items() if key != "control"}
        for text, wrong in zip(texts, self.dump.ask(**base, replies=texts)["faults"]):
            if wrong:
                count[4] += 1
                self.fault(where, f"{wrong} of the mask's {text!r}")


def names_of(options):
    names = [n for n in real_tokenizers.TOKENIZERS if options.only in n]
    return names[: options.tokenizers] if options.tokenizers else names


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("parlance")
    arguments.add_argument("dump")
    arguments.add_argument("--samples", type=int, default=10)
    arguments.add_argument("--walks", type=int, default=4, help="strings from each engine's masks, for each tool choice")
    arguments.add_argument("--longest", type=int, default=240, help="tokens of such a string; what is longer counts as unfinished")
    arguments.add_argument("--seed", type=int, default=20260314)
    arguments.add_argument("--one-choice", action="store_true", help="of the tool choices, each format's next")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--tokenizers", type=int, default=0, help="the first so many of them")
    arguments.add_argument("--engines", default="lark,gbnf,structural-tag")
    arguments.add_argument("--formats", nargs="*", default=[])
    arguments.add_argument("--list", action="store_true", help="every fault, and what is known to differ")
    options = arguments.parse_args()
    run = Run(options)
    seen = 0
    for name in names_of(options):
        try:
            vocabulary = real_tokenizers.Vocabulary(name)
        except real_tokenizers.Unavailable as error:
            print(f"skipped: {name}: {error}")
            continue
        seen += 1
        if options.formats:
            for file in sorted(f for folder in options.formats for f in pathlib.Path(folder).glob("*.reply.json")):
                run.one(vocabulary, f"{name}+{file.name.removesuffix('.reply.json')}", file.read_text())
            continue
        source = Source(options.parlance, vocabulary, real_tokenizers.TOKENIZERS[name])
        run.one(vocabulary, name, source.format, source.replies)
    if not seen:
        print("skipped: no tokenizer could be had")
        return 77
    for line in run.known if options.list else []:
        print("KNOWN", line[:600])
    for line in run.faults[: None if options.list else 20]:
        print("FAULT", line[:900])
    print(f"{seen} tokenizers, {run.total_walks} walks, {run.total_bad} not read, {len(run.faults)} faults, {len(run.known)} known")
    return 1 if run.faults else 0


if __name__ == "__main__":
    sys.exit(main())
