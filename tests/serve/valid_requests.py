"""Valid requests of every route, which tests and fuzz targets change. Begin reading at bodies_of."""

from __future__ import annotations

import pathlib
import re
from typing import Any

Json = dict[str, Any]
ROOT = pathlib.Path(__file__).resolve().parents[2]

USER: Json = {"role": "user", "content": "a"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": "b"}'}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}}
CHAT: list[Json] = [
    {"messages": [USER]},
    {"messages": [USER], "stream": True, "stream_options": {"include_usage": True}, "parlance": True},
    {"messages": [USER], "n": 2, "logprobs": True, "top_logprobs": 2, "stop": ["e"], "seed": 1, "temperature": 0.5, "max_tokens": 3},
    {
        "messages": [USER, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "call_1", "content": "c"}],
        "tools": [TOOL],
        "tool_choice": "required",
    },
    {"messages": [USER], "response_format": SCHEMA, "logit_bias": {"65": -100}, "prompt_cache_key": "s"},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "<|im_end|>\\ud83d\\ude00"}]}], "chat_template_kwargs": {"a": 1}},
]
COMPLETION: list[Json] = [
    {"prompt": "a"},
    {"prompt": ["a", "b"], "n": 2, "echo": True, "logprobs": 2},
    {"prompt": [65, 66], "stream": True, "suffix": "c"},
]
MESSAGES: list[Json] = [
    {"messages": [USER], "max_tokens": 9, "system": "s", "stream": True},
    {
        "messages": [
            USER,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "t", "signature": ""},
                    {"type": "tool_use", "id": "1", "name": "f", "input": {}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "c"}]},
        ],
        "max_tokens": 9,
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "any"},
        "stop_sequences": ["x"],
    },
    {"messages": [USER], "max_tokens": 0, "thread": {"type": "create"}},
    {"messages": [USER], "max_tokens": 9, "thread": {"type": "continue", "previous_message_id": "msg_1"}},
]
RESPONSES: list[Json] = [
    {"input": "a", "stream": True, "instructions": "s"},
    {
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
            {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "c"},
        ],
        "tools": [{"type": "function", "name": "f", "parameters": {}}],
        "previous_response_id": "resp_1",
        "max_output_tokens": 9,
    },
    {"input": "a", "conversation": {"id": "conv_1"}, "store": False},
    {"input": [{"type": "item_reference", "id": "rs_resp_1_0"}, {"type": "message", "role": "user", "content": "a"}]},
]
ITEMS: list[Json] = [
    {"type": "message", "role": "user", "content": "a"},
    {"id": "fc_1", "type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "c"}]},
]
OLLAMA: list[Json] = [
    {"model": "m", "messages": [USER], "options": {"num_predict": 3, "stop": ["x"]}},
    {"model": "m", "messages": [USER], "stream": False, "format": "json", "think": True},
]
DERENDERED: Json = {
    "index": 0,
    "token_ids": [65, 66, 308],
    "finish_reason": "stop",
    "logprobs": {"content": [{"token_id": 65, "logprob": -0.5, "top_logprobs": [{"token_id": 66, "logprob": -2}]}]},
}
BODIES: dict[str, list[Json]] = {  # by the ends of paths
    "/chat/completions": CHAT,
    "/chat/completions/render": CHAT,
    "/v1/completions": COMPLETION,
    "/completions/render": COMPLETION,
    "/completions": COMPLETION,
    "/messages": MESSAGES,
    "/messages/render": MESSAGES,
    "/count_tokens": MESSAGES,
    "/responses": RESPONSES,
    "/responses/render": RESPONSES,
    "/api/chat": OLLAMA,
    "/api/generate": [{"model": "m", "prompt": "a"}, {"model": "m", "prompt": "a", "system": "s", "raw": True, "stream": False}],
    "/api/show": [{"model": "m"}],
    "/responses/input_tokens": RESPONSES,
    "/v1/conversations": [{"metadata": {"a": "b"}, "items": ITEMS}, {}],
    "/v1/conversations/*": [{"items": ITEMS}, {"metadata": {"a": "b"}}],
    "/inference/v1/generate": [
        {"token_ids": [65, 257], "sampling_params": {"max_tokens": 3, "n": 2, "stop_token_ids": [65], "logprobs": 1}},
        {"token_ids": [65], "sampling_params": {"structured_outputs": {"json": {"type": "object"}}, "stop": ["b"]}, "stream": True},
    ],
    "/tokenize": [{"prompt": "a"}, {"content": "a", "with_pieces": True}, {"messages": [USER], "return_token_strs": True}],
    "/detokenize": [{"tokens": [65, 257]}],
    "/chat/completions/derender": [
        {"chat_request": CHAT[3], "prompt_tokens": 4, "generate_response": {"request_id": "r", "choices": [DERENDERED]}},
        {"chat_request": CHAT[0], "stream": True, "stream_state": None, "generate_chunk": {"request_id": "r", "choices": [DERENDERED]}},
    ],
    "/v1/completions/derender": [
        {
            "completion_request": {"prompt": "x", "stop": ["b"]},
            "prompt_tokens": [4],
            "generate_responses": [{"request_id": "r", "choices": [DERENDERED]}],
        },
        {"stream": True, "generate_chunk": {"request_id": "r", "choices": [DERENDERED]}, "stream_state": None},
    ],
}


def routes() -> list[tuple[str, str]]:
    """Method and path of each route, in the order of the gateway's table."""
    return re.findall(r'\{"(GET|POST|DELETE)", "([^"]+)"', (ROOT / "src/serve/fronts/routes.cpp").read_text())


def bodies_of(path: str) -> list[Json]:
    """Valid bodies for a route; none where it takes none."""
    return next((BODIES[end] for end in sorted(BODIES, key=len, reverse=True) if path.endswith(end)), [])
