"""Checks the oracle against recorded answers: the conformance corpus, which another Jinja2 environment made.

Leans on jinja_oracle. Where the two agree, transformers' own code and the corpus say the same.

    corpus.py CORPUS        CORPUS holds cases.jsonl.gz, expected.jsonl.gz, jinja_language.jsonl, templates/

Prints each difference, then counts; exits 1 if there is one that the corpus does not itself note under `newer`.
"""
import gzip
import json
import pathlib
import sys

import jinja_oracle

ANY_FAILURE = {"RecursionError", "AssertionError"}  # the corpus has these stand for an error of any kind


def read_lines(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as lines:
        return [json.loads(line) for line in lines]


def same(want, got):
    if "error" in want:
        return "error" in got and (want["error"] in ANY_FAILURE or (
            want["error"], want.get("line")) == (got["error"], got.get("line")))
    return got.get("output") == want["output"] and sorted(got["generation"]) == sorted(want["generation"])


def pairs(corpus):
    """(kind, source, case, wanted answer) for everything recorded."""
    sources = {path.name: path.read_bytes().decode("utf-8") for path in (corpus / "templates").glob("*.jinja")}
    cases, expected = read_lines(corpus / "cases.jsonl.gz"), read_lines(corpus / "expected.jsonl.gz")
    for case, want in zip(cases, expected, strict=True):
        assert case["id"] == want["id"]
        yield "corpus", sources[pathlib.PurePath(case["template"]).name], case, want
    for case in read_lines(corpus / "jinja_language.jsonl"):
        yield "language", case["source"], case, case


def main():
    corpus = pathlib.Path(sys.argv[1])
    totals, equal, noted, different = {}, {}, 0, 0
    for kind, source, case, want in pairs(corpus):
        totals[kind] = totals.get(kind, 0) + 1
        got = jinja_oracle.render(source, case["context"], case.get("settings"))
        if same(want, got):
            equal[kind] = equal.get(kind, 0) + 1
        elif "newer" in want and same(want["newer"], got):
            noted += 1
        else:
            different += 1
            print(f"{case['id']}: {source[:200]!r}\n  wanted {str(want.get('output', want))[:300]!r}\n"
                  f"  got    {str(got.get('output', got))[:300]!r}")
    for kind, total in totals.items():
        print(f"{kind}: {equal.get(kind, 0)} of {total} equal")
    print(f"{noted} differ as the corpus notes under `newer`; {different} differ otherwise")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
