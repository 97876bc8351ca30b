#!/usr/bin/env python3
"""Data sets on the command line: what rows keep, what is said of them at the end, and verdicts on them.

    run_data_tests.py path/to/parlance [NAME...]

Each test is a function below. Begin reading at run in rows.py.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import check
import rows
from rows import BINARY, TOKENIZER, answers, has, lines_of, row, run, turns
from rows import render_lines as render

# ---- what rows keep


def test_members_of_a_row_are_kept(folder):
    rows = [row("a", id=1, source="web", split="train", meta={"n": [1.5, None]}), row("b", source="book"), {"id": 3, "source": "bad"}]
    out, said = render(folder, "--keep", "source,meta", "--keep", "nothing", stdin=lines_of(rows))
    first, second, third = answers(out)
    assert (
        list(first) == ["id", "source", "meta", "text", "generation"] and first["source"] == "web" and first["meta"] == {"n": [1.5, None]}
    ), first
    assert list(second) == ["source", "text", "generation"], second
    assert third["source"] == "bad" and third["line"] == 3 and third["id"] == 3 and third["error"], third
    has(said, "--keep nothing: no line has it")
    out, said = render(folder, "--keep", "all", stdin=lines_of(rows))
    assert list(answers(out)[0]) == ["id", *list(rows[0])[:1], "source", "split", "meta", "text", "generation"], out
    assert answers(out)[0]["messages"] == rows[0]["messages"] and "no line" not in said


def test_a_member_that_the_answer_has_itself_is_told(folder):
    out, said = render(folder, "--keep", "text,source", stdin=lines_of([row("a", text="the row's", source="web"), row("b")]))
    assert answers(out)[0]["text"] == "[a]" and answers(out)[0]["source"] == "web"
    has(said, "--keep text: the answer has a member of this name, which stands in 1 of 2 lines in place of the row's")


def test_what_keep_says_and_writes(folder):
    rows = lines_of([row("a", id=1, source="web", line=7, error="none"), {"id": 2, "source": "web", "line": 8}])
    out, said = render(folder, "--keep", "source,source", "--keep", "source,id", stdin=rows)
    assert out.splitlines()[0].count(b'"source"') == 1 and "--keep" not in said, (out, said)
    out, said = render(folder, "--keep", "line,error", stdin=rows)
    first, second = answers(out)
    assert "line" not in first and "error" not in first and second["line"] == 2, out
    has(said, "--keep line: answers that are errors have a member of this name, so the row's is not kept in 2 of 2 lines", "--keep error: answers that are")
    assert set(answers(render(folder, "--keep", "all", stdin=rows)[0])[0]) == {"id", "messages", "source", "text", "generation"}
    out, said = run(folder, "convert", "--as", "openai", "--bare", "--jsonl", "--keep", "messages,source", stdin=lines_of([row("a", source="web")]))
    assert answers(out)[0]["source"] == "web" and "--keep" not in said, (out, said)


def test_keep_goes_with_each_command(folder):
    rows = lines_of([row("a", reply="Hello", source="web")])
    for words in (("read", "-f", "terminal-agent"), ("convert", "--as", "responses")):
        assert answers(run(folder, *words, "--jsonl", "--keep", "source", stdin=rows)[0])[0]["source"] == "web", words
    for keep in ("source,", ",source", "a,,b"):
        has(render(folder, "--keep", keep, stdin=rows, code=2)[1], "a name is empty")
    has(run(folder, "render", "-t", "t.jinja", "--keep", "source", stdin="{}", code=2)[1], "--keep is for --jsonl")


# ---- replies

TAGS = {"calls": [{"call": ["<f=", {"name": True}, ">", {"arguments": {"tags": {"open": "<p=", "key_close": ">", "close": "</p>"}}}, "</f>"]}]}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"s": {"type": "string"}, "n": {"type": "integer"}}}}}]
TAGGED = "<f=f><p=s>42</p><p=n>42</p></f>"


def read(folder, *words, rows, **options):
    out, said = run(folder, "read", *words, "--jsonl", stdin=lines_of(rows), **options)
    return answers(out), said


def test_a_row_of_replies_is_a_request_itself(folder):
    """By its messages and tools, as `request` would be one."""
    (folder / "tags.json").write_text(json.dumps(TAGS))
    request = {**row("Hi"), "tools": TOOLS}
    rows = [{"reply": TAGGED}, {"reply": TAGGED, "tools": TOOLS}, {"reply": TAGGED, **request}, {"reply": TAGGED, "request": request},
            {"reply": TAGGED, "tools": None, "messages": None, "request": None}]
    found, _ = read(folder, "--reply-format", "tags.json", rows=rows)
    arguments = [json.loads(one["message"]["tool_calls"][0]["function"]["arguments"]) for one in found]
    typed, untyped = {"s": "42", "n": 42}, {"s": 42, "n": 42}
    assert arguments == [untyped, typed, typed, typed, untyped], arguments
    # The end of the prompt opens reasoning, or goes on with a message.
    opens = {"reply": "R\n</think>\n\nC<_end>"}
    for given in ({**opens, **row("Hi", source="web", id=5)}, {**opens, "request": row("Hi")}):
        message = read(folder, "-f", "underscore-bot", rows=[given])[0][0]["message"]
        assert (message["reasoning_content"], message["content"]) == ("R", "C"), message
    found, said = read(folder, "-f", "terminal-agent", rows=[{"reply": "x", "messages": 5}, {"reply": "x", "tools": 5}, {"reply": "x", **row("Hi"), "request": row("Ho")}])
    assert found[0]["error"]["path"] == "messages" and found[1]["error"]["code"] == "conversation", found
    assert found[2]["notes"] == ["messages: not read, since `request` stands beside it"], found[2]


def test_ids_of_calls_are_the_same_in_each_run(folder):
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    rows = [{"reply": call * 2}, {"reply": call}, {"reply": call}, {"id": 7, "reply": call}] * 50
    first, _ = read(folder, "-f", "terminal-agent", "--threads", "1", rows=rows)
    ids = [one["id"] for answer in first for one in answer["message"]["tool_calls"]]
    assert len(set(ids)) == len(ids) == 250 and all(re.fullmatch("call_[0-9a-f]{24}", one) for one in ids), ids[:5]
    assert read(folder, "-f", "terminal-agent", "--threads", "3", rows=rows)[0] == first
    assert read(folder, "-f", "terminal-agent", "--skip-lines", "3", rows=rows)[0] == first[3:]
    numbered, _ = read(folder, "-f", "terminal-agent", "--number-calls", rows=rows[:1])
    assert [one["id"] for one in numbered[0]["message"]["tool_calls"]] == ["call_1", "call_2"]


# ---- tokens

def tokens(folder, *words, rows, **options):
    out, said = run(folder, "tokens", "-f", "chatml", "--tokenizer", TOKENIZER, "--jsonl", *words, stdin=lines_of(rows), **options)
    return answers(out), said


def test_a_run_ends_with_the_numbers_of_tokens(folder):
    rows = [turns("a" * 3 * i, "b", id=i) for i in range(1, 41)] + [row("only a question"), {"messages": 5}]
    found, said = tokens(folder, "--stats", "stats.json", rows=rows)
    sizes = sorted(len(one["ids"]) for one in found if "ids" in one)
    learnt = sum(label != -100 for one in found if "ids" in one for label in one["labels"])
    stats = json.loads((folder / "stats.json").read_text())
    assert stats["rows"] == len(sizes) == 41 and stats["rows_untrained"] == 1 and stats["rows_without_kinds"] == 0, stats
    assert stats["tokens"] == {"total": sum(sizes), "min": sizes[0], "median": sizes[20], "p95": sizes[38], "max": sizes[-1], "trained": learnt}, (stats, sizes)
    assert sum(stats["kinds"].values()) == learnt and stats["kinds"]["content"] > 0 and stats["kinds"]["stop"] > 0, stats
    has(said, f"note: 41 rows of {sum(sizes)} tokens, {learnt} of them learnt; a row has {sizes[0]} to {sizes[-1]}, median {sizes[20]}, 95 % at most {sizes[38]}",
        "note: 1 of 41 rows have nothing to learn: each of their labels is -100")
    assert "rows of" not in tokens(folder, "-q", rows=rows)[1]
    masked, _ = tokens(folder, "--stats", "stats.json", "--mask", "stop", rows=rows)
    stats = json.loads((folder / "stats.json").read_text())
    assert {kind for kind, count in stats["kinds"].items() if count} == {"stop"} and stats["tokens"]["trained"] == stats["kinds"]["stop"], stats
    has(tokens(folder, "--stats", "none/stats.json", rows=rows, code=3)[1], "none/stats.json")


def test_the_file_of_stats_is_no_other(folder):
    """Under none of its names, and whether it is there yet or not."""
    shutil.copytree(TOKENIZER, folder / "tokenizer")
    (folder / "chats.jsonl").write_text(lines_of([turns("a", "b")]))
    (folder / "mine.txt").write_text("mine")
    (folder / "a").mkdir()
    os.link(folder / "chats.jsonl", folder / "same")
    (folder / "link").symlink_to("chats.jsonl")
    command = [BINARY, "tokens", "-t", "t.jinja", "--tokenizer", "tokenizer", "--jsonl"]
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for name in ("-", "chats.jsonl", "same", "link", "./chats.jsonl", "out.jsonl", "a/../out.jsonl", "t.jinja", "tokenizer/tokenizer.json", "mine.txt"):
        done = subprocess.run([*command, "chats.jsonl", "-o", "out.jsonl", "--stats", name], capture_output=True, text=True, cwd=folder)
        assert done.returncode == 2 and f"--stats {name} is " in done.stderr, (name, done)
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == files, name
    for words in ("< chats.jsonl --stats chats.jsonl", "chats.jsonl >> mine.txt --stats mine.txt", "chats.jsonl >> new --stats new"):
        done = subprocess.run(" ".join(map(str, command)) + " " + words, shell=True, capture_output=True, text=True, cwd=folder)
        assert done.returncode == 2 and "is not a file of its own" in done.stderr, (words, done)
    has(tokens(folder, "--stats", "stats.json", "x.jsonl", rows=[], code=3)[1], "x.jsonl")
    assert not (folder / "stats.json").exists()
    tokens(folder, "--stats", "/dev/null", rows=[row("a")])


def test_stats_of_a_part_say_so(folder):
    rows = [turns("a" * i, "b") for i in range(1, 4)]
    stats = folder / "stats.json"
    tokens(folder, "--stats", "stats.json", rows=rows)
    assert json.loads(stats.read_text())["whole"] is True
    before = stats.read_bytes()
    for more in (("--skip-lines", 1), ("--append", "-o", "out.jsonl")):
        has(tokens(folder, "--stats", "stats.json", *more, rows=rows, code=2)[1], "would have the rows of this part alone", "--stats rest.json")
        assert stats.read_bytes() == before
    said = tokens(folder, "--stats", "rest.json", "--skip-lines", 1, rows=rows)[1]
    rest = json.loads((folder / "rest.json").read_text())
    assert (rest["rows"], rest["lines_skipped"], rest["whole"]) == (2, 1, False), rest
    has(said, "--stats rest.json: the numbers are those of a part of the input")


def test_rows_of_too_many_tokens(folder):
    rows = [turns("a", "b", id=1), turns("a" * 50, "b" * 50, id=2), turns("a", "b", id=3)]
    whole, _ = tokens(folder, rows=rows)
    most = len(whole[0]["ids"])
    found, said = tokens(folder, "--max-tokens", most, rows=rows)
    assert [("error" in one) for one in found] == [False, True, False] and (found[1]["error"]["code"], found[1]["error"]["type"]) == ("too_many_tokens", "ValueError"), found
    has(said, f"1 of 3 rows have more than {most} tokens: each is an error", "1 of 3 lines were answered by an error")
    found, said = tokens(folder, "--max-tokens", most, "--too-long", "drop", "--stats", "stats.json", rows=rows)
    assert found == [whole[0], whole[2]], found
    has(said, f"1 of 3 rows have more than {most} tokens: they are dropped", f"2 rows of {2 * most} tokens")
    stats = json.loads((folder / "stats.json").read_text())
    assert (stats["max_tokens"], stats["too_long"], stats["rows_too_long"]) == (most, "drop", 1), stats
    found, said = tokens(folder, "--max-tokens", most, "--too-long", "truncate", rows=rows)
    assert found[1] == {"id": 2, "ids": whole[1]["ids"][:most], "labels": whole[1]["labels"][:most], "truncated": len(whole[1]["ids"]) - most}, found[1]
    assert [found[0], found[2]] == [whole[0], whole[2]]
    has(said, f"1 of 3 rows have more than {most} tokens: they are cut", "1 of 3 rows have nothing to learn")
    shown = tokens(folder, "--json", "--max-tokens", most, "--too-long", "truncate", rows=rows)[0][1]
    assert len(shown["tokens"]) == len(shown["labels"]) == len(shown["ids"]) == most
    has(tokens(folder, "--max-tokens", "0", rows=rows, code=2)[1], "--max-tokens", "a whole number from 1")
    has(tokens(folder, rows=rows[:1])[1], "note: 1 row of ")
    has(tokens(folder, "--too-long", "drop", rows=rows, code=2)[1], "--too-long needs --max-tokens")
    (folder / "some.jsonl").write_text('{"a": 1}\n', "utf-8")
    on = ("--max-tokens", most, "--too-long", "drop", "--skip-lines", "1", "--append", "-o", "some.jsonl")
    has(tokens(folder, *on, rows=rows)[1], "the output has fewer lines than were read")
    has(run(folder, "tokens", "-f", "chatml", "--tokenizer", TOKENIZER, "--max-tokens", 5, stdin=json.dumps(rows[0]), code=2)[1], "--max-tokens is for --jsonl")


def test_roles_of_other_names_are_told(folder):
    rows = [{"messages": [{"role": "human", "content": "a"}, {"role": "gpt", "content": "b"}]}, row("c"), {"messages": [{"role": "gpt", "content": "b"}]}]
    wanted = ('2 of 3 lines have messages of the role "gpt", which the template does not know; is it "assistant"?',
              '1 of 3 lines have messages of the role "human", which the template does not know; is it "user"?')
    has(tokens(folder, rows=rows)[1], *wanted)
    has(render(folder, stdin=lines_of(rows))[1], *wanted)
    assert "role" not in render(folder, "-q", stdin=lines_of(rows))[1]
    (folder / "t.jinja").write_text("{% for m in messages %}{% if m.role == 'human' or m.role == \"gpt\" %}{{ m.content }}{% endif %}{% endfor %}")
    assert "does not know" not in render(folder, stdin=lines_of(rows))[1]


def test_speakers_are_the_same_for_each_command(folder):
    """Those of whom render asks whether they are another role, ShareGPT's rows have; and the other way round."""
    names = {"prompter": "user", "bot": "assistant", "ai": "assistant", "chatgpt": "assistant", "model": "assistant", "function_response": "tool", "tool_call": "assistant"}
    said = render(folder, stdin=lines_of([{"messages": [{"role": name, "content": "a"}]} for name in names]))[1]
    for name, role in names.items():
        has(said, f'messages of the role "{name}", which the template does not know; is it "{role}"?')
    made = run(folder, "convert", "--as", "openai", "--bare", "-q", "--jsonl", stdin=lines_of([{"conversations": [{"from": name, "value": "a"}]} for name in list(names)[:5]]))[0]
    assert [one["messages"][0]["role"] for one in answers(made)] == list(names.values())[:5], made


# ---- prefixes

FORGETS = "{% for m in messages %}[{{ m.role }}]{{ m.reasoning if loop.last else '' }}{{ m.content }}{% endfor %}"


def test_prefixes_of_lines(folder):
    (folder / "forgets.jinja").write_text(FORGETS)
    user, answer = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "hello", "reasoning": "well, "}
    plain = {"role": "assistant", "content": "hello"}
    rows = [{"id": 1, "a": {"messages": [user, answer]}, "b": {"messages": [user, answer, user]}}, {"id": 2, "messages": [user, plain, user, plain, user]},
            {"id": 3, "messages": [user, answer, user, answer, user]}, {"id": 4, "messages": [user]}, {"id": 5}, {"id": 6, "a": {"messages": 5}, "b": {}}]
    (folder / "a.json").write_text(json.dumps(rows[0]["a"]))
    (folder / "b.json").write_text(json.dumps(rows[0]["b"]))
    for more in ((), ("--tokenizer", TOKENIZER)):
        words = ("prefix", "-t", "forgets.jinja", *more)
        out, said = run(folder, *words, "--jsonl", stdin=lines_of(rows))
        found = answers(out)
        alone = json.loads(run(folder, *words, "--json", "a.json", "b.json")[0])
        assert found[0] == {"id": 1, **alone} and alone["lost"] > 0, (found[0], alone)
        assert (found[1]["turns"], found[1]["lost"], found[1]["difference"]) == (2, 0, None), found[1]
        assert (found[2]["turns"], found[2]["behind"]) == (2, 1) and found[2]["lost"] == 2 * alone["lost"], found[2]
        assert found[2]["difference"]["before"]["path"] == "messages[1].reasoning" and found[3]["turns"] == 0, found[2:4]
        assert [one["line"] for one in found[4:]] == [5, 6] and all("error" in one for one in found[4:]), found[4:]
        has(said, "2 of 6 lines have a prompt that does not go on from the one before", f"{3 * alone['lost']} {alone['unit']} are lost")
        run(folder, *words, "--jsonl", "--check", stdin=lines_of(rows), code=1)
        run(folder, *words, "--jsonl", "--check", stdin=lines_of(rows[1:2]))
    assert run(folder, *words, "-q", "--jsonl", stdin=lines_of(rows[:4]))[1] == ""
    has(run(folder, "prefix", "-t", "forgets.jinja", code=2)[1], "two requests are compared: A and B")
    has(run(folder, "prefix", "-t", "forgets.jinja", "--jsonl", "a.json", "b.json", code=2)[1], "--jsonl reads one file", "paste A B")
    command = "paste A B | jq -c -R 'split(\"\\t\") | {a: .[0] | fromjson, b: .[1] | fromjson}'"
    if shutil.which("jq"):
        (folder / "A").write_text(lines_of([rows[0]["a"]]))
        (folder / "B").write_text(lines_of([rows[0]["b"]]))
        made = subprocess.run(command, shell=True, capture_output=True, check=True, text=True, cwd=folder).stdout
        assert json.loads(made) == {"a": rows[0]["a"], "b": rows[0]["b"]}


def test_prefixes_are_those_of_the_prompts_that_a_model_sees(folder):
    """A template that opens reasoning for a model, and writes the past without it: what is lost is its own opening."""
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}] * 3
    prompts = [messages[:1], messages[:3], messages[:5]]
    for i, prompt in enumerate(prompts):
        (folder / f"{i}.json").write_text(json.dumps({"messages": prompt}))
    pairs = [json.loads(run(folder, "prefix", "-f", "underscore-bot", "--json", f"{i}.json", f"{i + 1}.json")[0]) for i in (0, 1)]
    rows = [{"messages": messages}, {"messages": messages[:5], "add_generation_prompt": False}]
    for found in answers(run(folder, "prefix", "-f", "underscore-bot", "--jsonl", stdin=lines_of(rows))[0]):
        assert [found[name] for name in ("shared", "lost", "new")] == [sum(pair[name] for pair in pairs) for name in ("shared", "lost", "new")], found
        assert (found["lost"], found["turns"], found["behind"], found["difference"]) == (16, 2, 1, pairs[0]["difference"]), found
    said = run(folder, "prefix", "-f", "chatml", "--tokenizer", TOKENIZER, "--trust", "messages[9].content", "--jsonl", stdin=lines_of(rows))[1]
    has(said, "messages[9].content")


def test_rows_at_which_nothing_could_be_looked_at_are_told(folder):
    rows = [{"messages": [{"role": "human", "content": "a"}, {"role": "gpt", "content": "b"}]}, {"messages": ["a", 5]}, turns("a", "b"), {"text": "a"}]
    for command in ("check", "prefix"):
        out, said = run(folder, command, "-f", "chatml", "--jsonl", stdin=lines_of(rows))
        found = answers(out)
        assert ["error" in one for one in found] == [False, True, False, True] and found[1]["error"]["path"] == "messages[0]", found
        assert found[3]["error"]["message"] == "the request has no `messages`" and "convert" not in found[3]["error"]["hint"], found[3]
        has(said, "1 of 4 lines have no turn of an assistant's", '1 of 4 lines have messages of the role "gpt", which the template does not know; is it "assistant"?')
    assert "--as-is" not in run(folder, "check", "-f", "chatml", "--jsonl", stdin=lines_of(rows))[0].decode()


# ---- turns that read back

def test_turns_of_rows_are_read_back(folder):
    user = {"role": "user", "content": "Hi"}
    call = {"type": "function", "function": {"name": "f", "arguments": {"s": "x", "n": 1}}}
    good = {"id": 1, "tools": TOOLS, "messages": [user, {"role": "assistant", "reasoning_content": "r", "content": "Ho"}, user,
                                                  {"role": "assistant", "content": "Look.", "tool_calls": [call]}, {"role": "tool", "content": "3"},
                                                  {"role": "assistant", "content": [{"type": "text", "text": "done"}]}]}
    typed = {"id": 2, "messages": [user, {"role": "assistant", "content": 'I call <tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>'}]}
    as_text = {"id": 3, "messages": [user, {"role": "assistant", "content": "", "tool_calls": [{**call, "function": {"name": "f", "arguments": '{"n": 1,  "s": "x"}'}}]}]}
    rows = [good, typed, as_text, {"id": 4, "messages": [user]}, {"id": 5}]
    out, said = run(folder, "check", "-f", "terminal-agent", "--jsonl", stdin=lines_of(rows), code=1)
    found = answers(out)
    assert found[0] == {"id": 1, "turns": 3, "holds": True, "faults": []} and found[2]["holds"], (found[0], found[2])
    assert not found[1]["holds"] and {(one["message"], one["part"]) for one in found[1]["faults"]} == {(1, "content"), (1, "calls")}, found[1]
    assert found[1]["faults"][0]["wanted"] == typed["messages"][1]["content"] and found[1]["faults"][0]["read"] == "I call ", found[1]
    assert found[3] == {"id": 4, "turns": 0, "holds": True, "faults": []} and found[4]["line"] == 5, found[3:]
    has(said, "1 of 5 lines have a turn that does not read back as its message: 1 × calls, 1 × content; `faults` of each names it", "1 of 5 lines were answered by an error")
    run(folder, "check", "-f", "terminal-agent", "--jsonl", stdin=lines_of([good, as_text]))
    undeclared = answers(run(folder, "check", "-f", "terminal-agent", "--jsonl", stdin=lines_of([{**typed, "tools": TOOLS}]), code=1)[0])[0]
    assert [one["part"] for one in undeclared["faults"]] == ["content", "calls", "form"], undeclared
    # A template without a place for calls and reasoning.
    found = answers(run(folder, "check", "-f", "chatml", "--jsonl", stdin=lines_of([good]), code=1)[0])
    assert [(one["message"], one["part"]) for one in found[0]["faults"]] == [(1, "reasoning"), (3, "calls")], found
    for name in ("chatglm3", "rnj-1", "underscore-bot"):
        run(folder, "check", "-f", name, "--jsonl", stdin=lines_of([{"messages": good["messages"][2:], "tools": TOOLS}]))
    has(run(folder, "check", "-f", "chatml", "rows.jsonl", code=2)[1], "rows are read with --jsonl")
    has(run(folder, "check", "--jsonl", code=2)[1], "give -t TEMPLATE, -m MODEL or -f FORMAT")


def test_turns_of_rows_are_compared_as_what_they_say(folder):
    user = {"role": "user", "content": "Hi"}

    def check_turn(message, *words, **more):
        words = words or ("-f", "terminal-agent")
        return answers(run(folder, "check", *words, "--jsonl", stdin=lines_of([{"messages": [user, message], **more}]))[0])[0]

    def call(arguments):
        return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": arguments}}]}

    assert check_turn({"role": "assistant", "content": [{"type": "text", "text": "done"}, {"type": "text", "text": " and"}]})["holds"]
    shown = (pathlib.Path(__file__).resolve().parents[2] / "formats/terminal-agent.jinja").read_text("utf-8")
    (folder / "whole.jinja").write_text(shown.replace("call.arguments | tojson", "call.arguments | tojson | replace('1.0', '1')"))
    assert check_turn(call({"n": 1.0}), "-t", "whole.jinja")["holds"]  # the template writes 1
    markup = {"role": "assistant", "content": "<think>x</think>y"}
    assert check_turn({**markup, "weight": 0})["turns"] == 0
    rows = lines_of([{"messages": [user, {"role": "assistant", "content": "Yo", **more}]} for more in
                     ({"thinking_blocks": [{"type": "thinking", "thinking": "hm"}]}, {"reasoning": {"text": "hm"}}, {"reasoning_details": [{"text": "hm"}]}, {"name": "Bo"})])
    for name in ("chatml", "terminal-agent"):
        found = answers(run(folder, "check", "-f", name, "--jsonl", stdin=rows, code=1)[0])
        assert found[0]["faults"] == [{"message": 1, "part": "lost", "wanted": "messages[1].thinking_blocks[0].thinking", "read": "not in the prompt"}], found[0]
        assert [one["holds"] for one in found] == [False, False, False, True], found
    found = answers(run(folder, "check", "-f", "chatml", "--jsonl", stdin=lines_of([{"messages": [user, {"role": "assistant", "content": "Yo", "reasoning": "hm"}]}]), code=1)[0])
    assert [one["part"] for one in found[0]["faults"]] == ["reasoning"], found
    assert run(folder, "check", "-f", "chatml", "-q", "--jsonl", stdin=rows, code=1)[1] == ""


# ---- what a row may be

def test_rows_that_are_no_conversation_are_told_as_what_they_are(folder):
    turn = [{"role": "user", "content": "Hi"}]
    for given, hint in (({"text": "a"}, "a row of `text` is no conversation"), ({"question": "a", "answer": "b"}, "a row of `question` and `answer`: as a chat"),
                        ({"dialog": turn}, "`dialog` is a list of messages: name it `messages`"), ({"chosen": turn, "rejected": turn}, "a row of preferences"),
                        ({"input": {"messages": turn}, "preferred_output": turn}, "a row of preferences: `input.messages` with"),
                        ({"x": 1}, "a conversation is `messages`, a list of objects with role and content; a template that reads other members gets them by --as-is")):
        error = answers(render(folder, stdin=lines_of([given]), code=1)[0])[0]["error"]
        assert error["message"] == "the request has no `messages`" and error["hint"].startswith(hint), error


sys.exit(check.run_tests(sys.modules[__name__], "tests of data sets", rows.world))
