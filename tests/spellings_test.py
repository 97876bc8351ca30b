#!/usr/bin/env python3
"""Both spellings of the same history give the same prompt, on every template: what `parlance render` adapts requests for.

    spellings_test.py path/to/parlance [--show N] [TEMPLATE...]

Templates: tests/templates/families, formats/, and the corpus (PARLANCE_CORPUS, or ../shared/corpus beside the tree) where
there is one. Each history is rendered in its plain spelling, in each other one of a single thing (arguments as an object
or as text, content empty, null or missing beside calls, content as text or as a part, reasoning under three names, a
developer for the system, ids), and in random mixtures. All must give the same bytes, or all must be refused with the same
kind of error; and the text of each message is in the prompt or named as lost. Begin reading at DIMENSIONS.
"""

import hashlib
import json
import random
import subprocess
import sys

from template_files import law_arguments

LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
MIXTURES = 12
TOOLS = [{"type": "function", "function": {
    "name": name, "description": "Looks.", "parameters": {"type": "object", "properties": {
        "place": {"type": "string", "description": "Where."}, "days": {"type": "integer", "description": "How many."}},
        "required": ["place"]}}} for name in ("look_up", "look_again")]


def short_id(long_id):
    """The nine letters and digits that the pass short-ids makes of an id."""
    digits = hashlib.sha256(long_id.encode()).hexdigest()
    return "".join(LETTERS[int(digits[4 * i:4 * i + 4], 16) % len(LETTERS)] for i in range(9))


def call(name, number, arguments):
    return {"id": short_id(f"call-{number}-of-many"), "type": "function", "function": {"name": name, "arguments": arguments}}


def result(number, name, text):
    return {"role": "tool", "tool_call_id": short_id(f"call-{number}-of-many"), "name": name, "content": text}


def system(text):
    return {"role": "system", "content": text}


def user(text):
    return {"role": "user", "content": text}


def assistant(text, reasoning=None, calls=None):
    message = {"role": "assistant", "content": text}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = calls
    return message


ARGUMENTS = {"place": 'Ål "x"', "days": 2}
HISTORIES = {
    "talk": [system("wordsys obey"), user(" wordone asks "), assistant("wordtwo tells"), user("wordthree goes on")],
    "call": [user("wordone asks"), assistant("", None, [call("look_up", 1, ARGUMENTS)]), result(1, "look_up", "wordres found"),
             assistant("wordtwo tells"), user("wordthree goes on")],
    "words and call": [user("wordone asks"), assistant("wordtwo looks", None, [call("look_up", 1, ARGUMENTS)]),
                       result(1, "look_up", "wordres found")],
    "two calls": [system("wordsys obey"), user("wordone asks"),
                  assistant("", None, [call("look_up", 1, ARGUMENTS), call("look_again", 2, {"place": "B"})]),
                  result(1, "look_up", "wordres found"), result(2, "look_again", "wordother found"), assistant("wordtwo tells")],
    "reasoning": [user("wordone asks"), assistant("wordtwo tells", "wordwhy so"), user("wordthree goes on"),
                  assistant("", "wordwhynot so", [call("look_up", 1, ARGUMENTS)]), result(1, "look_up", "wordres found")],
    "reasoning, words and call": [user("wordone asks"), assistant("wordtwo looks", "wordwhy so", [call("look_up", 1, ARGUMENTS)]),
                                  result(1, "look_up", "wordres found")],
    "two systems": [system("wordsys obey"), system("wordsystwo obey more"), user("wordone asks")],
    "later system": [user("wordone asks"), assistant("wordtwo tells"), system("wordsys obey"), user("wordthree goes on")],
    "users in a row": [user("wordone asks"), user("wordthree goes on"), assistant("wordtwo tells"), user("wordfour goes on")],
}


# ---- other spellings of one thing: each takes a message, and gives another


def calls_of(message):
    return message.get("tool_calls") or []


def with_calls(message, change):
    if not calls_of(message):
        return message
    return {**message, "tool_calls": [change(json.loads(json.dumps(one))) for one in calls_of(message)]}


def arguments_as(write):
    def change(one):
        one["function"]["arguments"] = write(one["function"]["arguments"])
        return one
    return lambda message: with_calls(message, change)


def null_content(message):
    return {**message, "content": None} if calls_of(message) and not message["content"] else message


def no_content(message):
    return {k: v for k, v in message.items() if k != "content"} if calls_of(message) and not message["content"] else message


def parts_of(*roles):
    def change(message):
        if message["role"] not in roles or not message.get("content") or not isinstance(message["content"], str):
            return message
        return {**message, "content": [{"type": "text", "text": message["content"]}]}
    return change


def reasoning_as(name):
    return lambda message: {name if k == "reasoning_content" else k: v for k, v in message.items()}


def developer(message):
    return {**message, "role": "developer"} if message["role"] == "system" else message


def long_ids(message):
    longer = {short_id(f"call-{number}-of-many"): f"call-{number}-of-many" for number in (1, 2)}

    def change(one):
        one["id"] = longer[one["id"]]
        return one
    message = with_calls(message, change)
    return {**message, "tool_call_id": longer[message["tool_call_id"]]} if "tool_call_id" in message else message


DIMENSIONS = {
    "arguments": [arguments_as(json.dumps), arguments_as(lambda a: json.dumps(a, ensure_ascii=False, separators=(",", ":")))],
    "empty content": [null_content, no_content],
    "parts": [parts_of("user"), parts_of("assistant"), parts_of("system"), parts_of("tool"), parts_of("user", "assistant", "system", "tool")],
    "reasoning": [reasoning_as("reasoning"), reasoning_as("thinking")],
    "role": [developer],
    "ids": [long_ids],
}


def spell(history, changes):
    for change in changes:
        history = [change(message) for message in history]
    return history


def spellings(name, used):
    """(what differs, messages); the plain one first. `used` are the dimensions that mean the same to the template."""
    history = HISTORIES[name]
    yield "plain", history
    for dimension in used:
        for number, change in enumerate(DIMENSIONS[dimension]):
            yield f"{dimension} {number}", spell(history, [change])
    chance = random.Random(name)
    for number in range(MIXTURES):
        picked = [chance.choice([lambda message: message] + DIMENSIONS[dimension]) for dimension in used]
        yield f"mixture {number}", spell(history, picked)


# ---- running


def capabilities(program, template):
    done = subprocess.run([program, "format", "-t", str(template), "--json"], capture_output=True, text=True)
    return json.loads(done.stdout)["capabilities"] if done.returncode == 0 else None


def used_dimensions(can):
    """Another role, or another id where the template takes any, is another text: nothing is the same then."""
    used = ["arguments", "empty content", "parts", "reasoning"]
    if "renders" not in [can["orders"][name] for name in ("developer", "developer behind system", "later developer")]:
        used.append("role")
    if can["call_ids"] == "nine":
        used.append("ids")
    return used


def render(program, template, lines):
    command = [program, "render", "-t", str(template), "--jsonl", "--json", "--now", "2026-03-14"]
    done = subprocess.run(command, input="".join(json.dumps(line) + "\n" for line in lines), capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    assert len(answers) == len(lines), f"{template}: {len(answers)} answers to {len(lines)} requests: {done.stderr[-300:]}"
    return answers


def words(message):
    content = message.get("content")
    text = content if isinstance(content, str) else " ".join(part["text"] for part in content or [])
    return [word for word in text.split() if word.startswith("word")]


def lost(messages, answer):
    """Messages whose text is neither in the prompt nor named as lost."""
    for number, message in enumerate(messages):
        noted = any(loss["path"] == f"messages[{number}]" or loss["path"].startswith(f"messages[{number}].content") for loss in answer["losses"])
        if not noted and any(word not in answer["text"] for word in words(message)):
            yield f"messages[{number}] is neither there nor noted"


def outcome(answer):
    return ("refused", answer["error"]["code"]) if "error" in answer else ("text", answer["text"])


def try_template(program, template):
    """(fault, spelling, messages) for each fault, and how many prompts were compared."""
    can = capabilities(program, template)
    if can is None:
        return [("parlance format fails", "", [])], 0
    faults, count = [], 0
    for name in HISTORIES:
        spelt = list(spellings(name, used_dimensions(can)))
        head = {"tools": TOOLS, "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": False}
        answers = render(program, template, [{"messages": messages, **head} for _, messages in spelt])
        for (what, messages), answer in zip(spelt, answers):
            count += 1
            if outcome(answer) != outcome(answers[0]):
                faults.append((f"{name}: {what} gives another outcome", (outcome(answers[0]), outcome(answer)), messages))
            elif "error" not in answer:
                faults += [(f"{name}: {what}: {fault}", answer["notes"], messages) for fault in lost(messages, answer)]
    return faults, count


def main():
    args = law_arguments()
    bad = total = compared = 0
    for template in args.chosen:
        faults, count = try_template(args.program, template)
        compared += count
        total += len(faults)
        bad += bool(faults)
        for fault, spelling, messages in faults[:args.show]:
            print(f"{template.stem}: {fault}\n  {str(spelling)[:600]}\n  {json.dumps(messages)[:600]}")
    print(f"{len(args.chosen)} templates, {compared} prompts, {total} faults in {bad} templates")
    return 1 if total or not args.chosen else 0


if __name__ == "__main__":
    sys.exit(main())
