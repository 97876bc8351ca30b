#!/usr/bin/env python3
"""Data sets on the command line: what --jsonl reads and refuses, how a run goes on, what rows keep, what is said at the end.

    run_data_tests.py path/to/parlance [NAME...]

Each test is a function below. Begin reading at run.
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
import tempfile
import threading
import time

import check

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
TEMPLATE = "{% for m in messages %}[{{ m.content }}]{% endfor %}"


@contextlib.contextmanager
def world():
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        (folder / "t.jinja").write_text(TEMPLATE, "utf-8")
        yield folder


def row(said, **more):
    return {"messages": [{"role": "user", "content": said}], **more}


def lines_of(rows):
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in rows)


def run(folder, *words, stdin="", code=0):
    """A command: what it printed, and what it said on standard error."""
    stdin = stdin if isinstance(stdin, bytes) else stdin.encode()
    done = subprocess.run([BINARY, *map(str, words)], input=stdin, capture_output=True, cwd=folder, timeout=120)
    said = done.stderr.decode("utf-8", "replace")
    assert done.returncode == code, f"{words} ends with {done.returncode}, not {code}\n{done.stdout[:500]}\n{said[:800]}"
    return done.stdout, said


def render(folder, *words, **options):
    return run(folder, "render", "-t", "t.jinja", "--jsonl", *words, **options)


def answers(out):
    return [json.loads(line) for line in out.splitlines()]


def has(text, *parts):
    for part in parts:
        assert part in text, f"no {part!r} in\n{text}"


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
    "x.parquet": (PARQUET, "x.parquet: Parquet, not lines of JSON", "pandas.read_parquet('x.parquet')"),
    "x.jsonl": (PARQUET, "x.jsonl: Parquet", "to_json('x.jsonl.jsonl'"),
    "x.arrow": (b"ARROW1\0\0" + bytes(99), "Arrow", "read_feather"),
    "data-00000.arrow": (b"\xff\xff\xff\xff\x10\x01\0\0", "Arrow", "datasets.Dataset.from_file('data-00000.arrow')"),
    "x.xz": (b"\xfd7zXZ\0" + bytes(9), "xz", "xzcat x.xz | parlance"),
    "x.bz2": (b"BZh91AY&SY" + bytes(9), "bzip2", "bzcat x.bz2"),
    "x.zip": (b"PK\x03\x04" + bytes(40), "zip", "unzip -p"),
    "x.csv": (b"id,messages\n1,Hi\n2,Ho\n", "a table that begins with 'id,messages'", "pandas.read_csv('x.csv')"),
    "x.tsv": (b"id\tmessages\n1\tHi\n", "a table", "read_csv('x.tsv', sep='\\t')"),
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
    tokenizer = pathlib.Path(__file__).resolve().parent.parent / "tokenizers/chatml/tokenizer.json"
    words = ("tokens", "-f", "chatml", "--tokenizer", tokenizer, "--jsonl")
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
    packs = {".gz": lambda data: gzip.compress(data)}
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

TOKENIZER = pathlib.Path(__file__).resolve().parent.parent / "tokenizers/chatml"


def tokens(folder, *words, rows, **options):
    out, said = run(folder, "tokens", "-f", "chatml", "--tokenizer", TOKENIZER, "--jsonl", *words, stdin=lines_of(rows), **options)
    return answers(out), said


def turns(question, answer, **more):
    return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}], **more}


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
        has(said, "1 of 4 rows have no turn of an assistant's", '1 of 4 lines have messages of the role "gpt", which the template does not know; is it "assistant"?')
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


# ---- what a row may be

def test_rows_that_are_no_conversation_are_told_as_what_they_are(folder):
    turn = [{"role": "user", "content": "Hi"}]
    for given, hint in (({"text": "a"}, "a row of `text` is no conversation"), ({"question": "a", "answer": "b"}, "a row of `question` and `answer`: as a chat"),
                        ({"dialog": turn}, "`dialog` is a list of messages: name it `messages`"), ({"chosen": turn, "rejected": turn}, "a row of preferences"),
                        ({"x": 1}, "a conversation is `messages`, a list of objects with role and content; a template that reads other members gets them by --as-is")):
        error = answers(render(folder, stdin=lines_of([given]), code=1)[0])[0]["error"]
        assert error["message"] == "the request has no `messages`" and error["hint"].startswith(hint), error


sys.exit(check.run_tests(sys.modules[__name__], "tests of data sets", world))
