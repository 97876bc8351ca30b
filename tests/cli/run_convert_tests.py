#!/usr/bin/env python3
"""Tests of `parlance convert`.

    run_convert_tests.py path/to/parlance [NAME...]

What requests become is checked elsewhere (tests/convert_test.py, tests/oracle/request_api_oracle.py); here it is the command, and what its notes
say of members that a chat has and another API has not.
"""

import copy
import json
import re
import subprocess
import sys

import check
from convert_command import BINARY, CHAT, run, written


def test_api_is_asked_for():
    assert run(CHAT)[0] == 2
    assert run(CHAT, "--as", "gemini")[0] == 2


def test_what_stands_beside_the_arguments_of_a_call_is_named():
    place = "messages[1].tool_calls[0]"
    for api in ("anthropic", "responses"):
        for call, path in (({"type": "function", "function": {"name": "f", "args": {"a": 1}}}, "function.args"),
                           ({"type": "function", "function": {"name": "f", "arguments": {}, "result": "22"}}, "function.result"),
                           ({"type": "function", "function": {"name": "f", "arguments": {}}, "result": "22"}, "result"),
                           ({"type": "custom", "custom": {"name": "f", "input": "a", "result": "22"}}, "custom.result")):
            chat = {"messages": [*CHAT["messages"], {"role": "assistant", "content": "", "tool_calls": [{"id": "1", **call}]}]}
            _, notes = written(chat, api)
            assert ("lost", f"{place}.{path}") in notes, (api, call, notes)


def test_notes():
    code, out, err = run(CHAT, "--as", "anthropic")
    assert code == 0 and json.loads(out) == {"messages": CHAT["messages"], "model": "m"}
    assert err.splitlines() == ["note: seed: Anthropic Messages has no such member: left out",
                                "note: max_tokens: Anthropic Messages needs it, and the request has none"], err
    assert run(CHAT, "--as", "anthropic", "--quiet")[2] == ""
    code, out, err = run(CHAT, "--as", "anthropic", "--strict")
    assert (code, out) == (1, "") and "seed: Anthropic Messages has no such member: left out, and 1 more" in err, err
    assert run({**CHAT, "seed": None}, "--as", "anthropic", "--strict", "--var", "max_tokens=1")[::2] == (0, "")


def test_verbose_says_what_is_written_otherwise():
    request = {**CHAT, "messages": [{"role": "user"}]}
    assert "changed" not in run(request, "--as", "responses")[2]
    assert "changed: messages[0]: no content: given as an empty text" in run(request, "--as", "responses", "--verbose")[2]


def test_what_stands_twice_in_one_object_is_lost():
    """Only the last is written: of the request in any API's words, of text in it, of what is set."""
    twice = {"a": '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a","content":"b"}]}',
             "b": '{"model":"m","max_tokens":9,"system":"S","messages":[{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}]}',
             "c": '{"model":"m","model":"n","input":[{"role":"user","content":"Hi"}]}',
             "d": json.dumps({"model": "m", "conversations": [{"from": "human", "value": "Hi"}, {"from": "function_call", "value": '{"name": "f", "arguments": {"x": 1, "x": 2}}'}]})}
    paths = {"a": "messages[0].content", "b": "messages[0].content[0].text", "c": "model", "d": "conversations[1].value.arguments.x"}
    for name, request in twice.items():
        for api in ("openai", "anthropic", "responses"):
            _, notes = written(request, api)
            assert ("lost", paths[name]) in notes, (name, api, notes)
            code, _, err = run(request, "--as", api, "--strict", "--var", "max_tokens=9")
            assert code == 1 and f"{paths[name]}: given twice: the last counts" in err, (name, api, err)
    for api in ("anthropic", "responses", "openai"):
        _, notes = written(CHAT, api, "--var", 'metadata={"user_id": "a", "user_id": "b"}')
        assert ("lost", "metadata.user_id") in notes, (api, notes)
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x": 1, "x": 2}'}}]}
    chat = {**CHAT, "messages": [*CHAT["messages"], call]}
    assert ("lost", "messages[1].tool_calls[0].function.arguments.x") in written(chat, "anthropic")[1]
    request, notes = written(chat, "openai")
    assert request["messages"][1] == call and not [note for note in notes if note[0] == "lost"], "text that stays text loses nothing"


def test_a_gap_is_no_chat():
    """Ollama's prompt with a suffix has no messages: an empty request would lose all of it."""
    for more in ({}, {"images": ["iVBORw0KGgo="]}, {"system": "S", "raw": True}):
        for api in ("openai", "anthropic", "responses"):
            code, out, err = run({"model": "m", "prompt": "def f", "suffix": "return", **more}, "--as", api)
            assert (code, out) == (3, "") and "input: suffix\n" in err and "stands between" in err, (api, code, out, err)
    for suffix in ("", None):
        request, notes = written({"model": "m", "prompt": "Hi", "suffix": suffix, "images": ["iVBORw0KGgo="]}, "responses")
        assert [part["type"] for part in request["input"][0]["content"]] == ["input_image", "input_text"], request
        assert not [note for note in notes if note[0] == "lost"], notes


def test_members_are_set_over_the_requests_own():
    request, _ = written({**CHAT, "max_tokens": 5}, "anthropic", "--var", "max_tokens=7", "--var", "model=x")
    assert (request["max_tokens"], request["model"]) == (7, "x")
    gemini = {"contents": [{"parts": [{"text": "Hi"}]}], "generationConfig": {"maxOutputTokens": 5, "topK": 3, "seed": 4}}
    request, notes = written(gemini, "responses", "--var", "max_output_tokens=9", "--var", "model=x")
    assert request["max_output_tokens"] == 9
    assert {("lost", f"generationConfig.{name}") for name in ("topK", "seed")} == {note for note in notes if note[0] != "changed"}, notes


def test_notes_name_members_that_were_set_and_ollamas_form():
    gemini = {"systemInstruction": {"parts": [{"text": "S"}]}, "contents": [{"parts": [{"text": "Hi"}]}]}
    for value in ("9", "true", '{"a": 1}', '"t"'):
        _, notes = written(gemini, "responses", "--var", "foo=" + value)
        assert {note for note in notes if note[0] == "lost"} == {("lost", "foo")}, notes
    _, notes = written({**CHAT, "seed": None, "tools": [], "format": "json"}, "anthropic", "--var", "max_tokens=1")
    assert {note for note in notes if note[0] == "lost"} == {("lost", "format")}, notes


def test_members_are_set_in_the_words_of_either_api():
    """The goal's win over what the request maps to them, with no note; others are the request's own."""
    schema = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    chat = {"model": "m", "messages": [{"role": "system", "content": "S"}, *CHAT["messages"]], "reasoning_effort": "minimal", "response_format": schema,
            "max_tokens": 5, "max_completion_tokens": 6, "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}},
            "metadata": {"a": "b"}, "temperature": 1.5}
    sets = {"anthropic": {"system": "T", "output_config": {"effort": "high"}, "max_tokens": 7, "tool_choice": {"type": "any"}, "metadata": {"user_id": "u"},
                          "temperature": 0.5},
            "responses": {"instructions": "T", "reasoning": {"effort": "high"}, "text": {"format": {"type": "text"}}, "max_output_tokens": 7, "tool_choice": "none"},
            "openai": {"reasoning_effort": "high", "max_tokens": 7, "tool_choice": "none"}}
    for api, members in sets.items():
        request, notes = written(chat, api, *(word for name, value in members.items() for word in ("--var", f"{name}={json.dumps(value)}")))
        assert not [note for note in notes if note[0] != "changed"], (api, notes)
        for name, value in members.items():
            whole = {**(request[name] if name in ("output_config", "text") else {}), **value} if isinstance(value, dict) else value
            assert request[name] == whole, (api, name, request)
        assert "S" not in json.dumps(request.get("input", request["messages"] if api == "anthropic" else "")), request
        assert sum(name in request for name in ("max_tokens", "max_completion_tokens", "max_output_tokens")) == 1, request
    assert written(chat, "anthropic", "--var", 'output_config={"effort": "high"}', "--var", "max_tokens=7")[0]["output_config"] == {
        "effort": "high", "format": {"type": "json_schema", "schema": {"type": "object"}}}
    gemini = {"contents": [{"parts": [{"text": "Hi"}]}], "generationConfig": {"maxOutputTokens": 5}}
    request, _ = written(gemini, "anthropic", "--var", 'generationConfig={"maxOutputTokens": 8}', "--var", 'systemInstruction={"parts": [{"text": "T"}]}')
    assert (request["max_tokens"], request["system"]) == (8, "T"), request
    own = {"model": "m", "max_tokens": 5, "system": "S", "messages": CHAT["messages"], "output_config": {"effort": "low"}}
    assert written(own, "anthropic", "--var", "max_tokens=7")[0] == {**own, "max_tokens": 7}
    assert written(own, "openai", "--var", "max_tokens=7", "--var", "repetition_penalty=1.1")[0] == {
        "model": "m", "messages": [{"role": "system", "content": "S"}, *CHAT["messages"]], "reasoning_effort": "low", "max_tokens": 7, "repetition_penalty": 1.1}


def test_what_another_role_has_is_a_loss():
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    user = {"role": "user", "content": "Hi", "tool_calls": [call], "reasoning_content": "why", "tool_call_id": "c"}
    for api in ("anthropic", "responses"):
        _, notes = written({"model": "m", "max_tokens": 1, "messages": [user]}, api)
        assert {path for kind, path in notes if kind == "lost"} == {f"messages[0].{name}" for name in ("tool_calls", "reasoning_content", "tool_call_id")}, notes
        assert run({"model": "m", "max_tokens": 1, "messages": [user]}, "--as", api, "--strict")[0] == 1


def test_an_image_is_no_text_of_the_system():
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    code, out, err = run({**CHAT, "messages": [{"role": "system", "content": [{"type": "text", "text": "S"}, image]}]}, "--as", "anthropic")
    assert (code, out) == (3, "") and "messages[0].content" in err and "`system`" in err, err


def test_members_that_mean_something_else_there_are_losses():
    for name in ("prompt", "input", "instructions"):
        chat = {"model": "m", "messages": [{"role": "system", "content": "S"}, *CHAT["messages"]], name: "PPP"}
        request, notes = written(chat, "responses")
        assert "PPP" not in json.dumps(request) and ("lost", name) in notes, (name, request, notes)
    assert written({"model": "m", "messages": CHAT["messages"], "instructions": "PPP"}, "responses")[0]["instructions"] == "PPP"


def test_the_namespace_of_a_call_is_a_loss():
    call = {"type": "function_call", "call_id": "1", "name": "f", "namespace": "n", "arguments": "{}"}
    tools = [{"type": "namespace", "name": "n", "description": "", "tools": [{"type": "function", "name": "f"}]}]
    lost = written({"model": "m", "input": [call], "tools": tools}, "openai")[1]
    assert {("lost", "input[0].namespace"), ("lost", "tools[0].name")} <= lost, lost


def test_a_namespace_that_is_allowed_twice_is_allowed_once():
    """A request that names one of many tools many times does not grow by their product."""
    spaces = [{"type": "namespace", "name": name, "tools": [{"type": "function", "name": f"t{i}"} for i in range(3)]} for name in ("a", "b")]
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "namespace", "name": "b"}] * 5}
    request, _ = written({"input": [{"role": "user", "content": "Hi"}], "tools": spaces, "tool_choice": allowed}, "openai")
    names = [tool["function"]["name"] for tool in request["tool_choice"]["allowed_tools"]["tools"]]
    assert names == ["b__t0", "b__t1", "b__t2"], request


def test_what_is_no_request_is_told_by_what_it_may_be():
    messages = CHAT["messages"]
    for request, where, hint in (({"message": messages}, "message", "did you mean 'messages'?"), ({"Messages": messages}, "Messages", "did you mean 'messages'?"),
                                 ({"custom_id": "1", "body": {"messages": messages}}, "body", "has its request in `body`")):
        code, _, err = run(request, "--as", "openai")
        assert code == 3 and f"input: {where}\n" in err and hint in err and "no `messages`" in err, err
    code, _, err = run('{"messages": []}\n{"messages": []}\n', "--as", "openai")
    assert code != 0 and "--jsonl" in err, err
    converse = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    tool = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "f", "input": {}}}]}
    for request, where in (({**converse, "system": [{"text": "S"}]}, "system[0]"), ({**converse, "inferenceConfig": {"maxTokens": 5}}, "inferenceConfig"),
                           ({"messages": [*converse["messages"], tool]}, "messages[1].content[0]")):
        code, _, err = run(request, "--as", "openai")
        assert code == 3 and f"input: {where}\n" in err and "Bedrock's Converse" in err, err


def test_a_part_that_cannot_be_given_is_named_in_a_sentence():
    for api in ("anthropic", "responses"):
        for part, said in (({"text": "x"}, "a part of a message's content has no `type`"), ({"type": "image", "image": "x"}, "a part of the type 'image', only")):
            code, _, err = run({**CHAT, "messages": [{"role": "user", "content": [part]}]}, "--as", api)
            assert code == 3 and said in err and "input: messages[0].content[0]\n" in err, err


def test_data_urls_in_any_spelling():
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    for url in ("data:image/png;base64,iVBORw0KGgo=", "DATA:image/PNG;base64,iVBORw0KGgo=", "data:image/png;name=a.png;base64,iVBORw0KGgo=",
                "data:image/png; BASE64,iVBORw0KGgo="):
        chat = {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]}
        assert written(chat, "anthropic")[0]["messages"][0]["content"] == [{"type": "image", "source": source}], url
    gemini = {"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": source["data"]}}]}]}
    assert written(gemini, "anthropic")[0]["messages"][0]["content"] == [{"type": "image", "source": source}]
    chat["messages"][0]["content"][0]["image_url"]["url"] = "data:image/png,%89PNG"
    assert run(chat, "--as", "anthropic")[0] == 3


OLLAMA = {"model": "m", "messages": [
    {"role": "user", "content": "Hi", "images": ["iVBORw0KGgo=", "/9j/4AAQ"]},
    {"role": "assistant", "content": "", "thinking": "why", "tool_calls": [{"function": {"index": 0, "name": "f", "arguments": {"a": 1}}}]},
    {"role": "tool", "tool_name": "f", "content": "x"}],
    "format": {"type": "object"}, "think": "low", "keep_alive": 5, "options": {"num_ctx": 3, "temperature": 0.5}}


def test_requests_of_ollama():
    request, notes = written(OLLAMA, "openai")
    identity = request["messages"][2]["tool_call_id"]
    image = [{"type": "image_url", "image_url": {"url": f"data:image/{url}"}} for url in ("png;base64,iVBORw0KGgo=", "jpeg;base64,/9j/4AAQ")]
    assert request == {
        "model": "m", "messages": [
            {"role": "user", "content": [*image, {"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": "", "reasoning_content": "why",
             "tool_calls": [{"id": identity, "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]},
            {"role": "tool", "name": "f", "content": "x", "tool_call_id": identity}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "response", "schema": {"type": "object"}}},
        "reasoning_effort": "low", "temperature": 0.5}, request
    assert {note for note in notes if note[0] != "changed"} == {("lost", "keep_alive"), ("lost", "options.num_ctx")}, notes
    assert written(request, "openai") == (request, set())
    request, _ = written({**OLLAMA, "format": "json", "think": False}, "openai")
    assert (request["response_format"], request["reasoning_effort"]) == ({"type": "json_object"}, "none"), request
    assert ("lost", "think") in written({**OLLAMA, "think": True}, "openai")[1]
    request, notes = written(OLLAMA, "anthropic", "--var", "max_tokens=1")
    assert request["output_config"] == {"format": {"type": "json_schema", "schema": {"type": "object"}}, "effort": "low"}, request
    assert [block["type"] for block in request["messages"][0]["content"]] == ["image", "image", "text"], request
    assert {note for note in notes if note[0] != "changed"} == {
        ("lost", "keep_alive"), ("lost", "options.num_ctx"), ("lost", "messages[1].thinking")}, notes
    assert ("changed", "messages[2].tool_name") in notes, notes  # its call has the name
    request, notes = written(OLLAMA, "responses")
    assert request["text"] == {"format": {"type": "json_schema", "name": "response", "schema": {"type": "object"}}}, request
    assert {note for note in notes if note[0] != "changed"} == {("lost", "keep_alive"), ("lost", "options.num_ctx")}, notes


def test_results_are_texts_in_chats():
    image, said = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}, {"type": "text", "text": "a"}

    def of(*parts):
        return {"model": "m", "system": "S",
                "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": list(parts)}]}]}

    request, notes = written(of(image, said), "openai")
    assert request["messages"][1]["content"] == "a" and ("lost", "messages[0].content[0].content[0]") in notes, (request, notes)
    assert run(of(image), "--as", "openai")[0] == 3


def test_reasoning_without_a_signature_is_lost():
    chat = {"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "reasoning_content": "why", "content": "x"}, *CHAT["messages"]]}
    request, notes = written(chat, "anthropic")
    assert request["messages"][0] == {"role": "assistant", "content": "x"} and notes == {("lost", "messages[0].reasoning_content")}, (request, notes)
    assert run(chat, "--as", "anthropic", "--strict")[0] == 1
    own = {"model": "m", "max_tokens": 1, "system": "S", "messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": "w", "signature": "s"}]}]}
    assert written(own, "anthropic") == (own, set())


def test_the_name_of_a_result_is_lost_unless_its_call_has_it():
    def chat(called, name, member="name", kind="function"):
        inner = {"name": called, "arguments": "{}"} if kind == "function" else {"name": called, "input": "a"}
        return {"model": "m", "max_tokens": 5, "messages": [*CHAT["messages"], {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": kind, kind: inner}]},
                                                            {"role": "tool", "tool_call_id": "1", member: name, "content": "r"}]}

    path = "messages[2]."
    for api, kind in (("anthropic", "function"), ("anthropic", "custom"), ("responses", "custom")):
        for member in ("name", "tool_name"):
            for name, how in (("f", "changed"), ("g", "lost")):
                _, notes = written(chat("f", name, member, kind), api)
                assert (how, path + member) in notes and (how == "lost") == any(one[0] == "lost" and one[1].startswith(path) for one in notes), (api, kind, member, name, notes)
    _, notes = written(chat("f", "f"), "responses")
    assert not any(one[1].startswith(path) for one in notes), notes  # it has the name
    gemini = {"model": "m", "contents": [{"role": "user", "parts": [{"text": "a"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
                                         {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "r"}}}]}], "generationConfig": {"maxOutputTokens": 5}}
    assert run(gemini, "--as", "anthropic", "--strict")[0] == 0, run(gemini, "--as", "anthropic")
    user = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "name": "f", "content": "a"}]}
    assert written(user, "anthropic")[1] == {("lost", "messages[0].name")}


def test_what_stands_beside_what_a_part_has_is_named():
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "title": "t"}, "caption": "c"}
    pdf = {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf", "note": "n"}, "caption": "c"}
    refusal = {"type": "refusal", "refusal": "No.", "why": "w"}
    for api in ("anthropic", "responses"):
        for role, part, paths in (("user", image, {"caption", "image_url.title"}), ("user", pdf, {"caption", "file.note"}), ("assistant", refusal, {"why"}),
                                  ("user", {"type": "text", "text": "a", "note": "n"}, {"note"})):
            _, notes = written({"model": "m", "max_tokens": 5, "messages": [{"role": role, "content": [part]}]}, api)
            told = {path for kind, path in notes if kind == "lost"} - {"max_tokens", "messages[0].content[0].refusal"}
            assert told == {f"messages[0].content[0].{path}" for path in paths}, (api, part, notes)
        for calls in ({"name": "f", "arguments": {}}, "f"):
            _, notes = written({"messages": [{"role": "assistant", "content": "a", "tool_calls": calls}]}, api)
            assert ("lost", "messages[0].tool_calls") in notes, (api, calls, notes)
        tool = {"type": "custom", "custom": {"name": "f", "more": "m"}, "beside": "b"}
        _, notes = written({**CHAT, "tools": [tool]}, api)
        assert {path for kind, path in notes if kind == "lost"} >= ({"tools[0].custom.more", "tools[0].beside"} if api == "responses" else set()), (api, notes)
    cached = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}, "cache_control": {"type": "ephemeral"}}
    made, notes = written({"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": [cached]}]}, "anthropic")
    assert made["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"} and notes == set(), (made, notes)


def refused(*said):
    """A request of Responses where the assistant refuses in these pieces: as parts of one message, among others; or as a message each."""
    parts = [{"type": "refusal", "refusal": one} for one in said]
    ask = {"role": "user", "content": "Hi"}
    text = {"type": "output_text", "text": "But"}
    for content in (parts, [text, *parts], [parts[0], text, *parts[1:]]):
        yield {"model": "m", "input": [ask, {"type": "message", "role": "assistant", "content": content}, ask]}, [f"input[1].content[{content.index(one)}].refusal" for one in parts]
    yield {"model": "m", "input": [ask, *({"type": "message", "role": "assistant", "content": [one]} for one in parts), ask]}, [f"input[{i + 1}].content[0].refusal" for i in range(len(parts))]


def test_each_piece_of_a_text_that_is_joined_is_there_or_named():
    for said in (["NoOne"], ["NoOne", "NoTwo"], ["NoOne", "NoTwo", "NoThree"]):
        for request, paths in refused(*said):
            for api in ("openai", "anthropic"):
                made, notes = written(request, api)
                assert all(one in json.dumps(made) for one in said), (api, request, made)
                told = sorted(path for kind, path in notes if kind == "lost" and path.startswith("input"))
                assert told == (sorted(paths) if api == "anthropic" else []), (api, request, notes)
            back, _ = written(written(request, "openai")[0], "responses")
            assert all(one in json.dumps(back) for one in said), back
            done = subprocess.run([BINARY, "render", "-f", "chatml", "--json"], input=json.dumps(request), capture_output=True, text=True)
            named = [one["path"] for one in json.loads(done.stdout)["losses"] if one["kind"] == "lost"]
            assert named == paths or named == ["input[1]"], (request, named)  # all that the message says
    two, _ = written(list(refused("NoOne", "NoTwo"))[-1][0], "openai")
    assert [one.get("refusal") for one in two["messages"]] == [None, "NoOne", "NoTwo", None], two
    more = {"model": "m", "input": [{"role": "assistant", "content": [{"type": "refusal", "refusal": "No", "why": "w"}]}]}
    assert ("lost", "input[0].content[0].why") in written(more, "openai")[1]
    thoughts = [{"type": "summary_text", "text": "R1"}, {"type": "summary_text", "text": "R2"}]
    for request, paths in (({"input": [{"role": "user", "content": "Hi"}, {"type": "reasoning", "summary": thoughts}]}, ["input[1].summary[0].text", "input[1].summary[1].text"]),
                           ({"contents": [{"role": "model", "parts": [{"text": "R1", "thought": True}, {"text": "R2", "thought": True}, {"text": "A"}]}]},
                            ["contents[0].parts[0].text", "contents[0].parts[1].text"])):
        _, notes = written(request, "anthropic")
        assert sorted(path for kind, path in notes if kind == "lost") == paths, notes
        assert "R1\n\nR2" in written(request, "openai")[0]["messages"][-1]["reasoning_content"]


GEMINI = {
    "systemInstruction": {"role": "system", "parts": [{"text": "S"}]},
    "contents": [{"role": "user", "parts": [{"text": "Hi"}, {"inlineData": {"mimeType": "image/png", "data": "QQ=="}}, {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png"}}]},
                 {"role": "model", "parts": [{"text": "Why", "thought": True}, {"text": "Yo"}, {"functionCall": {"id": "1", "name": "look", "args": {"a": "b"}}}]},
                 {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "look", "response": {"output": "22"}}}]}],
    "tools": [{"functionDeclarations": [{"name": "look", "description": "Looks.", "parameters": {"type": "OBJECT"}}, {"name": "see", "parametersJsonSchema": {"type": "object"}}]}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look", "see"]}},
    "generationConfig": {"temperature": 0.5, "responseMimeType": "application/json", "responseSchema": {"type": "OBJECT"},
                         "thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": False}},
}


def with_snake_case(value):
    if isinstance(value, dict):
        return {re.sub("[A-Z]", lambda found: "_" + found[0].lower(), key): with_snake_case(one) for key, one in value.items()}
    return [with_snake_case(one) for one in value] if isinstance(value, list) else value


def places(value, path=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key), one
        yield from places(one, (*path, key))


def with_value(request, path, *value):
    """With another value at the path; without one, that is taken out."""
    made = copy.deepcopy(request)
    at = made
    for step in path[:-1]:
        at = at[step]
    if value:
        at[path[-1]] = value[0]
    else:
        del at[path[-1]]
    return made


def path_text(path):
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]


def test_a_member_of_gemini_of_another_type_is_refused_or_named_or_there():
    """None is dropped without a word: the request is refused or named for it, or another one than without the member."""
    for base in (GEMINI, with_snake_case(GEMINI), {"contents": "Hi", "generationConfig": {"responseJsonSchema": {"type": "object"}, "thinkingConfig": {"thinkingBudget": 0}}}):
        cases = [(path, wrong) for path, right in places(base) for wrong in ("word", 4711, True, ["word"], {"word": "word"})
                 if type(wrong) is not type(right) and not (isinstance(right, float) and isinstance(wrong, int)) and path != ("contents",)]
        lines = [made for path, wrong in cases for made in (with_value(base, path, wrong), with_value(base, path))]
        answers = [json.loads(line) for line in run("".join(json.dumps(line) + "\n" for line in lines), "--as", "openai", "--jsonl")[1].splitlines()]
        assert len(answers) == len(lines)
        for (path, wrong), answer, less in zip(cases, answers[::2], answers[1::2]):
            place = path_text(path)
            if "error" in answer:
                where = answer["error"].get("path", "")
                assert where and (place.startswith(where) or where.startswith(place)), (place, wrong, answer)
                continue
            named = any(note["kind"] == "lost" and (note["path"].startswith(place) or place.startswith(note["path"])) for note in answer["notes"])
            assert named or answer["request"] != less.get("request", answer["request"]), (place, wrong, answer)
    for path, said in ((("contents", 1, "role"), "`role` is not a string"), (("toolConfig",), "`toolConfig` is not an object"), (("contents", 1, "parts", 0, "thought"), "`thought` is not true or false"),
                       (("generationConfig", "thinkingConfig"), "`thinkingConfig` is not an object"), (("generationConfig", "responseMimeType"), "`responseMimeType` is not a string"),
                       (("toolConfig", "functionCallingConfig"), "`functionCallingConfig` is not an object")):
        code, out, err = run(with_value(GEMINI, path, ["NONE"]), "--as", "openai")
        assert (code, out) == (3, "") and said in err and f"input: {path_text(path)}\n" in err, (path, err)
    for part, name in ((("contents", 0, "parts", 1, "inlineData"), "caption"), (("contents", 0, "parts", 2, "fileData"), "caption")):
        request = with_value(GEMINI, (*part, name), "words")
        assert ("lost", f"{path_text(part)}.{name}") in written(request, "openai")[1]
    assert ("lost", "generationConfig.responseMimeType") in written(with_value(GEMINI, ("generationConfig", "responseMimeType"), "text/x.enum"), "openai")[1]
    for path in (("toolConfig",), ("toolConfig", "functionCallingConfig"), ("generationConfig", "thinkingConfig"), ("contents", 0, "role"), ("contents", 1, "parts", 0, "thought")):
        assert run(with_value(GEMINI, path, None), "--as", "openai")[0] == 0, path  # null says nothing


def test_openrouters_switch_of_reasoning_is_an_effort():
    for given, anthropic, responses in (({"enabled": False}, {"thinking": {"type": "disabled"}}, {"reasoning": {"effort": "none"}}),
                                        ({"enabled": True, "effort": "high"}, {"output_config": {"effort": "high"}}, {"reasoning": {"effort": "high"}})):
        for api, members in (("anthropic", anthropic), ("responses", responses)):
            made, notes = written({**CHAT, "seed": None, "max_tokens": 5, "reasoning": given}, api)
            assert {name: made.get(name) for name in members} == members, (api, given, made)
            assert not any(kind == "lost" and "reasoning" in path for kind, path in notes), (api, given, notes)
    for api in ("anthropic", "responses"):
        made, notes = written({**CHAT, "reasoning": {"enabled": True}}, api)
        assert ("lost", "reasoning.enabled") in notes and "reasoning" not in made and "thinking" not in made, (api, made, notes)
    made, notes = written({**CHAT, "reasoning": {"enabled": False}}, "openai")
    assert made["reasoning"] == {"enabled": False} and notes == {("kept", "reasoning")}, (made, notes)


def test_a_request_of_that_api_is_not_converted():
    """What would be an error for another API stays."""
    pdf = {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}}
    own = {"anthropic": {"model": "m", "max_tokens": 1, "system": "S", "messages": [{"role": "user", "content": [pdf, {"type": "server_tool_use", "id": "1"}]}]},
           "responses": {"model": "m", "previous_response_id": "r", "input": [{"type": "web_search_call", "id": "1"}], "tools": [{"type": "web_search"}]}}
    for api, request in own.items():
        assert written(request, api) == (request, set())
        assert written({key: request[key] for key in request if key != "model"}, api)[1] == {("missing", "model")}
        answer = json.loads(run({"id": 7, **request}, "--as", api, "--jsonl", "--var", "temperature=0.5")[1])
        assert answer == {"id": 7, "request": {**request, "temperature": 0.5}, "notes": []}, answer


def test_system_beside_a_chat():
    chat = {"model": "m", "max_tokens": 1, "system": "S", "messages": [*CHAT["messages"], {"role": "assistant", "content": "", "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}]}
    for api in ("openai", "anthropic", "responses"):
        code, out, err = run(chat, "--as", api)
        assert code == 0 and '"S"' not in out, out
        assert err == "note: system: none of the chat's messages: left out; give it as a message of the role system\n", err


def test_notes_are_true():
    """What says nothing is quiet; what says something has one note, which is true."""
    quiet = {**CHAT, "seed": None, "n": 1, "modalities": ["text"], "top_logprobs": 0, "max_tokens": 1}
    for api in ("anthropic", "responses"):
        assert written(quiet, api)[1] == set(), api
        assert written({**quiet, "seed": 0}, api)[1] == {("lost", "seed")}, api
        assert ("lost", "web_search_options") in written({**quiet, "web_search_options": {}}, api)[1]
    gemini = {"model": "m", "contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "generationConfig": {"candidateCount": 1}}
    assert written(gemini, "responses")[1] == {("changed", "messages")}
    request, notes = written({**quiet, "logprobs": True, "top_logprobs": 3, "stream_options": {"include_obfuscation": True}}, "responses")
    assert notes == set() and (request["top_logprobs"], request["include"], request["stream_options"]) == (
        3, ["message.output_text.logprobs"], {"include_obfuscation": True}), request
    assert {key: value for key, value in written(request, "openai")[0].items() if "logprobs" in key} == {"logprobs": True, "top_logprobs": 3}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}, "cache_control": {"type": "ephemeral"}}
    request, notes = written({**quiet, "service_tier": "auto", "tools": [tool]}, "anthropic")
    assert notes == set() and (request["service_tier"], request["tools"][0]["cache_control"]) == ("auto", tool["cache_control"]), request
    code, _, err = run({**quiet, "service_tier": "flex", "metadata": {"a": "b"}}, "--as", "anthropic")
    assert err.splitlines() == [f"note: {name}: of another meaning in Anthropic Messages: left out" for name in ("service_tier", "metadata")], err
    gemini["contents"] += [{"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}} for name in "fg"]},
                           {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {"error": "x"}}} for name in "fg"]}]
    for api in ("openai", "anthropic", "responses"):
        assert not [path for _, path in written(gemini, api)[1] if path.startswith("messages[")], (api, written(gemini, api))


def test_hints_name_options_that_there_are():
    for request in ({"x": 1}, {"input": [], "contents": []}, {"input": [{"type": "nothing"}]}):
        code, _, err = run(request, "--as", "openai")
        assert code == 3 and "--as-is" not in err and "--skip-pass" not in err, err


def test_nothing_is_stored_unasked():
    for request in ({"system": "S", "messages": CHAT["messages"]}, {"contents": [{"parts": [{"text": "Hi"}]}]}, CHAT):
        assert written(request, "responses")[0]["store"] is False


def test_settings_of_each_api():
    anthropic = {"system": "S", "messages": CHAT["messages"], "max_tokens": 5, "stop_sequences": ["x"], "metadata": {"user_id": "u"}, "top_k": 3,
                 "tool_choice": {"type": "any", "disable_parallel_tool_use": True}, "thinking": {"type": "enabled", "budget_tokens": 2000}}
    request, notes = written(anthropic, "openai")
    assert {key: request[key] for key in request if key != "messages"} == {
        "max_completion_tokens": 5, "stop": ["x"], "user": "u", "top_k": 3, "tool_choice": "required", "parallel_tool_calls": False}
    assert {note for note in notes if note[0] != "changed"} == {("lost", "thinking"), ("missing", "model"), ("kept", "top_k")}, notes
    responses = {"model": "m", "input": "Hi", "max_output_tokens": 5, "text": {"verbosity": "low", "format": {"type": "json_object"}},
                 "reasoning": {"effort": "low", "summary": "auto"}, "truncation": "auto", "include": []}
    request, notes = written(responses, "openai")
    assert {key: request[key] for key in request if key != "messages"} == {
        "model": "m", "max_completion_tokens": 5, "verbosity": "low", "response_format": {"type": "json_object"}, "reasoning_effort": "low"}, request
    assert {note for note in notes if note[0] != "changed"} == {("lost", "reasoning.summary"), ("lost", "truncation")}, notes
    ollama = {"model": "m", "messages": CHAT["messages"], "options": {"num_predict": 5, "num_ctx": 9, "temperature": 0.5}, "think": "low"}
    request, notes = written(ollama, "anthropic")
    assert (request["max_tokens"], request["temperature"], request["output_config"]) == (5, 0.5, {"effort": "low"}), request
    assert {note for note in notes if note[0] != "changed"} == {("lost", "options.num_ctx")}, notes


def test_custom_tools():
    chat = {"model": "m", "messages": [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "custom", "custom": {"name": "run", "input": "x = 1"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "done"}],
        "tools": [{"type": "custom", "custom": {"name": "run", "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "a+"}}}}],
        "tool_choice": {"type": "custom", "custom": {"name": "run"}}}
    request, _ = written(chat, "responses")
    assert [item["type"] for item in request["input"]] == ["custom_tool_call", "custom_tool_call_output"]
    assert request["tools"] == [{"type": "custom", "name": "run", "format": {"type": "grammar", "syntax": "regex", "definition": "a+"}}]
    assert written(request, "openai")[0] == {**chat, "messages": [{**chat["messages"][0], "content": ""}, chat["messages"][1]], "store": False}
    request, _ = written(chat, "anthropic", "--var", "max_tokens=1")
    assert request["messages"][0]["content"] == [{"type": "tool_use", "id": "1", "name": "run", "input": {"input": "x = 1"}}]
    assert request["tool_choice"] == {"type": "tool", "name": "run"}


def test_old_functions_and_efforts_of_another_type_are_named():
    called = {"role": "assistant", "content": "Yo", "function_call": {"name": "look", "arguments": "{}"}}
    base = {"model": "m", "max_tokens": 5}
    for history in (CHAT["messages"], [*CHAT["messages"], called]):
        for functions in ({"name": "look"}, "look", 5):
            for choice in ({"name": "look"}, ["look"], "look", 5):
                chat = {**base, "messages": history, "functions": functions, "function_call": choice}
                for api in ("anthropic", "responses"):
                    _, notes = written(chat, api)
                    assert {path for kind, path in notes if kind == "lost"} == {"functions", "function_call"}, (api, chat, notes)
                made, _ = written(chat, "openai")
                assert (made["functions"], made["function_call"]) == (functions, choice), made
        for choice in (["look"], 5):
            for api in ("anthropic", "responses"):
                _, notes = written({**base, "messages": history, "functions": [{"name": "look"}], "function_call": choice}, api)
                assert {path for kind, path in notes if kind == "lost"} == {"function_call"}, (api, choice, notes)
        for choice in ("none", "auto", None):
            for api in ("anthropic", "responses"):
                assert not [one for one in written({**base, "messages": history, "function_call": choice}, api)[1] if one[0] == "lost"], (api, choice)
    for effort in (["high"], {"a": "b"}, 5, True):
        for api in ("anthropic", "responses"):
            _, notes = written({**base, "messages": CHAT["messages"], "reasoning_effort": effort}, api)
            assert ("lost", "reasoning_effort") in notes, (api, effort, notes)
        for api in ("anthropic", "openai"):
            _, notes = written({**base, "input": "Hi", "reasoning": {"effort": effort}}, api)
            assert ("lost", "reasoning.effort") in notes, (api, effort, notes)


def test_reasoning_that_is_not_written_is_named():
    for name in ("thinking", "reasoning", "reasoning_content"):
        for value in ({"note": "deep"}, ["deep"], {"text": "deep"}, 5):
            chat = {"model": "m", "max_tokens": 5, "messages": [*CHAT["messages"], {"role": "assistant", "content": "Yo", name: value}]}
            for api in ("anthropic", "responses"):
                assert written(chat, api)[1] == {("lost", f"messages[1].{name}")}, (api, name, value, written(chat, api))
    both = {"model": "m", "messages": [*CHAT["messages"], {"role": "assistant", "content": "Yo", "reasoning_content": "one", "reasoning": "two", "thinking": "one"}]}
    made, notes = written(both, "responses")
    assert notes == {("lost", "messages[1].reasoning")} and '"one"' in json.dumps(made), (made, notes)
    for value in (["No"], {"note": "No"}):
        for api in ("anthropic", "responses"):
            code, _, err = run({"model": "m", "messages": [{"role": "assistant", "content": "Yo", "refusal": value}]}, "--as", api)
            assert code == 3 and "a refusal is a text" in err and "messages[0].refusal" in err, (api, value, err)


def test_what_else_a_custom_tool_says_is_named():
    grammar = {"type": "grammar", "note": "n", "grammar": {"syntax": "regex", "definition": "a+", "more": "m"}}
    chat = {**CHAT, "tools": [{"type": "custom", "custom": {"name": "run", "usage": "u", "format": grammar}, "beside": "b"}]}
    outer = {"tools[0].custom.usage", "tools[0].beside"}
    for api, paths in (("responses", outer | {"tools[0].custom.format.note", "tools[0].custom.format.grammar.more"}), ("anthropic", outer)):
        assert {path for kind, path in written(chat, api)[1] if kind == "lost" and path.startswith("tools")} == paths, (api, written(chat, api)[1])
    flat = {"model": "m", "input": "Hi", "tools": [{"type": "custom", "name": "run", "usage": "u", "format": {"type": "grammar", "syntax": "lark", "definition": "start: /a/", "more": "m"}}]}
    made, notes = written(flat, "openai")
    assert {path for kind, path in notes if kind == "lost"} == {"tools[0].usage", "tools[0].format.more"} and "usage" not in json.dumps(made), (made, notes)
    for tool in ({"type": "custom", "custom": {"nam": "run"}}, {"type": "custom"}, {"type": "custom", "custom": "run"}):
        code, out, err = run({**CHAT, "tools": [tool]}, "--as", "responses")
        assert (code, out) == (3, "") and "`name` is missing" in err, (tool, err)
        code, _, err = run({**CHAT, "tools": [tool]}, "--as", "anthropic")
        assert "`name` is missing" in err if isinstance(tool.get("custom"), dict) else "tools[0]: no function: left out" in err, (tool, err)


def test_what_cannot_be_said_is_an_error():
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    for api in ("anthropic", "responses"):
        code, out, err = run({**CHAT, "messages": [{"role": "user", "content": [sound]}]}, "--as", api)
        assert (code, out) == (3, "") and "messages[0].content[0]" in err and "input_audio" in err, (code, err)
        code, out, err = run({**CHAT, "messages": [{"role": "user", "content": "Hi", "images": ["AAAA"]}]}, "--as", api)
        assert (code, out) == (3, "") and "messages[0].images" in err, (code, err)
    code, _, err = run({**CHAT, "messages": [{"role": "critic", "content": "x"}]}, "--as", "anthropic")
    assert code == 3 and "messages[0].role" in err and "critic" in err, err


def test_a_request_of_that_api_stays():
    request = {"system": "S", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}],
               "container": "c", "max_tokens": 1, "model": "m"}
    assert written(request, "anthropic") == (request, set())


def test_a_part_that_loses_members_is_its_text():
    part = {"type": "text", "text": "Hi", "more": 1}
    for api, where in (("anthropic", "messages"), ("responses", "input")):
        request, notes = written({**CHAT, "messages": [{"role": "user", "content": [part]}]}, api)
        assert request[where][0]["content"] == "Hi" and ("lost", "messages[0].content[0].more") in notes, (request, notes)


def test_members_of_tools_stay_in_their_order():
    function = {"description": "D", "strict": True, "parameters": {"type": "object"}, "name": "f"}
    tools = [{"type": "function", "function": function}, {"function": dict(reversed(function.items())), "type": "function"}]
    for api in ("anthropic", "responses"):
        request, notes = written({**CHAT, "seed": None, "max_tokens": 1, "tools": tools}, api)
        assert notes == set() and json.dumps(written(request, "openai")[0]["tools"]) == json.dumps(tools), (api, request)


def test_a_request_with_output_config_is_anthropics():
    request = {"model": "m", "messages": CHAT["messages"], "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}
    assert written(request, "openai")[0]["response_format"] == {"type": "json_schema", "json_schema": {"name": "response", "schema": {"type": "object"}}}


def test_no_effort_beside_thinking_is_a_loss():
    thinking = {"type": "enabled", "budget_tokens": 1024}
    request, notes = written({**CHAT, "seed": None, "max_tokens": 2048, "reasoning_effort": "none", "thinking": thinking}, "anthropic")
    assert request["thinking"] == thinking and notes == {("lost", "reasoning_effort")}, (request, notes)


def test_a_choice_in_anthropics_words_stays():
    request = {"model": "m", "max_tokens": 1, "messages": CHAT["messages"], "tool_choice": {"type": "none"}}
    assert written(request, "anthropic") == (request, set())


def test_what_openais_chat_has_not_is_kept_and_told():
    request = {**CHAT, "source": "web", "top_k": 5}
    assert written(request, "openai") == (request, {("kept", "source"), ("kept", "top_k")})
    assert written(request, "openai", "--var", "top_k=6") == ({**request, "top_k": 6}, {("kept", "source")})
    code, out, err = run(request, "--as", "openai", "--strict")
    assert code == 0 and json.loads(out) == request and "note: source: no member of OpenAI's chat: kept" in err, err
    assert run(request, "--as", "openai", "-q")[2] == ""
    assert ("lost", "source") in written(request, "anthropic")[1]


sys.exit(check.run_tests(sys.modules[__name__], "tests of parlance convert"))
