"""What a session warns of as it begins: what its first prompt lacks, or has otherwise than it was meant.

Begin reading at warn_of_guarded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from parlance._core import Template
from parlance._origins import ASSISTANT, of_guarded
from parlance._warned import warn_caller

_SPECIAL_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def warn_of_guarded(
    messages: Sequence[Any], options: Mapping[str, Any], ids: list[int], ids_with: Callable[[list[str]], list[int]]
) -> None:
    """Warns where control tokens in what the assistant said before are text, which the model hardly wrote so.

    `ids_with` gives the prompt's ids where paths are trusted.
    """
    if not (options["protect"] and any(message.get("role") == "assistant" for message in messages)):
        return
    if ids_with([*options["trust"], ASSISTANT]) != ids:
        warn_caller(of_guarded("Control tokens"))


def warn_of_missing(template: Template, tokenizer: Any, request: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
    """Warns where the template writes a special token that it was not given, as one made of a text alone."""
    given = template.to_dict()
    known = {token["name"] for token in given["special_tokens"]}
    named = getattr(tokenizer, "special_tokens_map", None)  # what a tokenizer does not have, no prompt lacks
    known |= variables.keys() | (set() if named is None else {*_SPECIAL_TOKENS} - named.keys())
    if not any(name in given["text"] for name in _SPECIAL_TOKENS if name not in known):
        return
    asked = {name: value for name, value in request.items() if value is not None}
    losses = template.render(**asked, **variables).losses()
    if missing := [loss.path for loss in losses if loss.subject == "special token" and loss.path not in known]:
        warn_caller(
            f"the template writes {', '.join(missing)}, which it was not given, so the prompt lacks it: "
            "Template.from_tokenizer(tokenizer) has a tokenizer's, and from_string and from_file take special_tokens"
        )
