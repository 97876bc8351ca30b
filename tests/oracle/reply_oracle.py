#!/usr/bin/env python3
"""Replies of the built-in formats as their own templates write them: read(render(message)) is the message.

    reply_oracle.py path/to/parlance path/to/reply_dump [how many conversations] [seed]

Random conversations, and those of formats/examples, are rendered; what the template writes for the last message of the
assistant is read back, and must be that message. For the format with turns the whole prompt must become a request that
renders to the same bytes; so must the examples of the format's description, with dummy prefixes, where that is at hand
(../shared/seeds/chatglm3-format.md). Begin reading at main.
"""

import json
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORDS = ["look", "up", "the", "weather", "é", "中文", "🙂", "a < b", "1 > 0", "`x`", "\"q\"", "\\n", "{", "}", "Action", "tool", "::", "\t"]
VALUES = ["x", "", "a\nb", "say \"hi\"", "back\\slash", "</tool_call>", "```", "é🙂", "42", "true", 0, -1, 3.5, 1e20, 10**18, True, False, None,
          [], {}, [1, [2, "x"], None], {"k": {"l": [True]}}, "'", "\u2028", "\x01"]
# What stands before and behind what the model writes in the assistant's last turn.
FRAME = {
    "terminal-agent": ("<|im_start|>assistant\n", ""),
    "chatml": ("<|im_start|>assistant\n", ""),
    "rnj-1": ("<|start_header_id|>assistant<|end_header_id|>\n", ""),
    "underscore-bot": ("<_bot>", ""),
    "command-r-plus": ("<|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>\n"),
    "chatglm3": ("<|assistant|>", ""),
}


def random_text(rng, least=0):
    text = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(least, 12)))
    return text.replace(" ", "\n", rng.randrange(3)).strip()


def random_call(rng, interpreter):
    if interpreter and rng.random() < 0.3:
        code = random_text(rng, 1) + rng.choice(["", "\n", "\nprint('```')", "\n```\nx"])
        return {"type": "function", "function": {"name": "interpreter", "arguments": {"code": code}}}
    names = rng.sample(["city", "unit", "n", "_x", "größe"], rng.randrange(4))
    return {"type": "function", "function": {"name": rng.choice(["get_weather", "f", "a.b-c", "größe"]),
                                             "arguments": {name: rng.choice(VALUES) for name in names}}}


def random_message(rng, name):
    """What the format can say of an assistant."""
    message = {"role": "assistant", "content": random_text(rng, 1)}
    count = 0 if name == "chatml" else rng.choice([0, 0, 1, 1, 2, 3])  # plain ChatML has no calls
    calls = [random_call(rng, name == "chatglm3") for _ in range(count)]
    if calls:
        message["tool_calls"] = calls
        if rng.random() < 0.5 or name == "command-r-plus":  # its calls stand alone
            message["content"] = ""
    if name == "terminal-agent" and rng.random() < 0.5:
        message["reasoning_content"] = random_text(rng, 1)
    return message


def examples(name):
    chat = json.loads((ROOT / "formats" / "examples" / f"{name}.json").read_text("utf-8"))
    for i, message in enumerate(chat["messages"]):
        if message["role"] == "assistant":
            yield chat["messages"][: i + 1]


def render(parlance, name, chats, *options):
    lines = "".join(json.dumps({"messages": chat, "add_generation_prompt": False}) + "\n" for chat in chats)
    done = subprocess.run([parlance, "render", "-f", name, "--jsonl", *options, "-"], input=lines, capture_output=True, text=True)
    results = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert len(results) == len(chats), done.stderr
    return [(result.get("text", result.get("prompt")), result.get("error")) for result in results]


def read(dump, head, texts):
    lines = "".join(f"{head} {text.encode('utf-8', 'surrogatepass').hex()}\n" for text in texts)
    return subprocess.run([dump], input=lines, capture_output=True, text=True, check=True).stdout.strip("\n").split("\n")


def plain(message):
    """What two spellings of a message have in common."""
    calls = [((c.get("function") or c)["name"], (c.get("function") or c)["arguments"]) for c in message.get("tool_calls") or []]
    calls = [(n, a if isinstance(a, dict) else json.loads(a)) for n, a in calls]
    return {"content": message.get("content") or "", "reasoning": message.get("reasoning_content") or "", "calls": calls}


def reply_of(name, prompt):
    """What the model wrote: from the last header on."""
    head, tail = FRAME[name]
    if tail:
        assert prompt.endswith(tail), prompt
        prompt = prompt[: -len(tail)] + "<|END_OF_TURN_TOKEN|>"
    if name == "chatglm3":  # the turns behind the last one of another role
        return prompt[max(prompt.rfind(t) for t in ("<|user|>", "<|observation|>")):].split(head, 1)[1]
    text = prompt[prompt.rindex(head) + len(head):]
    return "</think>" + text if name == "underscore-bot" else text


def kept(name, message):
    """What of the message the template writes: two of them show no reasoning."""
    message = dict(message)
    if name == "rnj-1":
        message.pop("reasoning_content", None)
    if name == "underscore-bot":
        message["content"] = (message.get("content") or "").split("</think>")[-1].lstrip("\n")
    return message


def check_format(parlance, dump, name, count, rng):
    chats = [chat for chat in examples(name)]
    for _ in range(count):
        chats.append([{"role": "user", "content": random_text(rng, 1)}, random_message(rng, name)])
    faults = 0
    rendered = [(chat, text) for chat, (text, error) in zip(chats, render(parlance, name, chats)) if text is not None]
    if len(rendered) < len(chats):
        faults += 1
        print(f"{name}: {len(chats) - len(rendered)} conversations do not render")
    for (chat, text), line in zip(rendered, read(dump, name, [reply_of(name, text) for _, text in rendered])):
        got = json.loads(line)
        wanted = kept(name, chat[-1])
        if plain(got["message"]) != plain(wanted) or got["diagnostics"] or not all(c["complete"] for c in got["message"].get("tool_calls", [])):
            faults += 1
            if faults < 5:
                print(f"{name}: {json.dumps(wanted)}\n  wrote {reply_of(name, text)!r}\n  read  {line}")
    print(f"{name}: {len(rendered)} replies, {faults} faults")
    return faults


def described():
    """The examples of the format's description, where it is at hand; each ends where its last text does."""
    path = ROOT.parent / "shared" / "seeds" / "chatglm3-format.md"
    if not path.exists():
        return []
    found = re.findall(r"^<\|system\|>\n.*?(?=\n\n(?:Chat Header|Tool Calling|Code Execution|  •)|\n<\|user\|>  # End|\Z)", path.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [text.strip("\n") for text in found]


def with_dummy_prefixes(text):
    """The description is silent on the blank that the tokenizer puts before a text; the template writes it."""
    return re.sub(r"^(<\|(?:system|user|assistant|observation)\|>.*\n)(?! )", r"\1 ", text, flags=re.MULTILINE)


def random_conversation(rng):
    chat = [{"role": "system", "content": random_text(rng)}] if rng.random() < 0.5 else []
    for _ in range(rng.randrange(1, 4)):
        chat.append({"role": "user", "content": random_text(rng)})
        for _ in range(rng.randrange(3)):
            message = random_message(rng, "chatglm3")
            chat.append(message)
            chat += [{"role": "tool", "content": random_text(rng)} for _ in message.get("tool_calls", [])]
        if rng.random() < 0.2:
            chat.append({"role": "assistant", "metadata": rng.choice(["note", "f"]), "content": random_text(rng)})
        chat.append({"role": "assistant", "content": random_text(rng)})
    return chat


def check_conversations(parlance, dump, count, rng):
    """Of the format with turns: a prompt becomes a request that renders to it."""
    chats = list(examples("chatglm3")) + [random_conversation(rng) for _ in range(count)]
    texts = [text for text, error in render(parlance, "chatglm3", chats) if text is not None]
    texts += [text for text in described()]
    requests = read(dump, "conversation chatglm3", texts)
    faults = sum(line.startswith("error") for line in requests) + (len(texts) < len(chats))
    bare = ["--var", 'gmask_token=""', "--var", 'sop_token=""']
    back = render(parlance, "chatglm3", [json.loads(line)["messages"] for line in requests], *bare)
    for text, line, (again, error) in zip(texts, requests, back):
        if again != with_dummy_prefixes(text.removeprefix("[gMASK]sop")):
            faults += 1
            if faults < 5:
                print(f"conversation: {text!r}\n  read   {line}\n  again  {again!r} {error}")
    print(f"{len(texts)} conversations, {len(described())} of the description, {faults} faults")
    return faults


def random_json(rng, depth=0):
    choice = rng.randrange(9 if depth < 4 else 6)
    if choice < 3:
        return rng.choice(VALUES)
    if choice < 6:
        return random_text(rng) if choice == 3 else rng.choice([rng.randrange(-9, 10**6), rng.uniform(-1, 1), 1e300, -0.0, True, None])
    inside = [random_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    return inside if choice == 6 else {rng.choice(["a", "b c", "é", "name", "\u007f"]) + str(i): v for i, v in enumerate(inside)}


def damaged(rng, data):
    """Mostly what JSON is made of, sometimes bytes that are no UTF-8."""
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(data) + 1)
        piece = rng.choice([b"", b"", b",", b":", b'"', b"\\", b"{", b"}", b"[", b"]", b"0", b"-", b"e5", b".", b"tru", b"null", b" ", b"\n", b"\\u12", b"\\ud800",
                            b"\xff", b"\xe4\xb8", b"\xed\xa0\x80", b"\xc0\x80", b"\x01", b"\x7f", b"NaN", b"//"])
        data = data[:at] + piece + data[at + rng.randrange(3):]
    return data


def reads_as_object(data):
    def refuse(word):
        raise ValueError(word)
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def escaped(data):
    """Line ends and tabs inside of strings as their escapes, which is how they are read."""
    out, inside, escape = bytearray(), False, False
    for byte in data:
        if inside and not escape and byte in b"\n\r\t":
            out += {10: b"\\n", 13: b"\\r", 9: b"\\t"}[byte]
            continue
        if byte == 0x22 and not escape:
            inside = not inside
        escape = inside and not escape and byte == 0x5C
        out.append(byte)
    return bytes(out)


def check_json(dump, count, rng):
    """Arguments are complete just where they are an object of JSON, and then go through byte by byte."""
    texts = []
    for _ in range(count):
        value = random_json(rng)
        value = value if isinstance(value, dict) else {"x": value}
        texts.append(damaged(rng, json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 1])).encode()))
    head, tail = b'<tool_call>\n{"name": "f", "arguments": ', b"}\n</tool_call>"
    lines = "".join(f"terminal-agent {(head + text + tail).hex()}\n" for text in texts)
    done = subprocess.run([dump], input=lines, capture_output=True, text=True, check=True).stdout.strip("\n").split("\n")
    faults = good = 0
    for text, line in zip(texts, done):
        choice = json.loads(line)
        calls = choice["message"].get("tool_calls", [])
        whole = bool(calls) and calls[0]["complete"] and not choice["diagnostics"]
        # What ends the arguments and begins another member is an object for itself; null and texts may stand for objects.
        stripped = text.strip(b" \n\t\r")
        if not stripped.startswith(b"{"):
            continue
        good += whole
        text, stripped = escaped(text), escaped(stripped)
        if whole != reads_as_object(text) or (whole and calls[0]["function"]["arguments"].encode() != stripped):
            if whole and not reads_as_object(text) and reads_as_object(head[12:] + text + b"}"):
                continue
            faults += 1
            if faults < 5:
                print(f"arguments: {text!r}\n  read {line}")
    print(f"{count} arguments, {good} whole, {faults} faults")
    return faults + (good < count / 4)


def main():
    parlance, dump = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 20261121)
    faults = sum(check_format(parlance, dump, name, count, rng) for name in FRAME)
    faults += check_conversations(parlance, dump, count, rng)
    faults += check_json(dump, 20 * count, rng)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
