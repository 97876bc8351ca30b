"""Holds replies as answers of APIs against the APIs' own clients, the packages `openai`, `anthropic` and `ollama`.

    reply_api_oracle.py path/to/reply_api_dump [--count N] [--seed N] [--written path/to/parlance] [--share N]

Laws, for each reply of tests/replies, parts of them and random ones, for one of ten that templates write (written_replies.py, of one template
in --share), and for each way to cut them (at every byte, one reply in --share):
* the whole answer and each event are of the client's own pydantic types, strictly;
* what the client makes of the events is the whole answer;
* with all that a server knows (usage, logprobs, a stop text, members of the request) each has its place, and a reply that an error
  breaks off is an error to the client;
* every byte of content, reasoning and arguments is there, and a call that is not complete is marked.

Left to the client where it cannot do otherwise, and counted: surrogates alone are no text for it, and two calls of a response with one
call_id are one to it.
Begin reading at main.
"""
import argparse
import base64
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import written_replies  # noqa: E402
from template_files import CORPUS  # noqa: E402

try:
    import jiter
    from anthropic.lib.streaming._messages import accumulate_event
    from anthropic.types import Message, RawMessageStreamEvent
    from ollama import ChatResponse, GenerateResponse
    from openai import omit
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.lib.streaming.responses._responses import ResponseStreamState
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.responses import Response, ResponseStreamEvent
    from pydantic import TypeAdapter
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

MESSAGE_EVENT = TypeAdapter(RawMessageStreamEvent)
RESPONSE_EVENT = TypeAdapter(ResponseStreamEvent)
counted = collections.Counter()


class Broken(Exception):
    """A law that does not hold."""


def same(what, found, wanted):
    if found != wanted:
        raise Broken(f"{what}: {found!r}, not {wanted!r}")


def strictly(type_, value):
    validate = type_.validate_python if isinstance(type_, TypeAdapter) else type_.model_validate
    return validate(value, strict=True)


def may_have_surrogates(line):
    """Whether there is an escape or the bytes of one; most replies have none, and need not be searched."""
    return b"\\ud" in line.lower() or b"\xed" in line


def is_text(value):
    """Whether no surrogate stands alone in it, written out or as an escape in a call's arguments."""
    if isinstance(value, str):
        return not any("\ud800" <= c <= "\udfff" for c in value)
    if isinstance(value, dict):
        return all(is_text(key) and is_text(one) for key, one in value.items())
    return all(is_text(one) for one in value) if isinstance(value, list) else True


def shown_reasoning(line):
    """Reasoning that is nothing but white space is none."""
    return line["reasoning"] if line["reasoning"].strip(" \t\r\n") else ""


def calls_of(line):
    return line["message"]["message"].get("tool_calls", [])


def arguments_of(call):
    """What the model wrote, and for a custom tool's call its input."""
    return call["function"]["arguments"] if call["type"] == "function" else call.get("arguments"), call.get("custom", {}).get("input")


# ---- chat completions


def openai_whole(line):
    whole = line["whole"]
    strictly(ChatCompletion, whole)
    choice = whole["choices"][0]
    unnumbered = lambda message: {**message, "tool_calls": [{**call, "id": ""} for call in message.get("tool_calls", [])]}
    message = dict(choice["message"])
    same("the other name", message.pop("reasoning", None), message.get("reasoning_content"))
    same("message", unnumbered(message), unnumbered(line["message"]["message"]))
    same("finish_reason", choice["finish_reason"], line["message"]["finish_reason"])
    same("diagnostics", whole.get("reply_diagnostics", []), line["message"]["diagnostics"])


def openai_stream(line, events):
    state = ChatCompletionStreamState()
    for event in events:
        state.handle_chunk(strictly(ChatCompletionChunk, event))
    made, whole = state.current_completion_snapshot.to_dict(), line["whole"]
    same("role", events[0]["choices"][0]["delta"], {"role": "assistant", "content": ""})
    same("reasons", [e["choices"][0]["finish_reason"] for e in events], [None] * (len(events) - 1) + [whole["choices"][0]["finish_reason"]])
    same("diagnostics", events[-1].get("reply_diagnostics"), whole.get("reply_diagnostics"))
    for member in ("id", "model", "created"):
        same(member, made[member], whole[member])
    said, wanted = made["choices"][0]["message"], whole["choices"][0]["message"]
    for member in ("content", "reasoning_content", "reasoning"):
        same(member, said.get(member) or "", wanted.get(member) or "")
    calls, wanted_calls = said.get("tool_calls") or [], wanted.get("tool_calls", [])
    same("calls", len(calls), len(wanted_calls))
    for call, one in zip(calls, wanted_calls):
        same("complete", call.get("complete", True), one["complete"])
        same("an id", call["id"] == one["id"] or counted.update(["ids that came late"]) is None, True)
        name = one["function"]["name"] if one["type"] == "function" else one["custom"]["name"]
        same("name", call["function"]["name"], name)
        written, text = arguments_of(one)
        if written is not None:
            same("arguments", call["function"]["arguments"], written)
        else:
            same("input", json.loads(call["function"]["arguments"]), {"input": text})


# ---- messages


def anthropic_whole(line):
    whole = line["whole"]
    strictly(Message, whole)
    blocks = lambda kind: [block for block in whole["content"] if block["type"] == kind]
    same("content", "".join(block["text"] for block in blocks("text")), line["content"])
    same("reasoning", "".join(block["thinking"] for block in blocks("thinking")), shown_reasoning(line))
    same("calls", len(blocks("tool_use")), len(calls_of(line)))
    for block, call in zip(blocks("tool_use"), calls_of(line)):
        written, text = arguments_of(call)
        same("complete", block.get("complete", True), call["complete"])
        if not call["complete"]:
            same("input", block["input"], {"INVALID_JSON": written})
        else:
            same("input", block["input"], json.loads(written) if written is not None else {"input": text})
    reason = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}[line["message"]["finish_reason"]]
    same("stop_reason", whole["stop_reason"], reason if all(call["complete"] for call in calls_of(line)) else "max_tokens")
    same("diagnostics", whole.get("reply_diagnostics", []), line["message"]["diagnostics"])


def can_read(pieces):
    """Whether the client's reader of JSON reads them; else it gives up on the whole stream."""
    try:
        jiter.from_json("".join(pieces).encode(), partial_mode=True)
    except (ValueError, UnicodeEncodeError):
        return False
    return True


def anthropic_stream(line, events):
    types = [event["type"] for event in events]
    same("order", (types[0], types[-2], types[-1]), ("message_start", "message_delta", "message_stop"))
    whole, pieces, made, buffers = line["whole"], collections.defaultdict(list), None, {}
    for event in events:
        if event["type"] == "content_block_delta" and event["delta"]["type"] == "input_json_delta":
            pieces[event["index"]].append(event["delta"]["partial_json"])
    readable = all(can_read(said) for said in pieces.values())
    if not readable:
        same("only surrogates alone are no JSON", any("\\ud" in "".join(said).lower() for said in pieces.values()), True)
        counted["surrogates alone"] += 1
    for event in events:
        made = accumulate_event(event=strictly(MESSAGE_EVENT, event), current_snapshot=made, json_bufs=buffers) if readable else made
    if not readable:
        return
    said = made.to_dict()
    for event in events:
        if event["type"] == "content_block_stop" and "content_block" in event:  # a call that is not complete
            block, one = event["content_block"], said["content"][event["index"]]
            written, known = block["input"]["INVALID_JSON"], "".join(pieces[event["index"]])
            same("a true beginning", written.startswith(known), True)
            same("the client's input", one["input"], jiter.from_json(known.encode(), partial_mode=True) if known else {})
            said["content"][event["index"]] = block
    for block, wanted in zip(said["content"], whole["content"]):
        if block["type"] == "tool_use" and block["id"] != wanted["id"]:
            counted["ids that came late"] += 1
            block["id"] = wanted["id"]
    same("the message", {key: said[key] for key in whole if key != "reply_diagnostics"},
         {key: whole[key] for key in whole if key != "reply_diagnostics"})
    same("diagnostics", events[-2].get("reply_diagnostics"), whole.get("reply_diagnostics"))


# ---- responses


def responses_whole(line):
    whole = line["whole"]
    answer = strictly(Response, whole)
    same("content", answer.output_text, line["content"])
    items = lambda *kinds: [item for item in whole["output"] if item["type"] in kinds]
    same("reasoning", "".join(part["text"] for item in items("reasoning") for part in item["content"]), shown_reasoning(line))
    calls = items("function_call", "custom_tool_call")
    same("calls", [item["name"] for item in calls], [call[call["type"]]["name"] for call in calls_of(line)])
    for item, call in zip(calls, calls_of(line)):
        same("kind", item["type"], {"function": "function_call", "custom": "custom_tool_call"}[call["type"]])
        same("arguments", (item.get("arguments"), item.get("input")), arguments_of(call))
        same("status", item["status"], "completed" if call["complete"] else "incomplete")
    same("status", whole["status"], "incomplete" if line["message"]["finish_reason"] == "length" else "completed")
    same("diagnostics", whole.get("reply_diagnostics", []), line["message"]["diagnostics"])


def responses_stream(line, events):
    whole = line["whole"]
    same("sequence numbers", [event["sequence_number"] for event in events], list(range(len(events))))
    same("order", (events[0]["type"], events[1]["type"], events[-1]["type"]), ("response.created", "response.in_progress", f"response.{whole['status']}"))
    ids = [item["call_id"] for item in events[-1]["response"]["output"] if "call_id" in item]
    state = ResponseStreamState(input_tools=omit, text_format=omit)
    if len(ids) != len(set(ids)):
        counted["two calls with one id"] += 1
        state = None
    deltas, done = collections.defaultdict(str), {}
    for event in events:
        made = strictly(RESPONSE_EVENT, event)
        if state is not None:
            last = state.handle_event(made)
        if event["type"].endswith(".delta"):
            deltas[event["output_index"]] += event["delta"]
        elif event["type"] == "response.output_item.done":
            done[event["output_index"]] = event["item"]
    final = events[-1]["response"]
    same("items", [done[i] for i in range(len(done))], final["output"])
    for i, item in enumerate(final["output"]):
        text = item["content"][0]["text"] if "content" in item else item["input"] if item["type"] == "custom_tool_call" else item["arguments"]
        same("deltas", deltas[i], text)
    if state is not None:
        same("the client's response", last[-1].response.to_dict()["output"] if whole["status"] == "incomplete" else
             unparsed(last[-1].response.to_dict()["output"]), final["output"])
    for item, wanted in zip(final["output"], whole["output"]):
        if item.get("call_id") != wanted.get("call_id"):
            counted["ids that came late"] += 1
            item["call_id"] = wanted["call_id"]
    same("the response", final, whole)


# ---- Ollama


def ollama_type(line_of_stream):
    return GenerateResponse if "response" in line_of_stream else ChatResponse


def ollama_message(one):
    """The message, of either kind of answer."""
    return {**one, "content": one["response"]} if "response" in one else one["message"]


def ollama_whole(line):
    whole = line["whole"]
    strictly(ollama_type(whole), whole)
    message, wanted = ollama_message(whole), line["message"]["message"]
    same("content", message["content"], wanted["content"] or "")
    same("thinking", message.get("thinking", ""), shown_reasoning(line))
    calls = message.get("tool_calls", [])
    same("calls", len(calls), len(calls_of(line)))
    for number, (call, one) in enumerate(zip(calls, calls_of(line))):
        written, text = arguments_of(one)
        wanted = {"INVALID_JSON": written} if not one["complete"] else json.loads(written) if written is not None else {"input": text}
        same("call", call["function"], {"index": number, "name": one[one["type"]]["name"], "arguments": wanted})
        same("complete", call.get("complete", True), one["complete"])
    cut = line["message"]["finish_reason"] == "length" or any(not call["complete"] for call in calls_of(line))
    same("end", (whole["done"], whole["done_reason"]), (True, "length" if cut else "stop"))
    same("diagnostics", whole.get("reply_diagnostics", []), line["message"]["diagnostics"])


def ollama_stream(line, events, whole=None):
    whole = whole or line["whole"]
    for event in events:
        strictly(ollama_type(event), event)
    said = [ollama_message(event) for event in events]
    same("done", [event["done"] for event in events], [False] * (len(events) - 1) + [True])
    no_part = lambda one: {key: value for key, value in one.items() if key not in ("message", "response", "thinking", "tool_calls", "logprobs")}
    same("the end", no_part(events[-1]), no_part(whole))
    made = ollama_message(whole)
    for member in ("content", "thinking"):
        same(member, "".join(one.get(member, "") for one in said), made.get(member, ""))
    same("calls", [call for one in said for call in one.get("tool_calls", [])], made.get("tool_calls", []))


# ---- with all that a server knows


def check_tokens(line, items):
    """Whether they are the reply's. Bytes that are no text are replaced in `reply`, and not in `bytes`."""
    if "\ufffd" not in line["reply"]:
        same("tokens", b"".join(bytes(item["bytes"]) for item in items), line["reply"].encode())


def check_logprobs(items):
    for item in items:
        same("logprob", (item["logprob"], item["top_logprobs"]), (-0.5, [{"token": "x", "logprob": -2.25, "bytes": [120]}]))


def openai_server(line, events, whole):
    strictly(ChatCompletion, whole)
    for event in events:
        strictly(ChatCompletionChunk, event)
    usage = {"prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42, "prompt_tokens_details": {"cached_tokens": 20},
             "completion_tokens_details": {"reasoning_tokens": 5}}
    same("usage", [event["usage"] for event in events], [None] * (len(events) - 1) + [usage])
    same("usage", (events[-1]["choices"], whole["usage"]), ([], usage))
    choices = [event["choices"][0] for event in events[:-1]]
    same("index", {choice["index"] for choice in [*choices, whole["choices"][0]]}, {2})
    reason, natural = whole["choices"][0]["finish_reason"], line["message"]["finish_reason"]
    same("finish_reason", reason, natural if calls_of(line) else "stop")
    same("finish_reason", choices[-1]["finish_reason"], reason)
    logprobs = [item for choice in choices for item in (choice["logprobs"] or {"content": []})["content"]]
    same("logprobs", logprobs, (whole["choices"][0]["logprobs"] or {"content": []})["content"])
    check_tokens(line, logprobs)
    check_logprobs(logprobs)
    message = whole["choices"][0]["message"]
    same("reasoning", "".join(choice["delta"].get("reasoning", "") for choice in choices), message.get("reasoning", ""))
    same("one name", any("reasoning_content" in said for said in [message, *(choice["delta"] for choice in choices)]), False)


def openai_failed(events, whole):
    same("error", whole, {"error": {"message": "the engine is gone", "type": "server_error", "param": None, "code": None}})
    same("error", events[-1], whole)
    for event in events[:-1]:
        strictly(ChatCompletionChunk, event)


def anthropic_server(line, events, whole):
    strictly(Message, whole)
    for event in events:
        strictly(MESSAGE_EVENT, event)
    known = {"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 20}
    same("usage", events[0]["message"]["usage"], {**known, "output_tokens": 0})
    at_end = {**known, "output_tokens": 12, "output_tokens_details": {"thinking_tokens": 5}}
    same("usage", (events[-2]["usage"], whole["usage"]), (at_end,) * 2)
    stop = {key: whole[key] for key in ("stop_reason", "stop_sequence")}
    same("stop", events[-2]["delta"], stop)
    if not calls_of(line):
        same("stop", stop, {"stop_reason": "stop_sequence", "stop_sequence": "STOP"})
    else:
        same("stop", (stop["stop_reason"] in ("tool_use", "max_tokens"), stop["stop_sequence"]), (True, None))
    signed = {event["index"]: event["delta"]["signature"] for event in events if event.get("delta", {}).get("type") == "signature_delta"}
    blocks = {i: block for i, block in enumerate(whole["content"]) if block["type"] == "thinking"}
    if "\ufffd" not in line["reply"]:  # which may stand for a byte that is no text
        same("signatures", signed, {i: f"s{len(block['thinking'].encode())}" for i, block in blocks.items()})
    same("signatures", signed, {i: block["signature"] for i, block in blocks.items()})


def anthropic_failed(events, whole):
    same("error", whole, {"type": "error", "error": {"type": "overloaded_error", "message": "the engine is gone"}})
    same("error", events[-1], whole)
    for event in events[:-1]:
        strictly(MESSAGE_EVENT, event)


def responses_server(line, events, whole):
    strictly(Response, whole)
    for event in events:
        strictly(RESPONSE_EVENT, event)
    for response in (whole, events[0]["response"], events[-1]["response"]):
        same("members", (response["temperature"], response["instructions"], response["metadata"], response["tools"][0]["name"], response["top_p"]),
             (0.5, "Be brief.", {}, "f", 1.0))
        same("no other members", "input" in response, False)
    same("usage", (events[0]["response"]["usage"], events[-1]["response"]["usage"]), (None, whole["usage"]))
    same("usage", whole["usage"], {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 0}, "output_tokens": 12,
                                   "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 42})
    deltas = collections.defaultdict(list)
    for event in events:
        if event["type"] == "response.output_text.delta":
            deltas[event["output_index"]] += event["logprobs"]
        elif event["type"] == "response.output_text.done":
            same("logprobs", event["logprobs"], deltas[event["output_index"]])
    summarised = len(line["reply"].encode()) % 2 == 0
    for number, item in enumerate(whole["output"]):
        if item["type"] == "reasoning":
            same("where reasoning is", ("content" in item, bool(item["summary"])), (not summarised, summarised))
            text = (item["summary"] if summarised else item["content"])[0]["text"]
            said = [event for event in events if event.get("output_index") == number and "reasoning" in event["type"]]
            same("its events", {event["type"].split(".")[1] for event in said},
                 {"reasoning_summary_part", "reasoning_summary_text"} if summarised else {"reasoning_text"})
            same("its deltas", "".join(event["delta"] for event in said if event["type"].endswith(".delta")), text)
            if is_text(text):
                same("what is sealed", base64.b64decode(item["encrypted_content"].removeprefix("parlance1.")).decode(), text)
        if item["type"] == "message":
            same("logprobs", item["content"][0]["logprobs"], deltas[number])
            check_logprobs(deltas[number])
    if line["content"] == line["reply"]:  # no markup, whose tokens are of no text
        counted["replies of text alone"] += 1
        check_tokens(line, [item for items in deltas.values() for item in items])


def responses_failed(events, whole):
    strictly(Response, whole)
    for event in events:
        strictly(RESPONSE_EVENT, event)
    same("types", [event["type"] for event in events[-2:]], ["error", "response.failed"])
    same("error", (events[-2]["message"], events[-1]["response"]), ("the engine is gone", whole))
    same("status", (whole["status"], whole["error"]), ("failed", {"code": "server_error", "message": "the engine is gone"}))
    same("sequence numbers", [event["sequence_number"] for event in events], list(range(len(events))))


def ollama_server(line, events, whole):
    ollama_stream(line, events, whole)
    strictly(ollama_type(whole), whole)
    logprobs = [item for event in events for item in event.get("logprobs", [])]
    same("logprobs", logprobs, whole.get("logprobs", []))
    check_tokens(line, logprobs)
    check_logprobs(logprobs)
    same("kind", ("response" in whole, "message" in whole), (len(line["reply"].encode()) % 2 == 1, len(line["reply"].encode()) % 2 == 0))
    numbers = {"total_duration": 10, "load_duration": 2, "prompt_eval_count": 30, "prompt_eval_duration": 3, "eval_count": 12, "eval_duration": 5}
    same("numbers", {key: whole[key] for key in numbers}, numbers)
    same("date", whole["created_at"], "2023-11-14T22:13:20Z")


def ollama_failed(events, whole):
    same("error", (events[-1], whole), ({"error": "the engine is gone"},) * 2)
    for event in events[:-1]:
        strictly(ollama_type(event), event)


def unparsed(value):
    """Without what the client adds for who gives it a type to read into."""
    if isinstance(value, dict):
        return {key: unparsed(one) for key, one in value.items() if key not in ("parsed", "parsed_arguments")}
    return [unparsed(one) for one in value] if isinstance(value, list) else value


LAWS = {"openai": (openai_whole, openai_stream, openai_server, openai_failed),
        "anthropic": (anthropic_whole, anthropic_stream, anthropic_server, anthropic_failed),
        "responses": (responses_whole, responses_stream, responses_server, responses_failed),
        "ollama": (ollama_whole, ollama_stream, ollama_server, ollama_failed)}


def check(text, line):
    if may_have_surrogates(text) and not is_text([line["whole"], line["streams"], line["server"], line["failed"]]):
        counted["surrogates alone"] += 1
        return
    whole, stream, server, failed = LAWS[line["api"]]
    whole(line)
    server(line, line["server"]["events"], line["server"]["whole"])
    failed(line["failed"]["events"], line["failed"]["whole"])
    for events in line["streams"]:
        stream(line, events)
        counted["streams"] += 1
        counted["events"] += len(events)


def write_material(program, share, folder):
    """A file like those of tests/replies for one template in `share`; their number."""
    made = 0
    for name, template in list(written_replies.templates(ROOT, CORPUS))[::share]:
        derived = written_replies.derive(program, template)
        if derived is None or derived["verdict"] == "none":
            continue
        replies = written_replies.replies_of(program, template, derived)[::10]
        material = {"format": derived["format"], "tools": written_replies.TOOLS,
                    "replies": [{"prompt": reply.prompt, "reply": reply.text, "message": {}} for reply in replies]}
        (pathlib.Path(folder) / f"{made}.json").write_text(json.dumps(material), encoding="utf-8")
        made += 1
        counted["written replies"] += len(replies)
    return made


def faults_of(command):
    """How many replies break a law; says the first ones."""
    broken = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as dump:
        for text in dump.stdout:
            line = json.loads(text)
            counted[line["api"]] += 1
            try:
                check(text, line)
            except Exception as error:  # a client's complaint is a fault, too
                broken += 1
                if broken <= 10:
                    print(f"{line['api']}: {line['reply']!r}: {type(error).__name__}: {str(error)[:600]}")
    if dump.returncode != 0:
        print(f"the dump failed with {dump.returncode}")
    return broken + (dump.returncode != 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dump")
    parser.add_argument("--count", default="200")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--written", metavar="PROGRAM")
    parser.add_argument("--share", type=int, default=1)
    arguments = parser.parse_args()
    broken = faults_of([arguments.dump, arguments.count, arguments.seed, str(arguments.share)])
    if arguments.written:
        with tempfile.TemporaryDirectory() as folder:
            made = write_material(arguments.written, arguments.share, folder)
            broken += faults_of([arguments.dump, "0", arguments.seed, str(arguments.share), folder]) + (made == 0)
    few = any(counted[api] < (300 if arguments.share == 1 else 75) for api in LAWS) or counted["surrogates alone"] * 10 > counted["streams"]
    few = few or counted["replies of text alone"] < (20 if arguments.share == 1 else 5)
    few = few or (arguments.written and counted["written replies"] < (20 if CORPUS.exists() else 5))
    print(", ".join(f"{number} {what}" for what, number in sorted(counted.items())) + f"; {broken} faults" + ", and too few" * bool(few))
    return bool(broken or few)


if __name__ == "__main__":
    sys.exit(main())
