"""Which message each token of a prompt belongs to, and what the model would have sampled, as the package `renderers` counts it.

The origins of the text say whose text a token holds. Whose the text of the template is, its headers and ends, is found by rendering the
conversation up to each message. Begin reading at Attribution.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Callable, Sequence

from parlance._core import Rendering, Tokens
from parlance._errors import Error

Render = Callable[[int], Rendering]
"""Renders the first so many messages, without a generation prompt."""


@dataclasses.dataclass(frozen=True)
class Habits:
    """What a template does in every prompt, found by rendering small ones."""

    opening: str = ""
    """The generation prompt."""
    headers: tuple[str, ...] = ()
    """What stands before the text of a user's message, and of a system message that comes first."""
    once: tuple[int, ...] = ()
    """The ids that begin every prompt, and stand in it only there."""
    openers: frozenset[int] = frozenset()
    """Stop tokens that open the turn of another, and close none."""
    closers: frozenset[int] = frozenset()
    """Control tokens directly behind a user's text, which may be no stop tokens."""

    @classmethod
    def found(
        cls,
        ask: Callable[[int, bool], Rendering],
        tokens: Callable[[Rendering], Tokens],
        stops: set[int],
        with_system: Callable[[], Rendering],
    ) -> Habits:
        """`ask` renders the first so many of a user's, an assistant's and a user's message, with or without the generation prompt;
        `with_system` a system message and a user's, or raises Error."""
        alone, asked, answered, longer = ask(1, False), ask(1, True), ask(2, False), ask(3, False)
        opening = asked.text[len(alone.text) :] if asked.text.startswith(alone.text) else ""
        begins = [begin for _, (begin, _) in longer.message_ranges]
        last = begins[-1] if begins else 0
        header = longer.text[len(answered.text) : last] if longer.text.startswith(answered.text) else ""
        once = _once(longer, tokens(longer), begins[0] if begins else 0)
        headers = [header, _header_of_system(with_system, tokens, once)]
        return cls(
            opening, tuple(one for one in headers if one), once, _openers(alone, tokens(alone), stops), _closers(alone, tokens(alone))
        )


def _header_of_system(render: Callable[[], Rendering], tokens: Callable[[Rendering], Tokens], once: tuple[int, ...]) -> str:
    """What stands before the text of a system message, behind the ids that begin every prompt; "" where none is found."""
    try:
        prompt = render()
    except Error:
        return ""
    own = next((begin for message, (begin, _) in prompt.message_ranges if message == 0), 0)
    begins = tokens(prompt)
    if tuple(begins.ids[: len(once)]) != once:
        return ""
    over = begins.ranges[len(once) - 1][1] if once else 0
    return prompt.text[over:own]


def _once(prompt: Rendering, tokens: Tokens, own: int) -> tuple[int, ...]:
    """The first ids before a place, up to one that comes again; whole pieces of the template's text only."""
    over = 0
    for id, (_, end) in zip(tokens.ids, tokens.ranges, strict=True):
        if end > own or tokens.ids.count(id) > 1:
            break
        over = end
    over = max((span.end for span in prompt.spans if span.end <= over), default=0)
    return tuple(id for id, (_, end) in zip(tokens.ids, tokens.ranges, strict=True) if end <= over)


def _openers(prompt: Rendering, tokens: Tokens, stops: set[int]) -> frozenset[int]:
    """Of one message: the stop tokens in front of its text that do not stand behind it."""
    begin, end = next((span for _, span in prompt.message_ranges), (0, 0))
    places = [(id, span) for id, span in zip(tokens.ids, tokens.ranges, strict=True) if id in stops]
    return frozenset(id for id, span in places if span[1] <= begin) - {id for id, span in places if span[0] >= end}


def _closers(prompt: Rendering, tokens: Tokens) -> frozenset[int]:
    """Of one message: the control token with which what stands behind its text begins, blanks aside."""
    end = next((end for _, (_, end) in prompt.message_ranges), len(prompt.text))
    for id, control, (begin, stop) in zip(tokens.ids, tokens.control, tokens.ranges, strict=True):
        if begin >= end and (control or prompt.text[begin:stop].strip()):
            return frozenset({id} if control else ())
    return frozenset()


class Attribution:
    """The tokens of one prompt, by message and by who wrote them."""

    def __init__(self, prompt: Rendering, tokens: Tokens, roles: Sequence[str], stops: set[int], habits: Habits, render: Render) -> None:
        self._prompt = prompt
        self._tokens = tokens
        self._roles = roles
        self._stops = stops
        self._habits = habits
        self._closers = (stops | habits.closers) - habits.openers
        self._closing = {begin: end for id, (begin, end) in zip(tokens.ids, tokens.ranges, strict=True) if id in self._closers}
        self._render = render
        self._ends = [span.end for span in prompt.spans]
        self._stop_at = {begin: end for id, (begin, end) in zip(tokens.ids, tokens.ranges, strict=True) if id in stops}
        self._ranges = self._assistant_ranges()
        self._ranges = sorted([*self._ranges, *self._moved_content()])
        self._closed = self._closes_by_openers()

    def _up_to_span(self, place: int) -> int:
        """The last end of a piece of text at or before a place."""
        at = bisect.bisect_right(self._ends, place)
        return self._ends[at - 1] if at else 0

    def _assistant_ranges(self) -> list[tuple[int, int]]:
        """Without what of the generation prompt stands in front."""
        ranges = []
        for begin, end in self._prompt.assistant:
            shared = _common(self._prompt.text[begin:end], self._habits.opening)
            over = begin + shared if shared == len(self._habits.opening) else self._up_to_span(begin + shared)
            ranges.append((max(begin, over), end))
        return ranges

    def _moved_content(self) -> list[tuple[int, int]]:
        """An assistant's content that the template writes elsewhere than its turn, as behind the results of its calls."""
        return [
            (span.begin, self._stop_at.get(span.end, span.end))
            for span in self._prompt.spans
            if span.message is not None
            and self._roles[span.message] == "assistant"
            and span.path.endswith("].content")
            and not self._is_in_turn(span.begin)
        ]

    def _is_in_turn(self, place: int) -> bool:
        at = bisect.bisect_right(self._ranges, (place, len(self._prompt.text))) - 1
        return at >= 0 and place < self._ranges[at][1]

    def _closes_by_openers(self) -> dict[int, int]:
        """Where a stop token ends an assistant's turn from behind, as it opens the next: its end by the end of the turn."""
        closed: dict[int, int] = {}
        begins = sorted(self._stop_at)
        for begin, end in self._ranges:
            within = bisect.bisect_left(begins, begin)
            if end in self._stop_at and (within == len(begins) or begins[within] >= end):
                closed[end] = self._stop_at[end]
        return closed

    def sampled(self) -> list[bool]:
        """What the model would write: the assistant's ranges, each up to its first stop token."""
        return [turn is not None for turn in self._turns()]

    def _turns(self) -> list[int | None]:
        """The number of the assistant's range that each token was sampled in."""
        turns: list[int | None] = []
        at, over = 0, False
        for id, (begin, end) in zip(self._tokens.ids, self._tokens.ranges, strict=True):
            while at < len(self._ranges) and begin >= self._ranges[at][1] and begin not in self._closed:
                at, over = at + 1, False
            inside = at < len(self._ranges) and self._ranges[at][0] < end
            turns.append(at if inside and not over else None)
            if inside and id in self._stops:
                over = True
        return turns

    def owners(self, first: int = 0) -> list[int]:
        """The message of each token, its header and its end among them; -1 for none, as of the generation prompt.

        Exact from message `first` on, which saves rendering the conversation up to each message before.
        """
        pieces = self._pieces()
        if not pieces:
            return [-1] * len(self._tokens.ids)
        ends = self._message_ends(first - 1)
        preamble = self._preamble()
        cuts: list[tuple[int, int]] = []  # (where it ends, message)
        for number, (message, _, end) in enumerate(pieces):
            following = pieces[number + 1] if number + 1 < len(pieces) else None
            stop = following[1] if following else len(self._prompt.text)
            if message >= first - 1:
                end = stop if following and following[0] <= message else self._end_of(message, end, stop, ends)
            cuts.append((end, message))
        owners, at = [], 0
        for begin, _ in self._tokens.ranges:
            while at < len(cuts) and begin >= cuts[at][0]:
                at += 1
            owners.append(-1 if begin < preamble or at == len(cuts) else cuts[at][1])
        return self._with_speakers(owners, pieces)

    def _with_speakers(self, owners: list[int], pieces: Sequence[tuple[int, int, int]]) -> list[int]:
        """What was sampled is of an assistant's message, also where the template writes it for the last one otherwise or not at all."""
        spoken = [piece for piece in pieces if self._roles[piece[0]] == "assistant"]
        speakers = [
            [(first, message) for message, first, last in spoken if first == begin or (first < end and begin < last)]
            for begin, end in self._ranges
        ]
        for place, (turn, (begin, _)) in enumerate(zip(self._turns(), self._tokens.ranges, strict=True)):
            if turn is None or not speakers[turn] or (owners[place] >= 0 and self._roles[owners[place]] == "assistant"):
                continue
            before = [message for start, message in speakers[turn] if start <= begin]
            owners[place] = before[-1] if before else speakers[turn][0][1]
        return owners

    def _pieces(self) -> list[tuple[int, int, int]]:
        """The messages' own text in the order of the prompt: message, begin, end. An assistant's ends with its turn.

        Without what another message has of an assistant's, as the name of the call that it answers.
        """
        pieces: list[tuple[int, int, int]] = []
        in_turn = {message for message, (begin, _) in self._prompt.message_ranges if self._is_in_turn(begin)}
        for message, (begin, end) in self._prompt.message_ranges:
            if self._roles[message] == "assistant":
                if message in in_turn and not self._is_in_turn(begin):
                    continue
                end = next((stop for start, stop in self._ranges if start <= begin < stop < end), end)
            pieces.append((message, begin, end))
        return sorted([*pieces, *self._empty_turns({message for message, _, _ in pieces})], key=lambda piece: piece[1])

    def _empty_turns(self, with_text: set[int]) -> list[tuple[int, int, int]]:
        """The turns of an assistant's messages of which nothing is in the prompt, where each of its messages has one turn."""
        answers = [message for message, role in enumerate(self._roles) if role == "assistant"]
        turns = self._ranges if len(answers) == len(self._ranges) else self._joined_ranges()
        if len(answers) != len(turns):
            return []
        return [(message, *span) for message, span in zip(answers, turns, strict=True) if message not in with_text]

    def _joined_ranges(self) -> list[tuple[int, int]]:
        """The assistant's ranges, those that touch as one: a template may mark the text and the end of a turn apart."""
        joined: list[tuple[int, int]] = []
        for begin, end in self._ranges:
            if joined and joined[-1][1] == begin:
                begin = joined.pop()[0]
            joined.append((begin, end))
        return joined

    def _message_ends(self, first: int) -> list[int | None]:
        """Where the prompt of the conversation up to each message and the whole one part; None before message `first`, and where there
        is no such prompt."""
        text = self._prompt.text
        ends: list[int | None] = []
        for count in range(1, len(self._roles) + 1):
            if count <= first:
                ends.append(None)
                continue
            try:
                part = self._render(count)
            except Error:
                ends.append(None)
                continue
            ends.append(len(part.text) if text.startswith(part.text) else self._end_beside(count - 1, part))
        return ends

    def _end_beside(self, message: int, part: Rendering) -> int | None:
        """Where what the template writes behind a message is the same in a prompt that ends with it, and the end of its turn.

        None if one lacks its text.
        """
        here, there = (max((span[1] for one, span in made.message_ranges if one == message), default=None) for made in (self._prompt, part))
        if here is None or there is None:
            return None
        end = self._up_to_span(here + _common(self._prompt.text[here:], part.text[there:]))
        return self._closing.get(end, end)

    def _end_of(self, message: int, last: int, following: int, ends: list[int | None]) -> int:
        """Where a message ends whose own text ends at `last`, before that of the next at `following`."""
        end = ends[message]
        interleaved = following == len(self._prompt.text) and message < len(self._roles) - 1
        if end is None or interleaved or not last <= end <= following:
            closes = (
                stop
                for id, (start, stop) in zip(self._tokens.ids, self._tokens.ranges, strict=True)
                if id in self._closers and last <= start and stop <= following
            )
            close = next(closes, None)
            turn = next((stop for begin, stop in self._ranges if begin <= last <= stop), last)
            end = turn if close is None else next((place for place in self._ends if place >= close), close)
        return self._closed.get(end, end)

    def _preamble(self) -> int:
        """Where what the template writes before the first message ends: behind a turn that is over before it."""
        own = next((begin for _, (begin, _) in self._prompt.message_ranges), 0)
        over = 0
        for id, (_, end) in zip(self._tokens.ids, self._tokens.ranges, strict=True):
            if end <= own and id in self._closers:
                over = end
        if over:
            rest = self._prompt.text[over:own]
            return over + len(rest) - len(rest.lstrip())
        before = self._prompt.text[:own]
        header = max((header for header in self._habits.headers if before.endswith(header)), key=len, default="")
        if header:
            return own - len(header)
        for wanted, id, (_, end) in zip(self._habits.once, self._tokens.ids, self._tokens.ranges, strict=False):
            if wanted != id:
                break
            over = end
        return over

    def content(self, sampled: Sequence[bool], owners: Sequence[int]) -> list[bool]:
        """What came from the request or from the model, not from the template; names of roles are the template's."""
        bodies = [
            (span.begin, span.end, span.message)
            for span in self._prompt.spans
            if span.message is not None and span.origin in ("input", "derived") and not span.path.endswith("].role")
        ]
        inside = _overlaps(self._tokens.ranges, bodies)
        return [
            one if owner >= 0 and self._roles[owner] == "assistant" else owner in within
            for one, owner, within in zip(sampled, owners, inside, strict=True)
        ]


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    size = min(len(one), len(other))
    low, high = 0, size
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _overlaps(ranges: Sequence[tuple[int, int]], bodies: Sequence[tuple[int, int, int]]) -> list[set[int]]:
    """The messages of the bodies (begin, end, message) that each range has a character of; both are in order."""
    found: list[set[int]] = []
    first = 0
    for begin, end in ranges:
        while first < len(bodies) and bodies[first][1] <= begin:
            first += 1
        at, within = first, set()
        while at < len(bodies) and bodies[at][0] < end:
            within.add(bodies[at][2])
            at += 1
        found.append(within)
    return found
