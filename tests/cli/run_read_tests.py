#!/usr/bin/env python3
"""Tests of `parlance read`.

    run_read_tests.py path/to/parlance

What replies mean is checked elsewhere (tests/unit/reply_test.cpp, tests/oracle/reply_oracle.py); here it is the command: files and
standard input, pieces, events as they come, whole prompts, and what is refused.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import check

BINARY = sys.argv[1]
REPLY = b'<think>\nR \xc3\xa9\n</think>\n\nC \xf0\x9f\x99\x82\n<tool_call>\n{"name": "f", "arguments": {"a": "\xe4\xb8\xad"}}\n</tool_call><|im_end|>\n'
expect = check.Expectations()


def run(*arguments, reply=REPLY):
    """Exit code, output and errors; ids that were made up are call_x."""
    done = subprocess.run([BINARY, "read", *arguments], input=reply, capture_output=True)
    return done.returncode, re.sub("call_[0-9a-f]{24}", "call_x", done.stdout.decode("utf-8")), done.stderr.decode("utf-8")


whole = run("-f", "hermes")
message = json.loads(whole[1])["message"]
expect("a message", (message["reasoning_content"], message["content"]) == ("R é", "C 🙂"), whole)
expect("its call", json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"a": "中"}, message)
expect("- is standard input", run("-f", "terminal-agent", "-") == whole, "")
for size in ("1", "2", "3", "7", "1000000"):
    expect(f"pieces of {size}", run("-f", "terminal-agent", "--chunks", size) == whole, size)
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "reply.txt"
    path.write_bytes(REPLY)
    expect("a file", run("-f", "terminal-agent", str(path), reply=b"") == whole, "")

for size in ("1", "5", "4096"):
    events = [json.loads(line) for line in run("-f", "terminal-agent", "--stream", "--chunks", size)[1].splitlines()]
    sources = "".join(e.get("source", e.get("text", "")) for e in events if e["type"] != "malformed")
    expect(f"sources of events by {size} are the reply", sources.encode() == REPLY, sources)
    arguments = "".join(e["text"] for e in events if e["type"] == "arguments")
    expect("arguments of events", arguments == '{"a": "中"}', arguments)

# Events are there before the reply is over.
with subprocess.Popen([BINARY, "read", "-f", "terminal-agent", "--stream"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
    process.stdin.write(b"Hello")
    process.stdin.flush()
    first = json.loads(process.stdout.readline())
    expect("an event at once", first["type"] == "content" and first["text"] == "Hello", first)
    process.stdin.close()

shown = run("-f", "chatglm3", "--show-format")[1]
expect("a format is JSON", json.loads(shown)["prompt"] == "<|assistant|>", shown)
prompt = b"<|user|>\nHi\n<|assistant|>\nHello"
request = json.loads(run("-f", "chatglm3", "--conversation", reply=prompt)[1])
expect("a prompt is a request", request == {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}, request)

# OpenAI's chunks amount to the message.
for size in ("1", "7", "4096"):
    chunks = [json.loads(line)["choices"][0] for line in run("-f", "terminal-agent", "--openai-stream", "--chunks", size)[1].splitlines()]
    deltas = [chunk["delta"] for chunk in chunks]
    expect("the role comes first", deltas[0] == {"role": "assistant", "content": ""}, deltas)
    expect("the reason comes last", [c["finish_reason"] for c in chunks] == [None] * (len(chunks) - 1) + ["tool_calls"], chunks)
    for member in ("reasoning_content", "content"):
        expect(f"{member} in chunks", "".join(d.get(member, "") for d in deltas) == message[member], deltas)
    calls = [d["tool_calls"][0] for d in deltas if "tool_calls" in d]
    expect("a call begins with its name", (calls[0]["index"], calls[0]["id"], calls[0]["function"]) == (0, "call_x", {"name": "f", "arguments": ""}), calls)
    expect("arguments in chunks", "".join(c["function"]["arguments"] for c in calls) == '{"a": "中"}', calls)

# As the answer of an API: the whole, its events a line each, the same as a server sends them, and lines of replies.
ANSWER = ("--id", "a7", "--model-name", "mine", "--created", "9")
EVENTS = {"openai": ["", ""], "anthropic": ["message_start", "message_stop"], "responses": ["response.created", "response.completed"]}
for api, (first, last) in EVENTS.items():
    code, out, errors = run("-f", "hermes", "--as", api, *ANSWER)
    answer = json.loads(out)
    expect(f"{api}: one answer", code == 0 and out.count("\n") == 1 and errors == "", (code, out, errors))
    expect(f"{api}: what it says of itself", (answer["id"], answer["model"]) == ("a7", "mine"), answer)
    made = answer.get("created", answer.get("created_at"))
    expect(f"{api}: when", made == (None if api == "anthropic" else 9), answer)
    expect(f"{api}: what was said", all(json.dumps(word, ensure_ascii=False)[1:-1] in out for word in ("R é", "C 🙂", "中")), out)
    expect(f"{api}: a call's id", {"openai": "call_a7_1", "anthropic": "toolu_a7_1", "responses": "call_a7_1"}[api] in out, out)
    expect(f"{api}: the same ids each time", run("-f", "hermes", "--as", api, *ANSWER)[1] == out, out)
    for size in ("1", "7", "4096"):
        lines = run("-f", "hermes", "--as", api, "--stream", "--chunks", size, *ANSWER)[1].splitlines()
        sent = run("-f", "hermes", "--as", api, "--sse", "--chunks", size, *ANSWER)[1]
        expect(f"{api}: --stream and --sse are one", run("-f", "hermes", "--as", api, "--stream", "--sse", "--chunks", size, *ANSWER)[1] == sent, sent)
        expect(f"{api}: ends by an empty line", sent.endswith("\n\n"), sent[-40:])
        blocks = [block.split("\n") for block in sent[:-2].split("\n\n")]
        if api == "openai":
            expect("openai: [DONE] is last", blocks.pop() == ["data: [DONE]"], sent[-60:])
        events = [[line for line in block if line.startswith("event: ")] for block in blocks]
        names = [found[0][7:] if found else "" for found in events]
        expect(f"{api}: the same events", ["data: " + line for line in lines] == [block[-1] for block in blocks], (lines[:3], blocks[:3]))
        expect(f"{api}: events have their names", (names[0], names[-1]) == (first, last) and all(
            name == json.loads(line).get("type", "") for name, line in zip(names, lines)), names)
    wanted = [json.loads(run("-f", "hermes", "--as", api, "--id", f"a-{i}", reply=text.encode())[1]) for i, text in ((1, "One"), (3, "Three"))]
    lines = [json.dumps({"id": "x", "reply": "One"}), "no json", json.dumps({"reply": "Three"})]
    code, out, errors = run("-f", "hermes", "--jsonl", "--as", api, "--id", "a", reply="\n".join(lines).encode())
    answers = [json.loads(line) for line in out.splitlines()]
    expect(f"{api}: a line has its answer, numbered", code == 0 and [answers[0], answers[2]] == [{"id": "x", "response": wanted[0]}, {"response": wanted[1]}], answers)
    expect(f"{api}: a bad line is an error", answers[1]["error"]["line"] == 2, answers[1])
    if api == "openai":
        expect("reasoning has two names", answer["choices"][0]["message"]["reasoning"] == "R é", answer)
    cut = b'<tool_call>\n{"name": "f", "arguments": {"a": b'
    whole, sent = (run("-f", "hermes", "--as", api, *more, reply=cut)[1] for more in ((), ("--sse",)))
    expect(f"{api}: a broken call is marked", ("incomplete" if api == "responses" else '"complete": false') in whole and "reply_diagnostics" in whole, whole)
    expect(f"{api}: and in its events", ("incomplete" if api == "responses" else '"complete": false') in sent and "reply_diagnostics" in sent, sent)
# Ollama's stream has lines, whose calls are whole.
code, out, errors = run("-f", "hermes", "--as", "ollama", *ANSWER)
answer = json.loads(out)
expect("ollama: an answer", (answer["model"], answer["created_at"], answer["done_reason"]) == ("mine", "1970-01-01T00:00:09Z", "stop"), answer)
expect("ollama: its message", (answer["message"]["thinking"], answer["message"]["content"]) == ("R é", "C 🙂"), answer)
for size in ("1", "7", "4096"):
    sent = run("-f", "hermes", "--as", "ollama", "--sse", "--chunks", size, *ANSWER)[1]
    expect("ollama: --sse is lines", run("-f", "hermes", "--as", "ollama", "--stream", "--chunks", size, *ANSWER)[1] == sent, sent)
    said = [json.loads(line)["message"] for line in sent.splitlines()]
    expect("ollama: pieces", "".join(one["content"] for one in said) == "C 🙂", said)
    expect("ollama: one whole call", [one["tool_calls"] for one in said if "tool_calls" in one] == [answer["message"]["tool_calls"]], said)
for arguments, words in ((("--sse",), "give --as"), (("--id", "x"), "give --as"), (("--as", "gemini"), "--as"), (("--as", "openai", "--openai-stream"), "exclude"),
                         (("--as", "openai", "--partial"), "--partial"), (("--as", "openai", "--sse", "--jsonl"), "--sse and --jsonl"),
                         (("--as", "openai", "--conversation"), "--conversation and --as")):
    got = run("-f", "hermes", *arguments)
    expect(f"{arguments} is refused", got[0] == 2 and got[1] == "" and words in got[2], got)

# Lines: each with a request or without; a bad one is an error and no more.
request = {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}
lines = [{"id": i, "request": request, "reply": f"<think>\nR{i}\n</think>\n\nC{i}<|im_end|>"} for i in range(3000)]
lines[7] = {"id": 7}
lines[8] = {"id": 8, "reply": "alone"}
lines[9] = {"id": 9, "reply": "x", "request": {"messages": 3}}
text = "\n".join("no json" if i == 10 else json.dumps(line) for i, line in enumerate(lines))
code, out, errors = run("-f", "terminal-agent", "--jsonl", reply=text.encode())
answers = [json.loads(line) for line in out.splitlines()]
expect("every line is answered", code == 0 and len(answers) == 3000, (code, len(answers), errors))
for i, answer in enumerate(answers):
    wanted = i not in (7, 9, 10)
    expect(f"line {i}", ("message" in answer) == wanted and ("error" in answer) != wanted and answer.get("id", 10) == i, answer)
expect("a line's message", answers[5]["message"] == {"role": "assistant", "reasoning_content": "R5", "content": "C5"}, answers[5])
expect("no request", answers[8]["message"]["content"] == "alone" and answers[8]["diagnostics"] == [] and answers[8]["finish_reason"] == "stop", answers[8])

expect("how many lines failed is said", "3 of 3000 lines were answered by an error" in errors, errors)
code, out, errors = run("-f", "terminal-agent", "--jsonl", "--fail-on-error", reply=text.encode())
expect("--fail-on-error is the exit code", code == 1 and len(out.splitlines()) == 3000, (code, errors))
code, out, errors = run("-f", "terminal-agent", "--jsonl", "--fail-on-error", reply=b'{"reply": "x", "requst": {}, "meta": 1}')
expect("and no failure is none", code == 0 and errors == "", (code, errors))
expect("a misspelt member is noted, others are not", json.loads(out)["notes"] == ["requst: no member of a line; did you mean 'request'?"], out)
expect("--fail-on-error is for lines", run("-f", "terminal-agent", "--fail-on-error")[0] == 2, "")
got = run("-f", "terminal-agent", "--request", "-", "/dev/null", reply=b"{]")
expect("standard input has its usual name", "<stdin>:1:2" in got[2], got)

# What the prompt opens, the reply need not; tools type the values of tags.
with tempfile.TemporaryDirectory() as folder:
    chat, tools, tagged = (pathlib.Path(folder) / name for name in ("chat.json", "tools.json", "format.json"))
    chat.write_text(json.dumps(request))
    opened = json.loads(run("-f", "underscore-bot", "--request", str(chat), reply=b"R\n</think>\n\nC<_end>")[1])["message"]
    expect("the prompt opens reasoning", (opened["reasoning_content"], opened["content"]) == ("R", "C"), opened)
    going_on = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "<think>\nI th"}], "continue_final_message": True}
    chat.write_text(json.dumps(going_on))
    opened = json.loads(run("-f", "terminal-agent", "--request", str(chat), reply=b"ink\n</think>\n\nC")[1])["message"]
    expect("a message goes on", (opened["reasoning_content"], opened["content"]) == ("ink", "C"), opened)
    tools.write_text(json.dumps([{"type": "function", "function": {"name": "f", "parameters": {"properties": {"s": {"type": "string"}, "n": {"type": "integer"}}}}}]))
    tagged.write_text(json.dumps({"calls": [{"call": ["<f=", {"name": True}, ">", {"arguments": {"tags": {"open": "<p=", "key_close": ">", "close": "</p>"}}}, "</f>"]}]}))
    reply = b"<f=f><p=s>42</p><p=n>42</p></f>"
    for arguments, wanted in ((("--tools", str(tools)), '{"s": "42", "n": 42}'), ((), '{"s": 42, "n": 42}')):
        got = json.loads(run("--reply-format", str(tagged), *arguments, reply=reply)[1])["message"]["tool_calls"][0]["function"]["arguments"]
        expect("tools type values", got == wanted, got)
    tagged.write_text('{"calls": [{"call": ["<f>"]}]}')
    expect("a format of a file is refused with its path", "calls[0].call" in run("--reply-format", str(tagged), reply=b"")[2], "")
    template = {"start_anchor": "<a>", "fields": {"tool_calls": {"open": "<c>", "close": "</c>", "repeats": True, "content": "json",
                "transform": {"type": "function", "function": {"name": "{content.tool}", "arguments": "{content.with}"}}}, "content": {"close": "<z>"}}}
    tagged.write_text(json.dumps(template), encoding="utf-8")
    said = json.loads(run("--reply-format", str(tagged), reply=b'so<c>{"tool": "f", "with": {"x": 1}}</c><z>')[1])["message"]
    expect("a response_template of a file is read by", (said["content"], said["tool_calls"][0]["function"]), ("so", {"name": "f", "arguments": '{"x": 1}'}))
    template["fields"]["tool_calls"]["close_patern"] = "x"
    tagged.write_text(json.dumps(template), encoding="utf-8")
    expect("a response_template of a file is refused with its path", "fields.tool_calls.close_patern" in run("--reply-format", str(tagged), reply=b"")[2], True)

# What of a call does not fit its tool.
with tempfile.TemporaryDirectory() as folder:
    tools = pathlib.Path(folder) / "tools.json"
    tools.write_text(json.dumps([{"name": "look", "parameters": {"properties": {"days": {"type": "integer"}}, "required": ["at"]}}]))
    reply = b'<tool_call>{"name": "look", "arguments": {"days": "x"}}</tool_call><tool_call>{"name": "lok", "arguments": {}}</tool_call>'
    answer = json.loads(run("-f", "terminal-agent", "--tools", str(tools), reply=reply)[1])
    wanted = [("missing", "the argument 'at' of 'look'"), ("misfit", "an integer as 'days' of 'look', not a text"),
              ("unknown_tool", "a declared tool, not 'lok' (did you mean 'look'?)")]
    expect("what does not fit is said", [(d["kind"], d["expected"]) for d in answer["diagnostics"]] == wanted, answer["diagnostics"])
    expect("calls are complete", answer["finish_reason"] == "tool_calls" and all(c["complete"] for c in answer["message"]["tool_calls"]), answer)
    expect("nothing is said without tools", json.loads(run("-f", "terminal-agent", reply=reply)[1])["diagnostics"] == [], "")
    events = [json.loads(line) for line in run("-f", "terminal-agent", "--tools", str(tools), "--stream", reply=reply)[1].splitlines()]
    expect("events say it", [e["kind"] for e in events if e["type"] == "malformed"] == ["missing", "misfit", "unknown_tool"], events)

# A call of a custom tool is one again.
with tempfile.TemporaryDirectory() as folder:
    chat = pathlib.Path(folder) / "chat.json"
    chat.write_text(json.dumps({"messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "custom", "custom": {"name": "run"}}]}))
    reply = '<tool_call>\n{"name": "run", "arguments": {"input": "echo \\"1\\""}}\n</tool_call>'
    wanted = {"id": "call_1", "type": "custom", "custom": {"name": "run", "input": 'echo "1"'}, "complete": True}
    said = json.loads(run("-f", "terminal-agent", "--request", str(chat), "--number-calls", reply=reply.encode())[1])["message"]["tool_calls"]
    expect("a call of a custom tool", said == [wanted], said)
    line = json.dumps({"request": json.loads(chat.read_text()), "reply": reply}).encode()
    said = json.loads(run("-f", "terminal-agent", "--jsonl", "--number-calls", reply=line)[1])["message"]["tool_calls"]
    expect("a call of a custom tool in a line", said == [wanted], said)
    events = [json.loads(event) for event in run("-f", "terminal-agent", "--request", str(chat), "--stream", reply=reply.encode())[1].splitlines()]
    expect("its event says so", [event["type"] for event in events if event.get("custom")] == ["call_begin"], events)

# Hints name options that the command has.
for request in ({"x": 1}, {"input": [{"type": "nothing"}]}):
    said = json.loads(run("-f", "terminal-agent", "--jsonl", reply=json.dumps({"request": request, "reply": "x"}).encode())[1])["error"]
    expect("no option of another command", said["code"] == "conversation" and "--" not in said.get("hint", ""), said)

# Values of arguments that are not whole.
cut = b'<tool_call>\n{"name": "f", "arguments": {"a": [1, 2], "text": "h\\u00'
said = json.loads(run("-f", "terminal-agent", "--partial", reply=cut)[1])["message"]["tool_calls"][0]
expect("values so far of a message", (said["complete"], said["partial"]) == (False, {"a": [1, 2], "text": "h"}), said)
said = json.loads(run("-f", "terminal-agent", "--partial", "--jsonl", reply=json.dumps({"reply": cut.decode()}).encode())[1])["message"]["tool_calls"][0]
expect("values so far of a line", said["partial"] == {"a": [1, 2], "text": "h"}, said)
events = [json.loads(line) for line in run("-f", "terminal-agent", "--partial", "--stream", "--chunks", "1", reply=cut)[1].splitlines()]
values = [event["partial"] for event in events if event["type"] == "arguments"]
expect("values so far of events", values[0] == {} and {"a": [1]} in values and values[-1] == {"a": [1, 2], "text": "h"}, values)
expect("and only there", all(("partial" in event) == (event["type"] == "arguments") for event in events), events)
expect("no chunk has them", run("-f", "terminal-agent", "--partial", "--openai-stream")[0] == 2, "")

# What the prompt says of reasoning is overruled, and so is what the format says of calls in it.
said = json.loads(run("-f", "terminal-agent", "--begin-in-reasoning", reply=b"R\n</think>\n\nC<|im_end|>")[1])["message"]
expect("a reply begins in reasoning", (said["reasoning_content"], said["content"]) == ("R", "C"), said)
line = json.dumps({"reply": "R\n</think>\n\nC<|im_end|>"}).encode()
said = json.loads(run("-f", "terminal-agent", "--begin-in-reasoning", "--jsonl", reply=line)[1])["message"]
expect("a reply of a line begins in reasoning", (said["reasoning_content"], said["content"]) == ("R", "C"), said)
call = b'a<tool_call>{"name": "f", "arguments": {}}</tool_call>b</think>C'
for flags, calls in (((), 1), (("--no-calls-in-reasoning",), 0)):
    said = json.loads(run("-f", "underscore-bot", *flags, reply=call)[1])["message"]
    expect("calls in reasoning", len(said.get("tool_calls", [])) == calls, said)

for arguments, reply, code, words in (
        ((), REPLY, 2, "give -t TEMPLATE"),
        (("-f", "chatglm4"), REPLY, 2, "did you mean 'chatglm3'?"),
        (("-t", "formats/no-such-file.jinja"), REPLY, 3, "no-such-file.jinja"),
        (("-f", "terminal-agent", "--chunks", "0"), REPLY, 2, "--chunks"),
        (("-f", "terminal-agent", "--conversation"), REPLY, 1, "no turns"),
        (("-f", "chatglm3", "--conversation"), b"Hello", 1, "does not begin with a turn"),
        (("-f", "chatglm3", "--conversation", "--stream"), b"", 2, "exclude each other"),
        (("-f", "terminal-agent", "--jsonl", "--chunks", "2"), b"", 2, "standard input"),
        (("-f", "terminal-agent", "--request", "nowhere.json"), b"", 3, "nowhere.json"),
        (("--reply-format", "nowhere.json"), b"", 3, "nowhere.json"),
        (("-f", "terminal-agent", ""), b"", 2, "REPLY: takes the name of a file"),
        (("-f", "terminal-agent", "nowhere.txt"), b"", 3, "nowhere.txt")):
    got = run(*arguments, reply=reply)
    expect(f"{arguments} is refused", got[0] == code and got[1] == "" and words in got[2], got)

# Special tokens that nobody told, and what the sandbox refuses, do not hide where the reply begins; eos_token ends it.
with tempfile.TemporaryDirectory() as folder:
    needy = pathlib.Path(folder) / "needy.jinja"
    needy.write_text("{{ bos_token + '' }}{% set l = [] %}{% set _ = l.append(1) %}{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}{% endfor %}"
                     "{% if add_generation_prompt %}[assistant]{% if think %}<think>{% else %}<think></think>{% endif %}{% endif %}")
    asked = {"messages": [{"role": "user", "content": "Q"}], "think": True, "eos_token": "[DONE]"}
    line = json.dumps({"id": 1, "request": asked, "reply": "R</think>A[DONE]"})
    code, out, errors = run("-t", str(needy), "--jsonl", reply=line.encode())
    answer = json.loads(out)
    expect("the prompt of a template that needs bos_token", code == 0 and "notes" not in answer, (out, errors))
    message = answer["message"]
    expect("reasoning that it opened, and the end of eos_token", (message.get("reasoning_content"), message["content"]) == ("R", "A"), answer)

# A message to go on with whose reasoning the template leaves out; a request without tools, for which an answer in JSON is no call.
with tempfile.TemporaryDirectory() as folder:
    dropping = pathlib.Path(folder) / "dropping.jinja"
    dropping.write_text(
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content.split('</think>')[-1] }}{% if m.tool_calls %}{% for c in m.tool_calls %}"
        "{{ {'name': c.function.name, 'parameters': c.function.arguments} | tojson }}{% endfor %}{% endif %}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% if thinking %}<think>{% endif %}{% endif %}", "utf-8")
    user = {"role": "user", "content": "Hi"}
    started = {"messages": [user, {"role": "assistant", "content": "", "reasoning_content": "I"}], "continue_final_message": True}
    answers = [("goes on with reasoning", started, " see</think>C", {"reasoning_content": " see", "content": "C"}),
               ("no tools, no call", {"messages": [user]}, '{"name": "f", "parameters": {}}', {"content": '{"name": "f", "parameters": {}}'})]
    for name, asked, reply, wanted in answers:
        line = json.dumps({"id": 1, "request": asked, "reply": reply})
        found = json.loads(run("-t", str(dropping), "--jsonl", reply=line.encode())[1])
        expect(name, found["message"] == {"role": "assistant", **wanted}, found)

# A request that the template refuses has a reply all the same.
with tempfile.TemporaryDirectory() as folder:
    refusing = pathlib.Path(folder) / "refusing.jinja"
    refusing.write_text("{% for m in messages %}{% if m.content == 'no' %}{{ raise_exception('not this') }}{% endif %}<{{ m.role }}>{{ m.content }}"
                        "</{{ m.role }}>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}", "utf-8")
    line = {"id": 1, "request": {"messages": [{"role": "user", "content": "no"}]}, "reply": "Yes</assistant>"}
    answer = json.loads(run("-t", str(refusing), "--jsonl", reply=json.dumps(line).encode())[1])
    expect("its message", answer["message"]["content"] == "Yes" and "not this" in answer["notes"][0], answer)
    request = pathlib.Path(folder) / "request.json"
    request.write_text(json.dumps(line["request"]), "utf-8")
    code, out, errors = run("-t", str(refusing), "--request", str(request), reply=b"Yes</assistant>")
    expect("and the note of one", code == 0 and json.loads(out)["message"]["content"] == "Yes" and "note:" in errors and "not this" in errors, errors)

expect.end()
