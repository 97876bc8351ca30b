#!/usr/bin/env python3
"""What all commands have in common: help, completions, manual pages, exit codes, errors that can be read.

    run_manners_tests.py path/to/parlance [NAME...]

Completions are asked of the real shells, manual pages checked by mandoc and groff; what is not installed is said and left out.
"""

import contextlib
import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

import check

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON_CLASSES = re.compile(r"\b[A-Z]\w*Error\b|\bTemplatesNotFound\b")


def run(*arguments, stdin="", code=0, cwd=ROOT, **environment):
    done = subprocess.run([BINARY, *map(str, arguments)], input=stdin.encode(), capture_output=True, cwd=cwd, timeout=120,
                          env={**os.environ, **environment})
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    assert done.returncode == code, f"{arguments} ends with {done.returncode}, not {code}\n{out[:500]}\n{err[:800]}"
    return out, err


def has(text, *parts):
    for part in parts:
        assert part in text, f"no {part!r} in\n{text}"


def commands():
    return json.loads(run("help", "--json")[0])


@contextlib.contextmanager
def folder_of(**files):
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        for name, text in files.items():
            (folder / name.replace("_", ".")).write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
        yield folder


# ---- help

def test_version():
    out = run("-V")[0]
    header = (ROOT / "include/parlance/version.h").read_text("utf-8")
    assert out == run("--version")[0] == f"parlance {re.search('PARLANCE_VERSION .([0-9.]+).', header)[1]}\n", out


def test_help_of_each_command():
    overview = run("--help")[0]
    assert run("help")[0] == overview
    for command in commands():
        has(overview, command["name"], command["sentence"])
        shown = run("help", command["name"])[0]
        assert shown == run(command["name"], "--help")[0] == run(command["name"], "-h")[0]
        for option in [*command["options"], *command["arguments"]]:
            has(shown, *option["names"])
        assert "{false}" not in shown
        has(shown, "Exit codes:", *[f"  {row['code']}  {row['meaning']}" for row in command["exit_codes"]])
    has(run("help", "render")[0], "--color[=WHEN] ")
    has(run("help", "rendr", code=2)[1], "no command 'rendr'", "did you mean 'render'?")
    has(run("help", "rendr", "--json", code=2)[1], "did you mean 'render'?")


def test_exit_codes_mean_the_same_everywhere():
    found = {}
    for command in commands():
        codes = {row["code"]: row["meaning"] for row in command["exit_codes"]}
        assert 0 in codes and set(codes) <= {0, 1, 2, 3, 4}, codes
        for code in (2, 3, 4):
            found.setdefault(code, set()).add(codes[code])
    assert all(len(meanings) == 1 for meanings in found.values()), found


def test_every_option_is_described_once():
    for command in commands():
        names = [name for option in command["options"] for name in option["names"]]
        assert len(names) == len(set(names)) and "--help" in names and "--output" in names, command["name"]
        for option in [*command["options"], *command["arguments"]]:
            assert option["sentence"] and "\n" not in option["sentence"], (command["name"], option)
            assert not option["takes_value"] or option["placeholder"], (command["name"], option)


def test_the_example_is_offered_where_it_stands_in_for_the_request():
    # It was declared, and did nothing, in serve and agent, which have no request then, and in prefix, which compares two.
    offered = [command["name"] for command in commands() if any("--example" in option["names"] for option in command["options"])]
    assert offered == ["render", "tokens"], offered


def test_an_agent_always_opens_a_reply():
    # With --no-generation-prompt it sampled behind the user's words, and --continue failed at the first turn.
    offered = {name for command in commands() if command["name"] == "agent" for option in command["options"] for name in option["names"]}
    assert "--max-turns" in offered and not offered & {"--generation-prompt", "--no-generation-prompt", "--continue"}, offered


# ---- lists

def test_lists():
    has(run("list", "formats")[0], "rnj-1", "terminal-agent  aliases hermes")
    names = [row["name"] for row in json.loads(run("list", "passes", "--json")[0])]
    assert len(names) > 20 and "content-parts" in names
    with tempfile.TemporaryDirectory() as home:
        stores = {"HF_HUB_CACHE": home + "/hub", "OLLAMA_MODELS": home + "/ollama"}
        out, err = run("list", "models", **stores)
        assert out == "" and err.startswith("note: there are no models in ") and home in err, err
        (pathlib.Path(home) / "hub/models--org--name/snapshots/1").mkdir(parents=True)
        (pathlib.Path(home) / "ollama/manifests/registry.ollama.ai/library/small").mkdir(parents=True)
        (pathlib.Path(home) / "ollama/manifests/registry.ollama.ai/library/small/7b").write_text("{}")
        rows = json.loads(run("list", "models", "--json", **stores)[0])
        assert {(row["name"], row["in"]) for row in rows} == {("org/name", home + "/hub"), ("small:7b", home + "/ollama")}, rows
        for name in (row["name"] for row in json.loads(run("list", "releases", "--json")[0])):
            run("render", "-f", "chatml", "--transformers", name, "--example")
        has(run("render", "-f", "chatml", "--transformers", "5", "--example", code=2)[1], "not '5'; known: 5.21.0 to 5.24.0")
        has(run("list", "models", "org/nam", code=3, **stores)[1], "did you mean 'org/name'?")


# ---- exit codes

HELLO = {"messages": [{"role": "user", "content": "Hi"}]}


def test_exit_codes():
    with folder_of(t_jinja="{{ messages[0].content }}", bad_jinja="{{ nope.x }}", broken_jinja="{% if %}", chat_json=HELLO, five_json=5, list_json="[1",
                   object_json={"tools": []}, none_json="false", text_txt="hello") as d:
        (d / "latin1.jinja").write_bytes(b"\xdf")
        rows = [
            (0, ["render", "-t", "t.jinja", "chat.json"]),
            (1, ["render", "-t", "bad.jinja", "chat.json"]),
            (1, ["render", "-t", "broken.jinja", "chat.json"]),
            (1, ["read", "-t", "broken.jinja", "text.txt"]),
            (1, ["check", "-t", "bad.jinja", "--count", "1"]),
            (1, ["format", "-t", "bad.jinja"]),
            (1, ["grammar", "--syntax", "gbnf", "--schema", "none.json"]),
            (1, ["prefix", "-t", "bad.jinja", "chat.json", "chat.json"]),
            (2, ["render", "-t", "t.jinja", "-f", "terminal-agent", "chat.json"]),
            (2, ["render", "-f", "terminal-agent", "--max-depth", "1001", "chat.json"]),
            (2, ["list", "nothing"]),
            (2, ["completions", "tcsh"]),
            (2, []),
            (3, ["render", "-t", "t.jinja", "five.json"]),
            (3, ["render", "-t", "t.jinja", "list.json"]),
            (3, ["render", "-t", "t.jinja", "nowhere.json"]),
            (3, ["render", "-t", "nowhere.jinja", "chat.json"]),
            (3, ["render", "-t", "latin1.jinja", "chat.json"]),
            (3, ["template", "-m", "latin1.jinja"]),
            (3, ["read", "-f", "terminal-agent", "--tools", "five.json", "text.txt"]),
            (3, ["read", "-f", "terminal-agent", "--tools", "object.json", "text.txt"]),
            (3, ["read", "-f", "terminal-agent", "--request", "five.json", "text.txt"]),
            (3, ["read", "--reply-format", "five.json", "text.txt"]),
            (3, ["read", "--reply-format", "object.json", "text.txt"]),
            (3, ["grammar", "--syntax", "gbnf", "-f", "terminal-agent", "--tools", "five.json"]),
            (3, ["grammar", "--syntax", "gbnf", "-f", "terminal-agent", "--tools", "list.json"]),
            (3, ["grammar", "--syntax", "gbnf", "-f", "terminal-agent", "--request", "five.json"]),
            (3, ["grammar", "--syntax", "lark", "-f", "terminal-agent", "--tokenizer", "text.txt"]),
            (3, ["grammar", "--syntax", "lark", "-f", "terminal-agent", "--tokenizer", "object.json"]),
            (3, ["grammar", "--syntax", "lark", "-f", "terminal-agent", "--tokenizer", "five.json"]),
            (3, ["tokens", "-f", "terminal-agent", "--tokenizer", "text.txt", "chat.json"]),
            (4, ["render", "-t", "t.jinja", "--max-output", "1", "chat.json"]),
            (4, ["check", "-f", "terminal-agent", "--max-steps", "0"]),
            (4, ["check", "-f", "terminal-agent", "--max-steps", "1000"]),
            (4, ["format", "-f", "terminal-agent", "--max-steps", "10"]),
            (4, ["format", "-f", "terminal-agent", "--max-output", "10", "--json"]),
        ]
        for code, arguments in rows:
            out, err = run(*arguments, code=code, cwd=d)
            assert (code == 0) == (err == "") or (code == 1 and out), (arguments, out, err)
            assert not PYTHON_CLASSES.search(err), (arguments, err)
            first = err.split("\n")[0]
            assert not err or first.startswith(("parlance: ", "note: ")) or re.match(r"[\w./ -]+:\d+:\d+: ", first) or out, (arguments, err)
        for command in ("check", "format"):
            err = run(command, "-f", "terminal-agent", "--max-steps", "1000", code=4, cwd=d)[1]
            has(err, "--max-steps 1000", "--max-steps N raises this limit")


def test_a_name_that_parlance_does_not_have_is_a_fault_of_the_command_line():
    """2, whatever the option and the command; a file or a model that is not there is 3."""
    of_option = {"--format": "chatml", "--pass": "text-only", "--skip-pass": "defaults", "--transformers": "5.22", "--syntax": "jinja", "--as": "openai", "--split": "cl100k_base"}
    more = {"grammar": ["--syntax", "gbnf"], "prefix": ["chat.json", "chat.json"], "convert": ["--as", "openai"],
            "serve": ["--no-engine-check", "--tokenizer", "ranks.tiktoken"], "agent": ["goal"]}
    tried = set()
    with folder_of(chat_json=HELLO, ranks_tiktoken="AA== 0\nAQ== 1\n") as d:
        for command in commands():
            name = command["name"]
            known = {one for option in command["options"] for one in option["names"]}
            if name == "replay":  # it opens a format once it has a record
                continue
            for option in of_option.keys() & known:
                others = [word for word in more.get(name, []) if word != option and word not in ("gbnf", "openai")] if option in ("--syntax", "--as") else more.get(name, [])
                source = ["-f", "chatml"] if option != "--format" and "--format" in known else []
                tokenizer = ["--tokenizer", "ranks.tiktoken"] if option == "--split" and "--tokenizer" not in others else []
                arguments = [name, *source, *tokenizer, option, "nope", *others]
                _, err = run(*arguments, stdin=json.dumps(HELLO), code=2, cwd=d)
                tried.add((name, option))
                if option == "--format" and name not in ("serve", "agent"):
                    has(err, "there is no built-in format 'nope'", "parlance list formats shows them")
                if option in ("--pass", "--skip-pass"):
                    has(err, "there is no pass 'nope'")
        assert len(tried) > 20 and {("render", "--pass"), ("tokens", "--split"), ("format", "--format")} <= tried, tried
        for arguments in (["list", "nope"], ["list", "formats", "nope"], ["list", "passes", "nope"], ["list", "errors", "nope"], ["list", "releases", "nope"],
                          ["help", "nope"], ["completions", "nope"], ["nope"]):
            run(*arguments, code=2, cwd=d)
        for arguments in (["render", "-m", "nope", "chat.json"], ["template", "-m", "nope"], ["tokens", "-f", "chatml", "--tokenizer", "nope", "chat.json"],
                          ["render", "-t", "nope.jinja", "chat.json"], ["list", "models", "nope"]):
            run(*arguments, code=3, cwd=d)


def test_numbers_have_their_range():
    rows = [
        (["check", "-f", "terminal-agent", "--count", "0"], "--count: takes a whole number from 1 to 1000000, not '0'"),
        (["check", "-f", "terminal-agent", "--count", "99999999999999999999"], "--count: takes a whole number from 1 to"),
        (["check", "-f", "terminal-agent", "--count", "010"], "not '010'"),
        (["check", "-f", "terminal-agent", "--count", "0x10"], "not '0x10'"),
        (["check", "-f", "terminal-agent", "--seed", "-1"], "not '-1'"),
        (["render", "-f", "terminal-agent", "--jsonl", "--threads", "-1"], "--threads: takes a whole number from 0 to 1024"),
        (["render", "-f", "terminal-agent", "--jsonl", "--threads", "1.5"], "--threads: takes a whole number from 0 to 1024"),
        (["read", "-f", "terminal-agent", "--chunks", "0"], "--chunks: takes a whole number from 1 to"),
        (["tokens", "-f", "terminal-agent", "--threads", "x"], "--threads: takes a whole number from 0 to 1024"),
        (["grammar", "--syntax", "gbnf", "-f", "terminal-agent", "--max-calls", "65"], "--max-calls: takes a whole number from 1 to 64"),
        (["serve", "-f", "terminal-agent", "--max-body", "-5"], "--max-body: takes a whole number from 0 to"),
        (["serve", "-f", "terminal-agent", "--port", "70000"], "--port: takes a whole number from 0 to 65535, not '70000'"),
        (["serve", "-f", "terminal-agent", "--receive", "99999999999999999999"], "--receive: takes a whole number from 0 to 1000000000"),
        (["render", "-f", "terminal-agent", "--example", "--max-depth", "1001"], "--max-depth takes a whole number from 0 to 1000"),
        (["render", "-f", "terminal-agent", "--example", "--max-steps", "99999999999999999999"], "--max-steps takes a whole number below 2^64"),
    ]
    for arguments, words in rows:
        err = run(*arguments, code=2)[1]
        has(err, words)
        assert not re.search(r"\d{25}", err.replace("99999999999999999999", "")), err


def test_the_number_of_values_is_said_in_plain_words():
    rows = [
        (["render", "-f", "chatml", "-f", "chatml"], "usage: --format is given more than once, and takes one value"),
        (["render", "-f"], "usage: --format needs a value"),
        (["tokens", "--tokenizer"], "usage: --tokenizer needs a value"),
        ([], "usage: a command is missing"),
        (["read", "-f", "chatml", "--as", "openai", "--created", "1e9"], "--created: takes a whole number from 0 to"),
        (["read", "-f", "chatml", "--as", "openai", "--created", "-1"], "--created: takes a whole number from 0 to"),
        (["render", "-f", "chatml", "--as-is", "--pass", "developer-role"], "usage: --pass changes the request, which --as-is forbids"),
    ]
    for arguments, words in rows:
        has(run(*arguments, code=2)[1], words)


def test_json_that_nests_too_deep_has_a_place_and_a_hint():
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        deep = '{"messages": ' + opening * 4000 + ("1" if closing == "}" else "") + closing * 4000 + "}"
        err = run("render", "-f", "chatml", "-", stdin=deep, code=4)[1]
        has(err, "<stdin>:1:", "limit of depth", "hint: objects and lists nest at most 1000 deep")


def test_errors_do_not_move_the_terminal():
    evil = "\x1b[31m\x1b]0;title\x07\r\x08"
    quoted = json.dumps(evil)[1:-1]
    with folder_of(t_jinja=f"{{{{ '{evil}' + 1 }}}}", raise_jinja="{{ raise_exception(messages[0].content) }}",
                   key_jinja="{{ {}[messages[0].content].x }}", chat_json={"messages": [{"role": "user", "content": evil}]},
                   broken_json=f'{{"messages": "{evil}', plain_jinja="x") as d:
        os.mkdir(d / evil.replace("/", ""))
        rows = [["render", "-t", "t.jinja", "chat.json"], ["render", "-t", "raise.jinja", "chat.json"], ["render", "-t", "key.jinja", "chat.json"],
                ["render", "-t", "plain.jinja", "broken.json"], ["render", "-t", evil, "chat.json"], ["render", "-f", evil], ["list", "filters", evil],
                ["render", "-t", "plain.jinja", f"{evil}x"], [evil], ["render", f"--{evil}"], ["render", "-t", "plain.jinja", "--var", evil, "chat.json"],
                ["render", "-t", "plain.jinja", "--var", f"x=[{evil}", "chat.json"], ["template", "-m", f"./{evil}"], ["help", evil]]
        for arguments in rows:
            done = subprocess.run([BINARY, *arguments], capture_output=True, cwd=d, stdin=subprocess.DEVNULL, timeout=60)
            shown = done.stderr.decode()
            assert done.returncode in (1, 2, 3) and not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown), (arguments, shown)
            assert "␛[31m" in shown or r"\x1b[31m" in shown, (arguments, shown)
        assert quoted.startswith("\\u001b")


def test_texts_in_quotes_do_not_move_the_terminal():
    turn = "{% for m in messages %}[{{ m.role }}]{{ m.content }}\u009b31m{% endfor %}"
    with folder_of(c_jinja=turn, esc_jinja="{{ '\x1b[31m' }}", a_json={"messages": [{"role": "user", "content": "a\u009b\u202e"}]},
                   b_json={"messages": [{"role": "user", "content": "b\U000e0001"}]}) as folder:
        out, _ = run("prefix", "-t", folder / "c.jinja", folder / "a.json", folder / "b.json")
        has(out, r'"a\u009b\u202e\u009b31m"', r'"b\udb40\udc01\u009b31m"')
        has(run("format", "-t", folder / "c.jinja")[0], r'"\u009b31m"')
        has(run("template", "-t", folder / "esc.jinja")[0], "{{ '\u241b[31m' }}")
        assert run("template", "-t", folder / "esc.jinja", "--text")[0] == "{{ '\x1b[31m' }}"


def test_an_empty_message_is_not_continued():
    whole = "{% for m in messages %}{{ m }}{% endfor %}"
    with folder_of(t_jinja=whole) as folder:
        for content, code in (([], 3), ([{"type": "text", "text": ""}], 3), ("", 3), (None, 3), ("a", 0), ([{"type": "text", "text": "a"}], 0)):
            request = json.dumps({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": content}]})
            for options in ([], ["--as-transformers"]):
                _, err = run("render", "-t", folder / "t.jinja", "--continue", *options, stdin=request, code=code)
                assert code == 0 or "messages[1]" in err and "the last message is empty" in err, err


def test_no_labels_of_ids_that_are_to_come():
    with folder_of(a_json={"messages": [{"role": "user", "content": "a"}]}, ids_json=[1]) as folder:
        _, err = run("tokens", "-f", "chatml", "--tokenizer", ROOT / "tests/tokenizers/chatml", folder / "a.json", "--extend", folder / "ids.json",
                     "--json", "--mask", "stop", code=2)
        has(err, "--mask and --extend exclude each other")


def test_notes_do_not_move_the_terminal():
    evil = "\x1b[31m\x1b]0;title\x07\r\x08"
    chat = {"messages": [{"role": "user", "content": "Hi"}], "chat_template_kwargs": {evil: 1}}
    with folder_of(raise_jinja=f"{{{{ raise_exception('{evil}') }}}}", plain_jinja="{{ messages[0].content }}", chat_json=chat) as d:
        for arguments in (["format", "-t", "raise.jinja", "--json"], ["render", "-t", "plain.jinja", "chat.json"]):
            done = subprocess.run([BINARY, *arguments], capture_output=True, cwd=d, stdin=subprocess.DEVNULL, timeout=60)
            assert b"note: " in done.stderr and "␛[31m" in done.stderr.decode(), done
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.stderr.decode()), done


def test_errors_in_json_keep_the_class():
    line = json.dumps({"source": "{{ nope.x }}", "context": {}}) + "\n"
    error = json.loads(run("render", "--as-is", "--jsonl", stdin=line, code=1)[0])["error"]
    assert error["type"] == "UndefinedError" and error["code"] == "undefined", error


# ---- completions

def completed_by_bash(script, line):
    """What bash offers at the end of the line."""
    words = line.split(" ")
    asked = f"source {script}; COMP_WORDS=({' '.join(map(bash_word, split_as_bash(words)))}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _parlance; " \
            "(( ${#COMPREPLY[@]} == 0 )) || printf '%s\\n' \"${COMPREPLY[@]}\""
    return subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, cwd=ROOT).stdout.split("\n")[:-1]


def bash_word(word):
    return "'" + word + "'"


def split_as_bash(words):
    """bash takes `=` for a word of its own."""
    return [part for word in words for part in (re.split("(=)", word) if word.startswith("--") and "=" in word else [word])]


def completed_by_fish(script, line):
    done = subprocess.run(["fish", "-N", "-c", f"source {script}; complete -C '{line}'"], capture_output=True, text=True, check=True, cwd=ROOT)
    return [row.split("\t")[0] for row in done.stdout.split("\n") if row]


def completed_by_zsh(folder, line):
    """What zsh makes of the line when the key TAB is pressed, in a terminal of its own. A zero behind it says that this is all."""
    (folder / ".zshrc").write_text(f"PS1='> '\nfpath=({folder} $fpath)\nautoload -Uz compinit\ncompinit -u -d {folder}/dump\nzstyle ':completion:*' list-prompt ''\n"
                                   "setopt no_always_last_prompt no_beep\nunsetopt zle_bracketed_paste 2>/dev/null\n"
                                   "complete-and-say() { zle expand-or-complete; zle -R; printf '\\0' >$TTY }\n"
                                   "zle -N complete-and-say\nbindkey '^I' complete-and-say\n", "utf-8")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execvpe("zsh", ["zsh", "-i"], {**os.environ, "ZDOTDIR": str(folder), "TERM": "dumb", "COLUMNS": "200", "LINES": "60"})
    shown = b""

    def wait_for(what, seconds):
        nonlocal shown
        end = time.monotonic() + seconds
        while what not in shown and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    shown += os.read(terminal, 1 << 16)
                except OSError:
                    return
    wait_for(b"> ", 20)
    shown = b""
    os.write(terminal, line.encode() + b"\t")
    wait_for(b"\0", 20)
    os.write(terminal, b"\x15exit\n")
    os.close(terminal)
    os.waitpid(pid, 0)
    return shown.decode("utf-8", "replace")


LINES = [  # a line, and what must be among the offers
    ("parlance ", {"render", "grammar", "completions", "help"}),
    ("parlance ren", {"render"}),
    ("parlance render --col", {"--color"}),
    ("parlance render -f ", {"terminal-agent", "rnj-1"}),
    ("parlance render --format rn", {"rnj-1"}),
    ("parlance grammar --syntax la", {"lark"}),
    ("parlance render --syntax ", {"jinja", "go"}),
    ("parlance render --reasoning-effort hi", {"high"}),
    ("parlance list pa", {"passes"}),
    ("parlance completions ", {"bash", "zsh", "fish"}),
    ("parlance help gra", {"grammar"}),
    ("parlance convert --as ", {"openai", "anthropic", "responses"}),
    ("parlance read --as an", {"anthropic"}),
    ("parlance tokens --model-as ", {"sentencepiece", "transformers"}),
    ("parlance tokens --mask ", {"content", "reasoning", "calls", "marker", "stop"}),
    ("parlance render --transformers 5.2", {"5.22.0", "5.23.0"}),
    ("parlance tokens --tokenizer tests/tokenizers/chat", {"tests/tokenizers/chatml"}),
    ("parlance render -t formats/rnj", {"formats/rnj-1.jinja"}),
    ("parlance read LICEN", {"LICENSE"}),
]


def test_completions_of_bash():
    with tempfile.TemporaryDirectory() as home:
        script = pathlib.Path(home) / "parlance"
        script.write_text(run("completions", "bash")[0])
        subprocess.run(["bash", "-n", script], check=True)
        for line, wanted in LINES:
            offered = set(completed_by_bash(script, line))
            assert wanted <= offered, (line, offered)
        for command in commands():  # every option, and no word that is none
            offered = completed_by_bash(script, f"parlance {command['name']} -")
            assert sorted(offered) == sorted(name for option in command["options"] for name in option["names"]), command["name"]
        assert completed_by_bash(script, "parlance render --color=n") == ["never"]
        assert completed_by_bash(script, "parlance render --name ") == []


def test_completions_of_fish():
    if not shutil.which("fish"):
        return print("left out: there is no fish")
    with tempfile.TemporaryDirectory() as home:
        script = pathlib.Path(home) / "parlance.fish"
        script.write_text(run("completions", "fish")[0])
        subprocess.run(["fish", "-N", "-n", script], check=True)
        for line, wanted in LINES:
            offered = {word.rstrip("/") for word in completed_by_fish(script, line)}
            assert wanted <= offered, (line, offered)
        for command in commands():
            offered = set(completed_by_fish(script, f"parlance {command['name']} --"))
            assert {name for option in command["options"] for name in option["names"] if name.startswith("--")} <= offered, (command["name"], offered)
        assert "--color=never" in completed_by_fish(script, "parlance render --color=n")


def test_completions_of_zsh():
    if not shutil.which("zsh"):
        return print("left out: there is no zsh")
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        (folder / "_parlance").write_text(run("completions", "zsh")[0])
        subprocess.run(["zsh", "-n", folder / "_parlance"], check=True)
        for line, wanted in [("parlance comp", "completions"), ("parlance render --form", "--format"), ("parlance grammar --syntax la", "lark"),
                             ("parlance render -f rn", "rnj-1"), ("parlance render --color=n", "--color=never"), ("parlance list pa", "passes"),
                             ("parlance render -t formats/rnj-1.j", "formats/rnj-1.jinja"), ("parlance help gra", "grammar")]:
            shown = completed_by_zsh(folder, line)
            assert wanted in shown, (line, shown)
            assert "_arguments" not in shown and "invalid" not in shown, (line, shown)
        shown = completed_by_zsh(folder, "parlance render --")
        for option in next(command for command in commands() if command["name"] == "render")["options"]:
            assert all(name in shown for name in option["names"] if name.startswith("--")), (option, shown)


# ---- manual pages

def test_manual_pages():
    with tempfile.TemporaryDirectory() as home:
        run("help", "--write", home)
        pages = sorted((pathlib.Path(home) / "man/man1").glob("*.1"))
        assert [page.name for page in pages] == sorted(["parlance.1", *(f"parlance-{command['name']}.1" for command in commands())])
        check = next(page for page in pages if page.name == "parlance-check.1")
        assert check.read_text() == run("help", "--man", "check")[0]
        for tool, arguments in (("mandoc", ["-Tlint", "-Wwarning"]), ("groff", ["-man", "-ww", "-z", "-Kutf8"])):
            if not shutil.which(tool):
                print(f"left out: there is no {tool}")
                continue
            for page in pages:
                done = subprocess.run([tool, *arguments, page], capture_output=True, text=True)
                said = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
                assert not said, said
        if shutil.which("mandoc"):
            for command in commands():
                page = pathlib.Path(home) / f"man/man1/parlance-{command['name']}.1"
                shown = subprocess.run(["mandoc", "-Tutf8", "-Owidth=300", page], capture_output=True, text=True, check=True).stdout
                shown = re.sub(".\b", "", shown)
                for option in command["options"]:
                    has(shown, *option["names"], " ".join(option["sentence"].split())[:60])
                has(shown, *[row["meaning"] for row in command["exit_codes"]])


def test_shared_files_are_what_commands_print():
    with tempfile.TemporaryDirectory() as home:
        run("help", "--write", home)
        for shell, path in (("bash", "bash-completion/completions/parlance"), ("zsh", "zsh/vendor-completions/_parlance"),
                            ("fish", "fish/vendor_completions.d/parlance.fish")):
            assert (pathlib.Path(home) / path).read_text() == run("completions", shell)[0]


if __name__ == "__main__":
    sys.exit(check.run_tests(sys.modules[__name__], "tests of manners"))
