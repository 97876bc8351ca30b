#!/usr/bin/env python3
"""What `parlance convert` writes says what it was given, less what it names: there and back is the same prompt, on every template.

    convert_test.py path/to/parlance [--show N] [--share N] [--random N] [--seed N] [TEMPLATE...]

Chats are those of api_requests_test.py, those of the conformance corpus where it is there, and random ones. Each is written as a request
of each API, what the notes say is done to the chat by hand, and both are rendered, adapted and not: the same bytes, or both are refused
with the same code. And each request of another API (api_spellings.py) is written as a chat, which renders as the request does. Then each
member of requests in turn gets hostile values: the answer is a request or an error with a code, and written twice it is the same.
Templates: as in api_requests_test.py. Begin reading at expected.
"""

import argparse
import collections
import copy
import json
import pathlib
import random
import re
import subprocess
import sys

import api_requests_test
import api_spellings
import spellings_test
from template_files import CORPUS, template_files

ROOT = pathlib.Path(__file__).resolve().parent.parent
OTHERS = ("anthropic", "responses")
REASONING = ("reasoning_content", "reasoning", "thinking")


def convert(program, requests, api, *options):
    """The answers {"request", "notes"} or {"error"}."""
    done = subprocess.run([program, "convert", "--as", api, "--jsonl", *options], input="".join(json.dumps(one) + "\n" for one in requests),
                          capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    assert len(answers) == len(requests), (len(answers), len(requests), done.stderr)
    return answers


# ---- chats


def corpus_chats():
    folder = CORPUS / "conversations"
    for path in sorted(folder.glob("*.json")):
        context = json.loads(path.read_text("utf-8"))["context"]
        kept = {name: context[name] for name in ("messages", "tools") if context.get(name) is not None}
        if kept.get("messages"):
            yield f"corpus: {path.stem}", kept


class Maker:
    """Random chats, of what some API has and another has not."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ids = 0

    def chance(self, share):
        return self.random.random() < share

    def text(self):
        return self.random.choice(["wordone", " wordtwo asks ", "wordthree\n", "Ål \"x\" 🙂", "<b>", ""])

    def part(self):
        kinds = [{"type": "text", "text": self.text() or "x"}, {"type": "image_url", "image_url": {"url": api_requests_test.PIXEL}},
                 {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": self.random.choice(["auto", "low"])}}]
        return self.random.choice(kinds)

    def content(self, parts=True):
        return [self.part() for _ in range(self.random.randrange(1, 4))] if parts and self.chance(0.3) else self.text()

    def call(self):
        self.ids += 1
        arguments = self.random.choice([{}, {"place": "A", "days": [1, {"a": None}]}, {"x": 1.5}])
        written = self.random.choice([arguments, json.dumps(arguments), json.dumps(arguments)[:-1]])
        call = {"id": f"call{self.ids:05}", "type": "function", "function": {"name": self.random.choice(["look_up", "look_again"]), "arguments": written}}
        if self.chance(0.1):
            del call["id"]
        return call

    def turn(self):
        """The assistant's message, and the results of its calls."""
        message = {"role": "assistant", "content": self.text()}
        if self.chance(0.3):
            message[self.random.choice(["reasoning_content", "reasoning"])] = "wordwhy"
        calls = [self.call() for _ in range(self.random.choice([0, 0, 1, 2]))]
        if calls:
            message["tool_calls"] = calls
            message["content"] = self.random.choice([None, "", "wordlook"])
        results = []
        for call in calls:
            result = {"role": "tool", "content": self.content(self.chance(0.5))}
            if "id" in call:
                result["tool_call_id"] = call["id"]
            if self.chance(0.3):
                result["name"] = call["function"]["name"]
            results.append(result)
        return [message, *results]

    def user(self):
        message = {"role": self.random.choice(["user"] * 8 + ["system", "developer"]), "content": self.content()}
        if message["role"] != "user":
            message["content"] = self.text()
        if self.chance(0.1):
            message["name"] = "Ada"
        return message

    def tool(self, name):
        function = {"name": name, "description": "Looks.", "parameters": self.random.choice([{}, copy.deepcopy(spellings_test.TOOLS[0]["function"]["parameters"])])}
        if self.chance(0.2):
            function["strict"] = self.chance(0.5)
        if self.chance(0.2):
            del function["description"]
        if self.chance(0.3):
            names = self.random.sample(sorted(function), len(function))
            function = {name: function[name] for name in names}
        return {"function": function, "type": "function"} if self.chance(0.2) else {"type": "function", "function": function}

    def chat(self):
        messages = [{"role": self.random.choice(["system", "developer"]), "content": self.text() or "x"}] if self.chance(0.5) else []
        for _ in range(self.random.randrange(1, 4)):
            messages += [self.user()] if self.chance(0.6) else self.turn()
        request = {"messages": messages}
        if self.chance(0.6):
            request["tools"] = [self.tool(name) for name in ("look_up", "look_again")[:self.random.randrange(1, 3)]]
        for name, values in SETTINGS.items():
            if self.chance(0.1):
                request[name] = copy.deepcopy(self.random.choice(values))
        return request


SETTINGS = {
    "temperature": [0.5, 1.5], "max_tokens": [7], "stop": ["x", ["x", "y"]], "seed": [3], "n": [2], "user": ["ada"], "store": [True],
    "tool_choice": ["auto", "required", "none", {"type": "function", "function": {"name": "look_up"}},
                    {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "look_up"}}]}}],
    "parallel_tool_calls": [False], "reasoning_effort": ["low", "high"], "verbosity": ["low"],
    "response_format": [{"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "response", "schema": {"type": "object"}}}],
    "chat_template_kwargs": [{"enable_thinking": False}], "metadata": [{"a": "b"}], "service_tier": ["default"],
}


def chats(count, seed):
    maker = Maker(seed)
    return [*api_requests_test.chats(), *corpus_chats(), *((f"random {i}", maker.chat()) for i in range(count))]


# ---- what the notes say, done to a chat by hand


def steps_of(path):
    return [int(one[1:-1]) if one[0] == "[" else one for one in re.findall(r"\[\d+\]|[^.\[\]]+", path)]


def at_path(value, steps):
    for step in steps:
        value = value[step]
    return value


def heed(chat, note):
    """Does to the chat what a note says; False where that is no change of one place."""
    steps = steps_of(note["path"])
    sentence = note["message"]
    if note["kind"] == "changed":
        if "one with the message before" in sentence:
            return False
        if "no tools" in sentence:
            del chat["tools"]
        if "the call that it answers has it" in sentence:
            del at_path(chat, steps[:-1])["name"]
        if "given as an empty text" in sentence:
            at_path(chat, steps[:2])["content"] = ""
        if "of the type object" in sentence:
            function = at_path(chat, steps[:3])
            function["parameters"] = {"type": "object", **(function.get("parameters") or {})}
        return True
    if note["kind"] == "missing":
        return True
    if "INVALID_JSON" in sentence:
        broken = at_path(chat, steps[:-1])
        broken["arguments"] = {"INVALID_JSON": broken["arguments"]}
    elif "given as the system's" in sentence:
        at_path(chat, steps[:-1])["role"] = "system"
    elif "all are allowed" in sentence:
        chat["tool_choice"] = chat["tool_choice"]["allowed_tools"]["mode"]
    elif "given as 1" in sentence:
        chat["temperature"] = 1
    elif "without a signature" in sentence:
        for name in REASONING:
            at_path(chat, steps[:-1]).pop(name, None)
    elif "left out" in sentence:
        parent = at_path(chat, steps[:-1])
        del parent[steps[-1]]
    else:
        return False
    return True


def joined_turns(messages):
    """Consecutive messages of the user, or of the assistant, are one turn in Anthropic's API."""
    made = []
    for message in messages:
        if not made or made[-1]["role"] != message["role"] or message["role"] not in ("user", "assistant"):
            made.append(message)
            continue
        both = [made[-1], message]
        parts = [part for one in both for part in api_spellings.texts(one.get("content") or [])]
        thoughts = [one["reasoning_content"] for one in both if one.get("reasoning_content")]
        calls = [call for one in both for call in one.get("tool_calls") or []]
        made[-1] = {"role": message["role"], "content": parts, **({"reasoning_content": "\n\n".join(thoughts)} if thoughts else {}),
                    **({"tool_calls": calls} if calls else {})}
        if len(parts) < 2 and all(part["type"] == "text" for part in parts):
            made[-1]["content"] = parts[0]["text"] if parts else ""
    return made


def says_whose_it_is(request):
    """Whether a request of Anthropic's has what only that API has; without it, it is read as a chat."""
    own = ("thinking", "tool_use", "tool_result", "image", "document")
    blocks = [block for message in request["messages"] for block in message["content"] if not isinstance(message["content"], str)]
    return any(name in request for name in ("system", "tools", "output_config")) or any(block["type"] in own for block in blocks)


def as_read(chat, api):
    """What both spell differently and mean the same."""
    for message in chat["messages"]:
        content = message.get("content")
        if message.get("tool_calls") == []:
            del message["tool_calls"]
        thoughts = [message.pop(name) for name in REASONING if name in message]
        if thoughts and thoughts[0]:
            message["reasoning_content"] = thoughts[0]
        for part in content if isinstance(content, list) else []:
            if part.get("type") == "image_url" and api == "responses":
                part["image_url"].setdefault("detail", "auto")
            if part.get("type") == "image_url" and api == "anthropic":
                part["image_url"].pop("detail", None)
        if isinstance(content, list) and len(content) == 1 and content[0].get("type") == "text":
            message["content"] = content[0]["text"]
        for number, call in enumerate(message.get("tool_calls") or []):
            function = {name: call["function"][name] for name in ("name", "arguments")}
            message["tool_calls"][number] = {"id": call["id"], "type": "function", "function": function}
    for tool in chat.get("tools") or []:
        for name in [name for name in ("description", "parameters") if tool["function"].get(name, 0) is None]:
            del tool["function"][name]
        if api == "responses" and not tool["function"].get("strict"):
            tool["function"].pop("strict", None)
    return chat


def expected(chat, notes, api):
    """`chat` less what the notes name; None where notes say more than that."""
    made = copy.deepcopy(chat)
    lost = sorted(notes, key=lambda note: steps_of(note["path"])[:1] == ["tools"] and -steps_of(note["path"])[1] if "[" in note["path"] else 0)
    return as_read(made, api) if all([heed(made, note) for note in lost]) else None


# ---- the laws


def pairs(program, count, seed, counted):
    """name, a chat, and what must render as it does."""
    named = chats(count, seed)
    plain = convert(program, [chat for _, chat in named], "openai")
    for api in OTHERS:
        written = convert(program, [chat for _, chat in named], api, "--var", "model=m", "--var", "max_tokens=100")
        for (name, _), before, after in zip(named, plain, written):
            counted[f"{api}: errors"] += "error" in after
            if "error" in before or "error" in after:
                continue
            counted.update(f"{api}: {note['kind']}: {note['message']}" for note in after["notes"])
            wanted = expected(before["request"], [note for note in after["notes"] if note["path"] not in ("model", "max_tokens")], api)
            counted[f"{api}: " + ("not compared" if wanted is None else "compared")] += 1
            if wanted is not None:
                if api == "anthropic" and says_whose_it_is(after["request"]):
                    wanted["messages"] = joined_turns(wanted["messages"])
                yield f"{name}: {api}", wanted, after["request"]
    others = list(api_requests_test.pairs())
    said_plainly = convert(program, [plain for _, plain, _ in others], "openai")
    for (name, _, request), plain, answer in zip(others, said_plainly, convert(program, [request for *_, request in others], "openai")):
        assert "request" in answer, (name, answer)
        if any("a text alone" in note["message"] for note in answer["notes"]):
            counted["as chats: not compared"] += 1
            continue
        counted["as chats: compared"] += 1
        made_ids = any("missing-ids" in note["message"] for note in answer["notes"])
        yield f"{name}: as a chat", plain["request"] if made_ids else request, answer["request"]


def faults_of(program, template, all_pairs, options):
    lines = [{**api_requests_test.HEAD, **request} for _, *both in all_pairs for request in both]
    answers = api_requests_test.render(program, template, lines, options)
    if len(answers) != len(lines):
        yield "all", f"{len(answers)} answers to {len(lines)} requests"
        return
    for (name, *_), one, other in zip(all_pairs, answers[::2], answers[1::2]):
        if api_requests_test.outcome(one) != api_requests_test.outcome(other):
            yield name, f"another outcome:\n  {api_requests_test.outcome(one)}\n  {api_requests_test.outcome(other)} {other.get('error', '')}"


OLLAMA = {
    "model": "m", "messages": [
        {"role": "user", "content": "Hi", "images": ["iVBORw0KGgo="]},
        {"role": "assistant", "content": "", "thinking": "why", "tool_calls": [{"function": {"index": 0, "name": "f", "arguments": {"a": 1}}}]},
        {"role": "tool", "tool_name": "f", "content": "x"}],
    "format": {"type": "object"}, "think": "low", "keep_alive": 5, "options": {"num_ctx": 3, "temperature": 0.5}}
STEERED = {**{name: values[0] for name, values in SETTINGS.items()}, "system": "S", "messages": [{"role": "user", "content": "Hi"}, {"role": "tool", "content": "x"}],
           "output_config": {"effort": "low"}, "thinking": {"type": "disabled"}, "reasoning": {"effort": "low"}, "text": {"verbosity": "low"},
           "web_search_options": {}, "modalities": ["text"], "logprobs": True, "top_logprobs": 3, "stream_options": {"include_obfuscation": True}}


def hostile_requests():
    seen, lines = set(), []
    more = [("Ollama: ollama", OLLAMA, OLLAMA), ("steered: settings", STEERED, STEERED)]
    for name, plain, request in [*api_requests_test.pairs(), *more]:
        for said, api in ((plain, "openai"), (request, name.split(": ")[1])):
            for path in api_requests_test.places(said):
                shape = (api, tuple("[]" if isinstance(step, int) else step for step in path))
                if shape not in seen:
                    lines += [api_requests_test.with_value(said, path, value) for value in api_requests_test.HOSTILE]
                seen.add(shape)
    return lines


def hostile_faults(program, every):
    lines = hostile_requests()[::every]
    for api in ("openai", *OTHERS):
        answers = convert(program, lines, api)
        again = convert(program, [answer.get("request", {"messages": []}) for answer in answers], api)
        for line, answer, twice in zip(lines, answers, again):
            if "request" not in answer and not answer.get("error", {}).get("code"):
                yield f"{api}: neither a request nor an error: {json.dumps(line)[:300]}"
            if "request" in answer and twice.get("request") != answer["request"]:
                yield f"{api}: another request the second time: {json.dumps(answer)[:400]}\n  {json.dumps(twice)[:400]}"
    yield len(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--share", type=int, default=1, help="one template in so many")
    parser.add_argument("--random", type=int, default=100, help="how many random chats")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--notes", action="store_true", help="count what notes say")
    parser.add_argument("templates", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    counted = collections.Counter()
    all_pairs = list(pairs(args.program, args.random, args.seed, counted))
    chosen = args.templates or template_files(go=True)[:: args.share]
    total = 0
    for path in chosen:
        for options in ((), ("--no-adapt",)):
            faults = list(faults_of(args.program, path, all_pairs, options))
            total += len(faults)
            for name, fault in faults[:args.show]:
                print(f"{path.stem} {' '.join(options)}: {name}: {fault[:900]}")
    # With a share, one in five: each value that is put somewhere is still put at each fifth place.
    hostile = list(hostile_faults(args.program, 1 if args.share == 1 else 5))
    tried = hostile.pop()
    for fault in hostile[:args.show]:
        print(f"hostile: {fault}")
    for what, number in sorted(counted.items()):
        if args.notes or what.endswith(("compared", "errors")):
            print(f"{number:6} {what}")
    print(f"{len(chosen)} templates, {len(all_pairs)} requests, adapted and not: {total} faults; {tried} hostile requests: {len(hostile)} faults")
    # Without the corpus there are few chats, and most of those that Anthropic's API cannot have are among them.
    few = CORPUS.exists() and any(counted[f"{api}: compared"] < 3 * counted[f"{api}: not compared"] for api in OTHERS)
    return 1 if total or hostile or not chosen or few or tried < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
