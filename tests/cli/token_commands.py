"""What the tests of `parlance tokens` and `parlance prefix` share: commands with the tokenizer of the tree, tests/tokenizers/chatml."""

import json
import pathlib
import subprocess
import sys
import tempfile

import check

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = str(pathlib.Path(sys.argv[1]).resolve())
TOKENIZER = str(ROOT / "tests" / "tokenizers" / "chatml")
ADDED = {t["content"]: t["id"] for t in json.loads(pathlib.Path(TOKENIZER, "tokenizer.json").read_text("utf-8"))["added_tokens"]}
START, END, CALL = ADDED["<|im_start|>"], ADDED["<|im_end|>"], ADDED["<tool_call>"]
TEMPLATE = ("{% for m in messages %}<|im_start|>{{ m.role }}\n"
            "{% if m.reasoning_content and loop.last %}<think>\n{{ m.reasoning_content }}\n</think>\n{% endif %}"
            "{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
HI = [{"role": "user", "content": "Hi"}]
REPLY = {"role": "assistant", "content": "hello there", "reasoning_content": "hm"}
MORE = [*HI, REPLY, {"role": "user", "content": "And?"}]


def run(folder, *words, stdin=""):
    return subprocess.run([BINARY, *words], input=stdin, capture_output=True, text=True, cwd=folder)


def write(folder, name, value):
    path = pathlib.Path(folder, name)
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return name


def tokens(folder, messages, *words, **members):
    write(folder, "t.jinja", TEMPLATE)
    write(folder, "chat.json", {"messages": messages, **members})
    done = run(folder, "tokens", "-t", "t.jinja", "--tokenizer", TOKENIZER, "chat.json", *words)
    assert done.returncode == 0, done.stderr
    return done


def ids_of(done):
    return [int(word) for word in done.stdout.split()]


def refusal(folder, code, *words, stdin=""):
    write(folder, "t.jinja", TEMPLATE)
    write(folder, "chat.json", {"messages": HI})
    done = run(folder, *words, stdin=stdin)
    assert done.returncode == code and done.stdout == "", (done.returncode, done.stdout, done.stderr)
    return done.stderr


def main(module, what):
    """Runs the module's tests; 77, skipped, where the build reads no tokenizer.json."""
    if "does not read" in run(".", "tokens", "-f", "terminal-agent", "--example", "--tokenizer", TOKENIZER).stderr:
        print("skipped: this build reads no tokenizer.json")
        return 77
    return check.run_tests(module, what, tempfile.TemporaryDirectory)
