#!/usr/bin/env python3
"""Holds parlance.renderers.ParlanceRenderer against the renderers by hand of the package `renderers`.

    renderers_oracle.py [FAMILY…] [--show]

For each family whose template is here, with a real or trained tokenizer and with one that has no merges: ids and attribution of
render(), the bridge to the next turn, the parsed reply, the stop tokens. Where the two differ, transformers says who is right: by what it
renders for the conversation, or by what its generation prompt writes, which the model does not sample. What is known to differ stands in
renderer_differences.py. And for all templates of the corpus: how many bridge, and why the others refuse.
Ends with 1 on any other difference and on a known one that is not there, with 77 where something is missing. Begin reading at main.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import itertools
import logging
import os
import pathlib
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from material import CORPUS, RENDERERS

sys.path.insert(1, str(RENDERERS))
try:
    import parlance
    from parlance.renderers import ParlanceRenderer, ParlanceRendererConfig
    from renderer_differences import KNOWN, Known
    from renderer_families import FAMILIES, TOOLS, Family, assistant, conversations, result, tokenizer_of, user
    from renderers.base import RENDERER_REGISTRY, _populate_registry, create_renderer
    from renderers_of_corpus import bridges_of_corpus
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

FIELDS = ("message_indices", "sampled_mask", "is_content", "message_tool_names")


@dataclasses.dataclass
class Difference:
    family: str
    where: str
    field: str
    right: str
    """Whom transformers confirms: "parlance", "by hand", "neither", or "-" where it cannot say."""
    shown: str


@dataclasses.dataclass
class Counts:
    renders: int = 0
    equal: int = 0
    fields: int = 0
    equal_fields: int = 0
    refused: int = 0  # conversations that the template or the renderer by hand refuses
    bridges: int = 0  # that both make
    more: int = 0  # that only parlance makes
    fewer: int = 0  # that only the one by hand makes


class Comparison:
    """One family with one tokenizer."""

    def __init__(self, family: Family, letters: bool, found: list[Difference]) -> None:
        self.family = family
        self.label = family.label + (" (letters)" if letters else "")
        self.tokenizer = tokenizer_of(family, letters)
        variables = dict(family.variables)
        self.hand = create_renderer(self.tokenizer, chat_template_kwargs=variables)
        self.ours = ParlanceRenderer(self.tokenizer, ParlanceRendererConfig(**variables))
        self.bare = ParlanceRenderer(self.tokenizer, ParlanceRendererConfig(protect=False, **variables))
        self.found = found
        self.counts = Counts()

    def transformers(self, messages: list[Any], tools: Any, generation: bool) -> list[int] | None:
        try:
            return list(
                self.tokenizer.apply_chat_template(
                    messages, tools=tools, add_generation_prompt=generation, return_dict=False, **self.family.variables
                )
            )
        except Exception:
            return None

    def differs(self, where: str, field: str, right: str, hand: Any, ours: Any) -> None:
        self.found.append(Difference(self.label, where, field, right, f"by hand  {hand}\n  parlance {ours}"))

    # ---- prompts

    def renders(self) -> None:
        for name, messages in conversations(self.family).items():
            for tools, generation in itertools.product((None, TOOLS), (False, True)):
                where = name + (" with tools" if tools else "") + (" and asked" if generation else "")
                try:
                    hand = self.hand.render(messages, tools=tools, add_generation_prompt=generation)
                    ours = self.ours.render(messages, tools=tools, add_generation_prompt=generation)
                except (ValueError, TypeError, parlance.Error):  # the renderer by hand, or the template, does not take it
                    self.counts.refused += 1
                    continue
                self.compare_render(where, messages, tools, generation, hand, ours)

    def compare_render(self, where: str, messages: list[Any], tools: Any, generation: bool, hand: Any, ours: Any) -> None:
        self.counts.renders += 1
        if hand.token_ids != ours.token_ids:
            wanted = self.transformers(messages, tools, generation)
            right = "parlance" if wanted == ours.token_ids else "by hand" if wanted == hand.token_ids else "neither" if wanted else "-"
            if wanted and right != "parlance":  # it protects; what it does without must be what transformers does
                bare = self.bare.render_ids(messages, tools=tools, add_generation_prompt=generation)
                right = right if bare == wanted else "not parlance"
            self.differs(where, "ids", right, *self.excerpts(hand.token_ids, ours.token_ids))
            return
        self.counts.equal += 1
        for field in FIELDS:
            self.counts.fields += 1
            one, other = getattr(hand, field), getattr(ours, field)
            if one == other:
                self.counts.equal_fields += 1
                continue
            places = [place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
            right = self.who_is_right(field, places, messages, tools, hand, ours)
            tokens = [(place, self.tokenizer.decode([hand.token_ids[place]])) for place in places]
            self.differs(where, field, right, [(token, one[place]) for place, token in tokens][:6], f"{len(places)} others")

    def excerpts(self, *rows: list[int]) -> list[str]:
        same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(*rows, strict=False)))
        return [repr(self.tokenizer.decode(row[max(0, same - 4) : same + 12])) for row in rows]

    def who_is_right(self, field: str, places: list[int], messages: list[Any], tools: Any, hand: Any, ours: Any) -> str:
        """For what was sampled: a token of an assistant's that its generation prompt has already written was not, any other was."""
        if field not in ("sampled_mask", "is_content") or not places:
            return "-"
        written: set[int] = set()
        for message in {hand.message_indices[place] for place in places}:
            if message < 0 or messages[message]["role"] != "assistant":
                return "-"
            asked, before = (self.transformers(messages[:message], tools, generation) for generation in (True, False))
            if asked is None or before is None or asked[: len(before)] != before:
                return "-"
            opening, first = asked[len(before) :], hand.message_indices.index(message)
            pairs = enumerate(zip(opening, hand.token_ids[first:], strict=False))
            written |= {first + place for place, pair in itertools.takewhile(lambda one: one[1][0] == one[1][1], pairs)}
        truth = [place not in written for place in places]
        given = [[getattr(one, field)[place] for place in places] for one in (ours, hand)]
        return "parlance" if truth == given[0] else "by hand" if truth == given[1] else "neither"

    # ---- replies and bridges

    def turns(self) -> None:
        asked = [user("Hi")]
        prompt = self.hand.render_ids(asked, tools=TOOLS, add_generation_prompt=True)
        if prompt != self.ours.render_ids(asked, tools=TOOLS, add_generation_prompt=True):
            return
        called = self.tokenizer.encode(self.family.reply, add_special_tokens=False)
        self.compare_reply("the reply", called, prompt)
        plain = self.plain_reply(prompt)
        self.compare_reply("a plain reply", plain, prompt)
        self.compare_reply("a reply cut off", plain[:1], prompt)
        news = {"a result": [result("saw")], "a result and a user": [result("saw"), user("more")]}
        for name, new in news.items():
            self.compare_bridge(f"the bridge from a call to {name}", prompt, called, new)
        self.compare_bridge("the bridge from a plain reply to a user", prompt, plain, [user("more")])
        self.compare_bridge("the bridge from a reply cut off to a user", prompt, plain[:1], [user("more")])

    def plain_reply(self, prompt: list[int]) -> list[int]:
        """As the template writes it behind the prompt, else its text alone; with a stop token."""
        whole = self.ours.render([user("Hi"), assistant("Yes")], tools=TOOLS)
        stop = self.hand.get_stop_token_ids()[0]
        if whole.token_ids[: len(prompt)] != prompt:
            return [*self.tokenizer.encode("Yes", add_special_tokens=False), stop]
        rest = [id for id, sampled in zip(whole.token_ids, whole.sampled_mask, strict=True) if sampled]
        return rest if rest[-1] in self.ours.get_stop_token_ids() else [*rest, stop]

    def compare_reply(self, where: str, reply: list[int], prompt: list[int]) -> None:
        hand, ours = (one.parse_response(reply, tools=TOOLS, prompt_ids=prompt) for one in (self.hand, self.ours))
        rows = {
            "content": [(one.content or "").strip() for one in (hand, ours)],
            "reasoning_content": [(one.reasoning_content or "").strip() for one in (hand, ours)],
            "tool_calls": [[(call.name, call.arguments, call.status) for call in one.tool_calls] for one in (hand, ours)],
            "reasoning_complete": [one.reasoning_complete for one in (hand, ours)],
        }
        for field, (one, other) in rows.items():
            self.counts.fields += 1
            self.counts.equal_fields += one == other
            if one != other:
                self.differs(where, field, "-", repr(one), repr(other))

    def compare_bridge(self, where: str, prompt: list[int], reply: list[int], new: list[Any]) -> None:
        fresh = ParlanceRenderer(self.tokenizer, self.ours.config)
        hand, ours, unknown = (one.bridge_to_next_turn(prompt, reply, new, tools=TOOLS) for one in (self.hand, self.ours, fresh))
        if ours is not None and unknown is not None and ours.token_ids != unknown.token_ids:
            self.differs(where, "a fresh renderer's ids", "-", *self.excerpts(unknown.token_ids, ours.token_ids))
        if ours is not None and ours.token_ids[: len(prompt) + len(reply)] != [*prompt, *reply]:
            self.differs(where, "what was sampled", "parlance", "", "changed")
        if hand is None or ours is None:
            self.counts.more += hand is None and ours is not None
            self.counts.fewer += ours is None and hand is not None
            if hand is not None:
                self.differs(where, "no bridge", "-", self.excerpts(prompt, hand.token_ids)[1], self.ours.refusal)
            return
        self.counts.bridges += 1
        if hand.token_ids != ours.token_ids:
            self.differs(where, "ids", self.right_bridge(hand, ours, reply, new), *self.excerpts(hand.token_ids, ours.token_ids))
            return
        for field in FIELDS:
            self.counts.fields += 1
            self.counts.equal_fields += getattr(hand, field) == getattr(ours, field)
            if getattr(hand, field) != getattr(ours, field):
                new_from = len(prompt) + len(reply)
                self.differs(where, field, "-", getattr(hand, field)[new_from:], getattr(ours, field)[new_from:])

    def right_bridge(self, hand: Any, ours: Any, reply: list[int], new: list[Any]) -> str:
        parsed = self.hand.parse_response(reply, tools=TOOLS)
        calls = [1] if parsed.tool_calls else []
        whole = [user("Hi"), assistant(parsed.content, parsed.reasoning_content or "", *calls), *new]
        wanted = self.transformers(whole, TOOLS, True)
        ends = [wanted is not None and wanted[-len(tail) :] == tail for tail in (one.token_ids[-20:] for one in (ours, hand))]
        return "parlance" if ends == [True, False] else "by hand" if ends == [False, True] else "-"

    def settings(self) -> None:
        missing = set(self.hand.get_stop_token_ids()) - set(self.ours.get_stop_token_ids())
        if missing:
            names = self.tokenizer.convert_ids_to_tokens(sorted(missing))
            self.differs("-", "stop tokens", "-", names, self.tokenizer.convert_ids_to_tokens(self.ours.get_stop_token_ids()))
        if self.hand.is_prefix_stable != self.ours.is_prefix_stable:
            self.differs("-", "is_prefix_stable", "-", self.hand.is_prefix_stable, self.ours.is_prefix_stable)

    def row(self) -> str:
        one = self.counts
        differences = sum(difference.family == self.label for difference in self.found)
        stable = "yes" if self.ours.is_prefix_stable else "no"
        return (
            f"{self.label:28} {one.renders:7} {one.equal:5} {one.refused:7} {one.fields:6} {one.equal_fields:5} "
            f"{one.bridges:7} {one.more:5} {one.fewer:5} {stable:>6} {differences:11}"
        )


def row_of(one: Difference) -> Known | None:
    return next((known for known in KNOWN if known.covers(one.family, one.where, one.field, one.right)), None)


def judge(found: list[Difference], all_families: bool) -> list[str]:
    """What is not known, and what is known but not there."""
    wrong, seen = [], set()
    for one in found:
        row = row_of(one)
        if row is None:
            wrong.append(f"{one.family}, {one.where}, {one.field}; transformers confirms: {one.right}\n  {one.shown}")
        else:
            seen.add(id(row))
    if all_families:
        wrong += [f"known but no longer there: {known}" for known in KNOWN if id(known) not in seen]
    return wrong


def print_known(found: list[Difference]) -> None:
    counts: collections.Counter[int] = collections.Counter()
    for one in found:
        row = row_of(one)
        if row is not None:
            counts[id(row)] += 1
    print("\ndifferences  whose              shown by transformers  why")
    for known in KNOWN:
        print(f"{counts[id(known)]:11}  {known.fault:17}  {known.right:21}  {known.families}: {known.why}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("families", nargs="*")
    parser.add_argument("--show", action="store_true", help="print every difference")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    if not CORPUS.exists():
        print("skipped: the corpus is not here")
        return 77
    found: list[Difference] = []
    missing: list[str] = []
    _populate_registry()
    print(f"{'family':28} renders equal refused fields equal bridges  more fewer stable differences")
    every = 1 if int(os.environ.get("PARLANCE_TEST_SHARE", "1")) == 1 or options.families else 3  # make long has all
    chosen = [family for family in FAMILIES if not options.families or family.name in options.families][::every]
    for family, letters in itertools.product(chosen, (False, True)):
        if letters and family.real == "harmony":
            continue
        try:
            comparison = Comparison(family, letters, found)
        except OSError as error:
            missing.append(f"{family.label}: {error}")
            continue
        comparison.renders()
        comparison.turns()
        comparison.settings()
        print(comparison.row(), flush=True)
    without = sorted(set(RENDERER_REGISTRY) - {family.name for family in FAMILIES} - {"default"})
    print(f"no template in the corpus or a package here: {', '.join(without)}")
    print_known(found)
    if options.show:
        print(*(f"@{one.family}, {one.where}, {one.field}: {one.right}\n  {one.shown}" for one in found), sep="\n")
    wrong = judge(found, every == 1 and not options.families and not missing)
    if not options.families:
        wrong += bridges_of_corpus(every)
    print(*missing, *wrong[:40], f"{len(wrong)} differences that are not known", sep="\n")
    return 1 if wrong else 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
