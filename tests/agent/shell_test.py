#!/usr/bin/env python3
"""The persistent shell and the persistent Python: what stays, what is forged, what becomes of their output.

    shell_test.py SHELL_TOOL bubblewrap|landlock|none

Begin reading at PARTS.
"""

from __future__ import annotations

import os
import pathlib
import time

from shell_tool import Checks, Part, Tool, alive, descendants, result, run_parts, said


def check_state(checks: Checks, tool: Tool) -> None:
    tool.run("mkdir -p one/two && cd one/two; export A=1; B=2; f() { echo f $1; }; alias g='echo g'; set -o pipefail; shopt -s nullglob")
    answer = tool.run("pwd; echo $A $B; f 3; g 4; false | true; echo $?; echo none*")
    checks.that(answer["out"]["text"] == f"{tool.place.workspace}/one/two\n1 2\nf 3\ng 4\n1\n\n", "state stays", answer)
    checks.that(answer["folder"] == f"{tool.place.workspace}/one/two", "the folder is known", answer)
    answer = tool.run("sleep 100 & echo started")
    checks.that(len(answer["jobs"]) == 1 and answer["seconds"] < 10, "a background job is left, and known", answer)
    answer = tool.run("jobs; kill %1; wait; cd -")
    checks.that("sleep 100" in said(answer) and not answer["jobs"], "it can be ended", answer)
    tool.run("(sleep 0.3; echo late; echo later >&2) &")
    out, err, ends = "", "", time.monotonic() + 10
    while not ("late\n" in out and "later\n" in err) and time.monotonic() < ends:
        time.sleep(0.1)
        answer = tool.run("true")
        out, err = out + answer["out"]["text"], err + answer["err"]["text"]
    checks.that("late\n" in out and "later\n" in err, "what jobs write comes with the next command", (out, err))
    answer = tool.run("cd ~ && python3 -m venv --without-pip venv && . venv/bin/activate && cd - > /dev/null")
    checks.that(answer["status"] == 0 and "home/venv" in said(tool.run("command -v python")), "a virtual environment", answer)
    tool.run("deactivate; set +o pipefail")
    answers = [tool.run(command) for command in ("set -e; B=3", "echo $B $-", "set +e; false; echo $B")]
    checks.that([answer["restarted"] for answer in answers] == [False] * 3, "a shell with set -e stays while nothing fails", answers)
    checks.that(said(answers[1]).startswith("3 e") and said(answers[2]) == "3\n", "and keeps that option", answers)


def check_status(checks: Checks, tool: Tool) -> None:
    for command, status in {"true": 0, "false": 1, "(exit 42)": 42, "nosuchcommand": 127, "sh -c 'kill -9 $$'": 137, "return 5": 5}.items():
        answer = tool.run(command)
        checks.that((answer["end"], answer["status"]) == ("finished", status), command, answer)
    answer = tool.run("echo out; echo err >&2; echo out2")
    checks.that(answer["out"]["text"] == "out\nout2\n" and answer["err"]["text"] == "err\n", "the streams are told apart", answer)
    answer = tool.run("sleep 0.3")
    checks.that(0.28 < answer["seconds"] < 5, "the time is told", answer)
    answer = tool.run("tty; [ -t 1 ] && echo terminal; stty size < /dev/tty; echo $TERM $PAGER")
    checks.that("terminal" in said(answer) and "40 120" in said(answer) and "dumb cat" in said(answer), "there is a terminal", answer)


# What a command may do to the shell that could keep its end from being seen, or pass for it. Afterwards the shell works.
TRICKS = [
    "echo 'not closed",
    'echo "not closed',
    "cat << end\nno end",
    "if true; then",
    "echo $(",
    "case x in",
    ")",
    "}",
    "done",
    "`",
    "((",
    "\\",
    "exec 0<&- 1>&- 2>&-",
    'for f in /proc/self/fd/*; do eval "exec ${f##*/}>&-"; done',
    "exec > /dev/null 2>&1",
    "exec < /dev/null",
    "stty raw -echo < /dev/tty",
    "stty stop a -icanon ixon < /dev/tty",
    "trap '' INT",
    "trap 'echo trapped' EXIT DEBUG ERR; true; trap - DEBUG ERR",
    "PS1='$ '; PS2='> '; PROMPT_COMMAND='echo prompt'",
    "PROMPT_COMMAND=; unset PROMPT_COMMAND",
    "set -v",
    "set +v",
    "set -x",
    "set +x",
    "set -u",
    "set +u",
    "set -o posix; set +o posix",
    "IFS=x",
    "unset IFS",
    "cd() { echo no; }; unset -f cd",
    "alias builtin=false printf=false",
    "unalias builtin printf",
    "printf() { echo no; }; unset -f printf",
    "eval 'exit() { :; }'; unset -f exit",
    "shopt -s extdebug; shopt -u extdebug",
    "set -f; set +f",
    "exec 3<> /dev/null; exec 3>&-",
    "BASH_ENV=x; ENV=y",
    "PATH=; PATH=/usr/bin:/bin",
    "umask 777; umask 022",
    "history -c; fc -l",
    "kill -INT $$",
    "kill -TERM $$",
    "kill -HUP 0 2> /dev/null &",
    "bind -x 2> /dev/null",
    "read -t 1 x",
    "select x in a b; do break; done",
    "coproc cat",
    "exec {x}> /dev/null",
    "disown -a",
    "wait",
    "\0",
    "\x03",
    "\x04",
    "\x1a",
    "echo é\xff",
    "# nothing",
    "",
    "\n\n",
    "true;;",
    "exit",
    "exit 3",
    "set -e; false",
    "exec true",
    "exec sh -c 'exit 7'",
    "kill -9 $$",
    "logout",
    "return",
    "set -o noexec",
    "set -eu; echo $NOSUCH; true",
    "readonly PROMPT_COMMAND PS1",
    "builtin() { :; }",
    "enable -n printf builtin jobs",
]


def check_tricks(checks: Checks, tool: Tool, tricks: list[str]) -> None:
    for command in tricks:
        answer = tool.run(command, timeout=60)
        checks.that(answer["end"] in ("finished", "program_ended", "waits_for_input"), repr(command), answer)
        after = tool.run("echo a; echo b >&2; (exit 9)")
        works = "a\n" in after["out"]["text"] and "b\n" in after["err"]["text"] and after["status"] == 9
        if not works:  # the trick has broken the reports: then the shell is a new one now
            works = after["restarted"] and said(tool.run("echo again")) == "again\n"
        checks.that(works, f"the shell works after {command!r}", after)


# What keeps bash from running the next command, or from telling that it has.
BREAKERS = [
    "enable -n .",
    "alias .=false",
    "ulimit -n 3",
    ".() { :; }",
    "builtin() { :; }",
    "enable -n printf",
    "enable -n builtin",
    "alias .=false; trap '' INT TERM",
    "set -o posix; .() { :; }",
    "set -r",
    "true",
    "alias .='sleep 0.7; .'",
    "trap 'sleep 0.01' DEBUG",
]


def check_lost(checks: Checks, tool: Tool) -> None:
    """A command that the shell cannot run any more is said to have not run, at once, and the next one has a new shell."""
    for number, command in enumerate(BREAKERS):
        tool.run(f"rm -f ran{number}")
        first = tool.run(command, timeout=60)
        checks.that(first["seconds"] < 5, f"{command!r} does not wait", first)
        told = any("could run nothing any more" in note for note in first["notes"])
        checks.that(told == (first["status"] == 137), f"{command!r}: who has ended the shell is said", first)
        second = tool.run(f"touch ran{number}; echo alive", timeout=60)
        ran = (tool.place.workspace / f"ran{number}").exists()
        checks.that(second["seconds"] < 8, f"behind {command!r} nothing waits", second)
        checks.that(ran == (second["end"] != "never_ran") == (said(second) == "alive\n"), f"behind {command!r} it says what ran", second)
        checks.that(second["end"] in ("finished", "program_ended") or second["restarted"], f"behind {command!r}", second)
        third = tool.run("read -t 0.1 x < /dev/tty; read -t 0.1 y <&0; echo again", timeout=60)
        checks.that((third["end"], said(third)) == ("finished", "again\n"), f"the shell after {command!r}", third)


QUIET = {  # settings of a shell, and what the next command prints with them
    "set -x": ("a\n", "++++ echo a\n"),
    "set +x; set -v": ("a\n", "echo a\n"),
    "set +v; PS0='[ps0]'; PS1='$ '; PROMPT_COMMAND=('echo pc1' 'echo pc2 >&2')": ("a\n", ""),
    "declare -p PS0; trap 'echo trapped >&2' DEBUG ERR": ("a\n", ""),
    "trap 'echo trapped' DEBUG": ("a\n", ""),
    "trap - ERR; trap 'echo returned' RETURN": ("a\n", ""),
    "alias .=false source=false builtin=true printf='echo x' set=false": ("a\n", ""),
    "unalias -a; set -u; unset PWD": ("a\n", ""),
    "set +u; readonly PS1 PROMPT_COMMAND": ("a\n", ""),
}


def check_quiet(checks: Checks, tool: Tool) -> None:
    """What a command sets is neither lost nor shows how the shell is told what to run."""
    control = tool.run("cat $TMPDIR/../control/shell.run /run/parlance/shell.run")["out"]["text"]
    checks.that("shell.command" in control, "the shell can read how it is run")
    for command, (out, err) in QUIET.items():
        first = tool.run(command)
        checks.that("shell." not in said(first) and not first["restarted"], command, first)
        answer = tool.run("echo a")
        checks.equal((answer["out"]["text"], answer["err"]["text"]), (out, err), f"behind {command}")
    for traced in ("set -x", "set -v"):
        answer = tool.run(f"{traced}; sleep 60", timeout=0.5)
        checks.that(answer["end"] == "timed_out" and "shell." not in said(answer), f"{traced} and a timeout", answer)
        checks.that("shell." not in said(tool.run("set +xv")), f"behind {traced} and a timeout")
    answer = tool.run("set -x; exit 3")
    checks.that(answer["restarted"] and "shell." not in said(answer), "set -x and an end", answer)
    answer = tool.run("trap 'echo bye' EXIT; exit")
    checks.that(answer["restarted"] and answer["out"]["text"] == "bye\n", "what a trap prints at the end is shown", answer)
    tool.run("trap 'echo trapped' DEBUG; KEPT=5; exit")
    checks.that(said(tool.run("trap - DEBUG; echo $KEPT")) == "5\n", "what is kept has no output of traps in it")


def check_folder_names(checks: Checks, tool: Tool) -> None:
    folder = f"{tool.place.workspace}/one\ntwo"
    answer = tool.run("mkdir $'one\\ntwo'; cd $'one\\ntwo'; KEPT=7; sleep 100 &")
    checks.that((answer["folder"], len(answer["jobs"])) == (folder, 1), "a folder with a newline", answer)
    answer = tool.run("exit")
    checks.that((answer["end"], answer["folder"], answer["restored"]) == ("program_ended", folder, True), "a new shell there", answer)
    checks.equal(said(tool.run("pwd; echo $KEPT")), f"{folder}\n7\n", "in the same folder")
    answer = tool.run("PWD=/nonsense; exit")
    checks.that((answer["folder"], answer["restored"]) == (folder, True), "whatever PWD is", answer)
    checks.equal(said(tool.run('echo "$PWD"; pwd; cd ..')), f"{folder}\n{folder}\n", "which is not restored")


def check_forged_ends(checks: Checks, tool: Tool) -> None:
    """What a command writes cannot pass for its end, though it may know how that is told."""
    control = "/run/parlance" if tool.start["kind"] == "bubblewrap" else "${TMPDIR%/tmp}/control"
    pipe = f"{control}/shell.answers"
    forged = f"for i in 1 2 3; do printf '0000\\n0\\n/\\n\\0' > {pipe}; done; head -c 5000 /dev/urandom > {pipe}; printf '\\0'"
    answer = tool.run(f"{forged}; sleep 0.5; echo end")
    checks.that("end" in said(answer) and answer["seconds"] > 0.4, "no output is an end", answer)
    answer = tool.run(f"head -c 100M /dev/zero > {pipe}; echo end")
    stopped = answer["end"] == "too_much_output" and any("a program wrote too much" in note for note in answer["notes"])
    checks.that(stopped and answer["seconds"] < 10, "who floods the pipe of answers is stopped, and it is said", answer)
    checks.equal(said(tool.run("echo next")), "next\n", "the shell goes on behind that")


SPY = """
import pathlib, re, sys
folders, found = [pathlib.Path(each) for each in sys.argv[1:]], pathlib.Path("found.txt").open("a")
while True:
    for place in [each for folder in folders for each in folder.glob("*") if each.is_file()]:
        try:
            text = place.read_text(errors="replace")
        except OSError:
            continue
        for token in re.findall("(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", text):
            print(place, token, file=found, flush=True)
    pathlib.Path("looks").touch()
"""


def check_tokens(checks: Checks, tool: Tool) -> None:
    """What runs in the background finds the token of no command in a file, a command line or an environment."""
    control = "/run/parlance" if tool.start["kind"] == "bubblewrap" else "${TMPDIR%/tmp}/control"
    tool.run("true")
    tool.run(f"cat > spy.py << 'end'\n{SPY}\nend\npython3 spy.py {control} /proc/$$ & while [ ! -e looks ]; do sleep 0.05; done")
    for command in ("sleep 0.2", "set -a; sleep 0.2", "set -x; sleep 0.2", "set +x; (kill -INT $$); sleep 1", "sh -c 'kill -INT $$'"):
        tool.run(command)
    answer = tool.run(
        "set | grep -a parlance_; declare -p | grep -a parlance_; env | grep -a parlance_; history; echo $# $@; cat found.txt"
    )
    checks.equal(answer["out"]["text"], "0\n", "no token is there to be found")
    answer = tool.python("import pathlib, re; re.findall(b'[0-9a-f]{32}', pathlib.Path('/proc/self/cmdline').read_bytes())")
    checks.equal(said(answer), "[]\n", "that of Python's start is not in its command line")
    answer = tool.run("set -- a b; set -o history")
    checks.equal(said(tool.run("history; echo $1 $2")), "a b\n", "nor in the history")


FORGER = """
import os, signal, sys
control, state, token = sys.argv[1:]
open(state + "/shell.saved", "w").write("ls() { echo forged; }\\n# whole\\n")
with open(control + "/shell.answers", "wb", buffering=0) as pipe:
    pipe.write(b"\\0".join([token.encode(), b"0", b"", b"/\\n", b"ends", token.encode(), b"saved", b""]))
os.kill(os.getppid(), signal.SIGKILL)
"""


def check_forged_state(checks: Checks, tool: Tool) -> None:
    """What a program puts in place of the state of the shell that it ends is not the next one's."""
    control = "/run/parlance" if tool.start["kind"] == "bubblewrap" else "${TMPDIR%/tmp}/control"
    tool.run(f"cat > forger.py << 'end'\n{FORGER}\nend")
    for wait in ("", "; sleep 5"):
        answer = tool.run(f"python3 forger.py {control} {control}/state {'0' * 32}{wait}", timeout=30)
        checks.that((answer["restarted"], answer["restored"]) == (True, False), "a forged state", answer)
        checks.that("forged" not in said(tool.run("ls")), "it is not run")
    tool.run(f"K=1; D={control}/state; printf 'ls() {{ echo forged; }}\\n# whole\\n' > $D/shell.saved; sleep 100 &")
    answer = tool.run("(sleep 0.3; kill -9 $$) &")
    time.sleep(1)
    answer = tool.run("ls; echo K=$K")
    checks.that("forged" not in said(answer) and "K=\n" in said(answer), "an end between two commands", answer)


def check_output(checks: Checks, tool: Tool) -> None:
    answer = tool.run("seq 100000")
    text, file = answer["out"]["text"], answer["out"]["file"]
    checks.that(answer["out"]["cut"] and text.startswith("1\n2\n") and text.endswith("99999\n100000\n"), "head and tail", text[:50])
    checks.that(
        f"the whole is in {file}]\n" in text and answer["out"]["bytes"] == 588895 and len(text) < 17000, "what is left out is said", text
    )
    checks.that(all(line.isdigit() or line.startswith("[") for line in text.splitlines()), "whole lines")
    answer = tool.run(f"wc -lc < {file}; sort -n {file} | uniq | wc -l")
    checks.that(answer["out"]["text"].split() == ["100000", "588895", "100000"], "the file has the whole", answer)
    answer = tool.run(f"echo x >> {file}; rm {file}")
    checks.that(answer["status"] != 0 or tool.start["kind"] == "none", "it cannot be changed", answer)
    answer = tool.run("for i in $(seq 0 100); do printf '\\rprogress %d%%' $i; done; echo")
    checks.that(answer["out"]["text"] == "progress 100%\n", "a progress bar is its last state", answer)
    for line, shown in (
        ("one\\rtwo\\rthree\\r", "three\n["),  # the ends of lines of old machines
        ("Reading... 1%%\\rReading... 50%%\\rReading... 99%%\\rDone   ", "Done   \n"),
        ("Working\\r\\rDone", "Done\n["),
        ("a\\r\\n", "a\n\n"),
        ("|\\r/\\r-\\r10 kB\\r20 kB\\r30 kB\\r1 MB", "1 MB\n"),
        ("1\\f2\\v3", "1\n2\n3\n"),
    ):
        text = tool.run(f"printf '{line}'; echo")["out"]["text"]
        checks.that(text == shown or (shown.endswith("[") and text.startswith(shown + "text before a carriage")), repr(line), text)
    answer = tool.run("printf '\\033[31mred\\033[0m \\033]0;title\\007\\033(Bplain\\033[2K\\b\\bx\\a\\n'")
    checks.that(answer["out"]["text"] == "red plax\n", "control sequences", answer)
    answer = tool.run("printf 'ok \\xff\\xfe \\xc3\\xa9 \\xed\\xa0\\x80 \\x00\\n'")
    checks.that(
        answer["out"]["text"].startswith("ok \ufffd é \ufffd \ufffd\n[") and "6 bytes" in said(answer), "bytes that are no text", answer
    )
    answer = tool.run("printf 'a%.0s\u00e9' $(seq 20000)")
    checks.that("\ufffd" not in said(answer), "no character is cut in halves")
    answer = tool.run("stdbuf -o0 printf 'no line end'; printf 'none' >&2")
    checks.that(answer["out"]["text"] == "no line end" and answer["err"]["text"] == "none", "no line end", answer)
    for _ in range(20):
        answer = tool.run("seq 3000")
        checks.that(answer["out"]["text"].split() == [str(each) for each in range(1, 3001)], "nothing is lost at the end", answer)
    checks.that(said(tool.run("printf '%s' '" + "x" * 300000 + "' | wc -c")) == "300000\n", "a long command")


def check_python(checks: Checks, tool: Tool) -> None:
    def observe(code: str, timeout: float = 10) -> str:
        return str(tool.python(code, timeout)["observation"])

    checks.that(observe("x = 5\nx") == result("5\n"), "a value")
    checks.that(observe("print('a'); x += 1; x") == result("a\n6\n"), "what is printed, and a value")
    checks.that(observe("y = 1") == result(""), "nothing")
    data = (
        "[{'file_name': 'ace.png', 'name': 'Ace in the Hole', 'type': 'survivor', 'description': 'Lady Luck at last.'}, {'b': 1, 'a': 2}]"
    )
    shown = (
        "[{'file_name': 'ace.png',\n  'name': 'Ace in the Hole',\n  'type': 'survivor',\n  'description': 'Lady Luck at last.'},\n"
        " {'b': 1, 'a': 2}]\n"
    )
    checks.that(observe(data) == result(shown), "data, as the specification shows them", observe(data))
    text = observe("def f():\n    return 1 / 0\n\nf()")
    checks.that(
        "Traceback" in text
        and "in f\n    return 1 / 0" in text
        and "ZeroDivisionError: division by zero\n```" in text
        and "driver" not in text,
        "an exception",
        text,
    )
    checks.that("SyntaxError" in observe("def f(:") and "driver" not in observe("def f(:"), "a syntax error")
    checks.that("SystemExit: 3" in observe("import sys; sys.exit(3)") and observe("x") == result("6\n"), "sys.exit")
    for code in ("sys.exit(0)", "sys.exit()", "raise SystemExit(False)", "import unittest; unittest.main(argv=['x'])"):
        answer = tool.python(code)
        checks.that((answer["status"], answer["failed"], answer["restarted"]) == (0, False, False), code, answer)
    for code in ("sys.exit(2)", "sys.exit('0')", "sys.exit(True)", "sys.exit('')", "sys.exit(0.0)"):
        checks.that(tool.python(code)["failed"], code)
    future = "def f(a: nowhere): return 1\nf.__annotations__"
    checks.that("NameError" in observe(future), "annotations")
    observe("from __future__ import annotations")
    checks.that(observe(future) == result("{'a': 'nowhere'}\n"), "a feature of the future stays", observe(future))
    broken = "import builtins as b; kept = vars(b).copy(); b.print = lambda *a, **k: None; del b.repr, b.len, b.isinstance, b.open"
    checks.that(observe(broken) == result("") and observe("1 + 1") == result("2\n"), "builtins that are broken", observe("2"))
    checks.that("NameError" in observe("len") and observe("{1: 2}") == result("{1: 2}\n"), "the driver keeps its own")
    checks.that(observe("vars(b).update(kept); print(len('abc'))") == result("3\n"), "and they can be mended")
    checks.that("KeyboardInterrupt" in observe("while True: pass", 0.5) and observe("x") == result("6\n"), "an endless loop")
    checks.that("KeyboardInterrupt" in observe("import time; time.sleep(60)", 0.5) and observe("x") == result("6\n"), "sleep")
    stubborn = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    answer = tool.python(stubborn, 1)
    checks.that(answer["end"] == "timed_out" and answer["restarted"] and "variables are gone" in answer["observation"], "caught", answer)
    checks.that("NameError" in observe("x"), "a new Python")
    answer = tool.python("import os; os._exit(4)")
    checks.that(answer["restarted"] and answer["status"] == 4, "os._exit", answer)
    checks.that("EOFError" in observe("input()"), "input")
    checks.that(observe("import subprocess; subprocess.run(['echo', 'child']).returncode") == result("child\n0\n"), "a child")
    checks.that(observe("import os\nif os.fork() == 0:\n    print('c')\nelse:\n    os.wait()\n    None").count("c\n") == 1, "a fork")
    checks.that(observe("import sys, os; sys.stdout.close(); os.close(1)") == result("") and observe("print(1)") == result("1\n"), "closed")
    checks.that(
        observe("class A:\n    def __repr__(self): raise ValueError('no')\nA()").endswith("ValueError: no\n```"),
        "a value that cannot be shown",
    )
    checks.that(observe("_") != "" and observe("'\\ud83d'") == result("'\\ud83d'\n"), "half a surrogate")
    answer = tool.python("for i in range(10**5): print(i)")
    checks.that(answer["out"]["cut"] and len(answer["observation"]) < 20000, "much output")
    answer = tool.python("while True: print('x' * 1000)")
    checks.that(answer["end"] == "too_much_output", "endless output", answer)
    classes = "import pickle\nclass A: pass\ndef f(): return 8\npickle.loads(pickle.dumps(f))(), type(pickle.loads(pickle.dumps(A()))) is A"
    checks.equal(observe(classes), result("(8, True)\n"), "functions and classes are pickled")
    checks.equal(observe("import sys; sys.modules['__main__'].f()"), result("8\n"), "they are of the main module")
    checks.equal(observe("{'answer', 'main', 'run', 'ME'} & {*globals()}"), result("set()\n"), "no names of ours")
    answer = tool.python("import os; os.makedirs('p\\nq'); os.chdir('p\\nq')")
    checks.equal(answer["folder"], f"{tool.place.workspace}/p\nq", "a folder with a newline")
    answer = tool.python("import signal; os.chdir('..'); os.kill(os.getpid(), signal.SIGSTOP); 9", 15)
    checks.that("9\n" in said(answer) and "told to go on" in answer["observation"], "stopped", answer)
    checks.that(
        observe("open('shared', 'w').write('y')") == result("1\n") and said(tool.run(f"cat {tool.place.workspace}/shared")) == "y",
        "the shell and Python share the workspace",
    )


def descriptors_of(process: int) -> int:
    """How many are open. The watchdog opens some for moments, so this is the least of several looks."""
    looks = []
    for _ in range(20):
        looks.append(len(list(pathlib.Path(f"/proc/{process}/fd").iterdir())))
        time.sleep(0.01)
    return min(looks)


def check_leaks(checks: Checks, tool: Tool) -> None:
    tool.run("true")
    before = descriptors_of(tool.process.pid), len(descendants(tool.process.pid)), len(said(tool.run("ls /proc/$$/fd")).split())
    begin = time.monotonic()
    for each in range(200):
        answer = tool.run(f"echo {each}")
        checks.that(answer["out"]["text"] == f"{each}\n", "one of two hundred", answer)
    took = time.monotonic() - begin
    after = descriptors_of(tool.process.pid), len(descendants(tool.process.pid)), len(said(tool.run("ls /proc/$$/fd")).split())
    checks.that(before == after, "no descriptors and no processes stay", (before, after))
    print(f"a command takes {took / 200 * 1000:.1f} ms with the tool around it")
    for _ in range(5):
        tool.run("exit")
    again = descriptors_of(tool.process.pid), len(descendants(tool.process.pid))
    checks.that(again == before[:2], "nor after shells that ended", (before, again))


def check_traces(checks: Checks, tool: Tool) -> None:
    processes = descendants(tool.process.pid)
    links = [os.readlink(link) for link in pathlib.Path(f"/proc/{tool.process.pid}/fd").iterdir()]
    folders = [pathlib.Path(link).parent for link in links if "/parlance-agent-" in link and link.endswith("/lock")]
    checks.that(folders and all(folder.is_dir() for folder in folders), "it has folders", folders)
    tool.run("mkdir -p $TMPDIR/closed/in; chmod 0 $TMPDIR/closed; sleep 100 &")
    checks.that(tool.close() == 0, "the tool ends")
    checks.that(not any(map(alive, processes)), "its processes have ended", processes)
    checks.that(not any(folder.exists() for folder in folders), "its folders are gone", folders)


PARTS: tuple[Part, ...] = (
    (check_state, check_status, check_output, check_leaks, check_traces),
    (check_forged_ends,),
    (check_tokens,),
    (check_forged_state, check_folder_names),
    (lambda checks, tool: check_tricks(checks, tool, TRICKS[:40]),),
    (lambda checks, tool: check_tricks(checks, tool, TRICKS[40:-2]),),
    (lambda checks, tool: check_tricks(checks, tool, TRICKS[-2:]),),
    (check_lost,),
    (check_quiet,),
    (check_python,),
)


if __name__ == "__main__":
    run_parts(PARTS)
