"""For all templates of the corpus: which bridge from a turn to the next, which refuse and why, and that the package's own renderer for
templates always refuses. Begin reading at bridges_of_corpus."""

from __future__ import annotations

import collections
import re
from typing import Any

from material import CORPUS, TOKENIZERS, corpus_template
from parlance.renderers import ParlanceRenderer, ParlanceRendererConfig
from renderers.base import create_renderer
from renderers.configs import DefaultRendererConfig
from transformers import PreTrainedTokenizerFast


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _reply_of(renderer: ParlanceRenderer, prompt: list[int]) -> list[int]:
    """The ids of a reply as the template itself writes it, up to the end of the turn."""
    made = renderer.render([_user("Hi"), {"role": "assistant", "content": "Yes"}])
    written = [id for id, sampled in zip(made.token_ids, made.sampled_mask, strict=True) if sampled]
    return written if made.token_ids[: len(prompt)] == prompt else list(renderer._tokenizer.encode("Yes"))


def _reason(renderer: ParlanceRenderer, prompt: list[int], known: bool) -> str:
    """A refusal by its kind, and which part of the tokens so far the template would write otherwise."""
    refusal = renderer.refusal or ""
    place = re.search(r"from byte (\d+)", refusal)
    if place is None:
        return re.sub(r"^.*?, line \d+: ", "", refusal, flags=re.DOTALL)[:110]
    if not known:
        return "the conversation is not known, and one like it would be written otherwise"
    before = len(renderer._prompt([_user("Hi")], None, False).text.encode())
    asked, at = len(renderer._tokenizer.decode(prompt)), int(place.group(1))
    part = "the first turn" if at < before else "the generation prompt" if at < asked else "the reply or its end"
    return f"{part} is written otherwise once a user follows"


def bridges_of_corpus(every: int) -> list[str]:
    """One turn of one template in so many, with a small tokenizer, the reply being plain text. Prints a table; gives what is wrong."""
    known: collections.Counter[str] = collections.Counter()
    fresh: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(TOKENIZERS / "chatml" / "tokenizer.json"), bos_token="<|im_start|>", eos_token="<|im_end|>"
    )
    default = kept = 0
    paths = sorted((CORPUS / "templates").glob("*.jinja"))[::every]
    for path in paths:
        tokenizer.chat_template = corpus_template(f"templates/{path.name}")
        try:
            ours = ParlanceRenderer(tokenizer)
            prompt = ours.render_ids([_user("Hi")], add_generation_prompt=True)
        except Exception as error:
            for counter in (known, fresh):
                counter[f"does not render one message of a user: {type(error).__name__}"] += 1
            continue
        reply, other = _reply_of(ours, prompt), ParlanceRenderer(tokenizer)
        bridges = [one.bridge_to_next_turn(prompt, reply, [_user("More")]) for one in (ours, other)]
        for counter, one, bridge in zip((known, fresh), (ours, other), bridges, strict=True):
            refused = "" if bridge is not None else _reason(one, prompt, one is ours)
            counter["bridges" if bridge is not None else refused] += 1
            if bridge is not None and bridge.token_ids[: len(prompt) + len(reply)] != [*prompt, *reply]:
                wrong.append(f"{path.name}: the bridge does not begin with the prompt and the reply")
        if bridges[0] is not None and bridges[1] is not None and bridges[0].token_ids != bridges[1].token_ids:
            wrong.append(f"{path.name}: a fresh renderer bridges otherwise")
        keeping = ParlanceRenderer(tokenizer, ParlanceRendererConfig(thinking_retention="all"))
        keeping.render_ids([_user("Hi")], add_generation_prompt=True)
        kept += keeping.bridge_to_next_turn(prompt, reply, [_user("More")]) is not None
        own = create_renderer(tokenizer, DefaultRendererConfig())
        default += own.bridge_to_next_turn(prompt, reply, [_user("More")]) is None
    print(f"\n{len(paths)} templates of the corpus\n  known  fresh  what becomes of a bridge")
    for reason in dict.fromkeys([*(reason for reason, _ in known.most_common()), *fresh]):
        print(f"{known[reason]:7} {fresh[reason]:6}  {reason}")
    print(f'{kept} of {len(paths)}: bridges with thinking_retention="all"')
    print(f"{default} of {len(paths)}: the renderer of the package for templates refuses")
    return wrong
