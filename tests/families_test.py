#!/usr/bin/env python3
"""What `parlance format` derives from the templates of tests/templates/families, one for each family of replies.

    families_test.py build/release/parlance             compares with formats.json beside the templates
    families_test.py build/release/parlance --accept    rewrites it: its changes are to be looked at
"""
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent / "templates" / "families"
EXPECTED = FOLDER / "formats.json"
UNCERTAIN = {"told_in_words", "reasoning_in_words", "opened_without_a_close", "cut_by_partition"}  # partial by nature: nothing shows what would be needed


def derive(program, template):
    done = subprocess.run([program, "format", "-t", str(template), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": done.stderr}
    found = json.loads(done.stdout)
    return {key: found[key] for key in ("verdict", "missing", "notes", "format")}


def main():
    program, *mode = sys.argv[1:]
    found = {template.stem: derive(program, template) for template in sorted(FOLDER.glob("*.jinja"))}
    if mode == ["--accept"]:
        lines = [f"  {json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in found.items()]
        EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return
    expected = json.loads(EXPECTED.read_text())
    faults = [f"{name}\n  expected {json.dumps(expected.get(name))}\n  found    {json.dumps(one)}" for name, one in found.items() if one != expected.get(name)]
    faults += [f"{name}: expected, and not there" for name in expected.keys() - found.keys()]
    faults += [f"{name}: {one['missing']}" for name, one in found.items() if one.get("verdict") != "verified" and name not in UNCERTAIN]
    print(f"{len(found)} families, {len(faults)} faults")
    for fault in faults:
        print(fault)
    sys.exit(1 if faults or not found else 0)


if __name__ == "__main__":
    main()
