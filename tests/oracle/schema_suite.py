"""The official JSON Schema test suite (draft 2020-12) against the grammars: schema_suite.py GRAMMAR_DUMP [--suite FOLDER] [--list].

A grammar writes members in their declared order, so an instance counts as accepted if one order of its members is. Scores:
  exact      every valid instance accepted, every invalid one refused
  widened    valid ones accepted; invalid ones accepted too, and a note says where
Anything else is a fault, and listed with the reason that is known for it: KNOWN. Fails when there is a fault that is not.
The suite comes with the source distribution of Python's jsonschema, which setup.sh fetches; without it, 77.
"""
import argparse
import itertools
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent.parent / "build" / "oracle" / "json-schema-suite" / "draft2020-12"

# (file, group or "", test or "") -> why a valid instance is refused, or an invalid one accepted without a note
INTEGERS = "whole numbers are written without a point"
SCOPE = "references are followed in the whole document: $id does not begin a new one, $dynamicRef looks for no other scope"
KNOWN = {
    ("const", "", "float zero is valid"): INTEGERS,
    ("const", "", "float one is valid"): INTEGERS,
    ("const", "", "float is valid"): INTEGERS,
    ("enum", "", "float zero is valid"): INTEGERS,
    ("enum", "", "[0.0] is valid"): INTEGERS,
    ("enum", "", "float one is valid"): INTEGERS,
    ("enum", "", "[1.0] is valid"): INTEGERS,
    ("type", "", "a float with zero fractional part is an integer"): INTEGERS,
    ("dynamicRef", "", ""): SCOPE,
    ("ref", "order of evaluation: $id and $anchor and $ref", ""): SCOPE,
    ("vocabulary", "schema that uses custom metaschema with with no validation vocabulary", ""): "a schema's own vocabulary is not read",
}


def orders(value, limit=200):
    """The value with its objects' members in every order, up to a limit."""
    if isinstance(value, list):
        return [list(x) for x in itertools.islice(itertools.product(*[orders(v, 8) for v in value]), limit)] if value else [[]]
    if not isinstance(value, dict):
        return [value]
    out = []
    for names in itertools.islice(itertools.permutations(value), 120):
        for values in itertools.islice(itertools.product(*[orders(value[n], 8) for n in names]), limit):
            out.append(dict(zip(names, values)))
    return out[:limit]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("dump")
    arguments.add_argument("--suite", default=str(FOLDER))
    arguments.add_argument("--list", action="store_true")
    options = arguments.parse_args()
    files = sorted(pathlib.Path(options.suite).glob("*.json"))
    if not files:
        print("skipped: no suite; run tests/oracle/setup.sh first")
        return 77
    process = subprocess.Popen([options.dump], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    total = {"groups": 0, "exact": 0, "widened": 0, "fault": 0, "valid": 0, "accepted": 0, "invalid": 0, "refused": 0, "noted": 0}
    rows, unknown = [], []
    for file in files:
        row = dict.fromkeys(total, 0)
        for group in json.loads(file.read_text()):
            texts, ends = [], []
            for test in group["tests"]:
                texts += [json.dumps(o, ensure_ascii=False) if not has_surrogate(o) else json.dumps(o) for o in orders(test["data"])]
                ends.append(len(texts))
            request = {"schema": json.dumps(group["schema"]), "open": True, "texts": texts}
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            begin, faults, widened = 0, [], False
            for test, end in zip(group["tests"], ends):
                accepted = any(answer["accepts"][begin:end]) if "accepts" in answer else False
                begin = end
                if test["valid"]:
                    row["valid"] += 1
                    row["accepted"] += accepted
                    if not accepted:
                        faults.append((test["description"], "valid, refused"))
                else:
                    row["invalid"] += 1
                    row["refused"] += not accepted
                    if accepted and answer.get("notes"):
                        widened = True
                        row["noted"] += 1
                    elif accepted:
                        faults.append((test["description"], "invalid, accepted without a note"))
            row["groups"] += 1
            row["fault" if faults else "widened" if widened else "exact"] += 1
            for description, what in faults:
                known = next((why for (f, g, t), why in KNOWN.items() if f == file.stem and g in ("", group["description"]) and t in ("", description)), None)
                if known is None:
                    unknown.append(f"{file.stem}: {group['description']}: {description}: {what}")
                elif options.list:
                    print(f"known  {file.stem}: {group['description']}: {description}: {known}")
        rows.append((file.stem, row))
        for key, value in row.items():
            total[key] += value
    process.stdin.close()
    print(f"{'file':24} {'groups':>6} {'exact':>6} {'wider':>6} {'fault':>6} {'valid accepted':>15} {'invalid refused':>16} {'noted':>6}")
    for name, row in rows + [("all", total)]:
        print(f"{name:24} {row['groups']:6} {row['exact']:6} {row['widened']:6} {row['fault']:6} "
              f"{row['accepted']:7}/{row['valid']:<7} {row['refused']:8}/{row['invalid']:<7} {row['noted']:6}")
    for line in unknown:
        print("FAULT", line)
    return 1 if unknown else 0


def has_surrogate(value):
    return any("\ud800" <= c <= "\udfff" for c in json.dumps(value, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())
