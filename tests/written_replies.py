"""Replies as templates write them: each is cut out of the render of a conversation that ends with the assistant's turn.

replies_of(program, template) derives the template's format and renders conversations with tools: answers and calls, with
and without text, with and without reasoning, one to three calls, under each setting of thinking that was found. What a
turn adds to the prompt for it, up to what ends the turn, is the reply that a model is taught to give to that prompt. Tests
hold grammars and engines against these. Begin reading at replies_of.
"""
import dataclasses
import json
import re
import subprocess

BOS, EOS = "<zq_bos>", "<zq_eos>"


def tool(name, required, **properties):
    return {"type": "function", "function": {"name": name, "description": "Does what it says.", "parameters": {
        "type": "object", "properties": properties, "required": required}}}


# The order of declaration is not that of the alphabet, so that a template that sorts shows it.
TOOLS = [
    tool("search", ["query"], query={"type": "string", "description": "What for."}, limit={"type": "integer", "description": "How many."}),
    tool("get_weather", ["location"],
         location={"type": "string", "description": "Where."}, days={"type": "integer", "description": "How many."},
         detailed={"type": "boolean", "description": "All of it."}, threshold={"type": "number", "description": "From where on."},
         tags={"type": "array", "items": {"type": "string"}, "description": "Kinds."},
         options={"type": "object", "description": "More.", "properties": {"lang": {"type": "string"}, "cached": {"type": "boolean"}}},
         alert={"type": ["string", "null"], "description": "Whom to tell."},
         unit={"type": "string", "enum": ["celsius", "fahrenheit"], "description": "In what."},
         day={"type": "string", "format": "date", "description": "From when on."},
         station={"type": "string", "maxLength": 9, "description": "Which."}, code={"type": "string", "pattern": "^[A-Z]{3}$"}),
    tool("run_code", ["code"], code={"type": "string", "description": "A program."}),
    tool("now", []),
    tool("post", [], headers={"type": "object", "description": "Any."}, scale={"type": "number", "description": "How large."}),
]
NAMES = {one["function"]["name"] for one in TOOLS}
USER = "What are the tides like in Brest, and why?"
TEXT = "I shall look.\nIt's a moment's work: 1 < 2 & \"so\" on."
REASONING = "The user wants tides.\nLet's call (something)."
CALLS = {
    "a call": [("search", {"query": "tides in Brest"})],
    "numbers": [("search", {"query": "tides", "limit": 3})],
    "types": [("get_weather", {"location": "Brest, \"FR\" & co", "days": 2, "detailed": True, "threshold": 0.5, "tags": ["sea", "wind"],
                               "options": {"lang": "fr", "cached": False}, "alert": None, "unit": "celsius", "day": "2026-02-28",
                               "station": "Pointe du", "code": "BES"})],
    "a program": [("run_code", {"code": "def f(x):\n    return x + 1\n\nprint(f(1))"})],
    "no arguments": [("now", {})],
    "free names": [("post", {"headers": {"Content-Type": "text", "x.y": 1, "größe/m": None, "ids": {"2": "zwei"}}})],
    "a large number": [("post", {"scale": 1e100})],
    "a small number": [("post", {"scale": -2.5e-300})],
    "two calls": [("search", {"query": "tides"}), ("search", {"query": "Gezeiten, überall"})],
    "three calls": [("search", {"query": "tides", "limit": 10}), ("now", {}), ("get_weather", {"location": "Brest", "detailed": False})],
}


@dataclasses.dataclass
class Reply:
    about: str           # the conversation and the setting of thinking
    prompt: str          # what the prompt ends with, from behind the user's words
    text: str            # the reply
    calls: list          # the names of the tools that it shows
    says: bool           # it shows the text of the answer
    reasons: bool        # and the reasoning
    request: dict = dataclasses.field(repr=False, default=None)


def message(text, reasoning, calls):
    out = {"role": "assistant", "content": text}
    if reasoning:
        out["reasoning_content"] = reasoning
    if calls:
        out["tool_calls"] = [{"id": f"call0000{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
                             for i, (name, arguments) in enumerate(calls)]
    return out


def results(calls):
    return [{"role": "tool", "tool_call_id": f"call0000{i}", "name": name, "content": "zq result text"} for i, (name, _) in enumerate(calls)]


def turns():
    """Name, text, reasoning, calls of each turn that is tried."""
    for text in ("", TEXT):
        for reasoning in ("", REASONING):
            for about, calls in {"": [], **CALLS}.items():
                if text or calls:
                    yield ", ".join(filter(None, ("reasoning" if reasoning else "", "text" if text else "", about))), text, reasoning, calls


def chosen(program, *arguments, stdin="", codes=(0,)):
    done = subprocess.run([program, *arguments], input=stdin, capture_output=True, text=True)
    return done.stdout if done.returncode in codes else None


def derive(program, template):
    """What `parlance format` finds, as JSON; None where it fails."""
    shown = chosen(program, "format", *template, "--var", f'bos_token="{BOS}"', "--var", f'eos_token="{EOS}"', "--json")
    return shown and json.loads(shown)


def render(program, template, requests):
    """The texts of the requests, None for each that is refused."""
    lines = chosen(program, "render", *template, "--var", f'bos_token="{BOS}"', "--var", f'eos_token="{EOS}"', "--jsonl",
                   stdin="".join(json.dumps(one) + "\n" for one in requests), codes=(0, 1))
    return [json.loads(line).get("text") for line in (lines or "").splitlines()]


def shared(a, b):
    """How many characters both begin with; never a part of a tag."""
    size = 0
    while size < min(len(a), len(b)) and a[size] == b[size]:
        size += 1
    for open_, close in ("<>", "[]"):
        begun = a.rfind(open_, 0, size)
        if begun >= 0 and a.find(close, begun, size) < 0:
            size = begun
    return size


def cut(prompt, turn, ends, closers):
    """The reply in `turn`, which is what stands behind the user's words, and the prompt it goes on from.

    A turn of the history may begin otherwise than the prompt for a reply ends. Where it names the role otherwise, the reply
    begins behind that; where it only closes reasoning that the prompt has opened, the reply does so; else it begins where the
    two part.
    """
    head = re.match(r"<[^>]*>|\[[^]]*\]|", prompt).group()
    turn = turn[max(turn.find(head), 0):]
    size = len(prompt) if turn.startswith(prompt) else shared(prompt, turn)
    reply, rest = turn[size:], prompt[size:]
    here, there = re.match(r"[A-Za-z_]*", rest), re.match(r"[A-Za-z_]*", reply)
    behind = rest[here.end():]
    if here.group() and there.group() and behind and reply[there.end():].startswith(behind):
        size, reply = len(prompt), reply[there.end() + len(behind):]
    for close in closers:
        if reply.startswith(close) and size < len(prompt):
            size, reply = len(prompt), reply[len(close):] if close in rest else reply
    stops = [at for at in (reply.find(end) for end in ends) if at >= 0]
    return prompt[:size], reply[:min(stops)] if stops else reply.rstrip()


def behind_user(text):
    return text[text.rfind(USER) + len(USER):]


def settings(derived):
    return [{}] + [{one["variable"]: one["value"]} for one in derived.get("starts", []) if one.get("variable")]


def texts_of(marker):
    """The texts of a marker as JSON has it: one alone, several, or an object with them."""
    return [marker] if isinstance(marker, str) else marker if isinstance(marker, list) else marker["texts"]


def replies_of(program, template, derived):
    """The replies of a template, each text and prompt once. `template` is how the command line is told: ["-t", FILE]."""
    written = derived["format"]
    ends = [text.strip() for marker in written.get("end", []) for text in texts_of(marker)] + [EOS, "zq result text"]
    closers = [text.strip() for text in texts_of(written.get("reasoning", {}).get("close", []))]
    starts = {json.dumps({one["variable"]: one["value"]} if one.get("variable") else {}): one["prompt"] for one in derived.get("starts", [])}
    user = {"role": "user", "content": USER}
    wanted, requests = [], []
    for variables in settings(derived):
        base = {"tools": TOOLS, "chat_template_kwargs": variables}
        for about, text, reasoning, calls in turns():
            said = message(text, reasoning, calls)
            for more in ([], results(calls)) if calls else ([],):
                wanted.append((about + (f" {variables}" if variables else ""), text, reasoning, calls, variables))
                requests.append({**base, "messages": [user, said, *more], "add_generation_prompt": False})
    asked = [{"tools": TOOLS, "chat_template_kwargs": v, "messages": [user], "add_generation_prompt": True} for v in settings(derived)]
    texts = render(program, template, requests + asked)
    if len(texts) != len(requests) + len(asked):
        return []
    prompts = {json.dumps(v): text for v, text in zip(settings(derived), texts[len(requests):])}
    found, seen, shows_alone = [], set(), set()
    for (about, text, reasoning, calls, variables), whole, request in zip(wanted, texts, requests):
        prompt = prompts[json.dumps(variables)]
        if whole is None or prompt is None or USER not in whole or USER not in prompt:
            continue
        start = starts.get(json.dumps(variables)) or behind_user(prompt)  # what closes the user's turn is none of the assistant's
        start, reply = cut(start, behind_user(whole), ends, closers)
        shown = [name for name, arguments in calls if all(text_of(value) in reply for value in arguments.values()) and name in reply]
        says = bool(text) and text.split("\n")[0] in reply
        reasons = bool(reasoning) and reasoning.split("\n")[0] in reply
        alone = len(request["messages"]) == 2
        if shown and alone:
            shows_alone.add(about)
        if not (shown or says or reasons) or (start, reply) in seen or (about in shows_alone and not alone):
            continue  # nothing is shown, or the same turn showed its calls without their results
        seen.add((start, reply))
        found.append(Reply(about, start, reply, shown, says, reasons, request))
    return found


def text_of(value):
    """A word by which a value of an argument is found in a reply."""
    return value.split()[0].strip('",') if isinstance(value, str) else ""


def templates(root, corpus):
    """The name of each template and how the command line is told."""
    for file in sorted((root / "formats").glob("*.reply.json")):
        yield file.name.removesuffix(".reply.json"), ["-f", file.name.removesuffix(".reply.json")]
    for file in sorted((root / "tests" / "templates" / "families").glob("*.jinja")):
        yield "families/" + file.name, ["-t", str(file)]
    if corpus.is_dir():
        for file in sorted((corpus / "templates").glob("*.jinja")) + sorted((corpus / "go_templates").glob("*.gotmpl")):
            yield file.name, ["-t", str(file)]
