#!/usr/bin/env python3
"""How commands of the persistent shell and the persistent Python end: by limits, by signals, at the terminal, with their shell; and what
stays behind them.

    shell_ends_test.py SHELL_TOOL bubblewrap|landlock|none

Begin reading at PARTS.
"""

from __future__ import annotations

import time

from shell_tool import Checks, Part, Tool, result, run_parts, said


def check_waiting_shell(checks: Checks, tool: Tool) -> None:
    """What would end or stop the shell while nobody looks."""
    tool.run("TMOUT=1; KEPT=6; sleep 100 &")
    time.sleep(1.5)
    answer = tool.run("echo $KEPT $TMOUT")
    checks.that(said(answer) == "6\n" and len(answer["jobs"]) == 1 and not answer["restarted"], "TMOUT", answer)
    for command in ("suspend; echo on", "kill -STOP $$; echo on", "(sleep 0.3; kill -STOP $$) & sleep 0.6; echo on"):
        answer = tool.run(command, timeout=60)
        told = any("stopped" in note for note in answer["notes"])
        checks.that((answer["end"], answer["out"]["text"][-3:]) == ("finished", "on\n") and told, command, answer)
    answer = tool.run("sleep 0.2 & sleep 100 & echo a")
    time.sleep(0.5)
    answer = tool.run("echo b")
    checks.that("Done" in answer["err"]["text"] and "sleep 0.2" in answer["err"]["text"], "a job that has ended meanwhile", answer)
    for _ in range(8):  # on a busy machine the signal may come after the answer: the next command is told of it then
        answer = tool.run("kill -9 $$ &")
        if answer["restarted"]:
            break
        time.sleep(0.2)
        tool.run("true")
    checks.that(answer["restarted"], "an end right behind a command is told with it", answer)


def check_stopped_between(checks: Checks, tool: Tool) -> None:
    """A shell that is stopped within its read at the prompt, while no command runs, is told to go on as well."""
    for _ in range(4):  # whether the call can be seen while it is stopped is chance
        tool.run("KEPT=7; (sleep 0.2; kill -STOP $$) & echo begun")
        time.sleep(0.6)
        answer = tool.run("echo on $KEPT")
        told = any("stopped" in note for note in answer["notes"])
        checks.that((answer["end"], answer["out"]["text"]) == ("finished", "on 7\n") and told, "stopped between two commands", answer)


def check_signals(checks: Checks, tool: Tool) -> None:
    """The status of a shell that a signal ends is that signal's, and not what a command had before it."""
    for name, number in {"SEGV": 11, "HUP": 1, "USR1": 10, "ABRT": 6, "KILL": 9}.items():
        answer = tool.run(f"true; kill -{name} $$; sleep 5")
        checks.that((answer["end"], answer["status"]) == ("program_ended", 128 + number), name, answer)
    answer = tool.run("exit 139")
    checks.that((answer["status"], answer["restored"]) == (139, True), "a status that looks like one", answer)


# Foreground programs that die of SIGINT by themselves, with what bash does behind them: it leaves the whole command.
CUT_OFF = [
    "cut=1; sh -c 'kill -INT $$'; cut=2",
    "python3 -c 'raise KeyboardInterrupt'; cut=2",
    "sh -c 'kill -INT $$' | cat; cut=2",
    "(python3 -c 'raise KeyboardInterrupt'); cut=2",
    "for n in 1 2; do sh -c 'kill -INT $$'; cut=2; done",
    "kill -INT 0; cut=2",
    "kill -INT $$; cut=2",
]


def check_cut_off(checks: Checks, tool: Tool) -> None:
    """The shell lives on, with all that it had, where a program of a command dies of SIGINT and nobody has interrupted it."""
    job = tool.run("lives() { echo lives; }; sleep 100 & echo started")["jobs"]
    for command in CUT_OFF:
        answer = tool.run(command)
        checks.that((answer["end"], answer["status"], answer["restarted"]) == ("finished", 130, False), command, answer)
        checks.that(any("SIGINT" in note for note in answer["notes"]), "why the rest did not run is said", answer)
    tool.run("trap 'echo DBG' DEBUG; bash -c 'kill -INT $$'")
    checks.equal(said(tool.run("echo a")), "a\n", "a trap of DEBUG ends with its command")
    after = tool.run("lives; echo $cut")
    checks.that((said(after), after["jobs"]) == ("lives\n1\n", job), "function, variable and job are there", after)
    tool.run("kill %1; wait")


def check_unclosed(checks: Checks, tool: Tool) -> None:
    """What bash keeps of a text that is not closed does no harm to those behind it, nor what undoes it to a shell's options."""
    for command in (
        "set -o posix",
        "set -e",
        "export POSIXLY_CORRECT=1; A=1",
        "echo $A; echo $SHELLOPTS; set +e +o posix; unset POSIXLY_CORRECT",
    ):
        answer = tool.run(command)
        checks.that(answer["end"] == "finished" and answer["status"] == 0, command, answer)
    checks.that("1\n" in said(answer) and "errexit" in said(answer) and "posix" in said(answer), "options stay", answer)
    tool.run("KEPT=1")
    for command in (
        "echo $(",
        "cat > a.txt <<EOF\nno end",
        "echo $(",
        "cat <<E\nno end",
        "echo `",
        "echo $(cat <<E",
        "cat <<E\nno end",
        "f() { echo $(",
        "cat <<E <<F\nno",
    ):
        answer = tool.run(command)
        checks.that(answer["end"] == "finished" and not answer["restarted"], repr(command), answer)
    checks.equal(said(tool.run("echo $KEPT $(cat <<E\nx\nE\n)")), "1 x\n", "the shell behind them")


def check_ends(checks: Checks, tool: Tool) -> None:
    tool.run("cd /usr; export KEPT=1; kept() { echo kept; }; PLAIN=2")
    answer = tool.run("echo before; exit 3")
    checks.that(
        (answer["end"], answer["status"], answer["restarted"], answer["restored"]) == ("program_ended", 3, True, True), "exit", answer
    )
    checks.that("before" in said(answer), "what it printed", answer)
    answer = tool.run("pwd; kept; echo $KEPT $PLAIN")
    checks.that(answer["out"]["text"] == "/usr\nkept\n1 2\n", "folder, functions and variables are restored", answer)
    tool.run("alias builtin=false trap=false ulimit=false")
    answer = tool.run("exit")
    checks.that(answer["restored"] and said(tool.run("alias trap")) == "alias trap='false'\n", "aliases stay", answer)
    tool.run("unalias -a")
    tool.run("trap() { exit; }")
    answer = tool.run("exit")
    checks.that((answer["restarted"], answer["restored"]) == (True, False), "a function that keeps a shell from starting", answer)
    checks.that(said(tool.run("pwd; echo $KEPT")) == "/usr\n\n", "the folder is kept all the same")
    answer = tool.run("kill -9 $$")
    checks.that((answer["end"], answer["status"], answer["restored"]) == ("program_ended", 137, False), "killed", answer)
    checks.that(said(tool.run("pwd; echo $KEPT")) == "/usr\n\n", "the folder is restored")
    tool.run(f"mkdir {tool.place.workspace}/gone; cd {tool.place.workspace}/gone")
    answer = tool.run("rmdir $PWD; kill -9 $$")
    checks.that(answer["folder"] == str(tool.place.workspace), "where the folder is gone it is the workspace", answer)
    tool.run(f"mkdir {tool.place.workspace}/gone; cd {tool.place.workspace}/gone; LEFT=7")
    answer = tool.run("rmdir $PWD; exit")
    checks.that((answer["folder"], answer["restored"]) == (str(tool.place.workspace), True), "what was kept is restored there", answer)
    checks.that(said(tool.run("echo $LEFT")) == "7\n", "variables too")
    answer = tool.run("readonly parlance_token=x; declare -a none; exit")
    checks.that(answer["restored"], "a name of ours that is readonly", answer)
    answer = tool.run("echo $LEFT$parlance_token")
    checks.that(said(answer) == "7\n" and not answer["restarted"], "does not go to the next shell", answer)
    tool.send(command=f"touch {tool.place.workspace}/begun; sleep 600; echo no", cancel=True)
    ends = time.monotonic() + 20
    while not (tool.place.workspace / "begun").exists() and time.monotonic() < ends:
        time.sleep(0.01)  # a next request that is read together with this one cancels nothing
    answer = tool.ask(command="echo next")
    checks.that(answer["end"] == "cancelled", "cancelled", answer)
    checks.that("next" in said(tool.receive()), "and the next command")


ENDLESS = [
    "sleep 600",
    "while :; do :; done",
    "while :; do sleep 0.1; done; echo no",
    "trap '' INT; sleep 600",
    "kill -STOP $$ & sleep 600",
    "sh -c 'trap \"\" INT TERM; sleep 600; sleep 600'",
    "sleep 600 | cat | tail",
    "sleep 600\nsleep 600\necho no",
    "exec sleep 600",
]


def check_time_limit(checks: Checks, tool: Tool, endless: list[str]) -> None:
    for command in endless:
        answer = tool.run(f"echo begun; {command}", timeout=1)
        checks.that(answer["end"] == "timed_out" and answer["out"]["text"] == "begun\n", command, answer)
        checks.that(answer["seconds"] < 120, f"{command}: it goes on", answer["seconds"])
        checks.that("alive" in said(tool.run("trap - INT; echo alive")), f"the shell after {command}")


def check_without_input(checks: Checks, tool: Tool) -> None:
    for command in ("cat", "python3", "read x; echo read $x", "bash", "wc -c", "passwd", "top", "man ls", "git commit"):
        if tool.run(f"command -v {command.split()[0].strip(';')}")["status"] != 0:
            continue
        answer = tool.run(command)
        checks.equal(answer["end"], "finished", f"{command}: its input is empty")


INTERACTIVE = {  # and what they print
    "python3 -i < /dev/tty": ">>>",
    "cat < /dev/tty": "",
    "read x < /dev/tty": "",
    "seq 500 | less -X": "1\n",
    "less": "",
    "vim": "",
    "top < /dev/tty": "",
}


def check_interactive(checks: Checks, tool: Tool, programs: list[str]) -> None:
    for command in programs:
        if tool.run(f"command -v {command.replace('seq 500 | ', '').split()[0]}")["status"] != 0:
            continue
        answer = tool.run(command, timeout=3 if INTERACTIVE[command] else 1)  # until it prints that
        if answer["end"] == "finished" and answer["status"] != 0:
            continue  # it does without a terminal that can do more than ours
        checks.that(
            answer["end"] in ("waits_for_input", "timed_out") and INTERACTIVE[command] in said(answer), f"{command}: interrupted", answer
        )
        checks.that(said(tool.run("echo alive")).endswith("alive\n"), f"the shell after {command}")


WAITING = [  # for somebody who types, though not in a read
    "vim x",
    "vim x < /dev/tty",
    "python3 -c 'import select; select.select([open(\"/dev/tty\")], [], [])'",
    "python3 -c 'import select; p = select.poll(); p.register(2, select.POLLIN); p.poll()'",
    "python3 -c 'import select; p = select.epoll(); f = open(\"/dev/tty\"); p.register(f, select.EPOLLIN); p.poll(100)'",
]


def check_waiting(checks: Checks, tool: Tool) -> None:
    for command in WAITING:
        if tool.run(f"command -v {command.split()[0]}")["status"] != 0:
            continue
        answer = tool.run(command, timeout=40)
        checks.that(answer["end"] == "waits_for_input" and answer["seconds"] < 30, f"{command}: it waits for input", answer)
    answer = tool.run("python3 -c 'import select, os; r, w = os.pipe(); select.select([r], [], [], 3)'")
    checks.equal(answer["end"], "finished", "who waits for something else is let wait")


LEFT_OVER = [  # code that is interrupted, and leaves a program that would read what is typed behind it
    "subprocess.run(['bash', '-c', 'trap \"\" INT; cat < /dev/tty; true'])",
    "subprocess.run(['bash', '-c', 'trap \"\" INT TERM; read x < /dev/tty; true'])",
    "subprocess.run(['bash', '-c', 'less /etc/passwd; true'])",
    "subprocess.run(['bash', '-ic', 'trap \"\" INT; cat < /dev/tty'])",  # it takes the terminal for its own group
]


def check_left_over(checks: Checks, tool: Tool) -> None:
    """No program of one code takes the next one, or the blame for it; what an earlier one left in the background stays."""
    tool.python("import os, subprocess, time; kept = 4; server = subprocess.Popen(['sleep', '1000']); time.sleep(0.1)")
    for code in LEFT_OVER:
        answer = tool.python(code, 20)
        checks.that(answer["end"] == "waits_for_input" and not answer["restarted"], code, answer)
        answer = tool.python("kept += 1; print(os.tcgetpgrp(1) == os.getpgrp())")
        checks.equal(answer["observation"], result("True\n"), f"the code behind {code}")
    tool.python("reader = subprocess.Popen('trap \"\" INT; cat < /dev/tty', shell=True); time.sleep(0.1)")
    answer = tool.python("time.sleep(2.5); kept")
    checks.equal(answer["observation"], result("8\n"), "what an earlier code left may wait for input")
    answer = tool.python("while True: pass", 0.3)
    checks.that(answer["end"] == "timed_out", "an endless loop", answer)
    checks.equal(tool.python("server.poll(), reader.poll()")["observation"], result("(None, None)\n"), "they live on")
    tool.python("crowd = subprocess.Popen('while :; do (sleep 0.05 &); sleep 0.01; done >/dev/null 2>&1', shell=True); time.sleep(0.3)")
    answer = tool.python("while True: pass", 0.5)
    checks.that(answer["end"] == "timed_out" and answer["seconds"] < 1.1, "whose parents have ended holds nothing up", answer)
    checks.equal(tool.python("crowd.poll(), kept")["observation"], result("(None, 8)\n"), "nor does it cost the variables")
    tool.python("crowd.kill()")
    tool.python("os.closerange(3, 256)")
    checks.equal(tool.python("kept")["observation"], result("8\n"), "descriptors are closed")
    closed = tool.python("os.closerange(3, 100000)")
    answer = tool.python("open('ran', 'w'); kept")  # it ends with the code before, before this code or with it
    has_run = (tool.place.workspace / "ran").exists()
    is_told = [closed["restarted"], answer["restarted"]].count(True) == 1
    checks.that(is_told and has_run == ("NameError" in answer["observation"]), "all of them: Python ends", [closed, answer])
    checks.equal(tool.python("3")["observation"], result("3\n"), "and there is another")


def check_left_by_shell(checks: Checks, tool: Tool) -> None:
    """The same for what bash runs in its own group: command substitutions."""
    tool.run("kept=4")
    for command in ("x=$(trap '' INT; cat < /dev/tty; true); echo no", "x=$(trap '' INT TERM; cat < /dev/tty; true); echo no"):
        answer = tool.run(command, 20)
        checks.that(answer["end"] == "waits_for_input" and not answer["restarted"], command, answer)
        checks.equal(answer["err"]["text"], "", f"bash's ends of lines are not shown: {command}")
        checks.equal(said(tool.run("echo $kept")), "4\n", f"the command behind {command}")


IN_BACKGROUND = [  # in the shell's own group, though
    "start() { sleep 1000 >/dev/null 2>&1 & echo $!; }; pid=$(start); sleep 30",
    "pid=$(sh -c 'sleep 1000 >/dev/null & echo $!'); sleep 30",
    "pid=$(python3 -c 'import time; time.sleep(1000)' >/dev/null 2>&1 & echo $!); while :; do :; done",  # it takes SIGINT
    "set +m; sleep 1000 & pid=$!; sleep 30",
]


def check_background_stays(checks: Checks, tool: Tool) -> None:
    """A timeout ends no program in the background, in whatever way it came there, and is not held up by it."""
    for command in IN_BACKGROUND:
        answer = tool.run(command, 1)
        checks.that((answer["end"], answer["err"]["text"]) == ("timed_out", "") and answer["seconds"] < 1.7, command, answer)
        checks.equal(said(tool.run("kill -0 $pid && echo alive; kill -9 $pid")).split()[:1], ["alive"], command)
    tool.run("pid=$(sleep 1000 >/dev/null & echo $!)")
    answer = tool.run("sleep 30", 0.5)
    checks.that(answer["end"] == "timed_out", "behind one of the command before", answer)
    checks.equal(said(tool.run("kill -0 $pid && echo alive")), "alive\n", "it stays, too")


PARTS: tuple[Part, ...] = (
    (check_ends,),
    (check_signals, check_cut_off, check_unclosed),
    (lambda checks, tool: check_time_limit(checks, tool, ENDLESS[::2]),),
    (lambda checks, tool: check_time_limit(checks, tool, ENDLESS[1::2]),),
    (check_without_input,),
    (check_waiting_shell,),
    (check_stopped_between,),
    (check_waiting,),
    (lambda checks, tool: check_interactive(checks, tool, [*INTERACTIVE][::2]),),
    (lambda checks, tool: check_interactive(checks, tool, [*INTERACTIVE][1::2]),),
    (check_left_over,),
    (check_left_by_shell, check_background_stays),
)


if __name__ == "__main__":
    run_parts(PARTS)
