#!/usr/bin/env python3
"""Measures the Python package beside transformers and minijinja's Python package, in one process, in turns.

    build/python/venv/bin/python -m pip install --target build/bench/python .
    PYTHONPATH=build/bench/python build/python/venv/bin/python bench/run_python.py [--rounds N] [--markdown docs/speed-python.md]

The package has to be one that users have: a build for tests (PARLANCE_QUICK) is compiled for less time, renders in nearly twice the time,
and is refused.

Render: from Python's objects to a str, with the templates and conversations of bench/run.py. Encode: apply_chat_template to ids beside
the tokenizer's own encoding of the finished text. Session: 100 to 400 turns. Each figure is the least of the rounds, in which everything
takes its turn; prompts a second by threads and by processes are the most of three rounds. Begin reading at main.
"""

import argparse
import concurrent.futures
import datetime
import json
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run  # bench/run.py

import parlance
from parlance._transformers import _compiled

ROOT = run.ROOT
MINIJINJA = ROOT / "build" / "bench" / "minijinja-py"
TARGET = 0.02  # seconds that one round of one thing takes about


def least(calls, rounds):
    """{name: seconds} of a call, the least of the rounds; the names take turns."""
    counts, times = {}, dict.fromkeys(calls, float("inf"))
    for name, call in calls.items():
        begin = time.perf_counter()
        call()
        counts[name] = max(1, int(TARGET / max(time.perf_counter() - begin, 1e-7)))
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(counts[name]):
                call()
            times[name] = min(times[name], (time.perf_counter() - begin) / counts[name])
    return times


def minijinja_environment(text):
    """minijinja with what chat templates need, or None where it is not there or cannot compile the template."""
    if not MINIJINJA.exists():
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", str(MINIJINJA), "minijinja"], check=False)
    sys.path.append(str(MINIJINJA))
    try:
        import minijinja

        environment = minijinja.Environment(templates={"chat": text}, pycompat=True)
        environment.trim_blocks = environment.lstrip_blocks = True
        environment.add_global("raise_exception", lambda message: (_ for _ in ()).throw(ValueError(message)))
        environment.add_global("strftime_now", lambda form: datetime.datetime.now().strftime(form))
        environment.add_filter("tojson", lambda value, **_: json.dumps(value, ensure_ascii=False))
        return environment
    except Exception:  # noqa: BLE001 — whatever stands against it
        return None


def render_calls(text, context):
    """What renders this context, by name."""
    from transformers.utils import chat_template_utils

    context = dict(context)
    messages, tools, documents = (context.pop(name, None) for name in ("messages", "tools", "documents"))
    generation = context.pop("add_generation_prompt", True)
    plain, whole = _compiled(text, "5.23.0", ()), parlance.Template.from_string(text)
    variables = {**context, "add_generation_prompt": generation}
    calls = {
        "transformers": lambda: chat_template_utils.render_jinja_template(
            [messages], tools, documents, text, add_generation_prompt=generation, **context
        )[0][0],
        "parlance": lambda: plain._render_plain_text(messages, tools, documents, variables),
        "with spans": lambda: whole.render(messages, tools, documents, add_generation_prompt=generation, **context).text,
    }
    environment = minijinja_environment(text)
    if environment is not None:
        calls["minijinja"] = lambda: environment.render_template(
            "chat", messages=messages, tools=tools, documents=documents, add_generation_prompt=generation, **context
        )
    wanted = calls["transformers"]()
    for name in list(calls):
        try:
            same = calls[name]() == wanted
        except Exception:  # noqa: BLE001
            same = False
        if not same and name != "with spans":  # which adapts the request
            if name == "parlance":
                raise SystemExit("parlance renders another prompt than transformers")
            del calls[name]
    return calls


def render_table(paths, folder, rounds):
    names = ["transformers", "minijinja", "with spans", "parlance"]
    for size in run.WORKLOADS:
        rows, ratios = [], {name: [] for name in names}
        for path, suffix in paths.items():
            context = json.loads((folder / f"{size}{suffix if size != 'S' else ''}.json").read_text("utf-8"))
            try:
                times = least(render_calls(path.read_text("utf-8"), context), rounds)
            except Exception as error:  # noqa: BLE001 — a template that refuses the conversation
                print(path.name, size, type(error).__name__, file=sys.stderr)
                continue
            rows.append((path.stem.split("--")[-1], times))
            for name in times:
                ratios[name].append(times["transformers"] / times[name])
        yield size, names, rows, {name: sum(all_) / len(all_) for name, all_ in ratios.items() if all_}


def encode_lines(rounds):
    """apply_chat_template to ids beside the tokenizer's own encoding, with a real tokenizer where it is there."""
    from transformers import AutoTokenizer

    folders = [ROOT / "build" / "oracle" / "npm" / "qwen3", ROOT / "build" / "oracle" / "tokenizers" / "chatml"]
    folder = next((one for one in folders if (one / "tokenizer.json").exists()), None)
    if folder is None:
        return ["no tokenizer here"]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = parlance_chatml()
    chat = [{"role": ("user", "assistant")[i % 2], "content": "The harbour master depends on two missing samples. " * 8} for i in range(31)]
    text, own = tokenizer.apply_chat_template(chat, tokenize=False), parlance.Tokenizer.from_file(str(folder))
    times = least(
        {
            "its own encoding of the text": lambda: tokenizer(text, add_special_tokens=False),
            "parlance.Tokenizer.encode": lambda: own.encode(text),
            "transformers' apply_chat_template": lambda: tokenizer.apply_chat_template(chat),
            "parlance.apply_chat_template": lambda: parlance.apply_chat_template(tokenizer, chat),
            "the same with protect and masks": lambda: parlance.apply_chat_template(tokenizer, chat, protect=True, mask="assistant"),
        },
        rounds,
    )
    least_time = times["its own encoding of the text"]
    return [f"| {name} | {seconds * 1e3:,.2f} | {seconds / least_time:.2f} |" for name, seconds in times.items()]


def parlance_chatml():
    return (ROOT / "formats" / "chatml.jinja").read_text("utf-8")


def session_lines():
    folder = ROOT / "build" / "oracle" / "tokenizers" / "chatml"
    if not (folder / "tokenizer.json").exists():
        return ["no tokenizer here"]
    tokenizer, template = parlance.Tokenizer.from_file(str(folder)), parlance.Template.builtin("terminal-agent")
    reply = tokenizer.encode("The harbour master depends on it. " * 30 + "<|im_end|>")
    lines = []
    for turns in (100, 200, 400):
        best = float("inf")
        for _ in range(3):
            session = parlance.Session(template, tokenizer, [{"role": "user", "content": "Look!"}])
            begin = time.perf_counter()
            for turn in range(turns):
                session.sampled(reply)
                session.extend([{"role": "user", "content": f"{turn} " + "What does the tide gauge say? " * 40}])
            best = min(best, time.perf_counter() - begin)
        lines.append(f"| {turns} | {len(session):,} | {best * 1e3:,.0f} | {best / turns * 1e3:.2f} |")
    return lines


def rate_of_threads(work, calls, workers):
    begin = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(work) for _ in range(calls)]:
            future.result()
    return calls / (time.perf_counter() - begin)


def work_in_process(work, calls, all_begin, spans):
    work()
    all_begin.wait()
    begin = time.perf_counter()
    for _ in range(calls):
        work()
    spans.put((begin, time.perf_counter()))


def rate_of_processes(work, calls, workers):
    """From when all have begun until the last has ended: starting a process is not counted."""
    kind = multiprocessing.get_context("fork")  # what the parent compiled and read is there
    all_begin, spans = kind.Barrier(workers), kind.Queue()
    processes = [kind.Process(target=work_in_process, args=(work, calls // workers, all_begin, spans)) for _ in range(workers)]
    for process in processes:
        process.start()
    begins, ends = zip(*[spans.get() for _ in processes], strict=True)
    for process in processes:
        process.join()
    return calls / (max(ends) - min(begins))


def worker_lines(folder, rounds=3):
    """Prompts a second by 1, 2 and 16 threads, and by as many processes: of the long conversation, and with its tokens."""
    context = json.loads((folder / "L.json").read_text("utf-8"))
    template = parlance.Template.builtin("terminal-agent")
    tokenizers = ROOT / "build" / "oracle" / "tokenizers" / "chatml"
    tokenizer = parlance.Tokenizer.from_file(str(tokenizers)) if (tokenizers / "tokenizer.json").exists() else None
    works = {"render": (640, lambda: template.render(context["messages"], context.get("tools")))}
    if tokenizer is not None:
        works["render and encode"] = (32, lambda: template.render(context["messages"], context.get("tools")).tokens(tokenizer))
    kinds = {"threads": rate_of_threads, "processes": rate_of_processes}
    for name, (calls, result_of) in works.items():

        def work(result_of=result_of):  # gives nothing back: a future would keep megabytes of each result
            result_of()

        work()
        rates = {(kind, workers): 0.0 for kind in kinds for workers in (1, 2, 16)}
        for _ in range(rounds):
            for kind, workers in rates:
                rates[kind, workers] = max(rates[kind, workers], kinds[kind](work, calls, workers))
        for kind in kinds:
            one = rates[kind, 1]
            yield f"| {name}, {kind} | " + " | ".join(f"{rates[kind, n]:,.0f} ({rates[kind, n] / one:.2f})" for n in (1, 2, 16)) + " |"


def page(options, paths, origin, folder):
    import transformers

    yield f"{datetime.date.today()}, {run.machine()}, CPython {sys.version.split()[0]}, transformers {transformers.__version__}; {origin}; "
    yield f"the least of {options.rounds} rounds of {TARGET * 1e3:.0f} ms, in turns.\n"
    for size, names, rows, ratios in render_table(paths, folder, options.rounds):
        yield f"### Render from Python's objects to a str (µs): {size}\n"
        yield "| template | " + " | ".join(names) + " |\n|---|" + "---:|" * len(names)
        for name, times in rows:
            yield f"| {name} | " + " | ".join(f"{times[n] * 1e6:,.1f}" if n in times else "–" for n in names) + " |"
        yield "| **times as fast as transformers** | " + " | ".join(f"**{ratios[n]:.1f}**" if n in ratios else "–" for n in names) + " |\n"
    yield "### Encode (ms)\n\n| | ms | × the encoding |\n|---|---:|---:|"
    yield from encode_lines(options.rounds)
    yield "\n### A session of so many turns, each a reply and a message\n\n| turns | tokens | ms | ms a turn |\n|---:|---:|---:|---:|"
    yield from session_lines()
    yield "\n### Prompts a second of the long conversation, by threads and by processes (times one)\n"
    yield "| | 1 | 2 | 16 |\n|---|---:|---:|---:|"
    yield from worker_lines(folder)


def check_build():
    """Ends the program where the package is of a build whose code is not what users run."""
    cache = pathlib.Path(parlance.__file__).parents[2] / "CMakeCache.txt"
    if cache.exists() and "PARLANCE_QUICK:BOOL=ON" in cache.read_text("utf-8"):
        sys.exit(
            f"{cache.parent} is a build for tests (PARLANCE_QUICK): install the package as the head of this file says, and measure that"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT.parent / "shared" / "corpus")
    parser.add_argument("--templates", type=run.words, default=[])
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    check_build()
    paths, origin = run.find_templates(options)
    with tempfile.TemporaryDirectory() as folder:
        run.make_workloads(folder)
        lines = list(page(options, paths, origin, pathlib.Path(folder)))
    print("\n".join(lines))
    if options.markdown:
        run.write_page(options.markdown, "\n".join(lines))


if __name__ == "__main__":
    main()
