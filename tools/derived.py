#!/usr/bin/env python3
"""The table of docs/derived.md: what `parlance format` finds in each template of the conformance corpus.

    python3 tools/derived.py build/release/parlance ../shared/corpus           prints the table
    python3 tools/derived.py build/release/parlance ../shared/corpus --write   puts it into docs/derived.md
    python3 tools/derived.py build/release/parlance ../shared/corpus --check   fails where the page is not up to date, or
                                                                               where less than 95 % are verified
"""
import collections
import json
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "derived.md"
BEGIN, END = "<!-- derived -->\n", "<!-- end -->\n"
BAR = 0.95


def derive(program, template):
    done = subprocess.run([program, "format", "-t", str(template), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{template.name}: {done.stderr}")
    return json.loads(done.stdout)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def describe(found):
    """How calls are written, in two words."""
    calls = found["format"].get("calls", [])
    if not calls:
        return "none"
    form = calls[0]
    kinds = [next(iter(part)) for part in form["call"] if isinstance(part, dict)]
    arguments = [part["arguments"] for part in form["call"] if isinstance(part, dict) and "arguments" in part]
    codec = "object" if "object" in kinds else arguments[0] if arguments and isinstance(arguments[0], str) else next(iter(arguments[0])) if arguments else "?"
    return f'{form.get("layout", "single")}, {codec}'


def held(found):
    """What was held against the format: how many experiments of each kind, in the order in which they were."""
    counts = collections.Counter(one["kind"] for one in found["tried"])
    return ", ".join(f"{kind} {count}" for kind, count in counts.items())


def table(program, corpus):
    """The lines of the table, and how many templates show calls and are verified."""
    templates = sorted((corpus / "templates").glob("*.jinja")) + sorted((corpus / "go_templates").glob("*.gotmpl"))
    found = {template.name: derive(program, template) for template in templates}
    with_calls = {name: one for name, one in found.items() if one["capabilities"]["calls"]}
    verified = [name for name, one in with_calls.items() if one["verdict"] == "verified"]
    plain = [one for one in found.values() if not one["capabilities"]["calls"]]
    lines = [
        f"Of {len(found)} templates {len(with_calls)} can show a call; {len(verified)} of these are verified without a hint "
        f"({100 * len(verified) / len(with_calls):.1f} %). Of the {len(plain)} others "
        f"{sum(one['verdict'] == 'verified' for one in plain)} are verified.\n",
        "\n",
        "| template | calls | reasoning | verdict | checks, by kind | why not verified, or what the template loses |\n",
        "|---|---|---|---|---|---|\n",
    ]
    for name, one in found.items():
        reasons = one["missing"] or one["notes"]
        reasoning = "yes" if "reasoning" in one["format"] else ""
        lines.append(f'| {name} | {describe(one)} | {reasoning} | {one["verdict"]} | {held(one)} | {cell("; ".join(reasons[:3]))} |\n')
    return lines, len(verified) / len(with_calls)


def main():
    program, corpus, *mode = sys.argv[1:]
    if not pathlib.Path(corpus).is_dir():
        print("skipped: there is no corpus at", corpus)
        sys.exit(77)
    lines, share = table(program, pathlib.Path(corpus))
    if not mode:
        print("".join(lines), end="")
        return
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    made = head + BEGIN + "".join(lines) + END + rest.split(END)[1]
    if mode == ["--write"]:
        PAGE.write_text(made)
    elif page != made:
        sys.exit(f"{PAGE.name} is not up to date: run this with --write")
    if share < BAR:
        sys.exit(f"only {100 * share:.1f} % of the templates that show calls are verified")


if __name__ == "__main__":
    main()
