"""The same chat as requests of several APIs: an OpenAI chat request in, a request of Anthropic, Responses, Gemini, ShareGPT or of
OpenAI's old functions out. Written from the APIs' references, and apart from src/conversation/api_*.cpp, which goes the other way.

Each converter gives (plain, request): `plain` is the OpenAI request less what the other API cannot say (names of tools' results,
ids, reasoning). None: the chat cannot be said there at all. tests/oracle/request_api_oracle.py checks that what comes out is
what the packages anthropic and openai take, api_requests_test.py --types the same with google-genai. Begin reading at APIS.
"""

import copy
import json
import re


def texts(content):
    """Content as a list of parts."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def data_url(url):
    found = re.fullmatch(r"data:([^;]+);base64,(.*)", url)
    return found.groups() if found else None


def leading_system(messages):
    """The system's message at the beginning, and the rest; no system's message may come later."""
    first = messages[0] if messages and messages[0]["role"] == "system" else None
    rest = messages[1:] if first else messages
    return (first, rest) if all(one["role"] in ("user", "assistant", "tool") for one in rest) else (None, None)


def without(message, *names):
    return {key: value for key, value in message.items() if key not in names}


def without_ids(messages):
    made = []
    for message in messages:
        message = without(message, "tool_call_id")
        if "tool_calls" in message:
            message["tool_calls"] = [without(call, "id") for call in message["tool_calls"]]
        made.append(message)
    return made


def anthropic_block(part):
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    url = part["image_url"]["url"]
    data = data_url(url)
    source = {"type": "base64", "media_type": data[0], "data": data[1]} if data else {"type": "url", "url": url}
    return {"type": "image", "source": source}


def anthropic_content(message):
    if message["role"] == "tool":
        content = message["content"]
        inner = content if isinstance(content, str) else [anthropic_block(part) for part in content]
        return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": inner}]
    blocks = [anthropic_block(part) for part in texts(message["content"]) if part != {"type": "text", "text": ""}]
    if message.get("reasoning_content"):
        blocks.insert(0, {"type": "thinking", "thinking": message["reasoning_content"], "signature": "c2ln"})
    for call in message.get("tool_calls", []):
        blocks.append({"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": call["function"]["arguments"]})
    return blocks


def joined_turns(messages):
    """Consecutive messages of the user, or of the assistant, are one turn in Anthropic's API."""
    made = []
    for message in messages:
        if made and made[-1]["role"] == message["role"] and message["role"] in ("user", "assistant"):
            assert set(message) | set(made[-1]) == {"role", "content"}, "only words are joined here"
            made[-1] = {**message, "content": [*texts(made[-1]["content"]), *texts(message["content"])]}
        else:
            made.append(message)
    return made


def anthropic(request):
    system, rest = leading_system(request["messages"])
    if rest is None:
        return None
    made = []
    for message in rest:
        blocks = anthropic_content(message)
        behind_results = made and made[-1]["role"] == "user" and made[-1]["content"][0]["type"] == "tool_result"
        if message["role"] in ("tool", "user") and behind_results and made[-1]["content"][-1]["type"] == "tool_result":
            made[-1]["content"] += blocks
        else:
            made.append({"role": "assistant" if message["role"] == "assistant" else "user", "content": blocks})
    out = {"model": "claude", "max_tokens": 100, "messages": made}
    out["system"] = [anthropic_block(part) for part in texts(system["content"])] if system else []
    if "tools" in request:
        out["tools"] = [{"name": tool["function"]["name"], "description": tool["function"]["description"],
                         "input_schema": tool["function"]["parameters"]} for tool in request["tools"]]
    plain = {**request, "messages": joined_turns([without(message, "name") for message in request["messages"]])}
    return plain, out


def responses_part(part, role):
    if part["type"] == "text":
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": kind, "text": part["text"], **({"annotations": []} if role == "assistant" else {})}
    return {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}


def responses(request):
    system, rest = leading_system(request["messages"])
    if rest is None:
        return None
    made = []
    for number, message in enumerate(rest):
        role, content = message["role"], message["content"]
        if role == "tool":
            said = content if isinstance(content, str) else [responses_part(part, role) for part in content]
            made.append({"type": "function_call_output", "call_id": message["tool_call_id"], "output": said})
            continue
        if message.get("reasoning_content"):
            made.append({"type": "reasoning", "id": f"rs_{number}", "summary": [{"type": "summary_text", "text": message["reasoning_content"]}]})
        if content != "" or role == "user":
            more = {"id": f"msg_{number}", "status": "completed"} if role == "assistant" else {}
            made.append({"type": "message", "role": role, "content": [responses_part(part, role) for part in texts(content)], **more})
        for call in message.get("tool_calls", []):
            made.append({"type": "function_call", "call_id": call["id"], "name": call["function"]["name"],
                         "arguments": json.dumps(call["function"]["arguments"])})
    out = {"model": "gpt", "input": made}
    if system and isinstance(system["content"], str):
        out["instructions"] = system["content"]
    elif system:
        made.insert(0, {"role": "system", "content": [responses_part(part, "system") for part in system["content"]]})
    if "tools" in request:
        out["tools"] = [{"type": "function", "strict": False, **tool["function"]} for tool in request["tools"]]
    plain = {**request, "messages": [without(message, "name") for message in copy.deepcopy(request["messages"])]}
    for message in plain["messages"]:
        for part in message["content"] if isinstance(message["content"], list) else []:
            if part["type"] == "image_url":
                part["image_url"]["detail"] = "auto"
    return plain, out


def gemini_schema(schema):
    """Types in capitals."""
    made = dict(schema)
    if isinstance(made.get("type"), str):
        made["type"] = made["type"].upper()
    if "properties" in made:
        made["properties"] = {name: gemini_schema(one) for name, one in made["properties"].items()}
    if "items" in made:
        made["items"] = gemini_schema(made["items"])
    return made


def gemini_part(part):
    if part["type"] == "text":
        return {"text": part["text"]}
    mime, data = data_url(part["image_url"]["url"])
    return {"inlineData": {"mimeType": mime, "data": data}}


def gemini_parts(message, names):
    if message["role"] == "tool":
        return [{"functionResponse": {"id": message["tool_call_id"], "name": names[message["tool_call_id"]], "response": {"output": message["content"]}}}]
    parts = [gemini_part(part) for part in texts(message["content"]) if part != {"type": "text", "text": ""}]
    if message.get("reasoning_content"):
        parts.insert(0, {"text": message["reasoning_content"], "thought": True})
    for call in message.get("tool_calls", []):
        parts.append({"functionCall": {"id": call["id"], "name": call["function"]["name"], "args": call["function"]["arguments"]}})
    return parts


def only_data(messages):
    """Are all images given as data, and all results as text?"""
    for message in messages:
        if message["role"] == "tool" and not isinstance(message["content"], str):
            return False
        for part in texts(message["content"]):
            if part["type"] != "text" and not data_url(part["image_url"]["url"]):
                return False
    return True


def gemini(request):
    system, rest = leading_system(request["messages"])
    if rest is None or not only_data(request["messages"]):
        return None
    names = {call["id"]: call["function"]["name"] for message in rest for call in message.get("tool_calls", [])}
    made = []
    for message in rest:
        parts = gemini_parts(message, names)
        if message["role"] in ("tool", "user") and made and "functionResponse" in made[-1]["parts"][-1]:
            made[-1]["parts"] += parts
        else:
            made.append({"role": "model" if message["role"] == "assistant" else "user", "parts": parts})
    out = {"contents": made}
    if system:
        out["systemInstruction"] = {"parts": [gemini_part(part) for part in texts(system["content"])]}
    if "tools" in request:
        out["tools"] = [{"functionDeclarations": [{**tool["function"], "parameters": gemini_schema(tool["function"]["parameters"])}
                                                  for tool in request["tools"]]}]
    plain = [{**without(message, "name"), "name": names[message["tool_call_id"]]} if message["role"] == "tool" else message
             for message in request["messages"]]
    return {**request, "messages": plain}, out


def sharegpt(request):
    plain, made = [], []
    for message in request["messages"]:
        role, content = message["role"], message["content"]
        if role not in ("system", "user", "assistant", "tool") or not isinstance(content, str) or (content and message.get("tool_calls")):
            return None
        plain.append(without(message, "name", "reasoning_content"))
        if message.get("tool_calls"):
            calls = [{"name": call["function"]["name"], "arguments": call["function"]["arguments"]} for call in message["tool_calls"]]
            made.append({"from": "function_call", "value": json.dumps(calls if len(calls) > 1 else calls[0])})
        else:
            made.append({"from": {"system": "system", "user": "human", "assistant": "gpt", "tool": "observation"}[role], "value": content})
    out = {"conversations": made}
    if made and made[0]["from"] == "system":
        out = {"system": made.pop(0)["value"], **out}
    if "tools" in request:
        out["tools"] = json.dumps([tool["function"] for tool in request["tools"]])
    return {**request, "messages": without_ids(plain)}, out


def old_functions(request):
    if any(len(message.get("tool_calls", [])) > 1 for message in request["messages"]):
        return None
    if "tools" not in request and not any("tool_calls" in message for message in request["messages"]):
        return None
    names, made = {}, []
    for message in copy.deepcopy(request["messages"]):
        for call in message.pop("tool_calls", []):
            names[call["id"]] = call["function"]["name"]
            message["function_call"] = {"name": call["function"]["name"], "arguments": json.dumps(call["function"]["arguments"])}
        if message["role"] == "tool":
            message = {**without(message, "tool_call_id"), "role": "function", "name": names[message["tool_call_id"]]}
        made.append(message)
    plain = copy.deepcopy(request["messages"])
    for message in plain:
        if message["role"] == "tool":
            message["name"] = names[message["tool_call_id"]]
    out = {"messages": made}
    if "tools" in request:
        out["functions"] = [tool["function"] for tool in request["tools"]]
    return {**request, "messages": without_ids(plain)}, out


APIS = {"anthropic": anthropic, "responses": responses, "gemini": gemini, "sharegpt": sharegpt, "old functions": old_functions}
