"""Holds requests that `parlance convert` writes against the types of the APIs' own clients, the packages `openai` and `anthropic`.

    request_api_oracle.py path/to/parlance [--random N] [--seed N]

Each request of api_requests_test.py is written for each API, and each chat of convert_test.py for those of other APIs (a chat stays as it
is); what is written has to be a request of the client's own type (TypedDicts, by pydantic), with no member that the type does not name but for those of BEYOND. Begin reading at main.
"""

import argparse
import collections
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

try:
    import pydantic
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import api_requests_test  # noqa: E402
import convert_test  # noqa: E402

TYPES = {"anthropic": MessageCreateParamsNonStreaming, "responses": ResponseCreateParamsNonStreaming, "openai": CompletionCreateParamsNonStreaming}
SET = {"anthropic": ("model=m", "max_tokens=100"), "responses": ("model=m",), "openai": ("model=m",)}
# What servers take beside what the clients name: reasoning and settings of chats, and what Anthropic's client has no more.
BEYOND = {"anthropic": {"temperature", "top_p", "top_k"}, "responses": set(),
          "openai": {"reasoning_content", "reasoning", "thinking", "chat_template_kwargs", "top_k"}}


def whole(value):
    """The value with what pydantic checks only when it is asked for, such as the items of an Iterable."""
    if isinstance(value, dict):
        return {key: whole(one) for key, one in value.items()}
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return value
    return [whole(one) for one in value]


def without(names, value):
    if isinstance(value, dict):
        return {key: without(names, one) for key, one in value.items() if key not in names}
    return [without(names, one) for one in value] if isinstance(value, list) else value


def unnamed(given, taken, path=""):
    """Paths of members that the type does not name, and so did not take."""
    if isinstance(given, dict) and isinstance(taken, dict):
        for key, value in given.items():
            yield from unnamed(value, taken[key], f"{path}.{key}") if key in taken else [f"{path}.{key}"]
    elif isinstance(given, list) and isinstance(taken, list):
        for number, (one, other) in enumerate(zip(given, taken)):
            yield from unnamed(one, other, f"{path}[{number}]")


def faults_of(adapter, request, api):
    said = without(BEYOND[api], request)
    for message in said["messages"] if api == "openai" else ():
        if message["role"] == "tool":
            message.pop("name", None)  # which many templates read
    try:
        taken = whole(adapter.validate_python(said))
    except pydantic.ValidationError as error:
        yield str(error)
        return
    yield from unnamed(said, taken)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--random", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    others = [(name, request) for name, _, request in api_requests_test.pairs()]
    counted, broken = collections.Counter(), 0
    for api, type_ in TYPES.items():
        adapter = pydantic.TypeAdapter(type_)
        chats = others + ([] if api == "openai" else convert_test.chats(args.random, args.seed))
        answers = convert_test.convert(args.program, [chat for _, chat in chats], api, *(word for one in SET[api] for word in ("--var", one)))
        for (name, chat), answer in zip(chats, answers):
            if "error" in answer:
                counted[f"{api}: errors"] += 1
                continue
            counted[f"{api}: taken"] += 1
            for fault in faults_of(adapter, answer["request"], api):
                broken += 1
                if broken <= 10:
                    print(f"{api}: {name}: {fault[:700]}")
    few = any(counted[f"{api}: taken"] < 10 * counted[f"{api}: errors"] for api in TYPES)
    print(", ".join(f"{number} {what}" for what, number in sorted(counted.items())) + f"; {broken} faults" + ", and too few" * few)
    return 1 if broken or few else 0


if __name__ == "__main__":
    sys.exit(main())
