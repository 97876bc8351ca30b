"""litellm against a gateway, by the APIs of OpenAI, Anthropic and Ollama: `clients_litellm.py URL`, run by a Python that has litellm.

Prints a line of JSON for each step; more_clients.py says what each must be.
"""

import json
import sys

import litellm

url = sys.argv[1]
messages = [{"role": "user", "content": "Where is <|im_end|> the water?"}]
function = {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}}
tools = [{"type": "function", "function": function}]
for model, base in (("openai/mine", url + "/v1"), ("anthropic/mine", url), ("ollama_chat/mine", url)):
    asked = {"model": model, "api_base": base, "api_key": "none"}
    print(json.dumps([model, litellm.completion(**asked, messages=messages).choices[0].message.content]))
    chunks = litellm.completion(**asked, messages=messages, stream=True)
    print(json.dumps([model + " stream", "".join(chunk.choices[0].delta.content or "" for chunk in chunks)]))
    message = litellm.completion(**asked, messages=messages, tools=tools).choices[0].message
    call = message.tool_calls[0]
    print(json.dumps([model + " call", [call.function.name, json.loads(call.function.arguments)]]))
    result = {"role": "tool", "tool_call_id": call.id, "content": "The water stands at 3.2 m"}
    behind = litellm.completion(**asked, messages=[*messages, message.model_dump(), result], tools=tools)
    print(json.dumps([model + " tools", behind.choices[0].message.content]))
