"""vLLM's tool parser `parlance`, for every chat template: a plugin for `vllm serve`.

    vllm serve MODEL --enable-auto-tool-choice --tool-parser-plugin parlance.vllm_tool_parser --tool-call-parser parlance

The tokenizer's chat template says how the model writes calls, and the request's tools of which types arguments are. Needs vLLM.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

from vllm.tool_parsers.abstract_tool_parser import DeltaMessage, ExtractedToolCallInformation, ToolParser, ToolParserManager
from vllm.tool_parsers.structural_tag_registry import resolve_tool_strictness
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel
from xgrammar import StructuralTag

from parlance._core import ReplyReader, grammar
from parlance._errors import Error
from parlance._vllm import Pieces, add_to, plain_tools, replies_of

logger = logging.getLogger("parlance")


class ParlanceToolParser(ToolParser):
    """Reads calls and content, in a whole reply as in one that streams. Without tools, or with tool_choice "none", calls are text.

    A call that breaks off has the arguments that there are; its text is never lost.

    Raises ValueError for a tokenizer without a chat template.
    """

    structural_tag_model = "parlance"  # get_structural_tag() makes the tag
    supports_required_and_named = False  # calls that are required are in the model's own format too
    engine_based_streaming = True  # vLLM asks at the end for what was held back
    skip_reasoning_parsing = False  # vLLM sets it where no reasoning parser runs: reasoning is text then

    def __init__(self, tokenizer: Any, tools: list[Any] | None = None):
        super().__init__(tokenizer, tools)
        self._replies = replies_of(tokenizer)  # of a request's variables too, once there is one
        self._reader: ReplyReader | None = None
        self._pieces = Pieces(self._replies.ends)

    def _take(self, request: Any) -> None:
        variables = getattr(request, "chat_template_kwargs", None)
        if variables:
            self._replies = replies_of(self.model_tokenizer, variables)

    def _begin(self, request: Any) -> ReplyReader:
        self._take(request)
        tools = plain_tools(getattr(request, "tools", None) or self.tools)
        calls = tools is not None and getattr(request, "tool_choice", None) != "none"
        reasoning = not self.skip_reasoning_parsing
        prompt = self._replies.after_reasoning if reasoning else self._replies.header
        return ReplyReader(self._replies.format(reasoning, calls), prompt=prompt, tools=tools)

    # ---- a whole reply

    def extract_tool_calls(self, model_output: str, request: Any) -> ExtractedToolCallInformation:
        """The calls of a reply, and its content without their markup."""
        reader, pieces = self._begin(request), Pieces(self._replies.ends)
        made: dict[str, Any] = {}
        add_to(made, pieces.of(reader.feed(model_output)))
        add_to(made, pieces.of(reader.finish()))
        calls = [{name: value for name, value in call.items() if name != "index"} for call in made.get("tool_calls", ())]
        return ExtractedToolCallInformation.model_validate(
            {"tools_called": bool(calls), "tool_calls": calls, "content": made.get("content")}
        )

    # ---- a reply that streams

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> DeltaMessage | None:
        """What `delta_text` adds; None for nothing."""
        if self._reader is None:
            self._reader = self._begin(request)
        return _delta(self._pieces.of(self._reader.feed(delta_text)))

    def finish_streaming(self) -> DeltaMessage | None:
        """What was held back, at the end of the reply."""
        return None if self._reader is None else _delta(self._pieces.of(self._reader.finish()))

    # ---- what the model may write

    def adjust_request(self, request: Any) -> Any:
        """The request with control tokens kept in the text."""
        request.skip_special_tokens = False
        if hasattr(request, "spaces_between_special_tokens"):
            request.spaces_between_special_tokens = False
        return super().adjust_request(request)

    def get_structural_tag(self, request: Any, *, reasoning: bool = False, strict_level: ToolStrictLevel = ToolStrictLevel.AUTO) -> Any:
        """The grammar of the replies that the request allows, in the model's own format, from the end of reasoning on.

        As vLLM has it, only the schema of a strict tool binds. None where nothing is to be bound, or no such grammar can be made.
        """
        tools = plain_tools(resolve_tool_strictness(request.tools or [], request.tool_choice, strict_level))
        choice = _choice(request.tool_choice)
        if tools is None or choice == "none":
            return None
        self._take(request)
        try:
            return StructuralTag.model_validate(self._structural_tag(request, [_bound(tool) for tool in tools], choice))
        except (Error, ValueError) as error:
            logger.warning("calls are not constrained: %s", error)
            return None

    def _structural_tag(self, request: Any, tools: list[dict[str, Any]], choice: str) -> dict[str, Any]:
        reasoning = not self.skip_reasoning_parsing
        made = grammar(
            self._replies.format(reasoning),
            tools=tools,
            tool_choice=choice,
            parallel_tool_calls=request.parallel_tool_calls is not False,
            prompt=self._replies.after_reasoning if reasoning else self._replies.header,
            reasoning=False,
            open=True,
            any_order=True,
        )
        tag: dict[str, Any] = json.loads(made.to_text("structural-tag"))
        if reasoning and self._replies.gap:
            gap = {"type": "grammar", "grammar": f"root ::= {json.dumps(self._replies.gap)}?\n"}
            tag["format"] = {"type": "sequence", "elements": [gap, tag["format"]]}
        return tag


def _bound(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool of which nothing but a strict schema binds."""
    function = tool["function"]
    return tool if function.get("strict") else {**tool, "function": {**function, "parameters": {"type": "object"}}}


def _delta(made: dict[str, Any]) -> DeltaMessage | None:
    return DeltaMessage.model_validate(made) if made else None


def _choice(choice: Any) -> str:
    """'auto', 'required', 'none' or the tool's name."""
    if choice is None or isinstance(choice, str):
        return choice or "auto"
    if hasattr(choice, "mode"):  # some tools of those that there are: whether one has to be called
        return str(choice.mode)
    return str(getattr(choice, "function", choice).name)


ToolParserManager.register_module("parlance", module=ParlanceToolParser)
