#!/usr/bin/env python3
"""What the command line reads and writes: files, standard input, compressed files, variables, colours.

    run_io_tests.py path/to/parlance [NAME...]

Each test is a function below. Compressed files are made and read by Python's gzip and the program zstd, not by parlance. Begin
reading at run in rows.py.
"""

import contextlib
import gzip
import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import time
import zlib

import check
import rows
from rows import BINARY, has, run
from rows import row as chat


@contextlib.contextmanager
def world():
    with rows.world() as folder:
        (folder / "chat.json").write_text(json.dumps(chat("Hi")), "utf-8")
        yield folder


def render(folder, *arguments, **options):
    return run(folder, "render", "-t", "t.jinja", *arguments, **options)


def zstd(*arguments, **options):
    return subprocess.run(["zstd", "-q", *map(str, arguments)], check=True, capture_output=True, **options).stdout


def lines_of(count):
    return "".join(json.dumps({"id": i, **chat(f"line {i} " + "x" * (i % 97))}) + "\n" for i in range(count))


def answers(count):
    return [{"id": i, "text": f"[line {i} " + "x" * (i % 97) + "]"} for i in range(count)]


def read_answers(raw):
    return [{key: row[key] for key in ("id", "text")} for row in map(json.loads, raw.decode().splitlines())]


# ---- threads

def test_few_threads(folder):
    """Rows are answered also where the user may have no thread but the first."""
    if os.getuid() != 0:
        return
    (folder / "many.jsonl").write_text(lines_of(5000), "utf-8")
    folder.chmod(0o755)
    for most in range(1, 6):
        user = str(43280 + most)  # of its own: others' threads count too
        prefix = ["prlimit", f"--nproc={most}", "setpriv", "--reuid", user, "--regid", user, "--clear-groups"]
        command = [*prefix, BINARY, "render", "-t", "t.jinja", "--jsonl", "many.jsonl", "--threads", "3"]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b""), (most, done.stderr)
        assert read_answers(done.stdout) == answers(5000), most


# ---- output

def test_output_file(folder):
    out, _ = render(folder, "chat.json", "-o", "out.txt")
    assert out == b"" and (folder / "out.txt").read_bytes() == b"[Hi]"
    render(folder, "chat.json", "--output", "long.txt")
    run(folder, "list", "formats", "-o", "list.txt")
    has((folder / "list.txt").read_text(), "terminal-agent")


def test_output_stays_where_a_command_fails_before(folder):
    (folder / "out.txt").write_text("older")
    (folder / "bad.jinja").write_text("{{ nope.x }}")
    run(folder, "render", "-t", "bad.jinja", "chat.json", "-o", "out.txt", code=1)
    assert (folder / "out.txt").read_text() == "older"
    render(folder, "chat.json", "-o", "out.txt")
    assert (folder / "out.txt").read_text() == "[Hi]"


def test_output_that_is_empty_is_a_file(folder):
    (folder / "t.jinja").write_text("")
    render(folder, "chat.json", "-o", "out.txt")
    assert (folder / "out.txt").read_bytes() == b""


def test_output_that_cannot_be_written(folder):
    has(render(folder, "chat.json", "-o", "none/out.txt", code=3)[1], "none/out.txt", "No such file")
    has(render(folder, "chat.json", "-o", "", code=2)[1], "-o", "empty")
    has(render(folder, "chat.json", "-o", "/dev/full", code=3)[1], "No space left")
    (folder / "full.gz").symlink_to("/dev/full")
    has(render(folder, "chat.json", "-o", "full.gz", code=3)[1], "full.gz", "No space left")


def test_output_is_not_the_file_being_read(folder):
    (folder / "lines.jsonl").write_text(lines_of(3))
    has(render(folder, "--jsonl", "lines.jsonl", "-o", "lines.jsonl", code=2)[1], "is being read")
    assert (folder / "lines.jsonl").read_text() == lines_of(3)
    (folder / "lines.jsonl.gz").write_bytes(gzip.compress(lines_of(3).encode()))
    has(render(folder, "--jsonl", "lines.jsonl.gz", "-o", "./lines.jsonl.gz", code=2)[1], "is being read")
    assert gzip.decompress((folder / "lines.jsonl.gz").read_bytes()).decode() == lines_of(3)


def test_packed_output(folder):
    (folder / "lines.jsonl").write_text(lines_of(5000))
    render(folder, "--jsonl", "lines.jsonl", "-o", "out.jsonl.gz")
    assert read_answers(gzip.decompress((folder / "out.jsonl.gz").read_bytes())) == answers(5000)
    if shutil.which("zstd"):
        render(folder, "--jsonl", "lines.jsonl", "-o", "out.jsonl.zst")
        assert read_answers(zstd("-d", "-c", folder / "out.jsonl.zst")) == answers(5000)


# ---- input

def test_a_compressed_file_has_its_name_once_it_is_whole(folder):
    """What ends the program leaves no archive that is cut; where it cannot end in an orderly way, an older one as it was."""
    old = gzip.compress(b"old")
    for ends in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
        for before in (None, old):
            if before is not None:
                (folder / "out.jsonl.gz").write_bytes(before)
            with subprocess.Popen([BINARY, "render", "-t", "t.jinja", "--jsonl", "-o", "out.jsonl.gz"], stdin=subprocess.PIPE, cwd=folder,
                                  stderr=subprocess.DEVNULL) as process:
                process.stdin.write(lines_of(3000).encode())
                process.stdin.flush()
                limit = time.monotonic() + 60
                while not list(folder.glob("out.jsonl.gz.*")) and time.monotonic() < limit:
                    time.sleep(0.01)
                process.send_signal(ends)
                killed = ends == signal.SIGKILL
                assert process.wait(timeout=60) == (-ends if killed else 128 + ends), ends
            left = (folder / "out.jsonl.gz").read_bytes() if (folder / "out.jsonl.gz").exists() else None
            found = [] if killed else read_answers(gzip.decompress(left))
            assert found == answers(len(found)) and (not killed or left == before), (ends, before, left and left[:50])
            parts = list(folder.glob("out.jsonl.gz.*"))
            assert len(parts) == (1 if ends == signal.SIGKILL else 0), (ends, parts)
            for part in parts:
                part.unlink()
            (folder / "out.jsonl.gz").unlink(missing_ok=True)


def test_a_compressed_file_stays_what_it_was(folder):
    """Its mode, and a link to it; and what cannot stand beside it is written in its place."""
    (folder / "real.gz").write_bytes(b"old")
    (folder / "real.gz").chmod(0o640)
    (folder / "link.gz").symlink_to("real.gz")
    render(folder, "chat.json", "-o", "link.gz")
    assert (folder / "link.gz").is_symlink() and (folder / "real.gz").stat().st_mode & 0o777 == 0o640
    assert gzip.decompress((folder / "real.gz").read_bytes()) == b"[Hi]"
    (folder / "far.gz").symlink_to("not_there_yet.gz")
    render(folder, "chat.json", "-o", "far.gz")
    assert gzip.decompress((folder / "not_there_yet.gz").read_bytes()) == b"[Hi]"
    assert sorted(one.name for one in folder.glob("*.gz*")) == ["far.gz", "link.gz", "not_there_yet.gz", "real.gz"]


def test_a_compressed_file_with_another_name_or_owner(folder):
    """A new file would be neither its other name's nor its owner's."""
    (folder / "one.gz").write_bytes(b"old")
    (folder / "two.gz").hardlink_to(folder / "one.gz")
    render(folder, "chat.json", "-o", "one.gz")
    assert (folder / "one.gz").samefile(folder / "two.gz") and gzip.decompress((folder / "two.gz").read_bytes()) == b"[Hi]"
    if os.geteuid() == 0:
        (folder / "owned.gz").write_bytes(b"old")
        os.chown(folder / "owned.gz", 12345, 12346)
        render(folder, "chat.json", "-o", "owned.gz")
        new = (folder / "owned.gz").stat()
        assert (new.st_uid, new.st_gid) == (12345, 12346) and gzip.decompress((folder / "owned.gz").read_bytes()) == b"[Hi]"


def test_a_compressed_file_that_is_a_mount_point(folder):
    """It cannot be replaced, so it gets the bytes; where it has no room for them, the error says where they are."""
    mounts = ["unshare", *(["--mount"] if os.geteuid() == 0 else ["--map-root-user", "--mount"]), "sh", "-ec"]
    if not shutil.which("unshare") or subprocess.run([*mounts, "mount -t tmpfs none /mnt"], capture_output=True).returncode != 0:
        return
    (folder / "out.gz").write_bytes(b"old")
    (folder / "real.gz").write_bytes(b"old")
    (folder / "small").mkdir()
    (folder / "large.json").write_text(json.dumps(chat(os.urandom(20_000).hex())), "utf-8")
    render_it = f"{BINARY} render -t t.jinja %s -o out.gz"
    done = subprocess.run([*mounts, "mount --bind real.gz out.gz; " + render_it % "chat.json"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert gzip.decompress((folder / "real.gz").read_bytes()) == b"[Hi]" and not list(folder.glob("*.part"))
    little = "mount -t tmpfs -o size=4k none small; touch small/file; mount --bind small/file out.gz; "
    done = subprocess.run([*mounts, little + render_it % "large.json"], cwd=folder, capture_output=True, text=True)
    (part,) = folder.glob("out.gz.part")
    assert done.returncode == 3, done
    has(done.stderr, "out.gz: No space left", part.name)
    assert len(gzip.decompress(part.read_bytes())) == 40_002


def test_jsonl_from_a_file(folder):
    (folder / "lines.jsonl").write_text(lines_of(300))
    assert read_answers(render(folder, "--jsonl", "lines.jsonl")[0]) == answers(300)
    assert read_answers(render(folder, "--jsonl", "-", stdin=lines_of(300))[0]) == answers(300)
    has(render(folder, "--jsonl", "lines.json", code=3)[1], "lines.json: No such file", "did you mean 'lines.jsonl'?")
    (folder / "replies.jsonl").write_text('{"id": 7, "reply": "Hello"}\n')
    assert json.loads(run(folder, "read", "-f", "terminal-agent", "--jsonl", "replies.jsonl")[0])["message"]["content"] == "Hello"


def test_packed_input(folder):
    text = lines_of(5000).encode()
    middle = text.index(b"\n", len(text) // 2) - 5  # in the middle of a line
    packed = {"one.jsonl.gz": gzip.compress(text), "two.jsonl.gz": gzip.compress(text[:middle]) + gzip.compress(text[middle:]),
              "padded.jsonl.gz": gzip.compress(text) + b"\0" * 512}
    if shutil.which("zstd"):
        packed["one.jsonl.zst"] = zstd("-c", input=text)
        packed["two.jsonl.zst"] = zstd("-c", input=text[:middle]) + zstd("-c", input=text[middle:])
    for name, data in packed.items():
        (folder / name).write_bytes(data)
        assert read_answers(render(folder, "--jsonl", name)[0]) == answers(5000), name
    (folder / "chat.json.gz").write_bytes(gzip.compress(json.dumps(chat("packed")).encode()))
    assert render(folder, "chat.json.gz")[0] == b"[packed]"
    (folder / "reply.txt.gz").write_bytes(gzip.compress(b"Hello"))
    assert json.loads(run(folder, "read", "-f", "terminal-agent", "reply.txt.gz")[0])["message"]["content"] == "Hello"


def test_damaged_archives(folder):
    """Cut off at every place, and with every byte changed: an error with a place or the whole data, never less without a word."""
    text = lines_of(40).encode()
    whole = {"gz": gzip.compress(text, mtime=0)}
    if shutil.which("zstd"):
        whole["zst"] = zstd("-c", "--check", input=text)
    for ending, data in whole.items():
        path = folder / f"cut.jsonl.{ending}"
        for size in [0, 1, 2, 9, 10, 11, len(data) // 2, len(data) - 9, len(data) - 8, len(data) - 4, len(data) - 1]:
            path.write_bytes(data[:size])
            given, shown = render(folder, "--jsonl", path.name, code=3)
            assert read_answers(given) == answers(40)[:len(read_answers(given))], (size, given)  # whole lines alone are answered
            has(shown, path.name, f"at byte {size} of the compressed file", "cut off")
        for place in range(0, len(data), max(1, len(data) // 40)):
            path.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1:])
            done = subprocess.run([BINARY, "render", "-t", "t.jinja", "--jsonl", path.name], capture_output=True, cwd=folder, timeout=60)
            assert done.returncode in (0, 3), (place, done)
            if done.returncode == 0:  # a byte of a head that says nothing of the data
                assert read_answers(done.stdout) == answers(40), place
            else:
                has(done.stderr.decode(), path.name, "at byte ")
        path.write_bytes(data + b"more")
        render(folder, "--jsonl", path.name, code=3)
        path.write_text('{"messages": []}\n')
        has(render(folder, "--jsonl", path.name, code=3)[1], "is the file what its name's ending says?")
        has(render(folder, path.name, code=3)[1], "at byte ")


def test_bytes_that_are_no_text_are_named(folder):
    text = (folder / "chat.json").read_bytes()
    others = {"compressed by gzip": gzip.compress(text), "byte order mark": b"\xef\xbb\xbf" + text, "UTF-16": b"\xff\xfe" + text.decode().encode("utf-16-le")}
    if shutil.which("zstd"):
        others["compressed by zstd"] = zstd("-c", input=text)
    for what, data in others.items():
        (folder / "other.json").write_bytes(data)
        has(render(folder, "other.json", code=3)[1], "hint: ", what)
        done = subprocess.run([BINARY, "render", "-t", "t.jinja"], input=data, capture_output=True, cwd=folder)
        assert done.returncode == 3 and what in done.stderr.decode(), (what, done)
        if what != "byte order mark":  # in a template it is text
            (folder / "t.jinja.gz").write_bytes(data)
            has(run(folder, "render", "-t", "t.jinja.gz", "chat.json", code=3)[1], "hint: ", what)
    has(render(folder, stdin="{", code=3)[1], "not JSON")
    assert "hint" not in render(folder, stdin="{", code=3)[1]


def test_archives_are_unpacked_in_bounded_memory(folder):
    """A file of 300 KB that unpacks to 280 MB of blank lines, and one line, in 200 MB of addresses; as a single request it is refused."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    short, long = b"\n" * (1 << 20), b" " * ((1 << 20) - 1) + b"\n"
    data = b"".join(pack.compress(blank) for blank in [short] * 8 + [long] * 272) + pack.compress(lines_of(1).encode()) + pack.flush()
    (folder / "bomb.jsonl.gz").write_bytes(data)
    limit = "ulimit -v 200000; exec"
    if subprocess.run(["sh", "-c", f"{limit} {BINARY} -V"], capture_output=True).returncode != 0:
        limit = "exec"  # a build with a sanitizer, which needs terabytes of addresses
    done = subprocess.run(["sh", "-c", f"{limit} {BINARY} render -t t.jinja --threads 1 --jsonl bomb.jsonl.gz"], capture_output=True, cwd=folder, timeout=120)
    assert done.returncode == 0 and read_answers(done.stdout) == answers(1), done.stderr[:500]
    has(render(folder, "bomb.jsonl.gz", code=3)[1], "bomb.jsonl.gz: larger than 256 MiB unpacked")
    huge = bytes([0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xA0]) + b"\x01\x00\x00"  # zstd: a frame of no known size, a window of 2^30, one empty block
    (folder / "window.jsonl.zst").write_bytes(huge)
    has(render(folder, "--jsonl", "window.jsonl.zst", code=3)[1], "at byte ", "memory")


def test_template_from_standard_input(folder):
    assert run(folder, "render", "-t", "-", "chat.json", stdin="<{{ messages[0].content }}>")[0] == b"<Hi>"
    has(run(folder, "render", "-t", "-", stdin="x", code=2)[1], "standard input cannot be both the template and a request")
    has(run(folder, "render", "-t", "-", "--jsonl", stdin="x", code=2)[1], "standard input cannot be both the template and the requests")
    has(run(folder, "read", "-t", "-", stdin="x", code=2)[1], "standard input cannot be both the template and the reply")
    has(run(folder, "render", "-t", "-", "chat.json", stdin="a\n{{ nope.x }}", code=1)[1], "<stdin>:2:4:")
    model = folder / "model"
    model.mkdir()
    (model / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "chat_template": "the model's own"}))
    own = run(folder, "render", "-m", "model", "-t", "-", "chat.json", stdin="{{ bos_token }}{{ messages[0].content }}")
    assert own[0] == b"<s>Hi", own
    assert run(folder, "render", "-t", "-", "--syntax", "go", "chat.json", stdin="{{ range .Messages }}{{ .Content }}{{ end }}")[0] == b"Hi"
    has(run(folder, "prefix", "-f", "terminal-agent", "-", "-", stdin=json.dumps(chat("x")), code=2)[1], "standard input cannot be both")
    assert b"<|im_start|>" in run(folder, "template", "-f", "terminal-agent")[0]


# ---- variables

VALUES = {  # what stands behind --var x=, and what `{{ x | tojson }}` says of it
    "1": "1", "-2.5": "-2.5", "true": "true", "null": "null", "false": "false", "1e3": "1000.0",
    "007": '"007"', "Ada": '"Ada"', "": '""', "a b": '"a b"', "x=y": '"x=y"', '"a"': '"a"', '"1"': '"1"', "[1, 2]": "[1, 2]", '{"a": 1}': '{"a": 1}',
    "1.2.3": '"1.2.3"', "2026-03-14": '"2026-03-14"', "+1": '"+1"', ".5": '".5"', "0x10": '"0x10"', "<s>": '"\\u003cs\\u003e"', "don't": '"don\\u0027t"',
    "yes": '"yes"', "Grüße": '"Grüße"', "-": '"-"', "truely": '"truely"', "99999999999999999999": "99999999999999999999",
}
REFUSED = ["[1", '{"a": 1', '"a', '{a: 1}', " [1", "[1] x", "True", "False", "None", "NULL", "NaN", "TRUE", "nil", "undefined", "Infinity", "-Infinity"]


def test_standard_input_that_cannot_be_opened_anew(folder):
    """A socket, as programs of Node give one, or another user's pipe, as containers have it."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(json.dumps(chat("Hi")).encode())
        ours.shutdown(socket.SHUT_WR)
        done = subprocess.run([BINARY, "render", "-t", "t.jinja"], stdin=theirs, capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stdout) == (0, "[Hi]"), done


def test_var_is_json_where_it_is_json(folder):
    (folder / "t.jinja").write_text("{{ x | tojson }}")
    for value, wanted in VALUES.items():
        got = render(folder, "chat.json", "--var", f"x={value}")[0].decode()
        assert json.loads(got) == json.loads(wanted) and got[0] == wanted[0], (value, got)
    for value in REFUSED:
        has(render(folder, "chat.json", "--var", f"x={value}", code=2)[1], "--var x", "--var-text 'x=")
    has(render(folder, "chat.json", "--var", "x=nan", code=2)[1], "JSON has no such number")
    has(render(folder, "chat.json", "--var", "x=True", code=2)[1], "JSON has true, false and null, in small letters")


def test_var_text_json_and_file(folder):
    (folder / "t.jinja").write_text("{{ x | tojson }}")
    for value in [*VALUES, *REFUSED]:
        assert json.loads(render(folder, "chat.json", "--var-text", f"x={value}")[0]) == value
    assert render(folder, "chat.json", "--var-json", "x=1")[0] == b"1"
    has(render(folder, "chat.json", "--var-json", "x=Ada", code=2)[1], "--var-json x:1:1:", "--var-text")
    (folder / "v.txt").write_bytes("[1]\nß\r\n".encode())
    (folder / "v.json").write_text('{"a": [1]}\n')
    (folder / "v.json.gz").write_bytes(gzip.compress(b"[true]"))
    (folder / "bad.json").write_text("[1\n")
    (folder / "latin1.txt").write_bytes(b"\xdf")
    assert json.loads(render(folder, "chat.json", "--var-file", "x=v.txt")[0]) == "[1]\nß\r\n"
    assert json.loads(render(folder, "chat.json", "--var-file", "x=v.json")[0]) == {"a": [1]}
    assert json.loads(render(folder, "chat.json", "--var-file", "x=v.json.gz")[0]) == [True]
    has(render(folder, "chat.json", "--var-file", "x=bad.json", code=3)[1], "bad.json:")
    has(render(folder, "chat.json", "--var-file", "x=none.txt", code=3)[1], "none.txt: No such file")
    has(render(folder, "chat.json", "--var-file", "x=latin1.txt", code=3)[1], "latin1.txt: not UTF-8")
    has(render(folder, "chat.json", "--var-file", "x", code=2)[1], "KEY=FILE")
    assert json.loads(render(folder, "chat.json", "--var-file", "x=-", stdin="piped")[0]) == "piped"


def test_var_twice(folder):
    (folder / "t.jinja").write_text("{{ x }}")
    assert render(folder, "chat.json", "--var", "x=1", "--var", "x=2")[0] == b"2"
    has(render(folder, "chat.json", "--var", "x=1", "--var-text", "x=2", code=2)[1], "'x' is set in two ways")


# ---- colours

def on_terminal(folder, *arguments, **environment):
    leader, follower = pty.openpty()
    try:
        child = subprocess.Popen([BINARY, "render", "-t", "t.jinja", "chat.json", *arguments], stdout=follower, stdin=subprocess.DEVNULL, cwd=folder,
                                 env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm", **environment})
        child.wait(timeout=60)
        return os.read(leader, 1 << 16)
    finally:
        os.close(leader)
        os.close(follower)


def test_color(folder):
    coloured = render(folder, "chat.json", "--color")[0]
    assert b"\x1b[" in coloured
    assert render(folder, "chat.json", "--color=always")[0] == coloured
    assert render(folder, "chat.json", "--color=always", NO_COLOR="1")[0] == coloured
    for how in ("--color=auto", "--color=never"):
        assert render(folder, "chat.json", how)[0] == b"[Hi]"
    has(render(folder, "chat.json", "--color=red", code=2)[1], "auto, always or never")
    render(folder, "chat.json", "--color=auto", "--json")
    assert b"\x1b[" in on_terminal(folder, "--color=auto")
    assert on_terminal(folder, "--color=never") == b"[Hi]" == on_terminal(folder)
    assert on_terminal(folder, "--color=auto", NO_COLOR="1") == b"[Hi]" == on_terminal(folder, "--color=auto", TERM="dumb")
    assert b"\x1b[" in on_terminal(folder, "--color=auto", NO_COLOR="")
    assert b"\x1b[" in on_terminal(folder, "--color", NO_COLOR="1")


if __name__ == "__main__":
    sys.exit(check.run_tests(sys.modules[__name__], "tests of input and output", world))
