"""Each option of a command is in Python, or stands here as one that is not. Begin reading at
test_each_option_of_a_command_is_in_python."""

from __future__ import annotations

import json
import pathlib
import re

import parlance
import pytest
from parlance._errors import in_python
from test_commands import command

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Options whose argument has another name, beside those that are a --no- before one.
OTHER_WORDS = {
    "--generation-prompt": "add_generation_prompt",
    "--continue": "continue_final_message",
    "--transformers": "as_transformers",
    "--reasoning-effort": "**variables",
    "--var": "**variables",
    "--pass": "passes",
    "--skip-pass": "skip_passes",
    "--special-token": "special_tokens",
    "--model-as": "as_transformers",
    "--max-calls": "max_tool_calls",
    "--no-generation-prompt": "add_generation_prompt",
    "--no-parallel": "parallel_tool_calls",
    "--choice": "choices",
    "--assistant-mask": "assistant",
    "--model-name": "model",
    "--as": "to",
    "--format": "name",  # builtin(name)
    "--model": "path_or_name",
    "--template": "path",
    "--schema": "response_format",
    "--regex": "response_format",
    "--json-object": "response_format",
    "--reply-format": "format",
    "--number-calls": "make_call_id",
    "--request": "messages",
}
# What is asked of by a method or an attribute.
METHODS = {
    "--stop": "Template.stop_tokens",
    "--extend": "Session.extend",
    "--mask": "Tokens.mask",
    "--lazy": "Grammar.to_lazy",
    "--notes": "Grammar.notes",
    "--show-format": "Rendering.reply_format",
    "--response-template": "ReplyFormat.to_response_template",
    "--conversation": "read_conversation",
    "--stream": "ReplyReader.stream",
    "--sse": "ReplyApiEvent.to_sse",
    "--openai-stream": "ReplyDeltas.add",
    "--strict": "Rendering.losses",
    "--laws": "laws",
    "--check": "Prefix.__bool__",
    "--text": "Template.to_dict",
    "--list": "Template.to_dict",
    "--list-passes": "passes",
    "--html": "Rendering._repr_html_",
    "--partial": "Message.to_dict",
}
# What only a program has: its input, its output and its help. --var-… say what a text on a command line is.
OF_PROGRAMS = {"--help", "--json", "--jsonl", "--threads", "--fail-on-error", "--quiet", "--verbose", "--output", "--color", "--chunks"}
OF_PROGRAMS |= {"--skip-lines", "--append", "--keep", "--bare", "--stats", "--max-tokens", "--too-long"}
OF_PROGRAMS |= {"--var-text", "--var-json", "--var-file", "--example"}


def arguments() -> set[str]:
    """The names that functions and methods of the extension have for theirs."""
    classes = [one for name in parlance.__all__ if isinstance(one := getattr(parlance, name), type)]
    functions = [getattr(parlance, name) for name in parlance.__all__] + [one for kind in classes for one in vars(kind).values()]
    signatures = [one.__nb_signature__[0][0] for one in functions if hasattr(one, "__nb_signature__")]
    return {name for signature in signatures for name in re.findall(r"(\*\*\w+|\w+):", signature)}


@pytest.mark.parametrize("name", ["render", "tokens", "prefix", "template", "read", "convert", "format", "check", "grammar"])
def test_each_option_of_a_command_is_in_python(name: str) -> None:
    """One that is new on the command line is new here, or said to be of programs alone."""
    known = arguments()
    for option in next(one for one in json.loads(command("help", "--json")) if one["name"] == name)["options"]:
        word = option["names"][-1]
        if word in OF_PROGRAMS:
            continue
        if word in METHODS:
            owner, _, member = METHODS[word].rpartition(".")
            assert hasattr(getattr(parlance, owner) if owner else parlance, member), word
            continue
        plain = word.removeprefix("--").replace("-", "_")
        assert {OTHER_WORDS.get(word, plain), plain.removeprefix("no_")} & known, word


def test_hints_are_in_pythons_words() -> None:
    """What the command line has a word for, Python has too, or it is plain English."""
    rows = re.findall(r'^    \{"([^"]+)", "', (ROOT / "src" / "cli" / "options" / "option_words.cpp").read_text("utf-8"), re.MULTILINE)
    assert len(rows) > 12
    for words in rows:
        said = in_python(words.replace("the pass ", "the pass text-only "))
        assert not re.search(r"\bthe (option|pass) |builtin_formats|normalise_passes|open_template_file", said), (words, said)


def test_a_hint_names_an_argument_where_the_template_is_opened() -> None:
    changing = parlance.Template.from_string("{% set a = [] %}{{ a.append(1) }}")
    with pytest.raises(parlance.Error) as caught:
        changing.render([{"role": "user", "content": "Hi"}])
    assert (
        caught.value.hint
        == "as transformers does; allow_changes=True, where the template is opened, lets a template change the lists and dicts it made"
    )
    assert caught.value.hint in str(caught.value)
    with pytest.raises(parlance.Error) as caught:
        parlance.Template.builtin("no-such-format-at-all")
    assert caught.value.hint == "parlance.formats() has them"
