"""Random texts of grammars against Python's jsonschema: grammar_oracle.py GRAMMAR_DUMP FOLDER... [--samples N]

Of each format, what the reader makes of random replies: the calls are complete, and their arguments validate against the
tool's schema, formats of strings included. Of a list of schemas, random values validate.
"""
import argparse
import decimal
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError as error:
    print(f"skipped: {error}; run tests/oracle/setup.sh first")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = json.loads((HERE.parent / "grammars" / "tools.json").read_text())
VALIDATORS = {t["function"]["name"]: jsonschema.Draft202012Validator(
    t["function"]["parameters"], format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER) for t in TOOLS}

# Where what the reader makes of a value is not what the grammar meant, and why.
KNOWN = {"nested-tags": "a tag with nothing or only white space in it, where the schema that says what it is refers to itself or is a list's"}

SCHEMAS = [
    {"type": "integer", "minimum": -17, "maximum": 4099}, {"type": "integer", "exclusiveMinimum": 9}, {"type": "integer", "maximum": -100},
    {"type": "number", "minimum": 0.25, "maximum": 0.75}, {"type": "number", "minimum": -1.5, "exclusiveMaximum": 2},
    {"type": "number", "exclusiveMinimum": 0.1, "exclusiveMaximum": 0.2}, {"type": "number", "minimum": 99.95}, {"type": "number", "maximum": -0.001},
    {"type": "integer", "multipleOf": 7}, {"type": "integer", "multipleOf": 25, "minimum": -60, "maximum": 333}, {"type": "number", "multipleOf": 0.01},
    {"type": "string", "minLength": 3, "maxLength": 5}, {"type": "string", "pattern": "^(a|b[0-9]{2,3})+$"}, {"type": "string", "pattern": "[xyz]\\d$"},
    {"type": "string", "pattern": "^[^\"\\\\]{1,4}$"}, {"type": "string", "pattern": "^[!-~]+@\\w+\\.com$"},
    *({"type": "string", "format": f} for f in ("date", "time", "date-time", "duration", "uuid", "email", "hostname", "ipv4", "ipv6", "uri", "json-pointer")),
    {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}], "items": {"type": "null"}, "minItems": 1, "maxItems": 4},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 130},
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {}, "d": {"type": "null"}}, "required": ["c"]},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "boolean"}},
    {"type": "object", "patternProperties": {"^x_[a-z]+$": {"type": "integer"}}, "additionalProperties": False},
    {"type": "object", "propertyNames": {"maxLength": 3}, "additionalProperties": {"enum": [1, "two", None]}},
    {"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"a": {"minimum": 5}, "b": {"type": "string"}}}], "type": "object"},
    {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "integer", "minimum": 10}, {"type": "object", "properties": {"k": {"const": [1, {"x": 2.5}]}}, "required": ["k"]}]},
    {"$defs": {"t": {"type": "object", "properties": {"v": {"type": "integer"}, "l": {"$ref": "#/$defs/t"}, "r": {"$ref": "#/$defs/t"}}, "required": ["v"], "additionalProperties": False}}, "$ref": "#/$defs/t"},
    {"not": {"type": ["string", "integer"]}}, {"enum": ["a\n\"b\"", -0.5, True, {"k": []}]}, {},
]


def main():
    decimal.getcontext().prec = 5000
    arguments = argparse.ArgumentParser()
    arguments.add_argument("dump")
    arguments.add_argument("folders", nargs="+")
    arguments.add_argument("--samples", type=int, default=1000)
    options = arguments.parse_args()
    process = subprocess.Popen([options.dump], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(**request):
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    faults, known, replies, calls, values = [], 0, 0, 0, 0
    for file in sorted(f for folder in options.folders for f in pathlib.Path(folder).glob("*.reply.json")):
        has_calls = bool(json.loads(file.read_text()).get("calls"))
        for choice, seed in (("auto", 1), ("required", 2)) if has_calls else (("auto", 1),):
            answer = ask(format=file.read_text(), tools=json.dumps(TOOLS), choice=choice, samples=options.samples // 2, seed=seed)
            if "error" in answer:
                faults.append(f"{file.name}: {answer['error']}")
                continue
            for sample in answer["samples"]:
                replies += 1
                for call in sample["read"]["message"].get("tool_calls") or []:
                    calls += 1
                    name = call["function"]["name"]
                    wrong = next(VALIDATORS[name].iter_errors(json.loads(call["function"]["arguments"])), None)
                    if wrong is not None and any(file.name.startswith(name) for name in KNOWN) and "<" in sample["text"]:
                        known += 1
                    elif wrong is not None or not call["complete"]:
                        faults.append(f"{file.name}: {name}: {wrong and wrong.message} in {sample['text']!r}")
    for schema in SCHEMAS:
        # 639.92 is a multiple of 0.01, but not in doubles.
        exact = {"parse_float": decimal.Decimal} if "multipleOf" in schema else {}
        validator = jsonschema.Draft202012Validator(json.loads(json.dumps(schema), **exact), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
        answer = ask(schema=json.dumps(schema), samples=options.samples, seed=3)
        if "error" in answer:
            faults.append(f"{schema}: {answer['error']}")
            continue
        if answer["notes"]:
            faults.append(f"{schema}: {answer['notes']}")
        for sample in answer["samples"]:
            values += 1
            try:
                wrong = next(validator.iter_errors(json.loads(sample["text"], **exact)), None)
            except ValueError as error:
                wrong = error
            if wrong is not None:
                faults.append(f"{schema}: {sample['text']!r}: {wrong}"[:600])
    process.stdin.close()
    for fault in faults[:12]:
        print("FAULT", fault[:1200])
    print(f"{replies} replies with {calls} calls, {values} values of {len(SCHEMAS)} schemas: {len(faults)} faults, {known} known")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
