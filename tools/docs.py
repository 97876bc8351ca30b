#!/usr/bin/env python3
"""Writes the parts of the documents that tables own, and runs the examples of all of them.

    docs.py --write PARLANCE     rewrites the generated parts, and what the examples print: the change is to be read
    docs.py --check PARLANCE     fails where one is not what the tables say, or where an example does not hold

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`; PARTS says where each comes from. Examples
are: fenced `sh` blocks, which must succeed, or print what a `text` block right below them says, nothing where that is empty; and lines `template ->
output` in fenced `jinja` and `go` blocks, where ⏎ stands for a line feed. Blocks run in a scratch folder that has formats/ and
tests/. Begin reading at main.
"""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
import case_file  # noqa: E402

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "COMPATIBILITY.md", *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
GENERATED = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n(?:\n*```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


# ---- the parts

def code(text):
    """Inline code that may stand in a table."""
    text = text.replace("|", "\\|").replace("\n", "⏎")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def listed(binary, what):
    return json.loads(subprocess.run([binary, "list", what, "--json"], capture_output=True, check=True).stdout)


def call_of(row, on_a_value):
    """How it is written: without the value a filter, test or method stands on, without what only binding needs."""
    given = re.split(r", (?=[^']*(?:'[^']*'[^']*)*$)", row.get("parameters", ""))[1 if on_a_value else 0:]
    given = [part for part in given if part not in ("/", "")]
    return f"{row['name']}({', '.join(given).replace('=missing', '=…')})" if given else row["name"]


def example_of(row):
    left, _, right = row["example"].rpartition(" -> ")
    return f"{code(left)} → {code(right)}" if right else code(left)


def builtin_table(rows, on_a_value=True):
    lines = []
    for row in rows:
        also = "".join(f", {code(name)}" for name in row.get("aliases", "").split())
        lines.append([code(call_of(row, on_a_value)) + also, row["sentence"].replace("|", "\\|"), example_of(row)])
    return table(["name", "what it gives", "example"], lines)


def builtins(what):
    return lambda binary: builtin_table(sorted(listed(binary, what), key=lambda row: row["name"]), what != "globals")


def methods(binary):
    by_type = {}
    for row in listed(binary, "methods"):
        name = row["type"] + (f", only with `{row['needs']}`" if "needs" in row else "")
        by_type.setdefault(name, []).append(row)
    return "\n".join(f"### {name}\n\n{builtin_table(sorted(rows, key=lambda row: row['name']))}"
                     for name, rows in by_type.items())


def go_functions(binary):
    rows = []
    for row in listed(binary, "go-functions"):
        words = [f"{name.removeprefix('*')}…" if name.startswith("*") else name for name in row["parameters"].split(", ")]
        rows.append([code(" ".join([row["name"], *words])), row["sentence"].replace("|", "\\|"), example_of(row)])
    return table(["function", "what it gives", "example"], rows)


def pinned(name):
    """The releases of transformers that a file of the oracle's pins."""
    return re.findall(r"^transformers==(\S+)$", (ROOT / "tests/oracle" / name).read_text("utf-8"), re.MULTILINE)


RELEASES_TESTED = (*pinned("requirements_releases.txt"), *pinned("requirements.txt"))
OTHER_ANSWERS = {"5.22.0": 0, "5.22.2": 0, "5.23.0": 160, "5.24.0": 0}  # than the tested release before; apply_oracle.py holds them


def releases(binary):
    """What a template sees of each release, and what comparing with the real method gave."""
    rows, known = [], listed(binary, "releases")
    if known[-1]["name"] != RELEASES_TESTED[-1]:
        raise SystemExit(f"the newest release followed is {known[-1]['name']}, the one that is tested {RELEASES_TESTED[-1]}")
    for row in known:
        tested = row["name"] in RELEASES_TESTED
        rows.append([row["name"], row["sentence"], "9,546 of 9,546" if tested else "as the one before: its two files are the same",
                     OTHER_ANSWERS.get(row["name"], "")])
    return table(["release", "what a template sees", "equal on the corpus", "answers that are not those of the release before"],
                 [[str(cell) for cell in row] for row in rows])


def errors(binary):
    return table(["code", "Python class, or step", "title", "HTTP", "exit", "meaning"],
                 [[code(row["name"]), code(row["class"]), row["title"], str(row["http"]), str(row["exit"]), row["sentence"]]
                  for row in listed(binary, "errors")])


def defaults_of_limits(text):
    """50 M, 256 MiB or 200, by the members of the struct."""
    found = {}
    for name, mebibytes, number in re.findall(r"^  std::uint\d+_t (\w+) = (?:std::uint64_t\{(\d+)\} << 20|([\d']+));", text, re.MULTILINE):
        value = int(number.replace("'", "") or 0)
        found[name] = f"{mebibytes} MiB" if mebibytes else str(value) if value % 1_000_000 else f"{value // 1_000_000} M"
    return found


def limits(binary):
    """The table in the comment of the struct Limits, with the members' defaults and the options that set them."""
    text = (ROOT / "include/parlance/limits.h").read_text("utf-8")
    options = subprocess.run([binary, "help", "render"], capture_output=True, check=True, text=True).stdout
    defaults, rows = defaults_of_limits(text), []
    for line in text.split("\n"):
        columns = re.split(r"\s{2,}", line.removeprefix("///").strip())
        if line.startswith("///     ") and len(columns) == 3 and columns[0] != "field":
            option = columns[2].replace("limit_", "--max-")
            if option not in options:
                raise SystemExit(f"no option {option} for the limit {columns[0]}")
            rows.append([code(columns[0]), defaults[columns[0]], columns[1], code(columns[2]), code(option)])
        elif line.startswith("///      ") and rows:
            rows[-1][2] += " " + " ".join(columns)
    return table(["limit", "default", "what it bounds", "error", "option"], rows)


def settings(_):
    """The table kFeatures of src/losses/settings.cpp."""
    rows = (ROOT / "src/losses/settings.cpp").read_text("utf-8").partition("kFeatures[] = {")[2].partition("\n};")[0]
    return ", ".join(code(name) for name in re.findall(r'^    \{"(\w+)"', rows, re.MULTILINE)) + ".\n"


def differences(_):
    """The cases that have a line `differs`."""
    rows = []
    for path in sorted((ROOT / "tests/cases").rglob("*.case")):
        for case in case_file.read_cases(path, ROOT / "tests/cases"):
            if "differs" not in case.headers:
                continue
            theirs = case.sections.get("error", case.output)
            rows.append([case.headers["about"], code(case.template), code(theirs) if theirs else "nothing",
                         case.headers["differs"]])
    return table(["what", "example", "Jinja2", "parlance"], rows)


def speed(_):
    """The last table of docs/speed.md: bench/run.py wrote it."""
    page = (ROOT / "docs/speed.md").read_text("utf-8").partition("### End to end against the hand-written renderer")[2]
    return "".join(line + "\n" for line in page.split("\n") if line.startswith("|"))


def example(_):
    """The program in the first comment of parlance.h."""
    comment = (ROOT / "include/parlance/parlance.h").read_text("utf-8").partition("#pragma once")[0].split("\n")
    lines = [line[7:] for line in comment if line == "//" or line.startswith("//     ")]
    return "```cpp\n" + "\n".join(lines).strip() + "\n```\n"


def compared():
    """How exact: compared with, what, result, test, and the day of the run that the figures are from.

    "counted": the figures are counted in the tree as this is written. All other tests fail where the result is no longer true.
    """
    known = re.findall(r"^\| `([^`]+)` \|", (ROOT / "COMPATIBILITY.md").read_text("utf-8").rpartition("\n## ")[2], re.MULTILINE)
    language = [name for name in known if "/" not in name]
    cases = [case for case in case_file.find_cases(ROOT / "tests/cases", ROOT / "tests/cases/jinja") if "oracle" in case.headers]
    differ = sum("differs" in case.headers for case in cases)
    older = sum("transformers" in case.json("settings", {}) for case in cases)
    listed = "; the others are in [COMPATIBILITY.md](COMPATIBILITY.md) by id"
    return [
        ["recorded answers of transformers", "9,546 renders of real models' templates: text, error class, generation spans",
         f"{9546 - len(known) + len(language):,} equal",
         "tests/corpus_test.py", "2026-11-20"],
        ["recorded answers of Jinja2", "3,494 cases of the language", f"{3494 - len(language):,} equal{listed if language else ''}",
         "tests/corpus_test.py", "2026-11-20"],
        ["Jinja2 3.1.6 in transformers 5.24.0", f"{len(cases):,} cases of the project's own, {older} of them in 5.22.0",
         f"all as the cases state; in {differ} of them parlance knowingly differs",
         "tests/oracle/cases.py", "counted"],
        ["the same Jinja2", "random templates, 3,000 per run from a fixed seed, or for as long as you like; 500 each in 5.22.0 and 5.22.2",
         "no difference",
         "tests/oracle/fuzz_compare.py", "2026-11-20"],
        ["transformers' `apply_chat_template(tokenize=False)`, releases " + ", ".join(RELEASES_TESTED[:-1]) + " and " + RELEASES_TESTED[-1],
         "the real method on the 9,546 requests of the corpus and on 3,500 random ones, with `--as-transformers --transformers VERSION`",
         "no difference in any of them: " + ", ".join(f"9,546 equal in {name}" for name in RELEASES_TESTED),
         "tests/oracle/apply_oracle.py", "2026-11-23"],
        ["recorded answers of Go 1.26 with Ollama's data", "4,077 renders and cases of the language", "4,077 equal",
         "tests/corpus_test.py", "2026-11-21"],
        ["Go's text/template", f"{sum('oracle' in c.headers for c in case_file.find_cases(ROOT / 'tests/cases', ROOT / 'tests/cases/go')):,} "
         "cases of the project's own, and random templates and requests, 3,000 per run: texts, failing steps, whole error messages",
         "no difference",
         "tests/oracle/go_compare.py", "2026-11-21"],
        ["gguf-py 0.19.0", "60 models per run that it writes, with random metadata, both byte orders, split and cut off", "no difference",
         "tests/oracle/gguf_oracle.py", "2026-11-21"],
        ["Ollama 0.17.4", "20,000 random Modelfiles and 20,000 names of models, read by its own code", "no difference",
         "tests/oracle/modelfile_oracle.py", "2026-11-21"],
        ["transformers' `apply_chat_template(tokenize=True)`", "ids of 19,273 conversations, with tokenizers of byte-level BPE, SentencePiece's "
         "BPE, Unigram, WordPiece and WordLevel trained by the tests", "no difference",
         "tests/oracle/chat_tokens_oracle.py", "2026-11-23"],
        ["its `return_assistant_tokens_mask`", "4,489 masks of those, where a template has tags", "all follow the rule; so do 4,092 of "
         "transformers' masks, and the others are explained one by one",
         "tests/oracle/chat_tokens_oracle.py", "2026-11-23"],
        ["its `continue_final_message`", "708 continued messages of 118 templates", "no difference except white space that two templates trim",
         "tests/oracle/continue_oracle.py", "2026-11-22"],
        ["its prompts of images", "608 requests with images as OpenAI, Ollama, Anthropic and Responses spell them, on 152 templates", "no difference; where "
         "parlance refuses, no form of the parts shows an image", "tests/oracle/images_oracle.py", "2026-11-24"],
        ["tokenizers 0.23.3, sentencepiece 0.2.3", "ids and spans of 1,500 texts for each tokenizer: trusted nowhere, everywhere and in places",
         "no difference",
         "tests/oracle/tokenizer_oracle.py", "2026-11-22"],
        ["llama.cpp v0.5.0", "ids of 42,400 conversations with 106 GGUF files, which have every way to split text, and of 7,600 with 18 real "
         "tokenizers and a model's own file", "no difference",
         "tests/oracle/gguf_tokens_oracle.py", "2026-11-24"],
        ["tokenizers 0.23.3 with real tokenizers", "ids of 7,200 conversations with 18 models' folders", "no difference",
         "tests/oracle/gguf_tokens_oracle.py --real", "2026-11-23"],
        ["mistral-common 1.13.1, tiktoken 0.14.0", "ids of 7,200 conversations with 18 tekken.json and tiktoken files, six of them real ones",
         "no difference",
         "tests/oracle/rank_tokens_oracle.py", "2026-11-28"],
        ["transformers' AutoTokenizer", "with `--model-as transformers`, ids of 18,800 conversations with 47 folders of a .model, and of 28,000 with "
         "70 folders of a tokenizer.json, 16 of them real models'", "no difference",
         "tests/oracle/model_as_transformers_oracle.py", "2026-11-28"],
        ["parlance's own full render", "a chat's next turn from the ids so far: 12,978 cuts with each of 18 tokenizers", "the same ids, or an error "
         "exactly if the prefix is not stable",
         "tests/session_law.cpp", "2026-11-22"],
        ["parlance's own full render", "what a session adds behind a sampled reply with text around its calls: 1,496 replies on the templates of the "
         "corpus and of the tree", "the end of the whole prompt, with all results in it (966), or `history_rewritten`",
         "tests/behind_law.cpp", "2026-11-28"],
        ["parlance's own full render", "591,574 prompts of chats that grow, on 184 templates, and 730,841 on 12,000 templates made at random, each taken over from the one "
         "before it where that is possible", "the same text, steps, errors and spans; 12,790,948 iterations were left out",
         "tests/growing_law.cpp", "2026-11-24"],
        ["a search for words, without origins", "80,408 requests of 212 forms on 184 templates: each text, image, setting and special "
         "token is in the prompt, or reported as lost, or the request is refused; and what is reported is not in the prompt", "no exception",
         "tests/losses_test.py", "2026-11-28"],
        ["anthropic 2.12.0, ollama 0.6.3, openai 3.54.0", "1,483 replies as answers of four APIs, whole and in 23,712 streams of 332,479 events",
         "all valid; the streams, put together, equal the whole answers",
         "tests/oracle/reply_api_oracle.py", "2026-11-25"],
        ["anthropic 2.12.0, openai 3.54.0", "1,004 requests written for the three APIs", "all fit the clients' types, which lack only a few of their members that "
         "servers accept",
         "tests/oracle/request_api_oracle.py", "2026-11-24"],
        ["conversion there and back", "421 requests on 184 templates, adapted and not: chats converted to another API, and requests of other APIs to chats", "the same "
         "prompt, except for what notes name",
         "tests/convert_test.py", "2026-11-28"],
        ["the rule that content forges no control token", "45,600 attacked conversations with each of 16 tokenizers, and 1,018,400 in the "
         "longest run", "no forged control token",
         "tests/token_law.cpp", "2026-11-22"],
        ["llama.cpp, llguidance 1.9.1, xgrammar 0.2.8", "7,073 replies that 183 templates write, each with the grammars of every setting that allows "
         "it: GBNF, Lark and structural tags", "all accepted",
         "tests/oracle/written_engines.py", "2026-11-23"],
        ["the same with real tokenizers", "380,414 strings drawn from the engines' own masks, at least 10,000 in each of 30 formats, in several runs", "all read without a fault",
         "tests/oracle/real_engines.py", "2026-11-23"],
        ["CPython 3.11", "Unicode over all code points, 100,000 numbers, 100,000 method calls, JSON, syntax trees", "no difference",
         "tests/oracle", "2026-11-20"],
    ]


def fidelity(_):
    page = table(["compared with", "what", "result", "test", "run of"], [[*row[:3], code(row[3]), row[4]] for row in compared()])
    return page.replace("](COMPATIBILITY.md)", "](../COMPATIBILITY.md)")  # it stands in docs/


def fidelity_first(_):
    """What the README shows: the engines' own answers, and the rules of which nobody else has a test."""
    shown = ("recorded answers of transformers", "recorded answers of Jinja2", "recorded answers of Go 1.26 with Ollama's data",
             "transformers' `apply_chat_template(tokenize=True)`", "the rule that content forges no control token",
             "llama.cpp, llguidance 1.9.1, xgrammar 0.2.8")
    rows = [row for row in compared() if row[0] in shown]
    return table(["compared with", "what", "result", "run of"], [[*row[:3], row[4]] for row in rows])


def same_as(*wanted):
    """The rows of these tests, or of what these are compared with: for who comes from that program."""
    def part(_):
        rows = [row for row in compared() if row[3] in wanted or row[0] in wanted]
        if not set(wanted) <= {cell for row in rows for cell in row}:
            raise SystemExit(f"compared() has not all of {wanted}")
        return table(["compared with", "what", "result", "test"], [[*row[:3], code(row[3])] for row in rows])
    return part


def passes(binary):
    def name_of(row):
        takes = row.get("takes")
        return row["name"] + ("" if takes is None else "[:ROLES]" if takes == "ROLES" else ":" + takes)
    return table(["pass", "runs", "what it does"], [[code(name_of(row)), row["runs"], row["sentence"]] for row in listed(binary, "passes")])


def commands(binary):
    return json.loads(subprocess.run([binary, "help", "--json"], capture_output=True, check=True).stdout)


def option_row(option):
    placeholder = option.get("placeholder", "")
    names = ", ".join(code(name) for name in option["names"])
    shown = f"{names} {placeholder}" if option["takes_value"] else f"{names[:-1]}[={placeholder}]`" if option["value_is_optional"] else names
    also = [word for word, holds in (("required", option["required"]), (f"default {option.get('default')}", "default" in option)) if holds]
    values = ": " + ", ".join(map(code, option["values"])) if option.get("values") and len(option["values"]) < 8 else ""
    sentence = option["sentence"].replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")
    return [shown.strip() or code(placeholder), sentence + (f" ({', '.join(also)})" if also else "") + values]


def options(binary):
    """Every option of every command."""
    parts = []
    for command in commands(binary):
        words = " ".join(row["placeholder"] if row["required"] else f"[{row['placeholder']}]" for row in command["arguments"])
        rows = [option_row(option) for option in [*command["arguments"], *command["options"]]]
        parts.append(f"### parlance {command['name']}\n\n{command['sentence']}.\n\n    parlance {command['name']} [OPTIONS] {words}".rstrip() + "\n\n"
                     + table(["option", "effect"], rows))
    return "\n".join(parts)


def exit_codes(binary):
    """The codes that mean the same everywhere, then 0 and 1 of each command."""
    all_commands = commands(binary)
    meaning = {exit["code"]: exit["meaning"] for exit in all_commands[0]["exit_codes"]}
    own = [{exit["code"]: exit["meaning"] for exit in command["exit_codes"]} for command in all_commands]
    same = [[str(number), meaning[number]] for number in sorted(meaning) if number > 1]
    return table(["code", "meaning"], [["0", "done"], ["1", "the answer is no; the table below says what that means for each command"], *same]) + "\n" + \
        table(["command", "0", "1"], [[code(command["name"]), codes[0], codes.get(1, "—")] for command, codes in zip(all_commands, own)])


PARTS = {"go_functions": go_functions, "filters": builtins("filters"), "tests": builtins("tests"), "globals": builtins("globals"), "methods": methods,
         "errors": errors, "releases": releases, "passes": passes, "options": options, "exit_codes": exit_codes, "limits": limits, "settings": settings, "differences": differences,
         "speed": speed, "example": example, "fidelity": fidelity, "fidelity_first": fidelity_first,
         "same_as_transformers": same_as("recorded answers of transformers", "tests/oracle/cases.py", "tests/oracle/apply_oracle.py", "tests/oracle/chat_tokens_oracle.py",
                                         "tests/oracle/continue_oracle.py", "tests/oracle/model_as_transformers_oracle.py"),
         "same_as_llama_cpp": same_as("tests/oracle/gguf_tokens_oracle.py", "tests/oracle/gguf_oracle.py", "tests/oracle/written_engines.py"),
         "same_as_ollama": same_as("recorded answers of Go 1.26 with Ollama's data", "tests/oracle/go_compare.py", "tests/oracle/modelfile_oracle.py", "tests/oracle/gguf_oracle.py")}


def with_parts(text, binary):
    return GENERATED.sub(lambda found: found[1] + PARTS[found[2]](binary) + found[3], text)


# ---- the examples

def run_shell(command, folder, path):
    done = subprocess.run(["sh", "-ec", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, "PATH": path}, text=True)
    return done.returncode, done.stdout


def with_outputs(text, binary):
    """The text with what its `sh` blocks print now, where a `text` block says what that is."""
    parts, done = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = scratch(pathlib.Path(folder), binary)
        for block in BLOCK.finditer(text):
            kind, body, wanted = block.groups()
            if kind != "sh" or needs_more(body, binary):
                continue
            _, printed = run_shell(body, folder, path)
            if wanted is not None and printed.rstrip("\n") != wanted.rstrip("\n"):
                parts += [text[done:block.start(3)], printed.rstrip("\n") + "\n" if printed.strip("\n") else ""]
                done = block.end(3)
    return "".join(parts) + text[done:]


def shell_faults(command, wanted, folder, path):
    status, printed = run_shell(command, folder, path)
    if wanted is not None and printed.rstrip("\n") != wanted.rstrip("\n"):
        yield f"{command}prints\n{printed}"
    elif wanted is None and status != 0:
        yield f"{command}ends with {status}\n{printed}"


def template_faults(text, binary, options, context):
    lines = [line for line in text.split("\n") if " -> " in line]
    requests = "".join(json.dumps({"source": line.rpartition(" -> ")[0].replace("⏎", "\n"), "context": context}) + "\n" for line in lines)
    done = subprocess.run([binary, "render", "--as-is", "--jsonl", *options], input=requests, capture_output=True, text=True)
    for line, answer in zip(lines, map(json.loads, done.stdout.splitlines())):
        got = answer["text"] if "text" in answer else answer["error"]["type"]
        if got.replace("\n", "⏎") != line.rpartition(" -> ")[2]:
            yield f"{line}\n  gives {got}"


def needs_more(command, binary):
    """Some builds have no cargo: their examples of tokens are left out, and that is said."""
    return "--tokenizer" in command and not reads_tokenizers(binary)


@functools.cache
def reads_tokenizers(binary):
    done = subprocess.run([binary, "tokens", "-f", "terminal-agent", "--example", "--tokenizer", ROOT / "tests/tokenizers/chatml"],
                          capture_output=True, text=True)
    return "does not read" not in done.stderr and "which was not found at" not in done.stderr


def example_faults(text, binary, folder, path):
    for block in BLOCK.finditer(text):
        kind, body, wanted = block.groups()
        if kind == "sh" and needs_more(body, binary):
            print("skipped, this build reads no tokenizer.json: " + body.partition("\n")[0])
        elif kind == "sh":
            yield from shell_faults(body, wanted, folder, path)
        elif kind == "jinja":
            yield from template_faults(body, binary, [], {})
        elif kind == "go":  # with a prompt and a suffix a Go template is run whole, whatever it mentions
            yield from template_faults(body, binary, ["--syntax", "go"], {"prompt": "p", "suffix": "s"})


def scratch(folder, binary):
    """A folder as a reader has it: the tree's inputs, and `parlance` on the path."""
    for name in ("formats", "tests", "docs"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "bin").mkdir()
    (folder / "bin" / "parlance").symlink_to(binary)
    return f"{folder / 'bin'}:{os.environ['PATH']}"


def check(name, binary):
    text = (ROOT / name).read_text("utf-8")
    if with_parts(text, binary) != text:
        yield "a generated part is not up to date: tools/docs.py --write PARLANCE"
    with tempfile.TemporaryDirectory() as folder:
        path = scratch(pathlib.Path(folder), binary)
        yield from example_faults(text, binary, folder, path)


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ("--check", "--write"):
        raise SystemExit("usage: docs.py --check|--write PARLANCE")
    binary = pathlib.Path(arguments[1]).resolve()
    faults = 0
    for name in DOCUMENTS:
        if arguments[0] == "--write":
            text = (ROOT / name).read_text("utf-8")
            (ROOT / name).write_text(with_outputs(with_parts(text, binary), binary), "utf-8")
            continue
        for fault in check(name, binary):
            faults += 1
            print(f"{name}: {fault}")
    print(f"{len(DOCUMENTS)} documents, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
