#!/usr/bin/env python3
"""Tests of the next turn: `parlance tokens --extend` and `parlance prefix`, with the tokenizer of the tree.

    run_extend_tests.py path/to/parlance [NAME...]

Skipped (77) where the build reads no tokenizer.json.
"""

import json
import sys

from token_commands import HI, MORE, REPLY, ROOT, TEMPLATE, TOKENIZER, ids_of, main, refusal, run, tokens, write


def test_extend_keeps_replies_as_they_were_sampled(folder):
    """The template ends a past answer with another token than a model does, and writes other blanks around calls and their JSON."""
    marks = [word for name in ("start", "end", "message", "channel", "return", "call", "constrain") for word in ("--special-token", f"<|{name}|>")]
    words = ("tokens", "-t", str(ROOT / "tests" / "templates" / "families" / "spaced_recipients.jinja"), "--tokenizer", TOKENIZER, *marks)

    def ids(text):
        write(folder, "text.jinja", text)
        done = run(folder, "tokens", "-t", "text.jinja", *words[3:], "-q", stdin='{"messages": []}')
        assert done.returncode == 0, done.stderr
        return ids_of(done)

    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "x", "n": 1}'}}
    turns = [("<|channel|>final<|message|>Yes.<|return|>", {"content": "Yes."}, {"role": "user", "content": "And?"}, "<|start|>user<|message|>And?<|end|><|start|>assistant"),
             ("<|channel|>final<|message|> Yes.\n<|return|>", {"content": "Yes."}, {"role": "user", "content": "And?"}, "<|start|>user<|message|>And?<|end|><|start|>assistant"),
             (' to=functions.look<|channel|>commentary <|constrain|>json<|message|>{"n":1,  "at":"x"}<|call|>', {"content": "", "tool_calls": [call]},
              {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "a dog"},
              "<|start|>functions.look to=assistant<|channel|>commentary<|message|>a dog<|end|><|start|>assistant"),
             ("<|channel|>final<|message|>A dog.<|end|>", {"content": "A dog."}, {"role": "user", "content": "Bye"}, "<|start|>user<|message|>Bye<|end|><|start|>assistant")]
    messages, known = list(HI), ids("<|start|>user<|message|>Hi<|end|><|start|>assistant")
    for sampled, reply, behind, written in turns:
        known += ids(sampled)
        other = {"messages": [*messages, {"role": "assistant", "content": "Another."}, behind]}
        messages += [{"role": "assistant", **reply}, behind]
        write(folder, "ids.json", known)
        write(folder, "chat.json", {"messages": messages})
        done = run(folder, *words, "--extend", "ids.json", "chat.json")
        assert done.returncode == 0 and ids_of(done) == ids(written), (sampled, done)
        lines = "".join(json.dumps(chat) + "\n" for chat in ({"messages": messages}, other))
        write(folder, "ids.jsonl", f"{json.dumps(known)}\n" * 2)
        first, second = (json.loads(line) for line in run(folder, *words, "--jsonl", "--extend", "ids.jsonl", stdin=lines).stdout.splitlines())
        assert first["append"] == ids(written) and first["ids"] == known + ids(written), first
        assert second["error"]["code"] == "history_rewritten", second
        known += ids(written)


def extended(folder, requests, ids, *words):
    """--jsonl with --extend: (exit code, results, what was said)."""
    write(folder, "t.jinja", TEMPLATE)
    write(folder, "chats.jsonl", "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in requests))
    write(folder, "ids.jsonl", ids)
    done = run(folder, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "--jsonl", "chats.jsonl", "--extend", "ids.jsonl", *words)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def lines_of_ids(folder, requests):
    write(folder, "t.jinja", TEMPLATE)
    return run(folder, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "--jsonl",
               stdin="".join(json.dumps(request) + "\n" for request in requests)).stdout


def test_what_the_tokenizer_lacks_of_the_next_turn_is_a_loss(folder):
    """Of the new text alone: without a token, and with the unknown one."""
    write(folder, "t.jinja", "{% for m in messages %}<x>{{ m.content }}{% endfor %}")
    mark = {"id": 3, "content": "<x>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    head = {"version": "1.0", "added_tokens": [mark], "normalizer": None, "post_processor": None, "decoder": None}
    write(folder, "letters.json", {**head, "pre_tokenizer": None, "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}})
    write(folder, "words.json", {**head, "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1, "b": 2}, "unk_token": "<unk>"}})
    known = [{"role": "user", "content": "a \u65e5"}]
    turns = [*known, {"role": "assistant", "content": "b"}, {"role": "user", "content": "a \u65e5\u672c b"}]
    for tokenizer, says in (("letters.json", "makes no token of ' \u65e5\u672c '"), ("words.json", "has no token for '\u65e5\u672c'")):
        words = ("tokens", "-t", "t.jinja", "--tokenizer", tokenizer)
        write(folder, "chat.json", {"messages": known})
        write(folder, "ids.json", ids_of(run(folder, *words, "-q", "chat.json")))
        write(folder, "chat.json", {"messages": turns})
        done = run(folder, *words, "--extend", "ids.json", "chat.json")
        assert done.returncode == 0 and done.stderr.startswith(f"note: messages[2].content: the tokenizer {says}: ") and done.stderr.count("note:") == 1, done
        assert run(folder, *words, "--extend", "ids.json", "-q", "chat.json").stderr == ""
        strict = run(folder, *words, "--extend", "ids.json", "--strict", "chat.json")
        assert strict.returncode == 1 and strict.stdout == "" and "messages[2].content" in strict.stderr, strict
        told = json.loads(run(folder, *words, "--extend", "ids.json", "--json", "chat.json").stdout)
        assert [(one["subject"], one["path"]) for one in told["losses"]] == [("character", "messages[2].content")], told
        lines = run(folder, *words, "--extend", "ids.json", "--jsonl", stdin=json.dumps({"messages": turns}) + "\n")
        assert json.loads(lines.stdout) == told and "1 of 1 lines have something that is not in the prompt: 1 × character" in lines.stderr, lines
        failed = run(folder, *words, "--extend", "ids.json", "--jsonl", "--strict", stdin=json.dumps({"messages": turns}) + "\n")
        assert json.loads(failed.stdout)["error"]["code"] == "loss", failed


def test_extend_tells_another_conversation_from_one_that_is_rewritten(folder):
    other = [{"role": "user", "content": "What else?"}, {"role": "assistant", "content": "Nothing."}, {"role": "user", "content": "And?"}]
    for messages in (other, other[:1]):
        write(folder, "ids.json", ids_of(tokens(folder, HI)))
        write(folder, "chat.json", {"messages": messages})
        done = run(folder, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "chat.json", "--extend", "ids.json")
        assert done.returncode != 0 and "this conversation has no prompt of these tokens" in done.stderr, done
    changed = [*HI, {"role": "assistant", "content": "hello there"}, {"role": "user", "content": "And?"}]
    write(folder, "ids.json", ids_of(tokens(folder, HI)) + ids_of(tokens(folder, [{"role": "user", "content": "x"}]))[:3])
    write(folder, "chat.json", {"messages": changed})
    done = run(folder, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "chat.json", "--extend", "ids.json")
    assert done.returncode != 0 and "is not what was sampled" in done.stderr, done


def test_extend_answers_a_line_for_each_line(folder):
    """Line by line what it answers alone; the results are the ids of the next turn."""
    said = {"role": "assistant", "content": "hello there"}
    turns = [[*HI], [*HI, said, {"role": "user", "content": "And?"}], [*HI, said, {"role": "user", "content": "And?"}, said, {"role": "user", "content": "Bye"}]]
    requests = [[{"id": name, "messages": [{"role": "user", "content": name}, *turn[1:]]} for name in "xyz"] for turn in turns]
    before = lines_of_ids(folder, requests[0])
    for number in (1, 2):
        code, results, _ = extended(folder, requests[number], before)
        assert code == 0 and [r["id"] for r in results] == ["x", "y", "z"], results
        for result, request, old in zip(results, requests[number], before.splitlines()):
            write(folder, "one.json", old)
            alone = json.loads(tokens(folder, request["messages"], "--extend", "one.json", "--json").stdout)
            assert {k: v for k, v in result.items() if k != "id"} == alone, (result, alone)
            assert result["ids"] == ids_of(tokens(folder, request["messages"])), result
        before = "".join(json.dumps(result) + "\n" for result in results)
    wide = [requests[1][i % 3] for i in range(2000)]
    code, results, _ = extended(folder, wide, lines_of_ids(folder, [requests[0][i % 3] for i in range(2000)]), "--threads", "2")
    assert code == 0 and [r["id"] for r in results] == [r["id"] for r in wide] and all(r["canonical"] for r in results)


def test_extend_goes_on_past_bad_lines(folder):
    good = {"id": 1, "messages": [*HI, {"role": "assistant", "content": "hello"}, {"role": "user", "content": "And?"}]}
    first = lines_of_ids(folder, [{"id": 1, "messages": HI}]).strip()
    list_alone = " ".join(map(str, json.loads(first)["ids"]))
    cases = [(good, first, True), ("{", first, False), (good, "[1, 2", False), (good, '{"labels": []}', False),
             (good, '{"id": 1, "error": {"type": "X"}}', False), (good | {"id": 2}, first, False), (good, "1 2 3", False), (good, "1 x", False),
             ({"id": 9}, first, False), (good, list_alone, True), (good, "", False)]
    code, results, said = extended(folder, [request for request, _, _ in cases] + [good], "".join(ids + "\n" for _, ids, _ in cases))
    assert code == 0 and len(results) == len(cases) + 1, (code, results, said)
    for (request, ids, is_good), result in zip(cases, results):
        assert ("error" not in result) == is_good, (request, ids, result)
    assert results[0] == results[9] and results[1]["error"]["line"] == 2, results
    for number, words in ((2, "line 3 of 'ids.jsonl'"), (3, "no list"), (4, "no list"), (5, "of another request"), (7, "byte 2"), (10, "is blank"), (11, "it has 11 lines")):
        assert words in results[number]["error"]["message"], (number, results[number])
    assert "code" in results[6]["error"] and results[6]["error"]["code"] == "history_rewritten", results[6]
    assert extended(folder, [good, good], first, "--fail-on-error")[0] == 1


def test_extend_refuses_more_lines_than_requests(folder):
    chat = {"messages": [*HI, {"role": "assistant", "content": "hello"}, {"role": "user", "content": "And?"}]}
    first = lines_of_ids(folder, [{"messages": HI}])
    code, results, said = extended(folder, [chat], first + first)
    assert code == 3 and len(results) == 1 and "append" in results[0], (code, results, said)
    assert "line 2 of 'ids.jsonl' belongs to no request: the number of requests is 1" in said and "line N of IDS" in said, said
    assert extended(folder, [chat], first + "\n \n")[0] == 0


def test_extend_counts_no_blank_lines_among_the_requests(folder):
    later = [{"messages": [*HI, {"role": "assistant", "content": "hello"}, {"role": "user", "content": more}]} for more in ("And?", "So?")]
    write(folder, "t.jinja", TEMPLATE)
    write(folder, "ids.jsonl", lines_of_ids(folder, [{"messages": HI}, {"messages": HI}]))
    spread = "\n \n".join(json.dumps(chat) for chat in later) + "\n\n"
    done = run(folder, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "--jsonl", "--extend", "ids.jsonl", stdin=spread)
    assert [json.loads(line)["ids"] for line in done.stdout.splitlines()] == [ids_of(tokens(folder, chat["messages"])) for chat in later], done
    done = run(folder, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "--jsonl", "--extend", "ids.jsonl", stdin="\n\n{\n")
    assert json.loads(done.stdout)["error"]["line"] == 3, done


def test_extend_reads_what_json_prints(folder):
    reply = [*HI, {"role": "assistant", "content": "hello there"}, {"role": "user", "content": "And?"}]
    write(folder, "first", tokens(folder, HI, "--json").stdout)
    second = tokens(folder, reply, "--extend", "first", "--json")
    assert json.loads(second.stdout)["ids"] == ids_of(tokens(folder, reply))
    write(folder, "second", second.stdout)
    third = json.loads(tokens(folder, [*reply, {"role": "assistant", "content": "hello"}], "--extend", "second", "--json").stdout)
    assert third["ids"][:len(third["ids"]) - len(third["append"])] == json.loads(second.stdout)["ids"]
    for text, word in (('{"id": [1]}', 'no list "ids"'), ('{"ids": [1, "2"]}', "ids[1]"), ('{"ids": [-1]}', "ids[0]"),
                       ('{"ids": [4294967296]}', "ids[0]")):
        write(folder, "ids", text)
        said = refusal(folder, 3, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "chat.json", "--extend", "ids")
        assert word in said and "--json prints" in said, said
    for text, words in (("[1.5]", "ids[0] is 1.5, and not a whole number"), ("[-1]", "ids[0] is -1,"), ('["a"]', "ids[0] is a string,"), ("[null]", "ids[0] is null,"),
                        ("[1, {}]", "ids[1] is an object,"), ("1,,2", "byte 2: no id before the comma"), ("1,2,,", "byte 4: no id before the comma"),
                        ("1, 2 ,\n", "byte 5: no id behind the comma"), ("1 -1", "byte 2: not a whole number from 0"),
                        ("1 1.0", "byte 3: not a whole number from 0"), ("\ufeff1", "byte 0: not a whole number from 0"), (",1", "byte 0: no id before the comma")):
        write(folder, "ids", text)
        said = refusal(folder, 3, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "chat.json", "--extend", "ids")
        assert words in said and "for example [1, 2, 3]" in said, (text, said)
    for broken in ('{"ids": [1, 2}', "[1,2", "[1, 2]]", "[1 2]"):
        write(folder, "ids", broken)
        refusal(folder, 3, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "chat.json", "--extend", "ids")
    for no_list in ("", " \n", "-5", "999999", "[1, 999999]", "1, 2, x", "1, 2]", "[[1, 2]]", "[1.5]", "[true]"):
        write(folder, "ids", no_list)
        refusal(folder, 3, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "chat.json", "--extend", "ids")


def test_extend_appends_and_keeps(folder):
    whole = ids_of(tokens(folder, [*HI, {"role": "assistant", "content": "hello there"}, {"role": "user", "content": "And?"}]))
    known = ids_of(tokens(folder, HI))
    for text in (json.dumps(known), " ".join(map(str, known)), "\n".join(map(str, known))):
        write(folder, "ids", text)
        done = tokens(folder, [*HI, {"role": "assistant", "content": "hello there"}, {"role": "user", "content": "And?"}],
                      "--extend", "ids", "--json")
        result = json.loads(done.stdout)
        assert result["ids"] == whole and known + result["append"] == whole and result["canonical"] is True


def test_extend_refuses_and_says_where(folder):
    write(folder, "ids", json.dumps(ids_of(tokens(folder, [*HI, REPLY]))))
    write(folder, "chat.json", {"messages": MORE})
    done = run(folder, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "chat.json", "--extend", "ids")
    assert done.returncode == 1 and done.stdout == "", done
    assert done.stderr.startswith("t.jinja:2:") and " history rewritten: the prompt does not go on" in done.stderr, done.stderr
    assert "input: messages[1].reasoning_content" in done.stderr and "token 14" in done.stderr, done.stderr


def test_extend_names_the_switch_that_would_go_on(folder):
    """By trying: the names say nothing."""
    for condition, words, expected in (("zq_keep", (), "zq_keep = true"), ("zq_drop is defined and not zq_drop", (), "zq_drop = false"),
                                       ("zq_keep", ("--var", "zq_keep=false"), "zq_keep = true"), ("zq_keep and zq_more", (), None),
                                       ("zq_a or zq_b", (), "zq_a = true, or zq_b = true"), ("false", (), None)):
        write(folder, "keeps.jinja", "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content and (loop.last or " + condition
              + ") %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}<|im_end|>\n{% endfor %}"
              "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
        command = ("tokens", "-t", "keeps.jinja", "--tokenizer", TOKENIZER, *words)
        write(folder, "first.json", {"messages": [*HI, REPLY], "add_generation_prompt": False})
        write(folder, "chat.json", {"messages": MORE})
        known = ids_of(run(folder, *command, "first.json"))
        write(folder, "ids", json.dumps(known))
        write(folder, "ids.jsonl", json.dumps(known) + "\n")
        done = run(folder, *command, "chat.json", "--extend", "ids")
        assert done.returncode == 1 and "history rewritten" in done.stderr, done
        assert ("a variable of the template keeps the ids" in done.stderr) == (expected is not None), done.stderr
        lines = run(folder, *command, "--jsonl", "--extend", "ids.jsonl", stdin=json.dumps({"messages": MORE}) + "\n")
        assert json.loads(lines.stdout)["error"]["code"] == "history_rewritten", lines
        if expected is None:
            continue
        assert f": {expected}\n" in done.stderr, done.stderr
        name, value = expected.split(", or ")[0].split(" = ")
        done = run(folder, *command, "--var", f"{name}={value}", "chat.json", "--extend", "ids")
        assert done.returncode == 0 and ids_of(done), done


def test_prefix_explains(folder):
    write(folder, "t.jinja", TEMPLATE)
    write(folder, "a.json", {"messages": [*HI, REPLY]})
    write(folder, "b.json", {"messages": MORE})
    done = run(folder, "prefix", "-t", "t.jinja", "--tokenizer", TOKENIZER, "a.json", "b.json")
    assert done.returncode == 0, done.stderr
    assert "messages[1].reasoning_content" in done.stdout and "t.jinja:2" in done.stdout, done.stdout
    assert "no input changed" in done.stdout and "lost" in done.stdout, done.stdout
    result = json.loads(run(folder, "prefix", "-t", "t.jinja", "--tokenizer", TOKENIZER, "a.json", "b.json", "--json").stdout)
    assert result["unit"] == "tokens" and result["difference"]["before"]["path"] == "messages[1].reasoning_content", result
    assert result["shared"] + result["lost"] == len(ids_of(tokens(folder, [*HI, REPLY])))
    assert run(folder, "prefix", "-t", "t.jinja", "a.json", "b.json", "--check").returncode == 1
    write(folder, "c.json", {"messages": HI})
    assert run(folder, "prefix", "-t", "t.jinja", "c.json", "b.json", "--check").returncode == 0


def test_prefix_names_a_changed_input(folder):
    write(folder, "t.jinja", TEMPLATE)
    write(folder, "a.json", {"messages": HI})
    write(folder, "b.json", {"messages": [{"role": "user", "content": "Ho"}, REPLY]})
    done = run(folder, "prefix", "-t", "t.jinja", "a.json", "b.json")
    assert "the requests differ in messages[0].content" in done.stdout, done.stdout


def test_prefix_takes_trust(folder):
    """With trust a control token of the content stands where without it there are bytes."""
    write(folder, "t.jinja", TEMPLATE)
    write(folder, "a.json", {"messages": [{"role": "user", "content": "<tool_call>"}]})
    command = ("prefix", "-t", "t.jinja", "--tokenizer", TOKENIZER, "a.json", "a.json", "--json")
    shared = {}
    for words in ((), ("--trust", "messages[0].content"), ("--no-protect",)):
        done = run(folder, *command, *words)
        assert done.returncode == 0, done.stderr
        shared[words] = json.loads(done.stdout)["shared"]
        assert ("note: A: messages[0].content is trusted" in done.stderr) == ("--trust" in words), done.stderr
    assert shared[("--trust", "messages[0].content")] == shared[("--no-protect",)] < shared[()], shared
    assert "--tokenizer PATH" in refusal(folder, 2, "prefix", "-t", "t.jinja", "a.json", "a.json", "--no-protect")
    refusal(folder, 2, *command, "--trust", "messages[")


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__], "tests of the next turn"))
