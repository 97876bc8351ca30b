#!/usr/bin/env python3
"""Holds Rendering.kinds against where each character came from, over the conversations of the corpus.

    kinds_law.py [--every N] [--show N]

The kinds are found by reading the assistant's turns as replies. The origins say independently what a character is: text of
`reasoning_content` is reasoning, of `tool_calls` a call, of `content` content unless it holds a tag of reasoning itself. And
the kinds cover the assistant's ranges, no more and no less. Prints how many conversations agree, and by template where they do
not. Ends with 1 if a template differs that EXPECTED does not name, with 77 where there is no corpus.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from typing import Any

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import parlance
from material import CORPUS, corpus_cases, corpus_template

KINDS = ((re.compile(r"^messages\[\d+\]\.(reasoning_content|reasoning|thinking)\b"), "reasoning"),
         (re.compile(r"^messages\[\d+\]\.tool_calls\b"), "calls"),
         (re.compile(r"^messages\[\d+\]\.content\b"), "content"))  # fmt: skip
TAGS = ("<think>", "</think>")
ARGUMENTS = "arguments that are a list or a number are no call of the format"
EXPECTED: dict[str, str] = {
    "templates/axolotl--llama3_2_vision.jinja": ARGUMENTS,
    "templates/huggingface.js--meta-llama_Llama-3.2-11B-Vision-Instruct.jinja": ARGUMENTS,
    "templates/llama.cpp--meta-llama-Llama-3.2-3B-Instruct.jinja": ARGUMENTS,
    "templates/unsloth--llama31_template.jinja": ARGUMENTS,
    "templates/llama.cpp--deepseek-ai-DeepSeek-R1-Distill-Qwen-32B.jinja": ARGUMENTS,
    "templates/llama.cpp--meetkai-functionary-medium-v3.1.jinja": ARGUMENTS,
    "templates/llama.cpp--moonshotai-Kimi-K2.jinja": ARGUMENTS,
    "templates/llama.cpp--openai-gpt-oss-120b.jinja": ARGUMENTS,
    "templates/llama.cpp--upstage-Solar-Open-100B.jinja": ARGUMENTS,
    "templates/trl--deepseekv3_training.jinja": ARGUMENTS,
    "templates/trl--gptoss_training.jinja": ARGUMENTS,
    "templates/llama.cpp--NVIDIA-Nemotron-Nano-v2.jinja": "the template opens reasoning before the last content and never closes it",
    "templates/ollama--gemma4_e2b_chat_template.jinja": "it writes a turn's content behind the results, and drops its reasoning later",
    "templates/unsloth--gptoss_template.jinja": "the template writes content beside reasoning in the channel of reasoning",
}


def faults(prompt: parlance.Rendering, messages: list[Any]) -> list[str]:
    kinds = prompt.kinds
    found = []
    if joined([span for _, span in kinds]) != joined(prompt.assistant):
        found.append(f"the kinds cover {joined([span for _, span in kinds])}, the assistant's ranges are {joined(prompt.assistant)}")
    for span in prompt.spans:
        expected = next((kind for pattern, kind in KINDS if pattern.match(span.path)), None)
        if expected is None or not prompt.text[span.begin : span.end].strip():
            continue
        if expected == "content" and any(tag in str(messages[span.message or 0]) for tag in TAGS):
            continue
        for kind, (begin, end) in kinds:
            begin, end = max(begin, span.begin), min(end, span.end)
            if begin < end and kind != expected and prompt.text[begin:end].strip():
                found.append(f"{span.path} is {kind}: {prompt.text[begin:end][:60]!r}")
    return found


def joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    whole: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if begin == end:
            continue
        if whole and begin <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((begin, end))
    return whole


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--show", type=int, default=1)
    options = parser.parse_args()
    if not CORPUS.exists():
        print("skipped: no corpus")
        return 77
    counts: Counter[str] = Counter()
    wrong: dict[str, list[str]] = {}
    for path, cases in corpus_cases().items():
        template = parlance.Template.from_string(corpus_template(path), as_transformers=True)
        for case in cases[:: options.every]:
            context: dict[str, Any] = dict(case["context"])
            try:
                prompt = template.render(assistant=True, **context)
                ranges = prompt.assistant
                found = faults(prompt, context["messages"]) if ranges else []
            except (parlance.Error, TypeError):
                counts["not rendered"] += 1
                continue
            counts["without the assistant" if not ranges else "differ" if found else "agree"] += 1
            if found:
                wrong.setdefault(path, []).append(f"{case['id']}: {found[0]}")
    for path, rows in wrong.items():
        known = EXPECTED.get(path)
        print(f"{path}: {len(rows)} differ{'' if known is None else ', as is known: ' + known}")
        for row in rows[: options.show if known is None else 0]:
            print(f"  {row}"[:300])
    print(", ".join(f"{count} {name}" for name, count in counts.most_common()))
    return 1 if set(wrong) - set(EXPECTED) else 0


if __name__ == "__main__":
    sys.exit(main())
