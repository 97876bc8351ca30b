#!/usr/bin/env python3
"""A run over lines (--jsonl): what it reads and refuses, how it goes on, what it does where it cannot write.

    run_lines_tests.py path/to/parlance [NAME...]

Each test is a function below. Begin reading at run in rows.py.
"""

import contextlib
import gzip
import json
import os
import pathlib
import pty
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import check
import rows
from rows import BINARY, TOKENIZER, answers, has, lines_of, row, run, turns
from rows import render_lines as render

# ---- exit codes


def test_a_run_without_one_good_line_is_no_success(folder):
    has(render(folder, stdin=lines_of([{"x": 1}, {"x": 2}]), code=1)[1], "2 of 2 lines were answered by an error")
    render(folder, stdin=lines_of([{"x": 1}, row("Hi")]))
    render(folder, "--fail-on-error", stdin=lines_of([{"x": 1}, row("Hi")]), code=1)
    render(folder, "--fail-on-error", stdin=lines_of([row("Hi")]))
    render(folder, stdin="")
    render(folder, stdin="\n\n")
    run(folder, "read", "-f", "terminal-agent", "--jsonl", stdin=lines_of([{"id": 1}]), code=1)
    run(folder, "convert", "--as", "openai", "--jsonl", stdin=lines_of([{"id": 1}]), code=1)


# ---- what is read

PARQUET = b"PAR1" + bytes(range(256)) * 40 + b"PAR1"
OTHER_FILES = {
    "x.parquet": (PARQUET, "x.parquet: Parquet, not lines of JSON", "p.read_table('x.parquet').to_pylist()"),
    "x.jsonl": (PARQUET, "x.jsonl: Parquet", "> x.jsonl.jsonl"),
    "x.arrow": (b"ARROW1\0\0" + bytes(99), "Arrow", "feather as p; [print(json.dumps(row, default=str)) for row in p.read_table('x.arrow')"),
    "data-00000.arrow": (b"\xff\xff\xff\xff\x10\x01\0\0", "Arrow", "datasets.Dataset.from_file('data-00000.arrow')"),
    "x.xz": (b"\xfd7zXZ\0" + bytes(9), "xz", "xzcat x.xz | parlance"),
    "x.bz2": (b"BZh91AY&SY" + bytes(9), "bzip2", "bzcat x.bz2"),
    "x.zip": (b"PK\x03\x04" + bytes(40), "zip", "unzip -p"),
    "x.csv": (b"id,messages\n1,Hi\n2,Ho\n", "a table that begins with 'id,messages'", "pandas.read_csv('x.csv', dtype=str, keep_default_na=False)"),
    "x.tsv": (b"id\tmessages\n1\tHi\n", "a table", "read_csv('x.tsv', sep='\\t', dtype=str"),
    "x.txt": (b"Once upon a time there was a line that is longer than forty bytes\nand more\n", "a text that begins with 'Once upon", "an object of JSON"),
    "x16.jsonl": (lines_of([row("Hi")]).encode("utf-16"), "UTF-16", "iconv -f UTF-16 -t UTF-8 x16.jsonl"),
    "x16be": (b"\xfe\xff" + lines_of([row("Hi")]).encode("utf-16-be"), "UTF-16", "iconv"),
    "x16bare": (lines_of([row("Hi")]).encode("utf-16-le"), "no text", "file x16bare"),
    "x.json": (json.dumps([row("a"), row("b")]).encode(), "x.json: one list", "jq -c '.[]' x.json | parlance"),
    "pretty.json": (json.dumps([row("a"), row("b")], indent=2).encode(), "one list", "jq -c '.[]'"),
    "long.json": (json.dumps([row("a" * 300_000), row("b")]).encode(), "one list", "jq -c '.[]'"),
    "one.json": (json.dumps(row("a"), indent=1).encode(), "an object over several lines", "jq -c . one.json"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS", "git lfs pull"),
    "page": (b"<!DOCTYPE html>\n<p>404</p>\n", "HTML", "downloaded"),
    "events": (b"data: {\"a\": 1}\n\ndata: [DONE]\n", "events of a server", "sed -n"),
}


def test_what_is_no_lines_of_json_is_told_as_what_it_is(folder):
    for name, (data, what, hint) in OTHER_FILES.items():
        (folder / name).write_bytes(data)
        (folder / "out.jsonl").write_text("older")
        out, said = render(folder, name, "-o", "out.jsonl", code=3)
        assert out == b"" and (folder / "out.jsonl").read_text() == "older", (name, out)
        has(said, "not lines of JSON", what, hint)
        assert "line 1" not in said and said.startswith("parlance: "), said
        has(render(folder, stdin=data, code=3)[1], "<stdin>: ")
    for words in (("read", "-f", "terminal-agent"), ("convert", "--as", "openai")):
        has(run(folder, *words, "--jsonl", "x.parquet", code=3)[1], "Parquet")


def test_a_name_that_promises_another_packing_is_refused(folder):
    for name, hint in (("x.jsonl.xz", "-o x.jsonl.zst, or parlance … | xz > x.jsonl.xz"), ("x.bz2", "| bzip2 > x.bz2"), ("x.zstd", "-o x.zst"),
                       ("x.parquet", "-o x.jsonl"), ("x.arrow", "-o x.jsonl")):
        has(render(folder, "-o", name, stdin=lines_of([row("a")]), code=2)[1], "-o " + name, hint)
        assert not (folder / name).exists()


def test_one_line_that_is_wrong_is_no_other_file(folder):
    for wrong, where in (("{", "1"), ("x,y", "1"), ("\n{'a'", "2"), (" 5", "1")):
        out, _ = render(folder, stdin=wrong + "\n" + lines_of([row("Hi")]))
        found = answers(out)
        assert len(found) == 2 and found[0]["line"] == int(where) and found[1]["text"] == "[Hi]", (wrong, out)
    for wrong in ("[broken", '["a",', '[{"role": "user",'):
        out, _ = render(folder, stdin=wrong + "\n" + lines_of([row("Hi")] * 2))
        assert [one.get("text") for one in answers(out)] == [None, "[Hi]", "[Hi]"], (wrong, out)
    listed = "[\n" + json.dumps(row("a")) + ",\n" + json.dumps(row("b")) + "\n]\n"
    has(render(folder, stdin=listed, code=3)[1], "one list")
    has(render(folder, stdin='{"messages": [}\n' + lines_of([row("Hi")]))[1], "note: line 1, column 15: Expecting value")
    for wrong in ("[1,\n", "5\n6\n", '[{"role": "user", "content": "Hi"}]\n[{"role": "user", "content": "Hi"}]\n', '[{"role": "user", "content": "Hi"}]\n'):
        out, said = render(folder, stdin=wrong, code=1)
        assert len(answers(out)) == wrong.count("\n"), (wrong, out, said)


def test_a_byte_order_mark_is_passed_over(folder):
    out, _ = render(folder, stdin=b"\xef\xbb\xbf" + lines_of([row("a"), row("b")]).encode())
    assert [one["text"] for one in answers(out)] == ["[a]", "[b]"], out


def test_packed_data_is_read_whatever_its_name(folder):
    text = lines_of([row(f"{i} " + "x" * (i % 97)) for i in range(5000)]).encode()
    packed = {"gz": gzip.compress(text)}
    if shutil.which("zstd"):
        packed["zst"] = subprocess.run(["zstd", "-q", "-c"], input=text, capture_output=True, check=True).stdout
    wanted, _ = render(folder, stdin=text)
    for data in packed.values():
        (folder / "packed").write_bytes(data)
        assert render(folder, "packed")[0] == wanted
        assert render(folder, stdin=data)[0] == wanted
        out, said = render(folder, stdin=data[: len(data) // 2], code=3)
        assert wanted.startswith(out) and out.endswith(b"}\n"), out[-80:]
        has(said, "<stdin>: at byte ", "cut off")
    (folder / "packed").write_bytes(gzip.compress(PARQUET))
    has(render(folder, "packed", code=3)[1], "packed: Parquet")


def test_a_pipe_gets_an_answer_to_each_line(folder):
    command = [BINARY, "render", "-t", "t.jinja", "--jsonl"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder) as process:
        for text in ("a", "b"):
            process.stdin.write(lines_of([row(text)]).encode())
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["text"] == f"[{text}]"
        process.stdin.close()
        assert process.wait(timeout=60) == 0


# ---- going on


def test_lines_are_skipped_and_keep_their_numbers(folder):
    rows = [row("a", id="a"), "", {"id": "b"}, row("c", id="c"), {"id": "d"}]
    out, said = render(folder, "--skip-lines", 2, stdin=lines_of(rows))
    found = answers(out)
    assert [(one["id"], one.get("line")) for one in found] == [("b", 3), ("c", None), ("d", 5)], found
    has(said, "2 of 3 lines were answered by an error", 'line 3 (id "b")', 'line 5 (id "d")')
    out, said = render(folder, "--skip-lines", 9, stdin=lines_of(rows))
    assert out == b""
    has(said, "--skip-lines 9: the input has 5 lines")
    has(run(folder, "render", "-t", "t.jinja", "--skip-lines", 2, stdin="{}", code=2)[1], "--skip-lines is for --jsonl")


def test_ids_of_the_last_turn_are_those_of_the_line_behind_skipped_ones(folder):
    words = ("tokens", "-f", "chatml", "--tokenizer", TOKENIZER, "--jsonl")
    chats = [row(text) for text in ("a", "b", "c")]
    ids, _ = run(folder, *words, stdin=lines_of(chats))
    (folder / "ids.jsonl").write_bytes(ids)
    longer = [{"messages": [*one["messages"], {"role": "assistant", "content": "x"}, {"role": "user", "content": "y"}]} for one in chats]
    whole, _ = run(folder, *words, "--extend", "ids.jsonl", stdin=lines_of(longer))
    rest, _ = run(folder, *words, "--extend", "ids.jsonl", "--skip-lines", 1, stdin=lines_of(longer))
    assert whole.splitlines()[1:] == rest.splitlines() and len(answers(rest)) == 2, (whole, rest)


def started(folder, *words, **files):
    """A run whose standard input stays open."""
    command = [BINARY, "render", "-t", "t.jinja", "--jsonl", *map(str, words)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, **files)


def wait_for_handlers(process):
    """Until it takes signals down; SIGPIPE is the last but these."""
    wanted = sum(1 << number - 1 for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        caught = re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())
        if int(caught[1], 16) & wanted == wanted:
            break
        time.sleep(0.01)
    time.sleep(0.1)


def unpacked(path):
    data = path.read_bytes()
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-q", "-d", "-c"], input=data, capture_output=True, check=True).stdout
    return gzip.decompress(data) if path.suffix == ".gz" else data


def names_of_outputs():
    return ["out.jsonl", "out.jsonl.gz", *(["out.jsonl.zst"] if shutil.which("zstd") else [])]


def test_a_run_that_is_interrupted_goes_on(folder):
    rows = [row(f"{i} " + "x" * (i % 97), id=i) for i in range(4000)]
    (folder / "chats.jsonl").write_text(lines_of(rows))
    whole, _ = render(folder, "chats.jsonl")
    for name in names_of_outputs():
        for ends in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            output = folder / name
            output.unlink(missing_ok=True)
            with started(folder, "-o", name) as process:
                process.stdin.write(lines_of(rows[:1500]).encode() + b'{"id": 1500, "mess')
                process.stdin.flush()
                wait_for_handlers(process)
                process.send_signal(ends)
                said = process.stderr.read().decode()
                assert process.wait(timeout=60) == 128 + ends, (ends, process.returncode, said)
            done = re.search(r"parlance: interrupted: done with lines 1 to (\d+) of the input; the same command with --skip-lines \1 --append goes on", said)
            assert done and int(done[1]) <= 1500, said
            assert unpacked(output) == b"".join(whole.splitlines(True)[: int(done[1])]), (name, ends)
            assert not list(folder.glob("*.part"))
            has(render(folder, "chats.jsonl", "--skip-lines", done[1], "-o", name, code=2)[1], f"-o {name} is there already", "--append adds to it")
            render(folder, "chats.jsonl", "--skip-lines", done[1], "--append", "-o", name)
            assert unpacked(output) == whole, (name, ends)


def test_a_run_over_a_file_ends_at_once(folder):
    """In the middle of lines that are there, packed and not, and of an archive from a pipe."""
    data = lines_of([row("x" * 100, id=i) for i in range(400_000)]).encode()
    (folder / "chats.jsonl").write_bytes(data)
    (folder / "chats.jsonl.gz").write_bytes(gzip.compress(data, 1))
    for name in ("chats.jsonl", "chats.jsonl.gz"):
        with started(folder, name, "-o", "out.jsonl") as process:
            while not (folder / "out.jsonl").exists() or (folder / "out.jsonl").stat().st_size < 100_000:
                time.sleep(0.005)
            process.send_signal(signal.SIGTERM)
            said = process.stderr.read().decode()
            assert process.wait(timeout=60) == 143, said
        found = answers((folder / "out.jsonl").read_bytes())
        assert [one["id"] for one in found] == list(range(len(found))) and len(found) < 400_000
        has(said, f"done with lines 1 to {len(found)} of {name}; the same command with --skip-lines {len(found)} --append goes on")
        (folder / "out.jsonl").unlink()
    with started(folder, "-o", "out.jsonl") as process:
        process.stdin.write(gzip.compress(data[:200_000])[:5000])
        process.stdin.flush()
        wait_for_handlers(process)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
        assert process.wait(timeout=60) == 130 and "cut off" not in said, said


def test_a_second_signal_ends_it_as_ever(folder):
    with started(folder, "-o", "out.jsonl.gz", stdout=subprocess.DEVNULL) as process:
        process.stdin.write(lines_of([row("a")]).encode())
        process.stdin.flush()
        wait_for_handlers(process)
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        assert process.wait(timeout=60) in (130, 143)
    read, write = os.pipe()  # nobody reads: the answers wait
    with started(folder, stdout=write) as process:
        writer = threading.Thread(target=lambda: write_all(process.stdin, lines_of([row("x" * 5000)] * 3000).encode()))
        writer.start()
        wait_for_handlers(process)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == -signal.SIGTERM
        writer.join()
    os.close(read)
    os.close(write)


def write_all(file, data):
    with contextlib.suppress(BrokenPipeError):
        file.write(data)
        file.flush()


def test_a_signal_that_is_ignored_stays_so(folder):
    command = f"trap '' INT HUP; exec {BINARY} render -t t.jinja --jsonl"
    with subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder) as process:
        process.stdin.write(lines_of([row("a")]).encode())
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGHUP)
        process.stdin.write(lines_of([row("b")]).encode())
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["text"] == "[b]"
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_append_adds_to_what_fits(folder):
    one, two = lines_of([row("a")]), lines_of([row("b")])
    for name in names_of_outputs():
        for text in (one, two):
            render(folder, "--append", "-o", name, stdin=text)
        assert [json.loads(line)["text"] for line in unpacked(folder / name).splitlines()] == ["[a]", "[b]"], name
    (folder / "out.jsonl").write_text('{"text": "a"}\n{"te')
    has(render(folder, "--append", "-o", "out.jsonl", stdin=one, code=2)[1], "the last line of out.jsonl is cut off",
        "truncate -s -$(tail -n 1 out.jsonl | wc -c) out.jsonl")
    subprocess.run("truncate -s -$(tail -n 1 out.jsonl | wc -c) out.jsonl", shell=True, check=True, cwd=folder)
    render(folder, "--append", "-o", "out.jsonl", stdin=one)
    assert len((folder / "out.jsonl").read_text().splitlines()) == 2
    (folder / "out.jsonl.gz").write_text("plain\n")
    has(render(folder, "--append", "-o", "out.jsonl.gz", stdin=one, code=2)[1], "is not packed as its name says")
    assert (folder / "out.jsonl.gz").read_text() == "plain\n"
    has(render(folder, "--append", stdin=one, code=2)[1], "--append adds to the file of -o")
    has(run(folder, "render", "-t", "t.jinja", "--append", "-o", "x", stdin="{}", code=2)[1], "--append is for --jsonl")


def test_append_adds_to_nothing_that_could_not_be_read(folder):
    """Archives that are cut off, or whose last line is; what is no lines; an archive of another name."""
    text = lines_of([row("a")]).encode()
    render(folder, "-o", "whole.jsonl", stdin=text * 3)
    whole = (folder / "whole.jsonl").read_bytes()
    packs = {".gz": lambda data: gzip.compress(data, mtime=0)}
    if shutil.which("zstd"):
        packs[".zst"] = lambda data: subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout
    for ending, pack in packs.items():
        name = f"out.jsonl{ending}"
        for data, why in ((pack(whole)[:-9], "cut off"), (pack(whole[:-3]), f"the last line of {name} is cut off"), (pack(b"a,b\n"), "does not begin with a line of JSON")):
            (folder / name).write_bytes(data)
            said = render(folder, "--append", "-o", name, stdin=text, code=2)[1]
            has(said, why)
            assert (folder / name).read_bytes() == data
            if "cut off" in why:  # the hint is a command that works
                command = said.split("hint: ")[1].split(" has its whole lines")[0]
                subprocess.run(command, shell=True, check=True, capture_output=True, cwd=folder)
                render(folder, "--append", "-o", f"whole-{name}", stdin=text)
                answers(unpacked(folder / f"whole-{name}"))
        (folder / "packed.jsonl").write_bytes(pack(whole))
        has(render(folder, "--append", "-o", "packed.jsonl", stdin=text, code=2)[1], f"it is a {ending}: rename it to packed.jsonl{ending}")
        assert (folder / "packed.jsonl").read_bytes() == pack(whole)
    (folder / "notes.txt").write_text("my notes\n")
    has(render(folder, "--append", "-o", "notes.txt", stdin=text, code=2)[1], "notes.txt does not begin with a line of JSON")
    (folder / "empty.jsonl").write_text("")
    render(folder, "--append", "-o", "empty.jsonl", stdin=text)
    assert (folder / "notes.txt").read_text() == "my notes\n" and len(answers((folder / "empty.jsonl").read_bytes())) == 1


def test_two_runs_do_not_write_to_one_file(folder):
    text = lines_of([row("a")]).encode()
    for name in names_of_outputs():
        for more in ((), ("--append",)):
            with started(folder, "-o", name, *more) as first:
                first.stdin.write(text)
                first.stdin.flush()
                wait_for_handlers(first)
                for other in ((), ("--append",)):
                    if more or not other or name == "out.jsonl":  # a new archive has its name at its end
                        has(render(folder, "-o", name, *other, stdin=text * 5, code=3)[1], f"{name}: another run writes to it")
                first.stdin.close()
                assert first.wait(timeout=60) == 0
        assert len(answers(unpacked(folder / name))) == 2 and not list(folder.glob("*.part")), name
    (folder / "out.jsonl.gz.part").write_text("mine")  # of a run that was killed, or something else
    render(folder, "-o", "out.jsonl.gz", stdin=text)
    assert len(answers(unpacked(folder / "out.jsonl.gz"))) == 1 and (folder / "out.jsonl.gz.part").read_text() == "mine"


# ---- what cannot be written

def limited(folder, size, *words, stdin=""):
    """A run whose files may have so many bytes."""
    command = [BINARY, "render", "-t", "t.jinja", "--jsonl", *map(str, words)]
    done = subprocess.run(command, input=stdin.encode(), capture_output=True, cwd=folder, timeout=120,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    return done.returncode, done.stderr.decode()


def test_what_is_written_is_told_where_the_rest_cannot_be(folder):
    rows = [row("x" * 1000, id=i) for i in range(3000)]
    (folder / "chats.jsonl").write_text(lines_of(rows))
    whole, _ = render(folder, "chats.jsonl")
    code, said = limited(folder, 1_000_000, "chats.jsonl", "-o", "out.jsonl")
    written = (folder / "out.jsonl").read_bytes()
    count = len(written.splitlines())
    assert code == 3 and written and whole.startswith(written) and written.endswith(b"}\n"), (code, said)
    has(said, f"out.jsonl: File too large; written are the answers to lines 1 to {count} of chats.jsonl", f"--skip-lines {count} --append")
    render(folder, "chats.jsonl", "--skip-lines", count, "--append", "-o", "out.jsonl")
    assert (folder / "out.jsonl").read_bytes() == whole
    noise = lines_of([row("".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=1000)), id=i) for i in range(3000)])
    (folder / "noise.jsonl").write_text(noise)
    code, said = limited(folder, 1_000_000, "noise.jsonl", "-o", "new.jsonl.gz")
    assert code == 3 and not list(folder.glob("new*")), said
    has(said, "new.jsonl.gz: File too large; none of it is kept")
    assert said.count("File too large") == 1, said
    render(folder, "--append", "-o", "new.jsonl.gz", stdin=lines_of([row("a")]))
    before = (folder / "new.jsonl.gz").read_bytes()
    code, said = limited(folder, 1_000_000, "noise.jsonl", "-o", "new.jsonl.gz", "--append")
    assert code == 3 and (folder / "new.jsonl.gz").read_bytes() == before, said
    has(said, "new.jsonl.gz: File too large; what was added is taken back")


def test_a_full_device_and_a_reader_that_is_gone(folder):
    text = lines_of([row("x" * 1000)] * 3000)
    has(render(folder, "-o", "/dev/full", stdin=text, code=3)[1], "/dev/full: No space left on device; written are the answers to no line of the input")
    assert "--skip-lines" not in render(folder, "-o", "/dev/full", stdin=text, code=3)[1]
    (folder / "chats.jsonl").write_text(text)
    with subprocess.Popen([BINARY, "render", "-t", "t.jinja", "--jsonl", "chats.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          cwd=folder) as process:
        process.stdout.readline()
        process.stdout.close()
        assert (process.stderr.read(), process.wait(timeout=60)) == (b"", 128 + signal.SIGPIPE)


def test_the_input_is_not_written_to(folder):
    (folder / "chats.jsonl").write_text(lines_of([row("a")]))
    before = (folder / "chats.jsonl").read_text()
    for command in ("chats.jsonl >> chats.jsonl", "< chats.jsonl >> chats.jsonl", "/dev/stdin < chats.jsonl >> chats.jsonl"):
        done = subprocess.run(f"{BINARY} render -t t.jinja --jsonl {command}", shell=True, capture_output=True, text=True, cwd=folder)
        assert done.returncode == 2 and "standard output is the file that is being read" in done.stderr, (command, done)
    os.link(folder / "chats.jsonl", folder / "same")
    (folder / "link").symlink_to("chats.jsonl")
    for name in ("same", "link", "./chats.jsonl"):
        for more in ((), ("--append",)):
            has(render(folder, "chats.jsonl", "-o", name, *more, code=2)[1], "is the file that is being read")
    assert (folder / "chats.jsonl").read_text() == before


def test_an_input_that_cannot_be_read_leaves_an_older_output(folder):
    (folder / "out.jsonl").write_text("older")
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(lines_of([row("a")]).encode())[:15])
    render(folder, "cut.jsonl.gz", "-o", "out.jsonl", code=3)
    render(folder, "none.jsonl", "-o", "out.jsonl", code=3)
    assert (folder / "out.jsonl").read_text() == "older"
    has(render(folder, "-o", "out.jsonl", stdin="")[1], "<stdin>: empty, so there are no answers")
    assert (folder / "out.jsonl").read_text() == ""


def test_a_template_that_does_not_compile_is_one_error_for_a_file(folder):
    (folder / "bad.jinja").write_text("{% for m in messages %}")
    text = lines_of([turns("a", "b")] * 3)
    for words in (("render",), ("tokens", "--tokenizer", TOKENIZER), ("prefix",), ("check",), ("read",)):
        (folder / "out.jsonl").write_text("older")
        out, said = run(folder, *words, "-t", "bad.jinja", "--jsonl", "-o", "out.jsonl", stdin=text, code=1)
        assert (folder / "out.jsonl").read_text() == "older" and out == b"", words
        assert said.count("bad.jinja") == 1 and "3 of 3" not in said, (words, said)
    out, said = run(folder, "render", "-t", "bad.jinja", "--jsonl", stdin=text, code=1)  # who reads the answers gets them
    assert [one["error"]["type"] for one in answers(out)] == ["TemplateSyntaxError"] * 3, out


def test_what_is_read_is_not_the_output(folder):
    before = (folder / "t.jinja").read_text()
    has(render(folder, "-o", "t.jinja", stdin=lines_of([row("a")]), code=2)[1], "-o t.jinja is the file that is being read")
    assert (folder / "t.jinja").read_text() == before


# ---- progress

def on_a_terminal(folder, *words, stdin=None):
    """What a run shows on a terminal, and its exit code."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([BINARY, "render", "-t", "t.jinja", "--jsonl", *map(str, words)], stdin=stdin or subprocess.DEVNULL, stderr=theirs,
                          stdout=subprocess.DEVNULL, cwd=folder) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                shown += piece
        os.close(ours)
        return shown.decode(), process.wait(timeout=60)


def test_progress_knows_the_size_of_a_file(folder):
    data = lines_of([row("x" * 100, id=i) for i in range(250_000)]).encode()
    (folder / "chats.jsonl").write_bytes(data)
    (folder / "chats.jsonl.gz").write_bytes(gzip.compress(data, 1))
    for name in ("chats.jsonl.gz", None):  # and one from the file on standard input
        with (folder / "chats.jsonl").open("rb") as file:
            shown, code = on_a_terminal(folder, "--threads", 1, *([name] if name else []), stdin=file)
        assert code == 0
        shares = [int(share) for share in re.findall(r"\r(\d+) %, ", shown)]
        assert shares and shares == sorted(shares) and max(shares) <= 100, shares
        last = shown.rstrip().rpartition("\r")[2]
        assert re.match(r"250000 answered, 0 failed, \d+ MB read, \d+ lines/s, \d+:\d\d", last), shown[-300:]
    with subprocess.Popen(["cat", "chats.jsonl"], stdout=subprocess.PIPE, cwd=folder) as cat:
        shown, code = on_a_terminal(folder, stdin=cat.stdout)
    assert code == 0 and "%" not in shown and "lines/s" in shown, shown[-300:]


sys.exit(check.run_tests(sys.modules[__name__], "tests of lines", rows.world))
