#!/usr/bin/env python3
"""Response templates that `parlance format --response-template` writes, used by transformers itself.

    response_template_oracle.py path/to/parlance               counts, and what disagrees
    response_template_oracle.py path/to/parlance --table       a line for each template: what docs/response-template.md has
    response_template_oracle.py path/to/parlance --only NAME   the templates with NAME in theirs, with all that was parsed
    response_template_oracle.py path/to/parlance --share N     one template in N

For each template of tests/templates/families, each built-in format and, where it is there, each template of the corpus
(../shared/corpus or PARLANCE_CORPUS): the written template is loaded by transformers, and reads what the chat template made
of an assistant's turn: an answer, reasoning, one call, two, with the
others before them. It must be what `parlance read`
makes of it, whole and character by character; how often that is the message as it was rendered is counted.
Begin reading at judge.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    from transformers.utils.chat_parsing import ResponseParser, parse_response
    from transformers.utils.chat_parsing.response_templates import load_response_template
except ImportError:
    print("skipped: this Python has no transformers with response templates")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CORPUS = pathlib.Path(os.environ.get("PARLANCE_CORPUS") or ROOT.parent / "shared" / "corpus")
PAGE = ROOT / "docs" / "response-template.md"
TOOLS = [{"type": "function", "function": {"name": name, "description": "d", "parameters": {"type": "object", "properties": {
    "city": {"type": "string", "description": "c"}, "days": {"type": "integer", "description": "n"},
    "deep": {"type": "object", "description": "o"}, "sure": {"type": "boolean", "description": "b"}}}}} for name in ("get_weather", "find-it")]
USER = {"role": "user", "content": "zq asks"}


def call(number, name, arguments):
    return {"id": f"zqcall00{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


FIRST = call(1, "get_weather", {"city": "São Paulo, \"x\" <b>", "days": 3})
SECOND = call(2, "find-it", {"city": "42", "sure": True})
NESTED = call(1, "get_weather", {"deep": {"k": ["v", 1, None]}})
EMPTY = call(1, "get_weather", {})
# What a response_template cannot say: template, the scenes that transformers reads otherwise, why. docs/response-template.md
# has the same reasons. A template that is here and agrees is a fault too.
KNOWN = {
    "nested_elements.jinja": ({"nested value"}, "lists and objects are written as tags"),
    "python_repr_in_tags.jinja": ({"nested value"}, "lists and objects are written as Python's literals"),
    "llama.cpp--google-gemma-4-31B-it-interleaved.jinja": ({"nested value"}, "null is written None"),
    "unsloth--gptoss_ollama.gotmpl": ({"call", "two calls", "nested value", "no arguments"},
                                      "what ends a reply is what each of its parts begins with"),
    "objects_behind_the_answer.jinja": ({"two calls", "reasoning, two calls"}, "nothing stands between two calls"),
    "unsloth--llama_31_storm_ollama.gotmpl": ({"two calls", "reasoning, two calls"}, "nothing stands between two calls"),
    "unsloth--mistral_nemo_ollama.gotmpl": ({"two calls", "reasoning, two calls"}, "a list without commas"),
    "unsloth--mistral_small_31_ollama.gotmpl": ({"two calls", "reasoning, two calls"}, "a list without commas"),
    "unsloth--phi_4_mini_ollama.gotmpl": ({"call", "two calls", "nested value", "no arguments", "answer, call", "reasoning, two calls"},
                                          "the list that the template writes is not JSON"),
}
REFUSED = {
    "json_lines.jinja", "python_lines.jinja", "name_as_key.jinja", "framed_answer.jinja", "reasoning_blocks.jinja", "chatglm3", "huggingface.js--openbmb_MiniCPM3-4B.jinja",
    "llama.cpp--Apertus-8B-Instruct.jinja", "unsloth--qwen3_ollama.gotmpl",
}
SCENES = {
    "answer": {"content": "zq answers\n\nin lines"},
    "reasoning": {"content": "zq answers", "reasoning_content": "zq thinks\nso"},
    "call": {"content": "", "tool_calls": [FIRST]},
    "two calls": {"content": "", "tool_calls": [FIRST, SECOND]},
    "nested value": {"content": "", "tool_calls": [NESTED]},
    "no arguments": {"content": "", "tool_calls": [EMPTY]},
    "answer, call": {"content": "zq answers", "tool_calls": [FIRST]},
    "reasoning, two calls": {"content": "", "reasoning_content": "zq thinks", "tool_calls": [FIRST, SECOND]},
}


def run(*command, text=None):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, input=text)


def value_of(arguments):
    """Of arguments as text; the text itself where a broken call has what the model wrote."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def plain(message):
    """What two spellings of a message have in common."""
    calls = []
    for one in message.get("tool_calls") or []:
        function = one.get("function") or {}
        arguments = function.get("arguments", {})
        calls.append((function.get("name"), value_of(arguments)))
    reasoning = next((message[key] for key in message if key not in ("role", "content", "tool_calls") and message[key]), "")
    return {"content": (message.get("content") or "").strip(), "reasoning": (reasoning or "").strip(), "calls": calls}


class Candidate:
    """A template, what is derived from it, and the response template that is written of that."""

    def __init__(self, parlance, name, chosen):
        self.parlance, self.name, self.chosen = parlance, name, chosen
        self.derived = json.loads(run(parlance, "format", *chosen, "--json").stdout)
        written = run(parlance, "format", *chosen, "--response-template")
        self.refused = written.stderr.strip().replace("\n  input:", ":") if written.returncode else ""
        self.losses = [line.removeprefix("note: ") for line in written.stderr.splitlines()]
        self.template = json.loads(written.stdout) if not self.refused else None
        self.faults, self.turns, self.same = [], 0, 0

    def render(self, messages, generation):
        request = {"messages": messages, "tools": TOOLS}
        done = run(self.parlance, "render", *self.chosen, "--generation-prompt" if generation else "--no-generation-prompt", "-", text=json.dumps(request))
        return done.stdout if done.returncode == 0 else None

    def turn(self, message):
        """Prompt and reply of a rendered turn; none where the template does not show it. Some show calls only with results."""
        prompt = self.render([USER], True) or ""
        calls = message.get("tool_calls", [])
        results = [{"role": "tool", "tool_call_id": one["id"], "name": one["function"]["name"], "content": "zq result"} for one in calls]
        for history in ([], results, [{"role": "user", "content": "zq more"}]):
            whole = self.render([USER, {"role": "assistant", **message}, *history], False) or ""
            common = os.path.commonprefix([prompt, whole])
            reply = whole[len(common):]
            behind = common[common.rfind("zq asks"):] if "zq asks" in common else ""
            shown = all(one["function"]["name"] in reply for one in calls) and (message["content"] in reply)
            if behind and shown and self.template.get("start_anchor", "") in behind:
                return common, reply
        return None

    def read(self, prompt, reply):
        """What the library reads, beginning where the prompt ends; and the part that it takes for the reply."""
        anchor = self.template.get("start_anchor", "")
        at = prompt.rfind(anchor) if anchor else len(prompt)
        reply_format = {**self.derived["format"], "prompt": prompt[max(at, 0):]}
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / name for name in ("format.json", "tools.json")]
            files[0].write_text(json.dumps(reply_format))
            files[1].write_text(json.dumps(TOOLS))
            options = ("--reply-format", files[0], "--tools", files[1])
            message = json.loads(run(self.parlance, "read", *options, "-", text=reply).stdout)
            events = [json.loads(line) for line in run(self.parlance, "read", *options, "--stream", "-", text=reply).stdout.splitlines()]
        end = next((event["position"] + len(event["source"].encode()) for event in events if event.get("type") == "end"), None)
        return message["message"], reply if end is None else reply.encode()[:end].decode()


def parse(template, prompt, reply, tools=TOOLS):
    """What transformers makes of it, whole and cut into characters."""
    try:
        whole = parse_response(reply, template, prefix=prompt, tools=tools)
        parser = ResponseParser(template, prefix=prompt, tools=tools)
        for character in reply:
            parser.feed(character)
        return whole, parser.finalize()[0]
    except (ValueError, KeyError) as error:
        return str(error).split("\n")[0], None


def judge(candidate, verbose=False):
    """Adds to the faults of a candidate: scenes that transformers reads otherwise than the library."""
    load_response_template(candidate.template)
    for name, message in SCENES.items():
        turn = candidate.turn(message)
        if turn is None:
            continue
        prompt, reply = turn
        read, reply = candidate.read(prompt, reply)
        expected, (whole, cut) = plain(read), parse(candidate.template, prompt, reply)
        found = plain(whole) if isinstance(whole, dict) else whole
        candidate.turns += 1
        given = plain({**message, "reasoning_content": message.get("reasoning_content", "") if message.get("reasoning_content", "") in reply else ""})
        candidate.same += found == given
        if verbose:
            print(f"--- {name}\n{prompt[-80:]!r} {reply!r}\n  library      {expected}\n  transformers {found}")
        if found != expected:
            candidate.faults.append((name, f"transformers {found}, library {expected}"))
        elif whole != cut:
            candidate.faults.append((name, f"in pieces {cut}, whole {whole}"))


def candidates(parlance, only, share):
    listed = [(path.name, ("-t", path)) for path in sorted((ROOT / "tests" / "templates" / "families").glob("*.jinja"))]
    listed += [(line.split()[0], ("-f", line.split()[0])) for line in run(parlance, "render", "--list").stdout.splitlines() if re.match(r"[a-z]", line)]
    for folder, pattern in (("templates", "*.jinja"), ("go_templates", "*.gotmpl")):
        listed += [(path.name, ("-t", path)) for path in sorted((CORPUS / folder).glob(pattern))]
    for name, chosen in listed[::share]:
        if only in name:
            yield Candidate(parlance, name, chosen)


def row(candidate):
    calls = "yes" if candidate.derived["format"].get("calls") else ""
    if candidate.refused:
        return f"| {candidate.name} | {calls} | refused: {candidate.refused} | |"
    faults = "; ".join(sorted({name for name, _ in candidate.faults}))
    return f"| {candidate.name} | {calls} | {candidate.turns - len(candidate.faults)} of {candidate.turns} | {faults} |"


def main():
    parlance, *mode = sys.argv[1:]
    only = mode[1] if mode[:1] == ["--only"] else ""
    share = int(mode[1]) if mode[:1] == ["--share"] else 1
    everything = list(candidates(parlance, only, share))
    for candidate in everything:
        if candidate.template:
            judge(candidate, bool(only))
    if mode[:1] == ["--table"]:
        print("\n".join(row(candidate) for candidate in everything))
    written = [one for one in everything if one.template]
    with_calls = [one for one in everything if one.derived["format"].get("calls")]
    agree = [one for one in written if not one.faults]
    print(f"{len(everything)} templates, {len(with_calls)} with calls: written {len(written)}, {sum(bool(one.template) for one in with_calls)} with calls; "
          f"agree {len(agree)}, {sum(one in agree for one in with_calls)} with calls")
    wrong = 0
    for one in everything:
        scenes = {name for name, _ in one.faults}
        if scenes == KNOWN.get(one.name, (set(), ""))[0] and bool(one.refused) == (one.name in REFUSED):
            continue
        wrong += 1
        print(f"{one.name}: {one.refused or 'not what is known'}")
        for name, what in one.faults:
            print(f"  {name}: {what[:600]}")
    turns = sum(one.turns for one in written)
    print(f"{turns} turns, each whole and cut into characters; {sum(one.same for one in written)} are the message that was rendered; {wrong} templates other than is known")
    return 1 if wrong or turns < 8 * 10 // share else 0


if __name__ == "__main__":
    sys.exit(main())
