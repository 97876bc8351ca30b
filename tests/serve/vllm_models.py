"""Validates answers and requests with vLLM's own models: vllm_models.py RELEASE < lines of [MODEL, JSON]

Ends with 77 where vLLM's code cannot be imported, with 1 where a model refuses an answer or does not know a member of it.
"""

import contextlib
import json
import logging
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python" / "tests"))
import vllm_stand_in  # noqa: E402

logging.disable(logging.ERROR)
NEWEST = "0.33.0"


def models():
    from vllm.entrypoints.openai.chat_completion import protocol as chat
    from vllm.entrypoints.openai.completion import protocol as completion
    from vllm.entrypoints.scale_out.token_in_token_out import protocol as tokens
    from vllm.entrypoints.serve.engine import protocol as engine

    names = ("GenerateRequest", "DerenderChatStreamResponse", "DerenderCompletionStreamResponse")
    names += ("GenerateTokensResponse", "GenerateTokensStreamResponse")
    found = {name: getattr(tokens, name, None) for name in names}
    found |= {"ChatCompletionResponse": chat.ChatCompletionResponse, "CompletionResponse": completion.CompletionResponse}
    found |= {"CompletionRequest": completion.CompletionRequest}
    with contextlib.suppress(ImportError):  # elsewhere in other releases
        from vllm.entrypoints.serve.tokenize.protocol import TokenizeCompletionRequest

        found["TokenizeCompletionRequest"] = TokenizeCompletionRequest
    return {**found, "ErrorResponse": engine.ErrorResponse}


def main():
    release = sys.argv[1]
    if not vllm_stand_in.install(release, ["transformers", "xgrammar"]):  # no type of a member is theirs, and they take a second
        return 77
    try:
        known = models()
    except ImportError as error:
        print("skipped:", error)
        return 77
    count = 0
    for line in sys.stdin:
        name, answer = json.loads(line)
        if known.get(name) is None:
            continue
        made = known[name].model_validate(answer)
        unknown = set(answer) - set(type(made).model_fields)
        if release == NEWEST and unknown:
            print(name, "has no", sorted(unknown))
            return 1
        count += 1
    print(count, "answers are valid")
    return 0


if __name__ == "__main__":
    sys.exit(main())
