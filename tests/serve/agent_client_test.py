#!/usr/bin/env python3
"""parlance.Agent in Python, whose reply function is the package openai at the gateway: `agent_client_test.py PARLANCE`.

Run by the Python of build/oracle/apis, which has the client, with the package of this build. The engine is a scripted one. Begin reading
at main.
"""

from __future__ import annotations

import sys
from typing import Any

from engine import Asked, Engine, Reply
from gateway import SKIPPED, Checks, Gateway

try:
    import openai
    import parlance
except ImportError as error:
    print("skipped:", error)
    sys.exit(SKIPPED)

REPLIES = [
    '<tool_call>\n{"name": "weather", "arguments": {"city": "Bergen"}}\n</tool_call><|im_end|>',
    '<think>\nHm.\n</think>\n\n<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call><|im_end|>',
    "Yes: it rains.<|im_end|>",
]


def weather(city: str) -> str:
    """Says the weather.

    Args:
        city: The name of a city.
    """
    return f"rain in {city} \ud800"


def main() -> int:
    checks, left = Checks(), list(REPLIES)

    def script(asked: Asked) -> Reply:
        return Reply(text=left.pop(0))

    with Engine(script) as engine, Gateway(sys.argv[1], engine.url, "--log", "errors") as gateway:
        client = openai.OpenAI(base_url=gateway.url + "/v1", api_key="none", max_retries=0)

        def reply(messages: Any, tools: Any) -> Any:
            return client.chat.completions.create(model="mine", messages=messages, tools=tools)

        agent = parlance.Agent(reply, tools=[weather], goal="Do I need an umbrella?", max_turns=1)
        ends = [agent.run(), agent.resume(), agent.resume()]
    checks.equal([end.reason for end in ends], ["turns", "turns", "done"], "each run goes on behind the last")
    checks.equal(ends[-1].answer, "Yes: it rains.", "its answer")
    checks.that(all(end.sampled_tokens > 0 for end in ends), "the client's usage counts", ends)
    messages = agent.messages
    checks.equal([one["role"] for one in messages], ["user", "assistant", "tool", "assistant", "tool", "assistant"], "its messages")
    calls = [call for one in messages for call in one.get("tool_calls", [])]
    checks.equal([call["function"]["arguments"] for call in calls], ['{"city": "Bergen"}', '{"city": "Oslo"}'], "arguments as they came")
    checks.equal([one["tool_call_id"] for one in messages if one["role"] == "tool"], [call["id"] for call in calls], "and their results")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
