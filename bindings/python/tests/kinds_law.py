#!/usr/bin/env python3
"""Holds Rendering.kinds against where each character came from, over the conversations of the corpus.

    kinds_law.py [--every N] [--show N]

The kinds are found by reading the assistant's turns as replies. The origins say independently what a character is: text of
`reasoning_content` is reasoning, of `tool_calls` a call, of `content` content unless it holds a tag of reasoning itself. And
the kinds cover the assistant's ranges, no more and no less.

The second part renders REPLIES by each template. Where a reply's turn begins with the prompt for it, its kinds are those that a
reader of the reply gives of the same text, as a Session's are that sampled it. And what the template writes around content is
no content, but blanks.

Prints how many conversations and replies agree, and by template where they do not. Ends with 1 if a template differs that EXPECTED
or EXPECTED_OF_REPLIES does not name, with 77 where there is no corpus.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from typing import Any

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import parlance
from material import CORPUS, ROOT, corpus_cases, corpus_template

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
EXPECTED_OF_REPLIES = {
    "llama.cpp--NVIDIA-Nemotron-Nano-v2.jinja": "it makes a turn of a last message's words, which Rendering.kinds reads too",
}  # fmt: skip
TOOLS = [{"type": "function", "function": {"name": name, "description": "Looks.", "parameters": {
    "type": "object", "properties": {"at": {"type": "string"}, "n": {"type": "integer"}, "o": {"type": "object"}}}}}
    for name in ("look", "get_it")]  # fmt: skip


def _call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": f"call0000{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


ASKED = {"role": "user", "content": "Where is it?"}
CALLS = [_call(1, "look", at="there", n=2), _call(2, "get_it", o={"a": [1, None]})]
RESULTS = [{"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": "Found."} for call in CALLS]
REPLIES: tuple[tuple[dict[str, Any], list[dict[str, Any]]], ...] = (
    ({"content": "Over there."}, [ASKED]),
    ({"content": "Over there.", "reasoning_content": "They ask for it."}, [ASKED]),
    ({"content": "", "tool_calls": CALLS[:1]}, RESULTS[:1]),
    ({"content": "", "tool_calls": CALLS}, RESULTS),
    ({"content": "I look.", "reasoning_content": "They ask for it.", "tool_calls": CALLS}, RESULTS),
)
"""An assistant's message with what follows it."""


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


def faults_of_reply(template: parlance.Template, context: dict[str, Any], reply: dict[str, Any], behind: list[Any]) -> list[str] | None:
    """None where the template refuses the reply, or its turn is not behind the prompt for it."""
    try:
        before = template.render([ASKED], add_generation_prompt=True, **context)
        whole = template.render([ASKED, {"role": "assistant", **reply}, *behind], add_generation_prompt=False, assistant=True, **context)
        turn = next((turn for turn in whole.assistant if turn[0] == len(before.text)), None)
    except parlance.Error:
        return None
    if turn is None or not whole.text.startswith(before.text):
        return None
    begin, end = turn
    reader = before.reader()
    reader.feed(whole.text[begin:end])
    reader.finish()
    text = whole.text[begin:end].encode()
    read = [(kind, (begin + len(text[:a].decode()), begin + len(text[:b].decode()))) for kind, a, b in reader.kinds]
    kinds = [(kind, (max(a, begin), min(b, end))) for kind, (a, b) in whole.kinds if begin <= a and b <= end]
    found = [] if read == kinds else [f"read are {shown(whole, read)}, rendered {shown(whole, kinds)}"]
    content = "".join(whole.text[a:b] for kind, (a, b) in kinds if kind == "content")
    if "".join(content.split()) not in ("", "".join(reply["content"].split())):
        found.append(f"the content is {content!r}")
    return found


def shown(prompt: parlance.Rendering, kinds: list[tuple[str, tuple[int, int]]]) -> list[tuple[str, str]]:
    return [(kind, prompt.text[begin:end]) for kind, (begin, end) in kinds]


LEAST_REPLIES = 900
"""That are compared: of templates whose turns are behind their prompts."""


def check_replies(counts: Counter[str]) -> dict[str, list[str]]:
    wrong: dict[str, list[str]] = {}
    templates = {path.name: parlance.Template.builtin(path.stem) for path in sorted((ROOT / "formats").glob("*.jinja"))}
    for path in sorted([*CORPUS.glob("templates/*.jinja"), *CORPUS.glob("go_templates/*.gotmpl")]):
        templates[path.name] = parlance.Template.from_file(path, special_tokens={"bos_token": "<s>", "eos_token": "</s>"})
    for name, template in templates.items():
        for reply, behind in REPLIES:
            for follows in ([], behind):
                context = {"tools": TOOLS} if "tool_calls" in reply else {}
                found = faults_of_reply(template, context, reply, follows)
                counts["not behind its prompt" if found is None else "differ" if found else "agree"] += 1
                if found:
                    wrong.setdefault(name, []).append(f"{reply}, {len(follows)} behind it: {found[0]}")
    return wrong


def report(wrong: dict[str, list[str]], expected: dict[str, str], show: int) -> bool:
    """Whether all of that is known."""
    for path, rows in wrong.items():
        known = expected.get(path)
        print(f"{path}: {len(rows)} differ{'' if known is None else ', as is known: ' + known}")
        for row in rows[: show if known is None else 0]:
            print(f"  {row}"[:600])
    return not set(wrong) - set(expected)


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
    all_known = report(wrong, EXPECTED, options.show)
    print(", ".join(f"{count} {name}" for name, count in counts.most_common()), end=" of the corpus's conversations\n")
    counts.clear()
    wrong = check_replies(counts)
    all_known = report(wrong, EXPECTED_OF_REPLIES, options.show) and all_known
    for path in set(EXPECTED_OF_REPLIES) - set(wrong):
        print(f"{path}: nothing differs any more, though it is known to")
        all_known = False
    if counts["agree"] < LEAST_REPLIES:
        print(f"only {counts['agree']} replies were compared and agree: {LEAST_REPLIES} and more would")
        all_known = False
    print(", ".join(f"{count} {name}" for name, count in counts.most_common()), end=" of the replies\n")
    return 0 if all_known else 1


if __name__ == "__main__":
    sys.exit(main())
