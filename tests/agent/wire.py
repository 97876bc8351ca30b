"""How models of the five founding formats write, for an engine by script: their control tokens, calls and ends of turns.

A reply is a list of pieces: a Control is one token, any other text is sampled byte by byte, also where it spells a control token. Begin
reading at FORMATS.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))
from engine import TOKENIZER, Vocabulary


class Control(str):
    """A control token by its text."""


Pieces = list[str]


@dataclasses.dataclass
class Call:
    command: str = ""
    timeout: float | None = None
    code: str = ""  # the same for a format whose tool is Python
    tool: str = "terminal"  # or one of the user's
    given: dict[str, Any] | None = None  # its arguments

    def arguments(self) -> str:
        if self.given is not None:
            return json.dumps(self.given, ensure_ascii=False)
        given: dict[str, Any] = {"command": self.command}
        if self.timeout is not None:
            given["timeout"] = self.timeout
        return json.dumps(given, ensure_ascii=False)


@dataclasses.dataclass(frozen=True)
class Message:
    """Of a conversation: who says it, how many calls or results are in it, and whether a text stands beside calls."""

    role: str
    count: int = 0
    has_text: bool = False


@dataclasses.dataclass
class Wire:
    """What a model of a format writes, and where results stand in its prompts."""

    name: str
    turns: list[str]  # control tokens that mark turns and roles
    write: Callable[[str, str, list[Call]], Pieces]  # reasoning, content, calls
    head: list[str]  # of the turns' tokens: those before the first message of the user
    message: dict[str, list[str]]  # those of a user's, an assistant's and a result's message, and of one that calls if it has others
    tail: list[str]  # those that open the model's turn
    joined_results: bool = True  # results in a row share a turn
    marks: tuple[str, ...] = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>")
    mentions: int = 0  # how often the template's own text has <tool_call>
    result: tuple[str, int, str, str] = ("<tool_response>", -1, "</tool_response>", "\n|\n")  # token, which, next token, text around
    breaks: str = "never"  # when a prompt does not begin with the turn before: "never", "always", or at a "question" of the user
    interpreter: bool = False

    def tokens_of(self, history: list[Message]) -> list[str]:
        """The turns' tokens that a prompt must have."""
        made = list(self.head)
        for one in history:
            name = "call" if one.role == "assistant" and one.count > 0 and "call" in self.message else one.role
            times = 1
            if one.role == "result" and not self.joined_results:
                times = one.count
            elif one.role == "assistant" and self.interpreter:  # text is a turn, and each call is one
                times = max(1, one.count + one.has_text)
            made += self.message[name] * times
        return made + self.tail

    def pieces_of(self, reasoning: str, content: str, calls: list[Call]) -> Pieces:
        return self.write(reasoning, content, calls)


def hermes_calls(calls: list[Call], before: str) -> Pieces:
    made: Pieces = []
    for call in calls:
        made += [
            before,
            Control("<tool_call>"),
            f'\n{{"name": "{call.tool}", "arguments": ' + call.arguments() + "}\n",
            Control("</tool_call>"),
        ]
        before = "\n"
    return made


def terminal_agent(reasoning: str, content: str, calls: list[Call]) -> Pieces:
    """Closes reasoning with other blanks each time, as models do; the template writes a line feed before the mark and two behind it."""
    before, behind = ("\n", "")[len(reasoning) % 2], ("\n\n", "\n", "")[len(reasoning) % 3]
    made: Pieces = [Control("<think>"), f"\n{reasoning}{before}", Control("</think>"), behind] if reasoning else []
    return [*made, content, *hermes_calls(calls, "\n" if content else ""), Control("<|im_end|>")]


def underscore_bot(reasoning: str, content: str, calls: list[Call]) -> Pieces:
    return [f"{reasoning or 'I go on.'}\n", Control("</think>"), "\n\n", content, *hermes_calls(calls, ""), Control("<_end>")]


def rnj_1(reasoning: str, content: str, calls: list[Call]) -> Pieces:
    return [content, *hermes_calls(calls, ""), Control("<|eot_id|>")]


def command_r_plus(reasoning: str, content: str, calls: list[Call]) -> Pieces:
    if not calls:
        return [content, Control("<|END_OF_TURN_TOKEN|>")]
    listed = ",\n".join(
        '    {\n        "tool_name": "' + call.tool + '",\n        "parameters": ' + call.arguments() + "\n    }" for call in calls
    )
    return ["Action: ```json\n[\n" + listed + "\n]```", Control("<|END_OF_TURN_TOKEN|>")]


def chatglm3(reasoning: str, content: str, calls: list[Call]) -> Pieces:
    made: Pieces = [f"\n {content}\n"] if content or not calls else []
    for call in calls:
        made += [Control("<|assistant|>")] if made else []
        code = (
            call.code
            if call.given is None
            else f"tool_call({', '.join(f'{name}={json.dumps(value)}' for name, value in call.given.items())})"
        )
        made += [f"{'interpreter' if call.given is None else call.tool}\n ```python\n{code}\n```\n"]
    return [*made, Control("<|observation|>" if calls else "<|user|>")]


ROLES = ("user", "assistant", "result")
HEADER = ["<|start_header_id|>", "<|end_header_id|>"]
TURN = "<|START_OF_TURN_TOKEN|>"
FORMATS = {
    one.name: one
    for one in (
        Wire(
            "terminal-agent",
            ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
            terminal_agent,
            head=["<|im_start|>", "<|im_end|>"],
            message={role: ["<|im_start|>", "<|im_end|>"] for role in ROLES},
            tail=["<|im_start|>"],
            mentions=2,
            breaks="question",
        ),
        Wire(
            "underscore-bot",
            ["<_system>", "<_user>", "<_bot>", "<_end>"],
            underscore_bot,
            head=["<_system>"],
            message={"user": ["<_user>"], "assistant": ["<_bot>", "<_end>"], "result": ["<_user>"]},
            tail=["<_bot>"],
            mentions=2,
            breaks="always",
        ),
        Wire(
            "rnj-1",
            ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
            rnj_1,
            head=["<|begin_of_text|>", *HEADER, "<|eot_id|>"],
            message={role: [*HEADER, "<|eot_id|>"] for role in ROLES},
            tail=HEADER,
            mentions=2,
        ),
        Wire(
            "command-r-plus",
            [TURN, "<|END_OF_TURN_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>"],
            command_r_plus,
            head=[TURN, "<|SYSTEM_TOKEN|>", "<|END_OF_TURN_TOKEN|>"],
            message={
                "user": [TURN, "<|USER_TOKEN|>", "<|END_OF_TURN_TOKEN|>"],
                "assistant": [TURN, "<|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>"],
                "call": [TURN, "<|CHATBOT_TOKEN|>"],
                "result": [TURN, "<|SYSTEM_TOKEN|>", "<|END_OF_TURN_TOKEN|>"],
            },
            tail=[TURN, "<|SYSTEM_TOKEN|>", "<|END_OF_TURN_TOKEN|>", TURN, "<|CHATBOT_TOKEN|>"],
            joined_results=False,
            marks=(),
            result=("<|SYSTEM_TOKEN|>", -2, "<|END_OF_TURN_TOKEN|>", "<results>\n|</results>"),
            breaks="always",
        ),
        Wire(
            "chatglm3",
            ["[MASK]", "[gMASK]", "[sMASK]", "sop", "eop", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"],
            chatglm3,
            head=["[gMASK]", "sop", "<|system|>"],
            message={"user": ["<|user|>"], "assistant": ["<|assistant|>"], "result": ["<|observation|>"]},
            tail=["<|assistant|>"],
            joined_results=False,
            marks=(),
            result=("<|observation|>", -1, "<|assistant|>", "\n ```result\n|\n```\n"),
            interpreter=True,
        ),
    )
}


def write_tokenizer(wire: Wire, folder: pathlib.Path) -> pathlib.Path:
    """The byte-level tokenizer of the gateway's tests, with the format's control tokens."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = json.loads((TOKENIZER / "tokenizer.json").read_text("utf-8"))
    first = 1 + max(tokenizer["model"]["vocab"].values())
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    tokenizer["added_tokens"] = [
        {"id": first + number, "content": text, **plain, "special": text in wire.turns}
        for number, text in enumerate([*wire.turns, *wire.marks])
    ]
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}', "utf-8")
    return folder


class Speech:
    """A format's replies as ids, and its prompts read as its model would read them: by their control tokens."""

    def __init__(self, wire: Wire, folder: pathlib.Path) -> None:
        self.wire = wire
        self.vocabulary = Vocabulary(folder)
        self.ids = {text: number for number, text in self.vocabulary.names.items()}
        self.turn_ids = {self.ids[text] for text in wire.turns}

    def sampled(self, pieces: Pieces) -> list[int]:
        made: list[int] = []
        for piece in pieces:
            made += [self.ids[piece]] if isinstance(piece, Control) else [self.vocabulary.bytes[byte] for byte in piece.encode()]
        return made

    def turn_tokens(self, prompt: list[int]) -> list[str]:
        return [self.vocabulary.names[one] for one in prompt if one in self.turn_ids]

    def last_result(self, prompt: list[int], of_user: bool = False) -> str:
        """The last result of a tool in a prompt, or of one of the user's; raises ValueError where there is none."""
        opens, which, closes, around = self.wire.result
        if of_user and self.wire.interpreter:
            around = "\n |\n"
        begin = [at for at, one in enumerate(prompt) if one == self.ids[opens]][which]
        text = self.vocabulary.decode(prompt[begin + 1 : prompt.index(self.ids[closes], begin)])
        before, _, after = around.partition("|")
        if not (text.startswith(before) and text.endswith(after)):
            raise ValueError(f"a result stands in {text[:20]!r}…{text[-20:]!r}")
        return text[len(before) : len(text) - len(after)]
