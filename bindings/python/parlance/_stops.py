"""The stop tokens of a template and a tokenizer: what a model samples where its reply ends. Begin reading at stop_ids."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from typing import Any

from parlance._core import Template, Tokenizer, Tokens


def stop_ids(template: Template, engine: Tokenizer, variables: dict[str, Any], tokenizer: Any) -> list[int]:
    """The ids that end or interrupt an assistant's turn, each once.

    Those of the reply format that the template shows; where that has none, those that the template writes behind an assistant's message.
    And the tokenizer's eos_token, and those that only generation_config.json names. Raises ValueError if that file is not JSON.
    """
    found = template_stops(template, engine, variables)
    return list(dict.fromkeys([*found, *_ids(getattr(tokenizer, "eos_token_id", None)), *_configured(tokenizer)]))


def template_stops(template: Template, engine: Tokenizer, variables: dict[str, Any]) -> list[int]:
    """The ids that the template itself shows."""
    ends = json.loads(template.reply_format(**variables).to_json()).get("end")
    found = [id for text in spellings(ends) for id in _control_id(text.strip(), engine)]
    return found or [id for id, _, _ in template.stop_tokens(engine) if id is not None]


def spellings(ends: Any) -> Iterator[str]:
    """The texts of markers as a reply format has them: one, a list of alternatives, or an object with `texts`."""
    if isinstance(ends, str):
        yield ends
    elif isinstance(ends, dict):
        yield from spellings(ends.get("texts"))
    elif isinstance(ends, list):
        for one in ends:
            yield from spellings(one)


def literal_tokens(text: str, engine: Tokenizer) -> Tokens:
    """The tokens of a text that a template writes of its own."""
    return Template.from_string("{{ " + json.dumps(text, ensure_ascii=False) + " }}", adapt=False).render([]).tokens(engine)


def _control_id(text: str, engine: Tokenizer) -> list[int]:
    """The id of a text that is one control token, else nothing: a text that takes more tokens, or an ordinary one, is no stop token."""
    made = literal_tokens(text, engine)
    return list(made.ids) if len(made.ids) == 1 and made.control[0] else []


def _ids(value: Any) -> list[int]:
    return [id for id in (value if isinstance(value, list) else [value]) if isinstance(id, int)]


def _configured(tokenizer: Any) -> list[int]:
    """The stop tokens of generation_config.json, in the tokenizer's folder or, if that has been downloaded, of its model in the cache."""
    name = str(getattr(tokenizer, "name_or_path", "") or "")
    file = pathlib.Path(name, "generation_config.json")
    if name and not file.is_file():
        try:
            from huggingface_hub import try_to_load_from_cache

            cached = try_to_load_from_cache(name, "generation_config.json")
        except (ImportError, ValueError):  # ValueError: a folder's name
            return []
        file = pathlib.Path(cached) if isinstance(cached, str) else file
    if not name or not file.is_file():
        return []
    try:
        settings = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} is not JSON: {error}") from None
    return _ids(settings.get("eos_token_id")) if isinstance(settings, dict) else []
