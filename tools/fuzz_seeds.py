#!/usr/bin/env python3
"""Makes seeds for the fuzz targets from the case files: `fuzz_seeds.py FOLDER` writes FOLDER/<target>/<hash>.

Every template is a seed of jinja_compile, with its context one of jinja_render, every context one of json_read; the
formats of the tree and their examples too. What has the same bytes is one seed, named by its hash.
"""

import hashlib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
import case_file  # noqa: E402
LONGEST = 4096


def seeds():
    cases = ROOT / "tests" / "cases"
    for case in case_file.find_cases(cases, cases):
        template = (case.template or "").encode("utf-8", "surrogatepass")
        context = case.sections.get("context", "{}").encode("utf-8")
        yield "jinja_compile", template
        yield "jinja_render", template + b"\0" + context
        yield "json_read", context
    for path in sorted((ROOT / "formats").glob("*.jinja")):
        yield "jinja_compile", path.read_bytes()
        yield "jinja_render", path.read_bytes()
    for path in sorted((ROOT / "formats").rglob("*.json")):
        yield "json_read", path.read_bytes()


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    count = 0
    for target, content in seeds():
        if len(content) > LONGEST and target != "jinja_render":
            continue
        folder = pathlib.Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / hashlib.sha1(content).hexdigest()[:16]
        count += not path.exists()
        path.write_bytes(content)
    print(f"{count} new seeds")


if __name__ == "__main__":
    main()
