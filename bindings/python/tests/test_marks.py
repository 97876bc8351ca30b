"""What is known of a prompt comes through a processor that expands it, whatever stands next to what."""

from __future__ import annotations

import random

from material import SHARE
from parlance._marks import Marks
from parlance._origins import Ranges, mask_of, merged
from parlance._transformers import Method
from parlance.processors import _forged_placeholders


def ranges(rng: random.Random, size: int) -> Ranges:
    ends = sorted(rng.randrange(size + 2) for _ in range(2 * rng.randrange(4)))
    return list(zip(ends[::2], ends[1::2], strict=True))


def characters(ranges: Ranges, size: int) -> set[int]:
    return {i for begin, end in ranges for i in range(begin, min(end, size))}


def test_marks_come_back() -> None:
    rng = random.Random(20261125)
    for _ in range(3000 // SHARE):
        text = "".join(rng.choice("ab*é\U0010f000") for _ in range(rng.randrange(12)))
        forged, learnt = ranges(rng, len(text)), ranges(rng, len(text))
        marks = Marks([text])
        marked = marks.mark(text, forged, learnt)
        back = marks.unmark(marked)
        assert back.text == text
        assert characters(back.forged, len(text)) == characters(forged, len(text))
        # A learnt range that ends inside of a forged text has all of it.
        whole = [one for one in merged(forged) if characters([one], len(text)) & characters(learnt, len(text))]
        assert characters(learnt, len(text)) <= characters(back.learnt, len(text)) <= characters([*learnt, *whole], len(text))
        for i, character in enumerate(marked):
            if character in text and (back.place(i) >= len(text) or text[back.place(i)] != character):
                raise AssertionError((marked, i, back.place(i)))

        expanded = marks.unmark(marked.replace("*", "xyz"))
        kept = "".join(c for i, c in enumerate(text) if i in characters(forged, len(text)))
        assert expanded.text.count("xyz") == text.count("*") - kept.count("*")
        assert "".join(expanded.text[begin:end] for begin, end in expanded.forged) == kept


def test_masks_are_of_what_overlaps() -> None:
    rng = random.Random(5)
    for _ in range(3000):
        learnt, tokens = ([(begin, end) for begin, end in ranges(rng, 12) + ranges(rng, 12) if begin < end] for _ in range(2))
        assert mask_of(tokens, learnt) == [int(any(first < end and last > begin for begin, end in learnt)) for first, last in tokens]


def test_a_placeholder_that_is_no_token_is_found_by_its_origin() -> None:
    chats = [[{"role": "user", "content": "aXXb X"}]]
    variables = {"own": "XX"}
    [chat] = Method("XX{{ messages[0].content }}X {{ own }}", None, None, variables, version="5.23.0").rendered(chats, spans=True)
    assert chat.text == "XXaXXb XX XX"
    assert sorted(_forged_placeholders(chat, {"XX"}, ())) == [(3, 5), (7, 9), (10, 12)]
    assert sorted(_forged_placeholders(chat, {"XX"}, ["own"])) == [(3, 5), (7, 9)]
