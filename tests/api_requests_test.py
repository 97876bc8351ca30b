#!/usr/bin/env python3
"""The same chat said as a request of each API gives the same prompt, on every template.

    api_requests_test.py path/to/parlance [--show N] [--share N] [--types] [TEMPLATE...]

Templates: tests/templates/families, formats/, and the corpus (PARLANCE_CORPUS, or ../shared/corpus beside the tree) where there is
one, Go's too. Each chat of spellings_test.py (and some with images) is written for each API (api_spellings.py) and rendered as that and
as OpenAI's chat, adapted and not: the bytes must be the same, or both must be refused with the same code; and where both say which
message a byte belongs to, they say the same. Then each member of the requests in turn gets hostile values: the answer is a prompt or
an error with a code, never a crash. --types checks Gemini's requests by the types of the package google-genai, where somebody has it; that
was done with 3.4.0. Begin reading at faults_of.
"""

import argparse
import copy
import json
import pathlib
import subprocess
import sys

import api_spellings
import spellings_test
from template_files import template_files

ROOT = pathlib.Path(__file__).resolve().parent.parent
PIXEL = "data:image/png;base64,iVBORw0KGgo="
MORE = {
    "an image": [spellings_test.user([{"type": "text", "text": "wordone asks"}, {"type": "image_url", "image_url": {"url": PIXEL}}])],
    "an image's address": [spellings_test.user([{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, {"type": "text", "text": "wordone asks"}])],
    "parts": [spellings_test.system([{"type": "text", "text": "wordsys obey"}, {"type": "text", "text": "wordsys again"}]),
              spellings_test.user([{"type": "text", "text": "wordone asks"}, {"type": "text", "text": "wordmore asks"}]),
              spellings_test.assistant("wordtwo tells"), spellings_test.user("wordthree goes on")],
    "results, then words": [*spellings_test.HISTORIES["two calls"][:-1], spellings_test.user("wordthree goes on")],
}
HEAD = {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True}
HOSTILE = [None, True, -1, 1e308, "", "\u0000\ud83d", "x" * 300, [], {}, [None], [[]], [{}], {"type": 3}, {"type": "text"}, [{"type": []}],
           {"functionResponse": 3}, [{"functionCall": {"name": []}}], [{"type": "tool_use"}], [{"type": "tool_result", "content": {}}],
           {"type": "image", "source": {"type": "base64"}}, "[" * 2000]


def chats():
    for name, history in [*spellings_test.HISTORIES.items(), *MORE.items()]:
        yield name, {"messages": history}
        if "call" in name or "result" in name or name == "talk":
            yield name + ", tools", {"messages": history, "tools": spellings_test.TOOLS}


def pairs():
    """name, the chat as OpenAI's, the same as another API's."""
    for name, request in chats():
        for api, write in api_spellings.APIS.items():
            written = write(copy.deepcopy(request))
            if written is not None:
                yield f"{name}: {api}", *written


def render(program, template, lines, options):
    command = [program, "render", "-t", str(template), "--jsonl", "--json", "--now", "2026-03-14", *options]
    done = subprocess.run(command, input="".join(json.dumps(line) + "\n" for line in lines), capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def owners(answer):
    """The message of each byte, None where it is nobody's or not known."""
    of = [None] * len(answer["text"].encode("utf-8", "surrogatepass"))
    for span in answer["spans"]:
        if span.get("message") is not None:
            of[span["begin"]:span["end"]] = [span["message"]] * (span["end"] - span["begin"])
    return of


def outcome(answer):
    return ("refused", answer["error"]["code"]) if "error" in answer else ("text", answer["text"])


def faults_of(program, template, options):
    all_pairs = list(pairs())
    lines = [{**HEAD, **request} for _, *both in all_pairs for request in both]
    answers = render(program, template, lines, options)
    if len(answers) != len(lines):
        yield "all", f"{len(answers)} answers to {len(lines)} requests"
        return
    for (name, *_), plain, other in zip(all_pairs, answers[::2], answers[1::2]):
        if outcome(plain) != outcome(other):
            yield name, f"another outcome:\n  {outcome(plain)}\n  {outcome(other)} {other.get('error', '')}"
        elif "text" in plain:
            wrong = [at for at, (one, two) in enumerate(zip(owners(plain), owners(other))) if None not in (one, two) and one != two]
            if wrong:
                yield name, f"byte {wrong[0]} is of message {owners(plain)[wrong[0]]}, and here of {owners(other)[wrong[0]]}"


def places(value, path=()):
    """The path of each value inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from places(one, (*path, key))


def with_value(request, path, value):
    made = copy.deepcopy(request)
    at = made
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return made


def odd_requests():
    """What the chats above have no words for."""
    shell = {"type": "shell_call", "call_id": "1", "action": {"commands": ["ls"], "timeout_ms": None}}
    local = {"type": "local_shell_call", "id": "l", "call_id": "2", "action": {"type": "exec", "command": ["ls"], "env": {}}}
    patch = {"type": "apply_patch_call", "call_id": "3", "operation": {"type": "delete_file", "path": "a"}}
    outputs = [{"type": "shell_call_output", "call_id": "1", "output": [{"stdout": "o", "stderr": "e", "outcome": {"type": "exit", "exit_code": 1}}]},
               {"type": "local_shell_call_output", "id": "l", "output": "p"}, {"type": "apply_patch_call_output", "call_id": "3", "status": "failed"}]
    sealed = {"type": "reasoning", "summary": [], "encrypted_content": "parlance1.SG0u"}
    yield "responses", {"input": [sealed, shell, local, patch, *outputs], "tools": [{"type": "shell", "environment": {"type": "local"}}, {"type": "apply_patch"}],
                        "tool_choice": {"type": "shell"}}
    changes = [{"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "h", "input_schema": {}}}},
               {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "f"}}]
    hidden = {"type": "thinking", "thinking": "", "signature": "parlance1.SG0u"}
    yield "anthropic", {"tools": [{"type": "bash_20250124", "name": "bash"}, {"name": "f", "input_schema": {}}],
                        "messages": [{"role": "user", "content": "a"}, {"role": "system", "content": changes}, {"role": "assistant", "content": [hidden]}]}


def hostile_faults(program, template):
    seen = set()
    odd = [(f"odd: {api}", {}, request) for api, request in odd_requests()]
    for name, _, request in [*pairs(), *odd]:
        api = name.split(": ")[1]
        lines = []
        for path in places(request):
            shape = (api, tuple("[]" if isinstance(step, int) else step for step in path))
            if shape not in seen:
                lines += [with_value(request, path, value) for value in HOSTILE]
            seen.add(shape)
        answers = render(program, template, lines, ())
        if len(answers) != len(lines):
            yield name, f"{len(answers)} answers to {len(lines)} hostile requests"
        for line, answer in zip(lines, answers):
            if "text" not in answer and not answer.get("error", {}).get("code"):
                yield name, f"neither a prompt nor an error: {json.dumps(line)[:300]}"
    yield None, len(seen) * len(HOSTILE)


def check_types():
    """Does the package of Gemini take our requests? The others are asked by oracle/request_api_oracle.py."""
    import google.genai.types
    checked = 0
    for name, _, request in pairs():
        if not name.endswith(": gemini"):
            continue
        for content in request["contents"]:
            google.genai.types.Content.model_validate(content)
        for tool in request.get("tools", []):
            google.genai.types.Tool.model_validate(tool)
        google.genai.types.Content.model_validate(request.get("systemInstruction", {}))
        checked += 1
    print(f"taken by Gemini's own types: {checked}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--share", type=int, default=1, help="one template in so many")
    parser.add_argument("--types", action="store_true")
    parser.add_argument("templates", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    if args.types:
        check_types()
    chosen = args.templates or template_files(go=True)[:: args.share]
    count = len(list(pairs()))
    bad = total = 0
    for path in chosen:
        for options in ((), ("--no-adapt",)):
            faults = list(faults_of(args.program, path, options))
            total += len(faults)
            bad += bool(faults)
            for name, fault in faults[:args.show]:
                print(f"{path.stem} {' '.join(options)}: {name}: {fault[:900]}")
    hostile = list(hostile_faults(args.program, ROOT / "formats" / "terminal-agent.jinja"))
    tried = hostile.pop()[1]
    for name, fault in hostile[:args.show]:
        print(f"hostile: {name}: {fault}")
    print(f"{len(chosen)} templates, {count} chats of other APIs, adapted and not: {total} faults; {tried} hostile requests: {len(hostile)} faults")
    return 1 if total or hostile or not chosen or tried < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
