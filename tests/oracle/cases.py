"""Holds the case files against the oracle, so that no expectation can be accepted into falsehood.

Leans on case_file (the format) and jinja_oracle (the answers). Only cases with an `oracle jinja2` line take part, and of these
those that are for the installed transformers: the newest, but where a case's settings name a release.

    cases.py check [FOLDER]     every expectation must be what transformers' Jinja2 gives, every builtin have a case
    cases.py accept [FOLDER]    writes the oracle's answer into cases that have no expectation yet

FOLDER is a part of tests/cases/jinja; without it, all of that folder.
"""
import collections
import importlib.metadata
import pathlib
import re
import sys

import case_file
import jinja_oracle

ROOT = pathlib.Path(__file__).resolve().parent.parent / "cases" / "jinja"
ERROR = re.compile(r"(\w+)(?: line (\d+))?")
VERSION = re.compile(r"jinja2(?: (\S+))?")
INSTALLED = importlib.metadata.version("transformers")
NEWEST = re.search(r"^transformers==(\S+)$", pathlib.Path(__file__).with_name("requirements.txt").read_text("utf-8"), re.MULTILINE)[1]


def is_ours(case):
    """Whether the case names this oracle; a version that is not the installed one is a fault."""
    found = VERSION.fullmatch(case.headers.get("oracle", ""))
    if found and found[1] not in (None, jinja_oracle.jinja2.__version__):
        raise case_file.CaseFileError(f"{case.path}:{case.line}: jinja2 {found[1]} is not what is installed")
    return bool(found) and case.json("settings", {}).get("transformers", NEWEST) == INSTALLED


def answer_of(case):
    settings = case.json("settings", {})
    settings.pop("format", None)  # the template is of a built-in format; no setting of the environment
    settings.pop("transformers", None)  # it is the one that answers
    return jinja_oracle.render(case.template, case.json("context", {}), settings)


def fault(case, answer):
    """Why the expectation is not the oracle's answer, or None."""
    if "error" in case.sections:
        first = case.sections["error"].split("\n")[0]
        wanted = ERROR.fullmatch(first.strip())
        if not wanted:
            return f"the error section begins with {first!r}"
        if answer.get("error") != wanted[1]:
            return f"wanted {wanted[1]}, the oracle gives {describe(answer)}"
        if wanted[2] and answer.get("line") != int(wanted[2]):
            return f"wanted line {wanted[2]}, the oracle says {answer.get('line')}"
        return None
    if "error" in answer or answer["output"] != case.output:
        return f"wanted {case.output!r}\n  the oracle gives {describe(answer)}"
    if answer["generation"] != case.json("spans", []):
        return f"wanted spans {case.json('spans', [])}, the oracle gives {answer['generation']}"
    return None


def describe(answer):
    return f"{answer['error']}: {answer['message']}" if "error" in answer else repr(answer["output"])


def check_case(case):
    if case.template is None:
        return "it has no template"
    if not case.expected:
        return "it has no expectation; `cases.py accept` writes one"
    return fault(case, answer_of(case))


def check_builtins():
    """What the environment has and no case file is named for."""
    environment = jinja_oracle.compile_template("").environment
    folders = {"filters": environment.filters, "tests": environment.tests, "globals": environment.globals}
    for folder, builtins in folders.items():
        have = {path.stem for path in (ROOT / folder).glob("*.case")}
        for name in sorted(set(builtins) - have - set(SYMBOLS)):
            yield f"{folder}/{name}.case: {name} is in the environment and has no case file"


SYMBOLS = ("==", "!=", "<", "<=", ">", ">=")  # tests under these names stand in operator_names.case


def check(folder):
    counts, faults, twins = collections.Counter(), [], {}
    for case in case_file.find_cases(ROOT, folder):
        if not is_ours(case):
            continue
        counts["failing" if "error" in case.sections else "rendering"] += 1
        what = check_case(case)
        key = (case.template, case.sections.get("context"), case.sections.get("settings"))
        if what is None and twins.setdefault(key, case) is not case:
            what = f"the same as {twins[key].id}"
        if what:
            faults.append(f"{case.id} ({case.path.name}:{case.line}): {what}")
    if folder == ROOT:
        faults.extend(check_builtins())
    print("\n".join(faults + [f"{sum(counts.values())} cases ({dict(counts)}), {len(faults)} faults"]))
    return 1 if faults else 0


def accept(folder):
    """Writes expectations from the last case of a file to the first, so that line numbers stay true."""
    added = 0
    by_path = collections.defaultdict(list)
    for case in case_file.find_cases(ROOT, folder):
        if is_ours(case) and case.template is not None and not case.expected:
            by_path[case.path].append(case)
    for path, cases in by_path.items():
        lines = case_file.read_lines(path)
        for case in reversed(cases):
            lines[case.end:case.end] = case_file.write_expectation(answer_of(case)).split("\n")[:-1]
            added += 1
        path.write_bytes(("\n".join(lines) + "\n").encode("utf-8"))
    print(f"{added} expectations written")
    return 0


def main():
    commands = {"check": check, "accept": accept}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else ROOT
    try:
        sys.exit(commands[sys.argv[1]](folder))
    except case_file.CaseFileError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
