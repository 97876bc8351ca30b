"""TRL's own functions over each of its chat templates: what they make of a tokenizer with the installed method is what they make of one
without. `trl_oracle.py FOLDER`, where FOLDER has the package datasets; run by trl.sh. Begin reading at main.
"""

from __future__ import annotations

import copy
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.append(sys.argv[1])  # behind the environment's own packages, of which it has copies

import parlance
import transformers
from material import TOKENIZERS
from trl import chat_template_utils, data_utils

Row = dict[str, Any]
Call = Callable[[Any], Any]
HIGH = [{"type": "function", "function": {"name": "high", "arguments": {"place": "Bergen"}}}]


def high(place: str) -> str:
    """Says when the tide is high.

    Args:
        place: The name of a harbour.
    """
    return f"{place}: noon"


def user(text: str) -> Row:
    return {"role": "user", "content": text}


def said(text: str, **more: Any) -> Row:
    return {"role": "assistant", "content": text, **more}


ROWS: dict[str, Row] = {
    "a chat": {"messages": [user("Hi"), said("Yes"), user("So?"), said("No")]},
    "with a system message": {"messages": [{"role": "system", "content": "S"}, user("Hi"), said("Yes")]},
    "with a call": {
        "messages": [user("Hi"), said("", tool_calls=HIGH), {"role": "tool", "name": "high", "content": "noon"}, said("At noon.")],
        "tools": [high],
    },
    "with reasoning": {"messages": [user("Hi"), said("Yes", reasoning_content="hm")]},
    "a prompt": {"prompt": [user("Hi")]},
    "a prompt that goes on": {"prompt": [user("Hi"), said("The")]},
    "a completion": {"prompt": [user("Hi")], "completion": [said("Yes")]},
    "a preference": {"prompt": [user("Hi")], "chosen": [said("Yes")], "rejected": [said("No")]},
    "a preference of whole chats": {"chosen": [user("Hi"), said("Yes")], "rejected": [user("Hi"), said("No")]},
    "a judgement": {"prompt": [user("Hi")], "completion": [said("Yes")], "label": True},
    "with a setting": {"prompt": [user("Hi")], "completion": [said("Yes")], "chat_template_kwargs": {"enable_thinking": False}},
    "no message": {"messages": []},
}
REPLIES = (
    "Hello<|im_end|>",
    '<tool_call>\n{"name": "high", "arguments": {"place": "Bergen"}}\n</tool_call><|im_end|>',
    "<think>\nhm\n</think>\n\nYes<|im_end|>",
)


def calls_of_row(row: Row, has_tags: bool) -> Iterator[tuple[str, Call]]:
    tools = {"tools": row["tools"]} if "tools" in row else {}
    yield "apply_chat_template", lambda one: data_utils.apply_chat_template(copy.deepcopy(row), one, **tools)
    yield "maybe_apply_chat_template", lambda one: data_utils.maybe_apply_chat_template(copy.deepcopy(row), one)
    messages = row.get("messages") or row.get("prompt")
    for more in ({}, {"add_generation_prompt": True}, {"continue_final_message": True}) if messages else ():
        asked = {"return_dict": True, "return_assistant_tokens_mask": has_tags, **tools, **more}
        yield f"the tokenizer's method {more}", lambda one, asked=asked: dict(one.apply_chat_template(copy.deepcopy(messages), **asked))


def read(tokenizer: Any) -> Any:
    made = chat_template_utils.add_response_schema(copy.deepcopy(tokenizer))
    return [chat_template_utils.parse_response(made, made.encode(reply)) for reply in REPLIES]


def calls_of_template(template: str) -> Iterator[tuple[str, Call]]:
    has_tags = chat_template_utils.has_generation_markers(template)
    for name, row in ROWS.items():
        for function, call in calls_of_row(row, has_tags):
            yield f"{function} of {name}", call
    for name in ("is_chat_template_prefix_preserving", "is_chat_template_stop_token_trained", "supports_tool_calling",
                 "get_training_chat_template"):  # fmt: skip
        yield name, getattr(chat_template_utils, name)
    yield "parse_response", read


def outcome(call: Call, tokenizer: Any) -> Any:
    """What comes back, or what is said of the error, and whether it was one."""
    try:
        return False, call(tokenizer)
    except Exception as error:
        return True, str(error)


def main() -> int:
    logging.disable(logging.CRITICAL)
    base = transformers.PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZERS / "chatml" / "tokenizer.json"), eos_token="<|im_end|>")
    counted = errors = differing = 0
    for file in sorted((Path(chat_template_utils.__file__).parent / "chat_templates").glob("*.jinja")):
        plain = copy.deepcopy(base)
        plain.chat_template = file.read_text(encoding="utf-8")
        installed = parlance.install(copy.deepcopy(plain))
        for name, call in calls_of_template(plain.chat_template):
            real, ours = outcome(call, plain), outcome(call, installed)
            counted, errors = counted + 1, errors + real[0]
            if real != ours:
                differing += 1
                print(f"{file.name}: {name}\n  without: {str(real)[:500]}\n  with:    {str(ours)[:500]}")
    print(f"TRL {trl_version()}, transformers {transformers.__version__}: {counted} calls ({errors} of them errors), {differing} differ")
    return 1 if differing or counted - errors < 1000 else 0


def trl_version() -> str:
    import trl

    return str(trl.__version__)


if __name__ == "__main__":
    sys.exit(main())
