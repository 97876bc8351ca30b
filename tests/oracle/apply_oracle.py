#!/usr/bin/env python3
"""Holds `parlance render --as-transformers` against the real apply_chat_template(tokenize=False), one release after the other.

    apply_oracle.py PARLANCE [--every N] [--corpus FOLDER] [--random N] [--seed N]

Releases: the one of this Python, the newest, and those of requirements_releases.txt, which setup.sh puts into build/oracle. Templates:
those of the corpus with its conversations, where it is there, and a few of our own that print all that a template can see, with
requests made at random: members that are null, reasoning under each name, parameters of the method, odd tools and documents.
--every N takes every Nth template of the corpus. A request that the method refuses before the template sees it must be refused as no
conversation; what fails in the template fails with the same class. Ends with 1 on a difference, with 77 where there is nothing to
compare with; also where what COMPATIBILITY.md says of a release is not so, if the whole corpus is compared. Begin reading at main; `answer` is what a release is asked in a process of its own.
"""
import argparse
import datetime
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RELEASES = ROOT / "build" / "oracle"
NOW = datetime.datetime(2026, 3, 14, 15, 9, 26)


def pinned(name):
    """The releases of transformers that a file beside this one pins."""
    return re.findall(r"^transformers==(\S+)$", pathlib.Path(__file__).with_name(name).read_text("utf-8"), re.MULTILINE)


NEWEST = pinned("requirements.txt")[0]
ANY_FAILURE = {"RecursionError", "AssertionError"}  # stand for an error of any kind
SHOWN = 20
WHOLE_CORPUS = 9546  # cases, for which COMPATIBILITY.md has counts

# ---- requests

OWN = {
    "prints": "{% for m in messages %}{{ m }}{% for k, v in m.items() %}[{{ k }}={{ v }}]{% endfor %}{% endfor %}"
              "{{ tools }}{{ documents }}{{ add_generation_prompt }}{{ bos_token }}{{ extra }}",
    "asks": "{% for n in ['tools', 'documents', 'add_generation_prompt', 'continue_final_message', 'max_length', 'padding', 'return_dict',"
            " 'tokenizer_kwargs', 'extra'] %}{{ n }}{{ ' ' }}{% endfor %}{{ tools is defined }}{{ tools is none }}{{ documents is none }}"
            "{{ add_generation_prompt is defined }}{{ continue_final_message is defined }}{{ max_length is defined }}{{ padding is defined }}"
            "{{ return_dict is defined }}{{ tokenizer_kwargs is defined }}{{ extra is defined }}{{ extra is none }}",
    "json": "{{ messages | tojson }}{{ tools | tojson(indent=1) }}{{ documents | tojson }}",
    "turns": "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{% if m.thinking %}<think>{{ m.thinking }}</think>{% endif %}"
             "{{ m.content }}{% for c in m.tool_calls %}{{ c.function.name }}{{ c.function.arguments }}{% endfor %}\n{% endfor %}"
             "{% if add_generation_prompt %}<|assistant|>{% endif %}",
    "strict": "{% for m in messages %}{{ m['role'] + ': ' + m['content'] + (m['reasoning_content'] or '') }}{% endfor %}",
    "names": "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns._n = m %}{% endfor %}{{ ns._n }}",
    "dict": "{% for m in messages %}{{ dict(m, x=1) }}{{ dict.x }}{{ dict.fromkeys(m) }}{% endfor %}",
}


def text(rng):
    return rng.choice(("", "Hi", " two words ", "None", "é\n", "42"))


def content(rng):
    return rng.choice((text(rng), text(rng), None, [{"type": "text", "text": text(rng)}, {"type": "image", "url": None}], [], 7))


def call(rng):
    arguments = rng.choice(({"a": None, "b": [1.0, True, None]}, "{}", None, {}))
    return {"id": rng.choice((None, "c1")), "type": "function", "function": {"name": "look", "arguments": arguments}}


def random_message(rng):
    message = {"role": rng.choice(("system", "user", "assistant", "tool", None))}
    if rng.random() < 0.9:
        message["content"] = content(rng)
    for name, make in (("name", lambda: rng.choice((None, "n"))), ("tool_calls", lambda: rng.choice((None, [], [call(rng)]))),
                       ("reasoning_content", lambda: content(rng)), ("thinking", lambda: content(rng)), ("reasoning", lambda: content(rng)),
                       ("refusal", lambda: None), ("annotations", lambda: []), ("deep", lambda: {"x": None})):
        if rng.random() < 0.25:
            message[name] = make()
    members = list(message.items())
    rng.shuffle(members)
    return dict(members)


def random_request(rng):
    tool = {"type": "function", "function": {"name": "look", "description": None, "parameters": {"type": "object", "properties": {}}}}
    request = {"messages": [random_message(rng) for _ in range(rng.choice((0, 1, 1, 2, 3, 5)))]}
    for name, values in (("tools", (None, [], [tool], [tool, "look"], [None])), ("documents", (None, [], [{"title": None, "text": "t"}], ["t"])),
                         ("add_generation_prompt", (None, True, False)), ("continue_final_message", (False,)), ("max_length", (3, None)),
                         ("padding", (True,)), ("return_dict", (True, False)), ("tokenizer_kwargs", ({}, None)), ("bos_token", ("<s>", None)),
                         ("extra", (None, 1, "x", {"y": None}))):
        if rng.random() < 0.4:
            request[name] = rng.choice(values)
    return request


def own_groups(count, seed):
    """[(name, source, [(id, request)])]"""
    rng = random.Random(seed)
    return [(name, source, [(f"{name}/random-{i}", random_request(rng)) for i in range(count)]) for name, source in OWN.items()]


def corpus_groups(corpus, every):
    sys.path.insert(0, str(ROOT / "tests"))
    import corpus_test  # its reader of rows
    groups = {}
    for case in corpus_test.rows(corpus / "cases.jsonl.gz"):
        groups.setdefault(case["template"], []).append((case["id"], case["context"]))
    return [(path, (corpus / path).read_bytes().decode("utf-8"), cases) for path, cases in list(groups.items())[::every]]


# ---- a release, in a process of its own

def is_of_template(error):
    """Was it raised while the template was compiled or run?"""
    trace = error.__traceback__
    while trace is not None:
        if "/jinja2/" in trace.tb_frame.f_code.co_filename:
            return True
        trace = trace.tb_next
    return False


def answer():
    """Reads {"source", "requests"} lines, writes a line of answers for each; the first line is the release."""
    os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1")
    import tokenizers
    import transformers
    from transformers.utils import chat_template_utils

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return NOW

    chat_template_utils.datetime = Clock
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(tokenizers.models.BPE()))
    print(json.dumps(transformers.__version__))
    for line in sys.stdin:
        group, answers = json.loads(line), []
        for request in group["requests"]:
            arguments = {key: value for key, value in request.items() if key != "messages"}
            try:
                answers.append({"text": tokenizer.apply_chat_template(request["messages"], chat_template=group["source"], tokenize=False, **arguments)})
            except Exception as error:  # its class is the answer
                answers.append({"error": type(error).__name__, "in_template": is_of_template(error), "message": str(error)[:200]})
        print(json.dumps(answers))


def ask_release(folder, groups):
    """(version, [[answer]]) of the release in a folder, or of this Python's own."""
    environment = os.environ | ({"PYTHONPATH": str(folder)} if folder else {})
    lines = "".join(json.dumps({"source": source, "requests": [request for _, request in cases]}) + "\n" for _, source, cases in groups)
    done = subprocess.run([sys.executable, __file__, "--answer"], input=lines, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{folder}: {done.stderr[-800:]}")
    version, *answers = map(json.loads, done.stdout.splitlines())
    return version, answers


# ---- parlance

def ask_parlance(binary, path, cases, version):
    """The answers as the release gives them; the newest is what is followed where none is named."""
    lines = "".join(json.dumps(request) + "\n" for _, request in cases)
    release = [] if version == NEWEST else ["--transformers", version]
    command = [binary, "render", "-t", path, "--as-transformers", *release, "--jsonl", "--now", NOW.isoformat()]
    done = subprocess.run(command, input=lines.encode("utf-8", "surrogatepass"), capture_output=True)
    answers = [json.loads(line) for line in done.stdout.decode("utf-8", "surrogatepass").split("\n")[:-1]]
    if len(answers) != len(cases):
        raise SystemExit(f"{path}: {len(answers)} answers for {len(cases)} requests: {done.stderr[-500:]!r}")
    return answers


def difference(want, got):
    """What differs, or None."""
    error = got.get("error")
    if "text" in want:
        if error:
            return f"fails: {error['type']}: {error['message']}"
        return None if got["text"] == want["text"] else f"other text: {got['text'][:300]!r}, transformers {want['text'][:300]!r}"
    if not error:
        return f"should fail: {want['error']}: {want['message']}"
    if not want["in_template"]:
        return None if error["code"] == "conversation" else f"{error['type']}: {error['message']} for what no template sees: {want['message']}"
    if want["error"] in ANY_FAILURE or want["error"] == error["type"]:
        return None
    return f"{error['type']}: {error['message']} for {want['error']}: {want['message']}"


def compare(binary, folder, groups, version, answers):
    """The number of differences, of which the first are printed."""
    wrong = 0
    for (name, source, cases), wanted in zip(groups, answers, strict=True):
        path = folder / "chat.jinja"
        path.write_text(source, "utf-8", newline="")
        for (case, request), want, got in zip(cases, wanted, ask_parlance(binary, path, cases, version), strict=True):
            what = difference(want, got)
            wrong += what is not None
            if what is not None and wrong <= SHOWN:
                print(f"{version} {case}: {what}\n  {json.dumps(request)[:600]}")
    return wrong


def published(version):
    """How many answers of the corpus COMPATIBILITY.md says are not the release's before; "" for the oldest, None where it does not say."""
    table = (ROOT / "COMPATIBILITY.md").read_text("utf-8").partition("## Releases of transformers")[2]
    found = re.search(rf"^\| {re.escape(version)} \|.*\| 9,546 of 9,546 \| (\d*) *\|$", table, re.MULTILINE)
    return found and found[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--corpus", default=os.environ.get("PARLANCE_CORPUS") or ROOT.parent / "shared" / "corpus")
    parser.add_argument("--random", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20260314)
    options = parser.parse_args()
    try:
        import transformers  # noqa: F401
    except ImportError:
        print("skipped: run tests/oracle/setup.sh first")
        sys.exit(77)
    groups, of_corpus = own_groups(options.random, options.seed), 0
    corpus = pathlib.Path(options.corpus)
    if (corpus / "cases.jsonl.gz").exists():
        from_corpus = corpus_groups(corpus, options.every)
        of_corpus = sum(len(cases) for _, _, cases in from_corpus)
        groups += from_corpus
    else:
        print(f"no corpus at {corpus}: requests made at random only")
    total, wrong, before = sum(len(cases) for _, _, cases in groups), 0, None
    with tempfile.TemporaryDirectory() as folder:
        older = [RELEASES / f"transformers-{version}" for version in pinned("requirements_releases.txt")]
        for release in [*filter(pathlib.Path.is_dir, older), None]:
            version, answers = ask_release(release, groups)
            found = compare(options.binary, pathlib.Path(folder), groups, version, answers)
            wrong += found
            line = f"transformers {version}: {total - found} of {total} equal, {of_corpus} of them of the corpus"
            here = [{key: value for key, value in one.items() if key != "message"} for group in answers[len(OWN):] for one in group]
            changed = "" if before is None else str(sum(a != b for a, b in zip(before, here, strict=True)))
            before = here
            print(line + (f"; {changed} of those answers are not the release's before" if changed else ""), flush=True)
            if of_corpus == WHOLE_CORPUS and all(map(pathlib.Path.is_dir, older)) and published(version) != changed:
                wrong += 1
                print(f"{version}: COMPATIBILITY.md says {published(version)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--answer"]:
        answer()
    else:
        main()
