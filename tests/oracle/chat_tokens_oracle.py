#!/usr/bin/env python3
"""Holds `parlance tokens` against transformers' apply_chat_template(tokenize=True), ids and assistant masks.

    chat_tokens_oracle.py PARLANCE [--every N] [--corpus FOLDER] [--all] [--random N] [--seed N]

Templates: the tree's own formats, and those of the corpus where it is there; conversations likewise; tokenizers: those of
train_tokenizers.py. Each template meets two tokenizers, --all gives it all of them; --every N takes every Nth template; --random N adds as many
conversations made at random for each template and tokenizer.
Compared are conversations in which nothing was kept from being a control token (`guarded` is empty); of the others it is
held that a control token's text is in their strings. Masks are compared where a template has a generation tag: ours with the
rule (any byte of a tag's span), transformers' with the rule too; where that differs, mask_of_overlaps says why, or mask_of_ends for older releases. Ends with 1 on a difference, with 77 where there is nothing
to compare with. Begin reading at main.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOKENIZERS = ROOT / "build" / "oracle" / "tokenizers"
TAG = re.compile(r"\{%[-+]?\s*generation\s*[-+]?%\}")
NOW = datetime.datetime(2026, 3, 14, 15, 9, 26)
try:
    import transformers.utils.chat_template_utils as chat_template_utils
    from transformers import PreTrainedTokenizerFast
    from transformers import __version__ as VERSION
except ImportError:
    print("skipped: run tests/oracle/setup.sh first")
    sys.exit(77)


DROPS_NULL = [int(part) for part in VERSION.split(".")] >= [5, 23]  # members of messages that are None, before the template
OVERLAPS = [int(part) for part in VERSION.split(".")] >= [5, 24]  # masks of all tokens that a span has a part of


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


def own_cases():
    """The formats of the tree with variations of their examples."""
    formats = ROOT / "formats"
    contexts = []
    for path in sorted((formats / "examples").glob("*.json")):
        request = json.loads(path.read_text("utf-8"))
        messages, rest = request["messages"], {key: value for key, value in request.items() if key != "messages"}
        for message in messages:
            for call in message.get("tool_calls") or []:
                if isinstance(call.get("function", {}).get("arguments"), str):
                    call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        for count in range(1, len(messages) + 1):
            contexts.append(rest | {"messages": messages[:count], "add_generation_prompt": count % 2 == 1})
            contexts.append({"messages": messages[:count], "add_generation_prompt": count % 2 == 0})
    return [(path.name, path.read_text("utf-8")) for path in sorted(formats.glob("*.jinja"))], contexts


WORDS = ("hello", "world", " ", "  ", "\n", "\n\n", "a", "é", "中文", "🙂", "e\u0301", "<b>", "x = 1;", "\t", "ﬁ", "The", "don't", "42", "-",
         "\u00a0", "\u200d", "_", "</s", "{", "}")


def random_context(rng):
    """A conversation with white space and characters of several tokens where spans begin and end."""
    def text():
        ends = [rng.choice(("", "", " ", "\n")) for _ in range(2)]
        return ends[0] + "".join(rng.choice(WORDS) for _ in range(rng.randint(1, 8))) + ends[1]

    def content():
        parts = [{"type": "text", "text": text()} for _ in range(rng.randint(1, 2))]
        return text() if rng.random() < 0.5 else [{"type": "image"}] * (rng.random() < 0.2) + parts

    messages = [{"role": "system", "content": content()}] * (rng.random() < 0.3)
    for _ in range(rng.randint(1, 3)):
        messages += [{"role": "user", "content": content()}, {"role": "assistant", "content": content()}]
        if rng.random() < 0.3:
            messages[-1]["reasoning_content"] = text()
        if rng.random() < 0.3:
            call = {"type": "function", "id": "c1", "function": {"name": "look", "arguments": {"a": text(), "b": 3}}}
            messages[-1]["tool_calls"] = [call]
            messages.append({"role": "tool", "name": "look", "tool_call_id": "c1", "content": text()})
            messages.append({"role": "assistant", "content": content()})
    return {"messages": messages, "add_generation_prompt": rng.random() < 0.4}


def corpus_cases(folder):
    templates = [(path.name, path.read_text("utf-8")) for path in sorted((folder / "templates").glob("*.jinja"))]
    contexts = [json.loads(path.read_text("utf-8"))["context"] for path in sorted((folder / "conversations").glob("*.json"))]
    # transformers reads these two itself, and cannot go without messages.
    return templates, [c for c in contexts if c.get("messages") and not c.get("continue_final_message")]


def theirs(tokenizer, template, context):
    """(ids, mask) or (None, None) where transformers fails."""
    arguments = {key: value for key, value in context.items() if key not in ("messages", "tools", "documents", "id")}
    tagged = TAG.search(template) is not None
    try:
        result = tokenizer.apply_chat_template(
            context["messages"], tools=context.get("tools"), documents=context.get("documents"), chat_template=template,
            tokenize=True, return_dict=True, return_assistant_tokens_mask=tagged, **arguments)
    except Exception:  # whatever a template does
        return None, None
    return result["input_ids"], result.get("assistant_masks") if tagged else None


def ours(binary, template, tokenizer, contexts):
    lines = "".join(json.dumps(context) + "\n" for context in contexts)
    command = [binary, "tokens", "-t", template, "--tokenizer", tokenizer, "--as-transformers", "--transformers", VERSION, "--jsonl", "--json",
               "--now", NOW.isoformat()]
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return [{"error": done.stderr}] * len(contexts)
    return [json.loads(line) for line in done.stdout.split("\n") if line]  # splitlines() ends a line at U+2028 too


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)


def spans_of(tokenizer, template, context):
    """The rendered text and its generation tags' spans, in characters, as apply_chat_template has them."""
    arguments = {key: value for key, value in context.items() if key not in ("messages", "tools", "documents", "id")}
    messages = [{key: value for key, value in message.items() if value is not None or not DROPS_NULL} for message in context["messages"]]
    texts, spans = chat_template_utils.render_jinja_template(
        conversations=[messages], tools=context.get("tools"), documents=context.get("documents"),
        chat_template=template, return_assistant_tokens_mask=True, **{**tokenizer.special_tokens_map, **arguments})
    return texts[0], spans[0]


def true_mask(text, spans, tokens):
    """By our rule: a token is learnt if any of its bytes is in a span, or, where it has none, if it stands at or behind a span's first."""
    places = [0]
    for character in text:
        places.append(places[-1] + len(character.encode("utf-8")))
    learnt = [(places[begin], places[end]) for begin, end in spans]
    return [int(any(t["begin"] < end and begin < max(t["end"], t["begin"] + 1) for begin, end in learnt)) for t in tokens]


def mask_of_overlaps(tokenizer, text, spans, truth):
    """The mask as transformers makes it since 5.24, and where that is not the rule: (mask, reasons)."""
    offsets = tokenizer(text, add_special_tokens=False).encodings[0].offsets
    mask, reasons, at = [0] * len(offsets), set(), 0
    for i, (begin, end) in enumerate(offsets):
        while at < len(spans) and begin >= spans[at][1]:
            at += 1
        mask[i] = int(at < len(spans) and end > spans[at][0])
        if mask[i] and not truth[i]:
            reasons.add("a token that took white space of the span along is learnt")
        elif truth[i] and not mask[i]:
            reasons.add("a token without characters is not learnt where a span begins" if begin == end else
                        "a token whose characters transformers counts to another is not learnt")
    return mask, reasons


def mask_of_ends(tokenizer, text, spans, truth):
    """The mask as transformers made it before 5.24, by a span's first and last character, and where that is not the rule: (mask, reasons)."""
    encoding = tokenizer(text, add_special_tokens=False)
    mask, reasons = [0] * len(encoding["input_ids"]), set()
    for begin, end in spans:
        first, last = encoding.char_to_token(0, begin), encoding.char_to_token(0, end - 1)
        if first is None:
            reasons.add("a span that begins in white space which a token took along is dropped, and all behind it")
            break
        if not last:
            reasons.add("a span that ends in white space which a token took along goes on to the end of the prompt")
        elif last + 1 < len(mask) and end - 1 in range(*(encoding.token_to_chars(last + 1) or (0, 0))):
            reasons.add("of the tokens that share a span's last character, only the first is learnt")
        for i in range(first, last + 1 if last else len(mask)):
            mask[i] = 1
            if not truth[i] and last:
                reasons.add("a token that took white space of the span along is learnt")
    return mask, reasons


def control_texts(tokenizer):
    """What can be a control token (docs/tokens.md): what was added, and pieces of the vocabulary that are written as such. A trained
    vocabulary may have learnt one of these from its text."""
    return set(tokenizer.get_added_vocab()) | {piece for piece in tokenizer.get_vocab() if re.fullmatch(r"<\|.+\|>|<｜.+｜>", piece)}


class Score:
    def __init__(self):
        self.equal = self.refused = self.guarded = self.masks = self.other_masks = self.wrong = 0
        self.known = {}

    def fault(self, *words):
        self.wrong += 1
        if self.wrong <= 10:
            print(*words)

    def compare(self, name, tokenizer, template, context, answer, added):
        ids, mask = theirs(tokenizer, template, context)
        where = f"{name}, {tokenizer.name_or_path}:"
        if ids is None or "error" in answer:
            self.refused += 1
            if (ids is None) != ("error" in answer):
                self.fault(where, "one fails:", answer.get("error", "transformers"), json.dumps(context)[:300])
            return
        if answer["guarded"]:
            self.guarded += 1
            kept = {piece["text"].removeprefix(" ") for piece in answer["guarded"]}  # a decoder may part its words by blanks
            if not kept <= added:
                self.fault(where, "guarded without reason:", kept)
            return
        self.equal += 1
        if answer["ids"] != ids:
            self.fault(where, "other ids", json.dumps(context)[:300], answer["ids"][:40], ids[:40])
        elif mask is not None:
            self.compare_masks(where, tokenizer, template, context, answer["tokens"], mask)

    def compare_masks(self, where, tokenizer, template, context, tokens, mask):
        """Ours is the rule's; theirs is, or is explained by how they make it."""
        self.masks += 1
        text, spans = spans_of(tokenizer, template, context)
        truth = true_mask(text, spans, tokens)
        ours_wrong = [(i, t["text"], t["mask"], m) for i, (t, m) in enumerate(zip(tokens, truth, strict=True)) if t["mask"] != m]
        if ours_wrong:
            self.fault(where, "not the rule's mask", json.dumps(context)[:300], ours_wrong[:8])
        if mask == truth:
            return
        self.other_masks += 1
        again, reasons = (mask_of_overlaps if OVERLAPS else mask_of_ends)(tokenizer, text, spans, truth)
        if again != mask or not reasons:
            self.fault(where, "another mask", json.dumps(context)[:300],
                       [(i, t["text"], m, other) for i, (t, m, other) in enumerate(zip(tokens, truth, mask)) if m != other][:8])
        for reason in reasons:
            self.known[reason] = self.known.get(reason, 0) + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--corpus", default=os.environ.get("PARLANCE_CORPUS") or ROOT.parent / "shared" / "corpus")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--random", type=int, default=10)
    parser.add_argument("--seed", type=int, default=20260314)
    options = parser.parse_args()
    chat_template_utils.datetime = Clock
    folders = sorted(path.parent for path in TOKENIZERS.glob("*/tokenizer.json"))
    if not folders:
        print("skipped: no tokenizers, run tests/oracle/setup.sh first")
        sys.exit(77)
    tokenizers = [PreTrainedTokenizerFast.from_pretrained(folder) for folder in folders]
    added = [control_texts(tokenizer) for tokenizer in tokenizers]
    works = [own_cases()]
    corpus = pathlib.Path(options.corpus)
    if (corpus / "templates").is_dir():
        works.append(corpus_cases(corpus))
    else:
        print("no corpus: the tree's own formats only")
    score, number, rng = Score(), 0, random.Random(options.seed)
    folder = tempfile.TemporaryDirectory()  # its own: two builds may be tested at once
    scratch = pathlib.Path(folder.name) / "chat.jinja"
    for templates, contexts in works:
        for name, template in templates[::options.every]:
            number += 1
            scratch.write_text(template, "utf-8", newline="")
            chosen = range(len(folders)) if options.all or templates is works[0][0] else [number % len(folders), (number + 5) % len(folders)]
            for i in chosen:
                # With a share, each tokenizer gets one conversation in three, another third than the one before.
                asked = contexts[(number + i) % 3 :: 3] if options.every > 1 else contexts
                asked = asked + [random_context(rng) for _ in range(options.random)]
                answers = ours(options.binary, scratch, folders[i], asked)
                for context, answer in zip(asked, answers, strict=True):
                    score.compare(name, tokenizers[i], template, context, answer, added[i])
    print(f"{score.equal} conversations compared, {score.masks} with masks, {score.other_masks} of which transformers makes "
          f"otherwise than the rule; {score.guarded} guarded, {score.refused} refused by both; "
          f"{score.wrong} wrong")
    for reason, count in score.known.items():
        print(f"  {count} masks differ knowingly: {reason}")
    sys.exit(1 if score.wrong or score.equal < 100 else 0)


if __name__ == "__main__":
    main()
