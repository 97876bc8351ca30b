#!/usr/bin/env python3
"""Response templates as authors write them by hand: `parlance read --reply-format` against transformers itself.

    given_response_templates_oracle.py path/to/parlance

Each template below has the form of one of those that transformers' own tests have. It must be read as transformers reads it,
whole, or be refused with the place of what cannot be said. What parlance writes itself, response_template_oracle.py tests.
Begin reading at judge.
"""

import json
import subprocess
import sys
import tempfile

try:
    from transformers.utils.chat_parsing import parse_response
except ImportError:
    print("skipped: this Python has no transformers with response templates")
    sys.exit(77)


def call(name, arguments):
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


CONTENT = {"type": "function", "function": "{content}"}
THINK = {"open": "<think>", "close": "</think>", "content": "text"}
TAGS = {
    "tag_pattern": r"<parameter=(?P<key>\w+)>\s*(?P<value>.*?)\s*</parameter>",
    "value_parser": {"name": "json", "args": {"allow_non_json": True}},
}
ELEMENTS = {
    "open_pattern": r"<tool_call>\s*<function=(?P<name>\w+)>",
    "close": "</tool_call>",
    "repeats": True,
    "content": "xml-inline",
    "content_args": TAGS,
    "transform": call("{name}", "{content}"),
}
OBJECTS = {"open": "<tool_call>", "close": "</tool_call>", "repeats": True, "content": "json", "transform": CONTENT}
OBJECT = '<tool_call>\n{"name": "look", "arguments": {"at": "Lima"}}\n</tool_call>'
ELEMENT = (
    '<tool_call>\n<function=look>\n<parameter=at>\nLima\n</parameter>\n<parameter=in>\n{"a": [1]}\n</parameter>\n</function>\n</tool_call>'
)


def template(anchor, **fields):
    return {"version": 1, "defaults": {"role": "assistant"}, "start_anchor": anchor, "fields": fields}


# A template and replies; or a template and the path of what is refused.
GIVEN = {
    "elements, nothing for the rest": (
        template("<a>", thinking=THINK, tool_calls=ELEMENTS),
        [
            ELEMENT,
            "<think>hm</think>" + ELEMENT + "\n" + ELEMENT,
            "<think>hm</think>and this is of no field",
            "nothing",
            "<tool_call><function=look>so: <parameter=at>Lima</parameter> and <parameter=in>2</parameter></function></tool_call><end>",
            "<tool_call><function=look><parameter=at>a</parameter> b</parameter></tool_call>",
            "<tool_call>\n<function=now>\n</function>\n</tool_call>",
        ],
    ),
    "values that stay text": (
        template("<a>", content={}, tool_calls={**ELEMENTS, "content_args": {"tag_pattern": TAGS["tag_pattern"]}}),
        [
            ELEMENT,
            "<tool_call><function=look><parameter=at>1.50</parameter><parameter=in>null</parameter></function></tool_call>",
            "<tool_call><function=look><parameter=at>7</parameter><parameter=in>[1]</parameter></function></tool_call>",
        ],
    ),
    "reasoning from the beginning": (
        template(
            "Model:",
            thinking={**THINK, "open_pattern": r"(?:^|<think>\s*)", "open": None},
            tool_calls=OBJECTS,
            content={"open": "<response>\n", "close_pattern": r"\n?</response>", "content": "text"},
        ),
        [
            "so\n</think>\n\n" + OBJECT + "\n</s>",
            "so</think>\n\n<response>\nHello\n</response>\n",
            "so</think>dropped<response>\nHello",
        ],
    ),
    "reasoning from the beginning, or behind its marker": (
        template(
            "Model:",
            thinking={**THINK, "open_pattern": r"(?:<think>\s*|^)", "open": None},
            tool_calls=OBJECTS,
            content={"open": "<response>\n", "close_pattern": r"\n?</response>", "content": "text"},
        ),
        [
            "so\n</think>\n\n" + OBJECT + "\n</s>",
            "so</think>\n\n<response>\nHello\n</response>\n",
            "<think>so</think><response>\nHello\n</response>",
            "so</think>dropped<response>\nHello",
        ],
    ),
    "all fields in markers": (
        template(
            "<turn>",
            thinking={"open": "<t>", "close": "</t>"},
            content={"open": "<r>", "close": "</r>"},
            tool_calls={
                "open": "<calls>",
                "close": "</calls>",
                "content": "json",
                "transform_each": True,
                "transform": call("{tool_name}", "{parameters}"),
            },
        ),
        [
            '<t>so</t><calls>[\n{"tool_call_id": "0", "tool_name": "look", "parameters": {"at": "Lima"}}\n]</calls><over>',
            "<t>so</t><r>Hello</r><over>",
            "x<r>Hello</r>",
            "no marker",
            "<r>Hello",
        ],
    ),
    "content is the rest": (
        template("<a>\n", thinking=THINK, tool_calls=OBJECTS, content={"close": "<end>", "content": "text"}),
        ["<think>\nso\n</think>\n\n" + OBJECT, "<think>a</think>text<end>", "plain"],
    ),
    "objects without quotes": (
        template(
            "<a>",
            thinking={"open": "<c>thought\n", "close": "</c>"},
            content={"close": ["<turn>", "<response>"]},
            tool_calls={
                "open_pattern": r"<\|call>call:(?P<name>\w+)",
                "close": "<call|>",
                "repeats": True,
                "content": "json",
                "content_args": {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]},
                "transform": call("{name}", "{content}"),
            },
        ),
        ['<c>thought\nhm</c><|call>call:look{at:<|"|>Lima<|"|>,n:2}<call|><response>', "Hello<turn>"],
    ),
    "a name of its own for the group": (
        template(
            "<a>",
            content={"close": "<end>"},
            tool_calls={
                "open_pattern": r"<f id=(?P<number>\d+)>(?P<tool>\w+):",
                "close": "</f>",
                "repeats": True,
                "content": "json",
                "transform": call("{tool}", "{content}"),
            },
        ),
        ['<f id=7>look:{"at": 1}</f>'],
    ),
    "a header with anything in it": (
        template(
            "<a>",
            content={"open": "<final>", "close": "<end>"},
            tool_calls={
                "open_pattern": r"to=functions\.(?P<name>\w+).*?<message>",
                "close": "<call>",
                "repeats": True,
                "content": "json",
                "transform": call("{name}", "{content}"),
            },
        ),
        "fields.tool_calls",
    ),
    "content behind anything": (
        template("<a>", content={"open_pattern": r"(?:<m>)?[^<]*<text>", "close": "<end>"}, tool_calls=OBJECTS),
        "fields.content.open_pattern",
    ),
    "reasoning behind anything": (
        template("<a>", content={"close": "<end>"}, thinking={"open_pattern": r"<m>.*<think>", "close": "<end>"}),
        "fields.thinking.open_pattern",
    ),
    "a marker only at the beginning": (
        template("<a>", content={}, thinking={"open_pattern": r"^<think>", "close": "</think>"}),
        "fields.thinking.open_pattern",
    ),
    "reasoning without a marker": (
        template("<a>", content={}, thinking={"open_pattern": "^", "close": "</think>"}),
        "fields.thinking.open_pattern",
    ),
    "reasoning is the rest": (template("<a>", content={"open": "<r>", "close": "</r>"}, thinking={"close": "</think>"}), "fields.thinking"),
    "lists of what comes twice": (
        template("<a>", content={}, tool_calls={**ELEMENTS, "content_args": {**TAGS, "merge_duplicates": True}}),
        "fields.tool_calls.content_args.merge_duplicates",
    ),
    "a number for an answer": (
        template("<a>", content={"open": "<n>", "close": "</n>", "content": "int"}),
        "fields.content.content",
    ),
    "a group that nothing takes": (
        template("<a>", content={}, thinking={"open_pattern": "<(?P<tag>think)>", "close": "</think>"}),
        "fields.thinking.open_pattern",
    ),
    "values of another parser": (
        template("<a>", content={}, tool_calls={**ELEMENTS, "content_args": {**TAGS, "value_parser": {"name": "int"}}}),
        "fields.tool_calls.content_args.value_parser",
    ),
}


def without_none(value):
    return {key: without_none(inner) for key, inner in value.items() if inner is not None} if isinstance(value, dict) else value


def value_of(arguments):
    """Of a call's arguments; the text itself where the call is broken."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def read(parlance, given, reply):
    """What parlance makes of a reply, as transformers has it; or what it said."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(json.dumps(given))
        file.flush()
        done = subprocess.run([parlance, "read", "--reply-format", file.name, "-"], input=reply, capture_output=True, text=True)
    if not done.stdout:
        return done.stderr
    said = json.loads(done.stdout)["message"]
    message = {"role": "assistant"}
    if (said.get("reasoning_content") or "").strip():
        message["thinking"] = said["reasoning_content"].strip()
    if (said.get("content") or "").strip():
        message["content"] = said["content"].strip()
    if said.get("tool_calls"):
        message["tool_calls"] = [call(one["function"]["name"], value_of(one["function"]["arguments"])) for one in said["tool_calls"]]
    return message


def judge(parlance, name, given, expected):
    """The faults of a template, as sentences."""
    given = without_none(given)
    if isinstance(expected, str):
        said = read(parlance, given, "x")
        return [] if isinstance(said, str) and f"input: {expected}\n" in said else [f"{name}: not refused at {expected}: {said}"]
    faults = []
    for reply in expected:
        meant, found = parse_response(reply, given, prefix=given["start_anchor"]), read(parlance, given, reply)
        if found != meant:
            faults.append(f"{name}: {reply!r}\n  transformers {meant}\n  parlance     {found}")
    return faults


def main():
    faults = [fault for name, (given, expected) in GIVEN.items() for fault in judge(sys.argv[1], name, given, expected)]
    print("\n".join(faults) or f"{len(GIVEN)} templates read as transformers reads them, or refused")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
