"""vLLM's reasoning parser `parlance`, for every chat template: a plugin for `vllm serve`.

    vllm serve MODEL --reasoning-parser-plugin parlance.vllm_reasoning_parser --reasoning-parser parlance

The tokenizer's chat template says how the model marks reasoning, and the prompt whether it is open. Needs vLLM.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from vllm.reasoning.abs_reasoning_parsers import ReasoningParser, ReasoningParserManager
from vllm.tool_parsers.abstract_tool_parser import DeltaMessage

from parlance._core import ReplyReader
from parlance._tokenizers import tokenizer_of
from parlance._vllm import ReasoningPhase, plain_tools, replies_of

# Of ids that grow, so many of the last known ones are compared; a prompt may have 100 000 of them.
_COMPARED = 16


class ParlanceReasoningParser(ReasoningParser):
    """Splits a reply into its reasoning and the rest, which keeps its markup for the tool parser.

    Raises ValueError for a tokenizer without a chat template.
    """

    engine_based_streaming = True  # vLLM asks at the end for what was held back, and takes nothing for decided before that

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any):
        super().__init__(tokenizer, *args, **kwargs)
        self._replies = replies_of(tokenizer, kwargs.get("chat_template_kwargs"))
        self._engine = tokenizer_of(tokenizer)
        self._prompt: str | None = None  # from the assistant's turn on
        self._phase: ReasoningPhase | None = None
        self._watched: tuple[int, Sequence[int], ReasoningPhase] | None = None  # how many ids it has read, and the last of them

    @property
    def reasoning_start_str(self) -> str | None:
        return self._replies.opens[0].strip() if self._replies.opens else None

    @property
    def reasoning_end_str(self) -> str | None:
        return self._replies.closes[0].strip() if self._replies.closes else None

    # ---- the prompt

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        """The prompt of the reply that is read next."""
        self._prompt = self._replies.tail_of(prompt_token_ids, self._engine)

    def adjust_initial_state_from_prompt(self, prompt_token_ids: Sequence[int]) -> None:
        """The same, where vLLM has no set_prompt_token_ids()."""
        self.set_prompt_token_ids(prompt_token_ids)

    def _begin(self) -> ReasoningPhase:
        return ReasoningPhase(self._replies, self._prompt)

    def adjust_request(self, request: Any) -> Any:
        """The request with control tokens kept in the text of the reply, which is what parsers read."""
        request.skip_special_tokens = False
        if hasattr(request, "spaces_between_special_tokens"):
            request.spaces_between_special_tokens = False
        return request

    # ---- ids

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Whether a prompt, with what there is of its reply, is past all reasoning; True for a model that has none."""
        return self.is_reasoning_end_streaming(input_ids, ())

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        """The same for each step of sampling: only what is new since the last one is read. `delta_ids` may be taken back."""
        if not self._replies.has_reasoning:
            return True
        new = list(delta_ids)
        count = len(input_ids) - len(new)
        known, last, phase = self._watched or (0, (), None)
        if phase is None or known > count or tuple(input_ids[max(known - _COMPARED, 0) : known]) != last:
            known, phase = count, self._turn(input_ids[:count])
        phase.feed(self._engine.decode(input_ids[known:count]))
        self._watched = (count, tuple(input_ids[max(count - _COMPARED, 0) : count]), phase)
        if phase.ended or not new:
            return phase.ended
        ahead = phase.copy()
        ahead.feed(self._engine.decode(new))
        return ahead.ended

    def _turn(self, ids: Sequence[int]) -> ReasoningPhase:
        """The assistant's last turn in these ids, read as far as they go; they are the reply alone where none begins."""
        tail, header = self._replies.tail_of(ids, self._engine), self._replies.header
        if not header or not tail.startswith(header):
            phase = self._begin()
            phase.feed(tail)
            return phase
        phase = ReasoningPhase(self._replies, header)
        phase.feed(tail[len(header) :])
        return phase

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """The ids behind the marker that closes reasoning; none where nothing closes it."""
        phase = ReasoningPhase(self._replies, self._replies.header + "".join(self._replies.opens[:1]))
        for place, id in enumerate(input_ids):
            phase.feed(self._engine.decode([id]))
            if phase.ended:
                return list(input_ids[place + (not phase.rest) :])
        return []

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """How many tokens of a reply have text of its reasoning; markers do not count."""
        phase, ranges, at = self._begin(), [], 0
        for id in token_ids:
            piece = self._engine.decode([id])
            phase.feed(piece)
            ranges.append((at, at + len(piece)))
            at += len(piece)
        phase.finish()
        return sum(any(begin < stop and start < end for start, stop in phase.spans) for begin, end in ranges)

    # ---- a whole reply

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """(reasoning, the rest with its markup); None for what there is not. Later reasoning is taken out of the rest too."""
        if self._prompt is not None and not self._replies.is_open(self._prompt):
            reasoning, rest = "", model_output
        else:
            phase = self._begin()
            reasoning = phase.feed(model_output) + phase.finish()
            rest = phase.rest
        later, rest = self._later(rest, plain_tools(getattr(request, "tools", None)))
        return reasoning + later or None, rest or None

    def _later(self, rest: str, tools: list[dict[str, Any]] | None) -> tuple[str, str]:
        reader = ReplyReader(self._replies.format(), prompt=self._replies.after_reasoning, tools=tools)
        events = reader.feed(rest) + reader.finish()
        if not any(event.kind == "reasoning" for event in events):
            return "", rest
        said = "".join(event.text for event in events if event.kind == "reasoning")
        return said, "".join(event.source for event in events if event.kind != "reasoning")

    def extract_reasoning_content(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """The older name of extract_reasoning."""
        return self.extract_reasoning(model_output, request)

    # ---- a reply that streams

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> DeltaMessage | None:
        """What `delta_text` adds; in the delta in which reasoning ends, `content` is all behind it, for the tool parser."""
        if self._phase is None:
            self._phase = self._begin()
        over = self._phase.ended
        said = self._phase.feed(delta_text)
        return _delta(said, delta_text if over else self._phase.rest)

    def extract_reasoning_content_streaming(self, *args: Any, **kwargs: Any) -> DeltaMessage | None:
        """The older name of extract_reasoning_streaming."""
        return self.extract_reasoning_streaming(*args, **kwargs)

    def has_engine_confirmed_reasoning_end(self) -> bool:
        """Whether the text that streamed so far is past its reasoning."""
        return self._phase is not None and self._phase.ended

    def finish_streaming(self) -> DeltaMessage | None:
        """What was held back, at the end of the reply."""
        if self._phase is None or self._phase.ended:
            return None
        said = self._phase.finish()
        return _delta(said, self._phase.rest)


def _delta(reasoning: str, content: str) -> DeltaMessage | None:
    given = {name: text for name, text in (("reasoning", reasoning), ("content", content)) if text}
    return DeltaMessage(**given) if given else None


ReasoningParserManager.register_module("parlance", module=ParlanceReasoningParser)
