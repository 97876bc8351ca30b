"""A session with a tool, as tests of sessions begin one, and ids of its replies."""

from __future__ import annotations

from typing import Any

import parlance

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}]


def begin(folder: str, name: str = "terminal-agent", **options: Any) -> parlance.Session:
    return parlance.Session(
        parlance.Template.builtin(name),
        parlance.Tokenizer.from_file(folder),
        [{"role": "user", "content": "Look!"}],
        tools=TOOLS,
        **options,
    )


def reply_ids(folder: str, text: str) -> list[int]:
    return parlance.Tokenizer.from_file(folder).encode(text)


CALL = '<tool_call>\n{"name": "look", "arguments": {"at": "it"}}\n</tool_call><|im_end|>'
