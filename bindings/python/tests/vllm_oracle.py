#!/usr/bin/env python3
"""Runs parlance's parsers for vLLM in vLLM's own serving code, and compares them with its parsers by hand.

    vllm_oracle.py [RELEASE]

vLLM's files are those of vllm_setup.sh. For each template of the corpus a reply as the template itself writes it, with reasoning, text and
two calls, is served whole and as a stream, cut at every place and into tokens: all must give the message. Hostile replies must lose
nothing. What differs from a parser by hand stands in KNOWN with its reason. Ends with 1 on any other difference, with 77 where something
is not there.
"""

from __future__ import annotations

import collections
import json
import logging
import sys
import warnings
from typing import Any

import vllm_stand_in
from material import CORPUS, TOKENIZERS, corpus_template

RELEASE = sys.argv[1] if len(sys.argv) > 1 else "0.33.0"
warnings.simplefilter("ignore")
logging.disable(logging.ERROR)
if not vllm_stand_in.install(RELEASE):
    print(f"skipped: vLLM {RELEASE} is not here (bindings/python/tests/vllm_setup.sh {RELEASE})")
    sys.exit(77)
try:
    from parlance import Error, Template
    from transformers import PreTrainedTokenizerFast
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.parser.parser_manager import ParserManager
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

PARAMETERS = {"type": "object", "properties": {"at": {"type": "string"}, "times": {"type": "integer"}}}
TOOLS = [{"type": "function", "function": {"name": name, "description": "Looks.", "parameters": PARAMETERS}} for name in ("look", "find")]
ASKED = [{"role": "user", "content": "Hi"}]
# (template, reasoning parser by hand, tool parser by hand, special tokens of the model)
FAMILIES = [
    ("trl--qwen3", "qwen3", "hermes", "<think> </think> <tool_call> </tool_call>"),
    ("trl--qwen3_6", "qwen3", "qwen3_coder", "<think> </think> <tool_call> </tool_call>"),
    ("llama.cpp--GLM-4.7-Flash", "glm47", "glm47", "<think> </think> <tool_call> </tool_call> <arg_key> </arg_key> <arg_value> </arg_value>"),
    ("llama.cpp--deepseek-ai-DeepSeek-V3.2", "deepseek_v3", "deepseek_v32", "<think> </think> <｜Assistant｜> <｜User｜>"),
    ("llama.cpp--MiniMax-M2", "minimax_m2", "minimax_m2", "<think> </think> <minimax:tool_call> </minimax:tool_call>"),
    (
        "llama.cpp--moonshotai-Kimi-K2",
        "kimi_k2",
        "kimi_k2",
        "<think> </think> <|tool_calls_section_begin|> <|tool_calls_section_end|> <|tool_call_begin|> <|tool_call_end|> "
        "<|tool_call_argument_begin|>",
    ),
    ("llama.cpp--meta-llama-Llama-3.2-3B-Instruct", None, "llama3_json", "<|python_tag|> <|eot_id|>"),
    ("llama.cpp--ibm-granite-granite-4.0", None, "granite4", "<tool_call> </tool_call>"),
]
# (template, reply): why the two differ.
KNOWN: dict[tuple[str, str], str] = {}
failed: list[str] = []


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": "call00001", "type": "function", "function": {"name": name, "arguments": arguments}}


SAID: dict[str, dict[str, Any]] = {
    "text": {"content": "Fine. \U0001f600"},
    "reasoning and text": {"content": "Fine.", "reasoning_content": "Hm, ä."},
    "reasoning and a call": {"content": "", "reasoning_content": "Hm.", "tool_calls": [call("look", at="Köln", times=2)]},
    "text and two calls": {"content": "Let me see.", "tool_calls": [call("look", at="it"), call("find", at="<x>", times=1)]},
}


def tokenizer_for(template: str, more: str = "") -> Any:
    made = PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZERS / "chatml" / "tokenizer.json"), eos_token="<|im_end|>")
    made.add_special_tokens({"additional_special_tokens": more.split()})
    made.chat_template = template
    return made


def request(**members: Any) -> Any:
    return ChatCompletionRequest.model_validate({"model": "m", "messages": ASKED, "tools": TOOLS, "tool_choice": "auto", **members})


class Server:
    """What vLLM's server does with a reply, for one choice of parsers."""

    def __init__(self, tokenizer: Any, reasoning: str | None, tool: str | None):
        self.tokenizer = tokenizer
        self.parser_cls = ParserManager.get_parser(tool, reasoning, enable_auto_tools=True, model_name="m", tokenizer=tokenizer)

    def new(self, asked: Any) -> Any:
        return self.parser_cls(self.tokenizer, asked.tools, chat_template_kwargs={})

    def whole(self, reply: str, prompt: list[int], asked: Any) -> Any:
        parser = self.new(asked)
        if hasattr(parser, "set_prompt_token_ids"):
            parser.set_prompt_token_ids(prompt)
        reasoning, content, calls = parser.parse(reply, asked, enable_auto_tools=True, model_output_token_ids=())
        return reasoning or "", content or "", [(call.name, call.arguments) for call in calls or ()]

    def stream(self, pieces: list[tuple[str, list[int]]], prompt: list[int], asked: Any) -> Any:
        parser, reasoning, content = self.new(asked), "", ""
        calls: list[list[str]] = []
        for number, (text, ids) in enumerate(pieces):
            delta = parser.parse_delta(text, ids, asked, prompt, finished=number == len(pieces) - 1)
            if delta is None:
                continue
            reasoning, content = reasoning + (delta.reasoning or ""), content + (delta.content or "")
            for call in delta.tool_calls:
                if call.index == len(calls):
                    assert call.id, "a call begins without an id"
                    calls.append([call.function.name, ""])
                calls[call.index][1] += call.function.arguments or ""
        return reasoning, content, [tuple(call) for call in calls]

    def token_pieces(self, reply: str) -> list[tuple[str, list[int]]]:
        """Text and ids as the detokenizer hands them out: a character comes with its last token."""
        pieces, text, ids = [], b"", list[int]()
        for id in self.tokenizer.encode(reply, add_special_tokens=False):
            ids.append(id)
            whole = self.tokenizer.decode(ids)
            if not whole.endswith("\ufffd"):
                pieces.append((whole, ids))
                ids = []
        return pieces


def reply_of(template: Template, said: dict[str, Any]) -> tuple[str, str] | None:
    """(prompt, reply) as the template writes them; None where it cannot."""
    try:
        prompt = template.render(ASKED, TOOLS, add_generation_prompt=True).text
        rendered = template.render([*ASKED, {"role": "assistant", **said}], TOOLS, assistant=True)
    except Error:
        return None
    if not rendered.text.startswith(prompt):
        return None
    stop = next((begin for kind, (begin, _) in rendered.kinds if kind == "stop" and begin >= len(prompt)), len(rendered.text))
    return prompt, rendered.text[len(prompt) : stop]


def plain(message: Any) -> Any:
    """To compare: white space around texts aside, arguments as values."""
    reasoning, content, calls = message

    def value(arguments: str) -> Any:
        try:
            return json.loads(arguments)
        except ValueError:
            return arguments

    return reasoning.strip(), content.strip(), [(name, value(arguments)) for name, arguments in calls]


def check(is_right: bool, *sentence: object) -> None:
    if not is_right:
        failed.append(" ".join(map(str, sentence)))


def streams_as_whole(server: Server, name: str, reply: str, prompt: list[int], asked: Any) -> Any:
    """The message of a reply; any stream of it gives the same."""
    whole = server.whole(reply, prompt, asked)
    ways = [[(reply[:cut], [0]), (reply[cut:], [0])] for cut in range(1, len(reply))]
    ways += [[(one, [0]) for one in reply], server.token_pieces(reply), [(reply, [0])], [(reply, [0]), ("", [])]]
    for way in ways:
        streamed = server.stream(way, prompt, asked)
        if streamed != whole:
            check(False, f"{name}: cut as {[text for text, _ in way][:4]}\n  streamed {streamed}\n  whole    {whole}")
            break
    return whole


def all_templates() -> None:
    counts: collections.Counter[str] = collections.Counter()
    for path in sorted((CORPUS / "templates").glob("*.jinja")):
        text = corpus_template(f"templates/{path.name}")
        template = Template.from_string(text)
        try:
            server = Server(tokenizer_for(text), "parlance", "parlance")
        except Exception as error:
            check(False, path.name, repr(error))
            continue
        for name, said in SAID.items():
            written = reply_of(template, said)
            if written is None:
                counts["not rendered"] += 1
                continue
            prompt, reply = written
            ids = server.tokenizer.encode(prompt, add_special_tokens=False)
            whole = plain(streams_as_whole(server, f"{path.name}, {name}", reply, ids, request()))
            wanted = plain(
                (
                    said.get("reasoning_content", ""),
                    said["content"],
                    [(one["function"]["name"], json.dumps(one["function"]["arguments"])) for one in said.get("tool_calls", ())],
                )
            )
            counts["the message" if whole == wanted else "not the message"] += 1
            if whole != wanted and "-v" in sys.argv:
                print(path.name, name, "\n  ", repr(reply), "\n  ", whole, "\n  ", wanted)
    print("replies of all templates:", dict(counts))


def main() -> int:
    ReasoningParserManager.import_reasoning_parser("parlance.vllm_reasoning_parser")
    ToolParserManager.import_tool_parser("parlance.vllm_tool_parser")
    all_templates()
    print(*failed[:20], sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
