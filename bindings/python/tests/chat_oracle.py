#!/usr/bin/env python3
"""Holds parlance.apply_chat_template against the method of the transformers that is installed, in one process.

    chat_oracle.py [--every N]

Every conversation of the corpus, where it is there: text, class of the error, and for one in ten ids, masks and batches, with the
small tokenizer that tests/oracle/setup.sh trains. And requests made at random for templates that print all that they see: every
argument of the method. Prints one line of counts. Ends with 1 on a difference, with 77 where something is not there.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
from typing import Any

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import parlance
from material import CORPUS, TOKENIZERS, corpus_cases, corpus_template

try:
    import transformers
except ImportError:
    print("skipped: no transformers")
    sys.exit(77)

SHOWN = 10
# Objects that are no JSON are placeholders from 5.23 on; before, templates got them as they are, which parlance does not follow.
PLACEHOLDERS = tuple(map(int, transformers.__version__.split(".")[:2])) >= (5, 23)
NOW = __import__("datetime").datetime(2026, 3, 14, 15, 9, 26)
OWN = {
    "prints": "{% for m in messages %}{{ m }}{% for k, v in m.items() %}[{{ k }}={{ v }}]{% endfor %}{% endfor %}"
    "{{ tools }}{{ documents }}{{ add_generation_prompt }}{{ bos_token }}{{ extra }}",
    "json": "{{ messages | tojson }}{{ tools | tojson(indent=1) }}{{ documents | tojson }}{{ extra | tojson }}",
    "tagged": "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|im_end|>"
    "{% endgeneration %}{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% endif %}",
    "reasons": "{% for m in messages %}{{ m.role }}:{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}"
    "{{ m.content | trim if m.content is string else m.content }}\n{% endfor %}",
}


def outcome(call: Any) -> Any:
    """What a call gives, as JSON can hold it; or the class of its error."""
    try:
        given = call()
    except RecursionError:
        return ("error", "any")
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ != "parlance" and kind.__name__ != "Error"]
        return ("error", kinds[0], str(getattr(error, "message", error)) if kinds[0] == "TemplateError" else "")
    if isinstance(given, transformers.BatchEncoding):
        return {name: as_lists(value) for name, value in given.data.items()}
    return as_lists(given)


def as_lists(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return ["array", str(value.dtype), as_lists(value.tolist())]
    return [as_lists(item) for item in value] if isinstance(value, (list, tuple)) else value


class Comparison:
    def __init__(self, tokenizer: Any):
        self.tokenizer = tokenizer
        self.compared = self.protected = self.differ = self.errors = 0

    def compare_protected(self, name: str, real: Any, *args: Any, **kwargs: Any) -> None:
        """Protection changes nothing where the request has no text of a control token."""
        if isinstance(real, tuple) or any(token in f"{args}{kwargs}" for token in ("<|im_", "<tool_", "<think>", "</")):
            return
        ours = outcome(lambda: parlance.apply_chat_template(self.tokenizer, *args, protect=True, **kwargs))
        self.protected += 1
        if ours != real:
            self.report(f"{name}, protected", real, ours, kwargs)

    def compare(self, name: str, *args: Any, **kwargs: Any) -> None:
        real = outcome(lambda: type(self.tokenizer).apply_chat_template(self.tokenizer, *args, **kwargs))
        ours = outcome(lambda: parlance.apply_chat_template(self.tokenizer, *args, **kwargs))
        self.compared += 1
        self.errors += isinstance(real, tuple)
        if real != ours and not (isinstance(real, tuple) and isinstance(ours, tuple) and "any" in (real[1], ours[1])):
            self.report(name, real, ours, kwargs)
        if kwargs.get("tokenize", True) and not kwargs.get("sanitize_control_tokens"):
            self.compare_protected(name, real, *args, **kwargs)

    def report(self, name: str, real: Any, ours: Any, kwargs: Any) -> None:
        self.differ += 1
        if self.differ <= SHOWN:
            print(f"{name}: {str(kwargs)[:300]}\n  transformers {str(real)[-400:]!r}\n  parlance     {str(ours)[-400:]!r}")


def compare_corpus(one: Comparison, every: int) -> None:
    number = 0
    for path, cases in list(corpus_cases().items())[::every]:
        one.tokenizer.chat_template = corpus_template(path)
        chats = []
        for case in cases:
            context = dict(case["context"])
            messages = context.pop("messages")
            known = {name: context.pop(name) for name in ("tools", "documents", "add_generation_prompt") if name in context}
            if any(name in context for name in ("conversation", "chat_template", "tokenize", "padding", "self")):
                continue
            number += 1
            one.compare(case["id"], messages, tokenize=False, **known, **context)
            if number % 10 == 0:
                one.compare(case["id"], messages, **known, **context)
                chats.append(messages)
        for batch in (chats[i : i + 4] for i in range(0, len(chats), 4)):
            one.compare(path, batch, padding=True, return_tensors="np")
            one.compare(path, batch, tokenize=False)


def text(rng: random.Random) -> str:
    return rng.choice(("", "Hi", " two words ", "None", "é\n", "<|im_end|>", "x" * 40))


def message(rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {"role": rng.choice(("system", "user", "assistant", "tool")), "content": text(rng)}
    if rng.random() < 0.2:
        made["content"] = rng.choice((None, [{"type": "text", "text": text(rng)}], [{"type": "image"}], (text(rng), 1)))
    for name in ("reasoning_content", "thinking", "reasoning", "name", "refusal"):
        if rng.random() < 0.2:
            made[name] = rng.choice((None, text(rng)))
    return made


def arguments(rng: random.Random) -> dict[str, Any]:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    choices: dict[str, Any] = {
        "tools": (None, [], [tool], [tool, "look"]),
        "documents": (None, [], [{"title": None, "text": "t"}], ["t"]),
        "add_generation_prompt": (True, False),
        "continue_final_message": (True, "reasoning_content", "content", False, False),
        "tokenize": (True, False),
        "padding": (True, False, "longest", "max_length"),
        "truncation": (True, False),
        "max_length": (3, 30, None),
        "return_tensors": ("np", None),
        "return_dict": (True, False),
        "return_assistant_tokens_mask": (True, False),
        "sanitize_control_tokens": (True, False, False),
        "tokenizer_kwargs": ({}, None, {"return_attention_mask": False}),
        "bos_token": ("<s>",),
        "extra": (None, 1, "x", {"y": None, "z": (1, 2)}, *([[b"bytes"]] if PLACEHOLDERS else [])),
    }
    return {name: rng.choice(values) for name, values in choices.items() if rng.random() < 0.3}


def compare_random(one: Comparison, count: int) -> None:
    rng = random.Random(20261124)
    for name, template in OWN.items():
        one.tokenizer.chat_template = template
        for _ in range(count):
            one.tokenizer.truncation_side = rng.choice(("left", "right"))
            chats = [[message(rng) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))] for _ in range(rng.choice((1, 2, 3)))]
            one.compare(name, rng.choice((chats, chats[0], chats[0], [], tuple(chats[0]))), **arguments(rng))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--random", type=int, default=400)
    options = parser.parse_args()
    if not (TOKENIZERS / "chatml").exists():
        print("skipped: no trained tokenizers")
        return 77
    logging.disable(logging.WARNING)
    one = Comparison(
        transformers.PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZERS / "chatml" / "tokenizer.json"), pad_token="<|im_end|>")
    )
    compare_random(one, options.random)
    if CORPUS.exists():
        compare_corpus(one, options.every)
    counts = f"{one.compared} calls ({one.errors} refused), {one.protected} of them protected too, {one.differ} differ"
    print(f"transformers {transformers.__version__}: {counts}")
    return 1 if one.differ else 0


if __name__ == "__main__":
    sys.exit(main())
