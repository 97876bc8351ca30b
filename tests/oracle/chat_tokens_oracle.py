#!/usr/bin/env python3
"""Holds `parlance tokens` against transformers' apply_chat_template(tokenize=True), ids and assistant masks.

    chat_tokens_oracle.py PARLANCE [--every N] [--corpus FOLDER] [--all]

Templates: the tree's own formats, and those of the corpus where it is there; conversations likewise; tokenizers: those of
train_tokenizers.py. Each template meets two tokenizers, --all gives it all of them; --every N takes every Nth template.
Compared are conversations in which nothing was kept from being a control token (`guarded` is empty); of the others it is
held that a control token's text is in their strings. Masks are compared where transformers has them, which is where a
template has a generation tag; KNOWN names what is wrong there. Ends with 1 on a difference, with 77 where there is nothing
to compare with. Begin reading at main.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOKENIZERS = ROOT / "build" / "oracle" / "tokenizers"
TAG = re.compile(r"\{%[-+]?\s*generation\s*[-+]?%\}")
DEFAULTS = {"messages": [], "tools": None, "documents": None, "add_generation_prompt": False}  # what transformers passes
NOW = datetime.datetime(2026, 3, 14, 15, 9, 26)
try:
    import transformers.utils.chat_template_utils as chat_template_utils
    from transformers import PreTrainedTokenizerFast
except ImportError:
    print("skipped: run tests/oracle/setup.sh first")
    sys.exit(77)


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


def as_transformers_passes(context):
    """apply_chat_template writes reasoning under each name it may be read by before the template sees a message."""
    variables = {key: value for key, value in context.items() if key != "id"}
    return variables | {"messages": chat_template_utils._alias_reasoning_fields(variables["messages"])}


def ours(binary, template, tokenizer, contexts):
    lines = "".join(json.dumps(DEFAULTS | as_transformers_passes(context)) + "\n" for context in contexts)
    command = [binary, "tokens", "-t", template, "--tokenizer", tokenizer, "--as-is", "--jsonl", "--json", "--now", NOW.isoformat()]
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    if done.returncode != 0:
        return [{"error": done.stderr}] * len(contexts)
    return [json.loads(line) for line in done.stdout.splitlines()]


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


def known_mask_fault(tokens, mask):
    """Where transformers' own mask is wrong: the reason, or "" where it is none of the known ones."""
    differing = [i for i, token in enumerate(tokens) if token["mask"] != mask[i]]
    if all(tokens[i]["mask"] == 1 for i in differing) and not any(mask[differing[0]:]):
        return "a span that begins in white space which a token took along is dropped, and all behind it"
    if all(mask[i] == 1 for i in differing) and all(mask[differing[0]:]):
        return "a span that ends in white space which a token took along goes on to the end of the prompt"
    reasons = set()
    for i in differing:
        token, before = tokens[i], tokens[i - 1] if i else None
        after = tokens[i + 1] if i + 1 < len(tokens) else None
        is_further = before and (before["end"] > token["begin"] or before["begin"] == before["end"] == token["begin"])
        if token["mask"] == 1 and is_further or "\ufffd" in token["text"]:
            reasons.add("of a last character that is several tokens, only the first is learnt")
        elif token.get("control") and token["mask"] == 0 and after and after["begin"] > token["end"]:
            reasons.add("a token that took white space of the span along is learnt")
        else:
            return ""
    return "; ".join(sorted(reasons))


class Score:
    def __init__(self):
        self.equal = self.refused = self.guarded = self.masks = self.wrong = 0
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
            kept = {piece["text"] for piece in answer["guarded"]}
            if not kept <= added:
                self.fault(where, "guarded without reason:", kept)
            return
        self.equal += 1
        if answer["ids"] != ids:
            self.fault(where, "other ids", json.dumps(context)[:300], answer["ids"][:40], ids[:40])
        elif mask is not None:
            self.masks += 1
            if [token["mask"] for token in answer["tokens"]] != mask:
                reason = known_mask_fault(answer["tokens"], mask)
                if not reason:
                    self.fault(where, "another mask", json.dumps(context)[:300],
                               [(i, t["text"], t["mask"], m) for i, (t, m) in enumerate(zip(answer["tokens"], mask)) if t["mask"] != m][:8])
                else:
                    self.known[reason] = self.known.get(reason, 0) + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--corpus", default=os.environ.get("PARLANCE_CORPUS") or ROOT.parent / "shared" / "corpus")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    chat_template_utils.datetime = Clock
    folders = sorted(path.parent for path in TOKENIZERS.glob("*/tokenizer.json"))
    if not folders:
        print("skipped: no tokenizers, run tests/oracle/setup.sh first")
        sys.exit(77)
    tokenizers = [PreTrainedTokenizerFast.from_pretrained(folder) for folder in folders]
    added = [set(tokenizer.get_added_vocab()) for tokenizer in tokenizers]
    works = [own_cases()]
    corpus = pathlib.Path(options.corpus)
    if (corpus / "templates").is_dir():
        works.append(corpus_cases(corpus))
    else:
        print("no corpus: the tree's own formats only")
    score, number = Score(), 0
    folder = tempfile.TemporaryDirectory()  # its own: two builds may be tested at once
    scratch = pathlib.Path(folder.name) / "chat.jinja"
    for templates, contexts in works:
        for name, template in templates[::options.every]:
            number += 1
            scratch.write_text(template, "utf-8", newline="")
            chosen = range(len(folders)) if options.all or templates is works[0][0] else [number % len(folders), (number + 5) % len(folders)]
            for i in chosen:
                answers = ours(options.binary, scratch, folders[i], contexts)
                for context, answer in zip(contexts, answers, strict=True):
                    score.compare(name, tokenizers[i], template, context, answer, added[i])
    print(f"{score.equal} conversations compared, {score.masks} with masks; {score.guarded} guarded, {score.refused} refused by both; "
          f"{score.wrong} wrong")
    for reason, count in score.known.items():
        print(f"  {count} masks differ knowingly: {reason}")
    sys.exit(1 if score.wrong or score.equal < 100 else 0)


if __name__ == "__main__":
    main()
